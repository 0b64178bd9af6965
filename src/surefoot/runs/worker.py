"""The loop of `surefoot run`: claim a trial, evaluate it, report its end; as often as the budget allows.

One process keeps `workers` evaluations under way, in threads that wait for processes, on any executor (Dask's), or as
jobs of SLURM. All access to the storage is here, in one thread, but for the heart's. Any number of such processes may
work on a study.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from optuna.storages import RDBStorage
from optuna.study import Study
from optuna.trial import TrialState

from surefoot.errors import (
    SpaceExhaustedError,
    StorageLostError,
    StorageReplacedError,
    SurefootError,
    WorkersLostError,
    as_reason,
    encodable,
)
from surefoot.integrations.optuna_history import OUTPUT, REASON, TRANSIENT, is_void, result_of
from surefoot.integrations.optuna_outputs import constraint_attributes, objective_of, output_attributes, outputs_of
from surefoot.optimize.hopeless import stop_if_hopeless
from surefoot.optimize.outputs import check_named, under_one_name
from surefoot.optimize.result import Result
from surefoot.runs import rescue
from surefoot.runs.claims import Claims
from surefoot.runs.contents import files_of, stamps_of
from surefoot.runs.evaluation import Finished, processes
from surefoot.runs.heart import Heart
from surefoot.runs.jobs import Jobs
from surefoot.runs.limited import check_limited
from surefoot.runs.names import NO_SHARE, PROGRESS
from surefoot.runs.patience import Patience
from surefoot.runs.problem import Problem
from surefoot.runs.rescue import Unsaved
from surefoot.runs.same_inputs import SameInputs
from surefoot.runs.set_up import stop_if_set_up_fails
from surefoot.runs.signals import Signals
from surefoot.runs.storage import is_copied, make_durable, parse_url, shown_url
from surefoot.runs.study import Reporter, counts_of, note_changes, told_if_used_up
from surefoot.runs.versions import is_of_today

INTERRUPTED = "interrupted"  # how the message of a result begins if the user stopped the run
Start = Callable[[int, dict[str, Any]], Future[Finished]]  # of the evaluation of a trial at a point
_POLL_S = 0.2
_TOML_HINT = "other bounds, a look at one of them (surefoot show … --trial), or max_failures = 0 in the problem file"
_MOST_TROUBLES = 20
_ENDED = {"SIGTERM", "143"}  # how a program ends that somebody has ended; 143 is 128 + SIGTERM
_SETTLE_S = 1.0  # how long after it we may be told to end, too
_LAST_PATIENCE_S = 10.0  # with the storage, once the user wants to stop


@dataclass(frozen=True)
class Claimed:
    """A trial of ours, to be evaluated."""

    number: int
    point: dict[str, Any]


class Worker:
    """One process's share of a study."""

    def __init__(
        self,
        problem: Problem,
        study: Study,
        storage: RDBStorage,
        workers: int,
        reporter: Reporter,
        signals: Signals,
        place: str,
    ) -> None:
        self._problem = problem
        self._study = study
        self._storage = storage
        self._workers = workers
        self._reporter = reporter
        self._signals = signals
        self._url = parse_url(place)
        self._claims = Claims(study, problem.parameters, problem.n_evals, problem.heartbeat_s)
        self._persist = Patience(
            place, reporter.note, lambda: signals.now or (signals.finish and not self._running and not self._untold)
        )
        self._at_last = Patience(place, reporter.note, lambda: False, patience_s=_LAST_PATIENCE_S)
        self._start: Start
        self._jobs: Jobs | None = None
        self._running: dict[Future[Finished], Claimed] = {}
        self._ready: Claimed | None = None  # claimed, but the executor did not take it
        self._untold: dict[int, Unsaved] = {}  # ended, but not stored yet
        self._objective = problem.evaluator.name or None  # the name of the value, once it is known
        self._n_before = 0  # evaluations of earlier runs
        self._told_to_finish = self._said_no_share = False
        self._exhausted = False
        self._same = SameInputs(reporter.note)
        self._enough = ""  # why to stop before the budget is used up
        self._files = files_of(problem.evaluator, problem.folder)
        self._stamps = stamps_of(self._files)
        self._began = time.monotonic()
        self._lost = False  # whether the storage is
        self._not_before = 0.0  # when the next claim makes sense
        self._troubles = 0  # evaluations in a row that could not even be tried

    def run(self, start: Start, jobs: Jobs | None = None) -> None:
        """Until the budget is used up or the user stops it. `start` begins evaluations, in `jobs` if there are any."""
        self._start, self._jobs = start, jobs
        try:
            with Heart(self._claims):
                try:
                    self._loop()
                    self._same.at_the_end()
                except StorageLostError:
                    self._lost = True
                    raise
                finally:
                    self._give_back()
        except StorageLostError as error:
            raise self._rescued(error) from error

    def _loop(self) -> None:
        self._recover()
        self._store_unsaved()
        self._progress()
        self._n_before = self._counts.finished
        if used_up := told_if_used_up(self._counts):
            self._reporter.note(used_up)
        self._objective = self._objective or objective_of(self._persist(self._claims.trials))
        looked = time.monotonic()
        self._look_for_the_end()
        while not self._signals.now:
            if not self._signals.finish:
                self._fill()
            elif self._running and not self._told_to_finish:
                self._told_to_finish = True
                self._reporter.note("finishing what runs; Ctrl-C again stops now")
            if not self._running and (self._signals.finish or self._enough or self._is_done()):
                break
            self._collect()
            if time.monotonic() - looked > self._problem.heartbeat_s:
                self._recover()
                looked = time.monotonic()

    def result(self) -> Result:
        """What the study knows."""
        found = self._persist(lambda: result_of(self._study, settings=self._problem.settings))
        stopped = f"{INTERRUPTED} {self._signals.told}; every finished evaluation is kept"
        if self._signals.finish:
            return replace(found, message=stopped)
        return replace(found, message=f"stopped: {self._enough}") if self._enough else found

    # --- steps

    def _fill(self) -> None:
        while len(self._running) < self._workers and not (self._exhausted or self._enough or self._signals.finish):
            if time.monotonic() < self._not_before:
                return
            claimed = self._ready or self._claim()
            if claimed is None:
                self._not_before = time.monotonic() + _POLL_S
                return
            self._ready = None
            if self._signals.finish:  # while a suggestion was made, say
                self._persist(partial(self._claims.release, claimed.number, "interrupted", again=True))
                return
            if self._jobs is not None or is_copied(self._storage):  # a job outlives us: so must its trial
                self._persist(lambda: make_durable(self._storage))
            try:
                future = self._start(claimed.number, claimed.point)
            except Exception as error:  # the Dask scheduler has gone away; the claim is kept
                self._ready = claimed
                self._trouble(f"trial {claimed.number} cannot be handed to a worker", error)
                return
            self._running[future] = claimed

    def _claim(self) -> Claimed | None:
        if not self._persist(lambda: is_of_today(self._study, self._problem)):
            self._enough = "another run has changed the parameters of this study; run again to go on with those"
            self._reporter.note(f"stopping: {self._enough}")
            return None
        try:
            trial = self._persist(lambda: self._claims.claim(lambda: self._signals.finish))
        except SpaceExhaustedError:
            self._exhausted = True
            self._reporter.note("every point of the space has been evaluated or is under way")
            return None
        return None if trial is None else Claimed(trial.number, dict(trial.params))

    def _is_done(self) -> bool:
        """Whether no evaluation is left, here or elsewhere; another worker's may be lost and come back to us."""
        trials = self._persist(self._claims.trials)
        if any(t.state == TrialState.RUNNING for t in trials):
            if not self._running:
                self._recover()
            return False
        return self._exhausted or sum(t.state.is_finished() and not is_void(t) for t in trials) >= self._problem.n_evals

    def _collect(self) -> None:
        if not self._running:
            time.sleep(_POLL_S)
            return
        done, _ = wait(self._running, timeout=_POLL_S, return_when=FIRST_COMPLETED)
        if not done:
            return
        n_failed = sum(not self._end(future) for future in done)
        self._persist(lambda: make_durable(self._storage))
        self._reporter.saved(self._study)
        self._progress()
        self._look_at_files()
        if n_failed:
            result = self.result()
            check_named(result.history.evaluations, self._n_before)
            stop_if_set_up_fails(result, self._problem, self._n_before)
            stop_if_hopeless(result, self._problem.max_failures, _TOML_HINT)
        self._look_for_the_end()

    def _look_at_files(self) -> None:
        """Say so if a file that evaluations are made with has changed on the way."""
        stamps = stamps_of(self._files)
        if stamps != self._stamps:
            self._stamps = stamps
            if self._persist(lambda: is_of_today(self._study, self._problem)):
                self._persist(lambda: note_changes(self._study, self._problem, self._reporter.note))

    def _look_for_the_end(self) -> None:
        """Whether there is a reason to stop; what runs is finished."""
        if self._problem.stop is None or self._enough or not self._counts.finished:
            return
        self._enough = self._problem.stop.reason(self.result(), time.monotonic() - self._began)
        if self._enough:
            self._reporter.note(f"stopping: {self._enough}")

    def _end(self, future: Future[Finished]) -> bool:
        """Report what came of an evaluation; whether it succeeded."""
        claimed = self._running.pop(future)
        error = ConnectionError("its worker was lost") if future.cancelled() else future.exception()
        if isinstance(error, SurefootError):  # a command that cannot be started: nothing to learn, to go on with
            why = "not evaluated: the objective cannot be started"
            self._persist(lambda: self._claims.release(claimed.number, why, again=True))
            raise error
        if error is not None:  # a full disk, a lost Dask worker
            why = f"not evaluated: {error}"
            self._persist(lambda: self._claims.release(claimed.number, why, again=True))
            self._trouble(f"trial {claimed.number} could not be evaluated", error)
            return False
        self._troubles = 0
        return self._tell(claimed, future.result())

    def _trouble(self, what: str, error: BaseException) -> None:
        """Nothing could be evaluated: wait a moment before the next attempt, and give up after many."""
        told = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        if time.monotonic() >= self._not_before:  # all that ran at a time are one trouble
            self._troubles += 1
            pause = min(0.5 * 2**self._troubles, 30.0)
            self._not_before = time.monotonic() + pause
            self._reporter.note(f"{what} ({told}); trying again in {pause:g} s")
        if self._troubles > _MOST_TROUBLES:
            raise WorkersLostError(
                f"expected evaluations to be possible; got {told}, {_MOST_TROUBLES} times in a row; "
                "try freeing disk space, or the workers' logs; run again to continue"
            ) from error

    def _tell(self, claimed: Claimed, finished: Finished) -> bool:
        """Store what came of an evaluation; whether it succeeded."""
        if not finished.evaluation.ok and self._was_ended_with_us(finished):
            if not self._lost:  # else it is found when this process is dead
                self._at_last(partial(self._claims.release, claimed.number, "interrupted", again=True))
                self._reporter.note(f"trial {claimed.number} was ended together with this run, and is queued again")
            return False
        (e,), self._objective = under_one_name([finished.evaluation], self._objective)
        output = {key: encodable(text) for key, text in finished.output.items()}
        attributes: dict[str, Any] = {OUTPUT: {"duration_s": e.duration_s, **output}, **output_attributes(e)}
        if not e.ok:
            attributes[REASON if e.status == "failed" else TRANSIENT] = as_reason(e.reason)
        elif limits := self._problem.settings.outputs:
            attributes |= constraint_attributes(e.outputs, limits)
        if PROGRESS in e.further and not self._said_no_share:
            self._said_no_share = True
            self._reporter.note(NO_SHARE.format(e.further[PROGRESS]))
        self._store(Unsaved(shown_url(self._url), claimed.number, claimed.point, e.y if e.ok else None, attributes))
        if e.ok and not e.outputs.keys() >= self._problem.settings.outputs.keys():
            succeeded = [t for t in self._persist(self._claims.trials) if t.state == TrialState.COMPLETE]
            known = [name for t in succeeded for name in outputs_of(t)["further"]]
            check_limited(self._problem, [*e.outputs, *known])
        return e.ok

    def _was_ended_with_us(self, finished: Finished) -> bool:
        """Whether it failed because this run is being ended: a batch system signals one process after the other."""
        if self._jobs is not None:
            return False
        patience = time.monotonic() + (_SETTLE_S if _ENDED & set(finished.names) else 0.0)
        while not self._signals.terminated and time.monotonic() < patience:
            time.sleep(0.02)
        return self._signals.terminated

    def _store(self, result: Unsaved) -> None:
        """Report a result; it is not forgotten before it is stored."""
        self._untold[result.number] = result
        if self._lost:
            return
        persist = self._at_last if self._signals.now else self._persist
        note = persist(lambda: self._claims.end(result.number, result.point, result.value, result.attributes))
        del self._untold[result.number]
        if note:
            self._reporter.note(note)

    def _store_unsaved(self) -> None:
        """What an earlier run could not store."""
        for path, results in rescue.kept(self._problem, shown_url(self._url)):
            trials = {t.number: t for t in self._persist(self._claims.trials)}
            known = [r for r in results if r.number in trials and trials[r.number].params == dict(r.point)]
            if not known:  # the database is another one than theirs
                self._reporter.note(f"{len(results)} results in {path} belong to trials that are not in this storage")
                continue
            for result in known:
                self._store(result)
            self._persist(lambda: make_durable(self._storage))
            rescue.done(path)
            self._reporter.note(f"{len(known)} results that an earlier run could not store are stored now")
            if len(known) < len(results):
                others = ", ".join(str(r.number) for r in results if r not in known)
                self._reporter.note(f"results of the trials {others} in {path.with_suffix('.stored')} are not: the "
                                    "storage has other trials of those numbers")  # fmt: skip

    def _give_back(self) -> None:
        """Report what has ended; whatever is still under way goes back to the queue."""
        ended = [future for future in self._running if future.done() and not future.cancelled()]
        ended = [future for future in ended if not future.exception()]
        for future in ended:
            self._tell(self._running.pop(future), future.result())
        if ended and not self._lost:
            self._at_last(lambda: make_durable(self._storage))
        left = {c.number for c in self._running.values()} if self._jobs is not None else set()
        if self._jobs is not None and left:
            told = f" (scancel {' '.join(self._jobs.going_on)} ends them)" if self._jobs.going_on else ""
            self._reporter.note(f"{len(left)} jobs are left to SLURM{told}; the next run collects their results")
        numbers = [number for number in self._claims.held if number not in left]
        if not numbers:
            return
        processes.stop_all()
        for future in self._running:
            with suppress(Exception):  # a Dask client that is closed
                future.cancel()
        if self._lost:
            return  # they are found when this process is dead
        for number in numbers:
            self._at_last(partial(self._claims.release, number, "interrupted", again=True))
        self._reporter.note(f"{len(numbers)} unfinished evaluation{'s' * (len(numbers) > 1)} given back to the queue")

    def _rescued(self, error: StorageLostError) -> StorageLostError:
        """The error, and where the results are that the storage does not have."""
        told = str(error)
        if isinstance(error, StorageReplacedError):
            copy = rescue.copy_database(self._storage, Path(str(self._url.database)).resolve())
            if copy is not None:
                told += f"; everything stored so far is in {copy}: move it to where the database was"
        if self._untold:
            n = len(self._untold)
            try:
                path = rescue.keep(self._problem, list(self._untold.values()))
                told += f"; {n} results that could not be stored are in {path}: the next run stores them"
            except OSError as failed:  # a full disk
                folder = self._problem.evaluations_folder
                told += f"; {n} results could not be kept ({failed}): what they printed is in {folder}"
        return type(error)(told)

    def _recover(self) -> None:
        if self._jobs is not None and not self._signals.finish:
            adopted = self._persist(self._claims.adopt)
            for trial in adopted:
                self._running[self._jobs.start(trial.number, trial.params)] = Claimed(trial.number, dict(trial.params))
            if adopted:
                self._reporter.note(f"{len(adopted)} evaluations of a run that ended are taken over, with their jobs")
        for note in self._persist(partial(self._claims.recover, leave=self._jobs is not None)):
            self._reporter.note(note)

    def _progress(self) -> None:
        trials = self._persist(self._claims.trials)
        self._counts = self._persist(lambda: counts_of(self._study, self._problem.n_evals, trials))
        self._reporter.progress(self._counts)
        self._same.look(trials)
