"""The models of R runs: histories in, surrogates of the objective and of the failures out.

Shapes    as in batch.py.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace

import numpy as np

from surefoot.acquisition.weight import Weight
from surefoot.backend import Array, like, namespace, to_host
from surefoot.engine.batch import HOST, Batch
from surefoot.engine.contest import Contest, Fitted, of_piles, success_rows
from surefoot.engine.limits import MATERIAL_NOISE, Outputs, centred, fit_outputs, worth_of
from surefoot.engine.many import REFITS, held, most_points
from surefoot.engine.recall import recalled
from surefoot.engine.scaling import Scaling
from surefoot.engine.spec import ModelSpec
from surefoot.engine.success import Labels, fit_success, sparing
from surefoot.engine.walls import without_walls
from surefoot.engine.warmth import Warmth, on_device, on_host
from surefoot.gp.exact import EXACT
from surefoot.gp.hyperparameters import N_RANDOM_STARTS, FitState, is_cold, is_due
from surefoot.gp.kernels import per_run
from surefoot.gp.surrogate import Surrogate
from surefoot.numerics.designs import Generators


@dataclass(frozen=True)
class Model:
    """Everything fitted in one step, of R runs."""

    objective: Surrogate
    success: Weight | None  # None: nothing has failed, or nothing is learned from it
    scaling: Scaling
    noisy: np.ndarray  # (R,) the noise is material
    f_best: Array  # (R, 1), standardized
    jitter_raised: np.ndarray  # (R,)
    warmth: Warmth
    outputs: Outputs | None = None  # None: no output has limits
    rows: np.ndarray | None = None  # (R, k) the evaluations that the processes hold; None: all

    def part(self, rows: slice) -> Model:
        """The models of some of the runs; the warmth stays that of all."""
        arrays = ("noisy", "f_best", "jitter_raised")
        return replace(
            self,
            objective=self.objective.select(rows),
            success=None if self.success is None else self.success.select(rows),
            scaling=self.scaling.part(rows),
            outputs=None if self.outputs is None else self.outputs.part(rows),
            rows=None if self.rows is None else self.rows[rows],
            **{name: getattr(self, name)[rows] for name in arrays},
        )


def fit_model(batch: Batch, spec: ModelSpec, warmth: Warmth, generators: Generators, reference: Array = HOST) -> Model:
    """Fit the objective, and where evaluations have failed the failures, of every run."""
    failed = batch.failed
    if len(spec.warps) > 1:
        batch = without_walls(batch, spec.limits)
    if spec.imputes:
        batch = _impute(batch, failed)
    if spec.limits:
        batch = centred(batch, spec.limits)
    R, n, D = batch.X.shape
    p = spec.surrogate.n_hyperparameters(D)
    uniforms = starts_of_searches(spec, D, generators, reference)
    by_name = {kernel.name: kernel for kernel in spec.kernels}
    known = [by_name[name] for name in warmth.kernels if name in by_name]
    last = warmth.objective if warmth.objective_by == spec.surrogate.name else None
    state = on_device(last, (R, p), reference)
    rows = _held(batch, spec, state, reference)
    few = batch if rows is None else batch.of_evaluations(rows)
    levels = warmth.warp if set(warmth.warp) <= set(spec.warps) else ()  # those of another phase may not be allowed
    contest = Contest(spec, n, reference, rows is not None and not is_due(n, state, REFITS))

    def fitted() -> tuple[Fitted, Surrogate]:
        found = contest.objective(few, state, known, levels, uniforms[:, 0, :, :p])
        model = spec.surrogate.condition(found.data, found.fit.theta, per_run(found.kernels))
        return replace(found, data=replace(found.data)), model  # without what the data have cached

    found, objective = recalled(None if is_cold(n, state) else _key(warmth), fitted)
    success, failure_state = fit_failures(batch, failed, spec, warmth, uniforms[:, 1], reference)
    outputs, ends = fit_outputs(few, spec, warmth.outputs, generators, contest) if spec.limits else (None, ())
    counts = None if outputs is None else outputs.feasible
    if few.allowed is not None:
        counts = few.allowed if counts is None else few.allowed & counts
    own = None if counts is None else _of_data(counts, few.ok)
    if outputs is not None and rows is not None:
        outputs = outputs.among(rows, n)
    noisy, f_best = _incumbent(objective, found, own, always=spec.min_noise**2 >= MATERIAL_NOISE)
    return Model(
        objective=objective,
        success=success,
        scaling=found.scaling,
        noisy=noisy,
        f_best=f_best,
        jitter_raised=to_host(found.fit.jitter_raised),
        warmth=_warmth(found, failure_state, ends, spec),
        outputs=outputs,
        rows=rows,
    )


def fit_failures(
    batch: Batch, failed: np.ndarray, spec: ModelSpec, warmth: Warmth, uniforms: Array, reference: Array
) -> tuple[Weight | None, FitState | None]:
    """P(success) from all that is known of failures, and the state of its fit; None: nothing is learned.

    uniforms (R, k, p): draws, of which the starts of a cold search take the first columns.
    """
    failed, kinds = _with_missing(batch, failed)
    labels, before = Labels(batch.X, failed, batch.seen, kinds), batch.earlier
    if before is not None:
        labels = Labels(before.X, before.failed, before.seen, before.kinds).followed_by(labels)
    if spec.failures is None or not bool(labels.failed.any()):
        return None, None
    R, _, D = batch.X.shape
    last = warmth.failures if warmth.failures_by == spec.failures.name else None
    shape = (R, spec.failures.n_hyperparameters(D))
    state = last if spec.failures.tells_kinds else on_device(last, shape, reference)
    draws = uniforms[..., : _drawn_by_failures(spec, D)]
    success, failure_state = fit_success(labels, spec.failures, state, draws, spec.min_success)
    if spec.failure_budget and spec.min_success > 0.0:
        success = sparing(success, labels.failed.sum(axis=1) / spec.failure_budget)
    if spec.by_time and batch.failure_cost is not None:
        success = replace(success, cost=batch.failure_cost)
    return success, failure_state


def starts_of_searches(spec: ModelSpec, D: int, generators: Generators, reference: Array) -> Array:
    """Draws (R, 2, k, p) for the cold searches of the objective's hyperparameters and of those of the failures."""
    p = max(spec.surrogate.n_hyperparameters(D), _drawn_by_failures(spec, D))
    return like(np.stack([rng.random((2, N_RANDOM_STARTS, p)) for rng in generators]), reference)


