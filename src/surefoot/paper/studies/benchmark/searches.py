"""The paper's open question: why does ScaledEI differ from PI, whose maximizers it shares? The search decides.

Reads the distances.csv of studies that differ in their search, and sets PI, ScaledEI and EI of each side by side.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from surefoot.errors import InvalidInputError
from surefoot.optimize.plots import pyplot
from surefoot.paper.figures import save_figure
from surefoot.paper.markdown import markdown
from surefoot.paper.statistics import paired_t
from surefoot.paper.studies.benchmark.figures import COLOURS
from surefoot.paper.studies.benchmark.recorded import read_distances
from surefoot.style import LIGHT, styled

POLICIES = ("PI", "ScaledEI", "EI")
SEARCH_NAMES = {
    "gradient": "exact search",
    "paper": "the paper's search",
    "paper-absolute": "the paper's search, tolerance in units of y",
    "paper-bayesopt": "the paper's search, as bayesopt does it",
}

Found = Mapping[str, Mapping[tuple[str, str], np.ndarray]]
"""search -> (problem, policy) -> log10 distances after n evaluations (seeds,)."""


def read(folders: Sequence[Path], kernel: str, n: int) -> Found:
    """The distances after n evaluations in the studies of these folders."""
    found: dict[str, dict[tuple[str, str], np.ndarray]] = {}
    for folder in folders:
        recorded = read_distances(folder)
        known = sorted({marked for _, _, marked in recorded})
        if n not in known:
            raise InvalidInputError(f"expected n among {', '.join(map(str, known))}; got {n}; try 200")
        for (search, of_kernel, marked), table in recorded.items():
            if (of_kernel, marked) == (kernel, n):
                found.setdefault(search, {}).update({key: v for key, v in table.items() if key[1] in POLICIES})
    return found


def table(found: Found) -> str:
    """Mean log10 distances, and p of the paired t-test of PI against ScaledEI, of each search."""
    problems = list(dict.fromkeys(problem for some in found.values() for problem, _ in some))
    header = ["problem"]
    for search in found:
        header += [f"{POLICIES[0]}, {SEARCH_NAMES.get(search, search)}", *POLICIES[1:], "p"]
    rows = [header]
    for problem in problems:
        cells = [problem]
        for some in found.values():
            values = [some.get((problem, policy)) for policy in POLICIES]
            cells += ["" if value is None else f"{value.mean():.1f}" for value in values]
            pi, scaled, _ = values
            cells.append("" if pi is None or scaled is None else f"{paired_t(pi, scaled):.2f}")
        rows.append(cells)
    return markdown(rows)


def verdict(found: Found) -> str:
    """How often PI and ScaledEI differ significantly under each search, and how far apart they are."""
    rows = [["search", "problems", "PI and ScaledEI differ (p < 0.05)", "mean abs. difference of the means"]]
    for search, some in found.items():
        problems = [p for p, policy in some if policy == "ScaledEI" and (p, "PI") in some]
        p = [paired_t(some[problem, "PI"], some[problem, "ScaledEI"]) for problem in problems]
        gaps = [abs(float(np.mean(some[problem, "PI"] - some[problem, "ScaledEI"]))) for problem in problems]
        count = sum(value < 0.05 for value in p)
        rows.append([SEARCH_NAMES.get(search, search), str(len(problems)), str(count), f"{np.mean(gaps):.2f}"])
    return markdown(rows)


@styled
def draw(found: Found, path: Path, n: int) -> Path:
    """A panel a search: every run's distance, and the means of PI, ScaledEI and EI on each problem."""
    plt = pyplot()
    fig, axes = plt.subplots(
        1, len(found), figsize=(4.2 * len(found), 4.2), sharey=True, squeeze=False, layout="constrained"
    )
    for ax, (search, some) in zip(axes[0], found.items(), strict=True):
        problems = list(dict.fromkeys(problem for problem, _ in some))
        for offset, policy in zip((-0.25, 0.0, 0.25), POLICIES, strict=True):
            for i, problem in enumerate(problems):
                values = some.get((problem, policy))
                if values is not None:
                    ax.plot(np.full(len(values), i + offset), values, ".", ms=3, color=COLOURS[policy], alpha=0.5)
                    ax.plot([i + offset - 0.1, i + offset + 0.1], [values.mean()] * 2, lw=2.5, color=COLOURS[policy])
        ax.set_xticks(range(len(problems)), problems, fontsize=7, rotation=60)
        ax.set_title(SEARCH_NAMES.get(search, search), fontsize=10)
        ax.grid(axis="y")
    axes[0, 0].set_ylabel(f"log10 distance after {n} evaluations")
    handles = [plt.Line2D([], [], color=COLOURS[policy], lw=2.5, label=f"{policy}, mean") for policy in POLICIES]
    handles.append(plt.Line2D([], [], color=LIGHT["muted"], ls="", marker=".", ms=5, label="one run"))
    fig.legend(handles=handles, loc="outside lower center", ncols=4, frameon=False)
    return save_figure(fig, path)


def write(folders: Sequence[Path], out: Path, kernel: str, n: int, heading: str) -> str:
    """table.md and the figure; returns the Markdown."""
    found = read(folders, kernel, n)
    if not found:
        raise InvalidInputError(f"expected runs of {', '.join(POLICIES)} with {n} evaluations; got none; try --n 100")
    out.mkdir(parents=True, exist_ok=True)
    text = f"{heading}\n\nMean log10 distance after {n} evaluations; p: paired t-test of PI against ScaledEI.\n\n"
    text += table(found) + "\n" + verdict(found)
    (out / "table.md").write_text(text, encoding="utf-8")
    draw(found, out / "searches.png", n)
    return text
