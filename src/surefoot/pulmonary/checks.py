"""Checks shared by the settings: each error says what was expected, what came and what to try."""

from surefoot.errors import InvalidInputError
from surefoot.expect import is_number


def require(condition: bool, expected: str, came: object, try_this: str) -> None:
    """Raise InvalidInputError unless the condition holds."""
    if not condition:
        raise InvalidInputError(f"expected {expected}, got {came!r}; {try_this}")


def positive(name: str, value: float, try_this: str) -> None:
    """A finite number above zero."""
    require(is_number(value) and value > 0, f"{name} to be a finite number above zero", value, try_this)


def number(name: str, value: float, try_this: str) -> None:
    """A finite number."""
    require(is_number(value), f"{name} to be a finite number", value, try_this)
