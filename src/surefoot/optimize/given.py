"""What users have at hand (lists, arrays, data frames, SciPy's bounds) as lists of Python; nothing here raises.

Data frames are known by their looks, so that pandas and polars need not be installed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from surefoot.optimize.checks import has, is_a

_MOST = 10_000_000  # elements: a sequence that claims more is none


def listed(given: Any) -> list[Any] | None:
    """The elements of a sequence, array, column or row; None for what is none of them (text is a value)."""
    if is_a(given, str, bytes, bytearray, Mapping, type) or is_frame(given):
        return None
    try:
        if is_a(given, np.ndarray):
            return list(given) if given.ndim > 0 else None
        is_sequence = is_a(given, Sequence) or is_column(given)
        return list(given) if is_sequence and len(given) <= _MOST else None
    except Exception:
        return None


def is_frame(given: Any) -> bool:
    """Whether it looks like a data frame."""
    return not is_a(given, type) and has(given, "columns", "shape", "__getitem__")


def is_column(given: Any) -> bool:
    """Whether it looks like a column or a row of a data frame."""
    return not is_a(given, type) and has(given, "to_numpy", "dtype", "shape", "__len__") and not is_frame(given)


def as_mapping(x: Any) -> Any:
    """A row of a data frame whose labels are names as a dict; everything else as it is."""
    try:
        labels = x.index if is_column(x) else None
        if labels is not None and not callable(labels) and all(isinstance(label, str) for label in labels):
            return dict(zip(labels, list(x), strict=True))
    except Exception:
        return x
    return x


def rows_of_frame(frame: Any, names: Sequence[str], by_position: bool) -> list[list[Any]] | None:
    """The rows of a data frame in the order of the parameters: by names, or else by position; None if neither fits."""
    try:
        columns = list(frame.columns)
        if not set(names) <= set(columns):
            if not by_position or len(columns) != len(names):
                return None
            names = columns
        return [list(row) for row in zip(*(list(frame[name]) for name in names), strict=True)]
    except Exception:
        return None


def same_rows(frame: Any, column: Any) -> bool:
    """Whether a column's labels are those of the frame, as far as both have labels."""
    try:
        if is_frame(frame) and is_column(column) and hasattr(frame, "index") and hasattr(column, "index"):
            return list(frame.index) == list(column.index)
    except Exception:
        return True
    return True


def pairs_of_limits(bounds: Any) -> list[Any] | None:
    """(low, high) of each parameter of scipy.optimize.Bounds."""
    try:
        low, high = np.broadcast_arrays(np.atleast_1d(bounds.lb), np.atleast_1d(bounds.ub))
        return [(a, b) for a, b in zip(low.tolist(), high.tolist(), strict=True)]
    except Exception:
        return None
