"""Libraries that are quick enough to run everywhere: surefoot, egobox, Optuna's TPE (and its GP), random search.

An adapter (objective, design, n, seed) evaluates the design and n - len(design) points of its own choice, and
returns the point that the library recommends; None: it recommends none, and the best observed one counts. Where the
design is empty the library begins as it does by default. Those that
are not here are shared with the study of failures (surefoot.paper.studies.failures.peers).
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from benchmarks.regret.suites import Objective
from surefoot.errors import UnknownNameError
from surefoot.paper.studies.failures import peers

Adapter = peers.Peer


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
    """`surefoot.minimize` with its defaults, or those settings; keys with a dot are constants of its modules.

    q: points that are asked for at once; all of them are told before the next ones are asked for.
    """
    import surefoot as sf

    q = int(settings.pop("q", 1))
    inner = {key: value for key, value in settings.items() if "." in key}
    own = {key: value for key, value in settings.items() if "." not in key}
    with constants(inner):
        if q > 1:
            optimizer = sf.Optimizer(f.bounds, n_init=len(design) or None, seed=seed, **own)
            if len(design):
                optimizer.tell(design, [f(x) for x in design])
            while len(f.y) < n:
                points = optimizer.ask(min(q, n - len(f.y)))
                optimizer.tell(points, [f(x) for x in points])
            return None
        start = {"n_init": len(design), "x0": list(design)} if len(design) else {}
        result = sf.minimize(f, f.bounds, n_evals=n, seed=seed, **start, **own)
        return result.recommended.x if result.success else None


def egobox(f: Objective, design: np.ndarray, n: int, seed: int) -> Any:
    """`Egor.minimize` with its defaults. Told to model viability where evaluations may fail."""
    if len(design):
        return peers.egobox(f, design, n, seed, may_fail=f.task.may_fail)
    import egobox as egx

    n_doe = max(f.d + 1, 5)  # of its own design
    bounds = [[float(low), float(high)] for low, high in f.bounds]
    solver = egx.Egor(bounds, seed=seed)
    return solver.minimize(lambda x: np.asarray([[f(row)] for row in x]), max_iters=n - n_doe).result.x_opt


optuna_gp = peers.optuna(lambda samplers, seed: samplers.GPSampler(seed=seed))
