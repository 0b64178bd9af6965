"""Libraries that are quick enough to run everywhere: surefoot, egobox, Optuna's TPE (and its GP), random search.

An adapter (objective, design, n, seed) evaluates the design and n - len(design) points of its own choice, and
returns the point that the library recommends; None: it recommends none, and the best observed one counts.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from benchmarks.regret.suites import Objective
from surefoot.errors import UnknownNameError

Adapter = Callable[[Objective, np.ndarray, int, int], Any]


def random(f: Objective, design: np.ndarray, n: int, seed: int) -> None:
    """Uniform points."""
    rng = np.random.default_rng((seed, 2))
    low, high = np.asarray(f.bounds).T
    for x in [*design, *(low + rng.random((n - len(design), f.d)) * (high - low))]:
        f(x)


def find_constant(path: str) -> tuple[Any, str, Any]:
    """Module, name and value of a constant of surefoot, such as gp.regression.MIN_LAM."""
    module, _, name = path.rpartition(".")
    try:
        place = importlib.import_module(f"surefoot.{module}")
        return place, name, getattr(place, name)
    except (ImportError, AttributeError):
        raise UnknownNameError(
            f"expected a constant of a module of surefoot; got {path!r}; try gp.regression.MIN_LAM"
        ) from None


@contextmanager
def constants(values: Mapping[str, Any]) -> Iterator[None]:
    """Other values, for a while, of constants of surefoot: {"gp.regression.MIN_LAM": 1e-8}."""
    before = []
    try:
        for path, value in values.items():
            place, name, known = find_constant(path)
            before.append((place, name, known))
            setattr(place, name, type(known)(value))
        yield
    finally:
        for place, name, value in before:
            setattr(place, name, value)


def surefoot(f: Objective, design: np.ndarray, n: int, seed: int, **settings: Any) -> Any:
    """`surefoot.minimize` with its defaults, or those settings; keys with a dot are constants of its modules."""
    import surefoot as sf

    inner = {key: value for key, value in settings.items() if "." in key}
    own = {key: value for key, value in settings.items() if "." not in key}
    with constants(inner):
        result = sf.minimize(f, f.bounds, n_evals=n, n_init=len(design), x0=list(design), seed=seed, **own)
        return result.recommended.x if result.success else None


def egobox(f: Objective, design: np.ndarray, n: int, seed: int) -> Any:
    """`Egor.minimize` with its defaults. Told to model viability where evaluations may fail."""
    import egobox as egx

    def values(X: np.ndarray) -> np.ndarray:
        return np.asarray([[f(x)] for x in X])

    viability = {"failsafe_strategy": egx.FailsafeStrategy.VIABILITY} if f.task.may_fail else {}
    bounds = [[float(low), float(high)] for low, high in f.bounds]
    optimizer = egx.Egor(bounds, x_doe=np.asarray(design), seed=seed, **viability)
    return optimizer.minimize(values, max_iters=n - len(design)).result.x_opt


def _optuna(sampler: Callable[[Any, int], Any]) -> Adapter:
    def adapter(f: Objective, design: np.ndarray, n: int, seed: int) -> Any:
        """Ask and tell; the design is enqueued. A failed evaluation is told as FAIL, which the sampler ignores."""
        import optuna

        optuna.logging.set_verbosity(optuna.logging.ERROR)
        space = {f"x{i}": optuna.distributions.FloatDistribution(*b) for i, b in enumerate(f.bounds)}
        study = optuna.create_study(sampler=sampler(optuna.samplers, seed))
        for x in design:
            study.enqueue_trial({name: float(v) for name, v in zip(space, x, strict=True)})
        for _ in range(n):
            trial = study.ask(space)
            y = f([trial.params[name] for name in space])
            if np.isfinite(y):
                study.tell(trial, y)
            else:
                study.tell(trial, state=optuna.trial.TrialState.FAIL)
        return [study.best_params[name] for name in space]

    return adapter


optuna_tpe = _optuna(lambda samplers, seed: samplers.TPESampler(seed=seed))
optuna_gp = _optuna(lambda samplers, seed: samplers.GPSampler(seed=seed))
