"""The least value of a convex quadratic inside half-spaces: what the conditions of optimality ask."""

import numpy as np
import pytest

from surefoot.numerics.quadratic import minimize_quadratic


def problem(seed):
    """A random one that its start, 0, meets; some half-spaces pass through 0."""
    rng = np.random.default_rng(seed)
    d, k = int(rng.integers(1, 9)), int(rng.integers(0, 12))
    root = rng.standard_normal((d, d)) * 10.0 ** rng.uniform(-3, 1, d)
    b = -rng.random(k) * (rng.random(k) < 0.7)
    return root @ root.T + 1e-9 * np.eye(d), 3.0 * rng.standard_normal(d), rng.standard_normal((k, d)), b, np.ones(d)


def solved(seed):
    B, g, A, b, one = problem(seed)
    eye = np.eye(len(g))
    found = minimize_quadratic(B, g, np.concatenate([A, eye, -eye]), np.concatenate([b, -one, -one]), np.zeros(len(g)))
    return found.s, found.multipliers[: len(b)]


SEEDS = range(60)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_step_is_inside(seed):
    _, _, A, b, _ = problem(seed)
    s, _ = solved(seed)
    assert (A @ s - b).min(initial=0.0) >= -1e-9
    assert np.abs(s).max() <= 1.0 + 1e-12


@pytest.mark.parametrize("seed", SEEDS)
def test_multipliers_are_not_negative_and_those_of_half_spaces_that_do_not_touch_are_zero(seed):
    _, _, A, b, _ = problem(seed)
    s, multipliers = solved(seed)
    assert (multipliers >= 0.0).all()
    assert (multipliers[A @ s - b > 1e-7] == 0.0).all()


@pytest.mark.parametrize("seed", SEEDS)
def test_nothing_is_gained_by_moving_along_what_touches(seed):
    B, g, A, _, _ = problem(seed)
    s, multipliers = solved(seed)
    rest = g + B @ s - A.T @ multipliers  # what the box must hold
    free = np.abs(s) < 1.0 - 1e-9
    np.testing.assert_allclose(rest[free], 0.0, atol=1e-7 * (1.0 + np.abs(g).max()))
    assert (rest[~free] * np.sign(s[~free]) <= 1e-7).all()


@pytest.mark.parametrize("seed", SEEDS)
def test_a_wrong_guess_changes_nothing_but_the_way(seed):
    B, g, A, b, one = problem(seed)
    rows, at_least = np.concatenate([A, np.eye(len(g)), -np.eye(len(g))]), np.concatenate([b, -one, -one])
    guess = np.random.default_rng(seed).permutation(len(rows))[: len(g)]
    found = minimize_quadratic(B, g, rows, at_least, np.zeros(len(g)), guess.tolist())
    np.testing.assert_allclose(found.s, solved(seed)[0], atol=1e-6)


def test_what_the_last_answer_touched_is_a_guess_that_gives_it_again():
    B, g, A, b, one = problem(3)
    rows, at_least = np.concatenate([A, np.eye(len(g)), -np.eye(len(g))]), np.concatenate([b, -one, -one])
    first = minimize_quadratic(B, g, rows, at_least, np.zeros(len(g)))
    again = minimize_quadratic(B, g, rows, at_least, np.zeros(len(g)), first.active.tolist())
    np.testing.assert_allclose(again.s, first.s, atol=1e-12)


def test_a_start_on_a_border_may_leave_it():
    found = minimize_quadratic(np.eye(1), np.asarray([-1.0]), np.eye(1), np.zeros(1), np.zeros(1))
    assert (found.s.tolist(), found.multipliers.tolist()) == ([1.0], [0.0])


def test_half_spaces_that_are_one_to_rounding_do_not_stop_it():
    A = np.asarray([[1.0, 1.0], [1.0, 1.0 + 1e-16], [1.0, 1.0]])
    found = minimize_quadratic(np.eye(2), np.asarray([2.0, 2.0]), A, np.full(3, -1.0), np.zeros(2))
    np.testing.assert_allclose(found.s, -0.5)
