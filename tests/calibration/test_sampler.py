"""The sampler, against densities that are known."""

import numpy as np
import pytest

from surefoot.calibration.sampler import Jumps, sample, starts

JUMPS = Jumps(np.full(3, 0.5), 0.1 * np.eye(3))


def draws(log_density, n_wanted=1000, seed=1):
    generator = np.random.default_rng(seed)
    return sample(log_density, starts(log_density, JUMPS, 2000, generator), JUMPS, n_wanted, generator)


def normal(x):
    return -0.5 * np.sum(((x - 0.5) / 0.1) ** 2, axis=1)


def test_the_sampler_draws_from_a_normal_density():
    chains = draws(normal)
    np.testing.assert_allclose(chains.units.mean(axis=0), 0.5, atol=0.015)
    np.testing.assert_allclose(chains.units.std(axis=0), 0.1, rtol=0.1)
    assert chains.n_effective > 800
    assert 0.2 < chains.acceptance < 0.9


def test_modes_with_nothing_between_them_get_their_shares():
    def split(x):  # two slabs of a normal density, the lower one e^2 times as high
        return np.where(np.abs(x[:, 2] - 0.5) < 0.03, -np.inf, normal(x) + 2.0 * (x[:, 2] < 0.5))

    share = np.mean(draws(split, 3000).units[:, 2] < 0.5)
    assert share == pytest.approx(np.exp(2.0) / (1.0 + np.exp(2.0)), abs=0.04)


def test_the_density_of_jumps_is_that_of_their_draws():
    units = JUMPS.draw(200_000, np.random.default_rng(0))
    inside = np.all(np.abs(units - 0.5) < 0.1, axis=1)
    grid = 0.5 + 0.2 * (np.stack(np.meshgrid(*[np.arange(21)] * 3), axis=-1).reshape(-1, 3) / 20.0 - 0.5)
    wide = 0.5 + 3.0 * (np.stack(np.meshgrid(*[np.arange(61)] * 3), axis=-1).reshape(-1, 3) / 60.0 - 0.5)
    mass = [np.exp(JUMPS.log_density(points)).mean() * side**3 for points, side in ((grid, 0.2), (wide, 3.0))]
    assert inside.mean() == pytest.approx(mass[0] / mass[1], rel=0.05)


def test_the_same_seed_draws_the_same():
    a, b = (draws(normal, 100) for _ in range(2))
    np.testing.assert_array_equal(a.units, b.units)
