"""Checks of single arguments: the value as Python's own type, or an error in three parts."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from surefoot.errors import InvalidInputError, shown


def is_number(value: Any) -> bool:
    """Whether it is a real number, Python's or NumPy's, and no truth value."""
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)


def as_integer(what: str, value: Any, least: int, example: int, most: float = math.inf) -> int:
    """A Python integer from any integer, NumPy's included, within [least, most]."""
    is_integer = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    if not is_integer or not least <= value <= most:
        limits = f"of at least {least}" if most == math.inf else f"from {least} to {most:g}"
        raise InvalidInputError(
            f"expected {what} as an integer {limits}; got {shown(value)}; try {what}={max(least, example)}"
        )
    return int(value)


def as_number(what: str, value: Any, low: float, below: float, example: float) -> float:
    """A float from any real number in [low, below)."""
    if not is_number(value) or not low <= value < below:
        raise InvalidInputError(f"expected {what} in [{low:g}, {below:g}); got {shown(value)}; try {what}={example:g}")
    try:
        return float(value)
    except OverflowError:  # an integer beyond the largest float
        raise InvalidInputError(
            f"expected {what} as a number that a float can hold; got {shown(value)}; try {what}={example:g}"
        ) from None


def as_truth(what: str, value: Any) -> bool:
    """A Python truth value from True, False, 0, 1 or NumPy's."""
    if not isinstance(value, (bool, np.bool_, int, np.integer)) or value not in (0, 1):
        raise InvalidInputError(f"expected {what} as True or False; got {shown(value)}; try {what}=True")
    return bool(value)
