"""Trials as lines of text: fitted to a terminal, or whole for a pipe."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from typing import Any

from rich.cells import cell_len

from surefoot.errors import one_line
from surefoot.optimize.durations import duration

Row = dict[str, Any]
Column = list[str]  # its header, then a cell of each trial

_PLACE = ("started", "ended", "host", "folder")
_OTHERS = ("number", "status", "duration_s", "reason", "fallback", *_PLACE)
_WORDS = ("status", "reason", "fallback")  # to the left; numbers to the right
_GAP = "  "
_LEAST_REASON = 30  # columns: with fewer a reason stands below its trial
_MOST_TEXT = 24  # characters of a choice
_INDENT = " " * 7
_MOST_LINES = 2  # of a reason


def whole(rows: Sequence[Row]) -> Iterator[str]:
    """Header and rows in columns, all digits, nothing cut; `-` where there is no value."""
    names = [name for name in rows[0] if name not in (*_PLACE, "reason")]
    yield from _lines(
        [[n, *("-" if row[n] in (None, "") else one_line(_exact(row[n])) for row in rows)] for n in (*names, "reason")]
    )


def fitted(rows: Sequence[Row], width: int) -> Iterator[str]:
    """Header and rows that fit the width: short numbers, as many parameters as there is room for, reasons folded."""
    values = [name for name in rows[0] if name == "value" or name.startswith("value_")]
    first = ["number", "status", *values]
    parameters = [name for name in rows[0] if name not in (*_OTHERS, *values)]
    reasons = [_remark(row) for row in rows]
    for room, most in ((_LEAST_REASON, 12), (0, 12), (0, 8)):  # reasons beside the numbers; below; names cut shorter
        columns = {name: _column(rows, name, most) for name in (*first, *parameters, "duration_s")}
        left = width - _width(columns, [*first, "duration_s"]) - (room + len(_GAP) if any(reasons) else 0)
        shown = _that_fit(columns, parameters, left)
        if len(shown) == len(parameters):
            break
    names = [*first, *shown, "duration_s"]
    lines = _lines([columns[name] for name in names])
    beside = bool(room) and any(reasons)
    yield next(lines) + (f"{_GAP}reason" if beside else "")
    used = _width(columns, names)
    for line, reason in zip(lines, reasons, strict=True):
        if not reason:
            yield line
        elif beside:
            folded = _folded(reason, width - used - len(_GAP))
            yield f"{line}{' ' * (used - cell_len(line))}{_GAP}{folded[0]}"
            yield from (" " * (used + len(_GAP)) + more for more in folded[1:])
        else:
            yield line
            yield from (_INDENT + part for part in _folded(reason, width - len(_INDENT)))
    missing = len(parameters) - len(shown)
    if missing:
        yield f"({missing} more column{'s' * (missing > 1)}: --trial shows all of one, surefoot export all of all)"


def _folded(reason: str, width: int) -> list[str]:
    """A reason in a few lines; what is left out, --trial shows."""
    return textwrap.wrap(reason, width, max_lines=_MOST_LINES, placeholder=" …") or [""]


def _remark(row: Row) -> str:
    """Why it failed; why its point is a random one, if that is so against what was asked for."""
    fallback = row.get("fallback")
    random = f"random point, for no suggestion could be made: {one_line(fallback)}" if fallback else ""
    return "; ".join(filter(None, (one_line(row["reason"]), random)))


def _lines(columns: Sequence[Column]) -> Iterator[str]:
    """Columns side by side, the header first."""
    widths = [max(map(cell_len, column)) for column in columns]
    for row in zip(*columns, strict=True):
        padded = []
        for cell, width, column in zip(row, widths, columns, strict=True):
            space = " " * (width - cell_len(cell))
            padded.append(cell + space if column[0] in _WORDS else space + cell)
        yield _GAP.join(padded).rstrip()


def _that_fit(columns: dict[str, Column], names: Sequence[str], width: int) -> list[str]:
    shown = []
    for name in names:
        needed = len(_GAP) + _width(columns, [name])
        if needed <= width:  # one that does not fit leaves its place to narrower ones
            shown.append(name)
            width -= needed
    return shown


def _width(columns: dict[str, Column], names: Sequence[str]) -> int:
    return sum(max(map(cell_len, columns[name])) for name in names) + len(_GAP) * (len(names) - 1)


def _column(rows: Sequence[Row], name: str, most: int) -> Column:
    """A header and short cells; a name longer than its values is cut to so many characters."""
    cells = [_short(row[name], name) for row in rows]
    head = {"number": "trial", "duration_s": "time"}.get(name, one_line(name))
    most = max(most, *map(len, cells))
    return [head if len(head) <= most else head[: most - 1] + "…", *cells]


def _short(value: Any, name: str) -> str:
    if value is None:
        return ""
    if name == "duration_s":
        return duration(value)
    if isinstance(value, float):
        return f"{value:.6g}" if name.startswith("value") else f"{value:.4g}"
    text = one_line(str(value))
    return text if len(text) <= _MOST_TEXT else text[: _MOST_TEXT - 1] + "…"


def _exact(value: Any) -> str:
    return repr(value) if isinstance(value, float) else str(value)
