"""Ask and tell."""

import math

import numpy as np
import pytest

from surefoot import Categorical, Integer, Optimizer, problems
from surefoot.errors import InvalidInputError, SpaceExhaustedError

SQUARE = [(-1.0, 1.0), (-1.0, 1.0)]


def bowl(x) -> float:
    return float((x[0] - 0.3) ** 2 + (x[1] + 0.2) ** 2)


def told(n: int, fun=bowl, bounds=SQUARE, **settings) -> Optimizer:
    """An optimizer that has been asked and told n times."""
    opt = Optimizer(bounds, **settings)
    for _ in range(n):
        x = opt.ask()
        opt.tell(x, fun(x))
    return opt


# --- asking


@pytest.mark.parametrize("n_told", [0, 9, 20])
@pytest.mark.parametrize("policy", ["alternate", "LCB", "MES", "MN", "RND"])
def test_twenty_asks_without_an_answer_are_all_different(policy: str, n_told: int, closest_pair) -> None:
    opt = told(n_told, n_init=10, policy=policy, noise=0)
    assert closest_pair(opt.space, [opt.ask() for _ in range(20)]) > 1e-8


@pytest.mark.parametrize("policy", ["alternate", "LCB", "MN"])
@pytest.mark.parametrize("noise", [0.3, "estimate"])
def test_twenty_asks_without_an_answer_are_all_different_with_noise(noise: object, policy: str) -> None:
    rng = np.random.default_rng(0)
    opt = told(15, lambda x: x[0] + x[1] + 0.3 * rng.standard_normal(), n_init=10, policy=policy, noise=noise)
    assert len({tuple(opt.ask()) for _ in range(20)}) == 20


def test_asks_of_a_finite_space_are_all_different() -> None:
    opt = Optimizer([Integer(0, 4), Categorical("abcd")], n_init=5)
    assert len({tuple(opt.ask()) for _ in range(20)}) == 20


def test_asking_beyond_a_finite_space_says_that_it_is_exhausted() -> None:
    opt = Optimizer([Integer(0, 3)], n_init=2)
    opt.ask(4)
    with pytest.raises(SpaceExhaustedError, match=r"expected.*all 4.*try"):
        opt.ask()


@pytest.mark.parametrize("n_told", [0, 6, 14])
def test_asking_for_several_is_asking_several_times(n_told: int) -> None:
    one, other = told(n_told, n_init=8), told(n_told, n_init=8)
    np.testing.assert_array_equal(one.ask(5), [other.ask() for _ in range(5)])


@pytest.mark.parametrize("n", [0, -1, 2.0, "3", True])
def test_asking_for_a_bad_number_of_points_is_rejected(n: object, rejects) -> None:
    with rejects():
        Optimizer(SQUARE).ask(n)  # type: ignore[call-overload]


def test_asking_changes_no_history() -> None:
    opt = told(12, n_init=8)
    before = opt.history.evaluations
    opt.ask(3)
    assert opt.history.evaluations == before


def test_the_design_is_a_latin_hypercube() -> None:
    x = np.asarray(Optimizer(SQUARE, n_init=10).ask(10))
    strata = np.sort(np.floor((x + 1.0) / 2.0 * 10), axis=0)
    np.testing.assert_array_equal(strata, np.repeat(np.arange(10.0)[:, None], 2, axis=1))


def test_what_the_user_does_to_a_suggestion_does_not_reach_the_optimizer() -> None:
    opt = Optimizer(SQUARE, n_init=4)
    x = opt.ask()
    before = x.copy()
    x[:] = [5.0, 5.0]
    np.testing.assert_array_equal(opt.pending, [before])


def test_suggestions_of_a_mixed_space_have_python_types() -> None:
    bounds = {"a": (0.0, 1.0), "n": Integer(1, 9), "m": Integer(1, 99, log=True), "c": Categorical(["u", "v"])}
    opt = told(12, lambda p: p["a"] + p["n"], bounds, n_init=6)
    assert [type(v) for v in opt.ask().values()] == [float, int, int, str]


def test_integer_bounds_given_as_floats_still_give_python_integers() -> None:
    opt = Optimizer([Integer(1.0, 3.0)], n_init=3)  # type: ignore[arg-type]
    assert [type(x[0]) for x in opt.ask(3)] == [int] * 3


# --- telling


def test_points_that_were_not_asked_for_can_be_told() -> None:
    opt = Optimizer(SQUARE)
    opt.tell([0.25, 0.5], 3.0)
    assert opt.history.evaluations[0].x == (0.25, 0.5)


