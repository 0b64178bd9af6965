"""Making, calling and finding problems."""

import dataclasses
import math

import numpy as np
import pytest

from surefoot import problems
from surefoot.errors import InvalidInputError, UnknownNameError
from surefoot.problems import Problem


def sphere(x):
    return np.sum(x**2, axis=-1)


def test_a_callable_becomes_a_problem_with_its_own_name():
    assert Problem.from_callable(sphere, [(-1, 1), (-2, 2)]).name == "sphere"


def test_what_is_unknown_of_a_callable_is_none():
    problem = Problem.from_callable(sphere, [(-1, 1)])
    assert (problem.n_local_minima, problem.n_global_minima, problem.f_star) == (None, None, None)


def test_a_problem_made_of_a_callable_calls_it():
    assert Problem.from_callable(sphere, [(-5, 5)] * 2)([3.0, 4.0]) == 25.0


def test_bounds_are_low_high_pairs_of_floats():
    assert Problem.from_callable(sphere, [(-1, 1), (0, 2)]).bounds == [(-1.0, 1.0), (0.0, 2.0)]


def test_the_constructor_needs_no_facts_about_minima():
    assert Problem("Sphere", "SPH", sphere, [0, 0], [1, 1]).d == 2


def test_a_record_made_with_lists_can_be_hashed():
    assert isinstance(hash(Problem("Sphere", "SPH", sphere, [0], [1], minimizers=[[0]])), int)


def test_the_distance_is_the_papers():
    problem = Problem.from_callable(sphere, [(-1, 1)], f_star=2.0)
    assert problem.log10_distance(2.01) == pytest.approx(-2.0)


def test_the_distance_of_an_array_is_an_array():
    problem = Problem.from_callable(sphere, [(-1, 1)], f_star=0.0)
    np.testing.assert_allclose(problem.log10_distance(np.array([0.1, -10.0])), [-1.0, 1.0], atol=1e-15)


def test_the_distance_of_nan_is_nan():
    assert math.isnan(problems.get("BRA").log10_distance(math.nan))


def test_the_distance_to_zero_has_the_floor_of_the_spacing_at_one():
    assert problems.get("ROS").log10_distance(1e-30) == math.log10(np.finfo(float).eps)


def test_the_distance_to_a_large_least_value_has_the_floor_of_the_spacing_there():
    shubert = problems.get("SHU")
    assert shubert.log10_distance(shubert.f_star) == pytest.approx(math.log10(2.0**-45))


def test_a_distance_to_an_unknown_least_value_is_refused():
    with pytest.raises(InvalidInputError, match=r"expected .*; f_star came as None; try"):
        Problem.from_callable(sphere, [(-1, 1)]).log10_distance(1.0)


def test_a_wrong_last_axis_is_refused_with_what_was_expected_what_came_and_what_to_try():
    with pytest.raises(InvalidInputError, match=r"expected x of shape \(\.\.\., 2\); came shape \(5, 3\); try"):
        problems.get("BRA")(np.zeros((5, 3)))


def test_a_row_of_points_in_one_dimension_is_refused_with_the_remedy():
    with pytest.raises(InvalidInputError, match=r"try x\[\.\.\., None\]"):
        problems.get("CSF")(np.linspace(0, 10, 7))


def test_a_bare_number_is_refused():
    with pytest.raises(InvalidInputError, match=r"came shape \(\)"):
        problems.get("CSF")(3.0)


def test_text_is_refused():
    with pytest.raises(InvalidInputError, match="expected numbers"):
        problems.get("CSF")(["here"])


def test_a_function_that_is_not_vectorised_is_refused_when_called_with_a_batch():
    with pytest.raises(InvalidInputError, match="expected a vectorised function"):
        Problem.from_callable(np.sum, [(0, 1)] * 2)(np.zeros((3, 2)))


@pytest.mark.parametrize("bounds", [[(1, 0)], [(0, math.inf)], [(math.nan, 1)], [(2, 2)], []])
def test_unusable_bounds_are_refused(bounds):
    with pytest.raises(InvalidInputError, match=r"expected .*came .*try"):
        Problem.from_callable(sphere, bounds)


def test_bounds_that_are_not_pairs_are_refused():
    with pytest.raises(InvalidInputError, match=r"\(low, high\) pairs"):
        Problem.from_callable(sphere, [(0, 1, 2)])


def test_a_minimizer_outside_the_bounds_is_refused():
    with pytest.raises(InvalidInputError, match="inside the bounds"):
        dataclasses.replace(problems.get("ROS"), minimizers=((11.0, 1.0),))


@pytest.mark.parametrize("problem", problems.ALL, ids=lambda p: p.abbreviation)
def test_a_problem_is_found_by_abbreviation_and_by_name_in_any_case(problem):
    assert problems.get(problem.abbreviation.lower()) is problems.get(problem.name.upper()) is problem


def test_hyphens_and_spaces_in_names_do_not_matter():
    assert problems.get("six hump_camel") is problems.get("CAM")


def test_an_unknown_name_gets_suggestions():
    with pytest.raises(UnknownNameError, match=r"came 'shekel9'; try SH"):
        problems.get("shekel9")


def test_a_name_like_no_other_gets_the_whole_list():
    with pytest.raises(UnknownNameError, match=r"try CSF, ROS, .*RAS"):
        problems.get("??")


def test_the_order_is_the_papers():
    order = "CSF ROS BRA GPR CAM SHU HM3 SH5 SH7 SH10 HM6 RAS"
    assert [p.abbreviation for p in problems.ALL] == order.split()


def test_the_dimensions_are_those_of_table_1():
    assert [p.d for p in problems.ALL] == [1, 2, 2, 2, 2, 2, 3, 4, 4, 4, 6, 10]


def test_the_numbers_of_local_minima_are_those_of_table_1():
    assert [p.n_local_minima for p in problems.ALL] == [8, 1, 3, 4, 6, 760, 4, 5, 7, 10, 4, 11**10]


def test_the_numbers_of_global_minima_are_those_of_table_1():
    assert [p.n_global_minima for p in problems.ALL] == [1, 1, 3, 1, 2, 18, 1, 1, 1, 1, 1, 1]
