"""Evaluations that fail: recorded with their reasons, learned from, never repeated."""

import math
import re
import warnings
from typing import Any

import numpy as np
import pytest

from surefoot import Integer, Optimizer, minimize
from surefoot.errors import InvalidInputError

SQUARE = [(-1.0, 1.0), (-1.0, 1.0)]


def bowl(x) -> float:
    return (x[0] - 0.3) ** 2 + (x[1] + 0.2) ** 2


class MeshError(Exception):
    pass


def _raise(error: BaseException) -> Any:
    raise error


KINDS = {
    "exception": (lambda: _raise(MeshError("cell 7 collapsed")), "MeshError: cell 7 collapsed"),
    "exception without a message": (lambda: _raise(ZeroDivisionError()), "ZeroDivisionError"),
    "StopIteration": (lambda: _raise(StopIteration()), "StopIteration"),
    "MemoryError": (lambda: _raise(MemoryError()), "MemoryError"),
    "nan": (lambda: math.nan, "nan"),
    "inf": (lambda: math.inf, "inf"),
    "minus inf": (lambda: -math.inf, "-inf"),
    "numpy nan": (lambda: np.float32(np.nan), "nan"),
    "None": (lambda: None, "None"),
    "string": (lambda: "0.5", "'0.5'"),
    "boolean": (lambda: True, "True"),
    "complex": (lambda: 1j, "complex"),
    "array": (lambda: np.zeros(3), "(3,)"),
    "empty array": (lambda: np.zeros(0), "(0,)"),
    "a masked value": (lambda: np.ma.masked, "masked"),
    "ragged list": (lambda: [1.0, [2.0, 3.0]], "ragged"),
    "two outputs and no objective": (lambda: {"loss": 1.0, "mass": 2.0}, "loss, mass"),
    "no outputs": (lambda: {}, "got none; try"),
    "an output that is no number": (lambda: {"value": "light", "mass": 1.0}, "'light'"),
    "outputs without names": (lambda: {1: 1.0}, "names as text"),
    "an integer beyond float": (lambda: 10**400, "not one real number"),
}


@pytest.mark.parametrize(("make", "reason"), KINDS.values(), ids=KINDS)
def test_a_failure_is_recorded_with_its_reason(make: Any, reason: str) -> None:
    result = minimize(lambda x: make(), SQUARE, n_evals=1)
    (evaluation,) = result.history.evaluations
    assert evaluation.status == "failed"
    assert reason in evaluation.reason


@pytest.mark.parametrize(("make", "reason"), KINDS.values(), ids=KINDS)
def test_a_failure_in_the_middle_does_not_end_the_run(make: Any, reason: str) -> None:
    result = minimize(lambda x: make() if x[0] > 0.5 else bowl(x), SQUARE, n_evals=14, n_init=8)
    assert (result.nfev, result.success) == (14, True)
    assert result.n_failures == sum(x[0] > 0.5 for x in result.x_iters) > 0


def test_the_value_of_a_failure_is_nan() -> None:
    result = minimize(lambda x: -math.inf, SQUARE, n_evals=2)
    assert np.isnan(result.func_vals).all()


def test_minus_infinity_is_not_the_best_value() -> None:
    result = minimize(lambda x: -math.inf if x[0] > 0.5 else bowl(x), SQUARE, n_evals=12, n_init=8)
    assert math.isfinite(result.fun)


def test_numpy_warnings_made_errors_are_failures_with_a_reason() -> None:
    def fun(x) -> float:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            return float(np.log(np.float64(-1.0)))

    assert "RuntimeWarning" in minimize(fun, SQUARE, n_evals=1).history.evaluations[0].reason


def disc(x) -> float:
    """Fails in the disc that holds the unconstrained minimum."""
    if (x[0] - 0.3) ** 2 + (x[1] + 0.2) ** 2 < 0.1:
        raise MeshError("inside")
    return bowl(x)


