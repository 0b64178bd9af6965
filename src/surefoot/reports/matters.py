"""What the report says of what matters: how much of the value and of the failures each parameter explains."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from surefoot.optimize.drawing import short
from surefoot.optimize.importance import LEVEL, Importance, Shares, importance
from surefoot.reports.numbers import percent
from surefoot.reports.page import Block, Figure, Table, Text
from surefoot.reports.svg import drawing
from surefoot.style import LIGHT

if TYPE_CHECKING:
    from markupsafe import Markup

    from surefoot.optimize.result import Result

_MOST = 20  # parameters shown
_MAX_NAME = 24
_AXIS = {"the probability of success": "P(success)"}  # short: the reader's font may be a wide one


def matter_blocks(result: Result) -> list[Block]:
    """The section; nothing where there is one parameter, which is all that matters."""
    free = [i for i, p in enumerate(result.space.parameters) if p.n_values > 1]
    if len(free) < 2:
        return []
    found = importance(result)
    weight = found.total.value if found.failures is None else np.maximum(found.total.value, found.failures.value)
    order = sorted(free, key=lambda i: -float(weight[i]))[:_MOST]
    drawings = [_bars(result, order, found.total, found.first, "the value", "blue")]
    if found.failures is not None:
        drawings.append(_bars(result, order, found.failures, None, "the probability of success", "red"))
    sure = percent(LEVEL)
    caption = (
        "How much of the variation over the whole box would be lost without each parameter (its total Sobol’ index): "
        f"bar, with the range in which it lies with a probability of {sure}. Circle: what it explains alone."
    )
    return [Figure(drawings, caption, columns=2), _table(result, order, found), *_remarks(result, found, len(free))]


def _bars(result: Result, order: list[int], total: Shares, first: Shares | None, what: str, colour: str) -> Markup:
    names = [short(result.space.names[i], _MAX_NAME) for i in order]
    place = np.arange(len(order))

    def draw(figure: Any) -> None:
        ax = figure.add_subplot()
        value, low, high = (part[order] for part in (total.value, total.low, total.high))
        ax.barh(place, value, height=0.55, color=LIGHT[colour], alpha=0.55)
        ends = np.maximum([value - low, high - value], 0.0)
        ax.errorbar(value, place, xerr=ends, fmt="none", ecolor=LIGHT["ink"], elinewidth=1.0, capsize=2.5)
        if first is not None:
            ax.plot(first.value[order], place, "o", ms=4.5, mfc="none", mec=LIGHT["ink"], mew=1.0, ls="")
        ax.set_yticks(place, names, parse_math=False)
        ax.invert_yaxis()
        ax.set(xlim=(0.0, 1.02), xlabel=f"share of the variation of {_AXIS.get(what, what)}")
        ax.set_xticks([0.0, 0.25, 0.5, 0.75, 1.0], ["0", "25 %", "50 %", "75 %", "100 %"])

    shares = ", ".join(f"{name} {percent(v)}" for name, v in zip(names, total.value[order], strict=True))
    return drawing(draw, (4.15, 1.0 + 0.26 * len(order)), f"What {what} depends on: {shares}")


def _table(result: Result, order: list[int], found: Importance) -> Table:
    header = ["parameter", "value: total", "alone"] + ["failures: total"] * (found.failures is not None)
    shares = [found.total, found.first, *([] if found.failures is None else [found.failures])]
    rows = [(result.space.names[i], *(_told(share, i) for share in shares)) for i in order]
    return Table(f"Sobol’ indices, with ranges of {percent(LEVEL)}", header, rows, left=(0,))


def _told(shares: Shares, i: int) -> str:
    return f"{percent(shares.value[i])} ({percent(shares.low[i])} to {percent(shares.high[i])})"


def _remarks(result: Result, found: Importance, d: int) -> list[Block]:
    said = []
    if d > _MOST:
        said.append(f"The {_MOST} of {d} parameters that matter most are shown.")
    if result.model.warp != "none":
        said.append("The model compresses some values, and these are shares of the compressed ones.")
    if result.space.constraints or result.settings.outputs:
        said.append("The whole box counts, also what constraints and limits forbid.")
    wide = [i for i in range(result.space.d) if found.total.high[i] - found.total.low[i] > 0.5]
    if wide:
        said.append("Where a range is wide, there are too few evaluations to tell.")
    return [Text(" ".join(said))] if said else []
