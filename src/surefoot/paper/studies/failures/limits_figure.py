"""The figure of the failures study on problems with limits: what fails against regret; left and low is good."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from surefoot.optimize.plots import pyplot
from surefoot.paper.figures import save_figure
from surefoot.paper.studies.failures.limits_tables import BEFORE, share_that_succeeds
from surefoot.paper.studies.failures.runs import NEVER, Runs
from surefoot.paper.studies.failures.strategies import OTHERS
from surefoot.paper.studies.failures.verdicts import DEFAULT, ordered
from surefoot.style import LINES, styled

COLUMNS = 5


@dataclass(frozen=True)
class Place:
    """Where a strategy stands on a problem: quartiles (3,) of what failed, in per cent, and of the regret."""

    problem: str
    strategy: str
    failed: np.ndarray
    regret: np.ndarray

    @classmethod
    def of(cls, problem: str, strategy: str, failed: np.ndarray, regret: np.ndarray) -> Place:
        """From the numbers of every seed."""
        # "higher": no mean of a regret and of none
        quartiles = [np.percentile(v, [25, 50, 75], method="higher") for v in (failed, regret)]
        return cls(problem, strategy, *quartiles)


def places_of(runs: Sequence[Runs]) -> list[Place]:
    """Of each strategy those of its longest runs: shorter ones stand where they came to."""
    found = []
    for r in runs:
        seeds = r.seeds(r.longest)
        share = 100.0 * r.failed(r.longest, seeds) / max(r.longest - r.n_init, 1)
        found.append(Place.of(r.problem, r.strategy, share, r.regret(r.longest, seeds)))
    return found


@styled
def draw(places: Sequence[Place], path: Path) -> Path:
    """One panel a problem, sorted by the share that succeeds; medians with quartiles.

    An arrow leads from the default before to the default.
    """
    plt = pyplot()
    problems = sorted({p.problem for p in places}, key=share_that_succeeds)
    strategies = ordered(p.strategy for p in places)
    n_columns = min(COLUMNS, len(problems))
    n_rows = -(-len(problems) // n_columns)
    size = (2.9 * n_columns, 2.5 * n_rows + 0.9)
    fig, axes = plt.subplots(n_rows, n_columns, figsize=size, squeeze=False, layout="constrained")
    for ax in axes.ravel()[len(problems) :]:
        ax.set_visible(False)
    for ax, problem in zip(axes.ravel(), problems, strict=False):
        _panel(ax, [p for p in places if p.problem == problem], strategies)
        ax.set_title(f"{problem}: {100 * share_that_succeeds(problem):.2g} % succeeds", fontsize=8, fontweight="normal")
    for i, ax in enumerate(axes.ravel()[: len(problems)]):
        if i % n_columns == 0:
            ax.set_ylabel("log10 relative regret", fontsize=8)
        if i + n_columns >= len(problems):
            ax.set_xlabel("% failed after the design", fontsize=8)
    handles = [plt.Line2D([], [], ls="", label=name, **_look(name, strategies)) for name in strategies]
    if {DEFAULT, BEFORE} <= set(strategies):
        handles.append(plt.Line2D([], [], color="0.3", lw=0.9, label="from the default before to the default"))
    fig.legend(handles=handles, loc="outside lower center", ncols=min(len(handles), 7), frameon=False, fontsize=8)
    save_figure(fig, path)
    return path


def _look(strategy: str, strategies: Sequence[str]) -> dict[str, Any]:
    """Ours round, the default a star, other optimizers square."""
    marker, size = ("*", 13) if strategy == DEFAULT else ("s", 5) if strategy in OTHERS else ("o", 6)
    colour = "black" if strategy == DEFAULT else f"C{(strategies.index(strategy) - 1) % len(LINES)}"
    filled = strategy not in OTHERS or list(OTHERS).index(strategy) < 3
    return {"marker": marker, "ms": size, "color": colour, "mfc": colour if filled else "white"}


def _panel(ax: Any, here: Sequence[Place], strategies: Sequence[str]) -> None:
    spreads = {p.strategy: (p.failed, p.regret) for p in here}
    reached = [v for _, regret in spreads.values() for v in regret if v < NEVER]
    low, high = (min(reached), max(reached)) if reached else (-1.0, 0.0)
    some_without = any(regret[2] >= NEVER for _, regret in spreads.values())
    top = high + (0.2 * max(high - low, 0.5) if some_without else 0.0)  # where runs without a success are drawn
    places: dict[str, tuple[float, float]] = {}
    for strategy, (failed, regret) in spreads.items():
        y = np.where(regret >= NEVER, top, regret)
        places[strategy] = float(failed[1]), float(y[1])
        bars = {"xerr": np.abs(failed[[0, 2]] - failed[1])[:, None], "yerr": np.abs(y[[0, 2]] - y[1])[:, None]}
        order = 3 if strategy == DEFAULT else 2
        ax.errorbar(*places[strategy], **bars, lw=0.7, alpha=0.85, zorder=order, **_look(strategy, strategies))
    if some_without:
        ax.axhline(top, color="0.8", lw=0.8, zorder=0)
        beside = {"xytext": (-4, 0), "textcoords": "offset points", "ha": "right", "va": "center"}
        ax.annotate("none", (0.0, top), xycoords=("axes fraction", "data"), fontsize=7, color="0.3", **beside)
    if DEFAULT in places and BEFORE in places:
        arrow = {"arrowstyle": "->", "color": "0.3", "lw": 0.9}
        ax.annotate("", places[DEFAULT], places[BEFORE], arrowprops=arrow, zorder=1)
    ax.tick_params(labelsize=7)
    ax.set(xlim=(-4, 104), yticks=[tick for tick in ax.get_yticks() if tick <= high and reached])
    if reached:
        room = 0.08 * max(top - low, 0.5)
        ax.set_ylim(low - room, top + room)
