"""Evaluate a point by a command: start it, wait, read its value. Nothing passes through a shell."""

from __future__ import annotations

import json
import math
import os
import re
from pathlib import Path
from typing import Any

from surefoot.errors import InvalidInputError
from surefoot.optimize.isolate import Outcome, death, signal_name
from surefoot.runs import process
from surefoot.runs.callee import STDERR, STDOUT
from surefoot.runs.launch import CANNOT_START, MESSAGE
from surefoot.runs.objective import Objective, ValueSource, fill

_READ_BYTES = 2**20  # of stdout, from its end: where the value is looked for


def tail(path: Path, n_bytes: int) -> str:
    """The end of a file; nothing if it cannot be read."""
    try:
        with path.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - n_bytes))
            return file.read().decode(errors="replace")
    except OSError:
        return ""


def run_command(objective: Objective, values: dict[str, Any], folder: Path, environment: dict[str, str]) -> Outcome:
    """What came of the command in its working directory; stdout and stderr are kept there."""
    argv = fill(objective.command, values)
    with (folder / STDOUT).open("wb") as out, (folder / STDERR).open("wb") as err:
        running = process.start(
            argv,
            folder=folder,
            environment=environment,
            memory_limit_mb=objective.memory_limit_mb,
            stdout=out,
            stderr=err,
        )
        try:
            in_time = process.wait(running, objective.timeout_s)
        finally:
            code = process.stop(running)
    if not in_time:
        return Outcome(
            reason=f"timeout: no result after {objective.timeout_s:g} s, stopped", exception_names=("timeout",)
        )
    said = tail(folder / STDERR, 4096).strip()
    if code == CANNOT_START and said.startswith(MESSAGE):
        raise InvalidInputError(f"expected a command that can be started; got {said}; try it by hand in {folder}")
    if code < 0:
        return Outcome(reason=death(code), exception_names=(signal_name(-code),))
    if code > 0:
        last = said.splitlines()[-1][:200] if said else ""
        return Outcome(reason=f"exit status {code}" + (f": {last}" if last else ""), exception_names=(str(code),))
    try:
        return Outcome(value=_read(objective.value, folder))
    except ValueError as error:
        return Outcome(reason=str(error))


def _read(source: ValueSource, folder: Path) -> float:
    """The value of a command that ended well; ValueError says why there is none."""
    if source.json:
        return _from_json(folder / source.json, source)
    text = tail(folder / STDOUT, _READ_BYTES)
    if source.regex:
        matches = list(re.finditer(source.regex, text))
        if not matches:
            raise ValueError(f"no value: nothing in stdout matches {source.regex!r}")
        return _number(matches[-1].group(matches[-1].re.groups))
    lines = [line for line in text.splitlines() if line.strip()]
    if not lines:
        raise ValueError("no value: nothing on stdout")
    return _number(lines[-1])


def _from_json(path: Path, source: ValueSource) -> float:
    try:
        found = json.loads(path.read_text())
        for key in source.key.split("."):
            found = found[int(key)] if isinstance(found, list) else found[key]
    except (OSError, ValueError, KeyError, IndexError, TypeError) as error:
        raise ValueError(f"no value: {source.key!r} of {source.json} ({type(error).__name__}: {error})") from None
    if found is None:  # how many writers of JSON spell NaN
        return math.nan
    if isinstance(found, bool) or not isinstance(found, (int, float)):
        raise ValueError(f"no value: {source.key!r} of {source.json} is {found!r:.100}, not a number")
    return float(found)


def _number(text: str) -> float:
    """A number as C, Fortran (1.5D+03) and Python write it."""
    try:
        return float(re.sub(r"(?<=[\d.])[dD](?=[+-]?\d)", "e", text.strip()))
    except ValueError:
        raise ValueError(f"no value: {text.strip()[:100]!r} is not a number") from None
