"""Values of parameters as text, in files and commands: written, read, and judged."""

from __future__ import annotations

import re
from typing import Any

from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution, IntDistribution

from surefoot.runs.names import NO_VALUE

_FORTRAN = re.compile(r"([+-]?(?:\d+\.\d*|\.\d+))(?:[dDqQ]|(?=[+-]\d{3}$))([+-]?\d+)")


def text_of(value: Any) -> str:
    """A number with all its digits, a truth value as TOML writes it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def value_of(d: BaseDistribution, text: str) -> Any:
    """The value that a text says; ValueError if a number is wanted and it is none."""
    text = text.strip()
    if isinstance(d, CategoricalDistribution):
        by_text = {text_of(choice): choice for choice in d.choices}
        return by_text.get(text, by_text.get(text.lower(), text))
    number = as_number(text)
    return int(number) if isinstance(d, IntDistribution) and number.is_integer() else number


def domain_of(d: BaseDistribution) -> str:
    """Which values the parameter can have, for people."""
    if isinstance(d, CategoricalDistribution):
        return f"among {', '.join(map(text_of, d.choices))}"
    assert isinstance(d, (FloatDistribution, IntDistribution))
    kind = "an integer" if isinstance(d, IntDistribution) else "a number"
    grid = f" in steps of {d.step}" if d.step is not None and (d.step != 1 or kind == "a number") else ""
    return f"as {kind} between {d.low} and {d.high}{grid}"


def as_number(text: str) -> float:
    """A number as C, Python and Fortran write it: 1.5D+03, and 1.5+100 where a long exponent drives out the letter."""
    text = text.strip()
    fortran = _FORTRAN.fullmatch(text)
    try:
        return float(f"{fortran[1]}e{fortran[2]}" if fortran else text)
    except ValueError:
        raise ValueError(f"{NO_VALUE}{text[:100]!r} is not a number") from None
