"""The figure of the benchmark on simulators: how often evaluations fail, and what is reached, as a run goes on."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.ticker import LogLocator, NullFormatter

from benchmarks.simulators.problems import problem_of
from benchmarks.simulators.report import in_order
from benchmarks.simulators.runs import SimulatorRuns
from surefoot.optimize.plots import pyplot
from surefoot.paper.figures import save_figure
from surefoot.paper.studies.failures.strategies import OTHERS
from surefoot.paper.studies.failures.verdicts import DEFAULT, ordered
from surefoot.style import LIGHT, styled

WINDOW = 10  # evaluations over which a share of failures is averaged, beside the average over seeds
FEWEST = 3  # seeds of what is drawn
FLOOR = 1e-3  # of the best known value: distances below it are drawn as this
_COLOURS = {"default": "black", "egobox": "C0", "tpe": "C1", "cmaes": "C2", "random": LIGHT["dots"], "smac": "C4"}


@styled
def draw(runs: Sequence[SimulatorRuns], path: Path) -> Path:
    """Above the share that fails, below the distance to the best known value; the default and other optimizers."""
    plt = pyplot()
    names = in_order(runs)
    runs = [r for r in runs if r.strategy == DEFAULT or (r.strategy in OTHERS and _has_enough(r, runs))]
    shown = ordered(r.strategy for r in runs)
    fig, axes = plt.subplots(
        2, len(names), figsize=(2.5 * len(names) + 0.6, 5.2), squeeze=False, layout="constrained", sharex="col"
    )
    for name, (above, below) in zip(names, axes.T, strict=True):
        mine = sorted((r for r in runs if r.problem == name), key=lambda r: r.strategy == DEFAULT)
        for r in mine:
            look = {"color": _COLOURS.get(r.strategy, "C5"), "lw": 2.2 if r.strategy == DEFAULT else 1.2}
            _failing(above, r, look)
            _distance(below, r, look)
        for ax in (above, below):
            ax.axvline(mine[0].n_init, color=LIGHT["muted"], lw=0.8, ls=":", zorder=0)
            ax.tick_params(labelsize=7)
        above.set(ylim=(-3, 103))
        above.set_title(name, fontsize=10)
        below.set_yscale("log")
        below.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0), numticks=12))
        below.yaxis.set_major_formatter("{x:g}")
        below.yaxis.set_minor_formatter(NullFormatter())
        below.set_xlabel("evaluation", fontsize=8)
        below.set_ylabel(f"{problem_of(name).evaluator.name} above the best known", fontsize=8)
    axes[0, 0].set_ylabel("% that fail", fontsize=8)
    widths = {name: 2.2 if name == DEFAULT else 1.2 for name in shown}
    handles = [plt.Line2D([], [], color=_COLOURS.get(n, "C5"), lw=widths[n], label=n) for n in shown]
    handles.append(plt.Line2D([], [], color=LIGHT["muted"], lw=0.8, ls=":", label="end of the design"))
    handles.append(plt.Rectangle((0, 0), 1, 1, color="black", alpha=0.13, lw=0, label="quartiles of the default"))
    fig.legend(
        handles=handles, loc="outside lower center", ncols=min(len(handles), 3 * len(names)), frameon=False, fontsize=9
    )
    return save_figure(fig, path)


def _has_enough(r: SimulatorRuns, runs: Sequence[SimulatorRuns]) -> bool:
    """Whether it has FEWEST seeds, or as many as the default: a single run would be taken for the rule."""
    default = max((len(x.values) for x in runs if (x.problem, x.strategy) == (r.problem, DEFAULT)), default=1)
    return len(r.values) >= min(FEWEST, default)


def _failing(ax: Any, r: SimulatorRuns, look: dict[str, Any]) -> None:
    """Mean over seeds and a window; the window does not cross the end of the design."""
    failed = np.mean([np.isnan(y) for y in r.values.values()], axis=0)
    for part in (slice(0, r.n_init), slice(r.n_init, len(failed))):
        values = failed[part]
        if not len(values):
            continue
        width = np.ones(min(WINDOW, len(values)))
        smooth = np.convolve(values, width, mode="same") / np.convolve(np.ones(len(values)), width, mode="same")
        ax.plot(np.arange(len(values)) + part.start + 1, 100.0 * smooth, **look)


def _distance(ax: Any, r: SimulatorRuns, look: dict[str, Any]) -> None:
    """Median over seeds; quartiles of the default."""
    best = r.best_so_far() - r.best_known
    best = np.maximum(best, FLOOR * abs(r.best_known))
    low, middle, high = np.quantile(best, [0.25, 0.5, 0.75], axis=0, method="higher")
    numbers = np.arange(1, best.shape[1] + 1)
    there = np.isfinite(middle)
    ax.plot(numbers[there], middle[there], **look)
    if r.strategy == DEFAULT:
        both = there & np.isfinite(high)
        ax.fill_between(numbers[both], low[both], high[both], color="black", alpha=0.13, lw=0)