def test_a_told_point_counts_towards_the_design() -> None:
    opt = Optimizer(SQUARE, n_init=5)
    opt.tell(np.random.default_rng(0).uniform(-1, 1, (5, 2)), np.arange(5.0))
    far = opt.ask()
    design = Optimizer(SQUARE, n_init=5).ask(5)
    assert far not in design


def test_several_points_and_values_can_be_told_at_once() -> None:
    one, many = Optimizer(SQUARE), Optimizer(SQUARE)
    x = many.ask(4)
    many.tell(x, [bowl(p) for p in x])
    for p in one.ask(4):
        one.tell(p, bowl(p))
    assert many.history.y.tolist() == one.history.y.tolist()


def test_arrays_of_points_and_values_can_be_told() -> None:
    opt = Optimizer(SQUARE)
    opt.tell(np.asarray([[0.1, 0.2], [0.3, 0.4]]), np.asarray([1.0, 2.0]))
    assert opt.history.y.tolist() == [1.0, 2.0]


def test_read_only_arrays_can_be_told() -> None:
    x = np.asarray([0.1, 0.2])
    x.flags.writeable = False
    opt = Optimizer(SQUARE)
    opt.tell(x, 1.0)
    assert len(opt.history) == 1


def test_changing_a_told_array_afterwards_changes_nothing() -> None:
    x = np.asarray([0.1, 0.2])
    opt = Optimizer(SQUARE)
    opt.tell(x, 1.0)
    x[:] = 0.9
    assert opt.history.evaluations[0].x == (0.1, 0.2)


def test_a_number_can_be_told_in_one_dimension() -> None:
    opt = Optimizer([(0.0, 1.0)])
    opt.tell(0.5, 1.0)
    assert opt.history.evaluations[0].x == (0.5,)


def test_a_list_of_numbers_can_be_told_in_one_dimension() -> None:
    opt = Optimizer([(0.0, 1.0)])
    opt.tell([0.25, 0.5], [1.0, 2.0])
    assert [e.x for e in opt.history.evaluations] == [(0.25,), (0.5,)]


@pytest.mark.parametrize("y", [math.nan, math.inf, -math.inf, np.float64("nan")])
def test_a_value_that_is_not_finite_is_told_as_a_failure(y: float) -> None:
    opt = Optimizer(SQUARE)
    opt.tell([0.1, 0.2], y)
    assert opt.history.evaluations[0].status == "failed"


def test_a_failure_is_told_with_its_reason() -> None:
    opt = Optimizer(SQUARE)
    opt.tell_failure([0.1, 0.2], "mesh collapsed")
    (evaluation,) = opt.history.evaluations
    assert (evaluation.status, evaluation.reason, math.isnan(evaluation.y)) == ("failed", "mesh collapsed", True)


def test_the_duration_is_kept() -> None:
    opt = Optimizer(SQUARE)
    opt.tell([0.1, 0.2], 1.0, duration_s=2.5)
    opt.tell_failure([0.2, 0.2], duration_s=1.5)
    assert [e.duration_s for e in opt.history.evaluations] == [2.5, 1.5]


def test_a_failed_point_is_not_asked_again() -> None:
    opt = told(12, n_init=8)
    failed = opt.ask()
    opt.tell_failure(failed, "crashed")
    assert failed not in opt.ask(10)


@pytest.mark.parametrize("seed", range(4))
def test_a_batch_after_convergence_does_not_pile_up_on_the_best_point(seed: int) -> None:
    branin = problems.get("BRA")
    opt = told(40, lambda x: float(branin(x)), branin.bounds, seed=seed)
    best = np.asarray(opt.history.evaluations[int(np.argmin(opt.history.y))].x)
    low, high = np.asarray(branin.bounds).T
    near = np.abs((np.asarray(opt.ask(16)) - best) / (high - low)).max(axis=1) < 1e-3
    assert near.sum() <= 2


@pytest.mark.parametrize(
    "settings", [{"policy": "LCB", "search": "paper"}, {"policy": "MN", "search": "paper"}], ids=str
)
def test_the_unit_of_y_does_not_send_points_of_a_batch_elsewhere(settings: dict) -> None:
    def asked(shift: float) -> np.ndarray:
        return np.asarray(told(20, lambda x: bowl(x) + shift, seed=1, **settings).ask(4))

    best = asked(0.0)[0]
    assert np.abs(asked(1e4) - best).max() < 0.2


def test_telling_removes_the_point_from_the_pending_ones() -> None:
    opt = Optimizer(SQUARE)
    a, b = opt.ask(2)
    opt.tell(a, 1.0)
    np.testing.assert_array_equal(opt.pending, [b])


