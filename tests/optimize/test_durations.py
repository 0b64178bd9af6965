"""Failures that are much quicker or slower than successes are told."""

import math

import pytest

from surefoot import Evaluation, History
from surefoot.optimize.durations import duration_note, failure_cost


def history(failed: list[float], ok: list[float]) -> History:
    failures = [Evaluation((0.1,), math.nan, "failed", "no mesh", t) for t in failed]
    return History((*failures, *(Evaluation((0.5,), 1.0, duration_s=t) for t in ok)))


def test_the_ratio_is_that_of_the_medians() -> None:
    assert failure_cost(history([0.2] * 4 + [900.0], [30.0, 35.0, 35.0, 40.0, 1e5])) == pytest.approx(0.2 / 35.0)


def test_a_large_difference_is_a_sentence() -> None:
    assert duration_note(history([0.2] * 5, [35.0] * 5)) == "failures take 200 ms, successes 35 s (medians)"
    assert duration_note(history([60.0] * 5, [2.0] * 9)) == "failures take 60 s, successes 2 s (medians)"


@pytest.mark.parametrize(
    ("failed", "ok"),
    [
        ([1.0] * 5, [2.9] * 5),  # not much of a difference
        ([1.0] * 4, [35.0] * 50),  # too few failures
        ([1.0] * 50, [35.0] * 4),
        ([1e-5] * 9, [9e-3] * 9),  # no time at all
        ([], [1.0] * 9),
        ([], []),
        ([math.nan] * 9, [1.0] * 9),  # points that were given have no durations
        ([1.0] * 4 + [math.nan] * 9, [35.0] * 9),
    ],
)
def test_nothing_is_said_without_enough_data_or_a_clear_difference(failed: list[float], ok: list[float]) -> None:
    assert duration_note(history(failed, ok)) == ""


def test_durations_of_zero_give_a_finite_ratio() -> None:
    assert failure_cost(history([1.0] * 5, [0.0] * 5)) == pytest.approx(1e6)
    assert failure_cost(history([0.0] * 5, [1.0] * 5)) == pytest.approx(1e-6)


def test_evaluations_lost_to_the_machine_do_not_count() -> None:
    lost = tuple(Evaluation((0.1,), math.nan, "transient", "worker lost", 3600.0) for _ in range(9))
    assert failure_cost(History((*history([], [1.0] * 9).evaluations, *lost))) is None
