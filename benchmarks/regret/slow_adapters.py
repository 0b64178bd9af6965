"""Libraries that take minutes a run: BoTorch, bayesian-optimization and HEBO; see adapters.py.

BoTorch and bayesian-optimization take no failed evaluation: the worst value seen so far is told instead. BoTorch has no
design of its own: where none is given it gets 2 d + 2 Sobol' points.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.regret.suites import Objective
from surefoot.numerics.designs import sobol
from surefoot.paper.studies.failures.peers import impute


def _in_box(f: Objective, units: np.ndarray) -> np.ndarray:
    low, high = np.asarray(f.bounds).T
    return np.asarray(low + units * (high - low))


def _sobol(f: Objective, n: int, seed: int) -> np.ndarray:
    return _in_box(f, sobol(n, f.d, np.random.default_rng(seed)))


def _uniform(f: Objective, n: int, seed: int) -> np.ndarray:
    return _in_box(f, np.random.default_rng(seed).random((n, f.d)))


def botorch(f: Objective, design: np.ndarray, n: int, seed: int, q: float = 1) -> Any:
    """SingleTaskGP, LogEI and optimize_acqf as in the tutorials; recommends the evaluated point of least mean.

    With batches of q: qLogEI, one point of a batch after the other.
    """
    import torch
    from botorch.acquisition import LogExpectedImprovement, qLogExpectedImprovement
    from botorch.fit import fit_gpytorch_mll
    from botorch.models import SingleTaskGP
    from botorch.models.transforms import Standardize
    from botorch.optim import optimize_acqf
    from gpytorch.mlls import ExactMarginalLogLikelihood

    torch.manual_seed(seed)
    low, high = np.asarray(f.bounds).T
    box = torch.stack([torch.zeros(f.d), torch.ones(f.d)]).double()

    def fitted() -> tuple[Any, Any, Any]:
        X = torch.tensor((np.asarray(f.X) - low) / (high - low))
        y = -torch.tensor(impute(f.y))[:, None]
        model = SingleTaskGP(X, y, outcome_transform=Standardize(1))
        fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
        return model, X, y

    for x in design if len(design) else _sobol(f, 2 * f.d + 2, seed):
        f(x)
    while len(f.y) < n:
        model, _, y = fitted()
        policy = (LogExpectedImprovement if q == 1 else qLogExpectedImprovement)(model, best_f=y.max())
        more = min(int(q), n - len(f.y))
        found = optimize_acqf(policy, box, q=more, num_restarts=10, raw_samples=512, sequential=True)[0]
        for unit in found.numpy():
            f(low + unit * (high - low))
    if not f.task.noise_sd:
        return None
    model, X, _ = fitted()
    with torch.no_grad():
        return f.X[int(model.posterior(X).mean.argmax())]


def bayes_opt(f: Objective, design: np.ndarray, n: int, seed: int) -> Any:
    """`BayesianOptimization.suggest` and `register` with the defaults; it recommends its `max`, the best observed."""
    from bayes_opt import BayesianOptimization

    names = [f"x{i:02d}" for i in range(f.d)]
    bounds = dict(zip(names, f.bounds, strict=True))
    optimizer = BayesianOptimization(None, bounds, random_state=seed, verbose=0, allow_duplicate_points=True)
    design = design if len(design) else _uniform(f, 5, seed)  # as its `maximize` does
    for x in design:
        f(x)
    for x, y in zip(design, impute(f.y), strict=True):
        optimizer.register(dict(zip(names, map(float, x), strict=True)), -float(y))
    for _ in range(n - len(design)):
        point = optimizer.suggest()
        f([point[name] for name in names])
        optimizer.register(point, -float(impute(f.y)[-1]))


def hebo(f: Objective, design: np.ndarray, n: int, seed: int) -> Any:
    """HEBO's `suggest` and `observe` with the defaults; the design is observed first. NaN is left out by HEBO."""
    import pandas as pd
    import torch
    from hebo.design_space.design_space import DesignSpace
    from hebo.optimizers.hebo import HEBO

    np.random.seed(seed)  # HEBO draws from NumPy's and torch's global generators
    torch.manual_seed(seed)
    names = [f"x{i:02d}" for i in range(f.d)]
    space = DesignSpace().parse(
        [
            {"name": name, "type": "num", "lb": low, "ub": high}
            for name, (low, high) in zip(names, f.bounds, strict=True)
        ]
    )
    optimizer = HEBO(space, scramble_seed=seed)
    for x in design:
        f(x)
    if len(design):
        optimizer.observe(pd.DataFrame(design, columns=names), np.asarray(f.y)[:, None])
    for _ in range(n - len(design)):
        point = optimizer.suggest(n_suggestions=1)
        f(point[names].to_numpy()[0])
        optimizer.observe(point, np.asarray([[f.y[-1]]]))
