"""How each library is told of mixed parameters. All start from their own defaults: no point is given.

An adapter (objective, design, n, seed) as in benchmarks.regret.adapters; the objective takes points (d,) in which
categories are indices (`MixedTask.code`).
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.regret.adapters import Adapter, constants
from benchmarks.regret.suites import Objective
from surefoot import Categorical, Integer


def surefoot(f: Objective, design: np.ndarray, n: int, seed: int, **settings: Any) -> Any:
    """`surefoot.minimize` with its defaults, or those settings; keys with a dot are constants of its modules."""
    import surefoot as sf

    inner = {key: value for key, value in settings.items() if "." in key}
    own = {key: value for key, value in settings.items() if "." not in key}
    with constants(inner):
        result = sf.minimize(lambda x: f(f.task.code(list(x))), f.task.space, n_evals=n, seed=seed, **own)
    return f.task.code(list(result.recommended.x)) if result.success else None


def random(f: Objective, design: np.ndarray, n: int, seed: int) -> None:
    """Uniform points."""
    space = f.task.space
    for unit in space.from_uniform(np.random.default_rng((seed, 2)).random((n, space.d))):
        f(f.task.code(list(space.decode(unit))))


def _optuna(sampler: Callable[[Any, int], Any]) -> Adapter:
    def peer(f: Objective, design: np.ndarray, n: int, seed: int) -> Any:
        """Ask and tell."""
        import optuna
        from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

        optuna.logging.set_verbosity(optuna.logging.ERROR)
        space = {}
        for name, p in zip(f.task.space.names, f.task.space.parameters, strict=True):
            if isinstance(p, Categorical):
                space[name] = CategoricalDistribution(p.choices)
            else:
                kind = IntDistribution if isinstance(p, Integer) else FloatDistribution
                space[name] = kind(p.low, p.high, log=p.log)
        study = optuna.create_study(sampler=sampler(optuna.samplers, seed))
        for _ in range(n):
            trial = study.ask(dict(space))
            study.tell(trial, f(f.task.code([trial.params[name] for name in space])))
        return f.task.code([study.best_params[name] for name in space])

    return peer


tpe = _optuna(lambda samplers, seed: samplers.TPESampler(seed=seed))
optuna_gp = _optuna(lambda samplers, seed: samplers.GPSampler(seed=seed))


def smac(f: Objective, design: np.ndarray, n: int, seed: int) -> Any:
    """HyperparameterOptimizationFacade, SMAC's for mixed parameters (a random forest), by ask and tell."""
    import smac as library
    from ConfigSpace import CategoricalHyperparameter, ConfigurationSpace, Float
    from ConfigSpace import Integer as Whole
    from smac.runhistory import TrialValue

    space = ConfigurationSpace(seed=seed)
    names = [f"x{i:02d}" for i in range(f.d)]
    for name, p in zip(names, f.task.space.parameters, strict=True):
        if isinstance(p, Categorical):
            space.add(CategoricalHyperparameter(name, list(range(p.n_values))))
        else:
            space.add((Whole if isinstance(p, Integer) else Float)(name, (p.low, p.high), log=p.log))
    with tempfile.TemporaryDirectory() as folder:
        scenario = library.Scenario(space, deterministic=True, n_trials=n, seed=seed, output_directory=folder)
        facade = library.HyperparameterOptimizationFacade
        optimizer = facade(scenario, lambda config, seed=0: 0.0, overwrite=True, logging_level=False)
        for _ in range(n):
            trial = optimizer.ask()
            optimizer.tell(trial, TrialValue(cost=f([float(trial.config[name]) for name in names])))
        best = optimizer.intensifier.get_incumbent()
        return None if best is None else [float(best[name]) for name in names]


def hebo(f: Objective, design: np.ndarray, n: int, seed: int) -> Any:
    """HEBO's `suggest` and `observe` with the defaults; "pow" are logarithms."""
    import torch
    from hebo.design_space.design_space import DesignSpace
    from hebo.optimizers.hebo import HEBO

    np.random.seed(seed)  # HEBO draws from NumPy's and torch's global generators
    torch.manual_seed(seed)
    names = [f"x{i:02d}" for i in range(f.d)]
    entries: list[dict[str, Any]] = []
    for name, p in zip(names, f.task.space.parameters, strict=True):
        if isinstance(p, Categorical):
            entries.append({"name": name, "type": "cat", "categories": list(range(p.n_values))})
        else:
            kind = ("pow_int" if p.log else "int") if isinstance(p, Integer) else ("pow" if p.log else "num")
            entries.append({"name": name, "type": kind, "lb": p.low, "ub": p.high})
    optimizer = HEBO(DesignSpace().parse(entries), scramble_seed=seed)
    for _ in range(n):
        point = optimizer.suggest(n_suggestions=1)
        optimizer.observe(point, np.asarray([[f([float(value) for value in point[names].to_numpy()[0]])]]))


ADAPTERS: dict[str, Adapter] = {
    "surefoot": surefoot,
    "optuna-tpe": tpe,
    "optuna-gp": optuna_gp,
    "smac": smac,
    "hebo": hebo,
    "random": random,
}
