"""Whether the outputs that have limits are among those that the program returns."""

from __future__ import annotations

from collections.abc import Iterable

from surefoot.errors import UnknownNameError
from surefoot.expect import at, nearest
from surefoot.optimize.history import VALUE
from surefoot.runs.problem import Problem

_BY_A_COMMAND = (
    '[objective.results] with a line for each number, or value = {json = "result.json"} that holds them by name'
)
_BY_A_FUNCTION = "returning a dict of numbers by name"


def check_limited(problem: Problem, returned: Iterable[str]) -> None:
    """An error of the problem file if a key of [outputs] is none of the outputs that successes have returned."""
    names = list(dict.fromkeys(returned))
    by_command = bool(problem.evaluator.command)
    for name in problem.settings.outputs:
        if name not in names:
            hint = nearest(name, names) or (_BY_A_COMMAND if by_command else _BY_A_FUNCTION)
            got = "one number without a name" if names == [VALUE] else ", ".join(names)
            who = "the program" if by_command else "the function"
            with at("outputs", name):
                raise UnknownNameError(f"expected the output {name!r} of [outputs] from {who}; got {got}; try {hint}")
