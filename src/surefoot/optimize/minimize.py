"""One call for somebody with a Python function: SciPy's habits, an OptimizeResult-like object back."""

from __future__ import annotations

import math
import warnings
from collections import Counter
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from dataclasses import replace
from typing import Any

import numpy as np

from surefoot.errors import (
    InvalidInputError,
    SpaceExhaustedError,
    SurefootWarning,
    TooManyFailuresError,
    WorkersLostError,
)
from surefoot.execute.isolate import isolated
from surefoot.optimize.evaluate import Guard, evaluate
from surefoot.optimize.history import Evaluation, History, history_of
from surefoot.optimize.optimizer import Optimizer, sequence_of_points
from surefoot.optimize.progress import Progress
from surefoot.optimize.result import Result
from surefoot.optimize.space import Space

Callback = Callable[[Result], Any]


def minimize(
    fun: Callable[[Any], Any],
    bounds: Any,
    *,
    n_evals: int = 100,
    n_init: int | None = None,
    policy: str = "alternate",
    kernel: str = "auto",
    noise: float | str = "estimate",
    seed: int = 0,
    x0: Any = None,
    y0: Any = None,
    history: History | None = None,
    callback: Callback | None = None,
    executor: Executor | None = None,
    n_workers: int | None = None,
    timeout: float | None = None,
    isolate: str | None = None,
    memory_limit_mb: float | None = None,
    retry_on: type[BaseException] | tuple[type[BaseException], ...] = (),
    n_retries: int = 2,
    max_failures: int | float | None = 50,
    progress: bool = False,
    **settings: Any,
) -> Result:
    """Minimize an expensive function that may fail.

    fun       called with an array (dict, if bounds is a dict; list, if types are mixed); returns a number. An
              exception, NaN or an infinity is a failed evaluation: recorded, learned from, never repeated.
    bounds    a list or dict of (low, high), `Real`, `Integer` or `Categorical`
    n_evals   evaluations in total, failed ones and those of `history` and `x0` included
    n_init    evaluations of the initial Latin hypercube: 10 per parameter, at most 30
    policy    what to maximize: "alternate" (two EI steps, one ScaledEI step), or RND, MN, LCB, PI, EI, MES, MES-R,
              ScaledEI, or one of your own (register_policy)
    kernel    of the objective: "matern52" (twice differentiable), "se" (smooth), or "auto", the likelier of the two
    noise     "estimate", 0 for a deterministic function, or the standard deviation of the noise
    x0, y0    points to start from; those without values are evaluated first
    history   of an earlier result: 50 evaluations = 25, saved and loaded, and 25 more
    callback  called with the result so far after each evaluation; StopIteration stops the run
    executor  any concurrent.futures.Executor, for parallel evaluations, n_workers at a time
    timeout   seconds an evaluation may take; then it is stopped (it runs in a process of its own) and has failed
    isolate   "process": every evaluation in a process of its own; a segmentation fault, os._exit, sys.exit or lack of
              memory is then a failed evaluation. memory_limit_mb: what it may add to the memory in use
    retry_on  exceptions that are transient (say, OSError): tried again n_retries times, and never learned from
    max_failures  TooManyFailuresError after so many failures in a row; a float: when that share of all
              evaluations after the initial design has failed; None: never
    progress  show a progress bar
    settings  search="gradient", "paper" or "paper-absolute",
              failures="label-regression", "laplace", "ep", "impute" or "ignore",
              min_success=0.5 (P(success) below which points are avoided; 0: the paper's product), design, kappa,
              warp="auto" (compress large values where the likelihood says so) or "none",
              prior="short-scales" (length scales far below the distance of points are unlikely) or "none"
    """
    space = Space.of(bounds)
    if not callable(fun):
        raise InvalidInputError(f"expected a function; got {fun!r}; try minimize(f, bounds)")
    if isinstance(n_evals, bool) or not isinstance(n_evals, int) or n_evals < 1:
        raise InvalidInputError(f"expected n_evals of at least 1; got {n_evals!r}; try n_evals=100")
    optimizer = Optimizer(
        space,
        seed=seed,
        n_init=n_init,
        policy=policy,
        kernel=kernel,
        noise=noise,
        history=history,
        **settings,
    )
    if not isinstance(retry_on, tuple):
        retry_on = (retry_on,)
    guard = Guard(timeout, isolate, memory_limit_mb, retry_on, n_retries)
    check_max_failures(max_failures)
    queue = _given_points(optimizer, space, x0, y0)
    message = f"all {n_evals} evaluations done"
    with Progress(n_evals, shown=progress) as bar, isolated(fun, guard) as fun:

        def report(evaluation: Evaluation) -> None:
            bar.update(optimizer.history)
            if not evaluation.ok:
                stop_if_hopeless(optimizer.result("too many failures"), max_failures)
            if callback is not None:
                callback(optimizer.result("running"))

        try:
            if executor is None:
                while len(optimizer.history) < n_evals:
                    x = queue.pop(0) if queue else space.validate(optimizer.ask())
                    evaluation = evaluate(fun, space, x, guard)
                    optimizer._record(evaluation)
                    report(evaluation)
            else:
                _in_parallel(fun, space, optimizer, queue, n_evals, executor, n_workers, guard, report)
        except StopIteration:
            message = "stopped by the callback"
        except SpaceExhaustedError:
            message = f"every point of the space has been evaluated ({len(optimizer.history)})"
        except WorkersLostError as error:
            warnings.warn(str(error), SurefootWarning, stacklevel=2)
            message = "stopped: the workers were lost; every finished evaluation is kept"
        except KeyboardInterrupt:
            message = "interrupted from the keyboard; every finished evaluation is kept"
    if len(optimizer.history) <= optimizer.settings.n_init and not message.startswith(("stopped", "interr")):
        message += f", all of them of the initial design (n_init={optimizer.settings.n_init})"
    return optimizer.result(message)


