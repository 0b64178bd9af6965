"""What can happen around `minimize` and `Optimizer`: executors that go away, callbacks that raise, threads, BLAS.

`python -m benchmarks.attacks.scenarios NAME FOLDER` plays one; FOLDER/outcome.json is what is wrong.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

BOUNDS = [(0.0, 1.0), (0.0, 1.0)]
Wrong = list[tuple[str, str]]  # kind, what
SCENARIOS: dict[str, Callable[[Path], Wrong]] = {}


def _scenario(play: Callable[[Path], Wrong]) -> Callable[[Path], Wrong]:
    SCENARIOS[play.__name__.strip("_")] = play
    return play


class _Logged:
    """A function that remembers what it returned."""

    def __init__(self, seconds: float = 0.0) -> None:
        self.ends: dict[tuple[float, ...], float] = {}
        self._seconds = seconds

    def __call__(self, x: Any) -> float:
        """The value at x."""
        time.sleep(self._seconds)
        value = float(x[0] + x[1])
        self.ends[tuple(map(float, x))] = value
        return value


def _run(function: _Logged, allowed: tuple[str, ...] = (), **options: Any) -> Wrong:
    """Minimize; whatever ends it, every value that the function returned has to be reachable."""
    from benchmarks.attacks.case import rows_of
    from benchmarks.attacks.hostile import lost_and_doubled
    from surefoot import minimize
    from surefoot.errors import SurefootError

    wrong: Wrong = []
    try:
        result = minimize(function, BOUNDS, **{"n_evals": 10, "n_init": 10, **options})
    except BaseException as error:
        result = getattr(error, "result", None)
        named = type(error).__name__ in allowed
        if not isinstance(error, SurefootError) and not named:
            wrong.append(("raw", f"{type(error).__name__}: {str(error)[:150]}"))
    found = lost_and_doubled(rows_of(result), dict(function.ends))
    return wrong + [(finding.kind, finding.what) for finding in found]


# --- what ends a run


@_scenario
def _the_callback_raises(folder: Path) -> Wrong:
    def callback(result: Any) -> None:
        if result.nfev == 4:
            raise KeyError("the user's own mistake")

    return _run(_Logged(), allowed=("KeyError",), callback=callback)  # theirs, but with the result so far


@_scenario
def _the_executor_is_shut_down(folder: Path) -> Wrong:
    executor = ThreadPoolExecutor(2)

    def callback(result: Any) -> None:
        if result.nfev == 4:
            executor.shutdown(wait=False)

    return _run(_Logged(0.05), executor=executor, n_workers=2, callback=callback)


class _Cancelling(Executor):
    """Cancels the fifth future, as a cluster does that is restarted."""

    def __init__(self) -> None:
        self._threads, self._count = ThreadPoolExecutor(2), 0

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """A future; the fifth is cancelled."""
        self._count += 1
        if self._count != 5:
            return self._threads.submit(fn, *args, **kwargs)
        future: Future[Any] = Future()
        future.cancel()
        future.set_running_or_notify_cancel()
        return future


@_scenario
def _a_future_is_cancelled(folder: Path) -> Wrong:
    return _run(_Logged(0.05), executor=_Cancelling(), n_workers=2)


class _Refusing(_Cancelling):
    """Raises at the fifth submission."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """A future, or an error of the executor's own."""
        self._count += 1
        if self._count == 5:
            raise ConnectionError("the scheduler is gone")
        return self._threads.submit(fn, *args, **kwargs)


@_scenario
def _a_submission_fails(folder: Path) -> Wrong:
    return _run(_Logged(0.05), executor=_Refusing(), n_workers=2)


@_scenario
def _a_worker_process_is_killed(folder: Path) -> Wrong:
    from concurrent.futures import ProcessPoolExecutor

    from benchmarks.attacks.case import Function, rows_of
    from benchmarks.attacks.hostile import lost_and_doubled, read_ends
    from surefoot import minimize
    from surefoot.errors import SurefootError

    function = Function("os_exit", str(folder / "objective.log"))
    wrong: Wrong = []
    try:
        result = minimize(function, BOUNDS, n_evals=8, n_init=8, executor=ProcessPoolExecutor(1), n_workers=1)
    except SurefootError as error:
        result = getattr(error, "result", None)
    except BaseException as error:
        result, wrong = getattr(error, "result", None), [("raw", f"{type(error).__name__}: {error}")]
    return wrong + [(f.kind, f.what) for f in lost_and_doubled(rows_of(result), read_ends(folder))]


