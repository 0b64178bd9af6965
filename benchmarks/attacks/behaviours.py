"""Hostile Python functions for `minimize`: what they do where x[0] < 1/2, how they may be run, what has to come of it.

Modes    plain; isolated (isolate="process"); timeout; memory (memory_limit_mb); threads and pool (executors, isolated)
Expected failed: a failed evaluation with a reason; value: the number that was returned
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

VALUE = 0.25  # what those return that return something
ISOLATED = ("isolated", "threads")
ALL = ("plain", "isolated", "pool")


@dataclass(frozen=True)
class Behaviour:
    """One hostile function."""

    act: Callable[[], Any]
    modes: tuple[str, ...]
    expected: str  # failed or value


BEHAVIOURS: dict[str, Behaviour] = {}


def hostile(expected: str, *modes: str) -> Callable[[Callable[[], Any]], Callable[[], Any]]:
    """Register a behaviour under its name."""

    def register(act: Callable[[], Any]) -> Callable[[], Any]:
        BEHAVIOURS[act.__name__.strip("_")] = Behaviour(act, modes, expected)
        return act

    return register
