"""The bars of the comparison study: evaluations to the target, a panel a problem [NH18, Fig. 3]."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from surefoot.optimize.plots import pyplot
from surefoot.paper.figures import save_figure
from surefoot.paper.studies.comparison.study import Row, by_problem
from surefoot.style import LIGHT, styled

_OURS, _OTHERS = LIGHT["blue"], LIGHT["dots"]  # surefoot's solvers and those of other libraries


@styled
def draw(rows: Sequence[Row], log10_target: float, path: Path) -> Path:
    """Mean ± standard error of the runs that reached the target; a diamond is the expected running time with misses."""
    plt = pyplot()
    panels = by_problem(rows)
    columns = min(2, len(panels))
    n_rows = -(-len(panels) // columns)
    height = 0.32 * max(map(len, panels.values())) + 0.9
    size = (5.4 * columns, n_rows * height + 0.6)
    fig, axes = plt.subplots(n_rows, columns, figsize=size, squeeze=False, layout="constrained")
    for ax in axes.ravel()[len(panels) :]:
        ax.set_visible(False)
    for ax, (problem, here) in zip(axes.ravel(), panels.items(), strict=False):
        _panel(ax, here)
        ax.set_title(problem, fontsize=10)
    fig.supxlabel(f"evaluations until log10 distance <= {log10_target:g}", fontsize=10)
    handles = [
        plt.Rectangle((0, 0), 1, 1, color=_OURS, label="surefoot"),
        plt.Rectangle((0, 0), 1, 1, color=_OTHERS, label="other libraries"),
        plt.Line2D([], [], ls="", marker="D", ms=5, color="black", label="expected running time, where runs missed"),
    ]
    fig.legend(handles=handles, loc="outside upper center", ncols=3 if columns > 1 else 2, frameon=False, fontsize=9)
    return save_figure(fig, path)


def _panel(ax: Any, rows: Sequence[Row]) -> None:
    for y, row in enumerate(rows):
        colour = _OURS if row.solver.fits_a_model else _OTHERS
        if row.n_hits:
            error = row.standard_error if row.n_hits > 1 else 0.0
            ax.barh(y, row.mean, xerr=error, color=colour, height=0.72, error_kw={"lw": 1.0, "capsize": 2.5})
            end = row.mean + error
            if not row.hit.all():
                ax.plot(row.expected_running_time, y, "D", ms=5, color="black")
                end = max(end, row.expected_running_time)
                text = f"{row.mean:.0f}; {row.expected_running_time:.0f}"
            else:
                text = f"{row.mean:.0f}"
        else:
            end, text = 1.0, f"> {row.budget}"
        if not row.hit.all():
            text += f" ({row.n_hits} of {len(row.n)})"
        ax.annotate(text, (end, y), xytext=(5, 0), textcoords="offset points", va="center", fontsize=8)
    finite = [row.expected_running_time for row in rows if row.n_hits]
    ax.set_xscale("log")
    ax.set_xlim(1.0, 30.0 * max(finite, default=10.0))
    ax.set_yticks(range(len(rows)), [row.solver.name for row in rows], fontsize=8)
    ax.invert_yaxis()
    ax.tick_params(axis="x", labelsize=8)
    ax.spines[["top", "right"]].set_visible(False)
