"""Penalties and blow-ups: values so large that they would hide all other differences."""

import math
from dataclasses import replace

import numpy as np
import pytest

from surefoot import minimize
from surefoot.engine.batch import FAR, Batch


def batch(y, ok=None) -> Batch:
    y = np.atleast_2d(np.asarray(y, dtype=float))
    ok = np.ones_like(y, dtype=bool) if ok is None else np.atleast_2d(ok)
    R, n = y.shape
    return Batch(np.zeros((R, n, 1)), y, ok, np.zeros((R, 0, 1)), tuple(range(R)))


def test_what_is_far_above_the_first_values_is_lowered_to_a_bound():
    y = [3.0, 1.0, 2.0, 1e9, 2.5]
    assert batch(y).without_walls().y[0].tolist() == [3.0, 1.0, 2.0, 2.5 + FAR * 1.5, 2.5]


def test_to_lower_twice_changes_nothing_more():
    once = batch([3.0, 1.0, 2.0, 1e9, 2.5]).without_walls()
    assert once.without_walls() is once


@pytest.mark.parametrize(
    "y",
    [
        [1.0, 2.0, 3.0, 4.0, 90.0],  # usual values
        [1e9, 2e9, 3e9, 1.0, 2.0],  # walls are most of what was seen
        [1.0, 1.0, 1.0, 1.0, 1e9],  # no spread to measure by
        [1.0, 1e9, 2.0],  # too few
        [1.0, 1e307, 1e308, 1e306, 1e308],
    ],
)
def test_values_stay_where_nothing_tells_what_is_usual(y):
    run = batch(y)
    assert run.without_walls() is run


def test_the_bound_comes_from_the_first_values_and_not_from_where_a_run_converged():
    y = np.concatenate([np.linspace(1.0, 14.0, 14), np.full(100, 1e-9), [50.0]])
    run = batch(y)
    assert run.without_walls() is run


def test_failures_do_not_count_and_every_run_has_a_bound_of_its_own():
    y = [[-1e9, 3.0, 1.0, 2.0, 1e9, 2.5], [-1e9, 3e9, 1e9, 2e9, 1e9, 2.5]]
    ok = np.asarray([[False, True, True, True, True, True]] * 2)
    found = batch(y, ok).without_walls().y
    assert found[0].tolist() == [-1e9, 3.0, 1.0, 2.0, 2.5 + FAR * 1.5, 2.5]
    assert found[1].tolist() == y[1]


def test_with_a_centre_values_are_bounded_on_either_side_of_it():
    run = replace(batch([3.0, 1.0, 2.0, -1e9, 2.5, 1e9]), centre=np.asarray([[2.0]]))
    assert run.without_walls().y[0].tolist() == [3.0, 1.0, 2.0, 2.0 - FAR, 2.5, 2.0 + FAR]


@pytest.mark.parametrize("wall", [1e9, -1e9])
def test_an_output_that_blows_up_does_not_hide_its_limit(wall):
    def f(x):
        stress = x[0] + x[1] + 0.5 * math.sin(5.0 * x[2])
        return {"mass": float(np.sum((x - 0.5) ** 2)), "stress": stress + (wall if x[2] > 0.8 else 0.0)}

    results = [
        minimize(f, [(0.0, 1.0)] * 3, n_evals=30, seed=seed, objective="mass", outputs={"stress": "<= 0.7"})
        for seed in range(3)
    ]
    # the least mass within the limit is 0.0470
    assert np.median([r.fun if r.feasible else math.inf for r in results]) < 0.06


@pytest.mark.parametrize("penalty", [1e6, 1e15])
def test_a_penalty_for_what_is_forbidden_does_not_keep_a_run_from_its_optimum(penalty):
    def f(x):
        return float(np.sum((x - np.asarray([0.3, 0.6, 0.2])) ** 2)) + penalty * max(0.0, x[0] + x[1] - 1.3)

    best = [minimize(f, [(0.0, 1.0)] * 3, n_evals=30, seed=seed).fun for seed in range(3)]
    assert np.median(best) < 1e-3
