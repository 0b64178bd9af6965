"""The improvement's moments and their logarithms against mpmath, from u = -1e4 to 1e8.

The reference keeps 450 digits: log Phi(36) = -1e-284 is a logarithm of a number that differs from 1 in the 284th.
"""

import functools

import mpmath
import numpy as np
import pytest

from surefoot.numerics import normal

DIGITS = 450
SMALLEST = 1e-290  # true values below it are not representable with all their digits
RTOL = 1e-10

BRANCH = normal._TAIL  # below it normal.py works with ratios
AT_THE_BRANCH = [np.nextafter(BRANCH, -np.inf), BRANCH, np.nextafter(BRANCH, 0.0)]
AROUND_THE_BRANCH = np.linspace(-7.0, -4.0, 31).tolist()
LEFT = (-np.logspace(-6, 4, 61)).tolist()
RIGHT = np.logspace(-6, 8, 85).tolist()
U = np.array(sorted([*LEFT, *AT_THE_BRANCH, *AROUND_THE_BRANCH, 0.0, -37.0, -37.8, 8.2, 8.4, 16.0, 30.0, *RIGHT]))


@functools.cache
def reference() -> dict[str, tuple[list, list]]:
    """Values and derivatives of every function at every u, as mpf."""
    names = ("A", "B", "log_pi", "log_a", "log_scaled_ei")
    out: dict[str, tuple[list, list]] = {name: ([], []) for name in names}
    with mpmath.workdps(DIGITS):
        for u in map(mpmath.mpf, U.tolist()):
            phi, Q = mpmath.npdf(u), mpmath.ncdf(-u)
            Phi = mpmath.ncdf(u) if u < 0 else 1 - Q
            A = u * Phi + phi
            B = (u * u + 1) * Phi + u * phi
            V = B - A * A
            rows = {
                "A": (A, Phi),
                "B": (B, 2 * A),
                "log_pi": (mpmath.log(Phi), phi / Phi),
                "log_a": (mpmath.log(A), Phi / A),
                "log_scaled_ei": (mpmath.log(A) - mpmath.log(V) / 2, (B * Phi - A * A) / (A * V)),
            }
            for name, (value, slope) in rows.items():
                out[name][0].append(value)
                out[name][1].append(slope)
    return out


def relative_errors(computed: np.ndarray, exact: list) -> np.ndarray:
    """|computed - exact| / |exact|, 0 where the exact value underflows."""
    with mpmath.workdps(DIGITS):
        errors = [
            0.0 if abs(e) < SMALLEST else float(abs(mpmath.mpf(c) - e) / abs(e))
            for c, e in zip(computed.tolist(), exact, strict=True)
        ]
    return np.array(errors)


def report(errors: np.ndarray) -> str:
    return f"relative error {errors.max():.1e} at u = {U[errors.argmax()]!r}"


@pytest.mark.parametrize("name", ["log_pi", "log_a", "log_scaled_ei"])
def test_logarithms_are_accurate_from_minus_1e4_to_1e8(name):
    value, _ = getattr(normal, name)(U)
    errors = relative_errors(value, reference()[name][0])
    assert errors.max() < RTOL, report(errors)


@pytest.mark.parametrize("name", ["log_pi", "log_a", "log_scaled_ei"])
def test_slopes_of_logarithms_are_accurate_from_minus_1e4_to_1e8(name):
    _, slope = getattr(normal, name)(U)
    errors = relative_errors(slope, reference()[name][1])
    assert errors.max() < RTOL, report(errors)


@pytest.mark.parametrize("name", ["A", "B"])
def test_moments_are_accurate_wherever_they_do_not_underflow(name):
    errors = relative_errors(getattr(normal, name)(U), reference()[name][0])
    assert errors.max() < RTOL, report(errors)


@pytest.mark.parametrize("name", ["log_pi", "log_a", "log_scaled_ei"])
def test_nothing_is_infinite_or_nan_between_minus_1e4_and_1e8(name):
    value, slope = getattr(normal, name)(U)
    assert np.isfinite(value).all()
    assert np.isfinite(slope).all()


def test_the_ratio_of_the_moments_is_the_continued_fraction_in_the_tail():
    t = np.logspace(np.log10(-BRANCH), 4, 40)
    rho_0, rho_1, rho_2 = normal.tail_ratios(t)
    with mpmath.workdps(60):
        for i, x in enumerate(map(mpmath.mpf, t.tolist())):
            phi, Phi = mpmath.npdf(x), mpmath.ncdf(-x)
            A, B = phi - x * Phi, (x * x + 1) * Phi - x * phi
            for computed, exact in ((rho_0[i], Phi / phi), (rho_1[i], A / Phi), (rho_2[i], B / (2 * A))):
                assert abs(computed / exact - 1) < 1e-13
