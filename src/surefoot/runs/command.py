"""Evaluate a point by commands: lay out their files, start them in turn, wait, read what they left. No shell."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from surefoot.errors import InvalidInputError
from surefoot.execute.outcome import Outcome, death, signal_name, timeout_outcome
from surefoot.execute.processes import Processes, wait
from surefoot.execute.supervise import CANNOT_START, MESSAGE
from surefoot.runs.evaluator import Evaluator, Step
from surefoot.runs.extract import Call, Found, extract
from surefoot.runs.names import NO_VALUE, PROGRESS, STDERR, STDOUT
from surefoot.runs.placeholders import fill
from surefoot.runs.reading import read_partial, read_value, tail

Watch = Callable[[str, Any], None]  # is told what happens, by a word and what goes with it


@dataclass(frozen=True)
class Surroundings:
    """Where commands run, and what they are given."""

    values: dict[str, Any]  # of all placeholders
    parameters: dict[str, Any]
    folder: Path
    environment: dict[str, str]
    processes: Processes
    call: Call  # of functions that read results
    watch: Watch = lambda what, thing: None


def run_command(evaluator: Evaluator, around: Surroundings) -> Outcome:
    """What came of the commands in their working directory; stdout and stderr are kept there."""
    start = time.monotonic()
    evaluator.deck.lay_out(around.folder, around.values)
    around.watch("files", sorted(evaluator.deck.files))
    for step in evaluator.steps:
        if not step.name:  # timeout_s is that of the main command
            start = time.monotonic()
        outcome = _run(step, evaluator.memory_limit_mb, around)
        if outcome.reason:
            break
    left_s = math.inf if evaluator.timeout_s is None else evaluator.timeout_s - (time.monotonic() - start)
    if evaluator.results:
        found = extract(evaluator.results, around.folder, around.parameters, left_s, around.call)
        around.watch("results", found)
        return _with_results(outcome, evaluator, found)
    if outcome.reason:
        return _with_outputs(outcome, read_partial(evaluator.value, around.folder))
    try:
        return _with_outputs(outcome, read_value(evaluator.value, around.folder, left_s))
    except ValueError as error:
        return Outcome(reason=str(error))


def _run(step: Step, memory_limit_mb: float | None, around: Surroundings) -> Outcome:
    """What came of one command; its name, if it has one, begins the names of its outputs and the reason."""
    folder, before = around.folder, f"{step.name}." if step.name else ""
    arguments = fill(step.command, around.values)
    around.watch("command", arguments)
    with (folder / f"{before}{STDOUT}").open("wb") as out, (folder / f"{before}{STDERR}").open("wb") as err:
        running = around.processes.start(
            arguments,
            folder=folder,
            environment=around.environment,
            memory_limit_mb=memory_limit_mb,
            stdout=out,
            stderr=err,
        )
        try:
            in_time = wait(running, step.timeout_s)
        finally:
            code = around.processes.stop(running)
    outcome = _ended(folder, f"{before}{STDERR}", code) if in_time else timeout_outcome(step.timeout_s)
    around.watch("ended", (outcome, f"{before}{STDOUT}", f"{before}{STDERR}"))
    return replace(outcome, reason=f"{step.name}: {outcome.reason}") if outcome.reason and step.name else outcome


def _ended(folder: Path, stderr: str, code: int) -> Outcome:
    """What an exit code says."""
    said = tail(folder / stderr, 4096).strip()
    if code == CANNOT_START and said.startswith(MESSAGE):
        raise InvalidInputError(f"expected a command that can be started; got {said}; try it by hand in {folder}")
    if code < 0:
        return Outcome(reason=death(code), exception_names=(signal_name(-code),))
    if code > 0:
        last = said.splitlines()[-1][:200] if said else ""
        return Outcome(reason=f"exit status {code}" + (f": {last}" if last else ""), exception_names=(str(code),))
    return Outcome()


def _with_results(outcome: Outcome, evaluator: Evaluator, found: dict[str, Found]) -> Outcome:
    """What came, with the results that were read; one that was not is a failure, unless it is optional."""
    optional = {name for name, source in evaluator.results if source.optional or name == PROGRESS}
    lost = [name for name, one in found.items() if one.error and name not in optional]
    if lost and not outcome.reason:
        outcome = Outcome(reason=f"{NO_VALUE}{lost[0]}: {found[lost[0]].error}")
    known = {name: one.number for name, one in found.items() if not one.error}
    missing = dict.fromkeys(optional - set(known) - {PROGRESS}, math.nan) if not outcome.reason else {}
    return _with_outputs(outcome, known | missing)


def _with_outputs(outcome: Outcome, value: float | dict[str, float]) -> Outcome:
    """What came, with what was read; among outputs by name `progress` is the share of the work that was done."""
    if not isinstance(value, dict):
        return replace(outcome, value=value)
    share = value.get(PROGRESS, math.nan)
    is_share = math.isnan(share) or 0.0 <= share <= 1.0
    outputs = {name: number for name, number in value.items() if name != PROGRESS or not is_share}
    return replace(outcome, value=outputs, progress=share if is_share else math.nan)
