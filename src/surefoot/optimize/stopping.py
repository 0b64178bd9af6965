"""When a run has done enough, whatever is left of its budget.

stop = {target = 1.0, stagnation = 40, failures = 20, hours = 8}     # whichever comes first
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from surefoot.expect import expect, is_count, is_number, known_keys
from surefoot.optimize.result import Result

_EXAMPLE = "{'target': 1.0, 'stagnation': 40, 'failures': 20, 'hours': 8}"


@dataclass(frozen=True)
class Stop:
    """What ends a run; None: does not."""

    target: float | None = None  # a value as good as this, within all limits
    stagnation: int | None = None  # evaluations after the initial design without a better value
    failures: int | None = None  # failed evaluations in all
    hours: float | None = None  # since the run began

    def reason(self, result: Result, seconds: float) -> str:
        """Why to stop now; empty: there is no reason."""
        counts, n = result.within, len(result.func_vals)
        y = np.where(counts, result.sign * result.func_vals, np.inf)
        place = int(np.argmin(y)) if counts.any() else -1
        if self.target is not None and place >= 0 and y[place] <= result.sign * self.target:
            return f"evaluation {result.numbers[place]} reached the target {self.target:g}"
        if self.stagnation is not None and place >= 0:
            since = n - max(place + 1, min(result.settings.n_init, n))
            if since >= self.stagnation:
                return f"no better value in {since} evaluations"
        failed = int((~result.history.ok).sum())
        if self.failures is not None and failed >= self.failures:
            return f"{failed} evaluations have failed"
        if self.hours is not None and seconds >= 3600.0 * self.hours:
            return f"{self.hours:g} hours are over"
        return ""


def stop_of(given: Any) -> Stop | None:
    """What a user asked for, checked."""
    if given is None:
        return None
    expect(isinstance(given, Mapping), "stop as a table", given, _EXAMPLE)
    known_keys("stop", given, Stop.__dataclass_fields__)
    for key, value in given.items():
        if key == "target":
            expect(is_number(value), "stop with a target that is a number", value, "target = 1.0")
        elif key == "hours":
            expect(is_number(value) and value > 0, "stop with hours above 0", value, "hours = 8")
        else:
            expect(is_count(value, 1), f"stop with {key} as a count of at least 1", value, f"{key} = 40")
    return Stop(**given)


class Enough(StopIteration):
    """A run has a reason to stop."""
