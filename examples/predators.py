"""Calibrate a simulator of your own: five rates of a population model, from noisy counts of prey and predators.

The solver has few steps, so it gives up in a part of the box; surefoot learns where and keeps away. A few seconds.

    pip install '.[calibration,plots]'
    python examples/predators.py
"""

from pathlib import Path

import numpy as np
from scipy.integrate import solve_ivp

from surefoot import Real
from surefoot.calibration import Signal, calibrate
from surefoot.calibration.plots import save_plots

YEARS = np.linspace(0.0, 10.0, 50)
TRUTH = {"birth": 0.7, "hunting": 0.12, "growth": 0.04, "death": 0.6, "predators": 4.0}
PARAMETERS = {
    "birth": Real(0.2, 2.0, log=True),  # of prey, per year
    "hunting": Real(0.02, 0.5, log=True),  # of prey, per predator and year
    "growth": Real(0.02, 0.5, log=True),  # of predators, per prey and year
    "death": Real(0.2, 2.0, log=True),  # of predators, per year
    "predators": (2.0, 10.0),  # at the beginning
}
NOISE = {"prey": 1.0, "predators": 0.5}
MOST_STEPS = 240


def simulate(x):
    steps = 0

    def rates(t, counts):
        nonlocal steps
        steps += 1
        if steps > MOST_STEPS:
            raise RuntimeError("the solver has no steps left")
        prey, predators = counts
        return [prey * (x["birth"] - x["hunting"] * predators), predators * (x["growth"] * prey - x["death"])]

    found = solve_ivp(rates, (0.0, 10.0), [10.0, x["predators"]], t_eval=YEARS, rtol=1e-5).y
    return {"prey": found[0], "predators": found[1]}


def main():
    rng, clean = np.random.default_rng(1), simulate(TRUTH)
    data = [Signal(name, clean[name] + sd * rng.standard_normal(YEARS.size), sd, YEARS) for name, sd in NOISE.items()]
    result = calibrate(simulate, PARAMETERS, data, n_evals=70, progress=True)
    for interval, best, truth in zip(result.posterior.intervals, result.estimate, TRUTH.values(), strict=True):
        print(
            f"{interval.name:>10}  truth {truth:5.3g}  median {interval.median:6.3g}  "
            f"{interval.level:.0%} interval {interval.low:6.3g} to {interval.high:6.3g}  best fit {best:6.3g}"
        )
    print(f"{result.n_evals} simulations of the search, {result.n_failures} failed: {result.failures}")
    print(f"{result.posterior.n_simulations} more for the posterior")
    for note in (*result.notes, *result.posterior.notes):
        print("note:", note)
    for path in save_plots(result, Path("predators-output"), truth=list(TRUTH.values())):
        print("figure:", path)


if __name__ == "__main__":
    main()
