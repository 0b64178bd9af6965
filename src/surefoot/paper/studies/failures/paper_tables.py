"""Tables of the failures study on the paper's problems: every strategy against `ignore`, per policy."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from surefoot.paper.statistics import holm, log10_regret, wilcoxon
from surefoot.paper.studies.failures.constrained import PAPER, get_constrained, groups
from surefoot.paper.studies.failures.study import POLICIES, STRATEGIES, Case
from surefoot.paper.studies.failures.verdicts import DEFAULT, Verdict, corrected, in_pairs


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


Ends = dict[tuple[str, str, str], tuple[np.ndarray, np.ndarray]]
"""(problem, policy, strategy) -> regret and wasted evaluations of every seed."""


def _of_files(todo: Sequence[Case], folder: Path) -> Ends:
    found: Ends = {}
    for case in todo:
        with np.load(folder / case.file_name) as data:
            best = np.min(np.where(data["ok"], data["y"], np.inf), axis=1)
            wasted = (~data["ok"][:, int(data["n_init"]) :]).sum(axis=1)
            found[case.problem, case.policy, case.strategy] = (
                log10_regret(best, get_constrained(case.problem).f_star),
                wasted,
            )
    return found


def _of_table(path: Path) -> Ends:
    """What an earlier runs.csv says; nothing where there is none."""
    found: dict[tuple[str, str, str], list[tuple[float, int]]] = {}
    if path.exists():
        with path.open(newline="") as file:
            for row in csv.DictReader(file):
                key = row["problem"], row["policy"], row["strategy"]
                found.setdefault(key, []).append((float(row["log10_regret"]), int(row["failed_after_design"])))
    return {key: (np.asarray([r for r, _ in runs]), np.asarray([w for _, w in runs])) for key, runs in found.items()}


def summarize(todo: Sequence[Case], folder: Path, earlier: Path | None = None) -> list[Row]:
    """Read the files and compare every strategy with `ignore`, seed by seed.

    earlier: a runs.csv, whose combinations stay where no file of theirs is left.
    """
    found = _of_files(todo, folder)
    kept = {} if earlier is None else _of_table(earlier)
    order = {name: i for i, name in enumerate([*groups()[PAPER], *(key[0] for key in found)])}
    keys = sorted({**kept, **found}, key=lambda key: (order.get(key[0], len(order)), *_rank(key)))
    found = {key: found[key] if key in found else kept[key] for key in keys}
    raw = []
    for problem, policy, strategy in keys:
        base = found.get((problem, policy, "ignore"))
        for which in (0, 1):
            here = found[problem, policy, strategy][which]
            compared = base is not None and strategy != "ignore" and len(base[which]) == len(here)
            raw.append(wilcoxon(here, base[which]) if base is not None and compared else np.nan)
    p = holm(np.asarray(raw))
    return [
        Row(*key, *found[key], p_regret=float(p[2 * i]), p_wasted=float(p[2 * i + 1])) for i, key in enumerate(keys)
    ]


def _rank(key: tuple[str, str, str]) -> tuple[int, int]:
    """The place of a policy and of a strategy in the tables."""
    _, policy, strategy = key
    return (
        POLICIES.index(policy) if policy in POLICIES else len(POLICIES),
        STRATEGIES.index(strategy) if strategy in STRATEGIES else len(STRATEGIES),
    )


def against_the_default(rows: Sequence[Row], n: int) -> list[Verdict]:
    """The default against every other strategy after n evaluations, seed by seed; Holm over all of these tests."""
    own = {(row.problem, row.policy): row for row in rows if row.strategy == DEFAULT}
    found = []
    for row in rows:
        mine = own.get((row.problem, row.policy))
        if mine is None or row.strategy == DEFAULT or len(row.regret) != len(mine.regret):
            continue
        for what, a, b in (("regret", mine.regret, row.regret), ("failed", mine.wasted, row.wasted)):
            found.append(Verdict(row.problem, row.policy, row.strategy, n, what, *in_pairs(a, b)))
    return corrected(found)


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
    strategies = sorted({r.strategy for r in rows}, key=lambda name: _rank(("", "", name)))
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
