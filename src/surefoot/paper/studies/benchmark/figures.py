"""The figures of the benchmark: traces of the log10 distance, a panel a problem, and the labels beside the paper's."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from surefoot.optimize.plots import pyplot
from surefoot.paper.figures import save_figure
from surefoot.paper.labels.comparisons import Distances, labels
from surefoot.paper.labels.printed import paper_labels
from surefoot.paper.labels.tables import KERNEL_NAMES, Tests, agreements
from surefoot.style import LIGHT, SUCCESS_SCALE, styled

# the paper's policy in black, chance in grey
COLOURS = {
    "ScaledEI": "black",
    "EI": LIGHT["blue"],
    "PI": LIGHT["sky"],
    "LCB": LIGHT["teal"],
    "MES": LIGHT["pink"],
    "MN": LIGHT["orange"],
    "RND": LIGHT["dots"],
}
_LABEL_COLOURS = {1: SUCCESS_SCALE[3][1], 0: LIGHT["rule"], -1: SUCCESS_SCALE[1][1]}
_LABEL_NAMES = {1: "ScaledEI better", 0: "no difference", -1: "ScaledEI worse"}
_COLUMNS = 4
_POINTS = 200  # of a trace


@styled
def draw_traces(distances: Distances, path: Path, first: int = 1, title: str = "") -> Path:
    """Mean log10 distance against evaluations from the `first` on, ± one standard error [NH18, Fig. 2, 8]."""
    plt = pyplot()
    problems = list(dict.fromkeys(problem for problem, _ in distances))
    policies = list(dict.fromkeys(policy for _, policy in distances))
    spare = iter(f"C{i}" for i in range(len(policies)))
    colours = {policy: COLOURS.get(policy) or next(spare) for policy in policies}
    fig, axes = _panels(len(problems), (3.6, 2.7))
    for ax, problem in zip(axes, problems, strict=False):
        for policy in policies:
            values = distances.get((problem, policy))
            if values is not None:
                _trace(ax, values, first, colours[policy], strong=policy == "ScaledEI")
        ax.set_title(problem, fontsize=10)
        ax.tick_params(labelsize=8)
        ax.grid()
        ax.set_axisbelow(True)
        ax.margins(x=0.01)
    fig.supxlabel("function evaluations", fontsize=10)
    fig.supylabel("log10 distance to the global minimum", fontsize=10)
    if title:
        fig.suptitle(title, fontsize=11)
    handles = [plt.Line2D([], [], color=colours[policy], lw=2, label=policy) for policy in policies]
    fig.legend(handles=handles, loc="outside upper center", ncols=len(handles), frameon=False)
    return save_figure(fig, path)


def _trace(ax: Any, values: np.ndarray, first: int, colour: str, strong: bool) -> None:
    n_seeds, n = values.shape
    x = np.unique(np.linspace(first, n, _POINTS).astype(int))  # a trace of steps needs no more
    shown = values[:, x - 1]
    mean = shown.mean(axis=0)
    ax.plot(x, mean, color=colour, lw=1.8 if strong else 1.1, zorder=3 if strong else 2)
    if n_seeds > 1:
        error = shown.std(axis=0, ddof=1) / np.sqrt(n_seeds)
        ax.fill_between(x, mean - error, mean + error, color=colour, alpha=0.15, lw=0)


def _panels(n: int, size: tuple[float, float], columns: int = _COLUMNS) -> tuple[Any, Sequence[Any]]:
    plt = pyplot()
    columns = min(columns, n)
    rows = -(-n // columns)
    figsize = (size[0] * columns, size[1] * rows + 0.5)
    fig, axes = plt.subplots(rows, columns, figsize=figsize, squeeze=False, layout="constrained")
    for ax in axes.ravel()[n:]:
        ax.set_visible(False)
    return fig, axes.ravel()


@styled
def draw_labels(tests: Tests, path: Path) -> Path:
    """A panel a table: colours are our labels; where the paper's differs it stands in the cell."""
    plt = pyplot()
    shares = agreements(tests)
    fig, axes = _panels(len(tests), (3.3, 4.2), columns=3)
    for ax, ((kernel, n), table) in zip(axes, tests.items(), strict=False):
        paper = paper_labels().get((kernel, n), {})
        problems = list(dict.fromkeys(problem for problem, _ in table))
        policies = list(dict.fromkeys(policy for _, policy in table))
        for (problem, policy), label in labels(table).items():
            x, y = policies.index(policy), problems.index(problem)
            box = plt.Rectangle((x - 0.5, y - 0.5), 1, 1, facecolor=_LABEL_COLOURS[label], edgecolor="white", lw=1.5)
            ax.add_patch(box)
            theirs = paper.get((problem, policy), label)
            if theirs != label:
                ax.text(x, y, f"{theirs:d}", ha="center", va="center", fontsize=9, fontweight="bold")
        ax.set(xlim=(-0.5, len(policies) - 0.5), ylim=(len(problems) - 0.5, -0.5))
        ax.set_xticks(range(len(policies)), policies, fontsize=8)
        ax.set_yticks(range(len(problems)), problems, fontsize=8)
        ax.tick_params(length=0)
        ax.spines[:].set_visible(False)
        share = shares.get((kernel, n))
        agreed = "" if share is None else f"\n{share.equal} of {share.n} agree with the paper"
        ax.set_title(f"{KERNEL_NAMES.get(kernel, kernel)}, n = {n}{agreed}", fontsize=9)
    handles = [
        plt.Rectangle((0, 0), 1, 1, color=_LABEL_COLOURS[code], label=name) for code, name in _LABEL_NAMES.items()
    ]
    handles.append(plt.Line2D([], [], ls="", marker="$1$", color="black", label="the paper's label, where it differs"))
    n_columns = len(handles) if len(tests) > 2 else 1  # one or two panels are narrower than the legend
    fig.legend(handles=handles, loc="outside lower center", ncols=n_columns, frameon=False, fontsize=9)
    return save_figure(fig, path)
