"""What every one of the 12 problems keeps to."""

import dataclasses
import pickle

import numpy as np
import pytest

from surefoot import problems
from surefoot.problems import Problem

each_problem = pytest.mark.parametrize("problem", problems.ALL, ids=lambda p: p.abbreviation)


def points_inside(problem: Problem, n: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).uniform(problem.lower, problem.upper, size=(n, problem.d))


@each_problem
def test_the_least_value_is_taken_at_every_minimizer(problem):
    values = problem(np.array(problem.minimizers))
    np.testing.assert_allclose(values, problem.f_star, rtol=4 * np.finfo(float).eps, atol=0)


@each_problem
def test_no_random_point_lies_below_the_least_value(problem):
    assert problem(points_inside(problem, 100_000)).min() >= problem.f_star


@each_problem
def test_no_point_close_to_a_minimizer_lies_below_the_least_value(problem):
    scales = 10.0 ** np.arange(-12.0, -1.0)  # (s,)
    directions = np.random.default_rng(1).standard_normal((200, 1, problem.d))
    for minimizer in problem.minimizers:
        values = problem(np.array(minimizer) + scales[:, None] * directions)
        assert values.min() >= problem.f_star - 4 * np.spacing(abs(problem.f_star))


@each_problem
def test_many_points_at_once_give_the_values_of_one_at_a_time(problem):
    x = points_inside(problem, 60)
    one_at_a_time = [problem(row) for row in x]
    np.testing.assert_allclose(problem(x), one_at_a_time, rtol=1e-13, atol=1e-13)


@each_problem
def test_leading_axes_are_kept(problem):
    x = points_inside(problem, 24)
    np.testing.assert_allclose(
        problem(x.reshape(2, 3, 4, problem.d)), problem(x).reshape(2, 3, 4), rtol=1e-13, atol=1e-13
    )


@each_problem
def test_an_empty_batch_gives_an_empty_array(problem):
    assert problem(np.empty((0, problem.d))).shape == (0,)


@each_problem
def test_one_point_as_a_list_gives_a_float(problem):
    assert type(problem(list(problem.lower))) is float


@each_problem
def test_the_record_cannot_be_changed(problem):
    with pytest.raises(dataclasses.FrozenInstanceError):
        problem.f_star = 0.0


@each_problem
def test_a_read_only_input_is_accepted_and_not_changed(problem):
    x = points_inside(problem, 5)
    before = x.copy()
    x.setflags(write=False)
    problem(x)
    np.testing.assert_array_equal(x, before)


@each_problem
def test_there_are_as_many_minimizers_as_global_minima(problem):
    assert len(set(problem.minimizers)) == problem.n_global_minima


@each_problem
def test_all_minimizers_are_inside_the_bounds(problem):
    x = np.array(problem.minimizers)
    assert ((problem.lower < x) & (x < problem.upper)).all()


@each_problem
def test_the_gradient_vanishes_at_every_minimizer(problem):
    # The complex step has no truncation error; the rounding of the minimizer times the curvature is left.
    step = 1e-100
    for minimizer in problem.minimizers:
        x = np.array(minimizer) + 1j * step * np.eye(problem.d)  # (d, d)
        gradient = problem.function(x).imag / step
        assert np.abs(gradient).max() < 1e-10


@each_problem
def test_the_record_survives_pickling(problem):
    assert pickle.loads(pickle.dumps(problem)) == problem


@each_problem
def test_the_distance_of_an_exact_hit_is_finite(problem):
    assert -15.7 < problem.log10_distance(problem.f_star) < -13.5
