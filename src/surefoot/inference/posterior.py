"""The posterior of (f_L, f_S, xi) given the data: an emulator near the optimum, refined where the posterior is.

Prior     uniform over the bounds, where the simulator is likelier to run than to fail
Region    a cube of half-width 5 in coordinates z where the posterior's covariance is the identity: u = centre + C z. It
          starts where the simulator's tangent says (tangent.py; ten simulations from the optimum) and is moved and
          scaled to the draws after each round.
Round     simulate (a lattice in the region, draws of the last round) -> fit the emulator -> sample -> simulate a
          few fresh draws and see how far the emulator was off there. Ends when that would move the estimate by less
          than a quarter of a posterior standard deviation, and the region has settled.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from surefoot.errors import SurefootError
from surefoot.inference.emulator import Emulator, fit_emulator, log_conductances, make_features
from surefoot.inference.result import NAMES, Interval, Posterior
from surefoot.inference.sampler import N_WALKERS, Chains, Jumps, sample, starts
from surefoot.inference.tangent import Simulate, Trees, make_tangent
from surefoot.numerics.designs import kronecker
from surefoot.pulmonary import Settings
from surefoot.pulmonary.arrays import Floats

HALF_WIDTH = 5.0  # of the region, in standard deviations of the posterior
N_LATTICE, N_FRESH = 30, 10
MAX_ROUNDS = 6
TOLERABLE = 0.25  # emulator error in posterior standard deviations: it widens an interval by 3 %
_N_CANDIDATES = 5000  # for the walkers' first places
_MAX_MOVES, _LONGEST = 8, 0.15  # to the first region, and the longest, in the unit cube


@dataclass
class Pool:
    """Every simulation made for the emulator."""

    simulate: Simulate
    units: list[Floats] = field(default_factory=list)
    predicted: list[Floats] = field(default_factory=list)
    failed: list[Floats] = field(default_factory=list)

    def add(self, units: Floats) -> list[Floats | None]:
        """Simulate more points and keep them."""
        found = self.simulate(units)
        for unit, predicted in zip(units, found, strict=True):
            if predicted is None:
                self.failed.append(unit)
            else:
                self.units.append(unit)
                self.predicted.append(predicted)
        return found

    def best(self, measured: Floats) -> tuple[Floats, Floats]:
        """The simulation nearest to the data: its units (3,) and what it predicts (N,)."""
        i = int(np.argmin([np.sum((measured - predicted) ** 2) for predicted in self.predicted]))
        return self.units[i], self.predicted[i]


@dataclass(frozen=True)
class Region:
    """A cube in z, u = centre + C z."""

    centre: Floats  # (3,)
    C: Floats  # (3, 3), lower triangular

    def z(self, units: Floats) -> Floats:
        """Coordinates (m, 3) of units."""
        return np.asarray(np.linalg.solve(self.C, (units - self.centre).T).T)

    def distance(self, a: Floats, b: Floats) -> float:
        """Between two points (3,), in standard deviations."""
        return float(np.linalg.norm(np.linalg.solve(self.C, a - b)))

    def inside(self, units: Floats, half_width: float = HALF_WIDTH) -> Floats:
        """Which units (m, 3) lie in the region and in the unit cube."""
        cube = np.all((units >= 0.0) & (units <= 1.0), axis=1)
        return np.asarray(cube & np.all(np.abs(self.z(units)) <= half_width, axis=1))

    def corners(self) -> tuple[Floats, Floats]:
        """The least box round the region within the unit cube."""
        reach = HALF_WIDTH * np.sum(np.abs(self.C), axis=1)
        return np.clip(self.centre - reach, 0.0, 1.0), np.clip(self.centre + reach, 0.0, 1.0)

    def lattice(self, n: int, rng: np.random.Generator) -> Floats:
        """n points spread evenly over the region within the unit cube, out to 4/5 of its half-width."""
        for factor in (1, 4, 16, 64):
            z = 0.8 * HALF_WIDTH * (2.0 * kronecker(factor * n, 3, rng) - 1.0)
            units = self.centre + z @ self.C.T
            units = units[self.inside(units)]
            if len(units) >= n:
                break
        return units[:n]


def first_region(pool: Pool, start: Floats, measured: Floats, trees: Trees) -> Region:
    """From a start that runs, moves to the mode of the tangent's posterior; the region is that of the last tangent.

    Gauss-Newton moves, but they see beyond the steps of the model in xi. While nothing simulated is better than the
    point, a move is halved, twice at most. The next starts from the best simulation so far; if that is less than one
    standard deviation away, there is none. From the optimum it is one move: ten to twelve simulations.
    """
    pool.add(start[None])
    if not pool.units:
        raise SurefootError(f"expected a start at which the simulator runs; it failed at {start}; try more evaluations")
    point, there = pool.best(measured)
    for _ in range(_MAX_MOVES):
        old = point
        mode, mean, covariance = make_tangent(pool.add, point, there, trees).posterior(measured)
        region = Region(mean, np.asarray(np.linalg.cholesky(covariance), dtype=np.float64))
        move = mode - point
        move *= min(1.0, _LONGEST / max(float(np.max(np.abs(move))), 1e-12))
        for factor in (1.0, 0.5, 0.25):
            pool.add(np.clip(point + factor * move, 0.0, 1.0)[None])
            point, there = pool.best(measured)
            if point is not old:
                break
        if region.distance(old, point) < 1.0:
            break
    # the mode is out of reach where the simulator fails or the tangent does not hold: stay with what was simulated
    return region if region.distance(point, mode) < 1.0 else Region(point, region.C)


def next_region(old: Region, draws: Floats) -> Region:
    """The region that fits draws (S, 3); if they crowd at the old one's edge it is moved and widened instead."""
    centre = np.asarray(draws.mean(axis=0))
    if np.mean(np.any(np.abs(old.z(draws)) > 0.8 * HALF_WIDTH, axis=1)) > 0.1:
        return Region(centre, 1.5 * old.C)
    covariance = np.cov(draws.T) + 1e-14 * np.eye(3)
    return Region(centre, np.asarray(np.linalg.cholesky(covariance), dtype=np.float64))