def _drawn_by_failures(spec: ModelSpec, D: int) -> int:
    """Hyperparameters of the model of failures that are drawn for a cold search."""
    return 0 if spec.failures is None or spec.failures.tells_kinds else spec.failures.n_hyperparameters(D)


def fit_map(batch: Batch, spec: ModelSpec, warmth: Warmth, generators: Generators) -> Model:
    """The model as it is looked at, far from the optimum too: that of the search, unless evaluations lie in piles.

    Where they do, with limits, kernels and warps are chosen afresh, each pile with one vote (contest.py).
    """
    if spec.limits and of_piles(batch) is not batch:
        spec = replace(spec, piles_vote_once=True)
        warmth = replace(warmth, objective=None, warp=(), kernels=(), outputs=())
    return fit_model(batch, spec, warmth, generators)


def _warmth(found: Fitted, failures: FitState | None, outputs: tuple[Warmth, ...], spec: ModelSpec) -> Warmth:
    """Where all searches ended."""
    return Warmth(
        on_host(found.fit.state),
        None if failures is None else on_host(failures),
        "" if spec.failures is None else spec.failures.name,
        tuple(found.scaling.levels.tolist()) if len(spec.warps) > 1 else (),
        tuple(kernel.name for kernel in found.kernels),
        spec.surrogate.name,
        outputs,
    )


def _key(warmth: Warmth) -> Hashable:
    """What tells the starts of two warm searches on the same data apart."""
    state = warmth.objective
    assert state is not None  # a search that starts from one is warm
    return state.theta.tobytes(), state.inv_hessian.tobytes(), warmth.kernels, warmth.warp


def _held(batch: Batch, spec: ModelSpec, state: FitState | None, reference: Array) -> np.ndarray | None:
    """(R, k) the evaluations that the processes hold; None: all."""
    most = most_points(spec.max_points, reference)
    if batch.X.shape[1] <= most:
        return None
    D = batch.X.shape[2]
    is_known = state is not None and spec.surrogate is EXACT
    rates = np.exp(-to_host(state.theta)[:, :D]) if is_known and state is not None else None
    worth = worth_of(batch, spec.limits) if spec.limits else batch.y
    return held(batch, worth, rates, most)


def _with_missing(batch: Batch, failed: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
    """Failures and their kinds; where a limited output was not computed it cannot be feasible: that is a kind too."""
    if batch.outputs is None:
        return failed, batch.kinds
    missing = batch.ok & np.isnan(batch.outputs).any(axis=1)
    if not bool(missing.any()):
        return failed, batch.kinds
    kinds = np.zeros(failed.shape, int) if batch.kinds is None else batch.kinds
    return failed | missing, np.where(missing, kinds.max() + 1, kinds)


def _impute(batch: Batch, failed: np.ndarray) -> Batch:
    """Failed evaluations as if they had returned the worst value seen: what many libraries do."""
    worst = np.max(np.where(batch.ok, batch.y, -np.inf), axis=1, keepdims=True)
    known = failed & np.isfinite(worst)
    return replace(batch, y=np.where(known, worst, batch.y), ok=batch.ok | known)


def _of_data(feasible: np.ndarray, ok: np.ndarray) -> np.ndarray:
    """What is known of evaluations (R, n), of those that the objective's process is fitted to."""
    rows = success_rows(ok)
    return feasible if rows is None else np.take_along_axis(feasible, rows, axis=1)


def _incumbent(
    objective: Surrogate, found: Fitted, feasible: np.ndarray | None, always: bool
) -> tuple[np.ndarray, Array]:
    """Whether noise is material (`always`: it is), and f_best: min y, or then the least posterior mean there.

    feasible: which rows of the data count (None: all); where none does in a run, all of them.
    """
    y, mask = found.data.y, found.data.mask
    xp = namespace(y)
    noisy = (objective.noise > MATERIAL_NOISE) | always  # of standardized y, whose variance is 1
    level = xp.where(noisy[:, None], objective.fitted(y), y)
    if mask is not None:
        level = xp.where(mask > 0.0, level, xp.inf)
    if feasible is not None:
        counts = like(feasible | ~feasible.any(axis=1, keepdims=True), y)
        level = xp.where(counts, level, xp.inf)
    return to_host(noisy), xp.min(level, axis=1, keepdims=True)
