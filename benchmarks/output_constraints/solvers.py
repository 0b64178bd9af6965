"""Optimizers by name: surefoot, three that every reader knows, and peers where they are installed."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterable
from importlib.util import find_spec
from typing import Any

import numpy as np

import surefoot
from benchmarks.output_constraints import gaussian_peers
from benchmarks.output_constraints.gaussian_peers import BIG
from benchmarks.output_constraints.problems import Evaluator, Solver, Spent
from surefoot.engine import zoom
from surefoot.errors import UnknownNameError


def _surefoot(evaluate: Evaluator, seed: int) -> None:
    def fun(x: np.ndarray) -> dict[str, float]:
        y, excess = evaluate(x)
        return {"value": y, **dict(zip(evaluate.limits, excess, strict=True))}

    limits = dict.fromkeys(evaluate.limits, "<= 0")
    surefoot.minimize(fun, evaluate.bounds, n_evals=evaluate.budget, seed=seed, outputs=limits)


def _without_zooms(evaluate: Evaluator, seed: int) -> None:
    kept, zoom.SEEN = zoom.SEEN, 10**9
    try:
        _surefoot(evaluate, seed)
    finally:
        zoom.SEEN = kept


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
            kept[u.tobytes()] = np.nan_to_num(y, nan=BIG), -np.nan_to_num(excess, nan=BIG)
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
            kept[key] = float(np.nan_to_num(y, nan=BIG)), np.nan_to_num(excess, nan=BIG).tolist()
        return kept[key]

    options = {"bounds": [0.0, 1.0], "seed": seed + 1, "verbose": -9}
    start = np.random.default_rng(seed).random(len(low))
    cma.fmin_con2(lambda u: both(u)[0], start, 0.2, constraints=lambda u: both(u)[1], options=options)
    while True:  # it ended early
        both(np.random.default_rng(len(kept)).random(len(low)))


SOLVERS: dict[str, tuple[Solver, str]] = {
    "surefoot": (_surefoot, "surefoot"),
    "COBYLA, restarts": (_cobyla, "scipy"),
    "random": (_random, "numpy"),
    "CMA-ES, Lagrangian": (_cma, "cma"),
    "Optuna GP": (gaussian_peers.optuna, "optuna"),
    "BoTorch": (gaussian_peers.botorch, "botorch"),
    "egobox": (gaussian_peers.egobox, "egobox"),
    "surefoot, no zooms": (_without_zooms, "surefoot"),
}
"""By name: the optimizer, and the package that it needs. The last one is to be named."""

USUAL = ",".join(name.replace(",", "") for name in list(SOLVERS)[:-1])

_DISTRIBUTIONS = {"surefoot": "surefoot", "botorch": "torch botorch", "optuna": "optuna torch"}
"""What is to be installed, where that is not the name of the package."""


def chosen(names: Iterable[str]) -> list[str]:
    """The optimizers of these names (commas may be left out) that are installed; of the others it is said."""
    wanted = [name.replace(",", "").strip() for name in names]
    known = {name.replace(",", ""): name for name in SOLVERS}
    unknown = [name for name in wanted if name not in known]
    if unknown:
        raise UnknownNameError(f"expected optimizers among {'; '.join(known)}; got {unknown[0]!r}; try surefoot")
    ready = []
    for name, (_, package) in SOLVERS.items():
        if name.replace(",", "") not in wanted:
            continue
        needed = _DISTRIBUTIONS.get(package, package)
        if all(find_spec(module) is not None for module in {package, *needed.split()}):
            ready.append(name)
        else:
            print(f"{name} is not installed and is left out; try: pip install {needed}", flush=True)
    return ready


def solve(name: str, evaluate: Evaluator, seed: int) -> None:
    """Run it until the budget is spent, or until it ends."""
    with warnings.catch_warnings(), contextlib.suppress(Spent):
        warnings.simplefilter("ignore")
        SOLVERS[name][0](evaluate, seed)
