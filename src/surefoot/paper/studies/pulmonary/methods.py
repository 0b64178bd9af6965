"""The optimizers that the pulmonary study compares, each behind the same call: minimize(recorder, bounds, n, seed).

Failed simulations reach each method in the way its own users would pass them on: surefoot and Optuna are told of the
failure, random search goes on, the genetic algorithm gets a value worse than any other.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np

from surefoot.engine.searches import PAPER_MODEL
from surefoot.errors import MissingExtraError
from surefoot.optimize.minimize import minimize
from surefoot.pulmonary import SimulationFailure

if TYPE_CHECKING:
    from surefoot.paper.studies.pulmonary.study import Recorder

Bounds = list[tuple[float, float]]
N_INIT = 30  # 10 d [NH18, section 7.3]
PENALTY = 1e6  # the root of the loss is below 1e4 everywhere
POPULATION = 20  # of the genetic algorithm: 10 generations in 200 evaluations


@dataclass(frozen=True)
class Method:
    """One optimizer."""

    label: str
    minimize: Callable[[Recorder, Bounds, int, int], None]
    most: int = 200  # evaluations at most: the comparison's budget; the paper's own method gets 500
    needs: Mapping[str, str] = field(default_factory=dict)  # packages, and the extras that bring them


def _surefoot(power: int = 1, **settings: Any) -> Callable[[Recorder, Bounds, int, int], None]:
    """power 2: the loss itself is minimized, not its root."""

    def run(recorder: Recorder, bounds: Bounds, n: int, seed: int) -> None:
        def objective(x: np.ndarray) -> float:
            return float(recorder(x) ** power)

        # the root does what a warp would
        asked = {**PAPER_MODEL, "failures": "label-regression", **settings}
        minimize(objective, bounds, n_evals=n, n_init=N_INIT, seed=seed, max_failures=None, **asked)

    return run


def _random(recorder: Recorder, bounds: Bounds, n: int, seed: int) -> None:
    low, high = np.asarray(bounds).T
    for unit in np.random.default_rng(seed).random((n, len(bounds))):
        with contextlib.suppress(SimulationFailure):
            recorder(low + unit * (high - low))


def _optuna(sampler: str) -> Callable[[Recorder, Bounds, int, int], None]:
    def run(recorder: Recorder, bounds: Bounds, n: int, seed: int) -> None:
        import warnings

        import optuna

        optuna.logging.set_verbosity(optuna.logging.ERROR)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # samplers are marked experimental, torch ones warn at will
            made = getattr(optuna.samplers, sampler)(seed=seed, n_startup_trials=N_INIT)
            study = optuna.create_study(sampler=made)

            def objective(trial: Any) -> float:
                return recorder([trial.suggest_float(f"x{i}", low, high) for i, (low, high) in enumerate(bounds)])

            study.optimize(objective, n_trials=n, catch=(SimulationFailure,))

    return run


def _genetic(recorder: Recorder, bounds: Bounds, n: int, seed: int) -> None:
    from pymoo.algorithms.soo.nonconvex.ga import GA
    from pymoo.core.problem import ElementwiseProblem
    from pymoo.operators.sampling.lhs import LHS
    from pymoo.optimize import minimize as evolve

    low, high = np.asarray(bounds).T

    class Problem(ElementwiseProblem):  # type: ignore[misc]
        def _evaluate(self, x: np.ndarray, out: dict[str, Any], *args: Any, **kwargs: Any) -> None:
            out["F"] = PENALTY
            with contextlib.suppress(SimulationFailure):
                out["F"] = recorder(x)

    problem = Problem(n_var=len(bounds), n_obj=1, xl=low, xu=high)
    with contextlib.suppress(StopIteration):
        evolve(problem, GA(pop_size=POPULATION, sampling=LHS()), ("n_eval", n), seed=seed)


def check_installed(methods: Iterable[str]) -> None:
    """Raise MissingExtraError now rather than hours later if a method lacks a package."""
    for name in methods:
        for package, extra in METHODS[name].needs.items():
            if find_spec(package) is None:
                raise MissingExtraError(
                    f"expected {package} for the method {name}; it is not installed; "
                    f"try pip install 'surefoot[{extra}]', or --method with the others"
                )


METHODS = {
    "ScaledEI": Method("ScaledEI, failures by label regression", _surefoot(policy="ScaledEI"), 500),
    "EP": Method("ScaledEI, failures by EP", _surefoot(policy="ScaledEI", failures="ep")),
    "experts": Method("ScaledEI, failures by experts", _surefoot(policy="ScaledEI", failures="experts")),
    "ignore": Method("ScaledEI, failures ignored", _surefoot(policy="ScaledEI", failures="ignore"), 500),
    "EI": Method("EI, failures by label regression", _surefoot(policy="EI")),
    "alternate": Method("surefoot's default policy", _surefoot(policy="alternate")),
    "square": Method("ScaledEI on the loss, not its root", _surefoot(2, policy="ScaledEI")),
    "paper": Method("ScaledEI as in the paper", _surefoot(2, policy="ScaledEI", search="paper", min_success=0.0)),
    "random": Method("random search", _random),
    "GA": Method("genetic algorithm (pymoo)", _genetic, needs={"pymoo": "studies"}),
    "TPE": Method("Optuna TPE", _optuna("TPESampler"), needs={"optuna": "studies"}),
    "GPSampler": Method("Optuna GPSampler", _optuna("GPSampler"), needs={"optuna": "studies", "torch": "torch"}),
}
