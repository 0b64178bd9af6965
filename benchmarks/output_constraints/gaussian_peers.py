"""Peers that model every output by a Gaussian process of its own: BoTorch, Optuna's GPSampler and egobox.

BoTorch and egobox start from 10 points for each input, 30 at most; Optuna's sampler from its own 10 random points.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.output_constraints.problems import Evaluator
from surefoot.numerics.designs import sobol

BIG = 1e30  # what a value that is no number is for those who know no failures


def n_design(evaluate: Evaluator) -> int:
    """How many points come before the model; surefoot takes 2 d + 2, at most 14."""
    return min(10 * len(evaluate.bounds), 30)


def botorch(evaluate: Evaluator, seed: int) -> None:
    """LogConstrainedExpectedImprovement on one process for the objective and one for each limit.

    Before a feasible point there is no value to improve upon: LogProbabilityOfFeasibility is maximized instead.
    """
    import torch

    torch.set_num_threads(1)
    torch.manual_seed(seed)
    low, high = np.asarray(evaluate.bounds).T
    units = list(sobol(n_design(evaluate), len(low), np.random.default_rng(seed)))
    for unit in units:
        evaluate(low + unit * (high - low))
    while True:
        units.append(_botorch_point(np.asarray(units), evaluate))
        evaluate(low + units[-1] * (high - low))


def _botorch_point(units: np.ndarray, evaluate: Evaluator) -> np.ndarray:
    """The next point of the unit cube, with the numbers of its tutorials for the search."""
    import torch
    from botorch.acquisition.analytic import LogConstrainedExpectedImprovement, LogProbabilityOfFeasibility
    from botorch.optim import optimize_acqf

    model = _botorch_model(units, evaluate)
    best = evaluate.best(0.0)[len(units) - 1]
    limits: dict[int, Any] = dict.fromkeys(range(1, len(evaluate.limits) + 1), (None, 0.0))
    policy = (
        LogConstrainedExpectedImprovement(model, float(best), 0, limits, maximize=False)
        if np.isfinite(best)
        else LogProbabilityOfFeasibility(model, limits)
    )
    box = torch.stack([torch.zeros(units.shape[1]), torch.ones(units.shape[1])]).double()
    return np.asarray(optimize_acqf(policy, box, q=1, num_restarts=10, raw_samples=512)[0][0].numpy())


def _botorch_model(units: np.ndarray, evaluate: Evaluator) -> Any:
    """A process for each output (objective, then limits), all in one batched SingleTaskGP; noise is learned."""
    import torch
    from botorch.fit import fit_gpytorch_mll
    from botorch.models import SingleTaskGP
    from botorch.models.transforms import Standardize
    from gpytorch.mlls import ExactMarginalLogLikelihood

    columns = [_finite(column) for column in np.column_stack([evaluate.values, evaluate.excesses]).T]
    Y = torch.tensor(np.stack(columns, axis=1))
    model = SingleTaskGP(torch.tensor(units), Y, outcome_transform=Standardize(Y.shape[1]))
    fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
    return model


def _finite(values: np.ndarray) -> np.ndarray:
    """What is no finite number becomes the largest that is one."""
    finite = np.isfinite(values)
    return np.where(finite, values, values[finite].max() if finite.any() else 0.0)


def optuna(evaluate: Evaluator, seed: int) -> None:
    """Optuna's GPSampler, which knows limits."""
    import optuna as library

    library.logging.set_verbosity(library.logging.ERROR)
    sampler = library.samplers.GPSampler(
        seed=seed, deterministic_objective=True, constraints_func=lambda trial: trial.user_attrs["excess"]
    )

    def objective(trial: library.Trial) -> float:
        x = [trial.suggest_float(f"x{i}", *bounds) for i, bounds in enumerate(evaluate.bounds)]
        y, excess = evaluate(np.asarray(x))
        trial.set_user_attr("excess", np.nan_to_num(excess, nan=BIG).tolist())
        return y

    library.create_study(sampler=sampler).optimize(objective, n_trials=evaluate.budget + 1)


def egobox(evaluate: Evaluator, seed: int) -> None:
    """Its defaults (LogEI, limits to 1e-4)."""
    import egobox as library

    def fun(X: np.ndarray) -> np.ndarray:
        rows = [evaluate(x) for x in np.atleast_2d(X)]
        return np.nan_to_num([[y, *excess] for y, excess in rows], nan=BIG)

    egor = library.Egor(
        [list(map(float, bounds)) for bounds in evaluate.bounds],
        n_cstr=len(evaluate.limits),
        n_doe=n_design(evaluate),
        seed=seed,
    )
    egor.minimize(fun, max_iters=evaluate.budget - n_design(evaluate))
