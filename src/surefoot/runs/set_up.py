"""A command that never works is noticed after a few evaluations, not after the whole budget."""

from __future__ import annotations

import re

from surefoot.errors import TooManyFailuresError
from surefoot.optimize.result import Result
from surefoot.runs.problem import Problem

N_ALIKE = 5  # evaluations of a new study
_AT_ONCE_S = 1.0  # a simulator that begins to simulate takes longer to fail, or fails in several ways

_NUMBERS = re.compile(r"\d+")  # the number of a trial in a path, say


def stop_if_set_up_fails(result: Result, problem: Problem, n_before: int) -> None:
    """Raise if the first evaluations of a study all failed alike within no time; never in a run that continues one.

    n_before  evaluations that were there when the run began: whoever starts it again wants to go on
    """
    evaluations = result.history.evaluations
    first = evaluations[:N_ALIKE]
    if problem.max_failures is None or n_before >= N_ALIKE or len(first) < N_ALIKE:
        return
    alike = len({_NUMBERS.sub("#", e.reason) for e in first}) == 1 and all(e.status == "failed" for e in first)
    if alike and all(e.duration_s < _AT_ONCE_S for e in first) and not result.success:
        raise TooManyFailuresError(
            f"expected an objective that works; the first {len(evaluations)} evaluations all failed at once, "
            f"with the same reason: {first[0].reason}; is the command right? Try mending it, then surefoot forget "
            "to take these out; or run again to go on regardless (max_failures = 0 never stops)",
            result,
        )
