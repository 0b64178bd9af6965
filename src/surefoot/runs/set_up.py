"""A command that never works is noticed after a few evaluations, not after the whole budget."""

from __future__ import annotations

import os
import re
from pathlib import Path

from surefoot.errors import TooManyFailuresError
from surefoot.optimize.history import VALUE, Evaluation
from surefoot.optimize.result import Result
from surefoot.runs.evaluator import Evaluator
from surefoot.runs.names import NO_VALUE, PARAMETERS_FILE, STDERR, STDOUT
from surefoot.runs.problem import Problem
from surefoot.runs.reading import NOT_WRITTEN

N_ALIKE = 5  # evaluations of a new study
_AT_ONCE_S = 1.0  # a simulator that begins to simulate takes longer to fail, or fails in several ways
_MOST_NAMED = 5  # files

_NOT_WRITTEN = re.compile(f"{re.escape(NO_VALUE)}(.+) {NOT_WRITTEN}")
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
    """If the program ended well, as it says, and wrote another file than the one that is read, of the same kind.

    However long that takes, and whatever else crashed. What ends well and writes nothing may have diverged.
    """
    evaluations = result.history.evaluations
    ended = [i for i, e in enumerate(evaluations) if e.ok or _is_well(e)]
    first = ended[:N_ALIKE]
    if len(first) < N_ALIKE or first[-1] < n_before:
        return
    missing = {(m := _NOT_WRITTEN.fullmatch(evaluations[i].reason)) and m[1] for i in first}
    name = missing.pop()
    folder = problem.evaluations_folder / f"{result.numbers[first[-1]]:06d}"
    others = [] if missing or not name else _written(problem.evaluator, folder, Path(name).suffix)
    if not others:
        return
    crashed = len(evaluations) - len(ended)
    besides = f" ({crashed} other{'s' * (crashed > 1)} crashed)" if crashed else ""
    more = f" and {len(others) - _MOST_NAMED} more" if len(others) > _MOST_NAMED else ""
    raise TooManyFailuresError(
        f"expected {name} of the program; got none in the first {N_ALIKE} evaluations that it ended with status 0"
        f"{besides}; the folder {folder.name} has {', '.join(others[:_MOST_NAMED])}{more}; try mending the place where "
        f"the value is read (surefoot check --run shows one evaluation), {_GO_ON}",
        result,
    )


def _is_well(e: Evaluation) -> bool:
    """Whether it is a failure of a program that ended with status 0: no value, NaN or an infinity."""
    what = "the value" if e.objective == VALUE else e.objective
    return e.status == "failed" and e.reason.startswith((NO_VALUE, f"{what} was "))


def _written(evaluator: Evaluator, folder: Path, suffix: str) -> list[str]:
    """The files of one kind that the program left in the folder of an evaluation: the value may be in one of them."""
    deck = evaluator.deck
    given = {*deck.files, *map(os.path.basename, (*deck.copies, *deck.links)), PARAMETERS_FILE}
    try:
        names = sorted(os.listdir(folder))
    except OSError:  # it is on another machine
        return []
    logs = (STDOUT, STDERR)
    return [name for name in names if name.endswith(suffix) and not name.endswith(logs) and name not in given]
