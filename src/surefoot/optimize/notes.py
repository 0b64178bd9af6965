"""What whoever reads a result must know of its failures, constraints and limits, in sentences, if there is any."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from surefoot.engine.restarts import BESIDE, phases_of
from surefoot.optimize.border import LEVEL, Border, per_cent
from surefoot.optimize.drawing import short
from surefoot.optimize.durations import duration_note
from surefoot.optimize.feasible import best_place, violations
from surefoot.optimize.limits import parse_limit
from surefoot.optimize.reasons import summary
from surefoot.optimize.region import Region
from surefoot.optimize.sensitivity import limit_notes

if TYPE_CHECKING:
    from surefoot.optimize.result import Result

_NEAR = 0.05  # of the range: a border so near to the best point is worth a sentence
_SURE = 0.9  # so is a P(success) of the best point below this
_MAX_NAME = 60
_ACTIVE = 1e-3  # of the ranges: a known constraint so near to the best point is named
_MOST_LISTED = 5
_OFF_BROKEN = 1e3  # times: a limit that every value violates by so much is probably in another unit
_OFF_KEPT = 1e5  # so is one that every value keeps by so much; a residual of 1e-9 below 1e-6 is nothing to ask about
_MOST_FITTED = 500  # evaluations of which a model is fitted for these sentences alone


def notes(result: Result) -> list[str]:
    """The sentences, each without a capital and a full stop.

    If something has failed or outputs have limits a model is fitted, unless that takes long: who prints a result does
    not want to wait.
    """
    found = []
    quick = "model" in vars(result) or result.nfev <= _MOST_FITTED
    if result.nfev and not result.success:
        found.append(f"nothing succeeded; most often: {summary(e.reason for e in result.history.evaluations)}")
    if result.success and result.n_failures and quick and result.model.learns_failures:
        found.append(border_note(result.border))
    found.append(outside_note(result))
    found += unit_notes(result)
    if result.settings.outputs and quick:
        found.extend(limit_notes(result))
    found.append(duration_note(result.history))
    found += constraint_notes(result)
    found.append(restart_note(result))
    return [note for note in found if note]


def outside_note(result: Result) -> str:
    """How many evaluations succeeded, but outside limits on outputs; empty if none did, or if all did: see below."""
    outside = (~(violations(result.history, result.settings.outputs) <= 0.0)).any(axis=0)  # NaN is outside too
    n = int((result.history.ok & outside).sum())
    if not n or not result.feasible:
        return ""
    return f"{n} of {result.nfev} evaluations {'was' if n == 1 else 'were'} outside limits on outputs"


def unit_notes(result: Result) -> list[str]:
    """Which limits on outputs are orders of magnitude away from every value so far: perhaps their units differ."""
    found = []
    for name, text in result.settings.outputs.items():
        values = np.asarray([e.outputs.get(name, math.nan) for e in result.history.evaluations], dtype=float)
        values, limit = values[np.isfinite(values)], parse_limit(name, text)
        bounds = [abs(bound) for bound in (limit.lower, limit.upper) if math.isfinite(bound) and bound != 0.0]
        if not values.any() or not bounds:
            continue
        least, most = np.abs(values).min(), np.abs(values).max()
        larger, smaller = least / max(bounds), min(bounds) / most
        if max(larger, smaller) >= (_OFF_BROKEN if (limit.violation(values) > 0.0).all() else _OFF_KEPT):
            power = math.floor(math.log10(max(larger, smaller)))
            than = "as large as" if larger > smaller else "smaller than"
            found.append(
                f"every {short(name, _MAX_NAME)} so far, {least:.3g} to {most:.3g} in size, is at least 10^{power} "
                f"times {than} its limit {text}: are the units the same?"
            )
    return found


def restart_note(result: Result) -> str:
    """After how many evaluations the run had settled and began anew, and whether it paid; empty if it never did."""
    begun = result.history.warmth.begun
    if not result.settings.spec.restarts or not begun:
        return ""
    settled = [n for n in phases_of(result.batch, result.settings.spec, begun)[0].begun[::2] if n < result.nfev]
    if not settled:
        return ""
    after = " and ".join(filter(None, [", ".join(map(str, settled[:-1])), *map(str, settled[-1:])]))
    X, y = result.batch.X[0], np.where(result.batch.ok[0], result.batch.y[0], np.inf)
    first, best = np.argmin(y[: settled[0]]), np.argmin(y)
    found = "found a better one" if np.abs(X[best] - X[first]).max() >= BESIDE else "none was better"
    return f"the run had settled after {after} evaluations, and looked for another minimum: {found}"


def outlook(result: Result) -> str:
    """How likely more evaluations are to gain, in a sentence as above; empty before the model is asked for points."""
    quick = "model" in vars(result) or result.nfev <= _MOST_FITTED
    gain = result.gain() if quick and result.feasible and result.nfev > result.settings.n_init else None
    return "" if gain is None else str(gain)


def constraint_notes(result: Result) -> list[str]:
    """Which known constraints the best point lies at, or violates, and how many of the given points violate some."""
    constraints = result.space.constraints
    if not constraints or not result.success:
        return []
    place = best_place(result.history, result.sign, result.settings.outputs)
    assert place is not None  # something has succeeded
    best = result.history.evaluations[place]
    found = []
    if best.violates:
        found.append(f"the best point violates {_listed(best.violates)}: no success meets all known constraints")
    else:
        expressions = [c for c in constraints if c.comparison is not None]
        near = [str(c) for c, share in Region(result.space, expressions).distances(best.x) if share <= _ACTIVE]
        if near:
            found.append(f"the best point lies at the border of {_listed(dict.fromkeys(near))}")
    n = sum(not allowed for allowed in result.history.allowed)
    if n:
        found.append(f"{n} evaluation{'s' * (n > 1)} violate{'s' * (n == 1)} known constraints: kept, never the best")
    return found


def _listed(texts: Iterable[str]) -> str:
    texts = list(texts)
    more = f" and {len(texts) - _MOST_LISTED} more" if len(texts) > _MOST_LISTED else ""
    return ", ".join(short(text, _MAX_NAME) for text in texts[:_MOST_LISTED]) + more


def border_note(border: Border) -> str:
    """How near the best point lies to where evaluations fail; empty if it lies far from it."""
    p = f"P(success) is {border.probability:.2f}"
    if border.probability < LEVEL:
        away = f"; the nearest failure is {per_cent(border.failure.share)} of the ranges away" if border.failure else ""
        return f"the best point lies where the model expects failures: {p} there{away}"
    if border.nearest is not None and border.nearest[1].share <= _NEAR:
        name, crossing = border.nearest
        side = "below" if crossing == border.along[name].below else "above"
        where = f"{crossing.distance:.3g} {side} its {short(name, _MAX_NAME)} ({per_cent(crossing.share)} of the range)"
        return f"{p} at the best point, and evaluations begin to fail {where}"
    return f"{p} at the best point" if border.probability < _SURE else ""