@pytest.mark.parametrize("settings", [{}, {"search": "paper"}, {"failures": "ignore"}, {"policy": "LCB"}], ids=str)
def test_failed_points_are_never_proposed_again(settings: dict, closest_pair) -> None:
    result = minimize(disc, SQUARE, n_evals=40, n_init=10, noise=0, **settings)
    assert result.n_failures > 0
    assert closest_pair(result.space, result.x_iters) > 1e-8


@pytest.mark.parametrize("learn", [True, False], ids=["learning", "not learning"])
def test_failed_points_are_never_proposed_again_by_a_noisy_run(learn: bool) -> None:
    rng = np.random.default_rng(0)

    def fun(x) -> float:
        if x[0] + x[1] < 1.0:
            raise MeshError
        return x[0] + x[1] + 0.3 * rng.standard_normal()

    settings = {"n_init": 10, "noise": 0.3, "policy": "MN", "failures": "label-regression" if learn else "ignore"}
    result = minimize(fun, [(0.0, 1.0), (0.0, 1.0)], n_evals=40, **settings)
    failed = [tuple(x) for x, y in zip(result.x_iters, result.func_vals, strict=True) if math.isnan(y)]
    assert len(failed) > 0
    assert len(set(failed)) == len(failed)


def test_failed_points_of_a_discrete_space_are_never_proposed_again() -> None:
    def fun(x) -> float:
        return math.nan if x[0] % 3 == 0 else (x[0] - 11) ** 2 + x[1]

    result = minimize(fun, [Integer(0, 20), Integer(0, 2)], n_evals=60, n_init=10)
    assert len({tuple(x) for x in result.x_iters}) == 60


def test_the_minimum_beside_a_failing_region_is_found() -> None:
    result = minimize(disc, SQUARE, n_evals=60, noise=0)
    assert result.fun == pytest.approx(0.1, abs=2e-3)


def half_plane(x) -> float:
    """Fails on the side where a bumpy bowl has its lesser minimum."""
    if x[0] < -0.3:
        raise MeshError("left")
    return bowl(x) + 0.3 * float(np.cos(6.0 * x[0]))


def test_learning_from_failures_reduces_them() -> None:
    counts = [
        sum(
            minimize(
                half_plane, SQUARE, n_evals=40, n_init=10, seed=s, failures="label-regression" if learn else "ignore"
            ).n_failures
            for s in range(3)
        )
        for learn in (True, False)
    ]
    assert counts[0] < counts[1]


# --- nothing succeeds


@pytest.fixture(scope="module", name="hopeless")
def _hopeless():
    return minimize(lambda x: _raise(MeshError("no mesh")), SQUARE, n_evals=20, n_init=8)


def test_a_run_without_any_success_uses_its_budget(hopeless) -> None:
    assert (hopeless.nfev, hopeless.n_failures) == (20, 20)


def test_a_run_without_any_success_is_none(hopeless) -> None:
    assert hopeless.success is False


def test_a_run_without_any_success_has_no_best_point(hopeless) -> None:
    assert hopeless.x is None
    assert math.isnan(hopeless.fun)


def test_a_run_without_any_success_has_no_model_and_says_why(hopeless, rejects) -> None:
    with rejects():
        hopeless.model.predict([[0.0, 0.0]])


def test_a_run_without_any_success_still_spreads_its_points(hopeless, closest_pair) -> None:
    assert closest_pair(hopeless.space, hopeless.x_iters) > 1e-2


def test_a_run_without_any_success_can_be_shown(hopeless) -> None:
    assert "False" in repr(hopeless)
    assert len(hopeless.table()) == 20


def test_a_first_success_after_many_failures_is_built_on() -> None:
    seen = []

    def fun(x) -> float:
        seen.append(x)
        if len(seen) <= 15:
            raise MeshError
        return bowl(x)

    assert minimize(fun, SQUARE, n_evals=45, n_init=8).fun < 1e-3


# --- the user's own interruptions


