"""Whatever ends a run, what has been evaluated is kept and can be reached."""

import threading
from concurrent.futures import CancelledError, Executor, Future, ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from surefoot import Result, minimize
from surefoot.errors import RunStoppedError, TooManyFailuresError
from surefoot.optimize import evaluate as evaluate_module

SQUARE = [(-1.0, 1.0), (-1.0, 1.0)]
WARNS = pytest.mark.filterwarnings("ignore::surefoot.errors.SurefootWarning")


def bowl(x: Any) -> float:
    return float((x[0] - 0.3) ** 2 + (x[1] + 0.2) ** 2)


def raising_at(n: int, error: BaseException) -> Any:
    """A callback that raises after n evaluations."""

    def callback(result: Result) -> None:
        if result.nfev == n:
            raise error

    return callback


# --- exceptions carry the result


@pytest.mark.parametrize("kind", [ZeroDivisionError, SystemExit, GeneratorExit, CancelledError])
def test_what_the_callback_raises_comes_out_with_the_result(kind: type[BaseException]) -> None:
    with pytest.raises(kind) as caught:
        minimize(bowl, SQUARE, n_evals=9, callback=raising_at(5, kind("mine")))
    assert caught.value.result.nfev == 5  # type: ignore[attr-defined]
    assert "result" in caught.value.__notes__[0]


def test_the_result_of_an_exception_can_be_continued() -> None:
    with pytest.raises(ZeroDivisionError) as caught:
        minimize(bowl, SQUARE, n_evals=20, n_init=8, callback=raising_at(11, ZeroDivisionError()))
    history = caught.value.result.history  # type: ignore[attr-defined]
    whole = minimize(bowl, SQUARE, n_evals=20, n_init=8)
    np.testing.assert_array_equal(minimize(bowl, SQUARE, n_evals=20, n_init=8, history=history).x_iters, whole.x_iters)


def test_a_keyboard_interrupt_in_the_callback_ends_the_run_with_the_result() -> None:
    result = minimize(bowl, SQUARE, n_evals=9, callback=raising_at(5, KeyboardInterrupt()))
    assert (result.nfev, "interrupted" in result.message) == (5, True)


def test_sys_exit_in_the_function_comes_out_with_the_result() -> None:
    calls = []

    def fun(x: Any) -> float:
        calls.append(x)
        if len(calls) == 4:
            raise SystemExit(3)
        return bowl(x)

    with pytest.raises(SystemExit) as caught:
        minimize(fun, SQUARE, n_evals=9)
    assert caught.value.code == 3
    assert caught.value.result.nfev == 3  # type: ignore[attr-defined]


def test_an_exception_with_a_result_of_its_own_is_the_cause_of_ours() -> None:
    def callback(result: Result) -> None:
        if result.nfev == 3:
            minimize(lambda x: float("nan"), SQUARE, n_evals=9, max_failures=2)

    with pytest.raises(RunStoppedError) as caught:
        minimize(bowl, SQUARE, n_evals=9, callback=callback)
    assert caught.value.result.nfev == 3
    assert isinstance(caught.value.__cause__, TooManyFailuresError)
    assert caught.value.__cause__.result.nfev == 2


class StubbornError(Exception):
    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("no")

    def __str__(self) -> str:
        raise ValueError("no")


def test_an_exception_that_takes_no_attribute_is_the_cause_of_ours() -> None:
    with pytest.raises(RunStoppedError) as caught:
        minimize(bowl, SQUARE, n_evals=9, callback=raising_at(4, StubbornError()))
    assert caught.value.result.nfev == 4
    assert isinstance(caught.value.__cause__, StubbornError)


def test_too_many_failures_come_with_all_of_them() -> None:
    with pytest.raises(TooManyFailuresError) as caught:
        minimize(lambda x: float("nan"), SQUARE, n_evals=9, max_failures=4)
    assert caught.value.result.nfev == 4


# --- values and exceptions that raise when they are looked at


class Unreadable:
    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError("not now")


def _raise(error: BaseException) -> Any:
    raise error


@pytest.mark.parametrize("make", [Unreadable, lambda: _raise(StubbornError())], ids=["value", "exception"])
@pytest.mark.parametrize("isolate", [None, "process"])
def test_a_value_or_exception_that_cannot_be_read_is_a_failed_evaluation(make: Any, isolate: str | None) -> None:
    result = minimize(lambda x: make() if x[0] > 0 else bowl(x), SQUARE, n_evals=8, n_init=8, isolate=isolate)
    assert result.nfev == 8
    assert result.n_failures == sum(x[0] > 0 for x in result.x_iters) > 0


# --- the machine


def test_a_process_that_cannot_be_started_once_costs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    real, calls = evaluate_module._call, []

    def failing_once(*arguments: Any) -> Any:
        calls.append(arguments)
        if len(calls) == 3:
            raise BlockingIOError("no more processes")
        return real(*arguments)

    monkeypatch.setattr(evaluate_module, "_call", failing_once)
    result = minimize(bowl, SQUARE, n_evals=5)
    assert (result.nfev, result.n_failures) == (5, 0)


def test_a_process_that_can_never_be_started_teaches_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evaluate_module, "_call", lambda *arguments: _raise(BlockingIOError("no more processes")))
    result = minimize(bowl, SQUARE, n_evals=2, n_retries=0)
    assert [e.status for e in result.history.evaluations] == ["transient"] * 2


# --- executors


