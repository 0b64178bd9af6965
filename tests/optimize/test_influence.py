"""What the failures depend on, by what the model predicts."""

import math

import numpy as np
import pytest

from surefoot import Categorical, Evaluation, History, Integer, Optimizer, minimize
from surefoot.optimize.influence import influence
from surefoot.optimize.result import Result

FIVE = dict.fromkeys("cadbe", (0.0, 1.0))


def result_of(space, fails, n: int = 60, seed: int = 0, **options) -> Result:
    bounds = Optimizer(space).space
    points = [bounds.decode(u) for u in bounds.from_uniform(np.random.default_rng(seed).random((n, bounds.d)))]
    evaluations = [
        Evaluation(x, math.nan, "failed", "no")
        if fails(dict(zip(bounds.names, x, strict=True)))
        else Evaluation(x, x[0])
        for x in points
    ]
    return Optimizer(space, history=History(tuple(evaluations)), **({"failures": "ep"} | options)).result()


@pytest.mark.parametrize("seed", range(3))
def test_a_limit_between_two_parameters_is_drawn_over_them(seed: int) -> None:
    found = influence(result_of(FIVE, lambda v: v["a"] <= v["b"], seed=seed))
    assert found.pairs == ((1, 3),)
    assert found.explained[0] > 0.9
    assert set(np.argsort(-found.total)[:2]) == {1, 3}


@pytest.mark.parametrize("seed", range(2))
def test_so_it_is_in_a_run(seed: int) -> None:
    def simulator(v) -> float:
        if v["a"] <= v["b"]:
            raise ArithmeticError("no material")
        return (v["a"] - 0.7) ** 2 + (v["b"] - 0.6) ** 2 + (v["c"] - 0.3) ** 2 + v["d"] + 0.1 * v["e"]

    result = minimize(simulator, FIVE, n_evals=60, failures="ep", seed=seed)
    assert influence(result).pairs[0] == (1, 3)
    # the border in the map is a diagonal: P is low above it and high below
    a, b = np.meshgrid(np.linspace(0.05, 0.95, 10), np.linspace(0.05, 0.95, 10))
    points = [{**result.x, "a": u, "b": v} for u, v in zip(a.ravel(), b.ravel(), strict=True)]
    right = (result.success_probability(points) > 0.5) == (a > b).ravel()
    assert right.mean() > 0.75


def test_two_causes_are_seen_where_few_evaluations_succeed() -> None:
    found = influence(result_of([(0.0, 1.0)] * 6, lambda v: v["x1"] > 0.25 or v["x4"] < 0.75, 200))
    assert found.pairs[0] == (1, 4)


def test_causes_of_four_parameters_need_two_maps() -> None:
    found = influence(result_of([(0.0, 1.0)] * 5, lambda v: v["x0"] + v["x1"] > 1.3 or v["x2"] + v["x4"] > 1.3, 250))
    assert sorted(i for pair in found.pairs for i in pair) == [0, 1, 2, 4]


def test_a_category_counts_but_is_no_axis() -> None:
    space = {"a": (0.0, 1.0), "n": Integer(0, 9), "c": Categorical("xyz"), "b": (0.0, 1.0)}
    found = influence(result_of(space, lambda v: v["c"] == "y" or v["n"] > 7, 120))
    assert int(np.argmax(found.total)) == 2
    assert 2 not in found.pairs[0]
    assert 1 in found.pairs[0]


@pytest.mark.parametrize("space", [[(0.0, 1.0)], [(0.0, 1.0), Categorical("ab")], [(0.0, 1.0), (0.5, 0.5)]], ids=str)
def test_without_two_axes_there_is_no_pair(space) -> None:
    assert influence(result_of(space, lambda v: v["x0"] > 0.6, 30)).pairs == ()


def test_where_nothing_failed_nothing_has_influence() -> None:
    found = influence(result_of([(0.0, 1.0)] * 3, lambda v: False, 20))
    assert found.total.tolist() == [0.0, 0.0, 0.0]
    assert (found.pairs, found.explained) == (((0, 1),), (0.0,))


def test_the_same_result_gives_the_same_numbers() -> None:
    result = result_of(FIVE, lambda v: v["a"] <= v["b"])
    assert influence(result).total.tolist() == influence(result).total.tolist()


def test_one_success_is_enough() -> None:
    found = influence(result_of([(0.0, 1.0)] * 3, lambda v: v["x0"] > 0.04, 30))
    assert np.isfinite(found.total).all()
