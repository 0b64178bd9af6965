"""A fast stand-in for the simulator near the optimum: Gaussian processes of the principal components of its outputs.

Notation  g(q) (N,) the simulation as the data would show it, in units of the noise; near the optimum g = mean + B c(q)
          with few columns in B (principal components of the simulations made), so the data d enter through
          B'(d - mean) alone: for noise of variance 1, |d - g|² = |B'(d - mean) - c(q)|² + a constant.
Trend     A plane through the simulations is taken off each component; the processes model what it leaves. Where they
          know nothing they return to the plane, which is far from the data at the region's corners. Without it they
          would return to the mean, which is near the data everywhere, and no likelihood would bound the draws.
Error     The variance of component j is that of the process at q plus its nugget; it joins the noise's: 1 + V_j(q).
Shapes    k components, n simulations, m points, N measured values; units (m, d) in the unit cube, inputs x (m, D).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from surefoot.backend import engine, to_host
from surefoot.calibration.box import Floats
from surefoot.calibration.inputs import Inputs
from surefoot.gp.hyperparameters import N_RANDOM_STARTS, fit
from surefoot.gp.kernels import get_kernel
from surefoot.gp.likelihood import make_data
from surefoot.gp.posterior import Posterior, condition
from surefoot.gp.regression import Regression
from surefoot.numerics.designs import generator

COMPONENTS_PER_PARAMETER = 4  # at most; at least one
DISCARDED = 0.02  # rms length, in units of the noise, of what the components leave out of a simulation


@dataclass(frozen=True)
class Emulator:
    """Fitted to n simulations; see the top of this file."""

    inputs: Inputs
    centre: Floats  # (N,) mean of the simulations
    basis: Floats  # (N, k), orthonormal columns
    trend: Floats  # (regressors, k) plane of each component
    scale: Floats  # (k,) of what the plane leaves
    processes: Posterior  # of what the plane leaves, scaled, one run each
    target: Floats  # (k,) B'(d - mean)

    def predict(self, x: Floats) -> tuple[Floats, Floats]:
        """Mean and variance (k, m) of the components at inputs x (m, D)."""
        mu, sd = self.processes.moments(np.broadcast_to(x, (self.scale.size, *x.shape)))
        nugget = to_host(self.processes.noise)[:, None]
        variance = self.scale[:, None] ** 2 * (to_host(sd) ** 2 + nugget)
        return (self.inputs.plane(x) @ self.trend).T + self.scale[:, None] * to_host(mu), variance

    def log_likelihood(self, units: Floats) -> Floats:
        """(m,) up to a constant, the emulator's own variance included."""
        mean, variance = self.predict(self.inputs.quick(units))
        total = 1.0 + variance
        return np.asarray(-0.5 * np.sum((self.target[:, None] - mean) ** 2 / total + np.log(total), axis=0))

    def components(self, predicted: Floats) -> Floats:
        """Components (..., k) of simulations (..., N) in units of the noise."""
        return np.asarray((predicted - self.centre) @ self.basis)


def fit_emulator(inputs: Inputs, units: Floats, simulated: Floats, measured: Floats, seed: int) -> Emulator:
    """An emulator of simulations (n, N) at units (n, d), for data `measured` (N,), all in units of the noise."""
    centre = simulated.mean(axis=0)
    _, lengths, rows = np.linalg.svd(simulated - centre, full_matrices=False)
    tails = np.sqrt(np.append(np.cumsum(lengths[::-1] ** 2)[::-1], 0.0) / len(simulated))
    d = inputs.box.d
    k = int(np.clip(np.argmax(tails <= DISCARDED), d, min(COMPONENTS_PER_PARAMETER * d, len(lengths))))
    basis = rows[:k].T
    components = (simulated - centre) @ basis  # (n, k)
    x = inputs.exact(units)
    plane = inputs.plane(x)
    trend = np.linalg.lstsq(plane, components, rcond=None)[0]
    rest = components - plane @ trend
    scale = np.maximum(rest.std(axis=0), 1e-12)
    data = make_data(np.ascontiguousarray(np.broadcast_to(x, (k, *x.shape))), np.ascontiguousarray((rest / scale).T))
    kernel = get_kernel("se")
    uniforms = generator(seed, 0, len(simulated)).random((k, N_RANDOM_STARTS, x.shape[1] + 1))
    with engine(len(simulated)):
        theta = fit(Regression(data, kernel, estimate_noise=True), uniforms).theta
        processes = condition(data, theta, kernel)
    return Emulator(inputs, centre, basis, trend, scale, processes, (measured - centre) @ basis)
