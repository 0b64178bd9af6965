"""The same numbers for other programs."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

from benchmarks.regret.runner import Run
from benchmarks.regret.scores import PS, PairedTest
from benchmarks.regret.suites import SUITES


def write(runs: Sequence[Run], found: dict[tuple[str, int], list[PairedTest]], out: Path) -> None:
    """summary.csv has every run, tests.csv every test."""
    sizes = sorted({n for run in runs for n in SUITES[run.case.suite].checkpoints})
    with (out / "summary.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(
            ["suite", "problem", "d", "library", "seed", "n", "evaluations", *(f"log10_{n}" for n in sizes),
             "log10_best", "log10_recommended", "failed_after_design", "overhead_s", "cpu_s", "version", "error"]
        )  # fmt: skip
        for r in sorted(runs, key=lambda r: (r.case.suite, r.case.problem, r.case.library, r.case.seed)):
            best = r.distances[[n - 1 for n in sizes if n <= len(r.distances)] + [-1]] if len(r.distances) else []
            cells = [f"{v:.4f}" for v in best[:-1]] + [""] * (len(sizes) - max(0, len(best) - 1))
            writer.writerow(
                [r.case.suite, r.case.problem, r.d, r.case.library, r.case.seed, r.case.n, len(r.distances), *cells,
                 f"{best[-1]:.4f}" if len(best) else "", f"{r.recommended:.4f}", r.n_failed, f"{r.overhead_s:.3f}",
                 f"{r.cpu_s:.3f}", r.version, r.error]
            )  # fmt: skip
    with (out / "tests.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["suite", "n", "problem", "library", "pairs", "surefoot", "other", *PS])
        for (suite, n), tested in found.items():
            for t in tested:
                ps = [f"{getattr(t, p):.4g}" for p in PS]
                writer.writerow([suite, n, t.problem, t.library, t.n_pairs, f"{t.ours:.4f}", f"{t.theirs:.4f}", *ps])
