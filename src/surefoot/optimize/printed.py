"""What results print: names and texts in two columns, for a terminal of 80 columns."""

from __future__ import annotations

from collections.abc import Mapping
from textwrap import fill, indent
from typing import Any

import numpy as np

from surefoot.errors import shown
from surefoot.optimize.checks import is_a

_NAME = 11  # columns of the names
_TEXT = 80 - _NAME - 2  # columns of the texts


def two_columns(rows: Mapping[str, str]) -> str:
    """Names on the left, their texts on the right; lines that are too long go on below, a little indented."""
    return "\n".join(
        f"{name:>{_NAME}}: {indent(_filled(text), ' ' * (_NAME + 2)).lstrip()}" for name, text in rows.items()
    )


def _filled(text: str) -> str:
    lines = (
        line
        if len(line) <= _TEXT
        else fill(line, _TEXT, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)
        for line in text.split("\n")
    )
    return "\n".join(lines)


def entries(x: Any) -> str:
    """A point or outputs, all of them: the lines of a dict end between its entries."""
    if isinstance(x, np.ndarray):
        return np.array2string(x, max_line_width=_TEXT)
    if not is_a(x, Mapping):
        return shown(x)
    lines = [""]
    parts = [f"{shown(name)}: {shown(value)}" for name, value in x.items()]
    for k, part in enumerate(parts):
        part += "," if k < len(parts) - 1 else "}"
        if lines[-1] and len(lines[-1]) + 2 + len(part) > _TEXT:
            lines.append("")
        lines[-1] += f" {part}"
    return "{" + "\n".join(lines)[1:] if parts else "{}"