def has_settled(old: Region, new: Region, best: Floats) -> bool:
    """Whether the centre moved by less than half a standard deviation, no width changed by half, and best is inside."""
    shift = np.abs(old.z(new.centre[None]))[0]
    ratio = np.linalg.svd(np.linalg.solve(old.C, new.C), compute_uv=False)
    return bool(np.all(shift < 0.5) and np.all((ratio > 0.5) & (ratio < 1.5)) and new.inside(best[None])[0])


def emulator_error(emulator: Emulator, region: Region, units: Floats, xi: Floats, simulated: Sequence[Floats]) -> float:
    """How far the emulator's error at these points would move the estimate: rms, in posterior standard deviations.

    An error e of the components moves it by (J'J)^-1 J'e, J the components' slopes; in standard deviations, with
    J = Q R, by Q'e.
    """
    mean, _ = emulator.predict(emulator.features.exact(units, xi))
    errors = emulator.components(np.asarray(simulated)).T - mean  # (k, m)
    z = region.z(units)
    design = np.concatenate([np.ones((len(z), 1)), z], axis=1)
    slopes = np.linalg.lstsq(design, mean.T, rcond=None)[0][1:]  # (3, k): a plane through the draws
    Q = np.linalg.qr(slopes.T)[0]
    return float(np.sqrt(np.mean((Q.T @ errors) ** 2)))


def sample_posterior(
    simulate: Simulate,
    settings: Settings,
    bounds: Sequence[tuple[float, float]],
    start: Floats,
    measured: Floats,
    *,
    support: Callable[[Pool], Callable[[Floats], Floats] | None],
    seed: int = 0,
    level: float = 0.9,
    n_draws: float = 1000.0,
    on_round: Callable[[int, float], None] = lambda number, error: None,
) -> tuple[Posterior, Pool]:
    """Sample the posterior from a start (3,) in the unit cube near its mode; returns also the simulations made.

    support: given the pool, P(success) as a function of units (m, 3), or None where nothing has failed.
    on_round: called after each round with its number and the emulator's error.
    """
    rng = np.random.default_rng((seed, 7))
    low, high = np.asarray(bounds).T
    pool = Pool(simulate)
    region = first_region(
        pool, start, measured, lambda xi: log_conductances(settings, low[2] + xi * (high[2] - low[2]))
    )
    error, converged, number = np.inf, False, 0
    chains: Chains | None = None
    while number < MAX_ROUNDS and not converged:
        number += 1
        lacking = N_LATTICE - int(np.sum(region.inside(np.asarray(pool.units).reshape(-1, 3))))
        if lacking > 0:
            pool.add(region.lattice(lacking, rng))
        emulator = _fit(pool, region, settings, measured, low, high, seed)
        chains = _sample(emulator, region, low, high, support(pool), 300.0, rng)
        best = chains.units[np.argmax(chains.log_density)]
        fresh = np.concatenate([best[None], chains.units[rng.choice(len(chains.units), N_FRESH, replace=False)]])
        found = pool.add(fresh)
        ran = [i for i, value in enumerate(found) if value is not None]
        simulated = [value for value in found if value is not None]
        new = next_region(region, chains.units)
        if simulated:
            error = emulator_error(emulator, new, fresh[ran], low[2] + fresh[ran, 2] * (high[2] - low[2]), simulated)
        settled = has_settled(region, new, pool.best(measured)[0])
        converged = error < TOLERABLE and settled and len(ran) >= 0.7 * len(fresh)
        region = new
        on_round(number, error)
    emulator = _fit(pool, region, settings, measured, low, high, seed)
    chains = _sample(emulator, region, low, high, support(pool), n_draws, rng)
    return _summary(chains, emulator, pool, low, high, level, number, error, converged), pool