@_scenario
def _a_fork_fails_once(folder: Path) -> Wrong:
    real, failed = os.fork, []

    def fork() -> int:
        if not failed and len(function.ends) == 0 and time.monotonic() > begin + 1.0:
            failed.append(True)
            raise BlockingIOError(11, "Resource temporarily unavailable")
        return real()

    from benchmarks.attacks.case import Function, rows_of
    from benchmarks.attacks.hostile import lost_and_doubled, read_ends
    from surefoot import minimize

    log = str(folder / "objective.log")
    function, quiet, begin = _Logged(), Function("changes_the_locale", log), time.monotonic()
    os.fork = fork
    try:
        result = minimize(
            lambda x: (time.sleep(0.3), quiet(x))[1], BOUNDS, n_evals=8, n_init=8, isolate="process", max_failures=None
        )
    except BaseException as error:
        found = lost_and_doubled(rows_of(getattr(error, "result", None)), read_ends(folder))
        return [("raw", f"{type(error).__name__}: {error}"), *((f.kind, f.what) for f in found)]
    return [(f.kind, f.what) for f in lost_and_doubled(rows_of(result), read_ends(folder))]


@_scenario
def _a_negative_number_of_workers(folder: Path) -> Wrong:
    return _run(_Logged(), executor=ThreadPoolExecutor(2), n_workers=-3)


@_scenario
def _crashes_beside_long_neighbours_are_noticed_at_once(folder: Path) -> Wrong:
    from surefoot import minimize

    def function(x: Any) -> float:
        if x[0] < 0.5:
            time.sleep(0.3)
            os._exit(3)
        time.sleep(6.0)
        return 1.0

    result = minimize(
        function, BOUNDS, n_evals=12, n_init=12, isolate="process", executor=ThreadPoolExecutor(6), n_workers=6
    )
    late = [e.duration_s for e in result.history.evaluations if not e.ok and e.duration_s > 4.0]
    return [("hung", f"a crash was noticed after {seconds:.1f} s") for seconds in late]


# --- threads


@_scenario
def _isolation_beside_blas_in_a_thread(folder: Path) -> Wrong:
    import numpy as np

    from surefoot import minimize

    stop, matrix = threading.Event(), np.random.default_rng(0).random((400, 400))

    def work() -> None:
        while not stop.is_set():
            np.linalg.inv(matrix @ matrix + np.eye(400))

    threads = [threading.Thread(target=work, daemon=True) for _ in range(2)]
    for thread in threads:
        thread.start()
    result = minimize(lambda x: float(x[0]), BOUNDS, n_evals=15, n_init=15, timeout=20.0, max_failures=None)
    stop.set()
    slow = sum(e.reason.startswith("timeout") for e in result.history.evaluations)
    return [("hung", f"{slow} of 15 isolated evaluations beside BLAS ran into the timeout")] if slow else []


@_scenario
def _tells_from_many_threads(folder: Path) -> Wrong:
    from surefoot import Optimizer

    optimizer, wrong = Optimizer(BOUNDS), []
    old = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)

    def tell(i: int) -> None:
        for k in range(60):
            optimizer.tell([(i * 60 + k) / 960.0, 0.5], float(k))

    threads = [threading.Thread(target=tell, args=(i,)) for i in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    sys.setswitchinterval(old)
    kept = len({e.x for e in optimizer.history.evaluations})
    wrong += [("lost", "a value told from a thread")] * (960 - kept)
    return wrong


@_scenario
def _asks_from_many_threads(folder: Path) -> Wrong:
    from surefoot import Optimizer

    optimizer, points, wrong = Optimizer(BOUNDS, n_init=6), [], []
    sys.setswitchinterval(1e-5)

    def ask() -> None:
        try:
            for _ in range(3):
                x = optimizer.ask()
                points.append(tuple(map(float, x)))
                optimizer.tell(x, float(x[0]))
        except BaseException as error:
            wrong.append(("raw", f"{type(error).__name__}: {str(error)[:150]}"))

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return wrong + [("twice", "the same point was asked for in two threads")] * (len(points) - len(set(points)))


@_scenario
def _optuna_with_four_jobs(folder: Path) -> Wrong:
    import optuna

    from surefoot.integrations.optuna import SurefootSampler

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    space = {name: optuna.distributions.FloatDistribution(0.0, 1.0) for name in "ab"}
    study = optuna.create_study(sampler=SurefootSampler(space, n_init=4))

    def objective(trial: Any) -> float:
        value = trial.suggest_float("a", 0.0, 1.0) + trial.suggest_float("b", 0.0, 1.0)
        time.sleep(0.2)
        return value

    study.optimize(objective, n_trials=16, n_jobs=4)
    points = [tuple(t.params.values()) for t in study.trials]
    return [("twice", "the sampler proposed a point twice")] * (len(points) - len(set(points)))


def main() -> None:
    """Play one scenario."""
    name, folder = sys.argv[1], Path(sys.argv[2]).resolve()
    try:
        wrong = SCENARIOS[name](folder)
    except BaseException as error:
        wrong = [("raw", f"{type(error).__name__}: {str(error)[:200]}")]
    (folder / "outcome.json").write_text(json.dumps(wrong))
    os._exit(0)  # a run that goes on in a thread has been counted


if __name__ == "__main__":
    main()
