"""Markov chains (emcee's ensemble of walkers) over a region of the unit cube.

Where a simulator steps or fails so does its posterior: it can have modes with nothing between them. Stretch moves
never cross such a gap and would leave as many walkers in each mode as happened to start there. Every second
move is therefore an independent draw from a wide mixture about the region, which jumps.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from surefoot.calibration.box import Floats
from surefoot.errors import MissingExtraError

_SCALES = (1.0, 3.0)  # of the mixture's two normal distributions, in the region's coordinates
_CHUNK, _MAX_STEPS = 250, 4000  # steps between looks at the autocorrelation, and in all

LogDensity = Callable[[Floats], Floats]
"""points (m, d) -> (m,), -inf where there is no probability."""


def emcee() -> Any:
    """The module, or an error that says how to get it."""
    try:
        import emcee as module
    except ImportError as error:
        raise MissingExtraError(
            "expected emcee for the posterior; it is not installed; try pip install 'surefoot[calibration]'"
        ) from error
    return module


def n_walkers(d: int) -> int:
    """Eight per parameter, and enough for the least of ensembles."""
    return max(16, 8 * d)


@dataclass(frozen=True)
class Chains:
    """Draws and how good they are."""

    units: Floats  # (S, d), thinned to about independent draws
    log_density: Floats  # (S,)
    acceptance: float
    n_effective: float


@dataclass(frozen=True)
class Jumps:
    """Draws u = centre + s C z with z normal and s one of _SCALES, and their density."""

    centre: Floats  # (d,)
    C: Floats  # (d, d), lower triangular

    def draw(self, m: int, random: Any) -> Floats:
        """m points, from a generator old or new."""
        scale = np.asarray(_SCALES)[(random.uniform(size=m) < 0.5).astype(int)]
        return np.asarray(self.centre + scale[:, None] * (random.normal(size=(m, self.centre.size)) @ self.C.T))

    def log_density(self, units: Floats) -> Floats:
        """Of the draws, up to a constant."""
        z2 = np.sum(np.linalg.solve(self.C, (units - self.centre).T) ** 2, axis=0)
        return np.asarray(
            np.logaddexp.reduce([-0.5 * z2 / s**2 - self.centre.size * np.log(s) for s in _SCALES], axis=0)
        )

    def propose(self, coordinates: Floats, random: Any) -> tuple[Floats, Floats]:
        """As emcee's Metropolis-Hastings move wants it: new points, log q(old) - log q(new)."""
        new = self.draw(len(coordinates), random)
        return new, self.log_density(coordinates) - self.log_density(new)


def starts(log_density: LogDensity, jumps: Jumps, m: int, rng: np.random.Generator) -> Floats:
    """n_walkers distinct points of m draws, by importance: every mode gets its share. Fewer if the support is tiny."""
    units = jumps.draw(m, rng)
    weight = log_density(units) - jumps.log_density(units)
    found = np.flatnonzero(np.isfinite(weight))
    noise = rng.gumbel(size=found.size)  # the largest of log weight + Gumbel noise: a sample without replacement
    return np.asarray(units[found[np.argsort(weight[found] + noise)[::-1][: n_walkers(jumps.centre.size)]]])


def sample(log_density: LogDensity, start: Floats, jumps: Jumps, n_wanted: float, rng: np.random.Generator) -> Chains:
    """About n_wanted independent draws; start (walkers, d).

    Runs until the chains are worth that many, or _MAX_STEPS. The first five autocorrelation times are dropped.
    """
    module = emcee()
    moves = [(module.moves.StretchMove(), 0.5), (module.moves.MHMove(jumps.propose), 0.5)]
    sampler = module.EnsembleSampler(len(start), start.shape[1], log_density, vectorize=True, moves=moves)
    sampler.random_state = np.random.RandomState(rng.integers(2**31)).get_state()  # emcee takes the old kind only
    state, tau = start, np.inf
    while sampler.iteration < _MAX_STEPS:
        state = sampler.run_mcmc(state, _CHUNK, skip_initial_state_check=True)
        # emcee warns of short chains; what they are worth is reported instead
        times = sampler.get_autocorr_time(quiet=True, tol=0)
        tau = max(float(np.max(np.nan_to_num(times, nan=sampler.iteration))), 1.0)  # NaN: walkers that never moved
        if len(start) * (sampler.iteration - 5.0 * tau) / tau >= n_wanted:
            break
    burn = int(min(5.0 * tau, sampler.iteration // 2))
    thin = max(1, int(tau / 2.0))  # a draw or two per autocorrelation time
    return Chains(
        units=np.asarray(sampler.get_chain(discard=burn, thin=thin, flat=True)),
        log_density=np.asarray(sampler.get_log_prob(discard=burn, thin=thin, flat=True)),
        acceptance=float(np.mean(sampler.acceptance_fraction)),
        n_effective=len(start) * (sampler.iteration - burn) / tau,
    )