def test_telling_a_failure_removes_the_point_from_the_pending_ones() -> None:
    opt = Optimizer(SQUARE)
    a, b = opt.ask(2)
    opt.tell_failure(b)
    np.testing.assert_array_equal(opt.pending, [a])


def test_telling_in_another_order_is_fine() -> None:
    opt = Optimizer(SQUARE)
    x = opt.ask(4)
    for p in reversed(x):
        opt.tell(p, bowl(p))
    assert opt.pending == []


def test_telling_another_point_leaves_the_pending_ones() -> None:
    opt = Optimizer(SQUARE)
    opt.ask(2)
    opt.tell([0.0, 0.0], 1.0)
    assert len(opt.pending) == 2


def test_forgotten_points_are_no_longer_pending() -> None:
    opt = Optimizer(SQUARE)
    opt.ask(3)
    opt.forget_pending()
    assert opt.pending == []


def test_a_pending_dict_point_told_in_another_order_is_recognized() -> None:
    opt = Optimizer({"a": (0.0, 1.0), "b": Integer(0, 5)})
    x = opt.ask()
    opt.tell({"b": x["b"], "a": x["a"]}, 1.0)
    assert opt.pending == []


BAD_TELLS = {
    "too short": ([0.1], 1.0),
    "too long": ([0.1, 0.2, 0.3], 1.0),
    "nested": ([[0.1, 0.2]], 1.0),
    "outside": ([0.1, 1.2], 1.0),
    "nan in x": ([0.1, math.nan], 1.0),
    "words in x": (["a", "b"], 1.0),
    "x is None": (None, 1.0),
    "x is a number": (0.5, 1.0),
    "y is a word": ([0.1, 0.2], "small"),
    "y is a numeral": ([0.1, 0.2], "1.0"),
    "y is None": ([0.1, 0.2], None),
    "y is a boolean": ([0.1, 0.2], True),
    "y is complex": ([0.1, 0.2], 1j),
    "y is a dict without the objective": ([0.1, 0.2], {"loss": 1.0, "mass": 2.0}),
    "an output is a word": ([0.1, 0.2], {"loss": "small"}),
    "an output without a name": ([0.1, 0.2], {3: 1.0}),
    "more values than points": ([[0.1, 0.2]], [1.0, 2.0]),
    "more points than values": ([[0.1, 0.2], [0.3, 0.4]], [1.0]),
    "no point for two values": (None, [1.0, 2.0]),
    "second point outside": ([[0.1, 0.2], [0.3, 4.0]], [1.0, 2.0]),
    "second value a word": ([[0.1, 0.2], [0.3, 0.4]], [1.0, "two"]),
    "second value None": ([[0.1, 0.2], [0.3, 0.4]], [1.0, None]),
    "values of unequal length": ([[0.1, 0.2], [0.3, 0.4]], [1.0, [2.0, 3.0]]),
    "a matrix of values": ([[0.1, 0.2], [0.3, 0.4]], [[1.0, 2.0], [3.0, 4.0]]),
}


@pytest.mark.parametrize(("x", "y"), BAD_TELLS.values(), ids=BAD_TELLS)
def test_a_bad_tell_is_rejected_with_a_three_part_message(x: object, y: object, rejects) -> None:
    opt = Optimizer(SQUARE)
    with rejects():
        opt.tell(x, y)


@pytest.mark.parametrize(("x", "y"), BAD_TELLS.values(), ids=BAD_TELLS)
def test_a_bad_tell_loses_nothing(x: object, y: object) -> None:
    opt = told(4, n_init=4)
    opt.ask(2)
    history, pending = opt.history, opt.pending
    with pytest.raises(Exception):  # noqa: B017, PT011 which one is the business of the test above
        opt.tell(x, y)
    assert opt.history.evaluations == history.evaluations
    np.testing.assert_array_equal(opt.pending, pending)


def test_the_run_goes_on_after_a_bad_tell_as_if_nothing_had_happened() -> None:
    one, other = told(12, n_init=8), told(12, n_init=8)
    with pytest.raises(InvalidInputError):
        one.tell([[0.1, 0.2], [5.0, 5.0]], [1.0, 2.0])
    np.testing.assert_array_equal(one.ask(), other.ask())


@pytest.mark.parametrize("x", [[0.1], [0.1, 2.0], None, "ab"])
def test_a_bad_failure_is_rejected_with_a_three_part_message(x: object, rejects) -> None:
    opt = Optimizer(SQUARE)
    with rejects():
        opt.tell_failure(x)
    assert len(opt.history) == 0
