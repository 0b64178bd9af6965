"""The outputs that have limits, as processes of their own: fitted like the objective, all outputs of all runs at once.

Feasible  An evaluation is feasible if every limited output of it lies within its limits. Where the noise of an output
          is material, its posterior mean counts instead of the value. An output that was not computed is not within.
Infinite  values count as values beyond all others, by as much as those differ.
Merit     What evaluations are ranked by: the feasible ones by y, then the others by how far they are outside, as the
          processes see it, so that units do not matter.
Fits      A cold search is due for all outputs at once. In between they take turns at warm ones: many evaluations change
          an output's hyperparameters little from one to the next.
Shapes    outputs (R, k, n); rows of the processes (k R): output 1 of all runs, output 2 of all runs, …
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from surefoot.backend import like, namespace, to_host
from surefoot.engine.batch import Batch
from surefoot.engine.contest import Contest, Fitted
from surefoot.engine.scaling import Scaling
from surefoot.engine.spec import Limit, ModelSpec
from surefoot.engine.warmth import Warmth, on_device, on_host
from surefoot.gp.hyperparameters import N_RANDOM_STARTS, FitState, is_cold
from surefoot.gp.kernels import per_run
from surefoot.gp.surrogate import Surrogate
from surefoot.gp.within import Within
from surefoot.numerics.designs import Generators

REFIT_SCALE = 63  # a fit costs n^3: after n evaluations an output's hyperparameters wait for (n/REFIT_SCALE)^2 more
MATERIAL_NOISE = 1e-4  # noise variance over that of the values above which their posterior mean counts


@dataclass(frozen=True)
class Outputs:
    """The processes of the limited outputs."""

    within: Within | None  # None: none of them has been computed yet
    scaling: Scaling | None
    known: tuple[int, ...]  # places of the outputs that have processes
    feasible: np.ndarray  # (R, n)
    merit: np.ndarray  # (R, n) small is good

    @property
    def found(self) -> np.ndarray:
        """(R, 1) whether anything feasible has been evaluated."""
        return np.asarray(self.feasible.any(axis=1, keepdims=True))

    def among(self, rows: np.ndarray, n: int) -> Outputs:
        """Of n evaluations, of which these are rows (R, k): the others come after them all."""
        feasible, merit = np.zeros((len(rows), n), bool), np.full((len(rows), n), np.inf)
        np.put_along_axis(feasible, rows, self.feasible, axis=1)
        np.put_along_axis(merit, rows, self.merit, axis=1)
        return replace(self, feasible=feasible, merit=merit)

    def part(self, rows: slice) -> Outputs:
        """Those of some runs."""
        if self.within is None or self.scaling is None:
            return replace(self, feasible=self.feasible[rows], merit=self.merit[rows])
        R = self.within.n_runs
        of_runs = np.concatenate([np.arange(R)[rows] + j * R for j in range(len(self.known))])
        return Outputs(
            self.within.select(rows),
            self.scaling.part(of_runs),
            self.known,
            self.feasible[rows],
            self.merit[rows],
        )


def feasible_values(batch: Batch, limits: Sequence[Limit]) -> np.ndarray:
    """(R, n) evaluations all of whose limited outputs lie within their limits."""
    assert batch.outputs is not None
    inside = [limit.violation(batch.outputs[:, j]) <= 0.0 for j, limit in enumerate(limits)]  # False for NaN
    return np.asarray(batch.ok & np.all(inside, axis=0))


def centred(batch: Batch, limits: Sequence[Limit]) -> Batch:
    """The batch with y centred where its differences count: at the best feasible value, or in the midst."""
    feasible = feasible_values(batch, limits)
    best = np.min(np.where(feasible, batch.y, np.inf), axis=1, keepdims=True)
    midst = [np.median(y[ok]) if ok.any() else 0.0 for y, ok in zip(batch.y, batch.ok, strict=True)]
    return replace(batch, centre=np.where(np.isfinite(best), best, np.asarray(midst)[:, None]))


def worth_of(batch: Batch, limits: Sequence[Limit]) -> np.ndarray:
    """(R, n) ranks before anything is fitted: feasible ones by y, then by violations over the outputs' spread."""
    assert batch.outputs is not None
    excess = np.zeros(batch.y.shape)
    for j, limit in enumerate(limits):
        outside = limit.violation(batch.outputs[:, j])
        finite = np.isfinite(outside) & batch.ok
        spread = np.sqrt(np.mean(np.where(finite, outside, 0.0) ** 2, axis=1, keepdims=True))
        excess += np.where(finite, outside / np.maximum(spread, np.finfo(float).tiny), np.inf)
    order = np.lexsort((np.where(batch.ok, batch.y, np.inf), excess), axis=1)
    return np.argsort(order, axis=1).astype(float)


