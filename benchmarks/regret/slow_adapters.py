"""Libraries that take minutes a run: BoTorch, bayesian-optimization and HEBO; see adapters.py.

BoTorch and bayesian-optimization take no failed evaluation: the worst value seen so far is told instead.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.regret.suites import Objective
from surefoot.paper.studies.failures.peers import impute


def botorch(f: Objective, design: np.ndarray, n: int, seed: int) -> Any:
    """SingleTaskGP, LogEI and optimize_acqf as in the tutorials; recommends the evaluated point of least mean."""
    import torch
    from botorch.acquisition import LogExpectedImprovement
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

    for x in design:
        f(x)
    for _ in range(n - len(design)):
        model, _, y = fitted()
        policy = LogExpectedImprovement(model, best_f=y.max())
        unit = optimize_acqf(policy, box, q=1, num_restarts=10, raw_samples=512)[0][0].numpy()
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
    optimizer.observe(pd.DataFrame(design, columns=names), np.asarray(f.y)[:, None])
    for _ in range(n - len(design)):
        point = optimizer.suggest(n_suggestions=1)
        f(point[names].to_numpy()[0])
        optimizer.observe(point, np.asarray([[f.y[-1]]]))
