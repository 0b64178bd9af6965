"""`surefoot study failures`: does learning from failed evaluations pay?

Problems with hidden constraints x ways to treat failures x policies x seeds, all from the same designs. A combination
is one batch of the engine and one file; a killed study goes on where it was.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from surefoot.backend import to_host
from surefoot.engine.lockstep import final_model, run_in_lockstep
from surefoot.engine.searches import PAPER_MODEL
from surefoot.optimize.settings import Settings, default_n_init
from surefoot.optimize.space import Space
from surefoot.paper.resumable import run_cases, save_whole
from surefoot.paper.statistics import holm, log10_regret, wilcoxon
from surefoot.paper.studies.failures.constrained import catalogue, get_constrained

# "product": label regression with the paper's weight, policy times P; the models otherwise avoid P < 1/2 as well.
STRATEGIES = ("label-regression", "product", "laplace", "ep", "impute", "ignore")
POLICIES = ("ScaledEI", "PI", "EI")
N_HELD_OUT = 400  # points at which P(success) is compared with the truth


@dataclass(frozen=True)
class Case:
    """One combination; its runs are one batch."""

    problem: str
    strategy: str
    policy: str
    n_seeds: int
    n_evals: int

    @property
    def file_name(self) -> str:
        """A name that says what is in it."""
        words = f"{self.problem} {self.strategy} {self.policy} {self.n_seeds}x{self.n_evals}"
        return re.sub(r"[^A-Za-z0-9]+", "-", words).strip("-") + ".npz"


def cases(
    problems: Sequence[str], strategies: Sequence[str], policies: Sequence[str], n_seeds: int, n_evals: int
) -> Iterator[Case]:
    """All combinations."""
    for problem in problems or tuple(catalogue()):
        get_constrained(problem)
        for policy in policies:
            for strategy in strategies:
                yield Case(problem, strategy, policy, n_seeds, n_evals)


def settings_of(strategy: str) -> dict[str, Any]:
    """The settings that a strategy's name stands for."""
    if strategy == "product":
        return {"failures": "label-regression", "min_success": 0.0}
    return {"failures": strategy}


def run_case(case: Case, folder: Path) -> Path:
    """Run one combination and write its file, whole or not at all."""
    path = folder / case.file_name
    if path.exists():
        return path
    problem = get_constrained(case.problem)
    d = problem.base.d
    settings = Settings.of(
        seed=0, n_init=default_n_init(d), policy=case.policy, **PAPER_MODEL, **settings_of(case.strategy)
    )

    low, high = np.asarray(problem.base.lower), np.asarray(problem.base.upper)

    def evaluate(units: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        x = low + units * (high - low)
        return np.asarray(problem.base(x)), ~problem.fails(x)

    trace = run_in_lockstep(Space.of(problem.base.bounds), evaluate, settings.spec, case.n_seeds, case.n_evals)
    units = np.random.default_rng(7).random((N_HELD_OUT, d))
    truth = ~problem.fails(low + units * (high - low))
    probability = np.ones((case.n_seeds, N_HELD_OUT))
    for run in range(case.n_seeds):
        success = final_model(trace, settings.spec, run).success
        if success is not None:
            probability[run] = to_host(success.probability(units[None]))[0]
    save_whole(path, X=trace.X, y=trace.y, ok=trace.ok, n_init=settings.n_init, probability=probability, truth=truth)
    return path


def run_study(todo: Sequence[Case], folder: Path, n_workers: int) -> Generator[Case]:
    """Run what is not done yet; yields each case when its file is there."""
    return run_cases(run_case, todo, folder, n_workers)


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
    with (folder / "runs.csv").open("w", newline="") as file:
        runs = csv.writer(file)
        runs.writerow(["problem", "policy", "strategy", "seed", "log10_regret", "failed_after_design"])
        for r in rows:
            for seed, (regret, wasted) in enumerate(zip(r.regret, r.wasted, strict=True)):
                runs.writerow([r.problem, r.policy, r.strategy, seed, f"{regret:.4f}", int(wasted)])
    with (folder / "table.csv").open("w", newline="") as file:
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
    (folder / "table.md").write_text(text)
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