def until_shut(executor: Executor, n: int, **options: Any) -> Any:
    """A callback that shuts the executor down after n evaluations."""

    def callback(result: Result) -> None:
        if result.nfev == n:
            executor.shutdown(**options)

    return callback


@WARNS
@pytest.mark.parametrize("options", [{"wait": False}, {"wait": False, "cancel_futures": True}], ids=str)
def test_an_executor_that_is_shut_down_loses_nothing_that_ended(options: dict) -> None:
    ended = []

    def fun(x: Any) -> float:
        ended.append(tuple(x))
        return bowl(x)

    executor = ThreadPoolExecutor(3)
    with pytest.warns(match="expected an executor that takes work"):
        result = minimize(
            fun, SQUARE, n_evals=30, n_init=8, executor=executor, callback=until_shut(executor, 6, **options)
        )
    assert "workers were lost" in result.message
    kept = {tuple(x) for x, e in zip(result.x_iters, result.history.evaluations, strict=True) if e.ok}
    assert kept == set(ended)
    assert len(kept) >= 6


class Cancelling(ThreadPoolExecutor):
    """Calls off every fifth piece of work."""

    n = 0

    def submit(self, *arguments: Any, **keywords: Any) -> Future[Any]:
        self.n += 1
        if self.n % 5:
            return super().submit(*arguments, **keywords)
        future: Future[Any] = Future()
        future.cancel()
        future.set_running_or_notify_cancel()
        return future


class Silent(Cancelling):
    """Calls off as `shutdown(cancel_futures=True)` does what is in its queue: whoever waits is not told."""

    def submit(self, *arguments: Any, **keywords: Any) -> Future[Any]:
        future = ThreadPoolExecutor.submit(self, *arguments, **keywords) if self.n % 4 else Future()
        self.n += 1
        future.cancel()
        return future


def test_an_evaluation_that_was_cancelled_without_a_word_is_not_waited_for() -> None:
    with Silent(2) as executor:
        result = minimize(bowl, SQUARE, n_evals=8, n_init=8, executor=executor)
    assert result.nfev == 8
    assert [e.status for e in result.history.evaluations].count("transient") >= 2


def test_a_cancelled_evaluation_is_lost_alone_and_teaches_nothing() -> None:
    with Cancelling(2) as executor:
        result = minimize(bowl, SQUARE, n_evals=15, n_init=8, executor=executor)
    assert [e.status for e in result.history.evaluations].count("transient") == 3
    assert result.nfev == 15


def test_what_a_callback_raises_in_a_parallel_run_comes_out_with_the_result() -> None:
    with ThreadPoolExecutor(3) as executor, pytest.raises(ZeroDivisionError) as caught:
        minimize(bowl, SQUARE, n_evals=30, n_init=8, executor=executor, callback=raising_at(7, ZeroDivisionError()))
    assert caught.value.result.nfev >= 7  # type: ignore[attr-defined]


def test_an_interrupt_while_a_value_is_kept_keeps_it_once() -> None:
    """The signal may come between any two steps: what is pending is told, what is told is not told again."""
    barrier = threading.Barrier(2, timeout=60.0)

    def fun(x: Any) -> float:
        barrier.wait()
        return bowl(x)

    with ThreadPoolExecutor(2) as executor:
        result = minimize(
            fun, SQUARE, n_evals=6, n_init=8, executor=executor, callback=raising_at(3, KeyboardInterrupt())
        )
    assert len({tuple(x) for x in result.x_iters}) == result.nfev


@WARNS
@pytest.mark.parametrize("what", ["cluster", "client"])
def test_a_dask_cluster_that_is_closed_loses_nothing_that_ended(what: str) -> None:
    distributed = pytest.importorskip("distributed")
    ended: list[float] = []
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=2, processes=False, dashboard_address="127.0.0.1:0", silence_logs=50
    ) as cluster:
        client = distributed.Client(cluster, set_as_default=False)

        def callback(result: Result) -> None:
            ended[:] = result.func_vals.tolist()
            if result.nfev == 6:
                (cluster if what == "cluster" else client).close()

        with pytest.warns(match="expected an executor"):
            result = minimize(bowl, SQUARE, n_evals=30, n_init=8, executor=client.get_executor(), callback=callback)
        client.close()
    assert "workers were lost" in result.message
    np.testing.assert_array_equal(result.func_vals[: len(ended)], ended)
    assert np.isfinite(result.func_vals[:6]).all()


class Foreign:
    def submit(self, *arguments: Any) -> object:
        return object()


def test_an_executor_with_futures_of_its_own_is_refused(rejects: Any) -> None:
    with rejects():
        minimize(bowl, SQUARE, n_evals=3, executor=Foreign())  # type: ignore[arg-type]


# --- arguments that would loop for ever


@pytest.mark.parametrize("name", ["n_workers", "n_retries", "timeout", "memory_limit_mb", "max_failures", "n_init"])
@pytest.mark.parametrize("value", [-3, True, float("nan"), "2", 1j, [2]], ids=str)
def test_a_number_that_makes_no_sense_is_refused(name: str, value: Any, rejects: Any) -> None:
    with ThreadPoolExecutor(1) as executor, rejects():
        minimize(bowl, SQUARE, n_evals=3, executor=executor, **{name: value})


@pytest.mark.parametrize("value", [0, 1.5])
def test_no_workers_or_a_part_of_one_are_refused(value: Any, rejects: Any) -> None:
    with ThreadPoolExecutor(1) as executor, rejects():
        minimize(bowl, SQUARE, n_evals=3, executor=executor, n_workers=value)
