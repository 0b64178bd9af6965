"""Evaluations as jobs of SLURM, one for each: they outlive the run that submitted them, and the next run finds them.

Files     A job has a folder, NAME.runs/jobs/TAG-000017, on the file system that login and compute nodes share. TAG is
          the study's own. Whoever runs the study next finds the folder of trial 17, and so everything about its job.
Truth     The result file is the truth: it appears whole, and what SLURM says does not matter then. A job that SLURM
          calls ended, or does not know, has a while to show its result: network file systems show files late.
Attempts  try-1.sh is submitted as the job TAG-000017.1. A job that ended without a result was ended by the scheduler
          (time, memory, a node, somebody's scancel): the point has said nothing, and the next attempt is submitted.
          After n_retries the evaluation is a transient failure. An attempt that SLURM never took is not counted.
Questions All of SLURM's commands are called in one thread: one squeue for all jobs every poll_s seconds. While SLURM
          does not answer nothing is concluded, and nothing is lost.
"""

from __future__ import annotations

import json
import math
import pickle
import re
import secrets
import shlex
import sys
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from optuna.study import Study

from surefoot.errors import InvalidInputError, SurefootError, WorkersLostError
from surefoot.execute import slurm
from surefoot.execute.slurm import Listed, NoAnswerError
from surefoot.optimize.files import write_whole
from surefoot.optimize.history import Evaluation
from surefoot.runs.ends import set_once
from surefoot.runs.evaluation import Finished
from surefoot.runs.file_systems import is_network
from surefoot.runs.job import REQUEST, RESULT, result_from, script_of, started_of
from surefoot.runs.problem import Problem
from surefoot.runs.reading import tail

_TAG = "surefoot:jobs"  # user attribute of a study
_POINT = "point.json"  # in the folder of a job: what it evaluates; written last, so the folder is whole
_LOOK_S = 1.0  # between looks for results
_SETTLE_S, _NETWORK_S = 2.0, 60.0  # how late a file may be seen; NFS believes what it saw for up to a minute


@dataclass
class _Job:
    """A job that is watched."""

    trial: int
    folder: Path
    future: Future[Finished] = field(default_factory=Future)
    attempt: int = 0  # the latest; 0: none
    known: bool = False  # whether SLURM has had the latest attempt
    since: float = math.inf  # when it was first seen to have ended, or not to be there

    @property
    def name(self) -> str:
        return f"{self.folder.name}.{self.attempt}"

    def file(self, ending: str) -> Path:
        return self.folder / f"try-{self.attempt}.{ending}"


