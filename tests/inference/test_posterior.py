"""The emulator and the posterior with the trees' conductances in place of xi, against densities that are known."""

import numpy as np
import pytest

from surefoot.calibration.box import Box
from surefoot.calibration.emulator import fit_emulator
from surefoot.calibration.inputs import make_inputs
from surefoot.calibration.posterior import Draws, sample_posterior
from surefoot.calibration.region import Pool, first_region
from surefoot.errors import SurefootError
from surefoot.inference.lungs import log_conductances, parameters
from surefoot.pulmonary import PARAMETER_BOX, Settings

LOW, HIGH = np.asarray(PARAMETER_BOX).T
SETTINGS = Settings()
BOX = Box.of(parameters(SETTINGS))
rng = np.random.default_rng(5)
A = rng.standard_normal((40, 3))


def simulator(units):
    """Smooth in f_L, f_S and the trees' conductances, hence with steps in xi, as the real one."""
    xi = LOW[2] + units[:, 2] * (HIGH[2] - LOW[2])
    logs = log_conductances(SETTINGS, xi)
    inputs = np.stack([20 * units[:, 0], 20 * np.sin(units[:, 1]), 15 * logs.mean(axis=1)], axis=1)
    return list(inputs @ A.T)


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
    inputs = make_inputs(BOX, units.min(axis=0), units.max(axis=0))
    simulated = np.asarray(simulator(units))
    emulator = fit_emulator(inputs, units[:45], simulated[:45], MEASURED, 0)
    mean, variance = emulator.predict(inputs.exact(units[45:]))
    error = emulator.components(simulated[45:]).T - mean
    assert np.sqrt(np.mean(error**2)) < 0.02  # in units of the noise
    assert np.sqrt(np.mean(variance)) < 0.1


def test_the_emulated_likelihood_is_the_exact_one_up_to_a_constant():
    units = TRUTH - 0.03 + rng.random((50, 3)) * 0.06
    inputs = make_inputs(BOX, units.min(axis=0), units.max(axis=0))
    emulator = fit_emulator(inputs, units, np.asarray(simulator(units)), MEASURED, 0)
    exact = np.asarray([-0.5 * np.sum((MEASURED - g) ** 2) for g in simulator(units)])
    difference = emulator.log_likelihood(units) - exact
    assert np.median(np.abs(difference - np.median(difference))) < 0.05


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
    return sample_posterior(Pool(simulator), BOX, TRUTH + 0.02, MEASURED)


def test_the_posterior_agrees_with_brute_force(sampled):
    mean, sd = brute_force()
    units = (sampled.samples - LOW) / (HIGH - LOW)
    np.testing.assert_allclose((units.mean(axis=0) - mean) / sd, 0.0, atol=0.2)
    np.testing.assert_allclose(units.std(axis=0), sd, rtol=0.15)
    assert sampled.converged
    assert sampled.emulator_error < 0.1


def test_an_interval_holds_its_share_of_the_draws(sampled):
    for i, interval in enumerate(sampled.intervals):
        inside = (sampled.samples[:, i] >= interval.low) & (sampled.samples[:, i] <= interval.high)
        assert inside.mean() == pytest.approx(interval.level, abs=0.01)
        assert interval.low < interval.median < interval.high


def test_points_where_the_simulator_rather_fails_have_no_probability():
    posterior = sample_posterior(
        Pool(simulator), BOX, TRUTH, MEASURED,
        support=lambda pool: lambda units: np.where(units[:, 0] > TRUTH[0], 0.1, 0.9), draws=Draws(300),
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
    pool = Pool(rough_near_failures)
    posterior = sample_posterior(
        pool, BOX, TRUTH, MEASURED,
        support=lambda pool: lambda units: 1.0 * (depth(units) >= 0.0), draws=Draws(300, seed=seed),
    )  # fmt: skip
    assert pool.failed
    assert posterior.converged
    units = (posterior.samples - LOW) / (HIGH - LOW)
    ratios = units.std(axis=0) / brute_force()[1]  # without a trend: up to 27, 2.9 and 11
    np.testing.assert_allclose(ratios, 1.0, atol=0.3)


def test_where_the_emulator_knows_nothing_it_returns_to_a_plane():
    units = TRUTH - 0.03 + np.random.default_rng(2).random((40, 3)) * 0.06
    inputs = make_inputs(BOX, TRUTH - 0.06, TRUTH + 0.06)
    noise = 2.0 * np.random.default_rng(3).standard_normal((40, 40))  # nothing to learn beside the plane
    emulator = fit_emulator(inputs, units, np.asarray(simulator(units)) + noise, MEASURED, 0)
    corners = TRUTH + 0.055 * np.array([[-1.0, -1.0, -1.0], [1.0, 1.0, 1.0], [1.0, -1.0, 1.0], [-1.0, 1.0, 1.0]])
    value = emulator.log_likelihood(np.concatenate([TRUTH[None], corners]))
    assert np.all(value[1:] < value[0] - 4.0)


def test_the_first_region_reaches_the_optimum_from_afar():
    region = first_region(Pool(simulator), np.array([0.7, 0.6, 0.4]), MEASURED, BOX)
    assert np.all(np.abs(region.z(TRUTH[None])) < 4.0)


def test_a_start_that_fails_is_an_error():
    with pytest.raises(SurefootError, match="expected a start at which the simulator runs"):
        first_region(Pool(lambda units: [None] * len(units)), TRUTH, MEASURED, BOX)


def test_a_region_where_the_simulator_never_runs_is_an_error():
    with pytest.raises(SurefootError, match=r"expected a region .*; 0 of .*; try more evaluations"):
        sample_posterior(Pool(simulator), BOX, TRUTH, MEASURED, support=lambda pool: lambda units: 0.1 * units[:, 0])
