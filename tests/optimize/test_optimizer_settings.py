"""`Optimizer`: settings, maximizing, looking."""

import math

import numpy as np
import pytest

from surefoot import History, Optimizer, Real
from surefoot.errors import InvalidInputError, UnknownNameError
from surefoot.problems import Problem

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


# --- settings


@pytest.mark.parametrize(
    "setting", [{"policy": "EIEIO"}, {"kernel": "rbf"}, {"search": "grid"}, {"design": "halton"}, {"policy": None}]
)
def test_an_unknown_name_is_rejected_with_a_three_part_message(setting: dict, rejects) -> None:
    with rejects(UnknownNameError):
        Optimizer(SQUARE, **setting)


def test_an_unknown_setting_is_rejected_by_its_name(rejects) -> None:
    with rejects():
        Optimizer(SQUARE, polcy="EI")
    with pytest.raises(InvalidInputError, match="polcy"):
        Optimizer(SQUARE, polcy="EI")


# --- maximizing


def test_maximizing_is_minimizing_the_negative() -> None:
    up = told(30, lambda x: -bowl(x), n_init=10, maximize=True)
    down = told(30, bowl, n_init=10)
    assert [e.x for e in up.history.evaluations] == [e.x for e in down.history.evaluations]


def test_the_history_of_a_maximization_has_the_users_sign() -> None:
    opt = Optimizer(SQUARE, maximize=True)
    opt.tell([0.1, 0.2], 7.0)
    assert opt.history.y.tolist() == [7.0]


def test_the_best_of_a_maximization_is_the_largest() -> None:
    opt = Optimizer(SQUARE, maximize=True)
    opt.tell([[0.1, 0.2], [0.2, 0.2], [0.3, 0.2]], [1.0, 3.0, 2.0])
    assert (opt.best.y, opt.result().fun, opt.result().x.tolist()) == (3.0, 3.0, [0.2, 0.2])


def test_the_best_so_far_of_a_maximization_never_falls() -> None:
    opt = Optimizer(SQUARE, maximize=True)
    opt.tell([[0.1, 0.2], [0.2, 0.2], [0.3, 0.2]], [1.0, 3.0, 2.0])
    assert [row["best"] for row in opt.result().table()] == [1.0, 3.0, 3.0]


def test_the_model_of_a_maximization_has_the_users_sign() -> None:
    opt = told(25, lambda x: 5.0 - bowl(x), n_init=10, maximize=True)
    mean, sd = opt.result().model.predict([[0.3, -0.2]])
    assert mean[0] == pytest.approx(5.0, abs=1e-2)
    assert sd[0] >= 0.0


# --- looking


def test_nothing_told_has_no_best() -> None:
    assert Optimizer(SQUARE).best is None


def test_failures_are_never_the_best() -> None:
    opt = Optimizer(SQUARE)
    opt.tell_failure([0.1, 0.2])
    assert opt.best is None


def test_the_best_is_the_least_value() -> None:
    opt = Optimizer(SQUARE)
    opt.tell([[0.1, 0.2], [0.2, 0.2], [0.3, 0.2]], [2.0, 1.0, 3.0])
    assert opt.best.y == 1.0


def test_the_result_of_an_optimizer_is_that_of_minimize(branin: Problem) -> None:
    from surefoot import minimize

    opt = told(30, branin, branin.bounds)
    result = minimize(branin, branin.bounds, n_evals=30)
    np.testing.assert_array_equal(opt.result().x_iters, result.x_iters)


def test_a_history_can_be_continued() -> None:
    opt = Optimizer(SQUARE, history=told(7).history)
    assert len(opt.history) == 7


def test_a_history_outside_the_bounds_is_rejected_with_a_three_part_message(rejects) -> None:
    history = told(7).history
    with rejects():
        Optimizer([(0.0, 0.1), (0.0, 0.1)], history=history)


def test_an_empty_history_is_a_fresh_start() -> None:
    one, other = Optimizer(SQUARE, history=History()), Optimizer(SQUARE)
    np.testing.assert_array_equal(one.ask(), other.ask())


def test_units_of_the_objective_do_not_matter() -> None:
    one = told(25, bowl, n_init=10)
    other = told(25, lambda x: 1024.0 * bowl(x), n_init=10)  # a power of 2: exact
    assert [e.x for e in one.history.evaluations] == [e.x for e in other.history.evaluations]


def test_units_of_the_parameters_do_not_matter() -> None:
    one = told(20, bowl, n_init=10)
    bounds = [(-1024.0, 1024.0), (-1.0, 1.0)]
    other = told(20, lambda x: bowl([x[0] / 1024.0, x[1]]), bounds, n_init=10)
    scaled = [(x[0] / 1024.0, x[1]) for x in (e.x for e in other.history.evaluations)]
    assert [e.x for e in one.history.evaluations] == scaled


def test_a_log_parameter_is_a_real_one_of_the_logarithm() -> None:
    one = told(8, lambda x: math.log(x[0]) ** 2, [Real(0.1, 10.0, log=True)], n_init=8)
    other = told(8, lambda x: x[0] ** 2, [(math.log(0.1), math.log(10.0))], n_init=8)
    logs = [math.log(e.x[0]) for e in one.history.evaluations]
    np.testing.assert_allclose(logs, [e.x[0] for e in other.history.evaluations], atol=1e-12)