class Jobs:
    """Submits evaluations and watches them; a context. What it leaves goes on in the queue."""

    def __init__(self, problem: Problem, tag: str, note: Callable[[str], None]) -> None:
        self._problem = problem
        self._table = problem.slurm
        self._tag = tag
        self._note = note
        self._folder = problem.evaluations_folder / "jobs"
        self._late_s = _NETWORK_S if is_network(problem.folder) else _SETTLE_S
        self._watched: dict[int, _Job] = {}
        self._numbers: dict[int, str] = {}  # of jobs by trial, as SLURM gave them
        self._asked = -math.inf  # when SLURM was last asked
        self._silent_since = math.inf  # since when it does not answer
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="jobs", daemon=True)

    def __enter__(self) -> Jobs:
        with suppress(NoAnswerError):  # the thread says so, and waits
            slurm.listed()  # where there is no SLURM, that is told before anything is begun
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._stopped.set()
        self._thread.join(timeout=5.0)  # it may be waiting for SLURM; it is a daemon

    def start(self, trial: int, point: Mapping[str, Any]) -> Future[Finished]:
        """Submit the evaluation, or find the job of an earlier run that evaluates it."""
        job = _Job(trial, self._folder / f"{self._tag}-{trial:06d}")
        if self._is_there(job.folder, point):
            job.attempt = max((int(path.stem[4:]) for path in job.folder.glob("try-*.sh")), default=0)
            job.known = job.file("number").exists()
        else:
            job.folder.mkdir(mode=0o700, parents=True)
            (job.folder / REQUEST).write_bytes(pickle.dumps((self._problem, trial, dict(point))))
            write_whole(job.folder / _POINT, json.dumps(dict(point)))
        job.future.set_running_or_notify_cancel()
        self._watched[trial] = job
        return job.future

    @property
    def going_on(self) -> list[str]:
        """The numbers of the jobs that are in SLURM's hands."""
        return [number for trial, number in sorted(self._numbers.items()) if trial in self._watched]

    def _is_there(self, folder: Path, point: Mapping[str, Any]) -> bool:
        """Whether the folder is that of this very evaluation; another's is moved aside."""
        with suppress(OSError, ValueError):
            if json.loads((folder / _POINT).read_text(encoding="utf-8")) == dict(point):
                return True
        k = 1
        while folder.exists():  # a run died while it wrote it; or the storage forgot a trial, and gave its number again
            with suppress(OSError):
                folder.rename(folder.with_name(f"{folder.name}.old-{k}"))
            k += 1
        return False

    # --- the thread that watches

    def _run(self) -> None:
        while not self._stopped.wait(min(_LOOK_S, self._table.poll_s)):
            try:
                self._look()
            except NoAnswerError as error:
                if self._silent_since == math.inf:
                    self._silent_since = time.monotonic()
                    self._note(
                        f"waiting for SLURM ({error}); jobs go on without it; Ctrl-C twice leaves them to the next run"
                    )
            except Exception as error:  # whoever waits must hear of it
                for job in list(self._watched.values()):
                    self._end(job, error=error)

    def _look(self) -> None:
        """Collect results, submit what is new, and ask SLURM about the others from time to time."""
        for job in list(self._watched.values()):
            self._collect(job)
        for job in list(self._watched.values()):
            if job.attempt == 0:
                self._submit(job)
        if self._watched and time.monotonic() - self._asked >= self._table.poll_s:
            seen = slurm.listed()
            self._asked = time.monotonic()
            if self._silent_since < math.inf:
                self._note(f"SLURM answers again, after {time.monotonic() - self._silent_since:.0f} s")
                self._silent_since = math.inf
            for job in list(self._watched.values()):
                self._judge(job, seen.get(job.name))

    def _collect(self, job: _Job) -> bool:
        """Whether its result has come."""
        try:
            text = (job.folder / RESULT).read_text(encoding="utf-8")
        except OSError:  # not there yet, or a file system that does not answer
            return False
        try:
            self._end(job, result_from(text))
        except (SurefootError, OSError) as error:
            self._end(job, error=error)
        return True

    def _end(self, job: _Job, finished: Finished | None = None, error: Exception | None = None) -> None:
        self._watched.pop(job.trial, None)
        if finished is not None:
            job.future.set_result(finished)
        else:
            job.future.set_exception(error)

    def _submit(self, job: _Job) -> None:
        """The next attempt; NoAnswerError if SLURM may take it later."""
        job.attempt, job.known, job.since = job.attempt + 1, False, math.inf
        script = job.folder / script_of(job.attempt)
        try:
            with script.open("x", encoding="utf-8") as file:
                file.write(script_text(self._problem, job.folder, job.attempt))
        except FileExistsError:  # another run watches the same job, and has submitted this attempt
            return
        try:
            number = slurm.submit(script, options_of(self._problem, job.name, job.file("out")))
        except InvalidInputError as error:
            self._end(job, error=error)
            return
        self._mark_known(job, number)

    def _mark_known(self, job: _Job, number: str) -> None:
        self._numbers[job.trial] = number
        if not job.known:
            job.file("number").write_text(number)
            job.known = True

    def _judge(self, job: _Job, seen: Listed | None) -> None:
        """What follows from what SLURM says of a job without a result."""
        if seen is not None:
            self._mark_known(job, seen.number)
        if seen is not None and not seen.ended:
            job.since = math.inf
            return
        job.since = min(job.since, time.monotonic())
        if time.monotonic() - job.since < self._late_s or self._collect(job):
            return
        if not job.known:  # sbatch failed, or we died before it
            self._submit(job)
            return
        n_tries = len(list(job.folder.glob("try-*.number")))
        state = seen.state if seen is not None else "not known to SLURM any more"
        why = f"job {self._numbers.get(job.trial, '')} ended without a result ({state})".replace("  ", " ")
        said = tail(job.file("out"), 1000).strip()
        why += f": {said.splitlines()[-1][:200]}" if said else ""
        if n_tries <= self._table.n_retries:
            self._note(f"trial {job.trial}: {why}; submitted again")
            self._submit(job)
        elif not (job.folder / started_of(job.attempt)).exists() and state in ("FAILED", "COMPLETED"):
            self._end(job, error=_not_begun(job, why))
        else:
            self._end(job, self._transient(job, f"{why}; {n_tries} times"))

    def _transient(self, job: _Job, why: str) -> Finished:
        lost = Evaluation((), math.nan, "transient", why, 0.0)
        place = self._problem.evaluations_folder / f"{job.trial:06d}"
        return Finished(lost, {"host": "", "folder": str(place), "stdout": "", "stderr": tail(job.file("out"), 2000)})


def tag_of(study: Study) -> str:
    """What the names of the study's jobs begin with: no other study's do, not even one that had this name before."""
    name = re.sub(r"[^A-Za-z0-9_]+", "-", study.study_name)[:40]
    return f"{name}-{set_once(study, _TAG, secrets.token_hex(4))}"


def _not_begun(job: _Job, why: str) -> WorkersLostError:
    return WorkersLostError(
        f"expected jobs to start {sys.executable}; got {why}; try {job.file('sh')} by hand on a compute node, "
        "and the lines of setup in [slurm]"
    )


def rehearse(problem: Problem) -> str:
    """The command that would submit the first job, after SLURM has looked at it and queued nothing."""
    with TemporaryDirectory() as folder:
        script = Path(folder) / script_of(1)
        script.write_text(script_text(problem, Path(folder), 1), encoding="utf-8")
        options = options_of(problem, "surefoot", Path(folder) / "out")
        slurm.rehearse(script, options)
    return shlex.join(["sbatch", *problem.slurm.sbatch_options(), script_of(1)])


def options_of(problem: Problem, name: str, output: Path) -> list[str]:
    """Of sbatch, for one job. A % in a path would be a pattern."""
    place = str(output).replace("%", "%%")
    own = [f"--job-name={name}", f"--output={place}", f"--chdir={problem.folder}", "--no-requeue"]
    return [*own, *problem.slurm.sbatch_options()]


def script_text(problem: Problem, folder: Path, attempt: int) -> str:
    """What a job does. A line of setup that fails ends it: nothing is learned of the point."""
    command = [sys.executable, "-m", "surefoot.runs.job", str(folder), str(attempt)]
    return "\n".join(["#!/bin/bash", "set -e", *problem.slurm.setup, f"exec {shlex.join(command)}", ""])
