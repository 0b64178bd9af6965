"""Numbers as a person writes them."""

import math

import pytest

from surefoot.optimize.durations import duration
from surefoot.reports.numbers import fixed, number, percent, power, significant


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.397887, "0.397887"),
        (-12.5, "−12.5"),
        (2.6e-5, "2.6 × 10⁻⁵"),
        (-3e20, "−3 × 10²⁰"),
        (math.nan, "–"),
        (math.inf, "∞"),
        (-math.inf, "−∞"),
        (0.0, "0"),
    ],
)
def test_a_number_is_written(value: float, text: str) -> None:
    assert number(value) == text


@pytest.mark.parametrize(
    ("value", "text"), [(1.9, "1.90"), (35.0, "35.0"), (110.0, "110"), (2.5e-7, "2.50 × 10⁻⁷"), (math.nan, "–")]
)
def test_significant_digits_keep_their_zeros(value: float, text: str) -> None:
    assert significant(value) == text


@pytest.mark.parametrize(
    ("value", "text"), [(1e2, "100"), (1e5, "100000"), (1e7, "10⁷"), (-1e-9, "−10⁻⁹"), (2e8, "2 × 10⁸"), (1, "1")]
)
def test_a_tick_of_a_logarithmic_axis(value: float, text: str) -> None:
    assert power(value) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.0123, "12.3 ms"),
        (3.4, "3.4 s"),
        (99.96, "1 min 40 s"),
        (320.0, "5 min 20 s"),
        (11100.0, "3 h 5 min"),
        (math.nan, "–"),
    ],
)
def test_a_duration_has_a_unit_that_suits_it(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_a_share_is_written_in_per_cent() -> None:
    assert percent(0.217) == "22\N{NO-BREAK SPACE}%"


def test_a_small_negative_number_is_not_minus_zero() -> None:
    assert fixed(-0.001, 1) == "0.0"


def test_decimals_are_kept() -> None:
    assert fixed(-2.0, 2) == "−2.00"
