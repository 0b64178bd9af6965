"""Markov chains (emcee's ensemble of walkers) over a region of the unit cube."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from surefoot.errors import MissingExtraError
from surefoot.pulmonary.arrays import Floats

N_WALKERS = 24  # eight per parameter
_CHUNK = 250  # steps between looks at the autocorrelation


@dataclass(frozen=True)
class Chains:
    """Draws and how good they are."""

    units: Floats  # (S, 3), thinned to about independent draws
    log_density: Floats  # (S,)
    acceptance: float
    n_effective: float


def sample(
    log_density: Callable[[Floats], Floats], start: Floats, n_wanted: float, rng: np.random.Generator, max_steps: int
) -> Chains:
    """About n_wanted independent draws from a density over (m, 3) points; start (walkers, 3).

    Runs until the chains are worth that many, or max_steps. The first five autocorrelation times are dropped.
    """
    try:
        import emcee
    except ImportError as error:
        raise MissingExtraError(
            "expected emcee for the posterior; it is not installed; try pip install 'surefoot[pulmonary]'"
        ) from error
    sampler = emcee.EnsembleSampler(len(start), start.shape[1], log_density, vectorize=True)
    sampler.random_state = np.random.RandomState(rng.integers(2**31)).get_state()  # emcee takes the old kind only
    state, tau = start, np.inf
    while sampler.iteration < max_steps:
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
