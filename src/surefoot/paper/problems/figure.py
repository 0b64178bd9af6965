"""Figure 1 of [NH18]: the one-dimensional problem as a curve, the two-dimensional ones as contours."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from surefoot.errors import InvalidInputError, MissingExtraError
from surefoot.paper.problems.record import Array, Problem
from surefoot.style import LIGHT, VALUE_MAP, styled

_POINTS_PER_AXIS = 401  # SHU has about 19 waves along each axis: 21 points to a wave
_COLUMNS = 3


@styled
def draw(problems: Sequence[Problem], path: str | Path) -> None:
    """Draw the problems with one or two inputs, minimizers as red circles; the ending names the format."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtraError(
            "expected matplotlib to draw with; it is not installed; try installing surefoot's extra `plots`"
        ) from error
    drawable = [p for p in problems if p.d <= 2]
    if not drawable:
        names = ", ".join(p.abbreviation for p in problems) or "none"
        raise InvalidInputError(f"expected a problem with one or two inputs to draw; came {names}; try CSF, BRA or SHU")
    columns = min(_COLUMNS, len(drawable))
    rows = math.ceil(len(drawable) / columns)
    # Figure, not pyplot: no window system is asked for and no global state is left behind.
    figure = Figure(figsize=(4.4 * columns, 3.7 * rows), layout="constrained")
    panels = figure.subfigures(rows, columns, squeeze=False).ravel()
    for panel, problem in zip(panels, drawable, strict=False):
        ax = panel.subplots()
        if problem.d == 1:
            _draw_curve(ax, problem)
        else:
            _draw_contours(ax, problem)
        ax.set_title(f"{problem.name} ({problem.abbreviation})", fontsize=11)
        ax.tick_params(labelsize=8)
    try:
        figure.savefig(path, dpi=200)
    except OSError as error:
        raise InvalidInputError(
            f"expected a path that can be written; came {str(path)!r} ({error.strerror or error}); "
            "try a folder that exists and is yours"
        ) from error
    except ValueError as error:  # matplotlib's answer to an ending that names no format
        raise InvalidInputError(
            f"expected a file name that ends in an image format; came {str(path)!r}; try figure1.png or .pdf"
        ) from error


def _draw_curve(ax: Any, problem: Problem) -> None:
    (low, high) = problem.bounds[0]
    x = np.linspace(low, high, 1001)  # (m,)
    ax.plot(x, problem.function(x[:, None]), color="C0", linewidth=1.6)
    for minimizer in problem.minimizers:
        ax.plot(minimizer[0], problem(minimizer), **_circle())
    ax.set_xlim(low, high)
    ax.grid()
    ax.set_axisbelow(True)
    ax.set_xlabel("$x$")
    ax.set_ylabel("$f(x)$")


def _draw_contours(ax: Any, problem: Problem) -> None:
    from matplotlib.colors import BoundaryNorm

    first, second = (np.linspace(low, high, _POINTS_PER_AXIS) for low, high in problem.bounds)
    x = np.stack(np.meshgrid(first, second), axis=-1)  # (m, m, 2)
    heights, levels, label = _heights_and_levels(problem, problem.function(x))
    # A colour for each band between two levels, however the levels are spaced.
    norm = BoundaryNorm(levels, ncolors=256, extend="min")
    filled = ax.contourf(first, second, heights, levels=levels, cmap=VALUE_MAP, norm=norm, extend="min")
    ax.contour(
        first,
        second,
        heights,
        levels=levels[2::2],
        colors="white",
        linestyles="solid",
        linewidths=0.3,
        alpha=0.5,
    )
    colorbar = ax.figure.colorbar(filled, ax=ax, pad=0.02, ticks=levels[::4], format="%.3g")
    colorbar.set_label(label, fontsize=9)
    colorbar.ax.tick_params(labelsize=8)
    for minimizer in problem.minimizers:
        ax.plot(*minimizer, **_circle(small=len(problem.minimizers) > 6))
    ax.set_xlabel("$x_1$")
    ax.set_ylabel("$x_2$", labelpad=1)


def _heights_and_levels(problem: Problem, f: Array) -> tuple[Array, Array, str]:
    """What to contour: f itself, or log10 of its height above the minimum where the range is huge."""
    base = f.min() if problem.f_star is None else problem.f_star
    above = np.maximum(f - base, np.finfo(np.float64).tiny)
    middle = np.median(f)
    # Huge: the highest point is far above a typical one, so that evenly spaced levels would miss the valleys.
    if f.max() - base > 5.0 * (middle - base):
        heights = np.log10(above)
        # In tenths. The lowest 0.5 % of the area share one colour: log10 has no lower end at the minimum.
        low, high = np.floor(10.0 * np.quantile(heights, 0.005)), np.ceil(10.0 * heights.max())
        step = np.ceil((high - low) / 24.0)
        return heights, np.arange(low, high + step, step) / 10.0, r"$\log_{10}(f - f^*)$"
    # Closer together about the median, where most of the area lies: SHU shows its shallow wells too.
    t = np.linspace(-1.0, 1.0, 21)
    levels = middle + np.where(t < 0.0, middle - f.min(), f.max() - middle) * t * np.abs(t)
    return f, levels, "$f$"


def _circle(small: bool = False) -> dict[str, Any]:
    return {
        "marker": "o",
        "markersize": 4 if small else 6.5,
        "markerfacecolor": LIGHT["red"],
        "markeredgecolor": "white",
        "markeredgewidth": 0.5 if small else 0.8,
        "linestyle": "none",
        "clip_on": False,
        "zorder": 3,
    }
