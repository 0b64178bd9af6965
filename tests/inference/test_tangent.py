"""Steps in xi: minima and modes on either side of one are found, though nothing smooth leads across."""

import numpy as np
import pytest

from surefoot.calibration.box import Box
from surefoot.calibration.posterior import sample_posterior
from surefoot.calibration.region import Pool, first_region
from surefoot.calibration.tangent import make_tangent
from surefoot.inference.lungs import REACH, parameters
from surefoot.pulmonary import PARAMETER_BOX, Settings

LOW, HIGH = np.asarray(PARAMETER_BOX).T
BOX = Box.of(parameters(Settings()))
LIA = 2  # the largest tree; its conductance falls by 1.5 % at xi = 2.6003
STEP = (2.6003 - LOW[2]) / (HIGH[2] - LOW[2])
# two places of the same conductance, twelve standard deviations of it apart
BEFORE, BEYOND = (np.array([0.4, 0.3, (xi - LOW[2]) / (HIGH[2] - LOW[2])]) for xi in (2.5995, 2.60356))
SLOPES = np.random.default_rng(3).standard_normal((60, 6))


def trees(unit_xi):
    return BOX.features_at(unit_xi)


def make_simulator(others):
    """Linear in f_L, f_S and the conductances; `others`: how much the trees beside LIA count."""

    def simulator(units):
        weights = 100.0 * np.where(np.arange(4) == LIA, 1.0, others)
        return list(np.column_stack([20.0 * units[:, :2], weights * trees(units[:, 2])]) @ SLOPES.T)

    return simulator


def share_beyond(simulator, measured):
    """The probability that xi is beyond the step, summed over a grid of xi, f_L and f_S integrated."""
    xi = np.linspace(BEFORE[2] - 0.02, BEFORE[2] + 0.02, 4001)
    residuals = measured - np.asarray(simulator(np.column_stack([np.full((len(xi), 2), BEFORE[:2]), xi])))
    Q = np.linalg.qr(SLOPES[:, :2])[0]  # what f_L and f_S can explain
    log_density = -0.5 * np.sum((residuals - residuals @ Q @ Q.T) ** 2, axis=1)
    weight = np.exp(log_density - log_density.max())
    return weight[xi > STEP].sum() / weight.sum()


@pytest.mark.parametrize(("start", "truth"), [(BEYOND, BEFORE), (BEFORE, BEYOND)])
def test_the_better_side_of_a_step_is_found_from_the_other(start, truth):
    simulator = make_simulator(others=0.2)
    measured = simulator(truth[None])[0]
    pool = Pool(simulator)
    region = first_region(pool, start, measured, BOX)
    assert abs(region.centre[2] - truth[2]) < 0.1 * abs(start[2] - truth[2])
    assert len(pool.units) < 22  # two steps


def test_a_tangent_tells_the_posterior_beyond_steps():
    simulator = make_simulator(others=0.0)
    measured = simulator(BEFORE[None])[0] + np.random.default_rng(4).standard_normal(60)
    _, mean, covariance = make_tangent(simulator, BEYOND, simulator(BEYOND[None])[0], BOX).posterior(measured)
    share = share_beyond(simulator, measured)
    assert 0.2 < share < 0.8
    assert (mean[2] - BEFORE[2]) / (BEYOND[2] - BEFORE[2]) == pytest.approx(share, abs=0.05)
    apart = BEYOND[2] - BEFORE[2]
    assert np.sqrt(covariance[2, 2]) == pytest.approx(np.sqrt(share * (1.0 - share)) * apart, rel=0.1)


def test_a_tangent_does_without_simulations_that_fail():
    def fails_beyond(units):
        return [g if u[2] < STEP else None for u, g in zip(units, make_simulator(0.2)(units), strict=True)]

    pool = Pool(fails_beyond)
    measured = make_simulator(0.2)(BEFORE[None])[0]
    region = first_region(pool, BEFORE - [0.0, 0.0, 0.001], measured, BOX)
    assert pool.failed
    assert region.inside(BEFORE[None])[0]


def test_modes_on_both_sides_of_a_step_get_their_shares():
    simulator = make_simulator(others=0.02)
    measured = simulator(BEFORE[None])[0] + np.random.default_rng(4).standard_normal(60)
    posterior = sample_posterior(Pool(simulator), BOX, BEYOND, measured)
    units = (posterior.samples - LOW) / (HIGH - LOW)
    share = share_beyond(simulator, measured)
    assert 0.2 < share < 0.8
    assert np.mean(units[:, 2] > STEP) == pytest.approx(share, abs=0.05)
    assert posterior.converged


def test_conductances_return_to_what_they_were_within_reach():
    xi = np.linspace(0.0, 1.0, 3001)
    for logs in trees(xi).T:
        highest = np.maximum.accumulate(logs)
        last = xi[len(xi) - 1 - np.argmax(logs[::-1, None] <= highest[::50], axis=0)]
        assert np.max(last - xi[::50]) <= REACH + 1e-3
