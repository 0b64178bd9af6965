"""P(success) of R runs, from where evaluations succeeded and where they failed: no value of y is asked.

Kinds     Failures come with reasons. Where a run has several kinds of them, each gets a map of its own beside the one
          of all failures (failures/several.py); a kind with fewer than MIN_OF_A_KIND failures joins the rest.
Shapes    host arrays X (R, n, D) in the unit cube, failed, seen and kinds (R, n).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from surefoot.acquisition.weight import Weight
from surefoot.backend import Array, like, to_host
from surefoot.engine.thinning import informative
from surefoot.failures.classification import label_data
from surefoot.failures.registry import FailureModel
from surefoot.failures.several import ByRun, fit_several
from surefoot.gp.hyperparameters import FitState

MIN_OF_A_KIND = 3
MAX_KINDS, MAX_SOUGHT = 3, 6  # maps of a reading, and while nothing has succeeded; the rarest kinds share one
RARE = 10**9  # the code of kinds that share a map


@dataclass(frozen=True)
class Labels:
    """Where evaluations failed."""

    X: np.ndarray  # (R, n, D)
    failed: np.ndarray  # (R, n)
    seen: np.ndarray | None = None  # (R, n) False: says nothing; None: all say something
    kinds: np.ndarray | None = None  # (R, n) the kind of each failure, from 0 on; None: they are all alike

    def take(self, columns: np.ndarray) -> Labels:
        """Some of them, (R, k)."""
        seen, kinds = (
            None if part is None else np.take_along_axis(part, columns, axis=1) for part in (self.seen, self.kinds)
        )
        X = np.take_along_axis(self.X, columns[..., None], axis=1)
        return Labels(X, np.take_along_axis(self.failed, columns, axis=1), seen, kinds)

    def followed_by(self, later: Labels) -> Labels:
        """These, then others of the same runs."""
        if later.seen is None and self.seen is None:
            seen = None
        else:
            parts = [np.ones(part.failed.shape, bool) if part.seen is None else part.seen for part in (self, later)]
            seen = np.concatenate(parts, axis=1)
        kinds = None
        if self.kinds is not None and later.kinds is not None:
            kinds = np.concatenate([self.kinds, later.kinds], axis=1)
        X = np.concatenate([self.X, later.X], axis=1)
        return Labels(X, np.concatenate([self.failed, later.failed], axis=1), seen, kinds)

    def of_run(self, r: int) -> Labels:
        """What one run has seen, all of it said."""
        columns = np.arange(self.X.shape[1]) if self.seen is None else np.flatnonzero(self.seen[r])
        kinds = None if self.kinds is None else self.kinds[r : r + 1, columns]
        return Labels(self.X[r : r + 1, columns], self.failed[r : r + 1, columns], None, kinds)


def fit_success(
    labels: Labels, model: FailureModel, state: FitState | None, uniforms: Array, least: float = 0.0
) -> tuple[Weight, FitState]:
    """The weight P(success), from all labels or from those that say something new, and the state of its fit.

    uniforms (R, k, p): draws for the starts of a cold search. `state`: the last fit's. `least`: see Weight.
    """
    n = labels.X.shape[1]
    where = like(labels.failed.any(axis=1, keepdims=True), uniforms)
    if model.fit is None:
        runs, states = [], []
        for r in range(len(labels.X)):
            own = _thinned(labels.of_run(r), model, None)
            if own.X.shape[1] == 0:  # nothing is known; the run is not weighted
                own = Labels(np.full((1, 1, own.X.shape[-1]), 0.5), np.zeros((1, 1), bool))
            kinds = np.where(own.failed, 0, -1) if own.kinds is None else common_kinds(own.failed, own.kinds)
            last = _state_of(state, r, model.n_hyperparameters(own.X.shape[-1]), uniforms)
            run, found = fit_several(own.X[0], own.failed[0], kinds[0], last, n, uniforms)
            runs.append(run)
            states.append(found)
        weight = Weight(ByRun(tuple(runs)), least, where, smooth=True)
        if least == model.least:  # another one was asked for by a user, and is taken at its word
            trust = np.asarray([[run.trust(least)] for run in runs])
            weight = replace(weight, trust=like(trust, uniforms)) if bool((trust < 1.0).any()) else weight
        return weight, _ragged(states, uniforms)
    thin = _thinned(labels, model, state)
    mask = None if thin.seen is None else like(thin.seen.astype(float), uniforms)
    data = label_data(like(thin.X, uniforms), like(thin.failed.astype(float), uniforms), mask)
    probability, fitted = model.fit(data, uniforms, state, n)
    return Weight(probability, least, where), fitted.state


def sparing(weight: Weight, used: np.ndarray) -> Weight:
    """A weight that asks for more as the budget of failures is used up: used (R,), 0 to 1.

    It grows with the cube: a budget that will last costs nothing.
    """
    return replace(weight, sparing=like(np.minimum(used, 1.0)[:, None] ** 3, weight.where))


def common_kinds(failed: np.ndarray, kinds: np.ndarray) -> np.ndarray:
    """The kinds of one run's failures: frequent ones as they are, rare ones all alike; -1: no failure.

    While nothing has succeeded they are all that is known, and there may be more of them.
    """
    most = MAX_KINDS if bool((~failed).any()) else MAX_SOUGHT
    codes, counts = np.unique(kinds[failed], return_counts=True)
    keep = counts >= MIN_OF_A_KIND
    if keep.sum() + (not keep.all()) > most:
        keep = np.isin(np.arange(len(codes)), np.argsort(-counts, kind="stable")[: most - 1])
    return np.where(failed, np.where(np.isin(kinds, codes[keep]), kinds, RARE), -1)


def _thinned(labels: Labels, model: FailureModel, state: FitState | None) -> Labels:
    """The labels that say something new."""
    n, D = labels.X.shape[1:]
    if n <= model.keeps(n):
        return labels
    known = state is not None and model.begins_with_scales
    inv_ell = np.exp(-to_host(state.theta)[:, :D]) if known and state is not None else None
    return labels.take(informative(labels.X, labels.failed, labels.seen, inv_ell, model.keeps(n)))


# --- states of runs that have unequal numbers of maps: rows of one state, the shorter ones end in NaN --------------


def _state_of(state: FitState | None, r: int, p: int, reference: Array) -> FitState | None:
    """That of one run, with a row for each of its maps; None where there is none, or it is of another space."""
    if state is None:
        return None
    theta = to_host(state.theta)[r]
    theta = theta[~np.isnan(theta)]
    if theta.size == 0 or theta.size % p > 0 or not np.isfinite(theta).all():
        return None
    rows = theta.reshape(-1, p)
    return FitState(like(rows, reference), like(np.zeros((len(rows), 0, 0)), reference), (state.n_cold[r],) * len(rows))


def _ragged(states: Sequence[FitState], reference: Array) -> FitState:
    """One state of all runs."""
    flat = [to_host(state.theta).ravel() for state in states]
    theta = np.full((len(flat), max(map(len, flat))), np.nan)
    for r, row in enumerate(flat):
        theta[r, : len(row)] = row
    nothing = like(np.zeros((len(flat), 0, 0)), reference)
    return FitState(like(theta, reference), nothing, tuple(state.n_cold[0] for state in states))
