"""The optimizers that the pulmonary study compares, each behind the same call: minimize(recorder, bounds, n, seed).

Failed simulations reach each method in the way its own users would pass them on: surefoot and Optuna are told of the
failure, random search goes on, the genetic algorithm gets a value worse than any other.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from surefoot.errors import MissingExtraError
from surefoot.optimize.minimize import minimize
from surefoot.pulmonary import SimulationFailure

if TYPE_CHECKING:
    from surefoot.studies.pulmonary import Recorder

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


def _surefoot(**settings: Any) -> Callable[[Recorder, Bounds, int, int], None]:
    def run(recorder: Recorder, bounds: Bounds, n: int, seed: int) -> None:
        minimize(recorder, bounds, n_evals=n, n_init=N_INIT, seed=seed, max_failures=None, **settings)

    return run


def _random(recorder: Recorder, bounds: Bounds, n: int, seed: int) -> None:
    low, high = np.asarray(bounds).T
    for unit in np.random.default_rng(seed).random((n, len(bounds))):
        with contextlib.suppress(SimulationFailure):
            recorder(low + unit * (high - low))


def _optuna(sampler: str) -> Callable[[Recorder, Bounds, int, int], None]:
    def run(recorder: Recorder, bounds: Bounds, n: int, seed: int) -> None:
        try:
            import optuna
        except ImportError as error:
            raise _missing("optuna") from error
        import warnings

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
    try:
        from pymoo.algorithms.soo.nonconvex.ga import GA
        from pymoo.core.problem import ElementwiseProblem
        from pymoo.operators.sampling.lhs import LHS
        from pymoo.optimize import minimize as evolve
    except ImportError as error:
        raise _missing("pymoo") from error
    low, high = np.asarray(bounds).T

    class Problem(ElementwiseProblem):  # type: ignore[misc]
        def _evaluate(self, x: np.ndarray, out: dict[str, Any], *args: Any, **kwargs: Any) -> None:
            out["F"] = PENALTY
            with contextlib.suppress(SimulationFailure):
                out["F"] = recorder(x)

    problem = Problem(n_var=len(bounds), n_obj=1, xl=low, xu=high)
    with contextlib.suppress(StopIteration):
        evolve(problem, GA(pop_size=POPULATION, sampling=LHS()), ("n_eval", n), seed=seed)


def _missing(package: str) -> MissingExtraError:
    return MissingExtraError(
        f"expected {package} for this comparison; it is not installed; try pip install 'surefoot[studies]'"
    )


METHODS = {
    "ScaledEI": Method("ScaledEI, failures learned", _surefoot(policy="ScaledEI"), 500),
    "ignore": Method("ScaledEI, failures ignored", _surefoot(policy="ScaledEI", failures="ignore"), 500),
    "EI": Method("EI, failures learned", _surefoot(policy="EI")),
    "alternate": Method("surefoot's default policy", _surefoot(policy="alternate")),
    "random": Method("random search", _random),
    "GA": Method("genetic algorithm (pymoo)", _genetic),
    "TPE": Method("Optuna TPE", _optuna("TPESampler")),
    "GPSampler": Method("Optuna GPSampler", _optuna("GPSampler")),
}
