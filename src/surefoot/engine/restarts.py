"""Phases of a run: once it has settled in a minimum it looks for another one, with a model of its own.

Why       A run that has found a minimum refines it, digit by digit, and its model expects nothing elsewhere. Where
          there are several minima it stays in the wrong one for ever (docs/evidence/small.md).
Phases    0, 2, 4, …: with all evaluations. It ends when the run has settled.
          1, 3, 5, …: anew, with a design and a model of its own evaluations alone. It ends when it has settled, too,
          when it comes to where an earlier phase has settled, or when nothing succeeds.
          What is known of failures is known in all of them.
Settled   The last WINDOW evaluations have lowered the best value by less than a share of what the last two thirds of
          the phase have, and half of them lie beside the best point, with values as good as its, or failed there.
          Noise and rugged functions do not look so. Beside a border every digit costs failures: fewer are asked for.
          Phases follow from the history alone: a resumed run is in the same one. What others have evaluated before a
          run's first model (Warmth.begun) may lie in a pile: that is no phase.
Shapes    X (n, D) in the unit cube, y (n,) of one run, infinite where it failed, on the host.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from surefoot.engine.batch import Batch
from surefoot.engine.spec import ModelSpec

WINDOW = 15  # evaluations
GAIN, GAIN_AT_BORDER = 1e-10, 1e-5  # a smaller share is none; the second where half of them failed beside the best
GAIN_ANEW = 1e-2  # in a phase anew
BESIDE = 1e-2  # of the cube, the largest coordinate
FLAT = 1e-4  # of what the first successes spread over: values as good as the best
IN_A_ROW = 5  # failures beside the best point: a phase that comes back to a border has nothing to gain there
SAME = 3  # evaluations beside an earlier minimum: the phase has come to it again
ANEW = 14  # points of the design with which a phase begins anew, at most
ROUGH = 1  # successes beside the best point with worse values, where failures count: more of them are noise
_FIRST = 14  # successes that tell how y spreads


@dataclass(frozen=True)
class Phase:
    """Where a run is."""

    number: int  # odd: anew
    columns: np.ndarray  # the evaluations that its model sees
    asked: int  # of a phase anew: its evaluations, those under way among them; of the others 0
    begun: tuple[int, ...] = ()  # evaluations before each phase but the first

    @property
    def anew(self) -> bool:
        """Whether it has a model of its own."""
        return self.number % 2 == 1


def phase_of(batch: Batch, r: int, n_design: int, first: int) -> Phase:
    """The phase of run r, whose model spoke first after so many evaluations."""
    counts = batch.ok[r] | batch.failed[r]
    counts = counts if batch.allowed is None else counts & batch.allowed[r]
    X, y, n = batch.X[r], np.where(batch.ok[r], batch.y[r], np.inf), len(counts)
    begun, number = first, 0
    ends: tuple[int, ...] = ()
    places: list[np.ndarray] = []  # where phases have settled
    while True:
        anew = number % 2 == 1
        rows = np.flatnonzero(counts[begun:]) + begun if anew else np.flatnonzero(counts)
        own = _apart(X, rows, places) if anew else rows
        if anew:
            end = _end_anew(X, y, rows, own, n_design)
        else:
            since = int(np.searchsorted(rows, begun))  # evaluations before
            end = _settled(X, y, rows, since + WINDOW, GAIN, GAIN_AT_BORDER)
            back = _fails_on(X, y, rows, since) if number else None
            end = min(end, back) if end is not None and back is not None else end or back
        if end is None:
            pending = batch.pending[r]
            if not anew:
                return Phase(number, np.arange(n), 0, ends)
            columns = _apart(X, np.arange(begun, n), places)  # what an earlier phase asked for lies beside its place
            return Phase(number, columns, len(columns) + len(_apart(pending, np.arange(len(pending)), places)), ends)
        known = own[own < end]
        if np.isfinite(y[known]).any():
            places.append(X[known[np.argmin(y[known])]])
        begun, number, ends = end, number + 1, (*ends, end)


def phases_of(batch: Batch, spec: ModelSpec, begun: tuple[int, ...]) -> list[Phase]:
    """The phase of every run, whose models spoke first after so many evaluations."""
    return [phase_of(batch, r, min(spec.n_init, ANEW), first) for r, first in enumerate(begun)]


def split(batch: Batch, columns: np.ndarray) -> Batch:
    """The batch with these evaluations (R, k) alone; the others tell of failures, and are not proposed again."""
    n = batch.X.shape[1]
    others = np.stack([np.setdiff1d(np.arange(n), own) for own in columns])
    return replace(batch.of_evaluations(columns), earlier=batch.of_evaluations(others))


def _end_anew(X: np.ndarray, y: np.ndarray, rows: np.ndarray, own: np.ndarray, design: int) -> int | None:
    """After how many evaluations a phase that began anew ended; None: it has not. rows: since; own: to its model."""
    beside = np.setdiff1d(rows, own)
    ends = [_settled(X, y, own, design + WINDOW, GAIN_ANEW, GAIN_ANEW)]
    after = beside[beside > own[design - 1]] if len(own) >= design else beside[:0]
    for again, most in ((after, SAME), (beside, design + SAME)):  # the second where no design is to be had elsewhere
        if len(again) >= most:
            ends.append(int(again[most - 1]) + 1)
    patient = own[: design + WINDOW]
    if len(patient) == design + WINDOW and not np.isfinite(y[patient]).any():
        ends.append(int(patient[-1]) + 1)
    known = [end for end in ends if end is not None]
    return min(known) if known else None


def _settled(
    X: np.ndarray, y: np.ndarray, rows: np.ndarray, least: int, share: float, share_at_border: float
) -> int | None:
    """After how many evaluations these have settled, with at least so many of them; None: not yet."""
    values = y[rows]
    first = values[np.isfinite(values)][:_FIRST]
    if len(rows) < least or not len(first):
        return None
    best = np.minimum.accumulate(values)
    is_best = best < np.concatenate([[np.inf], best[:-1]])
    t = np.arange(max(least, WINDOW + 1), len(rows) + 1)  # evaluations
    at = np.maximum.accumulate(np.where(is_best, np.arange(len(rows)), 0))[t - 1]
    with np.errstate(over="ignore"):
        usual = np.asarray([np.inf, *(np.median(first[:k]) for k in range(1, len(first) + 1))])
    known = np.minimum(np.cumsum(np.isfinite(values)), len(first))  # successes: what is told later changes nothing
    with np.errstate(over="ignore", invalid="ignore"):
        spread = usual[known] - values
        gain, now = best[t - 1 - WINDOW] - best[t - 1], best[t - 1]
        scale = np.minimum(spread[at], best[t // 3] - now)
    little, less = gain <= share_at_border * scale, gain <= share * scale
    for k in np.unique(at[little]):  # the best evaluation, of those after which little was gained
        own = t[at == k]
        last = rows[own[0] - WINDOW : own[-1]]
        beside = np.abs(X[last] - X[rows[k]]).max(axis=1) < BESIDE
        failed = np.isinf(y[last])
        with np.errstate(over="ignore"):
            flat = y[last] - values[k] <= FLAT * spread[k]
        n_failed, n_flat, n_rough = (
            np.lib.stride_tricks.sliding_window_view(beside & kind, WINDOW).sum(axis=1)
            for kind in (failed, flat, ~failed & ~flat)
        )
        still = (2 * n_flat >= WINDOW) | ((2 * (n_failed + n_flat) >= WINDOW) & (n_rough <= ROUGH))
        ends = still & np.where(2 * n_failed >= WINDOW, little[at == k], less[at == k])
        if ends.any():
            return int(rows[own[np.argmax(ends)] - 1]) + 1
    return None


def _fails_on(X: np.ndarray, y: np.ndarray, rows: np.ndarray, since: int) -> int | None:
    """After how many evaluations IN_A_ROW had failed beside the best point, of those from `since` on; None: not yet."""
    failed = np.concatenate([[0], np.cumsum(np.isinf(y[rows]))])
    row = np.flatnonzero(failed[IN_A_ROW:] - failed[:-IN_A_ROW] == IN_A_ROW) + IN_A_ROW
    for t in row[row >= since + IN_A_ROW].tolist():
        last = rows[t - IN_A_ROW : t]
        place = X[rows[np.argmin(y[rows[:t]])]]
        if bool((np.abs(X[last] - place) < BESIDE).all()):
            return int(last[-1]) + 1
    return None


def _apart(X: np.ndarray, rows: np.ndarray, places: list[np.ndarray]) -> np.ndarray:
    """Those of the rows whose points are not beside any of the places."""
    if not places or not len(rows):
        return rows
    near = [np.abs(X[rows] - place).max(axis=1) < BESIDE for place in places]
    return np.asarray(rows[~np.any(near, axis=0)])
