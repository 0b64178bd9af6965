"""The figures of the failures study: regret and wasted evaluations, and how reliable P(success) is."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from surefoot.failures.registry import FAILURE_MODELS
from surefoot.optimize.plots import pyplot
from surefoot.paper.figures import save_figure
from surefoot.paper.studies.failures.constrained import get_constrained
from surefoot.paper.studies.failures.paper_tables import Row, reliability
from surefoot.paper.studies.failures.study import Case
from surefoot.style import LIGHT, styled


@styled
def draw(todo: Sequence[Case], rows: Sequence[Row], raw: Path, out: Path) -> list[Path]:
    """Write the figures and return their paths."""
    paths = [out / "comparison.png"]
    _comparison(rows, paths[0])
    told = [case for case in todo if get_constrained(case.problem).structured]
    models = [s for s in dict.fromkeys(case.strategy for case in told) if s == "default" or s in FAILURE_MODELS]
    if models:
        paths.append(out / "reliability.png")
        _reliability(told, models, raw, paths[1])
    return paths


def _comparison(rows: Sequence[Row], path: Path) -> None:
    """One panel a problem: failed evaluations against regret, medians with quartiles; left and low is good."""
    plt = pyplot()
    problems = list(dict.fromkeys(r.problem for r in rows))
    policies = list(dict.fromkeys(r.policy for r in rows))
    strategies = list(dict.fromkeys(r.strategy for r in rows))
    n_columns = min(3, len(problems))
    n_rows = -(-len(problems) // n_columns)
    size = (4.2 * n_columns, 3.2 * n_rows + 0.6)
    fig, axes = plt.subplots(n_rows, n_columns, figsize=size, squeeze=False, layout="constrained")
    for ax in axes.ravel()[len(problems) :]:
        ax.set_visible(False)
    for ax, problem in zip(axes.ravel(), problems, strict=False):
        for row in (r for r in rows if r.problem == problem):
            x, y = np.median(row.wasted), np.median(row.regret)
            spread = [np.abs(np.percentile(v, [25, 75]) - m)[:, None] for v, m in ((row.wasted, x), (row.regret, y))]
            colour = f"C{strategies.index(row.strategy)}"
            marker = "os^Dv"[policies.index(row.policy) % 5]
            ax.errorbar(x, y, xerr=spread[0], yerr=spread[1], fmt=marker, ms=6, color=colour, lw=0.8, alpha=0.85)
        ax.set_title(problem, fontsize=10)
        ax.set(xlabel="failed after the design", ylabel="log10 regret")
    handles = [plt.Line2D([], [], marker="o", ls="", color=f"C{i}", label=s) for i, s in enumerate(strategies)]
    handles += [plt.Line2D([], [], marker="os^Dv"[i % 5], ls="", color="0.4", label=p) for i, p in enumerate(policies)]
    fig.legend(handles=handles, loc="outside lower center", ncols=len(handles), frameon=False, fontsize=9)
    save_figure(fig, path)


def _reliability(todo: Sequence[Case], models: Sequence[str], raw: Path, path: Path) -> None:
    plt = pyplot()
    fig, ax = plt.subplots(figsize=(5.2, 4.6), layout="constrained")
    ax.plot([0, 1], [0, 1], color=LIGHT["dots"], lw=1, label="predicted as it is")
    for model in models:
        predicted, observed, counts = reliability(todo, raw, model)
        error = float(np.nansum(counts * np.abs(predicted - observed)) / counts.sum())
        ax.plot(predicted, observed, "o-", ms=4, label=f"{model} (mean error {error:.3f})")
    ax.set(xlabel="predicted P(success)", ylabel="share that succeeds", xlim=(0, 1), ylim=(0, 1))
    ax.set_title("held-out points of the structured problems", fontsize=10)
    ax.legend(frameon=False)
    save_figure(fig, path)
