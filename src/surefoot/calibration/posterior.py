"""The posterior of the parameters given the data: an emulator near the optimum, refined where the posterior is.

Prior     uniform over the unit cube of the box, where the simulator is likelier to run than to fail
Round     simulate (a lattice in the region, draws of the last round) -> fit the emulator -> sample -> simulate a
          few fresh draws and see how far the emulator was off there. Ends when that would move the estimate by less
          than a quarter of a posterior standard deviation, and the region has settled.
Shapes    units (m, d), N measured values.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from surefoot.calibration.box import Box, Floats
from surefoot.calibration.emulator import Emulator, fit_emulator
from surefoot.calibration.inputs import make_inputs
from surefoot.calibration.region import HALF_WIDTH, Pool, Region, first_region, has_settled, n_first, next_region
from surefoot.calibration.result import Interval, Posterior
from surefoot.calibration.sampler import Chains, Jumps, n_walkers, sample, starts
from surefoot.errors import SurefootError

LATTICE_PER_PARAMETER, N_FRESH = 10, 10
_LEAST_PER_PARAMETER = 4  # simulations near the region; with fewer the emulator takes all
MAX_ROUNDS = 6
TOLERABLE = 0.25  # emulator error in posterior standard deviations: it widens an interval by 3 %
AT_BOUND = 0.005  # of the range: nearer than this is at the bound
_N_CANDIDATES = 5000  # for the walkers' first places
_N_SEARCH = 300.0  # independent draws in a round; the last ones are as many as asked

Success = Callable[[Floats], Floats]
"""P(success) (m,) at units (m, d)."""
Support = Callable[[Pool], "Success | None"]
"""What is known of the failures after these simulations too; None where nothing has failed."""


@dataclass(frozen=True)
class Draws:
    """Which draws are wanted, and of which level their intervals."""

    n: float = 1000.0  # independent ones, about
    level: float = 0.9
    seed: int = 0


_DRAWS = Draws()


@dataclass(frozen=True)
class _Rounds:
    """How the refinement went."""

    number: int
    error: float
    converged: bool


def n_one_round(box: Box) -> int:
    """Simulations that a posterior needs if all goes well."""
    return n_first(box) + LATTICE_PER_PARAMETER * box.d + 1 + N_FRESH


def emulator_error(emulator: Emulator, region: Region, units: Floats, simulated: Sequence[Floats]) -> float:
    """How far the emulator's error at these points would move the estimate: rms, in posterior standard deviations.

    An error e of the components moves it by (J'J)^-1 J'e, J the components' slopes; in standard deviations, with
    J = Q R, by Q'e.
    """
    mean, _ = emulator.predict(emulator.inputs.exact(units))
    errors = emulator.components(np.asarray(simulated)).T - mean  # (k, m)
    z = region.z(units)
    design = np.concatenate([np.ones((len(z), 1)), z], axis=1)
    slopes = np.linalg.lstsq(design, mean.T, rcond=None)[0][1:]  # (d, k): a plane through the draws
    Q = np.linalg.qr(slopes.T)[0]
    return float(np.sqrt(np.mean((Q.T @ errors) ** 2)))


def sample_posterior(
    pool: Pool,
    box: Box,
    start: Floats,
    measured: Floats,
    *,
    support: Support = lambda pool: None,
    draws: Draws = _DRAWS,
    on_round: Callable[[int, float], None] = lambda number, error: None,
) -> Posterior:
    """Sample the posterior from a start (d,) in the unit cube near its mode; the simulations made are in the pool.

    support   given the pool, P(success) as a function of units
    on_round  called after each round with its number and the emulator's error
    """
    rng = np.random.default_rng((draws.seed, 7))
    region = first_region(pool, start, measured, box)
    rounds = _Rounds(0, np.inf, False)
    while rounds.number < MAX_ROUNDS and not rounds.converged:
        lacking = LATTICE_PER_PARAMETER * box.d - int(np.sum(region.inside(np.asarray(pool.units).reshape(-1, box.d))))
        if lacking > 0:
            pool.add(region.lattice(lacking, rng))
        emulator = _fit(pool, region, box, measured, draws.seed)
        chains = _sample(emulator, region, support(pool), _N_SEARCH, rng)
        new = next_region(region, chains.units)
        error, share = _look(pool, emulator, new, chains, rng)
        error = rounds.error if share == 0.0 else error
        settled = has_settled(region, new, pool.best(measured)[0])
        rounds = _Rounds(rounds.number + 1, error, error < TOLERABLE and settled and share >= 0.7)
        region = new
        on_round(rounds.number, rounds.error)
    emulator = _fit(pool, region, box, measured, draws.seed)
    chains = _sample(emulator, region, support(pool), draws.n, rng)
    return _summary(chains, emulator, box, draws.level, rounds, len(pool))


def _look(
    pool: Pool, emulator: Emulator, region: Region, chains: Chains, rng: np.random.Generator
) -> tuple[float, float]:
    """The emulator's error at fresh simulations of draws, and the share of these that ran."""
    best = chains.units[np.argmax(chains.log_density)]
    fresh = np.concatenate([best[None], chains.units[rng.choice(len(chains.units), N_FRESH, replace=False)]])
    found = pool.add(fresh)
    ran = [i for i, value in enumerate(found) if value is not None]
    simulated = [value for value in found if value is not None]
    error = emulator_error(emulator, region, fresh[ran], simulated) if simulated else np.inf
    return error, len(ran) / len(fresh)


def _fit(pool: Pool, region: Region, box: Box, measured: Floats, seed: int) -> Emulator:
    units, simulated = np.asarray(pool.units), np.asarray(pool.predicted)
    near = region.inside(units, 1.2 * HALF_WIDTH)
    if near.sum() >= _LEAST_PER_PARAMETER * box.d:
        units, simulated = units[near], simulated[near]
    return fit_emulator(make_inputs(box, *region.corners()), units, simulated, measured, seed)


def _sample(
    emulator: Emulator, region: Region, success: Success | None, n_wanted: float, rng: np.random.Generator
) -> Chains:
    def log_density(units: Floats) -> Floats:
        inside = region.inside(units)
        value = np.full(len(units), -np.inf)
        if inside.any():
            there = units[inside]
            value[inside] = emulator.log_likelihood(there)
            if success is not None:
                value[inside] = np.where(success(there) < 0.5, -np.inf, value[inside])
        return value

    jumps = Jumps(region.centre, region.C)
    start = starts(log_density, jumps, _N_CANDIDATES, rng)
    if len(start) < n_walkers(region.centre.size):
        raise SurefootError(
            f"expected a region round the optimum where the simulator is likely to run; {len(start)} of "
            f"{_N_CANDIDATES} points there are; try more evaluations"
        )
    return sample(log_density, start, jumps, n_wanted, rng)


def _summary(
    chains: Chains, emulator: Emulator, box: Box, level: float, rounds: _Rounds, n_simulations: int
) -> Posterior:
    samples = box.values(chains.units)
    intervals = _intervals(chains.units, samples, box, level)
    _, variance = emulator.predict(emulator.inputs.quick(chains.units[:: max(1, len(chains.units) // 200)]))
    notes = []
    if not rounds.converged:
        notes.append(
            f"after {rounds.number} rounds the emulator's error is still {rounds.error:.2g} posterior standard "
            f"deviations (aim: {TOLERABLE}), or the posterior still moved or leaves out the best simulation: take the "
            "intervals with caution"
        )
    notes += [
        f"the interval of {interval.name} reaches the bounds of the search: beyond them the data were not asked"
        for interval in intervals
        if interval.at_bound
    ]
    return Posterior(
        samples=samples,
        intervals=intervals,
        correlation=np.asarray(np.corrcoef(samples.T)).reshape(box.d, box.d),
        n_simulations=n_simulations,
        n_rounds=rounds.number,
        emulator_error=rounds.error,
        emulator_share=float(np.median(np.max(variance / (1.0 + variance), axis=0))),
        acceptance=chains.acceptance,
        n_effective=chains.n_effective,
        converged=rounds.converged,
        notes=tuple(notes),
    )


def _intervals(units: Floats, samples: Floats, box: Box, level: float) -> tuple[Interval, ...]:
    tail = 0.5 * (1.0 - level)
    cuts = np.quantile(units, [tail, 0.5, 1.0 - tail], axis=0)
    bottom, _, top = cuts
    low, median, high = box.values(cuts)
    return tuple(
        Interval(
            name=name,
            mean=float(samples[:, i].mean()),
            sd=float(samples[:, i].std(ddof=1)),
            median=float(median[i]),
            low=float(low[i]),
            high=float(high[i]),
            level=level,
            at_bound=bool(bottom[i] < AT_BOUND or top[i] > 1.0 - AT_BOUND),
        )
        for i, name in enumerate(box.names)
    )
