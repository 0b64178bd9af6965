"""What people write into files, checked: every error says what was expected, what came, what to try."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from surefoot.errors import InvalidInputError, UnknownNameError, shown

_MOST_SHOWN = 1000  # characters of unknown names in a message


def expect(holds: bool, expected: str, got: Any, attempt: str) -> None:
    """Raise in three parts unless it holds."""
    if not holds:
        raise InvalidInputError(f"expected {expected}; got {shown(got)}; try {attempt}")


@contextmanager
def at(*place: str) -> Iterator[None]:
    """An error from within is of what stands at these keys of a file."""
    try:
        yield
    except InvalidInputError as error:
        error.place = (*place, *error.place)
        raise


def within(error: InvalidInputError, text: str) -> InvalidInputError:
    """The same error with another text."""
    other = type(error)(text)
    other.place = error.place
    return other


def is_number(value: Any) -> bool:
    """Whether it is a number that a float can hold, finite, and no truth value."""
    try:
        return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
    except OverflowError:  # an integer beyond the largest float
        return False


def is_count(value: Any, least: int) -> bool:
    """Whether it is an integer of at least so much, and no truth value."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


def known_keys(
    where: str, given: Iterable[str], names: Iterable[str], elsewhere: Mapping[str, str] | None = None
) -> None:
    """Raise if there are keys that mean nothing, with the one that was meant; `elsewhere`: what to do with others."""
    names = list(names)
    unknown = [key for key in given if key not in names]
    if unknown:
        got = ", ".join(map(shown, unknown))[:_MOST_SHOWN]
        attempt = (elsewhere or {}).get(unknown[0]) or nearest(unknown[0], names) or "leaving it out"
        with at(unknown[0]):
            raise UnknownNameError(f"expected {where} to have keys among {', '.join(names)}; got {got}; try {attempt}")


def nearest(name: str, names: Iterable[str]) -> str | None:
    """The name that is spelled nearly so."""
    close = difflib.get_close_matches(name[:100].lower(), names, n=1, cutoff=0.6)
    return close[0] if close else None
