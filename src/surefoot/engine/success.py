"""P(success) of R runs, from where evaluations succeeded and where they failed: no value of y is asked.

Kinds     Failures come with reasons. Where a run has several kinds of them, each gets a map of its own beside the one
          of all failures (failures/several.py); a kind with fewer than MIN_OF_A_KIND failures joins the rest.
Shapes    host arrays X (R, n, D) in the unit cube, failed, seen and kinds (R, n).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from surefoot.acquisition.weight import Weight
from surefoot.backend import Array, like, to_host
from surefoot.engine.thinning import informative
from surefoot.failures.classification import label_data
from surefoot.failures.registry import MAX_LABELS, FailureModel
from surefoot.failures.several import ByRun, Reading, Several
from surefoot.gp.hyperparameters import FitState
from surefoot.gp.probability import Scored

MIN_OF_A_KIND = 3
MAX_KINDS = 4  # maps of a reading; the rarest kinds share the last
ENOUGH_SUCCESSES = 30  # from here on kinds are only told from successes, not from each other
_NEGLIGIBLE = 1e-3  # weight of a reading that is left out


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

    def of_run(self, r: int) -> Labels:
        """What one run has seen, all of it said."""
        columns = np.arange(self.X.shape[1]) if self.seen is None else np.flatnonzero(self.seen[r])
        kinds = None if self.kinds is None else self.kinds[r : r + 1, columns]
        return Labels(self.X[r : r + 1, columns], self.failed[r : r + 1, columns], None, kinds)


@dataclass(frozen=True)
class Map:
    """The labels of one map of a reading."""

    columns: np.ndarray  # (k,) of the labels of its run
    failed: np.ndarray  # (k,)


def fit_success(
    labels: Labels, model: FailureModel, state: FitState | None, uniforms: Array, least: float = 0.0
) -> tuple[Weight, FitState]:
    """The weight P(success), from all labels or from those that say something new, and the state of its fit.

    uniforms (R, k, p): draws for the starts of a cold search. `state`: the last fit's. `least`: see Weight.
    """
    n = labels.X.shape[1]
    where = like(labels.failed.any(axis=1, keepdims=True), uniforms)
    if labels.kinds is None or not model.tells_kinds:
        thin = _thinned(labels, model, state)
        mask = None if thin.seen is None else like(thin.seen.astype(float), uniforms)
        data = label_data(like(thin.X, uniforms), like(thin.failed.astype(float), uniforms), mask)
        probability, fitted = model.fit(data, uniforms, state, n)
        return Weight(probability, least, where), fitted.state
    runs, states = [], []
    for r in range(len(labels.X)):
        run, own = _of_one_run(labels.of_run(r), model, _state_of(state, r), uniforms, n)
        runs.append(run)
        states.append(own)
    return Weight(ByRun(tuple(runs)), least, where), _ragged(states, uniforms)


def common_kinds(failed: np.ndarray, kinds: np.ndarray) -> np.ndarray:
    """The kinds (n,) of one run, from 0 on in the order in which they came; rare ones share the last. -1: no failure."""
    codes, first, counts = np.unique(kinds[failed], return_index=True, return_counts=True)
    keep = counts >= MIN_OF_A_KIND
    if keep.sum() + (not keep.all()) > MAX_KINDS:
        keep = np.isin(np.arange(len(codes)), np.argsort(-counts, kind="stable")[: MAX_KINDS - 1])
    order = codes[keep][np.argsort(first[keep])].tolist()
    place = {code: i for i, code in enumerate(order)}
    found = [place.get(kind, len(order)) if bad else -1 for kind, bad in zip(kinds.tolist(), failed, strict=True)]
    return np.asarray(found, dtype=int)


def _thinned(labels: Labels, model: FailureModel, state: FitState | None) -> Labels:
    """The labels that say something new."""
    n, D = labels.X.shape[1:]
    if n <= MAX_LABELS:
        return labels
    known = state is not None and model.begins_with_scales
    inv_ell = np.exp(-to_host(state.theta)[:, :D]) if known and state is not None else None
    return labels.take(informative(labels.X, labels.failed, labels.seen, inv_ell, model.keeps(n)))


def _of_one_run(
    labels: Labels, model: FailureModel, state: FitState | None, uniforms: Array, n_history: int
) -> tuple[Several, FitState]:
    """P(success) of one run, all of whose labels say something."""
    labels = _thinned(labels, model, None)
    X, failed = labels.X[0], labels.failed[0]
    assert labels.kinds is not None
    readings = _readings(failed, common_kinds(failed, labels.kinds[0]))
    p = model.n_hyperparameters(X.shape[-1])
    n_maps = [len(maps) for maps in readings]
    if state is not None and state.theta.shape[1] != p * sum(n_maps):
        state = None  # of other kinds: afresh
    states = [None] * len(readings) if state is None else _split(state, p, n_maps)
    found, thetas, scores, n_cold = [], [], [], (n_history,)
    for maps, own in zip(readings, states, strict=True):
        columns, bad, seen = _rectangle(maps)
        mask = None if seen.all() else like(seen.astype(float), uniforms)
        points = like(X[columns], uniforms)
        data = label_data(points, like(bad.astype(float), uniforms), mask)
        probability, fitted = model.fit(data, uniforms[:1, :, :0], own, n_history)
        found.append(probability)
        thetas.append(to_host(fitted.theta).reshape(1, -1))
        n_cold = fitted.state.n_cold[:1]
        scores.append(_score(probability, maps, X, failed, uniforms) if len(readings) > 1 else 0.0)
    weights = np.exp(np.asarray(scores) - max(scores))
    weights = np.where(weights < _NEGLIGIBLE * weights.sum(), 0.0, weights)
    log_weights = np.log(weights[weights > 0.0] / weights.sum()).tolist()
    kept = [(maps, n) for maps, n, w in zip(found, n_maps, weights, strict=True) if w > 0.0]
    several = Several(tuple(Reading(maps, n, w) for (maps, n), w in zip(kept, log_weights, strict=True)))
    return several, FitState(np.concatenate(thetas, axis=1), np.zeros((1, 0, 0)), n_cold)


def _readings(failed: np.ndarray, kinds: np.ndarray) -> list[list[Map]]:
    """The maps of every reading; see failures/several.py."""
    everything = np.arange(len(failed))
    n_kinds, n_ok = int(kinds.max(initial=-1)) + 1, int((~failed).sum())
    together = [Map(everything, failed)]
    if n_kinds < 2:
        return [together]
    against = [Map(everything, kinds == kind) for kind in range(n_kinds)]
    if n_ok == 0:
        return [against]
    own = [np.flatnonzero((kinds == kind) | ~failed) for kind in range(n_kinds)]
    apart = [Map(columns, failed[columns]) for columns in own]
    return [together, against, apart] if n_ok < ENOUGH_SUCCESSES else [together, apart]


def _rectangle(maps: Sequence[Map]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Columns, failed and seen (K, k) of maps of unequal size: the shorter ones are padded with what is not seen."""
    k = max(len(m.columns) for m in maps)
    columns, failed, seen = (
        np.zeros((len(maps), k), int),
        np.zeros((len(maps), k), bool),
        np.zeros((len(maps), k), bool),
    )
    for row, m in enumerate(maps):
        size = len(m.columns)
        columns[row, :size], failed[row, :size], seen[row, :size] = m.columns, m.failed, True
    return columns, failed, seen


