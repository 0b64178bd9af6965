"""One call for somebody with a Python function: SciPy's habits, an OptimizeResult-like object back."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from dataclasses import replace
from typing import Any

import numpy as np

from surefoot.errors import InvalidInputError, SpaceExhaustedError
from surefoot.optimize.evaluate import evaluate
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
    kernel: str = "se",
    noise: float | str = "estimate",
    seed: int = 0,
    x0: Any = None,
    y0: Any = None,
    history: History | None = None,
    callback: Callback | None = None,
    executor: Executor | None = None,
    n_workers: int | None = None,
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
    kernel    "se" (smooth, the default) or "matern52" (twice differentiable)
    noise     "estimate", 0 for a deterministic function, or the standard deviation of the noise
    x0, y0    points to start from; those without values are evaluated first
    history   of an earlier result: 50 evaluations = 25, saved and loaded, and 25 more
    callback  called with the result so far after each evaluation; StopIteration stops the run
    executor  any concurrent.futures.Executor, for parallel evaluations, n_workers at a time
    progress  show a progress bar
    settings  search="gradient" or "paper", design, kappa, learn_failures
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
    queue = _given_points(optimizer, space, x0, y0)
    message = f"all {n_evals} evaluations done"
    with Progress(n_evals, shown=progress) as bar:

        def report(evaluation: Evaluation) -> None:
            bar.update(optimizer.history)
            if callback is not None:
                callback(optimizer.result("running"))

        try:
            if executor is None:
                while len(optimizer.history) < n_evals:
                    x = queue.pop(0) if queue else space.validate(optimizer.ask())
                    evaluation = evaluate(fun, space, x)
                    optimizer._record(evaluation)
                    report(evaluation)
            else:
                _in_parallel(fun, space, optimizer, queue, n_evals, executor, n_workers, report)
        except StopIteration:
            message = "stopped by the callback"
        except SpaceExhaustedError:
            message = f"every point of the space has been evaluated ({len(optimizer.history)})"
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
    values = np.ravel(np.asarray(y0, dtype=float))
    for evaluation in history_of(space, points, values.tolist()).evaluations:
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
    report: Callable[[Evaluation], None],
) -> None:
    """Keep n_workers evaluations under way; each end is told at once and replaced by a new suggestion."""
    n_workers = n_workers or getattr(executor, "_max_workers", None) or 2
    running: dict[Future[Evaluation], Any] = {}
    try:
        while len(optimizer.history) < n_evals:
            while len(running) < n_workers and len(optimizer.history) + len(running) < n_evals:
                try:
                    x = queue.pop(0) if queue else space.validate(optimizer.ask())
                except SpaceExhaustedError:
                    if not running:
                        raise
                    break
                running[executor.submit(evaluate, fun, space, x)] = x
            done, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                x = running.pop(future)
                error = future.exception()
                if error is None:
                    evaluation = future.result()
                else:  # the worker died, or the function could not be sent to it
                    evaluation = Evaluation(x, float("nan"), "failed", f"{type(error).__name__}: {error}")
                optimizer._record(replace(evaluation, x=x))
                report(evaluation)
    finally:
        for future in running:
            future.cancel()
