"""The figure of a simulator's README: a run of `surefoot run`, and where the points of the table failed.

surefoot run frame/problem.toml && python figure.py frame column_depth column_width     # writes frame/figure.png
"""

from __future__ import annotations

import argparse
import json

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
from emulated import HERE, Table, read_table
from matplotlib.axes import Axes
from matplotlib.ticker import NullFormatter

from surefoot.integrations.optuna import result_of
from surefoot.optimize.reasons import grouped
from surefoot.optimize.result import Result
from surefoot.runs.storage import load_study, opened

_COLOURS = ("#c1272d", "#e8a33d", "#7b5aa6", "#5b8c3e")  # of reasons
_OK = "#2b6ca3"


def draw_run(axes: Axes, result: Result, best: float, objective: str) -> None:
    """The values in their order, the best so far, and when evaluations failed."""
    y = np.array([e.y for e in result.history.evaluations])
    numbers = np.arange(1, len(y) + 1)
    axes.plot(numbers, y, "o", ms=3.5, color=_OK, alpha=0.6, label="evaluation")
    axes.step(numbers, np.fmin.accumulate(y), where="post", color="black", lw=1.3, label="best so far")
    failed = numbers[np.isnan(y)]
    axes.plot(failed, np.full(len(failed), 0.985), "x", ms=4, color=_COLOURS[0], label=f"failed ({len(failed)})",
              transform=axes.get_xaxis_transform())  # fmt: skip
    axes.axhline(best, color="grey", ls=":", lw=1.2, label="best known")
    if np.nanmin(y) > 0 and np.nanmax(y) > 20 * np.nanmin(y):
        axes.set_yscale("log")
    axes.set(xlabel="evaluation", ylabel=objective, title="surefoot run")


def draw_table(axes: Axes, table: Table, across: str, up: str) -> None:
    """The first 800 points of the table in two of the parameters."""
    shown = slice(0, 800)
    x, y, ok = (table.column(across)[shown], table.column(up)[shown], table.ok[shown])
    axes.plot(x[ok], y[ok], "o", ms=2.2, color=_OK, alpha=0.45, mew=0, label="succeeded")
    reasons = [row["reason"] for row in table.rows[shown]]
    failed = np.flatnonzero(~ok)
    for group, colour in zip(grouped(reasons[i] for i in failed), _COLOURS, strict=False):
        places = failed[list(group.members)]
        text = group.text.removeprefix("exit status 1: Error: ").removeprefix("RuntimeError: ")
        axes.plot(
            x[places], y[places], "x", ms=3, mew=0.8, color=colour, label=text if len(text) < 45 else f"{text[:43]}…"
        )
    for name, scale in ((across, axes.set_xscale), (up, axes.set_yscale)):
        scale("log" if table.parameters[name].get("log") else "linear")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_minor_formatter(NullFormatter())  # of powers of ten alone; others would overlap
    axes.set(xlabel=across, ylabel=up, title="random points")


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description="Draw the figure of a simulator's README.")
    parser.add_argument("name", help="a folder beside this script")
    parser.add_argument("across", help="a parameter")
    parser.add_argument("up", help="another one")
    given = parser.parse_args()
    folder = HERE / given.name
    table = read_table(given.name)
    best = json.loads((folder / "best.json").read_text())["value"]
    with opened(str(folder / f"{given.name}.db")) as storage:
        result = result_of(load_study(storage, given.name))
    mpl.rcParams.update({"font.size": 8, "axes.titlesize": 9, "legend.fontsize": 7})
    figure, (left, right) = plt.subplots(1, 2, figsize=(8.4, 3.4), layout="constrained")
    draw_run(left, result, best, table.objective)
    draw_table(right, table, given.across, given.up)
    for axes in (left, right):
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.16), ncol=2, frameon=False, markerscale=1.3)
    figure.savefig(folder / "figure.png", dpi=90)
    print(f"{result.fun:.6g} with {sum(not e.ok for e in result.history.evaluations)} failures")


if __name__ == "__main__":
    main()
