"""One suggestion by each library behind one interface: load a history, then tell one point and ask for the next.

A peer is a function (problem, X, y) -> step, where step(x, y) tells one more point and returns the suggested one. Every
library keeps whatever state it can between steps (fitted hyperparameters, caches). Defaults of each library, except
that BoTorch, a toolkit, is used as in its tutorials: SingleTaskGP, LogEI, 10 restarts, 512 raw samples.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

Step = Callable[[np.ndarray, float], Any]
Loader = Callable[[Any, np.ndarray, np.ndarray], Step]


def surefoot(problem: Any, X: np.ndarray, y: np.ndarray) -> Step:
    import surefoot as sf

    optimizer = sf.Optimizer(problem.bounds, seed=1, n_init=1)
    optimizer.tell(list(X), y)

    def step(x: np.ndarray, value: float) -> Any:
        optimizer.forget_pending()
        optimizer.tell(x, value)
        return optimizer.ask()

    return step


def optuna(problem: Any, X: np.ndarray, y: np.ndarray) -> Step:
    import optuna as op

    op.logging.set_verbosity(op.logging.ERROR)
    space = {f"x{i}": op.distributions.FloatDistribution(*b) for i, b in enumerate(problem.bounds)}
    study = op.create_study(sampler=op.samplers.GPSampler(seed=1, n_startup_trials=1))

    def add(x: np.ndarray, value: float) -> None:
        params = {f"x{i}": float(v) for i, v in enumerate(x)}
        study.add_trial(op.trial.create_trial(params=params, distributions=space, value=float(value)))

    for x, value in zip(X, y, strict=True):
        add(x, value)

    def step(x: np.ndarray, value: float) -> Any:
        add(x, value)
        trial = study.ask(space)
        study.tell(trial, state=op.trial.TrialState.FAIL)  # not pending for the next step
        return trial.params

    return step


def botorch(problem: Any, X: np.ndarray, y: np.ndarray) -> Step:
    import torch
    from botorch.acquisition import LogExpectedImprovement
    from botorch.fit import fit_gpytorch_mll
    from botorch.models import SingleTaskGP
    from botorch.models.transforms import Standardize
    from botorch.optim import optimize_acqf
    from gpytorch.mlls import ExactMarginalLogLikelihood

    low, high = (np.asarray(b) for b in (problem.lower, problem.upper))
    box = torch.stack([torch.zeros(problem.d), torch.ones(problem.d)]).double()
    data = {"X": (X - low) / (high - low), "y": y}

    def step(x: np.ndarray, value: float) -> Any:
        data["X"], data["y"] = np.vstack([data["X"], (x - low) / (high - low)]), np.append(data["y"], value)
        X_t, y_t = torch.tensor(data["X"]), -torch.tensor(data["y"])[:, None]
        model = SingleTaskGP(X_t, y_t, outcome_transform=Standardize(1))
        fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
        policy = LogExpectedImprovement(model, best_f=y_t.max())
        return optimize_acqf(policy, box, q=1, num_restarts=10, raw_samples=512)[0]

    return step


def egobox(problem: Any, X: np.ndarray, y: np.ndarray) -> Step:
    import egobox as egx

    optimizer = egx.Egor([[float(a), float(b)] for a, b in problem.bounds], seed=1)
    data = {"X": X, "y": y[:, None]}

    def step(x: np.ndarray, value: float) -> Any:
        data["X"], data["y"] = np.vstack([data["X"], x]), np.vstack([data["y"], [[value]]])
        return optimizer.suggest(data["X"], data["y"])

    return step


def bayes_opt(problem: Any, X: np.ndarray, y: np.ndarray) -> Step:
    from bayes_opt import BayesianOptimization

    names = [f"x{i}" for i in range(problem.d)]
    bounds = dict(zip(names, problem.bounds, strict=True))
    optimizer = BayesianOptimization(None, bounds, random_state=1, verbose=0, allow_duplicate_points=True)
    for x, value in zip(X, y, strict=True):
        optimizer.register(dict(zip(names, x, strict=True)), -float(value))

    def step(x: np.ndarray, value: float) -> Any:
        optimizer.register(dict(zip(names, x, strict=True)), -float(value))
        return optimizer.suggest()

    return step


PEERS: dict[str, tuple[str, Loader]] = {  # name: (module, loader)
    "surefoot": ("surefoot", surefoot),
    "optuna": ("optuna", optuna),
    "botorch": ("botorch", botorch),
    "egobox": ("egobox", egobox),
    "bayes_opt": ("bayes_opt", bayes_opt),
}
_DISTRIBUTIONS = {"bayes_opt": "bayesian-optimization"}


def installed() -> list[str]:
    """Names of the libraries that can be imported here."""
    found = [name for name, (module, _) in PEERS.items() if importlib.util.find_spec(module) is not None]
    if "optuna" in found and importlib.util.find_spec("torch") is None:
        found.remove("optuna")  # its GPSampler needs torch
    return found


def version(name: str) -> str:
    """The installed version."""
    return importlib.metadata.version(_DISTRIBUTIONS.get(name, name))


def load(name: str, problem: Any, X: np.ndarray, y: np.ndarray) -> Step:
    """The library's step after loading a history; its warnings are its own affair."""
    warnings.simplefilter("ignore")
    return PEERS[name][1](problem, X, y)
