"""The objective's process: fitted with the kernel and the warp that are known, or where they are free with each.

Contest   Where a cold search is due and several kernels or warps are allowed, every run is fitted with each of them,
          and the likeliest one is taken. Its likelihood is that of y itself, so that different warps can be compared.
          Until the next cold search the choice stays, and is part of the warmth.
Sums      Kernels that know sums take longer, as each input has a matrix of its own. So they are tried last, at two
          warps only: that of the likeliest of the others, and none, as a warped sum is no sum. They compete from
          SUMS_SINCE successes on, as fewer look like a sum by chance, and up to MOST_SUMS.
Votes     With limits on outputs a run that has found its optimum piles evaluations on one spot. All alike, they choose
          a warp that draws that spot out and flattens what is far from it. The search gains digits by it; a map of
          the whole (`fit_map`) gives each pile one vote.
Shapes    as in batch.py; R x K rows while K kernels or warps compete, those of a run side by side.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.spatial import cKDTree

from surefoot.backend import Array, like, namespace, to_host
from surefoot.engine.batch import Batch
from surefoot.engine.scaling import Scaling, scaled
from surefoot.engine.spec import ModelSpec
from surefoot.gp.exact import EXACT
from surefoot.gp.hyperparameters import SUBSET, Effort, Fit, FitState, fit, is_cold, unchanged
from surefoot.gp.kernels import Kernel, per_run
from surefoot.gp.likelihood import Data, make_data
from surefoot.gp.likelihood import select_runs as select_data
from surefoot.gp.priors import pooled
from surefoot.gp.surrogate import Question
from surefoot.numerics.subsets import spread

FOREIGN = 100  # evaluations that decide on kernel, warp and first hyperparameters of a history that others made
SUMS_SINCE = 50  # successes
MOST_SUMS = 2**22  # elements of the matrices of all inputs: 836 successes of 6 inputs, 457 of 20
PILE = 1e-4  # of the cube: evaluations nearer to one another lie on one spot
MAX_WARPED_NOISE = 0.03  # over s of the warp: more, and the least value, the luckiest, is drawn out as if it were real


@dataclass(frozen=True)
class Fitted:
    """A fit of the objective's values, how they were scaled, and the kernels of the runs."""

    data: Data
    fit: Fit
    scaling: Scaling
    kernels: tuple[Kernel, ...]

    def select(self, rows: np.ndarray, reference: Array) -> Fitted:
        """The fits of some rows."""
        runs = like(rows, reference)
        kernels = tuple(self.kernels[r] for r in rows.tolist())
        return Fitted(select_data(self.data, runs), self.fit.select(runs), self.scaling.part(rows), kernels)


