"""`minimize`: starting points, budgets, stopping, progress, seeds."""

import math

import numpy as np
import pytest

from surefoot import minimize
from surefoot.problems import Problem


def bowl(x) -> float:
    return (x[0] - 0.3) ** 2 + (x[1] + 0.2) ** 2


SQUARE = [(-1.0, 1.0), (-1.0, 1.0)]


# --- starting points


def test_x0_is_evaluated_first() -> None:
    result = minimize(bowl, SQUARE, x0=[0.5, -0.5], n_evals=5)
    assert result.x_iters[0].tolist() == [0.5, -0.5]


def test_several_x0_are_evaluated_first_in_their_order() -> None:
    x0 = [[0.5, -0.5], [0.1, 0.2], [-1.0, 1.0]]
    assert [x.tolist() for x in minimize(bowl, SQUARE, x0=x0, n_evals=5).x_iters[:3]] == x0


def test_as_many_x0_as_parameters_are_points_and_not_coordinates() -> None:
    x0 = np.asarray([[0.5, -0.5], [0.1, 0.2]])
    np.testing.assert_array_equal(minimize(bowl, SQUARE, x0=x0, n_evals=2).x_iters, x0)


def test_a_dict_x0_is_evaluated_first() -> None:
    x0 = {"b": 0.25, "a": 0.5}
    assert minimize(lambda p: p["a"], {"a": (0, 1), "b": (0, 1)}, x0=x0, n_evals=3).x_iters[0] == x0


def test_a_number_is_an_x0_of_one_parameter() -> None:
    assert minimize(lambda x: x[0], [(0, 1)], x0=0.25, n_evals=2).x_iters[0].tolist() == [0.25]


def test_x0_counts_among_the_evaluations() -> None:
    assert minimize(bowl, SQUARE, x0=[0.5, -0.5], n_evals=5).nfev == 5


def test_more_x0_than_evaluations_are_cut() -> None:
    assert minimize(bowl, SQUARE, x0=np.zeros((9, 2)) + np.arange(9)[:, None] / 9, n_evals=4).nfev == 4


def test_points_with_known_values_are_not_evaluated_again() -> None:
    seen = []
    x0 = [[0.5, -0.5], [0.1, 0.2]]
    minimize(lambda x: seen.append(x.tolist()) or bowl(x), SQUARE, x0=x0, y0=[7.0, 8.0], n_evals=20, n_init=8)
    assert len(seen) == 18
    assert not [x for x in seen if x in x0]


def test_given_values_are_kept() -> None:
    result = minimize(bowl, SQUARE, x0=[[0.5, -0.5], [0.1, 0.2]], y0=[-7.0, 8.0], n_evals=5)
    assert result.fun == -7.0


def test_a_given_value_that_is_nan_is_a_failure() -> None:
    result = minimize(bowl, SQUARE, x0=[[0.5, -0.5]], y0=[math.nan], n_evals=3)
    assert (result.n_failures, result.history.evaluations[0].status) == (1, "failed")


def test_one_given_point_may_have_its_value_as_a_number() -> None:
    assert minimize(bowl, SQUARE, x0=[0.5, -0.5], y0=-7.0, n_evals=2).func_vals[0] == -7.0


@pytest.mark.parametrize(
    ("x0", "y0"),
    [
        ([[2.0, 0.0]], None),
        ([0.1, 0.2, 0.3], None),
        ([[0.1, 0.2, 0.3]], None),
        (0.5, None),
        ([["a", "b"]], None),
        ([[0.1, 0.2]], [1.0, 2.0]),
        ([[0.1, 0.2]], ["one"]),
        ([[0.1, 0.2]], [None, [1.0, 2.0]]),
        (None, [1.0]),
    ],
    ids=["outside", "flat", "wide", "number", "strings", "more values", "word as value", "ragged", "values only"],
)
def test_bad_starting_points_are_rejected_with_a_three_part_message(x0: object, y0: object, rejects) -> None:
    with rejects():
        minimize(bowl, SQUARE, x0=x0, y0=y0, n_evals=3)


# --- budgets


@pytest.mark.parametrize("n_evals", [1, 4, 8])
def test_a_budget_within_the_design_is_kept(n_evals: int) -> None:
    assert minimize(bowl, SQUARE, n_evals=n_evals, n_init=8).nfev == n_evals


def test_a_budget_within_the_design_is_said_in_the_message() -> None:
    assert "initial design" in minimize(bowl, SQUARE, n_evals=4, n_init=8).message


