"""What is true of A, B and the log policies of u; their digits are checked in oracles/test_normal_against_mpmath.py."""

import math

import numpy as np
import pytest
from scipy import stats

from surefoot.numerics import normal

MODERATE = np.linspace(-4.0, 4.0, 321)
phi, Phi = stats.norm.pdf, stats.norm.cdf


def textbook_a(u):
    return u * Phi(u) + phi(u)  # [NH18, Eq. 4]


def textbook_b(u):
    return (u * u + 1.0) * Phi(u) + u * phi(u)  # [NH18, Eq. 5]


def test_pi_is_the_textbook_form_where_that_is_accurate():
    np.testing.assert_allclose(np.exp(normal.log_pi(MODERATE)[0]), Phi(MODERATE), rtol=1e-12)


def test_a_is_the_textbook_form_where_that_is_accurate():
    np.testing.assert_allclose(normal.A(MODERATE), textbook_a(MODERATE), rtol=1e-12)


def test_log_a_is_the_logarithm_of_a():
    np.testing.assert_allclose(np.exp(normal.log_a(MODERATE)[0]), textbook_a(MODERATE), rtol=1e-12)


def test_b_is_the_textbook_form_where_that_is_accurate():
    np.testing.assert_allclose(normal.B(MODERATE), textbook_b(MODERATE), rtol=1e-11)


def test_scaled_ei_is_the_textbook_form_where_that_is_accurate():
    A, B = textbook_a(MODERATE), textbook_b(MODERATE)
    expected = A / np.sqrt(B - A * A)  # [NH18, Eq. 6]
    np.testing.assert_allclose(np.exp(normal.log_scaled_ei(MODERATE)[0]), expected, rtol=1e-10)


@pytest.mark.parametrize("name", ["log_pi", "log_a", "log_scaled_ei"])
def test_the_remainder_of_taylors_first_order_expansion_is_of_order_two(name):
    function = getattr(normal, name)
    u = np.array([-3e3, -50.0, -5.2, -4.8, -1.0, 0.0, 1.0, 3.0])
    value, slope = function(u)
    steps = np.logspace(-3.0, -1.5, 6)[:, None] * np.maximum(1.0, np.abs(u))  # relative: log Phi(-3e3) = -4.5e6
    remainders = np.abs(function(u + steps)[0] - value - steps * slope)
    orders = np.polyfit(np.linspace(-3.0, -1.5, 6), np.log10(remainders), 1)[0]
    np.testing.assert_allclose(orders, 2.0, atol=0.15)


def test_log_scaled_ei_rises_strictly():
    u = np.concatenate([-np.logspace(4, -4, 3000), np.logspace(-4, 8, 3000)])
    assert (np.diff(normal.log_scaled_ei(u)[0]) > 0.0).all()


def test_log_pi_rises_strictly_while_it_is_a_normal_number():
    u = np.concatenate([-np.logspace(4, -4, 3000), np.logspace(-4, np.log10(37.0), 3000)])
    assert (np.diff(normal.log_pi(u)[0]) > 0.0).all()


@pytest.mark.parametrize("name", ["log_pi", "log_a", "log_scaled_ei"])
def test_slopes_are_positive_everywhere(name):
    u = np.concatenate([-np.logspace(4, -4, 500), np.logspace(-4, np.log10(37.0), 500)])
    assert (getattr(normal, name)(u)[1] > 0.0).all()


@pytest.mark.parametrize("name", ["log_pi", "log_a", "log_scaled_ei"])
def test_there_is_no_step_at_the_branch_point(name):
    branch = normal._TAIL
    sides = np.array([np.nextafter(branch, -np.inf), branch])
    value, slope = getattr(normal, name)(sides)
    np.testing.assert_allclose(value[0], value[1], rtol=1e-11)
    np.testing.assert_allclose(slope[0], slope[1], rtol=1e-10)


def test_far_left_log_scaled_ei_is_half_of_log_phi_minus_log_two_minus_log_of_distance():
    t = np.logspace(1.5, 4, 11)
    asymptote = 0.5 * (-0.5 * t * t - 0.5 * math.log(2.0 * math.pi) - math.log(2.0) - np.log(t))
    gap = np.abs(normal.log_scaled_ei(-t)[0] - asymptote)
    assert (gap < 1.0 / t**2 + 4e-16 * np.abs(asymptote)).all()  # the next term of the expansion


def test_far_left_scaled_ei_is_the_root_of_half_of_pi():
    t = np.logspace(1.5, 3, 7)
    root = 0.5 * (normal.log_pi(-t)[0] - math.log(2.0))
    gap = np.abs(normal.log_scaled_ei(-t)[0] - root)
    assert (gap < 1.0 / t**2 + 4e-16 * np.abs(root)).all()


def test_far_right_scaled_ei_is_u():
    u = np.logspace(1, 8, 50)
    np.testing.assert_allclose(np.exp(normal.log_scaled_ei(u)[0]), u, rtol=1e-14)


def test_far_right_the_slope_of_log_scaled_ei_is_one_over_u():
    u = np.logspace(1, 8, 50)
    np.testing.assert_allclose(normal.log_scaled_ei(u)[1] * u, 1.0, rtol=1e-14)


@pytest.mark.parametrize("name", ["log_pi", "log_a", "log_scaled_ei"])
def test_an_element_does_not_depend_on_its_neighbours(name):
    function = getattr(normal, name)
    u = np.array([[-60.0, -5.0, 0.3], [7.0, -4.0, 1e5]])
    value, slope = function(u)
    for index in np.ndindex(u.shape):
        alone, alone_slope = function(u[index][None])
        assert (value[index], slope[index]) == (alone[0], alone_slope[0])