@dataclass(frozen=True)
class Contest:
    """What all the fits of one step share."""

    spec: ModelSpec
    n_history: int
    reference: Array
    is_held: bool = False  # hyperparameters stay as they were, but where a cold search is due

    def objective(
        self, batch: Batch, state: FitState | None, kernels: Sequence[Kernel], levels: tuple[int, ...], uniforms: Array
    ) -> Fitted:
        """Fit with the kernels and levels of the last step (empty: unknown), or let them compete."""
        if state is None and batch.X.shape[1] > FOREIGN:
            return self._of_foreign(batch, uniforms)
        R = len(batch.run_ids)
        if len(self.spec.kernels) == 1:
            return self._warped(batch, self.spec.kernels * R, levels, state, uniforms, self.spec.n_optimized)
        if len(kernels) == R and not is_cold(self.n_history, state):
            return self._warped(batch, tuple(kernels), levels, state, uniforms, self.spec.n_optimized)
        first = self._without_sums
        K = len(first)
        rows = np.repeat(np.arange(R), K)
        tiled = batch.part(rows)
        tried = self._warped(
            tiled,
            first * R,
            tuple(np.repeat(levels, K).tolist()),
            self._tiled(state, rows),
            uniforms[like(rows, self.reference)],
            self.spec.n_optimized // K,
        )
        best = np.argmin(_cost(tried, tiled).reshape(R, K), axis=1)
        chosen = tried.select(np.arange(R) * K + best, self.reference)
        for kernel in self.spec.kernels if self._may_be_sums(batch) else ():
            if kernel not in first:
                chosen = self._or_sums(batch, chosen, kernel, state, uniforms)
        return chosen

    @property
    def _without_sums(self) -> tuple[Kernel, ...]:
        """The kernels that compete first."""
        return tuple(kernel for kernel in self.spec.kernels if not kernel.has_sums) or self.spec.kernels

    def _may_be_sums(self, batch: Batch) -> bool:
        """Whether sums compete: not for a user's surrogate, which may know nothing of them."""
        n, d = int(batch.ok.sum(axis=1).max()), batch.X.shape[2]
        return self.spec.surrogate is EXACT and d > 1 and n >= SUMS_SINCE and n * n * d <= MOST_SUMS

    def _or_sums(self, batch: Batch, chosen: Fitted, kernel: Kernel, state: FitState | None, uniforms: Array) -> Fitted:
        """What is chosen, or in runs where it is likelier a kernel that knows sums."""
        R = len(batch.run_ids)
        of_levels = [chosen.scaling.levels]
        if 0 in self.spec.warps and of_levels[0].any() and not self.spec.piles_vote_once:
            of_levels.append(np.zeros(R, int))
        n_optimized = self.spec.n_optimized // 2
        tried = [self._fit(batch, (kernel,) * R, levels, state, uniforms, n_optimized) for levels in of_levels]
        too_few = batch.ok.sum(axis=1) < SUMS_SINCE
        costs = [np.where(too_few | self._too_noisy(own), np.inf, _cost(own, batch)) for own in tried]
        best = np.argmin([_cost(chosen, batch), *costs], axis=0)
        if not best.any():
            return chosen
        fit = chosen.fit
        for k, other in enumerate(tried, 1):
            fit = fit.or_other(other.fit, like(best == k, self.reference))
        data, scaling = self._data(batch, np.choose(best, [of_levels[0], *of_levels]))
        return Fitted(
            data, fit, scaling, tuple(kernel if k else own for k, own in zip(best, chosen.kernels, strict=True))
        )

    def _of_foreign(self, batch: Batch, uniforms: Array) -> Fitted:
        """Of a long history that comes without a state: some of it decides, and where that ended all of it begins."""
        few = _some_successes(batch, FOREIGN)
        spec = self.spec if self._may_be_sums(batch) else replace(self.spec, kernels=self._without_sums)
        found = replace(self, n_history=FOREIGN, spec=spec).objective(few, None, (), (), uniforms)
        share = FOREIGN / batch.X.shape[1]  # curvature grows with the number of points
        state = found.fit.state
        state = FitState(state.theta, state.inv_hessian * share, (self.n_history,) * len(batch.run_ids))
        return self._fit(batch, found.kernels, found.scaling.levels, state, uniforms, self.spec.n_optimized)

    def _warped(
        self,
        batch: Batch,
        kernels: tuple[Kernel, ...],
        levels: tuple[int, ...],
        state: FitState | None,
        uniforms: Array,
        n_optimized: int,
    ) -> Fitted:
        """Fit at the levels of warping that are known; where a cold search is due, at all: take the best."""
        R, L = len(batch.run_ids), len(self.spec.warps)
        if L == 1:
            return self._fit(batch, kernels, np.repeat(self.spec.warps, R), state, uniforms, n_optimized)
        if len(levels) == R and not is_cold(self.n_history, state):
            return self._fit(batch, kernels, np.asarray(levels), state, uniforms, n_optimized)
        known = state if len(levels) == R else None
        few = _some_successes(of_piles(batch) if self.spec.piles_vote_once else batch, SUBSET)
        rows = np.repeat(np.arange(R), L)
        tiled = few.part(rows)
        # the levels compete by short searches from the last optimum; the winner then gets its cold one
        warm = None if known is None else replace(known, n_cold=(self.n_history,) * R)
        tried = self._fit(
            tiled,
            tuple(kernels[r] for r in rows.tolist()),
            np.tile(self.spec.warps, R),
            self._tiled(warm, rows),
            uniforms[like(rows, self.reference)],
            n_optimized,
        )
        cost = np.where(self._too_noisy(tried), np.inf, _cost(tried, tiled))
        best = np.argmin(cost.reshape(R, L), axis=1)
        if known is not None or few is not batch:
            return self._fit(batch, kernels, np.asarray(self.spec.warps)[best], known, uniforms, n_optimized)
        return tried.select(np.arange(R) * L + best, self.reference)

    def partly(
        self, batch: Batch, state: FitState, kernels: Sequence[Kernel], levels: tuple[int, ...], rows: np.ndarray
    ) -> Fitted:
        """Warm fits of some rows; the others keep the hyperparameters that they have."""
        chosen = np.asarray(levels) if levels else np.repeat(self.spec.warps, len(kernels))
        data, scaling = self._data(batch, chosen)
        if not len(rows):
            return Fitted(data, unchanged(state), scaling, tuple(kernels))
        some = like(rows, self.reference)
        own = tuple(kernels[r] for r in rows.tolist())
        theta, H = (namespace(a).asarray(a, copy=True) for a in (state.theta, state.inv_hessian))
        found = self._fit(
            batch.part(rows), own, chosen[rows], state.select(some), theta[some, None], self.spec.n_optimized
        ).fit
        theta[some], H[some] = found.theta, found.state.inv_hessian
        return Fitted(data, unchanged(FitState(theta, H, state.n_cold)), scaling, tuple(kernels))

    def _fit(
        self,
        batch: Batch,
        kernels: tuple[Kernel, ...],
        levels: np.ndarray,
        state: FitState | None,
        uniforms: Array,
        n_optimized: int,
    ) -> Fitted:
        """Fit with these kernels and y warped at these levels (R,)."""
        data, scaling = self._data(batch, levels)
        if self.is_held and state is not None and not is_cold(self.n_history, state):
            return Fitted(data, unchanged(state), scaling, kernels)
        n = batch.X.shape[1]
        n = n if n <= SUBSET else self.n_history  # of which the batch may be a part (many.py)
        prior = pooled(self.spec.prior, None if batch.pools is None else like(batch.pools, self.reference))
        asked = Question(data, per_run(kernels), self.spec.noise is None, prior, n)
        found = fit(self.spec.surrogate.evidence(asked), uniforms, state, Effort(n_optimized=n_optimized))
        return Fitted(data, found, scaling, kernels)

    def _data(self, batch: Batch, levels: np.ndarray) -> tuple[Data, Scaling]:
        """What is fitted to, with y warped at these levels (R,)."""
        y, scaling = scaled(batch.y, batch.ok, levels, batch.centre)
        noise, least = None, None
        if self.spec.min_noise:
            least = like(np.full(len(y), self.spec.min_noise**2), self.reference)
        if self.spec.noise:  # far below the floor of lam a fixed noise is no noise
            noise = like(np.maximum((self.spec.noise / scaling.scale[:, 0]) ** 2, 1e-14), self.reference)
        X, y, mask = _successes(batch, y)
        mask = None if mask is None else like(mask, self.reference)
        return make_data(like(X, self.reference), like(y, self.reference), mask, noise, least), scaling

    def _tiled(self, state: FitState | None, rows: np.ndarray) -> FitState | None:
        return None if state is None else state.select(like(rows, self.reference))

    def _too_noisy(self, tried: Fitted) -> np.ndarray:
        """(R,) whether a fit to warped values sees too much noise, in units of y at its least, where the slope is 1."""
        model = self.spec.surrogate.condition(tried.data, tried.fit.theta, per_run(tried.kernels))
        sd = np.sqrt(to_host(model.noise)) * tried.scaling.scale[:, 0]
        return np.asarray(sd > MAX_WARPED_NOISE * np.abs(tried.scaling.warp.s[:, 0]))


