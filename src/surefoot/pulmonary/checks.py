"""Checks shared by the settings: each error says what was expected, what came and what to try."""

import math
from collections.abc import Iterable

from surefoot.errors import InvalidInputError


def require(condition: bool, expected: str, came: object, try_this: str) -> None:
    """Raise InvalidInputError unless the condition holds."""
    if not condition:
        raise InvalidInputError(f"expected {expected}, got {came!r}; {try_this}")


def positive(name: str, value: float, try_this: str) -> None:
    """A finite number above zero."""
    good = isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value) and value > 0
    require(good, f"{name} to be a finite number above zero", value, try_this)


def number(name: str, value: float, try_this: str) -> None:
    """A finite number."""
    good = isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
    require(good, f"{name} to be a finite number", value, try_this)


def known_keys(where: str, given: Iterable[str], allowed: Iterable[str]) -> None:
    """Every given key is an allowed one."""
    names = list(allowed)
    for key in given:
        require(key in names, f"a key of {where} among {', '.join(names)}", key, "correct or remove it")
