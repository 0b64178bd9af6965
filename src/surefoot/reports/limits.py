"""Limits on outputs in a report: the values at the best point, which limits are active, what each costs."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from surefoot.optimize.drawing import point_name
from surefoot.optimize.sensitivity import AtLimit
from surefoot.reports.numbers import number
from surefoot.reports.page import Block, Table, Text

if TYPE_CHECKING:
    from surefoot.optimize.result import Result


def limit_blocks(result: Result) -> list[Block]:
    """A row for every limited output; nothing without limits."""
    if not result.limits:
        return []
    rows = [(at.name, at.text, _value(at), _state(at), _cost(result, at)) for at in result.limits]
    header = ("output", "limit", f"at the {point_name(result)}", "", "with 1 % more room")
    table = Table("Limits on outputs", header, rows, left=(0, 1, 3, 4))
    n = int(result.within.sum())
    share = f"{n} of {int(result.history.ok.sum())} evaluations that succeeded are within all limits."
    return [table, Text(share)]


def _value(at: AtLimit) -> str:
    return "not computed" if math.isnan(at.value) else number(at.value)


def _state(at: AtLimit) -> str:
    if math.isnan(at.value):
        return ""
    if at.violation > 0.0:
        return f"outside by {number(at.violation, 3)}"
    return f"at its {at.active} limit" if at.active else "inside"


def _cost(result: Result, at: AtLimit) -> str:
    """What the active limit costs, for small steps; where nothing is within all limits, nobody knows."""
    if not at.active and result.feasible:
        return "no change"
    if math.isnan(at.multiplier):
        return "not known"
    if math.isnan(at.gain):
        return f"{result.objective} better by {number(at.multiplier, 3)} per unit"
    return f"{result.objective} better by {at.gained}"
