"""Evaluate a point by a command: start it, wait, read its value. Nothing passes through a shell."""

from __future__ import annotations

import math
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from surefoot.errors import InvalidInputError
from surefoot.execute.outcome import Outcome, death, signal_name, timeout_outcome
from surefoot.execute.processes import Processes, wait
from surefoot.execute.supervise import CANNOT_START, MESSAGE
from surefoot.runs.evaluator import STDERR, STDOUT, Evaluator, fill
from surefoot.runs.reading import read_partial, read_value, tail


def run_command(
    evaluator: Evaluator, values: dict[str, Any], folder: Path, environment: dict[str, str], processes: Processes
) -> Outcome:
    """What came of the command in its working directory; stdout and stderr are kept there."""
    start = time.monotonic()
    with (folder / STDOUT).open("wb") as out, (folder / STDERR).open("wb") as err:
        running = processes.start(
            fill(evaluator.command, values),
            folder=folder,
            environment=environment,
            memory_limit_mb=evaluator.memory_limit_mb,
            stdout=out,
            stderr=err,
        )
        try:
            in_time = wait(running, evaluator.timeout_s)
        finally:
            code = processes.stop(running)
    outcome = _ended(folder, code) if in_time else timeout_outcome(evaluator.timeout_s)
    if outcome.reason:
        return _with_outputs(outcome, read_partial(evaluator.value, folder))
    left_s = math.inf if evaluator.timeout_s is None else evaluator.timeout_s - (time.monotonic() - start)
    try:
        return _with_outputs(outcome, read_value(evaluator.value, folder, left_s))
    except ValueError as error:
        return Outcome(reason=str(error))


def _ended(folder: Path, code: int) -> Outcome:
    """What an exit code says."""
    said = tail(folder / STDERR, 4096).strip()
    if code == CANNOT_START and said.startswith(MESSAGE):
        raise InvalidInputError(f"expected a command that can be started; got {said}; try it by hand in {folder}")
    if code < 0:
        return Outcome(reason=death(code), exception_names=(signal_name(-code),))
    if code > 0:
        last = said.splitlines()[-1][:200] if said else ""
        return Outcome(reason=f"exit status {code}" + (f": {last}" if last else ""), exception_names=(str(code),))
    return Outcome()


def _with_outputs(outcome: Outcome, value: float | dict[str, float]) -> Outcome:
    """What came, with what was read; among outputs by name `progress` is the share of the work that was done."""
    if not isinstance(value, dict):
        return replace(outcome, value=value)
    outputs = {name: number for name, number in value.items() if name != "progress"}
    return replace(outcome, value=outputs, progress=value.get("progress", math.nan))
