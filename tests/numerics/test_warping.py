import numpy as np
import pytest

from surefoot.numerics.warping import ABOVE, LEVELS, Warp, make_warp

Y = np.array([[3.0, 5.0, 80.0, 1e3, 1e6, 40.0]])
OK = np.ones(Y.shape, bool)
BELOW = [level for level in range(len(LEVELS)) if level not in ABOVE]  # they compress low values


@pytest.mark.parametrize("level", range(len(LEVELS)))
def test_it_is_monotone_and_can_be_undone(level):
    y = Y if level in ABOVE else -Y
    warp = make_warp(y, OK, np.array([level]))
    w = warp.forward(y)
    assert (np.argsort(w) == np.argsort(y)).all()
    np.testing.assert_allclose(warp.inverse(w), y, rtol=1e-9)


@pytest.mark.parametrize("level", range(len(LEVELS)))
def test_slopes_are_those_of_differences(level):
    y = Y if level in ABOVE else -Y
    warp = make_warp(y, OK, np.array([level]))
    h = 1e-6 * (y + np.sign(y))
    slope = (warp.forward(y + h) - warp.forward(y)) / h
    np.testing.assert_allclose(np.exp(warp.log_slope(y)), slope, rtol=1e-4)
    np.testing.assert_allclose(warp.inverse_slope(warp.forward(y)), 1.0 / np.exp(warp.log_slope(y)), rtol=1e-9)


def test_near_the_least_value_differences_stay_and_far_above_they_shrink():
    warp = make_warp(Y, OK, np.array([4]))
    low, near, far = warp.forward(np.array([[3.0, 3.0 + 1e-3, 1e6]]))[0]
    assert near - low == pytest.approx(1e-3, rel=1e-3)
    assert far - low < 1e5


def test_levels_that_compress_low_values_keep_the_differences_of_the_largest_ones():
    y = -Y
    warp = make_warp(y, OK, np.array([BELOW[-1]]))
    high, near, far = warp.forward(np.array([[-3.0, -3.0 - 1e-3, -1e6]]))[0]
    assert high - near == pytest.approx(1e-3, rel=1e-3)
    assert high - far < 1e5


def test_compressing_low_values_makes_a_parabola_of_a_pit():
    x = np.linspace(-3.0, 3.0, 61)[None]
    warp = make_warp(-np.exp(-x * x), np.ones(x.shape, bool), np.array([BELOW[-1]]))
    inner = np.abs(x[0]) < 2.0
    w = warp.forward(-np.exp(-x * x))[0][inner]
    second = np.diff(w, 2)
    assert second.min() > 0.5 * second.max()  # of the pit itself it changes sign


def test_above_the_largest_value_it_goes_on_with_slope_1():
    warp = make_warp(Y, OK, np.array([BELOW[0]]))
    np.testing.assert_array_equal(warp.forward(np.array([[2e6]])), [[2e6]])
    np.testing.assert_array_equal(warp.inverse(np.array([[2e6]])), [[2e6]])


def test_level_0_changes_no_bit():
    np.testing.assert_array_equal(make_warp(Y, OK, np.array([0])).forward(Y), Y)


def test_below_what_was_seen_it_goes_on_with_slope_1():
    warp = make_warp(Y, OK, np.array([3]))
    np.testing.assert_array_equal(warp.forward(np.array([[1.0]])), [[1.0]])
    np.testing.assert_array_equal(warp.inverse(np.array([[1.0]])), [[1.0]])


def test_every_run_has_its_own_warp():
    both = make_warp(np.concatenate([Y, 2.0 * Y]), np.ones((2, 6), bool), np.array([2, 0]))
    assert np.isinf(both.s[1, 0])
    np.testing.assert_array_equal(both.part(slice(0, 1)).forward(Y), make_warp(Y, OK, np.array([2])).forward(Y))


@pytest.mark.parametrize(
    "y", [[7.0, 7.0, 7.0], [-1e308, 1e308, 0.0], [0.0, 0.0, 5e-324], [1e300, 2e300, 3e300]], ids=str
)
def test_extreme_values_stay_finite(y):
    y = np.array([y])
    for level in range(len(LEVELS)):
        warp = make_warp(y, np.ones(y.shape, bool), np.array([level]))
        assert np.isfinite(warp.forward(y)).all()


def test_failed_rows_have_no_say():
    y = np.concatenate([Y, [[-1e9]]], axis=1)
    ok = np.array([[True] * 6 + [False]])
    some, all_of = make_warp(y, ok, np.array([2])), make_warp(Y, OK, np.array([2]))
    np.testing.assert_allclose(some.s, all_of.s, rtol=1e-12)
    np.testing.assert_array_equal(some.end, all_of.end)


def test_the_identity_has_an_infinite_scale():
    assert Warp(np.zeros((1, 1)), np.full((1, 1), np.inf)).log_slope(Y).tolist() == [[0.0] * 6]
