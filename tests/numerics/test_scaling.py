"""Standardization of any finite y."""

import numpy as np
import pytest

from surefoot.numerics.scaling import standardize


def all_ok(y):
    return np.ones(y.shape, dtype=bool)


@pytest.mark.parametrize("magnitude", [1e-300, 1e-150, 1e-8, 1.0, 1e8, 1e150, 1e300])
def test_standardized_values_have_mean_0_and_sd_1_at_any_magnitude(magnitude):
    y = magnitude * np.random.default_rng(0).uniform(-1.0, 1.0, (3, 20))
    z, _, _ = standardize(y, all_ok(y))
    np.testing.assert_allclose(z.mean(axis=1), 0.0, atol=1e-14)
    np.testing.assert_allclose(z.std(axis=1), 1.0, rtol=1e-12)


@pytest.mark.parametrize("magnitude", [1e-300, 1e-8, 1.0, 1e8, 1e300])
def test_shift_and_scale_give_the_values_back(magnitude):
    y = magnitude * np.random.default_rng(1).uniform(-1.0, 1.0, (3, 20))
    z, shift, scale = standardize(y, all_ok(y))
    np.testing.assert_allclose(shift + scale * z, y, rtol=1e-12, atol=1e-14 * magnitude)


def test_values_that_span_600_orders_of_magnitude_stay_finite():
    y = np.array([[1e-300, 1.0, -1e-5, 1e300, -1e300, 0.0]])
    z, shift, scale = standardize(y, all_ok(y))
    assert np.isfinite(z).all()
    assert np.isfinite(shift).all()
    assert np.isfinite(scale).all()
    np.testing.assert_allclose(z.std(), 1.0, rtol=1e-12)


def test_the_order_of_values_is_kept():
    y = np.array([[3.0, -1e300, 7.0, 1e300, 2.0]])
    z, _, _ = standardize(y, all_ok(y))
    assert z[0].argmin() == 1
    assert z[0].argmax() == 3


@pytest.mark.parametrize("level", [0.0, 1.0, 0.1, -1e-300, 1e300, 1.0 / 3.0])
def test_constant_values_standardize_to_zero(level):
    y = np.full((1, 7), level)
    z, shift, scale = standardize(y, all_ok(y))
    np.testing.assert_allclose(z, 0.0, atol=1e-14)
    np.testing.assert_allclose(shift, level, rtol=1e-14)
    assert (scale > 0.0).all()


@pytest.mark.parametrize("value", [0.0, 5.0, -1e300])
def test_a_single_value_standardizes_to_zero(value):
    z, shift, _ = standardize(np.array([[value]]), np.array([[True]]))
    assert z[0, 0] == 0.0
    assert shift[0, 0] == value


def test_failed_rows_are_zero_whatever_they_hold():
    y = np.array([[1.0, np.nan, 3.0, np.inf, 8.0, -np.inf]])
    ok = np.isfinite(y)
    z, _, _ = standardize(y, ok)
    np.testing.assert_array_equal(z[~ok], 0.0)


def test_failed_rows_change_nothing_for_the_others():
    y = np.random.default_rng(2).standard_normal((1, 9))
    padded = np.concatenate([y, np.full((1, 4), np.nan)], axis=1)
    z, shift, scale = standardize(padded, np.isfinite(padded))
    alone, alone_shift, alone_scale = standardize(y, all_ok(y))
    np.testing.assert_allclose(z[:, :9], alone, rtol=1e-13)
    np.testing.assert_allclose([shift, scale], [alone_shift, alone_scale], rtol=1e-13)


def test_a_run_without_any_success_is_all_zero():
    z, _, scale = standardize(np.full((1, 3), np.nan), np.zeros((1, 3), dtype=bool))
    np.testing.assert_array_equal(z, 0.0)
    assert (scale > 0.0).all()


def test_runs_do_not_share_their_scale():
    y = np.random.default_rng(3).standard_normal((2, 8)) * np.array([[1e-100], [1e100]])
    together = standardize(y, all_ok(y))[0]
    for r in range(2):
        np.testing.assert_array_equal(together[r], standardize(y[r : r + 1], all_ok(y[:1]))[0][0])
