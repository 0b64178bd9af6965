"""`python -m benchmarks.calibration`: do the intervals of `calibrate` hold the truth, on simulators that are no lungs?

Random truths, data with noise, a calibration each: springs with two parameters, and populations of
examples/predators.py with five. Both fail in a part of their boxes. A calibration whose notes say that a signal is not
explained is counted apart: its intervals mean nothing. Minutes; --springs and --populations set how many.
"""

from __future__ import annotations

import argparse
import runpy
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp

from surefoot import Real
from surefoot.calibration import Signal, calibrate
from surefoot.calibration.box import Box

POPULATION = runpy.run_path(str(Path(__file__).parents[1] / "examples" / "predators.py"))
TIMES = np.linspace(0.0, 10.0, 50)
SPRING = {"damping": (0.05, 4.0), "stiffness": Real(0.5, 50.0, log=True)}


def spring(x: dict[str, float]) -> dict[str, np.ndarray]:
    """A damped spring let go at 1; it raises where it does not swing, and returns NaN where it is very stiff."""
    c, k = x["damping"], x["stiffness"]
    if c * c > 4.0 * k:
        raise ValueError("overdamped")
    if k > 30.0:
        return {"position": np.full(TIMES.size, np.nan)}
    found = solve_ivp(lambda t, y: [y[1], -c * y[1] - k * y[0]], (0.0, 10.0), [1.0, 0.0], t_eval=TIMES, rtol=1e-6)
    return {"position": found.y[0]}


def runs(simulate: Callable[[Any], Any], x: dict[str, float]) -> bool:
    """Whether the simulator gives finite signals."""
    try:
        return all(np.isfinite(signal).all() for signal in simulate(x).values())
    except Exception:
        return False


def truth_of(simulate: Callable[[Any], Any], box: Box, rng: np.random.Generator) -> dict[str, float]:
    """A random point at which the simulator runs."""
    while True:
        x = box.point(0.1 + 0.8 * rng.random(box.d))
        if runs(simulate, x):
            return x


def cover(
    simulate: Callable[[Any], Any], parameters: Any, noise: dict[str, float], times: Any, n_evals: int, n: int
) -> str:
    """How many intervals of n calibrations hold the truth, in words."""
    box, held, asked, unexplained = Box.of(parameters), 0, 0, 0
    for seed in range(n):
        rng = np.random.default_rng((9, seed))
        truth = truth_of(simulate, box, rng)
        clean = simulate(truth)
        data = [
            Signal(name, clean[name] + sd * rng.standard_normal(len(times)), sd, times) for name, sd in noise.items()
        ]
        result = calibrate(simulate, parameters, data, n_evals=n_evals, seed=seed)
        if any("does not explain" in note for note in result.notes):
            unexplained += 1
            continue
        held += sum(i.low <= truth[i.name] <= i.high for i in result.posterior.intervals)
        asked += box.d
    rng = np.random.default_rng(0)
    failing = np.mean([not runs(simulate, box.point(rng.random(box.d))) for _ in range(1000)])
    print(f"{failing:.0%} of the box fail;", end=" ")
    return f"90 % intervals hold {held} of {asked} truths; {unexplained} of {n} calibrations do not explain their data"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--springs", type=int, default=40)
    parser.add_argument("--populations", type=int, default=20)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.springs:
        print("springs:", cover(spring, SPRING, {"position": 0.05}, TIMES, 30, options.springs), flush=True)
    if options.populations:
        p = POPULATION
        found = cover(p["simulate"], p["PARAMETERS"], p["NOISE"], p["YEARS"], 70, options.populations)
        print("populations:", found, flush=True)


if __name__ == "__main__":
    main()
