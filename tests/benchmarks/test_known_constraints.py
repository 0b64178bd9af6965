"""The regions of the benchmark have the shares that it says."""

import numpy as np
import pytest

from benchmarks.known_constraints import N_DESIGN, N_MODEL, cases, run, share_of_product, share_of_sum

DRAWN = np.random.default_rng(0).random((100_000, 5))


@pytest.mark.parametrize("c", [0.8, 1.7, 2.5, 3.9])
def test_the_share_of_a_sum_is_that_of_random_points(c):
    assert share_of_sum(c, 5) == pytest.approx(np.mean(DRAWN.sum(axis=1) <= c), abs=0.006)


@pytest.mark.parametrize("c", [1e-4, 1e-2, 0.3])
def test_the_share_of_a_product_is_that_of_random_points(c):
    assert share_of_product(c, 5) == pytest.approx(np.mean(DRAWN.prod(axis=1) <= c), abs=0.006)


def test_there_are_ten_thousand_suggestions():
    assert len(cases()) * (N_DESIGN + N_MODEL) >= 10_000


def test_violations_are_seen_where_the_constraint_is_left_out():
    case = next(case for case in cases() if case.kind == "curved" and case.share == 1e-6)
    assert not any(case.holds(x) for x in run(case, False, 5, 1).points[:5])
