"""One evaluation of a trial, wherever it runs (a thread here, a worker or job elsewhere): folder, retries, outcome."""

from __future__ import annotations

import errno
import json
import math
import os
import pickle
import platform
import shutil
import sys
import threading
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from surefoot.errors import InvalidInputError
from surefoot.execute.caller import Caller, LoadError
from surefoot.execute.helper import Loading, Request
from surefoot.execute.outcome import Outcome, is_machine_trouble
from surefoot.execute.processes import Processes, StoppedError
from surefoot.optimize.evaluate import from_outcome
from surefoot.optimize.history import Evaluation
from surefoot.runs.command import Surroundings, Watch, run_command
from surefoot.runs.names import PARAMETERS_FILE, STDERR, STDOUT
from surefoot.runs.problem import Problem
from surefoot.runs.reading import tail
from surefoot.runs.same_inputs import INPUTS, digest_of

_TAIL_BYTES = 2000  # of stdout and stderr each, kept in the storage: readable from any machine
_NO_SPACE_BYTES = 2**16  # a disk with less than this left is full
processes = Processes()  # those of all evaluations here
_callers: dict[tuple[Any, ...], Caller] = {}  # one per thread and function, kept from trial to trial


@dataclass(frozen=True)
class Finished:
    """An evaluation and what it left behind."""

    evaluation: Evaluation  # its x is empty: the caller knows the point
    output: dict[str, str]  # host, folder, the ends of stdout and stderr, a digest of the input
    names: tuple[str, ...] = ()  # of a failure, as retry_on has them


def evaluate_trial(
    problem: Problem, number: int, x: dict[str, Any], *, place: Path | None = None, watch: Watch | None = None
) -> Finished:
    """Evaluate a point. A failure is an answer; OSError means that the machine could not (a full disk, say).

    place: a folder instead of that of the trial; made anew. watch: hears of every step of a command.
    """
    n_tries = problem.evaluator.n_retries + 1
    start = time.perf_counter()
    for attempt in range(n_tries):
        if attempt:
            time.sleep(min(0.1 * 2**attempt, 5.0))  # what is transient needs a moment to pass
        folder = _prepared_folder(problem, number, x, "try" if attempt else "old", place)
        outcome = _evaluate(problem, number, x, folder, watch)
        transient = bool(set(problem.evaluator.retry_on) & set(outcome.exception_names))
        if not outcome.reason or not transient:
            break
    if outcome.reason and _free_bytes(folder) < _NO_SPACE_BYTES:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(folder))  # teaches nothing about the point
    duration = time.perf_counter() - start
    if transient:
        outcome = replace(outcome, reason=f"{outcome.reason} (transient; tried {n_tries} times)")
    name = problem.evaluator.name or None
    status: Literal["failed", "transient"] = "transient" if transient else "failed"
    evaluation = from_outcome((), outcome, duration, name, status, problem.settings.outputs)
    told = {"host": platform.node(), "folder": str(folder), **_ends(problem, folder, bool(outcome.reason))}
    if problem.evaluator.command and (digest := digest_of(problem, _values(problem, number, x, folder))):
        told[INPUTS] = digest
    return Finished(evaluation, told, outcome.exception_names)


def _ends(problem: Problem, folder: Path, failed: bool) -> dict[str, str]:
    """The ends of what the command printed; of a failure those of the last step that was begun, after its name."""
    steps = [step.name for step in problem.evaluator.steps] if failed else [""]
    begun = [name for name in steps if (folder / f"{name}{'.' * bool(name)}{STDOUT}").exists()]
    name = begun[-1] if begun else ""
    before, heading = (f"{name}.", f"[{name}]\n") if name else ("", "")
    texts = {key: tail(folder / f"{before}{key}.txt", _TAIL_BYTES) for key in ("stdout", "stderr")}
    return {key: heading + text if text else "" for key, text in texts.items()}


def _evaluate(problem: Problem, number: int, x: dict[str, Any], folder: Path, watch: Watch | None) -> Outcome:
    """What came of one attempt. What is wrong with the point is a failure; OSError is the machine's."""
    environment = {
        **os.environ,
        **problem.evaluator.environment,
        "SUREFOOT_FOLDER": str(folder),
        "SUREFOOT_TRIAL": str(number),
    }
    try:
        if problem.evaluator.command:
            around = _surroundings(problem, number, x, folder, environment)
            outcome = run_command(problem.evaluator, around if watch is None else replace(around, watch=watch))
        else:
            outcome = _call(problem, problem.evaluator.python, x, folder, environment)
    except (OSError, ValueError) as error:
        if isinstance(error, (StoppedError, InvalidInputError)) or is_machine_trouble(error):
            raise
        if isinstance(error, (FileNotFoundError, PermissionError)) and error.filename == sys.executable:
            raise InvalidInputError(
                f"expected Python at {sys.executable}; got {error.strerror}; try installing surefoot again"
            ) from None
        return Outcome(reason=f"cannot be evaluated: {error}")
    if outcome.machine:
        raise OSError(errno.EAGAIN, outcome.reason)
    return outcome


