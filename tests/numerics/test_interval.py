"""log P of an interval: against mpmath, in the tails, where it is narrow, and its derivatives."""

import mpmath
import numpy as np
import pytest

from surefoot.numerics.normal import log_interval

mpmath.mp.dps = 60
CASES = [
    (-1.0, 2.0), (-np.inf, 0.3), (0.3, np.inf), (-np.inf, -30.0), (30.0, np.inf), (-8.0, 8.0), (5.0, 6.0),
    (-40.0, -39.0), (20.0, 20.001), (-0.5, -0.5 + 1e-4), (1.0, 1.0 + 1e-7), (-30.0, -30.0 + 1e-9), (0.0, 1e-12),
    (100.0, 101.0),
]  # fmt: skip


def exact(a, b):
    def upper(x):
        return mpmath.mpf(0) if x == np.inf else mpmath.erfc(mpmath.mpf(float(x)) / mpmath.sqrt(2)) / 2

    return mpmath.log(
        upper(a) - upper(b) if a > 0 else (upper(-b) if b != np.inf else 1) - (upper(-a) if a != -np.inf else 0)
    )


def at(a, b):
    return [float(part[0]) for part in log_interval(np.asarray([a]), np.asarray([b]))]


@pytest.mark.parametrize(("a", "b"), CASES)
def test_the_value_agrees_with_sixty_digits(a, b):
    # b - a is itself known to rounding only: of narrow intervals far out that much is left
    width = 0.0 if np.isinf(a) or np.isinf(b) else 4e-16 * max(abs(a), abs(b)) / (b - a)
    assert at(a, b)[0] == pytest.approx(float(exact(a, b)), rel=1e-10, abs=1e-13 + width)


@pytest.mark.parametrize(("a", "b"), CASES)
def test_the_derivatives_agree_with_sixty_digits(a, b):
    p = mpmath.exp(exact(a, b))
    _, by_a, by_b = at(a, b)
    for x, sign, found in ((a, -1, by_a), (b, 1, by_b)):
        density = 0.0 if np.isinf(x) else float(sign * mpmath.npdf(mpmath.mpf(float(x))) / p)
        assert found == pytest.approx(density, rel=2e-5, abs=1e-13)


@pytest.mark.parametrize(("a", "b"), [(-1e12, -1e11), (1e11, 1e12), (-np.inf, -1e200), (1e200, np.inf), (3.0, 3.0)])
def test_nothing_is_infinite_or_nan_however_far_out(a, b):
    assert np.isfinite(at(a, b)).all()
