"""Figures of the pulmonary studies: loss traces, the comparison, the map of P(success), coverage."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from surefoot.engine.searches import PAPER_MODEL
from surefoot.inference.result import NAMES
from surefoot.optimize.history import Evaluation, History
from surefoot.optimize.plots import pyplot
from surefoot.optimize.result import Result, make_result
from surefoot.optimize.settings import Settings
from surefoot.optimize.space import Space
from surefoot.paper.figures import save_figure
from surefoot.paper.statistics import standard_error
from surefoot.paper.studies.pulmonary.coverage import CoverageRow
from surefoot.paper.studies.pulmonary.methods import METHODS, N_INIT
from surefoot.paper.studies.pulmonary.study import Record
from surefoot.paper.studies.pulmonary.tables import Group
from surefoot.pulmonary import NOMINAL, PARAMETER_BOX
from surefoot.style import LIGHT, styled


@styled
def draw(groups: Sequence[Group], folder: Path) -> list[Path]:
    """All figures that the groups allow; returns their paths."""
    paths = []
    paper = [group for group in groups if group.method == "ScaledEI"]
    if paper:
        paths.append(save_figure(_traces(paper), folder / "trace.png"))
    for variant in dict.fromkeys(group.variant for group in groups):
        chosen = [group for group in groups if group.variant == variant and group.noise == "fixed"]
        if len(chosen) > 1:
            paths.append(save_figure(_comparison(chosen), folder / f"comparison-{variant}.png"))
        for group in chosen:
            if group.method == "ScaledEI":
                path = folder / f"success-{variant}.png"
                result_of(group.runs[0]).plot_success("f_L", "xi", others={"f_S": NOMINAL[1]}, path=str(path))
                paths.append(path)
    return paths


def result_of(run: Record) -> Result:
    """A run as the result of an optimization, for its map of P(success): by expectation propagation.

    Label regression of 500 points that crowd round the optimum has stripes where all simulations run.
    """
    evaluations = tuple(
        Evaluation(tuple(x), math.sqrt(loss)) if kind == "" else Evaluation(tuple(x), math.nan, "failed", str(kind))
        for x, loss, kind in zip(run.X.tolist(), run.loss.tolist(), run.kind, strict=True)
    )
    space = Space.of(dict(zip(NAMES, PARAMETER_BOX, strict=True)))
    settings = Settings.of(n_init=N_INIT, policy="ScaledEI", failures="ep", **PAPER_MODEL)
    return make_result(space, History(evaluations), settings, 1.0, "")


def _traces(groups: Sequence[Group]) -> Any:
    """[NH18, Fig. 7]: the least loss, mean and standard error over the seeds."""
    figure, axes = pyplot().subplots(
        1, len(groups), figsize=(4.4 * len(groups), 3.6), layout="constrained", squeeze=False
    )
    for ax, group in zip(axes[0], groups, strict=True):
        trace = np.asarray([run.trace[: group.n] for run in group.runs])
        first = int(np.argmax(np.isfinite(trace).all(axis=0)))
        n = np.arange(first, group.n) + 1
        mean, error = trace[:, first:].mean(axis=0), standard_error(trace[:, first:])
        ax.fill_between(n, mean - error, mean + error, color="C0", alpha=0.25, lw=0, label="± standard error")
        ax.plot(n, mean, color="C0", lw=1.4, label="mean")
        ax.axvline(N_INIT + 0.5, color=LIGHT["muted"], lw=1, ls="--", label="end of the design")
        ax.set(xlabel="simulations", ylabel="least loss", yscale="log")
        ax.legend()
        data = "the same data" if group.noise == "fixed" else "data of its own"
        ax.set_title(f"{group.variant}, every seed with {data}", fontsize=9)
    return figure


def _comparison(groups: Sequence[Group]) -> Any:
    """Median distance to the best loss, and failed simulations, against the number of simulations."""
    figure, (left, right) = pyplot().subplots(1, 2, figsize=(10.5, 4.2), layout="constrained")
    for group in groups:
        n = np.arange(1, min(group.n, 200) + 1)
        trace = np.asarray([run.trace[: len(n)] for run in group.runs])
        above = np.median(trace, axis=0) - (group.best or 0.0)
        failed = np.mean([np.cumsum(~np.isfinite(run.loss[: len(n)])) for run in group.runs], axis=0)
        left.plot(n[9:], np.maximum(above[9:], 1e-4), lw=1.5, label=METHODS[group.method].label)
        right.plot(n, failed, lw=1.5)
    left.set(xlabel="simulations", ylabel="loss above the best, median", yscale="log")
    right.set(xlabel="simulations", ylabel="failed simulations, mean")
    left.legend(frameon=False, fontsize=7)
    figure.suptitle(groups[0].variant, fontsize=10)
    return figure


@styled
def draw_coverage(rows: Sequence[CoverageRow], path: Path) -> Path:
    """Share of truths inside central intervals of every level; the grey band holds 95 % of right samplers."""
    from scipy.stats import binom

    figure, axes = pyplot().subplots(1, len(rows), figsize=(4.2 * len(rows), 4.0), layout="constrained", squeeze=False)
    level = np.linspace(0.0, 1.0, 101)
    for ax, row in zip(axes[0], rows, strict=True):
        n = len(row.rank)
        ax.fill_between(
            level,
            binom.ppf(0.025, n, level) / n,
            binom.ppf(0.975, n, level) / n,
            color=LIGHT["rule"],
            lw=0,
            label="95 % of right samplers",
        )
        ax.plot([0, 1], [0, 1], color=LIGHT["dots"], lw=1, label="as many as the level says")
        for i, name in enumerate(NAMES):
            ax.plot(level, [row.covered(float(p))[:, i].mean() for p in level], lw=1.4, label=name)
        ax.set(xlabel="level of the interval", ylabel="share that holds the truth", xlim=(0, 1), ylim=(0, 1))
        ax.set_title(f"{row.variant}, noise level {row.noise_level}, {n} patients", fontsize=9)
        ax.legend(frameon=False, fontsize=8)
    return save_figure(figure, path)
