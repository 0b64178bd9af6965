"""Limits on outputs as users write them: "<= 250e6", ">= 0", "between -1e-3 and 1e-3", "= 5 within 0.01".

Margin    "<= 250e6 margin 5e6": suggestions aim 5e6 inside, in the output's own unit. What is feasible is decided by
          the limit itself.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Any

from surefoot.engine.spec import Limit
from surefoot.errors import InvalidInputError, shown
from surefoot.optimize.checks import is_a, plain_number

FORMS = "'<= 3', '>= 3', 'between 1 and 3' or '= 3 within 0.1', each with 'margin 0.2' after it or without"
_N = r"([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)"
_LIMIT = re.compile(
    rf"\s*(?:(<=|>=)\s*{_N}|between\s+{_N}\s+and\s+{_N}|=\s*{_N}\s+within\s+{_N})(?:\s+margin\s+{_N})?\s*"
)
_EQUAL = re.compile(rf"\s*==?\s*{_N}\s*")
_OTHER = re.compile(rf"\s*(<|>|=<|=>|≤|≥|==|at most|at least|below|above)\s*{_N}.*")
_WITH_UNIT = re.compile(rf"\s*(<=|>=)\s*{_N}\s*[^\d\s].*")
_SPELLED = {"<": "<=", "=<": "<=", "≤": "<=", "at most": "<=", "below": "<=", "==": "="}


def check_limits(given: Any) -> dict[str, str]:
    """Limits by the names of outputs, each in one spelling; an error if they are anything else."""
    if not is_a(given, Mapping):
        raise InvalidInputError(
            f"expected limits on outputs as a dict of texts; got {shown(given)}; try outputs={{'stress': '<= 250e6'}}"
        )
    try:
        items = list(given.items())
    except Exception as error:  # an object that only looks like a mapping
        raise InvalidInputError(
            f"expected limits on outputs as a dict of texts; got {type(error).__name__} when looking at them; "
            "try outputs={'stress': '<= 250e6'}"
        ) from None
    for name, _ in items:
        if not is_a(name, str) or not name:
            raise InvalidInputError(
                f"expected names of outputs as text; got {shown(name)}; try outputs={{'stress': '<= 250e6'}}"
            )
    return {str(name): spelled(parse_limit(str(name), text)) for name, text in items}


def parse_limit(name: str, text: Any) -> Limit:
    """The limit that a text says; an error that names the output if it says none."""
    found = _LIMIT.fullmatch(str(text)) if is_a(text, str) else None
    if found is None:
        raise InvalidInputError(f"expected a limit on {name!r} as {FORMS}; got {shown(text)}; try {_hint(text)}")
    sign, bound, low, high, middle, within, margin = found.groups()
    if sign is not None:
        lower, upper = (-math.inf, float(bound)) if sign == "<=" else (float(bound), math.inf)
    elif low is not None:
        lower, upper = float(low), float(high)
    else:
        lower, upper = float(middle) - float(within), float(middle) + float(within)
    limit = Limit(lower, upper, 0.0 if margin is None else float(margin))
    _check(name, text, limit)
    return limit


def _check(name: str, text: str, limit: Limit) -> None:
    """An error if nothing, or not even a point, is within the limit."""
    finite = [abs(b) for b in (limit.lower, limit.upper) if b not in (-math.inf, math.inf)]
    wanted = 2 if "between" in text or "within" in text else 1
    if len(finite) < wanted or math.isinf(limit.margin):
        raise InvalidInputError(
            f"expected numbers in the limit on {name!r} that a float can be; got {shown(text)}; try another unit"
        )
    if limit.lower >= limit.upper:
        hint = f"'between {limit.upper:g} and {limit.lower:g}'"
        hint = "a positive tolerance" if limit.lower == limit.upper or "within" in text else hint
        raise InvalidInputError(
            f"expected a limit on {name!r} that values can meet; got {shown(text)}, which none does; try {hint}"
        )
    if not 0.0 <= 2.0 * limit.margin < limit.upper - limit.lower:
        raise InvalidInputError(
            f"expected a margin of the limit on {name!r} from 0 to less than half of its width; got {shown(text)}; "
            "try a smaller one"
        )


def _hint(text: Any) -> str:
    """What the author of a text that is no limit may have meant."""
    if not is_a(text, str):
        pair = [plain_number(end) for end in text] if is_a(text, tuple, list) and len(text) == 2 else [None]
        if all(end is not None and abs(end) <= sys.float_info.max for end in pair):
            return repr(f"between {pair[0]:g} and {pair[1]:g}")
        number = None if is_a(text, bool) else plain_number(text)
        is_known = number is not None and abs(number) <= sys.float_info.max
        return repr(f"<= {number:g}") if is_known else "'<= 250e6'"
    if (equal := _EQUAL.fullmatch(text)) is not None:
        tolerance = abs(float(equal[1])) * 1e-3 or 1e-3
        return f"'= {equal[1]} within {tolerance:g}': no computed number equals another one without a tolerance"
    if (unit := _WITH_UNIT.fullmatch(text)) is not None:
        return f"'{unit[1]} {unit[2]}', a number in the unit that is returned"
    if (other := _OTHER.fullmatch(text)) is not None:
        sign = _SPELLED.get(other[1], ">=")
        return repr(f"{sign} {other[2]}{' within 0.01' if sign == '=' else ''}")
    return "'<= 250e6'"


def spelled(limit: Limit) -> str:
    """The text of a limit; `parse_limit` gives the same limit back."""
    margin = f" margin {limit.margin!r}" if limit.margin else ""
    if math.isinf(limit.lower) or math.isinf(limit.upper):
        return (f"<= {limit.upper!r}" if math.isinf(limit.lower) else f">= {limit.lower!r}") + margin
    return f"between {limit.lower!r} and {limit.upper!r}{margin}"


def limits_of(outputs: Mapping[str, str]) -> tuple[Limit, ...]:
    """The limits of checked texts, in their order."""
    return tuple(parse_limit(name, text) for name, text in outputs.items())


def check_returned(limited: Mapping[str, str], returned: Iterable[str], any_success: bool = True) -> None:
    """An error if an output that has a limit is not among those that successes have returned."""
    names = list(returned)
    for name in limited if any_success else ():
        if name not in names:
            near = get_close_matches(name, names, 1)
            hint = f"outputs={{{near[0]!r}: …}}" if near else "returning a dict of numbers by name"
            raise InvalidInputError(
                f"expected an output {name!r}, which has the limit {limited[name]!r}; got "
                f"{', '.join(map(repr, names)) or 'none'}; try {hint}"
            )
