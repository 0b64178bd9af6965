"""The loop of `surefoot run`: claim a trial, evaluate it, report its end; as often as the budget allows.

One process keeps `workers` evaluations under way, in threads that wait for processes, or on any executor (Dask's). All
access to the storage is here, in one thread. Any number of such processes may work on a study.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from dataclasses import replace
from typing import TypeVar

from optuna.exceptions import StorageInternalError, UpdateFinishedTrialError
from optuna.storages import RDBStorage
from optuna.study import Study
from optuna.trial import FrozenTrial, TrialState
from sqlalchemy.exc import SQLAlchemyError

from surefoot.errors import SpaceExhaustedError, StorageLostError, SurefootError
from surefoot.integrations.optuna_history import OUTPUT, REASON, TRANSIENT, is_void, result_of
from surefoot.optimize.minimize import stop_if_hopeless
from surefoot.optimize.result import Result
from surefoot.runs import evaluation
from surefoot.runs.claims import Claims
from surefoot.runs.evaluation import Finished, evaluate_trial
from surefoot.runs.evaluation import processes as process
from surefoot.runs.problem import Problem
from surefoot.runs.signals import Signals
from surefoot.runs.storage import close_storage, make_durable, open_storage
from surefoot.runs.study import Reporter, counts_of, open_study

INTERRUPTED = "interrupted"  # how the message of a result begins if the user stopped the run
_POLL_S = 0.2
_STORAGE_PATIENCE_S = 600.0
T = TypeVar("T")


def run(
    problem: Problem,
    place: str | None = None,
    *,
    workers: int = 1,
    executor: Executor | None = None,
    reporter: Reporter,
) -> Result:
    """Work on the problem's study until its budget is used up, or the user stops it; the study's result.

    place     the storage; default: a SQLite file beside the problem file
    workers   evaluations at a time
    executor  where they run; default: threads here, each waiting for a process
    """
    storage = open_storage(place or problem.default_storage, create=True)
    try:
        study = open_study(problem, storage)
        worker = Worker(problem, study, storage, workers, reporter)
        if executor is not None:
            worker.run(executor)
        else:
            with ThreadPoolExecutor(workers, thread_name_prefix="evaluation") as threads:
                try:
                    worker.run(threads)
                finally:
                    process.stop_all()  # what is under way now was given back
        return worker.result()
    finally:
        process.allow()  # all threads have ended; another run may follow in this process
        evaluation.close()
        close_storage(storage)


class Worker:
    """One process's share of a study."""

    def __init__(self, problem: Problem, study: Study, storage: RDBStorage, workers: int, reporter: Reporter) -> None:
        self._problem = problem
        self._study = study
        self._storage = storage
        self._workers = workers
        self._reporter = reporter
        self._claims = Claims(study, problem.parameters, problem.n_evals, problem.heartbeat_s)
        self._running: dict[Future[Finished], int] = {}  # and the number of its trial
        self._signals = Signals()
        self._told_to_finish = False
        self._exhausted = False
        self._not_before = 0.0  # when the next claim makes sense
        self._troubles = 0  # evaluations in a row that could not even be tried

    def run(self, executor: Executor) -> None:
        """Until the budget is used up or the user stops it."""
        with self._signals:
            try:
                self._recover()
                self._progress()
                while not self._signals.now:
                    if not self._signals.finish:
                        self._fill(executor)
                    elif self._running and not self._told_to_finish:
                        self._told_to_finish = True
                        self._reporter.note("finishing what runs; Ctrl-C again stops now")
                    if not self._running and (self._signals.finish or self._is_done()):
                        break
                    self._collect()
                    if self._persist(self._claims.beat_if_due):
                        self._recover()
            finally:
                self._give_back()

    def result(self) -> Result:
        """What the study knows."""
        found = self._persist(lambda: result_of(self._study, settings=self._problem.settings))
        stopped = f"{INTERRUPTED} from the keyboard; every finished evaluation is kept"
        return replace(found, message=stopped) if self._signals.finish else found

    # --- steps

    def _fill(self, executor: Executor) -> None:
        while len(self._running) < self._workers and not self._exhausted and time.monotonic() >= self._not_before:
            try:
                trial = self._persist(self._claims.claim)
            except SpaceExhaustedError:
                self._exhausted = True
                self._persist(self._drop_unsuggested)
                self._reporter.note("every point of the space has been evaluated or is under way")
                return
            if trial is None:
                self._not_before = time.monotonic() + _POLL_S
                return
            self._running[executor.submit(evaluate_trial, self._problem, trial.number, dict(trial.params))] = (
                trial.number
            )

    def _drop_unsuggested(self) -> None:
        for number in set(self._claims.held) - set(self._running.values()):
            self._claims.release(number, "surplus: the space is exhausted")

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
        if n_failed:
            stop_if_hopeless(self.result(), self._problem.max_failures)

    def _end(self, future: Future[Finished]) -> bool:
        """Report what came of an evaluation; whether it succeeded."""
        number = self._running.pop(future)
        try:
            finished = future.result()
        except SurefootError:  # a command that cannot be started: nothing to learn, nothing to go on with
            self._persist(lambda: self._claims.release(number, "not evaluated: the objective cannot be started"))
            raise
        except Exception as error:  # a full disk, a lost Dask worker
            self._troubles += 1
            if self._troubles > 20:
                raise StorageLostError(
                    f"expected evaluations to be possible; got {type(error).__name__}: {error}, 20 times in a row; "
                    "try freeing disk space, or the workers' logs; run again to continue"
                ) from error
            pause = min(0.5 * 2**self._troubles, 30.0)
            self._not_before = time.monotonic() + pause
            self._reporter.note(f"trial {number} could not be evaluated ({error}); trying again in {pause:g} s")
            why = f"not evaluated: {error}"
            self._persist(lambda: self._claims.release(number, why, again=True))
            return False
        self._troubles = 0
        self._persist(lambda: self._tell(number, finished))
        return finished.evaluation.ok

    def _tell(self, number: int, finished: Finished) -> None:
        """Report the end; a repetition after a lost connection finds it reported."""
        trial_id = self._claims.held.get(number)
        if trial_id is None:  # silent for too long, and given up by others
            self._reporter.note(
                f"trial {number} ended here after it had been given to another worker; its result is dropped"
            )
            return
        e = finished.evaluation
        attributes: dict[str, object] = {OUTPUT: {"duration_s": e.duration_s, **finished.output}}
        if not e.ok:
            attributes[REASON if e.status == "failed" else TRANSIENT] = e.reason
        try:
            for key, value in attributes.items():
                self._study._storage.set_trial_user_attr(trial_id, key, value)
            state = TrialState.COMPLETE if e.ok else TrialState.FAIL
            self._study._storage.set_trial_state_values(trial_id, state, [e.y] if e.ok else None)
        except UpdateFinishedTrialError:
            stored: FrozenTrial = self._study._storage.get_trial(trial_id)
            if is_void(stored):
                self._reporter.note(f"trial {number} ended after it had been given up; its result is dropped")
        self._claims.told(number)

    def _give_back(self) -> None:
        """Report what has ended; whatever is still under way goes back to the queue."""
        ended = [future for future in self._running if future.done() and not future.exception()]
        for future in ended:
            self._end(future)
        if ended:
            self._persist(lambda: make_durable(self._storage))
        numbers = list(self._claims.held)
        if not numbers:
            return
        process.stop_all()
        for future in self._running:
            future.cancel()
        for number in numbers:
            self._persist(
                lambda number=number: self._claims.release(number, "interrupted", again=True),  # type: ignore[misc]
                patience_s=10.0,
            )
        self._reporter.note(f"{len(numbers)} unfinished evaluation{'s' * (len(numbers) > 1)} given back to the queue")

    def _recover(self) -> None:
        for note in self._persist(self._claims.recover):
            self._reporter.note(note)

    def _progress(self) -> None:
        self._reporter.progress(
            self._persist(lambda: counts_of(self._study, self._problem.n_evals, self._claims.trials()))
        )

    def _persist(self, operation: Callable[[], T], patience_s: float = _STORAGE_PATIENCE_S) -> T:
        """Do it, again and again while the storage cannot: a lost connection, a full disk, a lock pass."""
        start = time.monotonic()
        for attempt in range(10**9):
            try:
                return operation()
            except (StorageInternalError, SQLAlchemyError) as error:
                told = str(getattr(error.__cause__ or error, "orig", None) or error).strip().splitlines()[0]
                if attempt == 0:
                    self._reporter.note(f"the storage does not answer ({told}); trying again")
                if time.monotonic() - start > patience_s or self._signals.now:
                    raise StorageLostError(
                        f"expected the storage to answer; got {told} for {time.monotonic() - start:.0f} s; "
                        "try freeing disk space or starting the server, then run again to continue"
                    ) from error
                time.sleep(min(0.1 * 2 ** min(attempt, 6), 5.0))
        raise AssertionError("not reached")
