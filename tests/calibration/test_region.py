"""Where the posterior is: the pool of simulations and the region that follows the draws."""

import numpy as np
import pytest

from surefoot.calibration.region import Pool, Region, has_settled, next_region


def test_failed_simulations_are_kept_apart():
    pool = Pool(lambda units: [None if u[0] > 0.5 else u for u in units])
    pool.add(np.array([[0.4, 0.3, 0.6], [0.6, 0.3, 0.6]]))
    assert (len(pool.units), len(pool.failed)) == (1, 1)


def test_a_region_moves_when_the_draws_crowd_at_its_edge():
    old = Region(np.full(3, 0.5), 0.01 * np.eye(3))
    crowded = 0.5 + np.array([0.048, 0.0, 0.0]) + 0.001 * np.random.default_rng(0).standard_normal((500, 3))
    new = next_region(old, crowded)
    assert new.centre[0] == pytest.approx(0.548, abs=1e-3)
    np.testing.assert_allclose(new.C, 0.015 * np.eye(3))
    assert not has_settled(old, new, new.centre)


def test_a_region_settles_when_the_draws_fit_it():
    old = Region(np.full(3, 0.5), 0.01 * np.eye(3))
    draws = 0.5 + 0.01 * np.random.default_rng(0).standard_normal((2000, 3))
    assert has_settled(old, next_region(old, draws), best=np.full(3, 0.51))


def test_a_region_without_the_best_simulation_has_not_settled():
    old = Region(np.full(3, 0.5), 0.01 * np.eye(3))
    assert not has_settled(old, old, best=np.array([0.5, 0.5, 0.56]))


def test_a_lattice_stays_within_the_bounds():
    region = Region(np.array([0.01, 0.5, 0.99]), 0.02 * np.eye(3))
    points = region.lattice(30, np.random.default_rng(0))
    assert points.shape == (30, 3)
    assert np.all((points >= 0.0) & (points <= 1.0))
