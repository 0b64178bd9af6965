"""A fast stand-in for the simulator near the optimum: Gaussian processes of the principal components of its outputs.

Notation  g(q) (N,) the simulation as the data would show it, in units of the noise; near the optimum g = mean + B c(q)
          with few columns in B (principal components of the simulations made), so the data d enter through
          B'(d - mean) alone: for noise of variance 1, |d - g|² = |B'(d - mean) - c(q)|² + a constant.
Inputs    f_L, f_S and the logarithms of the trees' conductances in place of xi. The number of vessels in a tree is
          whole, so all outputs step at many values of xi, by up to the noise; in the conductances they are smooth.
Trend     A plane through the simulations is taken off each component; the processes model what it leaves. Where they
          know nothing they return to the plane, which is far from the data at the region's corners. Without it they
          would return to the mean, which is near the data everywhere, and no likelihood would bound the draws.
Error     The variance of component j is that of the process at q plus its nugget; it joins the noise's: 1 + V_j(q).
Shapes    k components, n simulations, m points, N measured values; units (m, 3) in the unit cube of the bounds.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from surefoot.backend import engine, to_host
from surefoot.gp.hyperparameters import N_RANDOM_STARTS, fit
from surefoot.gp.kernels import get_kernel
from surefoot.gp.likelihood import make_data
from surefoot.gp.posterior import Posterior, condition
from surefoot.gp.regression import Regression
from surefoot.numerics.designs import generator
from surefoot.pulmonary import Settings
from surefoot.pulmonary.arrays import Floats
from surefoot.pulmonary.trees import conductance

MAX_COMPONENTS = 12
DISCARDED = 0.02  # rms length, in units of the noise, of what the components leave out of a simulation
_GRID = 600  # values of xi at which conductances are tabulated over a region


def log_conductances(settings: Settings, xi: Floats) -> Floats:
    """(m, trees) of the trees at every xi (m,)."""
    roots = [settings.network.vessel(bed.artery).radius_bottom_cm for bed in settings.network.beds]
    return np.log([[conductance(root, float(x), settings.tree, settings.fluid) for root in roots] for x in xi])


@dataclass(frozen=True)
class Features:
    """The emulator's inputs over a region, scaled to [0, 1] there."""

    settings: Settings
    xi: Floats  # (grid,)
    table: Floats  # (grid, trees) logarithms of the conductances there
    low: Floats  # (2 + trees,) inputs at the lower and upper end of the region
    high: Floats

    def _scaled(self, units: Floats, logs: Floats) -> Floats:
        return np.asarray((np.concatenate([units[:, :2], logs], axis=1) - self.low) / (self.high - self.low))

    def exact(self, units: Floats, xi: Floats) -> Floats:
        """Inputs (m, 2 + trees) of points given by units (m, 3) and their xi (m,)."""
        return self._scaled(units, log_conductances(self.settings, xi))

    def quick(self, units: Floats, xi: Floats) -> Floats:
        """The same from the table, a step of xi being 1/600 of the region's range."""
        nearest = np.rint((xi - self.xi[0]) / (self.xi[1] - self.xi[0])).astype(int)
        return self._scaled(units, self.table[np.clip(nearest, 0, self.xi.size - 1)])


def make_features(settings: Settings, low: Floats, high: Floats, xi: tuple[float, float]) -> Features:
    """Inputs over the region between the corners low and high (units, (3,)) and the xi of these."""
    grid = np.linspace(xi[0], xi[1], _GRID)
    table = log_conductances(settings, grid)
    lowest, highest = np.append(low[:2], table.min(axis=0)), np.append(high[:2], table.max(axis=0))
    return Features(settings, grid, table, lowest, np.maximum(highest, lowest + 1e-9))


@dataclass(frozen=True)
class Emulator:
    """Fitted to n simulations; see the top of this file."""

    features: Features
    centre: Floats  # (N,) mean of the simulations
    basis: Floats  # (N, k), orthonormal columns
    trend: Floats  # (4, k) plane of each component: at the origin, per f_L, f_S and mean conductance
    scale: Floats  # (k,) of what the plane leaves
    processes: Posterior  # of what the plane leaves, scaled, one run each
    target: Floats  # (k,) B'(d - mean)

    def predict(self, x: Floats) -> tuple[Floats, Floats]:
        """Mean and variance (k, m) of the components at inputs x (m, 2 + trees)."""
        mu, sd = self.processes.moments(np.broadcast_to(x, (self.scale.size, *x.shape)))
        nugget = to_host(self.processes.lam * self.processes.s2)[:, None]
        variance = self.scale[:, None] ** 2 * (to_host(sd) ** 2 + nugget)
        return (_plane(x) @ self.trend).T + self.scale[:, None] * to_host(mu), variance

    def log_likelihood(self, units: Floats, xi: Floats) -> Floats:
        """(m,) up to a constant, the emulator's own variance included."""
        mean, variance = self.predict(self.features.quick(units, xi))
        total = 1.0 + variance
        return np.asarray(-0.5 * np.sum((self.target[:, None] - mean) ** 2 / total + np.log(total), axis=0))

    def components(self, predicted: Floats) -> Floats:
        """Components (..., k) of simulations (..., N) in units of the noise."""
        return np.asarray((predicted - self.centre) @ self.basis)


def _plane(x: Floats) -> Floats:
    """Regressors (m, 4) of the trend at inputs x (m, 2 + trees); the conductances rise and fall together."""
    return np.stack([np.ones(len(x)), x[:, 0], x[:, 1], x[:, 2:].mean(axis=1)], axis=1)


def fit_emulator(
    features: Features, units: Floats, xi: Floats, simulated: Floats, measured: Floats, seed: int
) -> Emulator:
    """An emulator of simulations (n, N) at units (n, 3), for data `measured` (N,), all in units of the noise."""
    centre = simulated.mean(axis=0)
    _, lengths, rows = np.linalg.svd(simulated - centre, full_matrices=False)
    tails = np.sqrt(np.append(np.cumsum(lengths[::-1] ** 2)[::-1], 0.0) / len(simulated))
    k = int(np.clip(np.argmax(tails <= DISCARDED), 3, min(MAX_COMPONENTS, len(lengths))))
    basis = rows[:k].T
    components = (simulated - centre) @ basis  # (n, k)
    x = features.exact(units, xi)
    trend = np.linalg.lstsq(_plane(x), components, rcond=None)[0]
    rest = components - _plane(x) @ trend
    scale = np.maximum(rest.std(axis=0), 1e-12)
    data = make_data(np.ascontiguousarray(np.broadcast_to(x, (k, *x.shape))), np.ascontiguousarray((rest / scale).T))
    kernel = get_kernel("se")
    uniforms = generator(seed, 0, len(simulated)).random((k, N_RANDOM_STARTS, x.shape[1] + 1))
    with engine(len(simulated)):
        theta = fit(Regression(data, kernel, estimate_noise=True), uniforms).theta
        processes = condition(data, theta, kernel)
    return Emulator(features, centre, basis, trend, scale, processes, (measured - centre) @ basis)
