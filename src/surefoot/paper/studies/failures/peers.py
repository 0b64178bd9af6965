"""Other optimizers, from the same designs, one run at a time: a peer (objective, design, n, seed) evaluates the design
and n - len(design) points of its own choice, and returns the point that it recommends (None: the best observed one).

A failed evaluation is told to each in the way that its own documentation has: see the functions.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np


class Objective(Protocol):
    """A function on a box that records what it is asked."""

    bounds: list[tuple[float, float]]
    d: int
    y: list[float]  # so far; NaN: failed

    def __call__(self, x: Any) -> float:
        """Evaluate one point; NaN: it failed."""


Peer = Callable[[Any, np.ndarray, int, int], Any]


def random(f: Objective, design: np.ndarray, n: int, seed: int) -> None:
    """Uniform points."""
    for x in [*design, *_uniform(f, n - len(design), np.random.default_rng((seed, 2)))]:
        f(x)


def _uniform(f: Objective, n: int, rng: np.random.Generator) -> np.ndarray:
    low, high = np.asarray(f.bounds).T
    return np.asarray(low + rng.random((n, f.d)) * (high - low))


def optuna(sampler: Callable[[Any, int], Any]) -> Peer:
    """A sampler of Optuna, made from the module of samplers and the seed."""

    def peer(f: Objective, design: np.ndarray, n: int, seed: int) -> Any:
        """Ask and tell; the design is enqueued. A failed evaluation is told as FAIL, which the sampler ignores."""
        import optuna

        optuna.logging.set_verbosity(optuna.logging.ERROR)
        space = {f"x{i}": optuna.distributions.FloatDistribution(*b) for i, b in enumerate(f.bounds)}
        study = optuna.create_study(sampler=sampler(optuna.samplers, seed))
        for x in design:
            study.enqueue_trial({name: float(v) for name, v in zip(space, x, strict=True)})
        for _ in range(n):
            trial = study.ask(dict(space))
            y = f([trial.params[name] for name in space])
            if np.isfinite(y):
                study.tell(trial, y)
            else:
                study.tell(trial, state=optuna.trial.TrialState.FAIL)
        return [study.best_params[name] for name in space] if np.isfinite(f.y).any() else None

    return peer


tpe = optuna(lambda samplers, seed: samplers.TPESampler(seed=seed))


def cmaes(f: Objective, design: np.ndarray, n: int, seed: int) -> None:
    """pycma in the unit cube, from the best point of the design with a step of a quarter; restarts where it stops.

    Without a design it begins anywhere.
    Rejection is pycma's own: a sample whose value is NaN is drawn again until it succeeds, and every draw counts.
    """
    import cma

    for x in design:
        f(x)
    low, high = np.asarray(f.bounds).T

    def value(unit: np.ndarray) -> float:
        return f(low + np.clip(unit, 0.0, 1.0) * (high - low)) if len(f.y) < n else 0.0  # 0: lets the generation end

    if len(design):
        start = design[int(np.nanargmin(f.y)) if np.isfinite(f.y).any() else 0]
    else:
        start = np.random.default_rng((seed, 4)).uniform(low, high)
    while len(f.y) < n:
        options = {"bounds": [0.0, 1.0], "seed": 1 + seed + len(f.y), "verbose": -9}
        strategy = cma.CMAEvolutionStrategy((start - low) / (high - low), 0.25, options)
        while len(f.y) < n and not strategy.stop():
            strategy.tell(*strategy.ask_and_eval(value))


def egobox(f: Objective, design: np.ndarray, n: int, seed: int, may_fail: bool = True, **options: Any) -> Any:
    """`Egor.minimize` with its defaults. Told to model viability where evaluations may fail.

    It needs two successes to begin with: uniform points are evaluated until there are.
    """
    import egobox as egx

    rng = np.random.default_rng((seed, 3))
    X: list[np.ndarray] = []

    def values(points: np.ndarray) -> np.ndarray:
        X.extend(points)
        return np.asarray([[f(x)] for x in points])

    values(design)
    while np.isfinite(f.y).sum() < min(2, n) and len(X) < n:
        values(_uniform(f, 1, rng))
    if may_fail:
        options["failsafe_strategy"] = egx.FailsafeStrategy.VIABILITY
    bounds = [[float(low), float(high)] for low, high in f.bounds]
    found = None
    while len(X) < n:
        before = len(X)
        told = {"x_doe": np.asarray(X), "y_doe": np.asarray(f.y)[:, None]}
        found = egx.Egor(bounds, seed=seed, **told, **options).minimize(values, max_iters=n - before).result.x_opt
        if len(X) == before:
            values(_uniform(f, 1, rng))
    return found


def egobox_efi(f: Objective, design: np.ndarray, n: int, seed: int) -> Any:
    """The same with EI times the probability of viability, in the form that enhances feasibility; it takes no LogEI."""
    import egobox as egx

    weighted = {"feasible_infill_strategy": egx.FeasibleInfillStrategy.EFI_FE}
    return egobox(f, design, n, seed, infill_strategy=egx.InfillStrategy.EI, **weighted)


def impute(y: list[float]) -> np.ndarray:
    """The values, those that failed replaced by the worst of the others."""
    values = np.asarray(y)
    return np.where(np.isfinite(values), values, np.nanmax(values))


def smac(f: Objective, design: np.ndarray, n: int, seed: int, facade: str = "BlackBoxFacade") -> Any:
    """BlackBoxFacade, SMAC's for few continuous inputs, by ask and tell. A failure is told as CRASHED."""
    import smac as library
    from ConfigSpace import Configuration, ConfigurationSpace
    from smac import Scenario
    from smac.runhistory import StatusType, TrialValue

    names = [f"x{i:02d}" for i in range(f.d)]
    space = ConfigurationSpace(space=dict(zip(names, f.bounds, strict=True)), seed=seed)
    points = [Configuration(space, values=dict(zip(names, map(float, x), strict=True))) for x in design]
    with tempfile.TemporaryDirectory() as folder:
        # Not deterministic, it would evaluate points of the design again before it has seen all of them.
        scenario = Scenario(space, deterministic=True, n_trials=n, seed=seed, output_directory=folder)
        made = getattr(library, facade)
        start = made.get_initial_design(scenario, n_configs=0, additional_configs=points) if points else None
        optimizer = made(
            scenario, lambda config, seed=0: 0.0, initial_design=start, overwrite=True, logging_level=False
        )
        for _ in range(n):
            trial = optimizer.ask()
            y = f([trial.config[name] for name in names])
            status = StatusType.SUCCESS if np.isfinite(y) else StatusType.CRASHED
            cost = float(impute(f.y)[-1]) if np.isfinite(f.y).any() else 0.0  # of no success yet nothing is known
            optimizer.tell(trial, TrialValue(cost=cost, status=status))
        best = optimizer.intensifier.get_incumbent()
        return None if best is None else [best[name] for name in names]


def smac_forest(f: Objective, design: np.ndarray, n: int, seed: int) -> Any:
    """The same with a random forest in place of the Gaussian process, which takes a minute for 100 evaluations."""
    return smac(f, design, n, seed, "HyperparameterOptimizationFacade")
