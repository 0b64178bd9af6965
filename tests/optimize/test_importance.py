"""What matters, and how surely it is known."""

import math

import numpy as np
import pytest

from surefoot import Categorical, Evaluation, History, Optimizer, Real
from surefoot.optimize.importance import importance

TOTAL, FIRST = (0.558, 0.442, 0.244, 0.0), (0.314, 0.442, 0.0, 0.0)  # of Ishigami's function (Homma and Saltelli 1996)


def ishigami(x):
    a, b, c = x[:3]
    return math.sin(a) + 7.0 * math.sin(b) ** 2 + 0.1 * c**4 * math.sin(a)


def result_of(space, function, n, fails=lambda x: False, **options):
    bounds = Optimizer(space).space
    points = [bounds.decode(u) for u in bounds.from_uniform(np.random.default_rng(1).random((n, bounds.d)))]
    told = [Evaluation(x, math.nan, "failed", "no") if fails(x) else Evaluation(x, function(x)) for x in points]
    return Optimizer(space, history=History(tuple(told)), **options).result()


@pytest.fixture(scope="module")
def many():
    return importance(result_of([(-math.pi, math.pi)] * 4, ishigami, 220, warp="none"))


def test_indices_are_those_of_the_function(many):
    assert many.total.value == pytest.approx(TOTAL, abs=0.07)
    assert many.first.value == pytest.approx(FIRST, abs=0.08)
    assert many.failures is None


def test_intervals_hold_the_truth_and_narrow_with_evaluations(many):
    few = importance(result_of([(-math.pi, math.pi)] * 4, ishigami, 30, warp="none"))
    for shares, truth in ((many.total, TOTAL), (many.first, FIRST)):
        assert (shares.low <= np.asarray(truth) + 0.05).all()
        assert (shares.high >= np.asarray(truth) - 0.05).all()
    assert (few.total.high - few.total.low)[:3].sum() > (many.total.high - many.total.low)[:3].sum()


def test_failures_have_indices_of_their_own():
    space = {"a": Real(0.0, 1.0), "b": Real(0.0, 1.0), "c": Categorical(["x", "y"])}
    found = importance(result_of(space, lambda x: x[1], 60, fails=lambda x: x[0] > 0.6))
    assert np.argmax(found.failures.value) == 0
    assert np.argmax(found.total.value) == 1
    assert found.failures.low[0] > 0.5
    assert (found.failures.low <= found.failures.value).all()
    assert (found.failures.value <= found.failures.high).all()


def test_a_constant_depends_on_nothing():
    found = importance(result_of([(0.0, 1.0)] * 2, lambda x: 1.0, 10))
    assert np.isfinite(found.total.value).all()


def test_alone_a_parameter_explains_no_more_than_in_all():
    for seed in range(3):
        rng = np.random.default_rng(seed)
        weights = rng.random(7)
        found = importance(result_of([(0.0, 1.0)] * 7, lambda x, w=weights: float(w @ np.asarray(x)), 30))
        assert (found.first.value <= found.total.value).all()
        assert (found.first.high <= found.total.high).all()
