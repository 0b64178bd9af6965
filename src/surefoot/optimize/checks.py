"""Checks of single arguments: the value as Python's own type, or an error in three parts.

Arguments can be objects that raise when they are looked at; the type of an object cannot.
"""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np

from surefoot.errors import InvalidInputError, shown


def is_a(value: Any, *kinds: type) -> bool:
    """isinstance, without asking the object itself, which may answer with an exception."""
    return issubclass(type(value), kinds)


def has(value: Any, *names: str) -> bool:
    """hasattr for all names; an object that raises when it is asked has none."""
    try:
        return all(hasattr(value, name) for name in names)
    except Exception:
        return False


def plain_number(value: Any) -> int | float | None:
    """A real number, Python's or NumPy's, as Python's own; None if it is none, or a truth value."""
    try:
        if is_a(value, int, np.integer) and not is_a(value, bool):
            return int(value)
        return float(value) if is_a(value, float, np.floating) else None
    except Exception:  # a number of the user's own
        return None


def is_number(value: Any) -> bool:
    """Whether it is a real number, Python's or NumPy's, and no truth value."""
    return plain_number(value) is not None


def as_integer(what: str, value: Any, least: int, example: int, most: float = math.inf) -> int:
    """A Python integer from any integer, NumPy's included, within [least, most]."""
    number = plain_number(value)
    if not isinstance(number, int) or not least <= number <= most:
        limits = f"of at least {least}" if most == math.inf else f"from {least} to {most:g}"
        raise InvalidInputError(
            f"expected {what} as an integer {limits}; got {shown(value)}; try {what}={max(least, example)}"
        )
    return number


def as_number(what: str, value: Any, low: float, below: float, example: float) -> float:
    """A float from any real number in [low, below)."""
    number = plain_number(value)
    try:
        if number is not None and low <= number < below:
            return float(number)
    except OverflowError:  # an integer beyond the largest float
        pass
    raise InvalidInputError(f"expected {what} in [{low:g}, {below:g}); got {shown(value)}; try {what}={example:g}")


def as_truth(what: str, value: Any) -> bool:
    """A Python truth value from True, False, 0, 1 or NumPy's."""
    if is_a(value, bool, np.bool_) or plain_number(value) in (0, 1):
        return bool(value)
    raise InvalidInputError(f"expected {what} as True or False; got {shown(value)}; try {what}=True")


def as_duration(duration_s: Any) -> float:
    """Seconds, at least 0; NaN: not known."""
    seconds = plain_number(duration_s)
    if seconds is None or not (seconds != seconds or 0.0 <= seconds <= sys.float_info.max):
        raise InvalidInputError(
            f"expected duration_s in seconds, at least 0; got {shown(duration_s)}; try leaving it out"
        )
    return float(seconds)


def as_progress(progress: Any) -> float:
    """A share, 0 to 1; NaN: not known."""
    share = plain_number(progress)
    if share is None or not (share != share or 0.0 <= share <= 1.0):
        raise InvalidInputError(f"expected progress from 0 to 1; got {shown(progress)}; try progress=0.6")
    return float(share)