def test_a_budget_beyond_the_design_does_not_speak_of_it() -> None:
    assert "initial design" not in minimize(bowl, SQUARE, n_evals=9, n_init=8).message


def test_a_history_that_fills_the_budget_is_not_added_to() -> None:
    first = minimize(bowl, SQUARE, n_evals=12)
    assert minimize(bowl, SQUARE, n_evals=12, history=first.history).nfev == 12


@pytest.mark.parametrize("n_evals", [0, -1, 2.5, "10", None, True])
def test_a_bad_budget_is_rejected_with_a_three_part_message(n_evals: object, rejects) -> None:
    with rejects():
        minimize(bowl, SQUARE, n_evals=n_evals)  # type: ignore[arg-type]


def test_something_that_is_not_a_function_is_rejected_with_a_three_part_message(rejects) -> None:
    with rejects():
        minimize(3.0, SQUARE)  # type: ignore[arg-type]


def test_bad_bounds_are_rejected_before_the_function_is_called(rejects) -> None:
    with rejects():
        minimize(lambda x: pytest.fail("called"), [(1.0, 0.0)])


def test_a_history_of_another_space_is_rejected_with_a_three_part_message(rejects) -> None:
    history = minimize(lambda x: x[0], [(0, 1)], n_evals=3).history
    with rejects():
        minimize(bowl, SQUARE, n_evals=5, history=history)


# --- stopping


def test_stopiteration_from_the_callback_stops_the_run() -> None:
    def callback(result) -> None:
        if result.nfev == 7:
            raise StopIteration

    result = minimize(bowl, SQUARE, n_evals=50, callback=callback)
    assert (result.nfev, result.message) == (7, "stopped by the callback")


def test_the_callback_sees_every_evaluation() -> None:
    seen: list[int] = []
    minimize(bowl, SQUARE, n_evals=6, callback=lambda result: seen.append(result.nfev))
    assert seen == [1, 2, 3, 4, 5, 6]


def test_what_a_callback_returns_does_not_stop_the_run() -> None:
    assert minimize(bowl, SQUARE, n_evals=6, callback=lambda result: True).nfev == 6


def test_an_error_in_the_callback_is_the_users_own() -> None:
    def callback(result) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        minimize(bowl, SQUARE, n_evals=6, callback=callback)


# --- progress


def test_progress_prints_the_count(capsys: pytest.CaptureFixture[str]) -> None:
    minimize(bowl, SQUARE, n_evals=5, progress=True)
    assert "5/5" in capsys.readouterr().out


def test_nothing_is_printed_without_progress(capsys: pytest.CaptureFixture[str]) -> None:
    minimize(bowl, SQUARE, n_evals=5)
    assert capsys.readouterr() == ("", "")


def test_progress_shows_failures(capsys: pytest.CaptureFixture[str]) -> None:
    minimize(lambda x: math.nan, SQUARE, n_evals=5, progress=True)
    assert "5 failed" in capsys.readouterr().out


def test_progress_shows_the_best_within_the_limits(capsys: pytest.CaptureFixture[str]) -> None:
    def far(x: np.ndarray) -> dict[str, float]:
        return {"cost": float(x[0]), "load": 1.0 + float(x[0] < 0.0)}

    result = minimize(far, [(-1.0, 1.0)] * 2, n_evals=8, outputs={"load": "<= 1"}, progress=True)
    assert f"best {result.fun:.6g}" in capsys.readouterr().out
    minimize(far, [(-1.0, 1.0)] * 2, n_evals=5, outputs={"load": "<= 0"}, progress=True)
    assert "nothing within the limits yet" in capsys.readouterr().out


# --- seeds


@pytest.mark.bits
def test_the_same_seed_gives_the_same_points(branin: Problem) -> None:
    first, second = (minimize(branin, branin.bounds, n_evals=30, seed=3) for _ in range(2))
    np.testing.assert_array_equal(first.x_iters, second.x_iters)


def test_another_seed_gives_other_points(branin: Problem) -> None:
    first, second = (minimize(branin, branin.bounds, n_evals=25, seed=seed) for seed in (3, 4))
    assert not np.isclose(first.x_iters, second.x_iters).all(axis=1).any()


def test_numpys_global_random_state_is_left_alone(branin: Problem) -> None:
    np.random.seed(5)
    before = np.random.get_state()[1].tolist()  # type: ignore[index]
    minimize(branin, branin.bounds, n_evals=25)
    assert np.random.get_state()[1].tolist() == before  # type: ignore[index]
