"""Penalties and blow-ups: values so large that they would hide all other differences."""

import math
from dataclasses import replace

import numpy as np
import pytest

from surefoot import minimize, problems
from surefoot.engine.batch import Batch
from surefoot.engine.spec import Limit
from surefoot.engine.walls import APART, FAR, without_walls


def batch(y, ok=None) -> Batch:
    """Runs whose points lie apart."""
    y = np.atleast_2d(np.asarray(y, dtype=float))
    ok = np.ones_like(y, dtype=bool) if ok is None else np.atleast_2d(ok)
    R, n = y.shape
    X = np.tile(2.0 * APART * np.arange(n)[:, None], (R, 1, 1))
    return Batch(X, y, ok, np.zeros((R, 0, 1)), tuple(range(R)))


def limited(y, output) -> Batch:
    return replace(batch(y), outputs=np.asarray(output, dtype=float)[None, None])


def test_what_is_far_above_the_first_values_is_lowered_to_a_bound():
    y = [3.0, 1.0, 2.0, 1e9, 2.5]
    assert without_walls(batch(y)).y[0].tolist() == [3.0, 1.0, 2.0, 2.5 + FAR * 1.5, 2.5]


def test_to_lower_twice_changes_nothing_more():
    once = without_walls(batch([3.0, 1.0, 2.0, 1e9, 2.5]))
    assert without_walls(once) is once


@pytest.mark.parametrize(
    "y",
    [
        [1.0, 2.0, 3.0, 4.0, 90.0],  # usual values
        [1e9, 2e9, 3e9, 1.0, 2.0],  # walls are most of what was seen
        [1.0, 1.0, 1.0, 1.0, 1e9],  # no spread to measure by
        [1.0, 1e9, 2.0],  # too few
        [1.0, 1e307, 1e308, 1e306, 1e308],
        [1e308, 1e308, 1e308, 1e308],
    ],
)
def test_values_stay_where_nothing_tells_what_is_usual(y):
    run = batch(y)
    assert without_walls(run) is run


def test_the_bound_comes_from_the_first_values_and_not_from_where_a_run_converged():
    run = batch(np.concatenate([np.linspace(1.0, 14.0, 14), np.full(100, 1e-9), [50.0]]))
    assert without_walls(run) is run


def test_values_on_one_spot_do_not_tell_what_is_usual():
    run = batch([1.0, 1.0 + 1e-9, 1.0 + 2e-9, 1.0 + 3e-9, 1.0 + 4e-9, 5.0, 7.0, 3.0])
    together = replace(run, X=np.where(np.arange(8)[:, None] < 5, 0.5, run.X + 1.0))
    assert without_walls(run).y[0, 5] < 1.001
    assert without_walls(together) is together


def test_failures_do_not_count_and_every_run_has_a_bound_of_its_own():
    y = [[-1e9, 3.0, 1.0, 2.0, 1e9, 2.5], [-1e9, 3e9, 1e9, 2e9, 1e9, 2.5]]
    ok = np.asarray([[False, True, True, True, True, True]] * 2)
    found = without_walls(batch(y, ok)).y
    assert found[0].tolist() == [-1e9, 3.0, 1.0, 2.0, 2.5 + FAR * 1.5, 2.5]
    assert found[1].tolist() == y[1]


def test_an_output_is_bounded_on_either_side_of_its_limit():
    run = limited([1.0] * 6, [3.0, 1.0, 2.0, -1e9, 2.5, 1e9])
    found = without_walls(run, [Limit(-math.inf, 2.0)]).outputs
    assert found[0, 0].tolist() == [3.0, 1.0, 2.0, 2.0 - FAR, 2.5, 2.0 + FAR]


def test_what_is_outside_two_limits_stays_outside():
    run = limited([1.0] * 6, [1e-6, 2e-6, -1e-6, 1e-6, 5.0, -1e9])
    found = without_walls(run, [Limit(-1.0, 1.0)]).outputs
    assert found[0, 0].tolist() == [1e-6, 2e-6, -1e-6, 1e-6, 5.0, -FAR]


def test_with_limits_the_values_that_are_within_them_keep_their_differences():
    y = [1.0, 2.0, 3.0, 4.0, 5e6, 6e6]  # only the dear ones are accurate enough
    run = without_walls(limited(y, [0.0, 0.1, 0.2, 0.3, 0.96, 0.97]), [Limit(0.95, math.inf)])
    assert run.y[0].tolist() == y


def test_a_run_that_begins_on_one_spot_finds_the_optimum():
    hm3 = problems.get("HM3")
    x0 = np.asarray([0.3, 0.1, 0.5]) + 1e-3 * np.random.default_rng(0).random((8, 3))
    results = [minimize(hm3, hm3.bounds, x0=x0.tolist(), n_evals=40, seed=seed) for seed in range(3)]
    assert np.median([hm3.log10_distance(r.fun) for r in results]) < -3.0


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
