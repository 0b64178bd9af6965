"""Points given as x0 in a run that is stopped and goes on: none is evaluated twice, none is lost."""

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from surefoot import History, minimize
from surefoot.errors import TooManyFailuresError

BOUNDS = {"a": (0.0, 1.0), "b": (0.0, 1.0)}
GIVEN = [{"a": 0.1 * i, "b": 0.5} for i in range(1, 6)]


def points(history: History) -> list[tuple]:
    return [e.x for e in history.evaluations]


def bowl(x: dict) -> float:
    return (x["a"] - 0.4) ** 2 + x["b"]


def stopping_after(n: int, path: Path):
    def callback(result) -> None:
        result.save(path)
        if result.nfev == n:
            raise StopIteration

    return callback


@pytest.mark.parametrize("again", [False, True], ids=["x0 not given again", "x0 given again"])
@pytest.mark.parametrize("n", [2, 5, 7])
def test_a_run_stopped_among_given_points_goes_on_as_if_it_had_not_been(n: int, again: bool, tmp_path: Path) -> None:
    options = {"n_evals": 9, "seed": 1, "n_init": 7}
    whole = minimize(bowl, BOUNDS, x0=GIVEN, **options)
    minimize(bowl, BOUNDS, x0=GIVEN, callback=stopping_after(n, tmp_path / "run.json"), **options)
    resumed = minimize(bowl, resume=tmp_path / "run.json", x0=GIVEN if again else None, n_evals=9)
    assert points(resumed.history) == points(whole.history)


def test_given_values_are_told_once(tmp_path: Path) -> None:
    values = [bowl(x) for x in GIVEN]
    first = minimize(bowl, BOUNDS, x0=GIVEN, y0=values, n_evals=7, n_init=6)
    first.save(tmp_path / "run.json")
    second = minimize(bowl, resume=tmp_path / "run.json", x0=GIVEN, y0=values, n_evals=8)
    assert points(second.history)[:7] == points(first.history)
    assert second.nfev == 8


def test_a_given_point_at_which_the_run_was_interrupted_is_not_lost(tmp_path: Path) -> None:
    def interrupted(x: dict) -> float:
        if x["a"] == GIVEN[2]["a"]:
            raise KeyboardInterrupt
        return bowl(x)

    stopped = minimize(interrupted, BOUNDS, x0=GIVEN, n_evals=9, n_init=7)
    assert len(stopped.queue) == 3
    stopped.save(tmp_path / "run.json")
    resumed = minimize(bowl, resume=tmp_path / "run.json", n_evals=9)
    assert points(resumed.history) == points(minimize(bowl, BOUNDS, x0=GIVEN, n_evals=9, n_init=7).history)


def test_an_error_in_the_callback_loses_no_given_point() -> None:
    def callback(result) -> None:
        if result.nfev == 2:
            raise RuntimeError("the disk is full")

    with pytest.raises(RuntimeError) as caught:
        minimize(bowl, BOUNDS, x0=GIVEN, n_evals=9, callback=callback)
    assert [x[0] for x in caught.value.result.queue] == [x["a"] for x in GIVEN[2:]]


def test_given_points_under_way_on_workers_are_not_lost(tmp_path: Path) -> None:
    ended = threading.Event()

    def slow_first(x: dict) -> float:
        if x["a"] == GIVEN[0]["a"]:
            ended.wait(60.0)
        return bowl(x)

    with ThreadPoolExecutor(2) as pool:
        stop = stopping_after(2, tmp_path / "run.json")
        stopped = minimize(slow_first, BOUNDS, x0=GIVEN, n_evals=9, executor=pool, callback=stop)
        ended.set()
    expected = [GIVEN[i]["a"] for i in (0, 3, 4)]
    assert [x[0] for x in stopped.queue] == expected
    saved = minimize(bowl, resume=tmp_path / "run.json", n_evals=9)  # as a kill would have left it
    assert [x[0] for x in points(saved.history)][2:5] == expected


def test_the_failure_that_ends_a_run_is_saved_before(tmp_path: Path) -> None:
    def hopeless(x: dict) -> float:
        raise ArithmeticError("no license")

    def run() -> int:
        path = tmp_path / "run.json"
        with pytest.raises(TooManyFailuresError):
            minimize(
                hopeless,
                BOUNDS,
                n_evals=20,
                max_failures=3,
                resume=path if path.exists() else None,
                callback=lambda result: result.save(path),
            )
        return len(History.load(path))

    assert run() == 3
    assert run() == 4