def success_rows(ok: np.ndarray) -> np.ndarray | None:
    """(R, k) places of the evaluations (R, n) that a process is fitted to; None: all, some of them masked."""
    n_ok = ok.sum(axis=1)
    if (n_ok != n_ok[0]).any():
        return None
    return np.argsort(~ok, axis=1, kind="stable")[:, : n_ok[0]]


def _successes(batch: Batch, y: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Points, values and mask of what succeeded: failed rows are left out where all runs have equally many."""
    if bool(batch.ok.all()):
        return batch.X, y, None
    rows = success_rows(batch.ok)
    if rows is None:
        return batch.X, y, batch.ok.astype(float)
    return np.take_along_axis(batch.X, rows[..., None], axis=1), np.take_along_axis(y, rows, axis=1), None


def _cost(tried: Fitted, batch: Batch) -> np.ndarray:
    """(R,) -log likelihood of y with the prior: that of the standardized w, and the slopes dw/dy over the scale."""
    scaling = tried.scaling
    slopes = np.where(batch.ok, scaling.warp.log_slope(np.where(batch.ok, batch.y, scaling.warp.end)), 0.0)
    cost = to_host(tried.fit.cost) + batch.ok.sum(axis=1) * np.log(scaling.scale[:, 0]) - slopes.sum(axis=1)
    return np.where(np.isnan(cost), np.inf, cost)


def of_piles(batch: Batch) -> Batch:
    """The batch with one success, the first, of those that lie on one spot; itself where there are no piles."""
    ok = batch.ok.copy()
    for X, own in zip(batch.X, ok, strict=True):
        for i, j in sorted(cKDTree(X).query_pairs(PILE, p=np.inf)):  # i < j
            own[j] &= not own[i]
    return replace(batch, ok=ok) if bool((ok != batch.ok).any()) else batch


def _some_successes(batch: Batch, k: int) -> Batch:
    """At most k evaluations of each run, successes before failures, evenly through the history."""
    if batch.X.shape[1] <= k:
        return batch
    order = np.argsort(~batch.ok, axis=1, kind="stable")
    n_ok = np.maximum(batch.ok.sum(axis=1), k)
    kept = np.asarray([spread(row[:n].tolist(), k) for row, n in zip(order, n_ok, strict=True)])
    return replace(batch.of_evaluations(kept), seen=None)
