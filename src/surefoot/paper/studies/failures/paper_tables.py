"""Tables of the failures study on the paper's problems: every strategy against `ignore`, per policy."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from surefoot.paper.statistics import holm, log10_regret, wilcoxon
from surefoot.paper.studies.failures.constrained import get_constrained
from surefoot.paper.studies.failures.study import Case


@dataclass(frozen=True)
class Row:
    """One combination, summed up over its seeds."""

    problem: str
    policy: str
    strategy: str
    regret: np.ndarray  # (seeds,) log10 distance to the least feasible value
    wasted: np.ndarray  # (seeds,) failed evaluations after the design
    p_regret: float  # against `ignore`, Wilcoxon signed rank, corrected after Holm over the whole study
    p_wasted: float


def summarize(todo: Sequence[Case], folder: Path) -> list[Row]:
    """Read the files and compare every strategy with `ignore`, seed by seed."""
    found: dict[tuple[str, str, str], tuple[np.ndarray, np.ndarray]] = {}
    for case in todo:
        with np.load(folder / case.file_name) as data:
            best = np.min(np.where(data["ok"], data["y"], np.inf), axis=1)
            wasted = (~data["ok"][:, int(data["n_init"]) :]).sum(axis=1)
            found[case.problem, case.policy, case.strategy] = (
                log10_regret(best, get_constrained(case.problem).f_star),
                wasted,
            )
    keys = list(found)
    raw = []
    for problem, policy, strategy in keys:
        base = found.get((problem, policy, "ignore"))
        for which in (0, 1):
            here = found[problem, policy, strategy][which]
            raw.append(np.nan if base is None or strategy == "ignore" else wilcoxon(here, base[which]))
    corrected = holm(np.asarray(raw))
    return [
        Row(*key, *found[key], p_regret=float(corrected[2 * i]), p_wasted=float(corrected[2 * i + 1]))
        for i, key in enumerate(keys)
    ]


def write_tables(rows: Sequence[Row], folder: Path) -> str:
    """runs.csv (every run), table.csv and table.md; returns the Markdown."""
    with (folder / "runs.csv").open("w", newline="", encoding="utf-8") as file:
        runs = csv.writer(file)
        runs.writerow(["problem", "policy", "strategy", "seed", "log10_regret", "failed_after_design"])
        for r in rows:
            for seed, (regret, wasted) in enumerate(zip(r.regret, r.wasted, strict=True)):
                runs.writerow([r.problem, r.policy, r.strategy, seed, f"{regret:.4f}", int(wasted)])
    with (folder / "table.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(
            ["problem", "policy", "strategy", "median_log10_regret", "mean_log10_regret", "median_failed_after_design",
             "p_regret_vs_ignore", "p_failed_vs_ignore"]
        )  # fmt: skip
        for r in rows:
            writer.writerow(
                [r.problem, r.policy, r.strategy, f"{np.median(r.regret):.3f}", f"{np.mean(r.regret):.3f}",
                 f"{np.median(r.wasted):.1f}", f"{r.p_regret:.3g}", f"{r.p_wasted:.3g}"]
            )  # fmt: skip
    strategies = list(dict.fromkeys(r.strategy for r in rows))
    by_key = {(r.problem, r.policy, r.strategy): r for r in rows}
    lines = [
        "Median log10 regret / median failed evaluations after the design; * differs from `ignore` in regret,",
        "† in failures (Wilcoxon signed rank over seeds, Holm over the whole study, 5 %).",
        "",
        "| problem | policy | " + " | ".join(strategies) + " |",
        "|---|---|" + "---|" * len(strategies),
    ]
    for problem, policy in dict.fromkeys((r.problem, r.policy) for r in rows):
        cells = []
        for strategy in strategies:
            row = by_key.get((problem, policy, strategy))
            if row is None:
                cells.append("")
                continue
            marks = ("*" if row.p_regret < 0.05 else "") + ("†" if row.p_wasted < 0.05 else "")
            cells.append(f"{np.median(row.regret):.1f} / {np.median(row.wasted):.0f} {marks}".strip())
        lines.append(f"| {problem} | {policy} | " + " | ".join(cells) + " |")
    text = "\n".join(lines) + "\n"
    (folder / "table.md").write_text(text, encoding="utf-8")
    return text


def reliability(
    todo: Sequence[Case], folder: Path, strategy: str, n_bins: int = 10
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Predicted P(success) on held-out points, share that succeeds, and points, per bin; structured problems only."""
    predicted, truth = [], []
    for case in todo:
        if case.strategy == strategy and get_constrained(case.problem).structured:
            with np.load(folder / case.file_name) as data:
                predicted.append(data["probability"].ravel())
                truth.append(np.broadcast_to(data["truth"], data["probability"].shape).ravel())
    p, t = np.concatenate(predicted), np.concatenate(truth)
    bins = np.minimum((p * n_bins).astype(int), n_bins - 1)
    counts = np.bincount(bins, minlength=n_bins)
    with np.errstate(invalid="ignore"):
        return (
            np.bincount(bins, weights=p, minlength=n_bins) / counts,
            np.bincount(bins, weights=t.astype(float), minlength=n_bins) / counts,
            counts,
        )