def test_a_keyboard_interrupt_keeps_every_finished_evaluation() -> None:
    seen = []

    def fun(x) -> float:
        if len(seen) == 13:
            raise KeyboardInterrupt
        seen.append(x)
        return bowl(x)

    result = minimize(fun, SQUARE, n_evals=50, n_init=8)
    assert result.nfev == 13
    np.testing.assert_array_equal(result.x_iters, seen)


def test_a_keyboard_interrupt_is_said_in_the_message() -> None:
    assert "interrupted" in minimize(lambda x: _raise(KeyboardInterrupt()), SQUARE, n_evals=5).message


def test_a_keyboard_interrupt_before_any_evaluation_gives_an_empty_result() -> None:
    result = minimize(lambda x: _raise(KeyboardInterrupt()), SQUARE, n_evals=5)
    assert (result.nfev, result.success, result.x) == (0, False, None)


def test_systemexit_passes_through() -> None:
    with pytest.raises(SystemExit):
        minimize(lambda x: _raise(SystemExit(3)), SQUARE, n_evals=5)


def test_a_budget_of_failures_raises_the_bar_as_it_is_used_up():
    def bar(n_failed, **settings):
        optimizer = Optimizer([(0.0, 1.0), (0.0, 1.0)], **settings)
        for i in range(12):
            optimizer.tell([0.04 * i, (0.37 * i) % 1.0], float(i))
        for i in range(n_failed):
            optimizer.tell_failure([0.9 + 0.01 * i, (0.53 * i) % 1.0], "no")
        weight = optimizer.result().model.fitted.success
        return np.exp(weight._log_least(np.zeros(1))).item() if weight.least else 0.0

    plain = bar(5)
    assert bar(5, failure_budget=1000) == pytest.approx(plain, rel=1e-3)
    assert plain < bar(5, failure_budget=10) < bar(9, failure_budget=10)
    assert bar(5, failure_budget=5) / plain == pytest.approx(0.95 / 0.7)
    assert bar(5, failure_budget=5, min_success=0.0) == 0.0
    assert bar(5, failure_budget=2, min_success=0.97) == pytest.approx(0.97)


@pytest.mark.parametrize(
    ("fun", "said"),
    [
        (lambda x: "12 kg", "returns a number or a dict of numbers; got one where the function returned '12 kg'"),
        (lambda x: {"mass": "12 kg"}, "expected a number for each output; got mass, where 'mass' is '12 kg'"),
    ],
)
def test_a_function_that_never_returns_a_number_is_not_asked_all_the_time(fun, said):
    with pytest.raises(InvalidInputError, match=re.escape(said)) as caught:
        minimize(fun, SQUARE, n_evals=100)
    assert caught.value.result.nfev == 5


async def coroutine(x):
    return 1.0


@pytest.mark.parametrize("fun", [lambda a, b: a + b, lambda: 1.0, coroutine], ids=["two", "none", "coroutine"])
def test_a_function_that_cannot_be_called_so_is_refused_before_the_first_evaluation(fun):
    with pytest.raises(InvalidInputError, match=r"expected a function .*; got .*; try "):
        minimize(fun, SQUARE, n_evals=10)


def test_a_result_without_a_success_says_why():
    result = minimize(lambda x: None, SQUARE, n_evals=6)
    said = "nothing succeeded; most often: the function returned None, not a number (6)"
    assert said in " ".join(repr(result).split())


def test_a_failure_among_repeats_does_not_keep_the_search_on_their_spot() -> None:
    rng = np.random.default_rng(0)
    optimizer = Optimizer({"a": (0, 1), "b": (0, 1)}, seed=1)
    for _ in range(6):
        optimizer.tell({"a": 0.5, "b": 0.5}, 0.18 + 0.01 * rng.standard_normal())
    optimizer.tell_failure({"a": 0.5, "b": 0.5}, "diverged")
    far = 0
    for _ in range(6):
        x = optimizer.ask()
        far += max(abs(x["a"] - 0.5), abs(x["b"] - 0.5)) > 0.05
        optimizer.tell(x, (x["a"] - 0.8) ** 2 + (x["b"] - 0.2) ** 2 + 0.01 * rng.standard_normal())
    assert far >= 2
