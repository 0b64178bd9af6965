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
          run's first model (Warmth.begun) may lie in a pile: that is no phase. Evaluations that are told later leave
          the ends before them as they are; only where a history is in another order (Optuna: that of the trials'
          numbers) an end may move by as many evaluations as there are workers.
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
ALONE = 64  # evaluations there, and none elsewhere: more than were under way when the phase began
ANEW = 14  # points of the design with which a phase begins anew, at most
ROUGH = 1  # successes beside the best point with worse values, where failures count: more of them are noise
_FIRST = 14  # successes that tell how y spreads
_BLOCK = 128  # evaluations that are looked at together: most phases end within them


@dataclass(frozen=True)
class Phase:
    """Where a run is."""

    number: int  # from 0 on; odd: anew
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
    pending = batch.pending[r]
    begun, number = first, 0
    ends: tuple[int, ...] = ()
    near, near_pending = np.zeros(n, bool), np.zeros(len(pending), bool)  # beside the best point of a phase before
    while True:
        anew = number % 2 == 1
        rows = np.flatnonzero(counts[begun:]) + begun if anew else np.flatnonzero(counts)
        own = rows[~near[rows]] if anew else rows
        if anew:
            end = _end_anew(X, y, own, rows[near[rows]], n_design)
        else:
            since = int(np.searchsorted(rows, begun))  # evaluations before
            end = _settled(X, y, rows, since + WINDOW, GAIN, GAIN_AT_BORDER)
            end = _fails_on(X, y, rows, since, end) if number else end
        if end is None:
            if not anew:
                return Phase(number, np.arange(n), 0, ends)
            columns = np.flatnonzero(~near[begun:]) + begun  # what an earlier phase asked for lies beside its best
            return Phase(number, columns, len(columns) + int((~near_pending).sum()), ends)
        known = own[own < end]
        best = known[np.argmin(y[known])] if len(known) else -1
        if best >= 0 and np.isfinite(y[best]) and not near[best]:
            near |= np.abs(X - X[best]).max(axis=1) < BESIDE
            near_pending |= np.abs(pending - X[best]).max(axis=1) < BESIDE
        begun, number, ends = end, number + 1, (*ends, end)


def phases_of(batch: Batch, spec: ModelSpec, begun: tuple[int, ...]) -> list[Phase]:
    """The phase of every run, whose models spoke first after so many evaluations."""
    return [phase_of(batch, r, min(spec.n_init, ANEW), first) for r, first in enumerate(begun)]


def split(batch: Batch, columns: np.ndarray) -> Batch:
    """The batch with these evaluations (R, k) alone; the others tell of failures, and are not proposed again."""
    n = batch.X.shape[1]
    others = np.stack([np.setdiff1d(np.arange(n), own) for own in columns])
    return replace(batch.of_evaluations(columns), earlier=batch.of_evaluations(others))


def _end_anew(X: np.ndarray, y: np.ndarray, own: np.ndarray, beside: np.ndarray, design: int) -> int | None:
    """After how many evaluations a phase that began anew ended; None: it has not.

    own: rows that its model sees; beside: the others since it began, beside the best point of a phase before.
    """
    ends = [_settled(X, y, own, design + WINDOW, GAIN_ANEW, GAIN_ANEW)]
    later = [beside[beside > own[k]] if len(own) > k else beside[:0] for k in (0, design - 1)]
    # the second: no design is to be had elsewhere; the third: nothing is. What was under way when the phase began
    # comes first.
    for again, most in ((later[1], SAME), (later[0], design + SAME), (beside, ALONE)):
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
    for begin in range(max(least, WINDOW + 1), len(rows) + 1, _BLOCK):
        t = np.arange(begin, min(begin + _BLOCK, len(rows) + 1))  # evaluations
        end = _settled_at(X, y, rows[: t[-1]], t, share, share_at_border)
        if end is not None:
            return end
    return None


def _settled_at(
    X: np.ndarray, y: np.ndarray, rows: np.ndarray, t: np.ndarray, share: float, share_at_border: float
) -> int | None:
    """The first of these numbers of evaluations after which they have settled."""
    values = y[rows]
    first = values[np.isfinite(values)][:_FIRST]
    if not len(first):
        return None
    best = np.minimum.accumulate(values)
    is_best = best < np.concatenate([[np.inf], best[:-1]])
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


def _fails_on(X: np.ndarray, y: np.ndarray, rows: np.ndarray, since: int, end: int | None) -> int | None:
    """After how many evaluations IN_A_ROW had failed beside the best point, of those from `since` on; else `end`."""
    rows = rows if end is None else rows[rows < end]
    values = y[rows]
    best = np.minimum.accumulate(values)
    at = np.maximum.accumulate(np.where(best < np.concatenate([[np.inf], best[:-1]]), np.arange(len(rows)), 0))
    failed = np.concatenate([[0], np.cumsum(np.isinf(values[since:]))])
    for t in (np.flatnonzero(failed[IN_A_ROW:] - failed[:-IN_A_ROW] == IN_A_ROW) + IN_A_ROW + since).tolist():
        last = rows[t - IN_A_ROW : t]
        if bool((np.abs(X[last] - X[rows[at[t - 1]]]) < BESIDE).all()):
            return int(last[-1]) + 1
    return end