def _score(probability: Scored, maps: Sequence[Map], X: np.ndarray, failed: np.ndarray, reference: Array) -> float:
    """log P(labels) of a reading, each label predicted from the others."""
    left_out = to_host(probability.left_out())
    whole = [len(m.columns) == len(failed) for m in maps]
    if all(whole):
        log_p = left_out
    else:
        log_p = to_host(probability.log_p(like(np.stack([X] * len(maps)), reference)))
        for row, m in enumerate(maps):
            log_p[row, m.columns] = left_out[row, : len(m.columns)]
    success = np.minimum(log_p.sum(axis=0), -1e-12)
    return float(np.where(failed, np.log(-np.expm1(success)), success).sum())


# --- states of runs that have unequal numbers of maps ---------------------------------------------------------


def _state_of(state: FitState | None, r: int) -> FitState | None:
    """That of one run; None where there is none, or it is damaged."""
    if state is None:
        return None
    theta = to_host(state.theta)[r]
    theta = theta[~np.isnan(theta)]
    return FitState(theta[None], np.zeros((1, 0, 0)), state.n_cold[r : r + 1]) if theta.size else None


def _split(state: FitState, p: int, n_maps: Sequence[int]) -> list[FitState | None]:
    """The states of the readings, one row for each of their maps."""
    rows = to_host(state.theta).reshape(-1, p)
    ends = np.cumsum(n_maps)[:-1]
    return [FitState(part, np.zeros((len(part), 0, 0)), state.n_cold * len(part)) for part in np.split(rows, ends)]


def _ragged(states: Sequence[FitState], reference: Array) -> FitState:
    """One state of all runs: the shorter ones end in NaN."""
    p = max(state.theta.shape[1] for state in states)
    theta = np.full((len(states), p), np.nan)
    for r, state in enumerate(states):
        theta[r, : state.theta.shape[1]] = state.theta[0]
    n_cold = tuple(n for state in states for n in state.n_cold)
    return FitState(like(theta, reference), like(np.zeros((len(states), 0, 0)), reference), n_cold)
