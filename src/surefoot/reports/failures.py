"""What the report of an optimization says of failures: why, where, how near to the best point."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from surefoot.optimize.border import LEVEL, Along, Crossing, per_cent
from surefoot.optimize.drawing import best_values
from surefoot.optimize.durations import duration
from surefoot.optimize.influence import Influence, influence
from surefoot.optimize.notes import border_note
from surefoot.optimize.places import where
from surefoot.optimize.plots import spread_successes
from surefoot.optimize.reasons import OTHER, ReasonGroup, leading
from surefoot.reports.maps import success_drawing
from surefoot.reports.numbers import MINUS, number, percent
from surefoot.reports.page import Block, Figure, Note, Table, Text

if TYPE_CHECKING:
    from surefoot.optimize.result import Result

MAX_REASONS = 20
_TOLD = 0.05  # a parameter whose share of the variance of P(success) is smaller is not named
_MOST_NAMED = 4


def failure_blocks(result: Result) -> list[Block]:
    """The section on failures."""
    if not result.n_failures:
        return [Text("No evaluation failed.")]
    blocks: list[Block] = [_reasons(result)]
    lost = sum(e.status == "transient" for e in result.history.evaluations)
    if lost:
        verb = "was" if lost == 1 else "were"
        blocks.append(
            Text(f"{lost} of them {verb} lost to the machine, not to the point, and the model does not learn from it.")
        )
    if not result.success:
        return blocks
    if not result.model.learns_failures:
        unknown = "Where evaluations fail was not learned, so there is no map of the probability of success."
        return [*blocks, Text(unknown)]
    return [*blocks, *_success_map(result), *_border(result)]


def border_blocks(result: Result) -> list[Block]:
    """One line for the head of the report, where the best point is near to what fails."""
    note = ""
    if result.success and result.n_failures and result.model.learns_failures:
        note = border_note(result.border)
    return [Note(f"{note[0].upper()}{note[1:]}.")] if note else []


# --- why


def _reasons(result: Result) -> Table:
    """A row for every kind of reason: how often, why, where, how long."""
    evaluations = result.history.evaluations
    failed = [k for k, e in enumerate(evaluations) if not e.ok]
    groups = leading([evaluations[k].reason for k in failed], MAX_REASONS + 1)
    rows = [_row(result, group, [failed[k] for k in group.members]) for group in groups]
    kept = [k for k, column in enumerate(zip(*rows, strict=True)) if k not in (2, 3) or any(column)]
    header = ("count", "reason", "where", "median time", "first at evaluation")
    caption = "Failed evaluations by reason"
    if any(group.differing for group in groups):
        caption += "; those that differ only in numbers are counted together, with … for what differs"
    if groups[-1].pattern == OTHER:
        caption += "; the rarer ones together"
    left = tuple(at for at, k in enumerate(kept) if k in (1, 2))
    return Table(caption, [header[k] for k in kept], [[row[k] for k in kept] for row in rows], left=left)


def _row(result: Result, group: ReasonGroup, members: list[int]) -> tuple[int, str, str, str, int]:
    history = result.history
    times = [t for k in members if math.isfinite(t := history.evaluations[k].duration_s)]
    place = "" if group.pattern == OTHER else where(result.space, history, members)
    reason = group.label
    return (
        group.count,
        reason if len(reason) <= 240 else reason[:239] + "…",
        place,
        duration(float(np.median(times))) if times else "",
        result.numbers[members[0]],
    )


# --- where


def _success_map(result: Result) -> list[Block]:
    """P(success) over the two parameters that explain most of it, and what else it depends on."""
    found = influence(result)
    said = Text(f"The probability of success depends on {_depends(result, found)}.")
    if not found.pairs:
        return [said]  # the slices above show P(success) along each parameter
    names, best = result.space.names, best_values(result)
    fills = spread_successes(result) if result.space.d > 2 else ()
    drawings = [success_drawing(result, i, j, best, (names[i], names[j]), fills=fills) for i, j in found.pairs]
    caption = "Learned probability that an evaluation succeeds, over "
    caption += ", and over ".join(f"{names[i]} and {names[j]}" for i, j in found.pairs)
    if fills:
        shares = " and ".join(percent(share) for share in found.explained)
        these = "These two explain" if len(drawings) == 1 else "These pairs explain"
        plural = "s" * (len(fills) > 1)
        caption += f", averaged over the others as in {len(fills)} evaluation{plural} that succeeded. "
        caption += f"{these} {shares} of how it varies"
    return [Figure(drawings, f"{caption}."), said]


def _depends(result: Result, found: Influence) -> str:
    """The parameters that P(success) depends on, with their shares; the most important first."""
    order = [int(i) for i in np.argsort(-found.total, kind="stable") if found.total[i] >= _TOLD][:_MOST_NAMED]
    if not order:
        return "no parameter: it is about the same everywhere"
    shares = [f"{result.space.names[i]} ({percent(min(found.total[i], 1.0))})" for i in order]
    together = ", interactions included" if len(order) > 1 else ""
    return f"{', '.join(shares)}: the share of its variance that would be lost without the parameter{together}"


# --- how near


def _border(result: Result) -> list[Block]:
    """Where P(success) falls below 1/2, seen from the best point, and the nearest failure."""
    border = result.border
    blocks: list[Block] = []
    rows = [
        (name, number(value), _told(along.below, MINUS), _told(along.above, "+"))
        for (name, along), value in zip(border.along.items(), _numeric_values(result), strict=True)
        if along != Along()
    ]
    if rows and border.probability >= LEVEL:
        caption = (
            "Where the probability of success falls below one half: one parameter at a time, from the best point, "
            f"where it is {border.probability:.2f}"
        )
        blocks.append(Table(caption, ("parameter", "best point", "downwards", "upwards"), rows, left=(0,)))
    if border.failure is not None:
        away = f"no parameter differs by more than {per_cent(border.failure.share)} of its range"
        blocks.append(Text(f"The failure nearest to the best point is evaluation {border.failure.number}: {away}."))
    return blocks


def _numeric_values(result: Result) -> list[float]:
    best = dict(zip(result.space.names, best_values(result), strict=True))
    return [float(best[name]) for name in result.border.along]


def _told(crossing: Crossing | None, sign: str) -> str:
    return "–" if crossing is None else f"{number(crossing.value, 4)} ({sign}{per_cent(crossing.share)})"
