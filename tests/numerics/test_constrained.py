"""Maxima inside a region: on borders to rounding, always inside, whatever the function does."""

import numpy as np
import pytest

from surefoot.numerics.constrained import Region, maximize_within

LOWER, UPPER = np.zeros(2), np.ones(2)
STARTS = np.random.default_rng(0).random((5, 2))
STEPS = np.full(5, 0.1)


def towards(target, sharpness=1.0):
    def function(x, rows):
        return -sharpness * np.sum((x - target) ** 2, axis=1), -2.0 * sharpness * (x - np.asarray(target))

    return function


def disc(x, rows):
    """Inside the circle of radius 1/2 round the middle."""
    return 0.25 - np.sum((x - 0.5) ** 2, axis=1, keepdims=True), (-2.0 * (x - 0.5))[:, None]


def in_disc(x):
    return disc(x[None], None)[0][0, 0] >= 0.0


def test_without_limits_the_maximum_in_the_box_is_found():
    found = maximize_within(towards([0.3, 1.7]), STARTS, Region(LOWER, UPPER), STEPS)
    np.testing.assert_allclose(found.x, np.broadcast_to([0.3, 1.0], (5, 2)), atol=1e-6)


def test_a_maximum_on_a_half_space_is_found_to_rounding():
    region = Region(LOWER, UPPER, np.asarray([[1.0, 1.0]]), np.asarray([1.0]))
    found = maximize_within(towards([0.9, 0.9]), STARTS, region, STEPS)
    np.testing.assert_allclose(found.x, 0.5, atol=1e-7)


def test_a_maximum_on_a_curved_border_is_found_to_rounding():
    found = maximize_within(towards([1.5, 1.5]), STARTS, Region(LOWER, UPPER, smooth=disc), STEPS)
    np.testing.assert_allclose(found.x, 0.5 + np.sqrt(0.125), atol=1e-7)


def test_every_answer_is_strictly_inside():
    found = maximize_within(towards([1.5, 1.5]), STARTS, Region(LOWER, UPPER, smooth=disc), STEPS)
    assert all(in_disc(x) for x in found.x)


def test_the_corner_of_a_half_space_and_a_curve_is_found():
    region = Region(LOWER, UPPER, np.asarray([[1.0, 0.0]]), np.asarray([0.6]), disc)
    found = maximize_within(towards([1.5, 1.5]), STARTS, region, STEPS)
    np.testing.assert_allclose(found.x, np.broadcast_to([0.6, 0.5 + np.sqrt(0.24)], (5, 2)), atol=1e-6)


@pytest.mark.parametrize("step", [1e-2, 1e-4, 1e-6])
def test_a_function_that_varies_on_a_short_length_is_climbed_from_near_by(step):
    border = 0.5 + np.sqrt(0.125)
    start = np.full((1, 2), border) - [[2.0 * step, 1.0 * step]]
    function = towards(np.full(2, border + step), step**-2)
    found = maximize_within(function, start, Region(LOWER, UPPER, smooth=disc), np.asarray([step]))
    np.testing.assert_allclose(found.x, border, atol=1e-3 * step)


@pytest.mark.parametrize("unit", [1e-9, 1.0, 1e9])
def test_the_unit_of_a_limit_does_not_matter(unit):
    def in_units(x, rows):
        c, J = disc(x, rows)
        return unit * c, unit * J

    found = maximize_within(towards([1.5, 1.5]), STARTS, Region(LOWER, UPPER, smooth=in_units), STEPS)
    np.testing.assert_allclose(found.x, 0.5 + np.sqrt(0.125), atol=1e-7)


def test_inputs_with_equal_bounds_stay_where_they_are():
    region = Region(np.asarray([0.0, 0.7]), np.asarray([1.0, 0.7]), smooth=disc)
    start = np.asarray([[0.5, 0.7]])
    found = maximize_within(towards([1.5, 1.5]), start, region, np.asarray([0.1]))
    np.testing.assert_allclose(found.x, [[0.5 + np.sqrt(0.21), 0.7]], atol=1e-6)


def test_a_start_outside_the_region_finds_its_way_in():
    found = maximize_within(
        towards([0.5, 0.5]), np.asarray([[0.01, 0.02]]), Region(LOWER, UPPER, smooth=disc), STEPS[:1]
    )
    np.testing.assert_allclose(found.x, 0.5, atol=1e-5)


def test_an_empty_region_leaves_the_start_and_says_so():
    region = Region(LOWER, UPPER, np.asarray([[1.0, 0.0], [-1.0, 0.0]]), np.asarray([0.2, -0.8]))
    found = maximize_within(towards([0.5, 0.5]), STARTS, region, STEPS)
    np.testing.assert_array_equal(found.x, STARTS)
    assert (found.value == -np.inf).all()


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_function_that_is_not_finite_beyond_the_start_leaves_a_point_inside(bad):
    def broken(x, rows):
        value, gradient = towards([1.5, 1.5])(x, rows)
        good = x[:, :1] < 0.6
        return np.where(good[:, 0], value, -bad), np.where(good, gradient, np.nan)

    start = np.asarray([[0.5, 0.5]])
    found = maximize_within(broken, start, Region(LOWER, UPPER, smooth=disc), STEPS[:1])
    assert np.isfinite(found.value[0])
    assert in_disc(found.x[0])


def test_a_limit_that_is_not_finite_counts_as_not_met():
    def nowhere(x, rows):
        return np.full((len(x), 1), np.nan), np.full((len(x), 1, 2), np.nan)

    found = maximize_within(towards([0.5, 0.5]), STARTS, Region(LOWER, UPPER, smooth=nowhere), STEPS)
    assert (found.value == -np.inf).all()


def test_the_value_returned_is_that_at_the_point_returned():
    function = towards([1.5, 1.2])
    found = maximize_within(function, STARTS, Region(LOWER, UPPER, smooth=disc), STEPS)
    assert function(found.x, None)[0].tolist() == found.value.tolist()


def test_a_good_start_is_never_made_worse():
    start = np.asarray([[0.5, 0.999]])
    function = towards([0.5, 1.2])
    found = maximize_within(function, start, Region(LOWER, UPPER, smooth=disc), STEPS[:1], max_iter=1)
    assert found.value[0] >= function(start, None)[0][0]


def test_a_band_far_narrower_than_the_step_is_met():
    def band(x, rows):
        c, J = np.sum(x, axis=1) - 1.0, np.ones(2)
        return np.stack([c + 1e-6, 1e-6 - c], axis=1), np.broadcast_to([J, -J], (len(x), 2, 2))

    found = maximize_within(towards([0.9, 0.3]), STARTS, Region(LOWER, UPPER, smooth=band), STEPS)
    np.testing.assert_allclose(found.x, np.broadcast_to([0.8, 0.2], (5, 2)), atol=2e-6)
