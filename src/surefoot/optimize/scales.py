"""Axes and colours of values that span decades.

Rule      Values span decades if the largest is DECADES times the least in size, or if four fifths of them lie in a
          tenth of their range, at its good end: there the steps of the best so far could not be told apart.
Positive  They are drawn on a logarithmic axis, unless the largest is less than WIDENS times the least: it would not
          draw them farther apart.
Others    Values of both signs, or negative ones, are drawn on an axis that is linear up to the usual size of a value
          and logarithmic beyond it, on either side (Matplotlib's symlog).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

DECADES = 100.0
WIDENS = 5.0
_MOST, _SMALL = 80, 0.1  # per cent of the values, a share of their range
_LEVELS = 24


@dataclass(frozen=True)
class Scale:
    """How values are drawn."""

    kind: Literal["linear", "log", "symlog"] = "linear"
    linear_to: float = 1.0  # of symlog

    def set(self, set_scale: Any) -> None:
        """Give it to an axis: set_scale is `ax.set_xscale` or `ax.set_yscale`."""
        if self.kind == "log":
            set_scale("log", nonpositive="clip")
        elif self.kind == "symlog":
            set_scale("symlog", linthresh=self.linear_to)

    def contours(self, values: np.ndarray) -> dict[str, Any]:
        """Arguments of a filled contour drawing."""
        from matplotlib.colors import LogNorm, SymLogNorm

        low, high = float(values.min()), float(values.max())
        if self.kind == "linear" or low == high:
            return {"levels": _LEVELS}
        if self.kind == "log" and low > 0.0:
            return {"levels": np.geomspace(low, high, _LEVELS), "norm": LogNorm(low, high)}
        norm = SymLogNorm(self.linear_to, vmin=low, vmax=high)
        levels = np.asarray(norm.inverse(np.linspace(0.0, 1.0, _LEVELS)), dtype=float)
        levels[0], levels[-1] = low, high
        return {"levels": levels, "norm": norm}


def plain_ticks(axis: Any, values: np.ndarray) -> None:
    """Give a logarithmic axis of a few decades ticks at 1, 2 and 5, written out: 200, not 2 × 10²."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    low, high = float(values.min()), float(values.max())
    if axis.get_scale() == "log" and low >= 1e-4 and high < 1e5 and high < 1e3 * low:
        axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        axis.set_major_formatter(FuncFormatter(written_out))
        axis.set_minor_formatter(NullFormatter())


def written_out(value: float, _: Any = None) -> str:
    """The text of such a tick."""
    return f"{value:g}"


def round_ticks(bar: Any) -> None:
    """Give the colour bar of logarithmic contours round numbers; it would have the contours' own."""
    from matplotlib.colors import LogNorm
    from matplotlib.ticker import LogLocator

    if isinstance(bar.norm, LogNorm):
        low, high = float(bar.norm.vmin or 1.0), float(bar.norm.vmax or 1.0)
        ticks = LogLocator(subs=(1.0,) if high > 1e4 * low else (1.0, 2.0, 5.0)).tick_values(low, high)
        bar.set_ticks([t for t in ticks if low <= t <= high])
        bar.ax.minorticks_off()


def scale_of(values: np.ndarray, sign: float = 1.0) -> Scale:
    """The scale of values (n,) of which small ones are good (sign = -1: large ones)."""
    y = np.asarray(values, dtype=float)
    y = y[np.isfinite(y)]
    sizes = np.abs(y[y != 0.0])
    if len(sizes) < 3 or float(np.ptp(y)) == 0.0:
        return Scale()
    with np.errstate(over="ignore"):
        worse = sign * y - (sign * y).min()
        crowded = float(np.percentile(worse, _MOST)) < _SMALL * float(worse.max())
        usual = float(np.median(sizes))
        if y.min() > 0.0:
            ratio = float(y.max() / y.min())
            return Scale("log") if ratio >= (WIDENS if crowded else DECADES) else Scale()
        wide = bool(sizes.max() / (sizes.min() if y.max() < 0.0 else usual) >= DECADES)
    if not wide and not crowded:
        return Scale()
    return Scale("symlog", max(1e-300, float(sizes.min()) if y.max() < 0.0 else usual))
