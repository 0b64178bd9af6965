"""Optimizers by name: surefoot, two that every reader knows, and peers where they are installed."""

from __future__ import annotations

import contextlib
import warnings
from typing import Any

import numpy as np

import surefoot
from benchmarks.output_constraints.problems import Evaluator, Solver, Spent

_BIG = 1e30  # what a value that is no number is for those who know no failures


def _surefoot(evaluate: Evaluator, seed: int) -> None:
    def fun(x: np.ndarray) -> dict[str, float]:
        y, excess = evaluate(x)
        return {"value": y, **dict(zip(evaluate.limits, excess, strict=True))}

    limits = dict.fromkeys(evaluate.limits, "<= 0")
    surefoot.minimize(fun, evaluate.bounds, n_evals=evaluate.budget, seed=seed, outputs=limits)


def _random(evaluate: Evaluator, seed: int) -> None:
    rng = np.random.default_rng(seed)
    low, high = np.asarray(evaluate.bounds).T
    while True:
        evaluate(low + rng.random(len(low)) * (high - low))


def _cobyla(evaluate: Evaluator, seed: int) -> None:
    """SciPy's COBYLA in the unit cube from random starts, one after another."""
    from scipy.optimize import minimize

    rng = np.random.default_rng(seed)
    low, high = np.asarray(evaluate.bounds).T
    kept: dict[bytes, tuple[float, np.ndarray]] = {}

    def both(u: np.ndarray) -> tuple[float, np.ndarray]:
        u = np.clip(u, 0.0, 1.0)
        if u.tobytes() not in kept:
            y, excess = evaluate(low + u * (high - low))
            kept[u.tobytes()] = np.nan_to_num(y, nan=_BIG), -np.nan_to_num(excess, nan=_BIG)
        return kept[u.tobytes()]

    cube = {"type": "ineq", "fun": lambda u: np.concatenate([u, 1.0 - u])}
    limits = {"type": "ineq", "fun": lambda u: both(u)[1]}
    options: Any = {"rhobeg": 0.2, "maxiter": evaluate.budget, "tol": 1e-8}
    while True:
        minimize(
            lambda u: both(u)[0], rng.random(len(low)), method="COBYLA", constraints=[limits, cube], options=options
        )


def _cma(evaluate: Evaluator, seed: int) -> None:
    """CMA-ES with an augmented Lagrangian."""
    import cma

    low, high = np.asarray(evaluate.bounds).T
    kept: dict[bytes, tuple[float, list[float]]] = {}

    def both(u: np.ndarray) -> tuple[float, list[float]]:
        key = np.asarray(u).tobytes()
        if key not in kept:
            y, excess = evaluate(low + np.asarray(u) * (high - low))
            kept[key] = float(np.nan_to_num(y, nan=_BIG)), np.nan_to_num(excess, nan=_BIG).tolist()
        return kept[key]

    options = {"bounds": [0.0, 1.0], "seed": seed + 1, "verbose": -9}
    start = np.random.default_rng(seed).random(len(low))
    cma.fmin_con2(lambda u: both(u)[0], start, 0.2, constraints=lambda u: both(u)[1], options=options)
    while True:  # it ended early
        both(np.random.default_rng(len(kept)).random(len(low)))


def _optuna(evaluate: Evaluator, seed: int) -> None:
    """Optuna's GPSampler, which knows limits."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    sampler = optuna.samplers.GPSampler(
        seed=seed, deterministic_objective=True, constraints_func=lambda trial: trial.user_attrs["excess"]
    )

    def objective(trial: optuna.Trial) -> float:
        x = [trial.suggest_float(f"x{i}", *bounds) for i, bounds in enumerate(evaluate.bounds)]
        y, excess = evaluate(np.asarray(x))
        trial.set_user_attr("excess", np.nan_to_num(excess, nan=_BIG).tolist())
        return y

    optuna.create_study(sampler=sampler).optimize(objective, n_trials=evaluate.budget + 1)


def _egobox(evaluate: Evaluator, seed: int) -> None:
    """Its defaults (LogEI, limits to 1e-4), with an initial design of surefoot's size."""
    import egobox

    def fun(X: np.ndarray) -> np.ndarray:
        rows = [evaluate(x) for x in np.atleast_2d(X)]
        return np.nan_to_num([[y, *excess] for y, excess in rows], nan=_BIG)

    d = len(evaluate.bounds)
    egor = egobox.Egor(
        [list(map(float, bounds)) for bounds in evaluate.bounds],
        n_cstr=len(evaluate.limits),
        n_doe=min(10 * d, 30),
        seed=seed,
    )
    egor.minimize(fun, max_iters=evaluate.budget - min(10 * d, 30))


SOLVERS: dict[str, tuple[Solver, str]] = {
    "surefoot": (_surefoot, "surefoot"),
    "COBYLA, restarts": (_cobyla, "scipy"),
    "random": (_random, "numpy"),
    "CMA-ES, Lagrangian": (_cma, "cma"),
    "Optuna GP": (_optuna, "optuna"),
    "egobox": (_egobox, "egobox"),
}
"""By name: the optimizer, and the package that it needs."""


def solve(name: str, evaluate: Evaluator, seed: int) -> None:
    """Run it until the budget is spent, or until it ends."""
    with warnings.catch_warnings(), contextlib.suppress(Spent):
        warnings.simplefilter("ignore")
        SOLVERS[name][0](evaluate, seed)
