"""The emulator, the sampler and the posterior, against densities that are known."""

import numpy as np
import pytest

from surefoot.errors import SurefootError
from surefoot.inference.emulator import fit_emulator, log_conductances, make_features
from surefoot.inference.posterior import Pool, Region, first_region, has_settled, next_region, sample_posterior
from surefoot.inference.sampler import Jumps, sample, starts
from surefoot.pulmonary import PARAMETER_BOX, Settings

LOW, HIGH = np.asarray(PARAMETER_BOX).T
SETTINGS = Settings()
rng = np.random.default_rng(5)
A = rng.standard_normal((40, 3))


def simulator(units):
    """Smooth in f_L, f_S and the trees' conductances, hence with steps in xi, as the real one."""
    xi = LOW[2] + units[:, 2] * (HIGH[2] - LOW[2])
    logs = log_conductances(SETTINGS, xi)
    inputs = np.stack([20 * units[:, 0], 20 * np.sin(units[:, 1]), 15 * logs.mean(axis=1)], axis=1)
    return list(inputs @ A.T)


def trees(unit_xi):
    return log_conductances(SETTINGS, LOW[2] + unit_xi * (HIGH[2] - LOW[2]))


TRUTH = np.array([0.4, 0.3, 0.6])
MEASURED = simulator(TRUTH[None])[0] + rng.standard_normal(40)


def test_conductances_step_in_xi_and_rise_with_it():
    logs = log_conductances(SETTINGS, np.linspace(2.7, 2.72, 400))[:, 0]
    jumps = np.abs(np.diff(logs) - np.median(np.diff(logs)))
    assert jumps.max() > 20 * np.median(np.diff(logs))
    assert log_conductances(SETTINGS, np.array([3.0]))[0, 0] > log_conductances(SETTINGS, np.array([2.4]))[0, 0]


def test_the_emulator_predicts_through_the_steps_in_xi():
    spread = rng.random((60, 3)) * 0.06
    units = TRUTH - 0.03 + spread
    features = make_features(SETTINGS, units.min(axis=0), units.max(axis=0), (2.33 + 0.55 * 0.67, 2.33 + 0.65 * 0.67))
    xi = LOW[2] + units[:, 2] * (HIGH[2] - LOW[2])
    simulated = np.asarray(simulator(units))
    emulator = fit_emulator(features, units[:45], xi[:45], simulated[:45], MEASURED, 0)
    mean, variance = emulator.predict(features.exact(units[45:], xi[45:]))
    error = emulator.components(simulated[45:]).T - mean
    assert np.sqrt(np.mean(error**2)) < 0.02  # in units of the noise
    assert np.sqrt(np.mean(variance)) < 0.1


def test_the_emulated_likelihood_is_the_exact_one_up_to_a_constant():
    units = TRUTH - 0.03 + rng.random((50, 3)) * 0.06
    features = make_features(SETTINGS, units.min(axis=0), units.max(axis=0), (2.33 + 0.55 * 0.67, 2.33 + 0.65 * 0.67))
    xi = LOW[2] + units[:, 2] * (HIGH[2] - LOW[2])
    emulator = fit_emulator(features, units, xi, np.asarray(simulator(units)), MEASURED, 0)
    exact = np.asarray([-0.5 * np.sum((MEASURED - g) ** 2) for g in simulator(units)])
    difference = emulator.log_likelihood(units, features.xi[np.searchsorted(features.xi, xi)]) - exact
    assert np.median(np.abs(difference - np.median(difference))) < 0.05


JUMPS = Jumps(np.full(3, 0.5), 0.1 * np.eye(3))


def draws(log_density, n_wanted=1000, seed=1):
    generator = np.random.default_rng(seed)
    return sample(log_density, starts(log_density, JUMPS, 2000, generator), JUMPS, n_wanted, generator, 4000)


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


def brute_force():
    """Mean and standard deviation of the posterior by summing the exact density over a grid."""
    axes = [np.linspace(t - 0.06, t + 0.06, 41) for t in TRUTH]
    units = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
    logs = log_conductances(SETTINGS, LOW[2] + axes[2] * (HIGH[2] - LOW[2])).mean(axis=1)
    third = np.tile(15 * logs, 41 * 41)
    inputs = np.stack([20 * units[:, 0], 20 * np.sin(units[:, 1]), third], axis=1)
    log_density = -0.5 * np.sum((MEASURED - inputs @ A.T) ** 2, axis=1)
    weight = np.exp(log_density - log_density.max())
    weight /= weight.sum()
    mean = weight @ units
    return mean, np.sqrt(weight @ (units - mean) ** 2)


@pytest.fixture(scope="module")
def sampled():
    return sample_posterior(
        simulator, SETTINGS, PARAMETER_BOX, TRUTH + 0.02, MEASURED, support=lambda pool: None, n_draws=1000
    )


