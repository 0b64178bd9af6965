"""The posterior of any number of parameters, against densities that are known."""

import numpy as np
import pytest

from surefoot.calibration import Stepped
from surefoot.calibration.box import Box
from surefoot.calibration.coverage import covered, ranks
from surefoot.calibration.posterior import sample_posterior
from surefoot.calibration.region import Pool


def linear(d):
    """A simulator linear in d parameters, its data and the exact mean and standard deviations of the posterior."""
    rng = np.random.default_rng(d)
    A, truth = 30.0 * rng.standard_normal((25, d)), 0.3 + 0.4 * rng.random(d)
    measured = A @ truth + rng.standard_normal(25)
    covariance = np.linalg.inv(A.T @ A)
    return lambda units: list(units @ A.T), truth, measured, covariance @ A.T @ measured, np.sqrt(np.diag(covariance))


@pytest.mark.parametrize("d", [1, 2, 4, 7])
def test_a_linear_simulator_has_the_normal_posterior(d):
    simulate, truth, measured, mean, sd = linear(d)
    posterior = sample_posterior(Pool(simulate), Box.of([(0.0, 1.0)] * d), np.full(d, 0.5), measured)
    assert posterior.converged
    np.testing.assert_allclose((posterior.samples.mean(axis=0) - mean) / sd, 0.0, atol=0.2)
    np.testing.assert_allclose(posterior.samples.std(axis=0), sd, rtol=0.15)
    assert posterior.correlation.shape == (d, d)
    assert np.all(covered(ranks(posterior, truth), 0.999))


def rounded(u):
    """What a simulator that rounds makes of a parameter: a saw whose teeth rise."""
    return np.column_stack([u + 0.02 * np.mod(40.0 * u, 1.0)])


@pytest.mark.parametrize("step", [0, 1])
def test_a_stepped_parameter_may_stand_anywhere(step):
    A = 40.0 * np.random.default_rng(3).standard_normal((25, 2))

    def simulate(units):
        return list(np.column_stack([rounded(units[:, step]), units[:, 1 - step]]) @ A.T)

    truth = np.array([0.45, 0.45])
    measured = simulate(truth[None])[0] + np.random.default_rng(4).standard_normal(25)
    parameters = [(0.0, 1.0), (0.0, 1.0)]
    parameters[step] = Stepped(0.0, 1.0, features=rounded, reach=0.05)
    posterior = sample_posterior(Pool(simulate), Box.of(parameters), truth + 0.04, measured)
    axis = np.linspace(0.35, 0.55, 401)
    grid = np.stack(np.meshgrid(axis, axis, indexing="ij"), axis=-1).reshape(-1, 2)
    log_density = -0.5 * np.sum((measured - np.asarray(simulate(grid))) ** 2, axis=1)
    weight = np.exp(log_density - log_density.max())
    weight /= weight.sum()
    mean = weight @ grid
    sd = np.sqrt(weight @ (grid - mean) ** 2)
    np.testing.assert_allclose((posterior.samples.mean(axis=0) - mean) / sd, 0.0, atol=0.25)
    np.testing.assert_allclose(posterior.samples.std(axis=0), sd, rtol=0.2)


def test_a_truth_of_any_rank_is_covered_or_not():
    np.testing.assert_array_equal(covered(np.array([0.04, 0.06, 0.5, 0.96]), 0.9), [False, True, True, False])
