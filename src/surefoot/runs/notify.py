"""Tell somebody that a run has ended: a command of theirs is run, and whatever comes of it, the run is as it was.

notify = "mail -s surefoot me@example.org"       # or a list of arguments; no shell; beside the problem file

Its environment has SUREFOOT_STUDY, SUREFOOT_STATE (finished, interrupted or failed), SUREFOOT_REASON, SUREFOOT_BEST and
SUREFOOT_POINT (the best value, and its point as JSON; empty without one), SUREFOOT_EVALUATIONS and SUREFOOT_FAILURES.
"""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from surefoot.errors import InvalidInputError
from surefoot.execute.processes import Processes, wait
from surefoot.execute.supervise import CANNOT_START
from surefoot.expect import expect
from surefoot.optimize.result import Result

TIMEOUT_S = 60.0
_MOST_REASON = 2000  # characters
State = Literal["finished", "interrupted", "failed"]


def command_of(given: Any) -> tuple[str, ...]:
    """The arguments of a command as a problem file has it: a text, or a list of texts."""
    example = 'notify = "notify-send surefoot" or ["./tell.sh", "me"]'
    texts = isinstance(given, list) and all(isinstance(word, str) for word in given)
    expect(isinstance(given, str) or texts, "notify as a command", given, example)
    try:
        words = shlex.split(given) if isinstance(given, str) else given
    except ValueError as error:  # a quotation mark that is not closed
        raise InvalidInputError(f"expected notify as a command; got {given!r} ({error}); try {example}") from None
    expect(bool(words) and bool(words[0]), "notify as a command", given, example)
    return tuple(words)


@dataclass(frozen=True)
class Notice:
    """Who is told, and where its command runs; no command: nobody."""

    command: tuple[str, ...]
    folder: Path
    study: str
    note: Callable[[str], None]

    def __call__(self, state: State, reason: str, result: Result | None) -> None:
        """Tell how a run ended."""
        if self.command:
            notify(self.command, self.folder, about(self.study, state, reason, result), self.note)


def about(study: str, state: State, reason: str, result: Result | None) -> dict[str, str]:
    """What the command is told."""
    told = {"STUDY": study, "STATE": state, "REASON": reason[:_MOST_REASON], "BEST": "", "POINT": ""}
    told |= {"EVALUATIONS": "0" if result is None else str(result.nfev)}
    told |= {"FAILURES": "0" if result is None else str(result.n_failures)}
    if result is not None and result.success:
        told |= {"BEST": repr(result.fun), "POINT": json.dumps(result.x, default=str, ensure_ascii=False)}
    return {f"SUREFOOT_{name}": text.replace("\0", " ") for name, text in told.items()}


def notify(command: tuple[str, ...], folder: Path, told: dict[str, str], note: Callable[[str], None]) -> None:
    """Run the command in a folder and wait for it, but not for long; what goes wrong is noted."""
    processes = Processes()
    first = str(folder / command[0]) if "/" in command[0] else command[0]
    try:
        with Path(os.devnull).open("wb") as nothing:
            running = processes.start(
                [first, *command[1:]],
                folder=folder,
                environment={**os.environ, **told},
                stdout=nothing,
                stderr=nothing,
            )
        try:
            in_time = wait(running, TIMEOUT_S)
        finally:
            code = processes.stop(running)
        if not in_time:
            note(f"notify was stopped after {TIMEOUT_S:g} s")
        elif code == CANNOT_START:
            note(f"notify could not be run: there is no program {command[0]}, or it cannot be executed")
        elif code != 0:
            note(f"notify ended with status {code}")
    except Exception as error:  # a notification is not worth a run
        note(f"notify could not be run: {error}")
