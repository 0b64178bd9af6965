"""Parallel evaluation with any concurrent.futures.Executor."""

import multiprocessing
import os
import threading
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import pytest

from surefoot import Categorical, Integer, minimize
from surefoot.errors import InvalidInputError

SQUARE = [(-1.0, 1.0), (-1.0, 1.0)]


def bowl(x) -> float:
    return float((x[0] - 0.3) ** 2 + (x[1] + 0.2) ** 2)


def fails_on_the_right(x) -> float:
    if x[0] > 0.5:
        raise ArithmeticError("diverged")
    return bowl(x)


def dies_on_the_right(x) -> float:
    if x[0] > 0.5:
        os._exit(7)
    return bowl(x)


def process_pool() -> ProcessPoolExecutor:
    # forked workers know the functions of this file, which is not importable by name
    return ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("fork"))


@pytest.fixture(params=["threads", "processes"], name="executor")
def _executor(request: pytest.FixtureRequest) -> Iterator[Executor]:
    with ThreadPoolExecutor(3) if request.param == "threads" else process_pool() as executor:
        yield executor


def test_the_budget_is_kept_exactly(executor: Executor) -> None:
    assert minimize(bowl, SQUARE, n_evals=21, n_init=8, executor=executor).nfev == 21


def test_the_minimum_is_found(executor: Executor) -> None:
    assert minimize(bowl, SQUARE, n_evals=40, n_init=10, executor=executor).fun < 1e-4


def test_values_belong_to_their_points(executor: Executor) -> None:
    result = minimize(bowl, SQUARE, n_evals=21, n_init=8, executor=executor)
    assert [bowl(x) for x in result.x_iters] == result.func_vals.tolist()


def test_exceptions_in_workers_are_failures_with_reasons(executor: Executor) -> None:
    result = minimize(fails_on_the_right, SQUARE, n_evals=20, n_init=8, executor=executor)
    reasons = {row["reason"] for row in result.table() if row["status"] == "failed"}
    assert result.nfev == 20
    assert reasons == {"ArithmeticError: diverged"}


def test_points_in_parallel_are_all_different(executor: Executor, closest_pair) -> None:
    result = minimize(bowl, SQUARE, n_evals=30, n_init=8, executor=executor, n_workers=5, noise=0)
    assert closest_pair(result.space, result.x_iters) > 1e-8


def test_given_points_are_evaluated(executor: Executor) -> None:
    x0 = [[0.5, -0.5], [0.1, 0.2]]
    result = minimize(bowl, SQUARE, x0=x0, n_evals=12, n_init=8, executor=executor)
    assert all(x in [p.tolist() for p in result.x_iters] for x in x0)


def test_the_callback_can_stop_a_parallel_run(executor: Executor) -> None:
    def callback(result) -> None:
        if result.nfev >= 7:
            raise StopIteration

    result = minimize(bowl, SQUARE, n_evals=30, n_init=8, executor=executor, callback=callback)
    assert result.message == "stopped by the callback"
    assert 7 <= result.nfev <= 7 + 3  # what had ended beside it is kept


def test_a_finite_space_ends_in_parallel(executor: Executor) -> None:
    result = minimize(sum_of, [Integer(0, 3), Integer(0, 2)], n_evals=40, n_init=4, executor=executor)
    assert len({tuple(x) for x in result.x_iters}) == result.nfev == 12


def sum_of(x) -> float:
    return float(sum(x))


def test_as_many_evaluations_run_at_once_as_there_are_workers() -> None:
    barrier = threading.Barrier(3, timeout=30.0)

    def fun(x) -> float:
        barrier.wait()  # passed only when three are under way
        return bowl(x)

    with ThreadPoolExecutor(3) as executor:
        assert minimize(fun, SQUARE, n_evals=12, n_init=6, executor=executor).n_failures == 0


def test_no_more_evaluations_run_at_once_than_workers_are_asked_for() -> None:
    lock, running, most = threading.Lock(), 0, 0

    def fun(x) -> float:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        threading.Event().wait(0.01)
        with lock:
            running -= 1
        return bowl(x)

    with ThreadPoolExecutor(8) as executor:
        minimize(fun, SQUARE, n_evals=16, n_init=8, executor=executor, n_workers=2)
    assert most <= 2


@pytest.mark.parametrize("seed", range(4))
def test_a_given_point_under_way_is_not_evaluated_twice(seed: int) -> None:
    with ThreadPoolExecutor(4) as executor:
        result = minimize(
            lambda x: threading.Event().wait(0.005) or float(x[0]),
            [Integer(0, 3), Categorical("ab")],
            x0=[[1, "a"], [2, "b"]],
            n_evals=8,
            n_init=4,
            seed=seed,
            executor=executor,
        )
    assert len({tuple(x) for x in result.x_iters}) == result.nfev


def test_a_function_that_cannot_be_sent_is_said_at_once() -> None:
    # "Can't pickle <function …" or, from Python 3.13 on, "Can't get local object …"
    with process_pool() as executor, pytest.raises(InvalidInputError, match=r"can be sent to the workers.*Can't"):
        minimize(lambda x: 1.0, SQUARE, n_evals=3, executor=executor)


@pytest.mark.filterwarnings("ignore::surefoot.errors.SurefootWarning")
def test_a_worker_that_dies_ends_in_a_recorded_failure() -> None:
    with process_pool() as executor:
        result = minimize(dies_on_the_right, SQUARE, n_evals=20, n_init=8, executor=executor)
    reasons = [row["reason"] for row in result.table() if row["status"] == "transient"]
    assert reasons
    assert all("BrokenProcessPool" in reason for reason in reasons)


@pytest.mark.filterwarnings("ignore::surefoot.errors.SurefootWarning")
def test_a_worker_that_dies_loses_nothing_that_was_finished() -> None:
    finished: list[float] = []

    def callback(result) -> None:
        finished[:] = result.func_vals.tolist()

    with process_pool() as executor:  # one at a time: what has finished before the death is then certain
        settings = {"executor": executor, "n_workers": 1, "x0": [[-0.5, 0.0], [0.0, 0.5]], "callback": callback}
        result = minimize(dies_on_the_right, SQUARE, n_evals=20, n_init=8, **settings)
    np.testing.assert_array_equal(result.func_vals[: len(finished)], finished)
    assert result.nfev >= len(finished) >= 2


def test_a_point_that_finished_beside_the_stopping_one_is_kept() -> None:
    barrier = threading.Barrier(2, timeout=30.0)
    evaluated: list[list[float]] = []

    def fun(x) -> float:
        barrier.wait()
        evaluated.append(x.tolist())
        barrier.wait()  # both end at the same time
        return bowl(x)

    def callback(result) -> None:
        threading.Event().wait(0.05)  # the other one is certainly done now
        raise StopIteration

    with ThreadPoolExecutor(2) as executor:
        result = minimize(fun, SQUARE, n_evals=10, n_init=8, executor=executor, callback=callback)
    assert sorted(x.tolist() for x in result.x_iters) == sorted(evaluated)