def _fit(
    pool: Pool, region: Region, settings: Settings, measured: Floats, low: Floats, high: Floats, seed: int
) -> Emulator:
    units = np.asarray(pool.units)
    rows = region.inside(units, 1.2 * HALF_WIDTH)
    near = units[rows] if rows.sum() >= 12 else units
    simulated = np.asarray(pool.predicted)[rows] if rows.sum() >= 12 else np.asarray(pool.predicted)
    bottom, top = region.corners()
    features = make_features(settings, bottom, top, tuple(low[2] + np.array([bottom[2], top[2]]) * (high[2] - low[2])))
    return fit_emulator(features, near, low[2] + near[:, 2] * (high[2] - low[2]), simulated, measured, seed)


def _sample(
    emulator: Emulator,
    region: Region,
    low: Floats,
    high: Floats,
    success: Callable[[Floats], Floats] | None,
    n_wanted: float,
    rng: np.random.Generator,
) -> Chains:
    def log_density(units: Floats) -> Floats:
        inside = region.inside(units)
        value = np.full(len(units), -np.inf)
        if inside.any():
            there = units[inside]
            value[inside] = emulator.log_likelihood(there, low[2] + there[:, 2] * (high[2] - low[2]))
            if success is not None:
                value[inside] = np.where(success(there) < 0.5, -np.inf, value[inside])
        return value

    jumps = Jumps(region.centre, region.C)
    start = starts(log_density, jumps, _N_CANDIDATES, rng)
    if len(start) < N_WALKERS:
        raise SurefootError(
            f"expected a region round the optimum where the simulator is likely to run; {len(start)} of "
            f"{_N_CANDIDATES} points there are; try more evaluations"
        )
    return sample(log_density, start, jumps, n_wanted, rng, max_steps=4000)


def _summary(
    chains: Chains,
    emulator: Emulator,
    pool: Pool,
    low: Floats,
    high: Floats,
    level: float,
    n_rounds: int,
    error: float,
    converged: bool,
) -> Posterior:
    tail = 0.5 * (1.0 - level)
    bottom, middle, top = np.quantile(chains.units, [tail, 0.5, 1.0 - tail], axis=0)
    samples = low + chains.units * (high - low)
    edge = 0.005
    intervals = tuple(
        Interval(
            name=name,
            mean=float(samples[:, i].mean()),
            sd=float(samples[:, i].std(ddof=1)),
            median=float(low[i] + middle[i] * (high[i] - low[i])),
            low=float(low[i] + bottom[i] * (high[i] - low[i])),
            high=float(low[i] + top[i] * (high[i] - low[i])),
            level=level,
            at_bound=bool(bottom[i] < edge or top[i] > 1.0 - edge),
        )
        for i, name in enumerate(NAMES)
    )
    few = chains.units[:: max(1, len(chains.units) // 200)]
    _, variance = emulator.predict(emulator.features.quick(few, low[2] + few[:, 2] * (high[2] - low[2])))
    notes = []
    if not converged:
        notes.append(
            f"after {n_rounds} rounds the emulator's error is still {error:.2g} posterior standard deviations "
            f"(aim: {TOLERABLE}), or the posterior still moved or leaves out the best simulation: take the intervals "
            "with caution"
        )
    notes += [
        f"the interval of {interval.name} reaches the bounds of the search: beyond them the data were not asked"
        for interval in intervals
        if interval.at_bound
    ]
    return Posterior(
        samples=samples,
        intervals=intervals,
        correlation=np.asarray(np.corrcoef(samples.T)),
        n_simulations=len(pool.units) + len(pool.failed),
        n_rounds=n_rounds,
        emulator_error=error,
        emulator_share=float(np.median(np.max(variance / (1.0 + variance), axis=0))),
        acceptance=chains.acceptance,
        n_effective=chains.n_effective,
        converged=converged,
        notes=tuple(notes),
    )
