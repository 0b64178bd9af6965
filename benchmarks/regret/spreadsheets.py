"""The same numbers for other programs, and for a later report whose runs are gone."""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from benchmarks.regret.libraries import OURS, is_peer
from benchmarks.regret.runner import Case, Run
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
            cells = [f"{v:.10g}" for v in best[:-1]] + [""] * (len(sizes) - max(0, len(best) - 1))
            writer.writerow(
                [r.case.suite, r.case.problem, r.d, r.case.library, r.case.seed, r.case.n, len(r.distances), *cells,
                 f"{best[-1]:.10g}" if len(best) else "", f"{r.recommended:.10g}", r.n_failed, f"{r.overhead_s:.6g}",
                 f"{r.cpu_s:.6g}", r.version, r.error]
            )  # fmt: skip
    with (out / "tests.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["suite", "n", "problem", "library", "pairs", "surefoot", "other", *PS])
        for (suite, n), tested in found.items():
            for t in tested:
                ps = [f"{getattr(t, p):.4g}" for p in PS]
                writer.writerow([suite, n, t.problem, t.library, t.n_pairs, f"{t.ours:.4f}", f"{t.theirs:.4f}", *ps])


def joined(runs: Sequence[Run], out: Path) -> list[Run]:
    """These runs, and those of summary.csv whose files are gone.

    Where surefoot ran anew none of its stored runs counts, of no variant: its code has changed since.
    """

    def key(run: Run) -> tuple[str, str, str, int]:
        return run.case.library, run.case.suite, run.case.problem, run.case.seed

    longest = {key(run): run.case.n for run in runs}
    anew = {(run.case.library, run.case.suite) for run in runs}

    def counts(run: Run) -> bool:
        case = run.case
        older = not is_peer(case.library) and not anew.isdisjoint({(case.library, case.suite), (OURS, case.suite)})
        return case.n > longest.get(key(run), 0) and not older

    stored = list(filter(counts, _stored(out)))
    replaced = set(map(key, stored))
    return [*(run for run in runs if key(run) not in replaced), *stored]


def is_stored(out: Path) -> Callable[[Case], bool]:
    """Whether summary.csv has such a run, or a longer one, of another library: it need not be made again."""
    longest = {
        replace(run.case, n=0): run.case.n for run in _stored(out) if is_peer(run.case.library) and not run.error
    }
    return lambda case: case.n <= longest.get(replace(case, n=0), 0)


def _stored(out: Path) -> list[Run]:
    """The runs of summary.csv; their distances are known where it states them, and stay what they were until then."""
    path = out / "summary.csv"
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return [_run_of(row) for row in csv.DictReader(file)]


def _run_of(row: dict[str, str]) -> Run:
    distances = np.full(int(row["evaluations"]), np.inf)
    sizes = [int(name[6:]) for name in row if name.startswith("log10_") and name[6:].isdigit()]
    for n in sizes:
        if row[f"log10_{n}"]:
            distances[n - 1 :] = float(row[f"log10_{n}"])
    if len(distances):
        distances[-1] = float(row["log10_best"])
    return Run(
        case=Case(row["library"], row["suite"], row["problem"], int(row["seed"]), int(row["n"])),
        d=int(row["d"]),
        distances=distances,
        recommended=float(row["log10_recommended"]),
        n_failed=int(row["failed_after_design"]),
        overhead_s=float(row["overhead_s"]),
        cpu_s=float(row["cpu_s"]),
        version=row["version"],
        error=row["error"],
        is_stored=True,
    )