def _surroundings(
    problem: Problem, number: int, x: dict[str, Any], folder: Path, environment: dict[str, str]
) -> Surroundings:
    """What the commands of an evaluation are given."""

    def call(spec: str) -> float:
        outcome = _call(problem, spec, str(folder), folder, environment)
        if outcome.reason:
            raise ValueError(f"{spec} failed: {outcome.reason}")
        try:
            return float(outcome.value)
        except (TypeError, ValueError, OverflowError):
            raise ValueError(f"{spec} returned {outcome.value!r:.100}, not a number") from None

    return Surroundings(_values(problem, number, x, folder), x, folder, environment, processes, call)


def _values(problem: Problem, number: int, x: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Of all placeholders."""
    return {**x, "here": str(problem.folder), "folder": str(folder), "trial": number}


def _call(problem: Problem, spec: str, argument: Any, folder: Path, environment: dict[str, str]) -> Outcome:
    """A function of the problem file called; what it prints goes to files of the evaluation."""
    evaluator = problem.evaluator
    key = (threading.get_ident(), problem.folder, spec, evaluator.timeout_s, evaluator.memory_limit_mb)
    if key not in _callers:
        _callers[key] = caller_of(problem, spec, environment)
    before = "" if spec == evaluator.python else "results."
    outputs = (str(folder / f"{before}{STDOUT}"), str(folder / f"{before}{STDERR}"))
    request = Request(pickle.dumps(argument), environment=tuple(environment.items()), outputs=outputs)
    try:
        outcome = _callers[key].call(request)
    except LoadError as error:
        raise not_loaded(spec, error) from None
    short = [name.rsplit(".", 1)[-1] for name in outcome.exception_names]
    return replace(outcome, exception_names=(*outcome.exception_names, *short))


def caller_of(problem: Problem, spec: str, environment: dict[str, str]) -> Caller:
    """The process that holds a Python function of the problem."""
    evaluator = problem.evaluator
    loading = Loading(spec=spec, here=str(problem.folder), memory_limit_mb=evaluator.memory_limit_mb)
    return Caller(
        processes, loading, timeout_s=evaluator.timeout_s, folder=problem.folder, environment=environment, quiet=True
    )


def not_loaded(spec: str, error: LoadError) -> InvalidInputError:
    """The function of the problem file cannot be had."""
    return InvalidInputError(
        f"expected a function at {spec!r}; got {error}; try python = 'file.py:function', "
        "or importing it in a Python session"
    )


def _prepared_folder(problem: Problem, number: int, x: dict[str, Any], aside: str, place: Path | None) -> Path:
    try:
        if place is not None:
            shutil.rmtree(place, ignore_errors=True)
            place.mkdir(parents=True)
        folder = place or _fresh_folder(problem.evaluations_folder, number, aside)
        (folder / PARAMETERS_FILE).write_text(json.dumps(x), encoding="utf-8")
    except OSError as error:
        if is_machine_trouble(error):
            raise
        raise InvalidInputError(
            f"expected a folder for evaluations in {problem.evaluations_folder}; got {error}; try making it writable"
        ) from None
    return folder


def _fresh_folder(parent: Path, number: int, aside: str) -> Path:
    """An empty folder for the trial; what another study or the last attempt left there is moved aside, not deleted."""
    folder = parent / f"{number:06d}"
    if os.path.lexists(folder):
        k = 1
        while os.path.lexists(parent / f"{number:06d}.{aside}-{k}"):
            k += 1
        folder.rename(parent / f"{number:06d}.{aside}-{k}")
    folder.mkdir(parents=True)
    return folder


def _free_bytes(folder: Path) -> float:
    """Of the disk that the folder is on, or was: the evaluation may have deleted it."""
    for place in (folder, *folder.parents):
        try:
            return shutil.disk_usage(place).free
        except OSError:
            continue
    return math.inf


def close() -> None:
    """End the processes of Python objectives that are waiting for a next call."""
    while _callers:
        _callers.popitem()[1].stop()