def test_the_posterior_agrees_with_brute_force(sampled):
    posterior, _ = sampled
    mean, sd = brute_force()
    units = (posterior.samples - LOW) / (HIGH - LOW)
    np.testing.assert_allclose((units.mean(axis=0) - mean) / sd, 0.0, atol=0.2)
    np.testing.assert_allclose(units.std(axis=0), sd, rtol=0.15)
    assert posterior.converged
    assert posterior.emulator_error < 0.1


def test_an_interval_holds_its_share_of_the_draws(sampled):
    posterior, _ = sampled
    for i, interval in enumerate(posterior.intervals):
        inside = (posterior.samples[:, i] >= interval.low) & (posterior.samples[:, i] <= interval.high)
        assert inside.mean() == pytest.approx(interval.level, abs=0.01)
        assert interval.low < interval.median < interval.high


def test_points_where_the_simulator_rather_fails_have_no_probability():
    posterior, _ = sample_posterior(
        simulator, SETTINGS, PARAMETER_BOX, TRUTH, MEASURED,
        support=lambda pool: lambda units: np.where(units[:, 0] > TRUTH[0], 0.1, 0.9), n_draws=300,
    )  # fmt: skip
    assert posterior.samples[:, 0].max() <= LOW[0] + TRUTH[0] * (HIGH[0] - LOW[0]) + 1e-6


WALL = TRUTH @ [0.6, 0.8, 0.0] - 0.03  # three to four posterior standard deviations from the truth
WAVES = np.random.default_rng(9).standard_normal((3, 4)) * 100
ROUGH = np.random.default_rng(8).standard_normal((40, 4))


def depth(units):
    return units @ [0.6, 0.8, 0.0] - WALL


def rough_near_failures(units):
    """Fails beyond a wall, and waves grow towards it: they make the processes' lengths short."""
    waves = np.exp(-np.maximum(depth(units), 0.0) / 0.01)[:, None] * np.cos(np.arange(4) + units @ WAVES)
    found = np.asarray(simulator(units)) + waves @ ROUGH.T
    return [None if d < 0.0 else g for d, g in zip(depth(units), found, strict=True)]


@pytest.mark.parametrize("seed", [4, 6, 7])
def test_the_region_stays_bounded_near_failures(seed):
    posterior, pool = sample_posterior(
        rough_near_failures, SETTINGS, PARAMETER_BOX, TRUTH, MEASURED,
        support=lambda pool: lambda units: 1.0 * (depth(units) >= 0.0), n_draws=300, seed=seed,
    )  # fmt: skip
    assert pool.failed
    assert posterior.converged
    units = (posterior.samples - LOW) / (HIGH - LOW)
    ratios = units.std(axis=0) / brute_force()[1]  # without a trend: up to 27, 2.9 and 11
    np.testing.assert_allclose(ratios, 1.0, atol=0.3)


def test_where_the_emulator_knows_nothing_it_returns_to_a_plane():
    units = TRUTH - 0.03 + np.random.default_rng(2).random((40, 3)) * 0.06
    bottom, top = TRUTH - 0.06, TRUTH + 0.06
    features = make_features(SETTINGS, bottom, top, tuple(LOW[2] + np.array([bottom[2], top[2]]) * 0.67))
    noise = 2.0 * np.random.default_rng(3).standard_normal((40, 40))  # nothing to learn beside the plane
    xi = LOW[2] + units[:, 2] * (HIGH[2] - LOW[2])
    emulator = fit_emulator(features, units, xi, np.asarray(simulator(units)) + noise, MEASURED, 0)
    corners = TRUTH + 0.055 * np.array([[-1.0, -1.0, -1.0], [1.0, 1.0, 1.0], [1.0, -1.0, 1.0], [-1.0, 1.0, 1.0]])
    at = np.concatenate([TRUTH[None], corners])
    value = emulator.log_likelihood(at, LOW[2] + at[:, 2] * (HIGH[2] - LOW[2]))
    assert np.all(value[1:] < value[0] - 4.0)


def test_the_first_region_reaches_the_optimum_from_afar():
    region = first_region(Pool(simulator), np.array([0.7, 0.6, 0.4]), MEASURED, trees)
    assert np.all(np.abs(region.z(TRUTH[None])) < 4.0)


def test_failed_simulations_are_kept_apart():
    pool = Pool(lambda units: [None if u[0] > 0.5 else g for u, g in zip(units, simulator(units), strict=True)])
    pool.add(np.array([[0.4, 0.3, 0.6], [0.6, 0.3, 0.6]]))
    assert (len(pool.units), len(pool.failed)) == (1, 1)


def test_a_start_that_fails_is_an_error():
    with pytest.raises(SurefootError, match="expected a start at which the simulator runs"):
        first_region(Pool(lambda units: [None] * len(units)), TRUTH, MEASURED, trees)


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


def test_a_region_where_the_simulator_never_runs_is_an_error():
    with pytest.raises(SurefootError, match=r"expected a region .*; 0 of .*; try more evaluations"):
        sample_posterior(
            simulator, SETTINGS, PARAMETER_BOX, TRUTH, MEASURED, support=lambda pool: lambda units: 0.1 * units[:, 0]
        )
