"""The figures: share of targets reached against evaluations per dimension, and mean ranks."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.regret.libraries import LIBRARIES, OURS
from benchmarks.regret.runner import Run
from benchmarks.regret.scores import MeanRanks, names
from benchmarks.regret.suites import PER_INPUT, SUITES
from surefoot.paper.figures import save_figure
from surefoot.style import LIGHT, LINES, styled

TARGETS = np.arange(1.0, -8.01, -0.2)  # log10 distances


def _colour(name: str) -> str:
    """One a library, in every panel the same."""
    return "black" if name == OURS else f"C{(list(LIBRARIES).index(name) - 1) % len(LINES)}"


def reached(distances: np.ndarray, n: int) -> np.ndarray:
    """(n,) share of the targets that a run has reached after 1 … n evaluations."""
    padded = np.pad(distances, (0, n - len(distances)), mode="edge")
    return np.asarray((padded[:, None] <= TARGETS + 1e-9).mean(axis=1))


def _grid(n: int) -> tuple[Any, list[Any]]:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    n_columns = 2 if n == 4 else min(n, 3)
    figure, axes = plt.subplots(-(-n // n_columns), n_columns, figsize=(4.2 * n_columns, 3.2 * -(-n // n_columns)),
                                squeeze=False, layout="constrained")  # fmt: skip
    for extra in axes.flat[n:]:
        extra.set_axis_off()
    return figure, list(axes.flat[:n])


@styled
def ecdf(runs: Sequence[Run], out: Path) -> None:
    """One panel for each suite and dimension; noise, whose runs end with one recommendation, has none."""
    good = [run for run in runs if not run.error and len(run.distances) and run.case.suite != "noise"]
    panels = list(dict.fromkeys(sorted((run.case.suite, run.d) for run in good)))
    if not panels:
        return
    figure, axes = _grid(len(panels))
    for (suite, d), axis in zip(panels, axes, strict=True):
        here = [run for run in good if (run.case.suite, run.d) == (suite, d)]
        for name in names(here, suite):
            mine = [run for run in here if run.case.library == name]
            n = min(run.case.n for run in mine)
            share = np.mean([reached(run.distances[:n], n) for run in mine], axis=0)
            axis.plot(np.arange(1, n + 1) / d, share, label=name, color=_colour(name), lw=1.3)
        if not SUITES[suite].own_start:
            axis.axvline(PER_INPUT, color=LIGHT["muted"], lw=0.8, ls=":", zorder=0, label="end of the design")
        axis.set(
            title=f"{suite}, d = {d}",
            xscale="log",
            ylim=(0.0, 1.02),
            xlim=(1.0, None),
            xlabel="evaluations / d",
            ylabel="targets reached",
        )
    # Each library once, wherever it was drawn first.
    handles: dict[str, Any] = {}
    for axis in axes:
        for handle, label in zip(*axis.get_legend_handles_labels(), strict=True):
            handles.setdefault(label, handle)
    figure.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=5, fontsize=8)
    save_figure(figure, out / "ecdf.png")


@styled
def rank_plot(means: MeanRanks, out: Path) -> Path:
    """Mean rank of each library, one panel a suite, one marker for each number of evaluations."""
    figure, axes = _grid(len(means))
    for (suite, by_n), axis in zip(means.items(), axes, strict=True):
        present = {name for found in by_n.values() for name in found}
        libraries = sorted(present, key=list(LIBRARIES).index)
        for k, (n, found) in enumerate(by_n.items()):
            heights = [libraries.index(name) + 0.12 * k for name in found]
            axis.plot(list(found.values()), heights, "osD^"[k % 4], label=f"n = {n}")
        axis.set_yticks(range(len(libraries)), libraries)
        axis.set(title=suite, xlabel="mean rank (1 is the best)", xlim=(0.85, None))
        axis.grid(axis="y")
        axis.set_axisbelow(True)
        axis.xaxis.get_major_locator().set_params(integer=True)
        axis.invert_yaxis()
        if axis.get_lines():
            axis.legend()
    return save_figure(figure, out / "ranks.png")
