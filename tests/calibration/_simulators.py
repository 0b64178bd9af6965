"""Simulators that are no lungs: ordinary differential equations whose solvers fail in a part of the box."""

import numpy as np
from scipy.integrate import solve_ivp

from surefoot import Real
from surefoot.calibration import Signal

TIMES = np.linspace(0.0, 10.0, 50)
OSCILLATOR = {"damping": (0.05, 4.0), "stiffness": Real(0.5, 50.0, log=True)}
OSCILLATOR_TRUTH = {"damping": 0.4, "stiffness": 4.0}


def oscillator(x):
    """A damped spring let go at 1; its solver refuses what does not swing, and returns NaN for the very stiff."""
    c, k = x["damping"], x["stiffness"]
    if c * c > 4.0 * k:
        raise ValueError(f"overdamped: {c} and {k}")
    if k > 30.0:
        return np.full(TIMES.size, np.nan)
    return solve_ivp(lambda t, y: [y[1], -c * y[1] - k * y[0]], (0.0, 10.0), [1.0, 0.0], t_eval=TIMES, rtol=1e-6).y[0]


POPULATION = {
    "birth": Real(0.2, 2.0, log=True),
    "hunting": Real(0.02, 0.5, log=True),
    "growth": Real(0.02, 0.5, log=True),
    "death": Real(0.2, 2.0, log=True),
    "predators": (2.0, 10.0),
}
POPULATION_TRUTH = {"birth": 0.7, "hunting": 0.12, "growth": 0.04, "death": 0.6, "predators": 4.0}
NOISE = {"prey": 1.0, "predators": 0.5}


def population(x):
    """Predators and prey; stiff populations take the solver more steps than it has."""
    left = iter(range(240))

    def rates(t, y):
        next(left)
        prey, predators = y
        return [prey * (x["birth"] - x["hunting"] * predators), predators * (x["growth"] * prey - x["death"])]

    try:
        found = solve_ivp(rates, (0.0, 10.0), [10.0, x["predators"]], t_eval=TIMES, rtol=1e-5).y
    except StopIteration:
        raise RuntimeError("no steps left") from None
    return {"prey": found[0], "predators": found[1]}


def measured(simulate, truth, noise, seed=0):
    """Signals of the truth with white noise of these levels."""
    rng = np.random.default_rng(seed)
    clean = simulate(truth)
    clean = clean if isinstance(clean, dict) else {"position": clean}
    return [Signal(name, clean[name] + sd * rng.standard_normal(TIMES.size), sd, TIMES) for name, sd in noise.items()]
