"""Tables of the pulmonary study: estimates beside the paper's, the comparison of optimizers, failures, every run."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from surefoot.inference.result import NAMES
from surefoot.paper.statistics import standard_error
from surefoot.paper.studies.pulmonary.methods import METHODS
from surefoot.paper.studies.pulmonary.reference import N_REFERENCE, load_reference
from surefoot.paper.studies.pulmonary.study import TRUTH, Case, Record, load

# [NH18, Table 5]: mean and standard error over 15 designs
PAPER = {
    100: ((2.599e5, 50038.0, 2.76), (286.5552, 55.9675, 0.0004)),
    500: ((2.6005e5, 50003.0, 2.7603), (189.3129, 35.0108, 0.0002)),
}
COUNTS = (50, 100, 200, 500)
COMPARED = (50, 100, 200)


@dataclass(frozen=True)
class Group:
    """All seeds of one method, variant and noise."""

    method: str
    variant: str
    noise: str
    runs: tuple[Record, ...]
    best: float | None  # the least loss of these data that anything found; None if every seed has its own data

    @property
    def n(self) -> int:
        """Evaluations of each run."""
        return min(len(run.X) for run in self.runs)

    def estimates(self, n: int) -> np.ndarray:
        """(seeds, 3) parameters of least loss after n evaluations."""
        return np.asarray([run.best(n) for run in self.runs])

    def losses(self, n: int) -> np.ndarray:
        """(seeds,) least loss after n evaluations."""
        return np.asarray([run.trace[n - 1] for run in self.runs])

    def failed(self, n: int) -> np.ndarray:
        """(seeds,) failed simulations among the first n."""
        return np.asarray([run.failed(n) for run in self.runs])


def groups_of(todo: Sequence[Case], folder: Path, n_reference: int = N_REFERENCE) -> list[Group]:
    """The runs that are there, by method, variant and noise."""
    found: dict[tuple[str, str, str], list[Record]] = {}
    for case in todo:
        if (folder / case.file_name).exists():
            found.setdefault((case.method, case.variant, case.noise), []).append(load(case, folder))
    best: dict[str, float] = {}
    for (_, variant, noise), runs in found.items():
        if noise == "fixed":
            least = min(
                [load_reference(folder, variant, n_reference).get("loss", np.inf), *(run.trace[-1] for run in runs)]
            )
            best[variant] = min(best.get(variant, np.inf), least)
    return [
        Group(*key, tuple(runs), best.get(key[1]) if key[2] == "fixed" else None)
        for key, runs in found.items()
        if len(runs) > 1
    ]


def _number(name: str, value: float) -> str:
    return f"{value:.5f}" if name == "xi" else f"{value:.0f}"


def estimates_table(groups: Sequence[Group]) -> str:
    """Mean and standard error of the estimates of the paper's method, beside the paper's."""
    heads = " | ".join(f"{name} mean | std. err." for name in NAMES)
    lines = [f"| variant | noise | n | {heads} | loss above the best |"]
    lines.append("|---|---|---|" + "---|" * 7)
    truth = " | ".join(f"{_number(name, value)} |" for name, value in zip(NAMES, TRUTH, strict=True))
    lines.append(f"| truth | | | {truth} |")
    for n, (mean, error) in PAPER.items():
        cells = [f"{_number(a, b)} | {_number(a, c)}" for a, b, c in zip(NAMES, mean, error, strict=True)]
        lines.append(f"| the paper | not said | {n} | " + " | ".join(cells) + " | |")
    for group in groups:
        if group.method != "ScaledEI":
            continue
        for n in PAPER:
            if n > group.n:
                continue
            estimates = group.estimates(n)
            both = zip(NAMES, estimates.mean(axis=0), standard_error(estimates), strict=True)
            cells = [f"{_number(a, b)} | {_number(a, c)}" for a, b, c in both]
            above = "" if group.best is None else _above(group.losses(n), group.best)
            lines.append(f"| {group.variant} | {group.noise} | {n} | " + " | ".join(cells) + f" | {above} |")
    return "\n".join(lines) + "\n"


def _above(losses: np.ndarray, best: float) -> str:
    """Mean and largest distance to the best loss, relative to it."""
    share = losses / best - 1.0
    return f"{share.mean():.3%}, at most {share.max():.3%}"


def comparison_table(groups: Sequence[Group]) -> str:
    """Every method on the same data: median and worst distance to the best loss, failed simulations."""
    lines = []
    for variant in dict.fromkeys(group.variant for group in groups if group.noise == "fixed"):
        chosen = [group for group in groups if group.variant == variant and group.noise == "fixed"]
        if len(chosen) < 2 or chosen[0].best is None:
            continue
        counts = [n for n in COMPARED if n <= min(group.n for group in chosen)]
        lines += [
            f"`{variant}`, the same data for all seeds; best loss found by anything: {chosen[0].best:.4f}.",
            "",
            "| method | seeds | " + " | ".join(f"n = {n}: above the best | failed" for n in counts) + " |",
            "|---|---|" + "---|---|" * len(counts),
        ]
        for group in chosen:
            cells = []
            for n in counts:
                above = group.losses(n) - chosen[0].best
                cells.append(f"{np.median(above):.3g} ({above.max():.3g}) | {group.failed(n).mean():.1f}")
            lines.append(f"| {METHODS[group.method].label} | {len(group.runs)} | " + " | ".join(cells) + " |")
        lines.append("")
    return "\n".join(lines)


def failures_table(groups: Sequence[Group]) -> str:
    """Failed simulations with the failure model and without."""
    lines = ["| variant | noise | method | n | failed, mean | least | most |", "|---|---|---|---|---|---|---|"]
    for group in groups:
        if group.method not in ("ScaledEI", "ignore"):
            continue
        for n in PAPER:
            if n <= group.n:
                failed = group.failed(n)
                head = f"| {group.variant} | {group.noise} | {METHODS[group.method].label} | {n} |"
                lines.append(f"{head} {failed.mean():.1f} | {failed.min()} | {failed.max()} |")
    return "\n".join(lines) + "\n"


def write_runs(groups: Sequence[Group], path: Path) -> None:
    """Every run at the counts of the tables, as CSV."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["method", "variant", "noise", "seed", "n", *NAMES, "loss", "failed"])
        for group in groups:
            for seed, run in enumerate(group.runs):
                for n in COUNTS:
                    if n <= len(run.X):
                        best = [f"{value:.9g}" for value in run.best(n)]
                        head = [group.method, group.variant, group.noise, seed, n]
                        writer.writerow([*head, *best, f"{run.trace[n - 1]:.6f}", run.failed(n)])


def write_tables(groups: Sequence[Group], folder: Path) -> str:
    """tables.md and runs.csv; returns the Markdown."""
    write_runs(groups, folder / "runs.csv")
    text = "\n".join(
        [
            "## Estimates: mean and standard error over the seeds",
            "",
            "`fixed` noise is one realization for all seeds (the spread is the optimizer's alone), `seed` one per seed",
            "(the spread is that of the estimator). The last column compares with the best loss that anything found.",
            "",
            estimates_table(groups),
            "## Comparison of optimizers",
            "",
            "Loss above the best, median (worst) over the seeds, and the mean number of failed simulations, after n",
            "simulations. One unit of loss is one unit of log likelihood.",
            "",
            comparison_table(groups),
            "## Failed simulations",
            "",
            failures_table(groups),
        ]
    )
    (folder / "tables.md").write_text(text, encoding="utf-8")
    return text
