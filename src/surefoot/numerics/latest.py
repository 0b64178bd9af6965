"""What was computed last, kept for whoever asks the same again."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

T = TypeVar("T")


class Latest(Generic[T]):
    """What a pure function gave for the last few arguments: the same bits as if it were asked again."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._known: dict[Hashable, T] = {}

    def of(self, key: Hashable, compute: Callable[[], T]) -> T:
        """What is known of the key, or what `compute` gives."""
        found = self._known.pop(key, None)
        if found is None:
            found = compute()
        self._known[key] = found  # the last that was asked for
        for old in list(self._known)[: -self._size]:
            self._known.pop(old, None)  # another thread may have been faster
        return found
