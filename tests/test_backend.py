"""What the backend promises beside linear algebra: threads of BLAS while the engine works."""

import threading

from threadpoolctl import threadpool_info, threadpool_limits

from surefoot.backend import SERIAL_BELOW, engine


def blas_threads() -> set[int]:
    return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}


def enter_and_leave_crosswise(n: int) -> tuple[set[int], set[int]]:
    """The first enters, the second enters, the first leaves, the second leaves: threads after each leaves."""
    first_is_in, second_is_in, first_is_out = (threading.Event() for _ in range(3))
    between: list[set[int]] = []

    def first() -> None:
        with engine(n):
            first_is_in.set()
            second_is_in.wait(60)
        first_is_out.set()

    def second() -> None:
        first_is_in.wait(60)
        with engine(n):
            second_is_in.set()
            first_is_out.wait(60)
            between.append(blas_threads())

    threads = [threading.Thread(target=work) for work in (first, second)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return between[0], blas_threads()


def test_two_suggestions_at_a_time_give_blas_its_threads_back() -> None:
    with threadpool_limits(limits=2, user_api="blas"):
        _, after = enter_and_leave_crosswise(10)
        assert after == {2}


def test_a_suggestion_keeps_its_one_thread_when_another_ends() -> None:
    with threadpool_limits(limits=2, user_api="blas"):
        between, _ = enter_and_leave_crosswise(10)
        assert between == {1}


def test_large_matrices_get_all_threads() -> None:
    with threadpool_limits(limits=2, user_api="blas"), engine(SERIAL_BELOW):
        assert blas_threads() == {2}
