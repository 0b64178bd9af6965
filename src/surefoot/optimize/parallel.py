"""Evaluations on an executor: as many under way as there are workers, and what has ended is never lost."""

from __future__ import annotations

import math
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Executor, Future, wait
from dataclasses import replace
from pickle import PicklingError

from surefoot.errors import InvalidInputError, SpaceExhaustedError, WorkersLostError, described, shown
from surefoot.optimize.checks import is_a
from surefoot.optimize.evaluate import evaluate
from surefoot.optimize.history import Evaluation
from surefoot.optimize.work import Point, Work

_LOOK_S = 2.0  # between two looks at whether the executor is still there


def in_parallel(work: Work, executor: Executor, n_workers: int | None) -> None:
    """Keep n_workers evaluations under way; each end is told at once and replaced by a new suggestion."""
    n_workers, optimizer = n_workers or _default_workers(executor), work.optimizer
    running: dict[Future[Evaluation], Point] = {}
    lost: WorkersLostError | None = None  # the executor takes no more work; what is under way may still end
    try:
        while work.n_left > 0:
            while lost is None and len(running) < min(n_workers, work.n_left):
                try:
                    x = work.next_point()
                    running[_submitted(executor, work, x)] = x
                except SpaceExhaustedError:
                    if not running:
                        raise
                    break
                except WorkersLostError as error:
                    lost = error
            if lost is not None and (not running or _is_deaf(executor)):
                raise lost
            wait(running, _LOOK_S, return_when=FIRST_COMPLETED)
            # not what `wait` returns: it does not see futures that a shutdown has cancelled in the queue
            done = [future for future in running if future.done()]
            if not done and _is_deaf(executor):
                raise WorkersLostError(
                    "expected an executor that stays open; got a Dask client that was closed; try closing it when "
                    "minimize has returned"
                )
            for future in done:
                _raise_if_broken(future)
                _raise_if_unsendable(future)
                evaluation = _collect(future, running[future])
                optimizer.record(evaluation)
                del running[future]
                work.report(evaluation)
    except WorkersLostError as error:
        for future, x in running.items():  # nobody knows which evaluation killed them
            if not _has_ended(future):
                reason = f"{described(error.__cause__ or error)} (the worker was lost)"
                optimizer.record(Evaluation(x, math.nan, "transient", reason))
        raise
    finally:
        for future, x in running.items():  # stopping: keep what has ended, call off what has not begun
            if not future.cancel() and _has_ended(future) and optimizer.awaits(x):
                optimizer.record(_collect(future, x))


def _is_deaf(executor: Executor) -> bool:
    """Whether it is of a Dask client that was closed: its futures then never end."""
    return getattr(getattr(executor, "_client", None), "status", None) in ("closed", "closing")


def _default_workers(executor: Executor) -> int:
    n = getattr(executor, "_max_workers", None)
    return n if isinstance(n, int) and n >= 1 else 2


def _submitted(executor: Executor, work: Work, x: Point) -> Future[Evaluation]:
    """An evaluation under way; whatever an executor raises instead means that it takes no more work."""
    try:
        future = executor.submit(evaluate, *work.task(x))
    except Exception as error:
        raise WorkersLostError(
            f"expected an executor that takes work; got {described(error)}; try one that stays open until "
            "minimize returns; the result so far can be continued with history="
        ) from error
    if not is_a(future, Future):
        raise InvalidInputError(
            "expected an executor whose `submit` returns a concurrent.futures.Future; "
            f"got one that returns {shown(future)}; try client.get_executor() of a Dask client"
        )
    return future


def _raise_if_broken(future: Future[Evaluation]) -> None:
    error = None if future.cancelled() else future.exception()
    if isinstance(error, BrokenExecutor):
        raise WorkersLostError(
            f"expected workers that stay alive; got {described(error)}: a worker process died and the executor takes "
            "no more work; try isolate='process', which keeps the death of an evaluation to itself"
        ) from error


def _raise_if_unsendable(future: Future[Evaluation]) -> None:
    """Raise if the executor could not send the function: what the function itself raises is in its evaluation."""
    error = None if future.cancelled() else future.exception()
    if not isinstance(error, PicklingError | AttributeError | TypeError):
        return
    if isinstance(error, PicklingError) or "pickle" in str(error) or "local object" in str(error):  # from 3.13 on
        raise InvalidInputError(
            f"expected a function that can be sent to the workers of the executor; got {described(error)}; "
            "try a function of a module, or a ThreadPoolExecutor with isolate='process'"
        ) from None


def _has_ended(future: Future[Evaluation]) -> bool:
    """Whether the future has something to say of its evaluation."""
    return future.done() and not future.cancelled() and not isinstance(future.exception(), BrokenExecutor)


def _collect(future: Future[Evaluation], x: Point) -> Evaluation:
    """What came of an evaluation that has ended; one that was cancelled from outside is lost and teaches nothing."""
    try:
        error = future.exception()
    except CancelledError:
        return Evaluation(x, math.nan, "transient", "cancelled before it ended")
    if isinstance(error, CancelledError):
        return Evaluation(x, math.nan, "transient", "cancelled before it ended")
    if error is None:
        evaluation = future.result()
        if isinstance(evaluation, Evaluation):
            return replace(evaluation, x=x)
        return Evaluation(x, math.nan, "failed", f"the executor returned {type(evaluation).__name__}")
    # the function could not be sent, or its value not be returned
    return Evaluation(x, math.nan, "failed", described(error))