def _given_points(optimizer: Optimizer, space: Space, x0: Any, y0: Any) -> list[Any]:
    """Tell the points of x0 whose values are known; return the others."""
    points = sequence_of_points(x0, space)
    if y0 is None:
        return [space.validate(point) for point in points]
    for evaluation in history_of(space, points, y0).evaluations:
        optimizer._record(evaluation)
    return []


def _in_parallel(
    fun: Callable[[Any], Any],
    space: Space,
    optimizer: Optimizer,
    queue: list[Any],
    n_evals: int,
    executor: Executor,
    n_workers: int | None,
    guard: Guard,
    report: Callable[[Evaluation], None],
) -> None:
    """Keep n_workers evaluations under way; each end is told at once and replaced by a new suggestion."""
    n_workers = n_workers or getattr(executor, "_max_workers", None) or 2
    running: dict[Future[Evaluation], Any] = {}
    try:
        while len(optimizer.history) < n_evals:
            while len(running) < n_workers and len(optimizer.history) + len(running) < n_evals:
                try:
                    if queue:
                        x = queue.pop(0)
                        optimizer.mark_pending(x)
                    else:
                        x = space.validate(optimizer.ask())
                except SpaceExhaustedError:
                    if not running:
                        raise
                    break
                running[executor.submit(evaluate, fun, space, x, guard)] = x
            done, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                evaluation = _collect(future, running[future])
                del running[future]
                optimizer._record(evaluation)
                report(evaluation)
    except BrokenExecutor as error:  # nobody knows which evaluation killed it, and it takes no more work
        for x in running.values():
            reason = f"{type(error).__name__}: {error} (the worker was lost)"
            optimizer._record(Evaluation(x, math.nan, "transient", reason))
        running.clear()
        raise WorkersLostError(
            "expected workers that stay alive; a worker process died and the executor takes no more work; "
            "try isolate='process', which keeps the death of an evaluation to itself"
        ) from error
    finally:
        for future, x in running.items():  # stopping: keep what has ended, call off what has not begun
            if not future.cancel() and future.done():
                optimizer._record(_collect(future, x))


def _collect(future: Future[Evaluation], x: tuple[Any, ...]) -> Evaluation:
    """What came of an evaluation that has ended; a broken executor passes through."""
    error = future.exception()
    if error is None:
        return replace(future.result(), x=x)
    if isinstance(error, BrokenExecutor):
        raise error
    # the function could not be sent, or its value not be returned
    return Evaluation(x, math.nan, "failed", f"{type(error).__name__}: {error}")


def check_max_failures(limit: int | float | None) -> None:
    """Raise unless it is None, a count of at least 1 or a share in (0, 1]."""
    is_count = isinstance(limit, int) and not isinstance(limit, bool) and limit >= 1
    is_share = isinstance(limit, float) and 0.0 < limit <= 1.0
    if not (limit is None or is_count or is_share):
        raise InvalidInputError(
            f"expected max_failures as a count (int), a share in (0, 1] (float) or None; got {limit!r}; try 50 or 0.9"
        )


def stop_if_hopeless(result: Result, limit: int | float | None) -> None:
    """Raise TooManyFailuresError when the failures exceed the limit of `minimize`."""
    ok = result.history.ok
    if limit is None or len(ok) == 0 or ok[-1]:
        return
    if isinstance(limit, int):
        hopeless = len(ok) >= limit and not ok[-limit:].any()
        what = f"the last {limit} evaluations all failed"
    else:
        hopeless = len(ok) > result.settings.n_init and float(np.mean(~ok)) >= limit
        what = f"{int((~ok).sum())} of {len(ok)} evaluations failed"
    if not hopeless:
        return
    reasons = Counter(e.reason for e in result.history.evaluations if not e.ok)
    common = "; ".join(f"{reason} ({count})" for reason, count in reasons.most_common(3))
    raise TooManyFailuresError(
        f"expected some evaluations to succeed; {what}, of {len(ok)} tried, {int(ok.sum())} succeeded; most often: "
        f"{common}; try other bounds, x0 at a point that works, or max_failures=None",
        result,
    )
