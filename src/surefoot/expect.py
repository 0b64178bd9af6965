"""What people write into files, checked: every error says what was expected, what came, what to try."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable
from typing import Any

from surefoot.errors import InvalidInputError, UnknownNameError, shown

_MOST_SHOWN = 1000  # characters of unknown names in a message


def expect(holds: bool, expected: str, got: Any, attempt: str) -> None:
    """Raise in three parts unless it holds."""
    if not holds:
        raise InvalidInputError(f"expected {expected}; got {shown(got)}; try {attempt}")


def is_number(value: Any) -> bool:
    """Whether it is a number that a float can hold, finite, and no truth value."""
    try:
        return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
    except OverflowError:  # an integer beyond the largest float
        return False


def is_count(value: Any, least: int) -> bool:
    """Whether it is an integer of at least so much, and no truth value."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


def known_keys(where: str, given: Iterable[str], names: Iterable[str]) -> None:
    """Raise if there are keys that mean nothing, with the one that was meant."""
    names = list(names)
    unknown = [key for key in given if key not in names]
    if unknown:
        got = ", ".join(map(shown, unknown))[:_MOST_SHOWN]
        attempt = nearest(unknown[0], names) or "leaving it out"
        raise UnknownNameError(f"expected {where} to have keys among {', '.join(names)}; got {got}; try {attempt}")


def nearest(name: str, names: Iterable[str]) -> str | None:
    """The name that is spelled nearly so."""
    close = difflib.get_close_matches(name[:100].lower(), names, n=1, cutoff=0.6)
    return close[0] if close else None