def fit_outputs(
    batch: Batch, spec: ModelSpec, warmth: Sequence[Warmth], generators: Generators, contest: Contest
) -> tuple[Outputs, tuple[Warmth, ...]]:
    """The processes of the outputs that have been computed, and where their searches ended, of every limited output."""
    assert batch.outputs is not None
    reference = contest.reference
    R, n, D = batch.X.shape
    p = spec.surrogate.n_hyperparameters(D)
    draws = np.stack([rng.random((len(spec.limits), N_RANDOM_STARTS, p)) for rng in generators])
    computed = ~np.isnan(batch.outputs) & batch.ok[:, None]
    known = tuple(j for j in range(len(spec.limits)) if bool(computed[:, j].any(axis=1).all()))
    if not known:
        feasible = np.zeros((R, n), bool)
        return Outputs(None, None, (), feasible, np.where(batch.ok, batch.y, np.inf)), ()
    rows = _rows(batch, computed, known, spec.limits)
    last = [warmth[j] if j < len(warmth) else Warmth() for j in known]
    last = [w if w.objective_by == spec.surrogate.name else Warmth() for w in last]
    state = _stacked([on_device(w.objective, (R, p), reference) for w in last])
    by_name = {kernel.name: kernel for kernel in spec.kernels}
    kernels = [by_name[name] for w in last for name in w.kernels if name in by_name]
    levels = tuple(level for w in last for level in w.warp)
    uniforms = like(np.concatenate([draws[:, j] for j in known]), reference)
    own = replace(spec, noise=None) if spec.has_known_noise else spec  # a known noise is that of the objective
    contest = replace(contest, spec=own)
    known_warps = len(spec.warps) == 1 or len(levels) == len(rows.run_ids)
    if state is None or is_cold(contest.n_history, state) or len(kernels) < len(rows.run_ids) or not known_warps:
        found = contest.objective(rows, state, kernels, levels, uniforms)
    else:
        every = max(1, contest.n_history**2 // REFIT_SCALE**2)
        turns = [not contest.is_held and (contest.n_history + j) % every == 0 for j in known]
        found = contest.partly(rows, state, kernels, levels, np.flatnonzero(np.repeat(turns, R)))
    surrogate = spec.surrogate.condition(found.data, found.fit.theta, per_run(found.kernels))
    lower, upper = _thresholds(found.scaling, [spec.limits[j] for j in known], R)
    within = Within(surrogate, like(lower, reference), like(upper, reference), R)
    feasible, merit = _ranked(batch, rows, found.scaling, surrogate, [spec.limits[j] for j in known])
    if len(known) < len(spec.limits):
        feasible = np.zeros_like(feasible)
    ends = _warmths(found, known, spec, R)
    return Outputs(within, found.scaling, known, feasible, merit), ends


def _rows(batch: Batch, computed: np.ndarray, known: Sequence[int], limits: Sequence[Limit]) -> Batch:
    """The outputs as if each were the objective of runs of its own."""
    assert batch.outputs is not None
    R, _, D = batch.X.shape
    ok = np.concatenate([computed[:, j] for j in known])
    y = np.concatenate([batch.outputs[:, j] for j in known])
    centre = np.repeat([limits[j].centre for j in known], R)[:, None]
    finite = ok & np.isfinite(y)
    low, high = (f(np.where(finite, y, centre), axis=1, keepdims=True) for f in (np.min, np.max))
    low, high = np.minimum(low, centre), np.maximum(high, centre)
    y = np.where(ok & ~finite, np.where(y > 0.0, 2.0 * high - low, 2.0 * low - high), y)
    return Batch(
        X=np.concatenate([batch.X] * len(known)),
        y=np.where(ok, y, 0.0),
        ok=ok,
        pending=np.zeros((len(ok), 0, D)),
        run_ids=batch.run_ids * len(known),
        centre=centre,
        pools=batch.pools,
    )


def _thresholds(scaling: Scaling, limits: Sequence[Limit], R: int) -> tuple[np.ndarray, np.ndarray]:
    """The limits, less their margins, as the processes see them: (k R, 1) each."""
    lower = np.repeat([limit.lower + limit.margin for limit in limits], R)[:, None]
    upper = np.repeat([limit.upper - limit.margin for limit in limits], R)[:, None]
    none = np.isinf(lower), np.isinf(upper)
    low, high = (scaling.forward(np.where(no, 0.0, a)) for no, a in zip(none, (lower, upper), strict=True))
    return np.where(none[0], -np.inf, low), np.where(none[1], np.inf, high)


def _stacked(states: Sequence[FitState | None]) -> FitState | None:
    """One state of all rows; None if any is missing: then all start afresh."""
    known = [state for state in states if state is not None]
    if len(known) < len(states):
        return None
    xp = namespace(known[0].theta)
    theta, H = (xp.concat([getattr(state, name) for state in known]) for name in ("theta", "inv_hessian"))
    return FitState(theta, H, tuple(n for state in known for n in state.n_cold))


def _warmths(found: Fitted, known: Sequence[int], spec: ModelSpec, R: int) -> tuple[Warmth, ...]:
    """Where the searches ended, of every limited output; nothing of those that have no process."""
    ends = [Warmth()] * len(spec.limits)
    state = on_host(found.fit.state)
    for i, j in enumerate(known):
        rows = np.arange(R) + i * R
        ends[j] = Warmth(
            state.select(rows),
            None,
            "",
            tuple(found.scaling.levels[rows].tolist()) if len(spec.warps) > 1 else (),
            tuple(found.kernels[r].name for r in rows.tolist()),
            spec.surrogate.name,
        )
    return tuple(ends)


def _ranked(
    batch: Batch, rows: Batch, scaling: Scaling, surrogate: Surrogate, limits: Sequence[Limit]
) -> tuple[np.ndarray, np.ndarray]:
    """Which evaluations lie within the limits of the outputs that were computed, and the rank of all, (R, n) each."""
    R, n = batch.y.shape
    values = scaling.forward(rows.y)
    outside = np.concatenate([limit.violation(rows.y[i * R : (i + 1) * R]) for i, limit in enumerate(limits)]) > 0.0
    lower, upper = _thresholds(scaling, [replace(limit, margin=0.0) for limit in limits], R)
    noisy = to_host(surrogate.noise) > MATERIAL_NOISE
    if bool(noisy.any()):
        means = to_host(surrogate.moments(like(rows.X, surrogate.X))[0])
        values = np.where(noisy[:, None], means, values)
        outside = np.where(noisy[:, None], (values < lower) | (values > upper), outside)
    excess = np.maximum(np.maximum(lower - values, values - upper), 0.0)
    excess = np.where(rows.ok, excess, np.where(noisy[:, None], excess, 1.0)).reshape(len(limits), R, n).sum(axis=0)
    inside = (rows.ok & ~outside).reshape(len(limits), R, n).all(axis=0) & batch.ok
    excess = np.where(batch.ok, np.where(inside, 0.0, excess + np.finfo(float).tiny), np.inf)
    order = np.lexsort((np.where(batch.ok, batch.y, np.inf), excess), axis=1)
    return inside, np.argsort(order, axis=1).astype(float)
