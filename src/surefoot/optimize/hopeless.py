"""When so many evaluations have failed that going on makes no sense."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefoot.errors import InvalidInputError, TooManyFailuresError, shown
from surefoot.optimize.checks import plain_number
from surefoot.optimize.reasons import summary
from surefoot.optimize.result import Result

_FEWEST = 20  # evaluations by which a share is judged; a design may have fewer
_PYTHON_HINT = "other bounds, x0 at a point that works, or max_failures=None"


def check_max_failures(limit: Any) -> int | float | None:
    """The limit as None, a count of at least 1 or a share in (0, 1]; an error if it is none of them."""
    number = plain_number(limit)
    is_count, is_share = isinstance(number, int) and number >= 1, isinstance(number, float) and 0.0 < number <= 1.0
    if not (limit is None or is_count or is_share):
        raise InvalidInputError(
            "expected max_failures as a count (int), a share in (0, 1] (float) or None; "
            f"got {shown(limit)}; try 50 or 0.9"
        )
    return number


def stop_if_hopeless(result: Result, limit: int | float | None, hint: str = _PYTHON_HINT) -> None:
    """Raise TooManyFailuresError when the failures exceed the limit; `hint` is what to try, in the user's words."""
    ok = result.history.ok
    if limit is None or len(ok) == 0 or ok[-1]:
        return
    if isinstance(limit, int):
        hopeless = len(ok) >= limit and not ok[-limit:].any()
        what = f"the last {limit} evaluations all failed"
    else:
        hopeless = len(ok) > max(result.settings.n_init, _FEWEST) and float(np.mean(~ok)) >= limit
        what = f"{int((~ok).sum())} of {len(ok)} evaluations failed"
    if not hopeless:
        return
    common = summary(e.reason for e in result.history.evaluations if not e.ok)
    raise TooManyFailuresError(
        f"expected some evaluations to succeed; got failures: {what}, of {len(ok)} tried, {int(ok.sum())} succeeded; "
        f"most often: {common}; try {hint}",
        result,
    )
