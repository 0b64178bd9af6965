"""What was fitted for one point serves the next ones that are asked for at once: nothing has been told in between.

Bits      A warm search for hyperparameters that begins where the last one converged ends there at once. The next model
          of the same data is then the last one, bit by bit; from the third point on none is fitted again.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

from surefoot.numerics.latest import Latest

T = TypeVar("T")
_known: ContextVar[Latest[Any] | None] = ContextVar("_known", default=None)


@contextmanager
def same_evaluations() -> Iterator[None]:
    """Until it ends all suggestions of this thread are for one history, one space and one set of settings."""
    token = _known.set(Latest(size=1))
    try:
        yield
    finally:
        _known.reset(token)  # a model takes n^2 numbers: it is not kept for longer


def recalled(key: Hashable | None, compute: Callable[[], T]) -> T:
    """What `compute` gave for this key while the evaluations are the same; None: whatever it gives now."""
    known = _known.get()
    return compute() if known is None or key is None else known.of(key, compute)
