"""When a run has done enough, whatever is left of its budget.

stop = {target = 1.0, stagnation = 40, failures = 20, hours = 8, gain = {more_than = "1 %", probability = 0.05}}

Whichever comes first ends the run. The gain is asked for last: it takes about as long as a suggestion.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from surefoot.expect import expect, is_count, is_number, known_keys
from surefoot.optimize.gain import EVALUATIONS, MORE_THAN, checked_gain
from surefoot.optimize.result import Result

_EXAMPLE = "{'target': 1.0, 'stagnation': 40, 'failures': 20, 'hours': 8}"
_GAIN = "gain = {more_than = '1 %', probability = 0.05}"


@dataclass(frozen=True)
class Unlikely:
    """So many more evaluations gain more than so much with at most this probability."""

    more_than: float | str = MORE_THAN  # per cent of the absolute value of the best, or a number in its unit
    probability: float = 0.05
    evaluations: int = EVALUATIONS


@dataclass(frozen=True)
class Stop:
    """What ends a run; None: does not."""

    target: float | None = None  # a value as good as this, within all limits
    stagnation: int | None = None  # evaluations after the initial design without a better value
    failures: int | None = None  # failed evaluations in all
    hours: float | None = None  # since the run began
    gain: Unlikely | None = None  # what is left to be had, by the model, once the initial design is over

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
        return self._no_gain(result) if self.gain is not None and n > result.settings.n_init else ""

    def _no_gain(self, result: Result) -> str:
        assert self.gain is not None
        found = result.gain(self.gain.more_than, self.gain.evaluations) if result.feasible else None
        return "" if found is None or found.probability > self.gain.probability else str(found)


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
        elif key != "gain":
            expect(is_count(value, 1), f"stop with {key} as a count of at least 1", value, f"{key} = 40")
    return Stop(**{**given, **({"gain": _unlikely(given["gain"])} if "gain" in given else {})})


def _unlikely(given: Any) -> Unlikely:
    expect(isinstance(given, Mapping), "stop with gain as a table", given, _GAIN)
    known_keys("gain", given, Unlikely.__dataclass_fields__)
    found = Unlikely(**given)
    p = found.probability
    expect(is_number(p) and 0.0 < p < 1.0, "gain with a probability between 0 and 1", p, _GAIN)
    expect(is_count(found.evaluations, 1), "gain with evaluations of at least 1", found.evaluations, "evaluations = 20")
    return Unlikely(checked_gain(found.more_than), float(p), found.evaluations)


class Enough(StopIteration):
    """A run has a reason to stop."""
