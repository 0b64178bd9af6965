"""A command that never works is noticed after a few evaluations, not after the whole budget."""

from __future__ import annotations

import os
import re
from pathlib import Path

from surefoot.errors import TooManyFailuresError
from surefoot.optimize.history import VALUE, Evaluation
from surefoot.optimize.reasons import summary
from surefoot.optimize.result import Result
from surefoot.runs.evaluator import Evaluator
from surefoot.runs.names import NO_VALUE, PARAMETERS_FILE, STDERR, STDOUT
from surefoot.runs.problem import Problem

N_ALIKE = 5  # evaluations of a new study
_AT_ONCE_S = 1.0  # a simulator that begins to simulate takes longer to fail, or fails in several ways
_MOST_NAMED = 5  # files

_NUMBERS = re.compile(r"\d+")  # the number of a trial in a path, say
_GO_ON = "then surefoot forget to take these out; or run again to go on regardless (max_failures = 0 never stops)"


def stop_if_set_up_fails(result: Result, problem: Problem, n_before: int) -> None:
    """Raise if the first evaluations of a study say that nothing will ever come of it as it is set up.

    n_before  evaluations that were there when the run began: whoever starts it again wants to go on
    """
    if problem.max_failures is None or result.success:
        return
    if problem.evaluator.command:
        _stop_without_values(result, problem, n_before)
    _stop_at_once(result, n_before)


def _stop_at_once(result: Result, n_before: int) -> None:
    """If the first ones all failed alike within no time."""
    evaluations = result.history.evaluations
    first = evaluations[:N_ALIKE]
    if n_before >= N_ALIKE or len(first) < N_ALIKE:
        return
    alike = len({_NUMBERS.sub("#", e.reason) for e in first}) == 1 and all(e.status == "failed" for e in first)
    if alike and all(e.duration_s < _AT_ONCE_S for e in first):
        raise TooManyFailuresError(
            f"expected an objective that works; the first {len(evaluations)} evaluations all failed at once, "
            f"with the same reason: {first[0].reason}; is the command right? Try mending it, {_GO_ON}",
            result,
        )


def _stop_without_values(result: Result, problem: Problem, n_before: int) -> None:
    """If the program ended well, as it says, and left no value: however long that takes, and whatever else crashed."""
    evaluations = result.history.evaluations
    ended = [i for i, e in enumerate(evaluations) if e.ok or _is_well(e)]
    first = ended[:N_ALIKE]
    if len(first) < N_ALIKE or first[-1] < n_before or not all(_has_no_value(evaluations[i]) for i in first):
        return
    others = len(evaluations) - len(ended)
    besides = f" ({others} other{'s' * (others > 1)} crashed)" if others else ""
    last = f"{result.numbers[first[-1]]:06d}"
    raise TooManyFailuresError(
        f"expected a value of the program; got none in the first {N_ALIKE} evaluations that it ended with status 0"
        f"{besides}: {summary(evaluations[i].reason.removeprefix(NO_VALUE) for i in first)}"
        f"{_written(problem.evaluator, problem.evaluations_folder / last)}; try mending the place where the value is "
        f"read (surefoot check --run shows one evaluation), {_GO_ON}",
        result,
    )


def _is_well(e: Evaluation) -> bool:
    """Whether it is a failure of a program that ended with status 0: no value, NaN or an infinity."""
    what = "the value" if e.objective == VALUE else e.objective
    return _has_no_value(e) or (e.status == "failed" and e.reason.startswith(f"{what} was "))


def _has_no_value(e: Evaluation) -> bool:
    return e.status == "failed" and e.reason.startswith(NO_VALUE)


def _written(evaluator: Evaluator, folder: Path) -> str:
    """The files that the program left in the folder of an evaluation: the value may be in one of them."""
    deck = evaluator.deck
    given = {*deck.files, *map(os.path.basename, (*deck.copies, *deck.links)), PARAMETERS_FILE}
    try:
        names = sorted(name for name in os.listdir(folder) if not name.endswith((STDOUT, STDERR)))
    except OSError:  # it is on another machine
        return ""
    new = [name for name in names if name not in given]
    if not new:
        return ""
    more = f" and {len(new) - _MOST_NAMED} more" if len(new) > _MOST_NAMED else ""
    return f"; the folder {folder.name} has {', '.join(new[:_MOST_NAMED])}{more}"
