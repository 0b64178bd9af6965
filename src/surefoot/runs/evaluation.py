"""One evaluation of a trial, wherever it runs (a thread here, a Dask worker there): folder, retries, outcome."""

from __future__ import annotations

import errno
import json
import math
import os
import platform
import shutil
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from surefoot.optimize.evaluate import as_evaluation
from surefoot.optimize.history import Evaluation
from surefoot.optimize.isolate import Outcome
from surefoot.runs.callee import STDERR, STDOUT
from surefoot.runs.caller import Caller
from surefoot.runs.command import run_command, tail
from surefoot.runs.objective import PARAMETERS_FILE
from surefoot.runs.problem import Problem

_TAIL_BYTES = 2000  # of stdout and stderr each, kept in the storage: readable from any machine
_NO_SPACE_BYTES = 2**16  # a disk with less than this left is full
_thread = threading.local()
_callers: list[Caller] = []


@dataclass(frozen=True)
class Finished:
    """An evaluation and what it left behind."""

    evaluation: Evaluation  # its x is empty: the caller knows the point
    output: dict[str, str]  # host, folder, and the ends of stdout and stderr


def evaluate_trial(problem: Problem, number: int, x: dict[str, Any]) -> Finished:
    """Evaluate a point. A failure is an answer; OSError means that it could not be evaluated (a full disk, say)."""
    folder = _fresh_folder(problem.evaluations_folder, number)
    (folder / PARAMETERS_FILE).write_text(json.dumps(x))
    environment = {
        **os.environ,
        **problem.objective.environment,
        "SUREFOOT_FOLDER": str(folder),
        "SUREFOOT_TRIAL": str(number),
    }
    n_tries = problem.objective.n_retries + 1
    start = time.perf_counter()
    for attempt in range(n_tries):
        if attempt:
            time.sleep(min(0.1 * 2**attempt, 5.0))  # what is transient needs a moment to pass
        outcome = _evaluate(problem, {**x, "here": str(problem.folder), "folder": str(folder), "trial": number}, x,
                            folder, environment)  # fmt: skip
        transient = bool(set(problem.objective.retry_on) & set(outcome.exception_names))
        if not outcome.reason or not transient:
            break
    if outcome.reason and shutil.disk_usage(folder).free < _NO_SPACE_BYTES:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(folder))  # teaches nothing about the point
    duration = time.perf_counter() - start
    if not outcome.reason:
        evaluation = as_evaluation((), outcome.value, duration)
    elif transient:
        reason = f"{outcome.reason} (transient; tried {n_tries} times)"
        evaluation = Evaluation((), math.nan, "transient", reason, duration)
    else:
        evaluation = Evaluation((), math.nan, "failed", outcome.reason, duration)
    ends = {"stdout": tail(folder / STDOUT, _TAIL_BYTES), "stderr": tail(folder / STDERR, _TAIL_BYTES)}
    return Finished(evaluation, {"host": platform.node(), "folder": str(folder), **ends})


def _evaluate(
    problem: Problem, placeholders: dict[str, Any], x: dict[str, Any], folder: Path, environment: dict[str, str]
) -> Outcome:
    if problem.objective.command:
        return run_command(problem.objective, placeholders, folder, environment)
    callers: dict[Any, Caller] = _thread.__dict__.setdefault("callers", {})
    key = (problem.objective.python, problem.folder)
    if key not in callers:  # one process per thread, kept
        callers[key] = Caller(problem.objective, problem.folder)
        _callers.append(callers[key])
    return callers[key].call(x, folder, environment)


def _fresh_folder(parent: Path, number: int) -> Path:
    """An empty folder for the trial; what another study left under its number is moved aside, not deleted."""
    folder = parent / f"{number:06d}"
    for k in range(1, 1000):
        try:
            folder.mkdir(parents=True)
            break
        except FileExistsError:
            aside = parent / f"{number:06d}.old-{k}"
            if not aside.exists():
                folder.rename(aside)
    return folder


def close() -> None:
    """End the processes of Python objectives that are waiting for a next call."""
    while _callers:
        _callers.pop().stop()
