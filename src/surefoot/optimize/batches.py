"""One history, as the engine wants it: a batch of a single run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from surefoot.engine.batch import Batch
from surefoot.optimize.durations import weighed_cost
from surefoot.optimize.history import History
from surefoot.optimize.space import Space


def batch_of(
    history: History,
    units: Sequence[np.ndarray] | np.ndarray,
    space: Space,
    sign: float,
    limited: Iterable[str],
    pending: Sequence[np.ndarray] = (),
) -> Batch:
    """What has been evaluated, at the points `units` (n, D), and what is being evaluated.

    sign: -1 turns a maximum round; limited: the names of the outputs that have limits.
    """
    return Batch(
        X=np.asarray(units, dtype=float).reshape(1, -1, space.n_inputs),
        y=sign * history.y[None],
        ok=history.ok[None],
        pending=np.asarray(pending, dtype=float).reshape(1, -1, space.n_inputs),
        run_ids=(0,),
        seen=None if history.seen.all() else history.seen[None],
        kinds=history.kinds[None],
        failure_cost=weighed_cost(history),
        origin=space.origin[None],
        allowed=None if history.allowed.all() else history.allowed[None],
        outputs=history.limited(limited),
        pools=space.pools,
    )
