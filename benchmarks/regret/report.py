"""table.md, summary.csv, tests.csv and the figures, from whatever runs there are."""

from __future__ import annotations

import platform
import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

import numpy as np

from benchmarks.regret import figures, spreadsheets, variants
from benchmarks.regret.libraries import OURS, is_peer
from benchmarks.regret.runner import Run
from benchmarks.regret.scores import (
    PS,
    PairedTest,
    Scores,
    checkpoints,
    mean_ranks,
    names,
    paired_tests,
    ranks,
    scores,
    worse_than_best,
)
from benchmarks.regret.suites import SUITES, bbob_group, is_bbob, part_of
from surefoot.paper.resumable import write_whole
from surefoot.paper.statistics import LEVEL

MEANING = {
    "paper": "The paper's 12 functions. Mean log10 distance of the best value to the least one",
    "bbob": "The 24 noiseless BBOB functions in 2 and 5 dimensions, seeds are the instances 1 to 5. Mean log10 "
    "distance of the best value to the least one, distances below 1e-12 counted as 1e-12",
    "noise": "Functions observed with noise of 1 % and 10 % of their spread. Mean log10 distance of the true value at "
    "the recommended point to the least one",
    "failures": "Functions of which 10 to 30 % of the box fails. Mean log10 distance of the best value to the least "
    "one that does not fail, distances below 1e-12 counted as 1e-12",
    "mixed": "Integers, categories and logarithms, each library from its own first points; defaults were chosen on the "
    "first seven problems. Mean log10 distance of the best value to the least one, not below a floor",
    "many-inputs": "Functions of 20 to 100 inputs; of BBOB the seeds are the instances 1 to 5. Mean log10 distance of "
    "the best value to the least one",
    "small": "Few evaluations, each library from its own first points: the paper's functions, further ones, and the "
    "BBOB functions, of which seeds are the instances. Mean log10 distance of the best value to the least one",
}


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return [*lines, *("| " + " | ".join(row) + " |" for row in rows), ""]


def _cells(tables: Sequence[Scores], problem: str, libraries: Sequence[str], average: str) -> list[str]:
    """One cell a library: the averages at each checkpoint, the least of each in bold."""
    columns = []
    for table in tables:
        found = table.get(problem, {})
        values = {name: float(getattr(np, average)(list(found[name].values()))) for name in libraries if name in found}
        least = f"{min(values.values()):.1f}" if values else ""
        texts = {name: f"{value:.1f}" for name, value in values.items()}
        columns.append({name: f"**{text}**" if text == least else text for name, text in texts.items()})
    return [" / ".join(column.get(name, "–") for column in columns) for name in libraries]


def _worse(found: dict[tuple[str, int], list[PairedTest]]) -> list[str]:
    lines = ["## Where surefoot is significantly worse than the best peer", ""]
    lines += [
        "The best peer of a problem is the one of least mean. Listed if the paired t-test or Wilcoxon's signed rank "
        "test is below 5 % without a correction; corrected after Holm over the suite's problems beside. (Five pairs "
        "cannot bring Wilcoxon's test below 6 %.)",
        "",
    ]
    rows = []
    for (suite, n), tested in found.items():
        worse = worse_than_best(tested)
        n_problems = len({test.problem for test in tested})
        sure = sum(min(test.p_t_holm, test.p_w_holm) < LEVEL for test in worse)
        share = f"{len(worse) / n_problems:.0%}, {sure} of them after Holm's correction"
        lines.append(f"- {suite}, n = {n}: **{len(worse)} of {n_problems}** problems ({share})")
        for test in worse:
            ps = [f"{getattr(test, p):.2g}" for p in PS]
            rows.append([suite, str(n), test.problem, test.library, f"{test.ours:.2f}", f"{test.theirs:.2f}",
                         str(test.n_pairs), *ps])  # fmt: skip
    head = ["suite", "n", "problem", "best peer", "surefoot", "peer", "pairs", "t", "t, Holm", "Wilcoxon", "W., Holm"]
    return [*lines, "", *(_table(head, rows) if rows else [])]


def _counts(found: dict[int, list[PairedTest]], libraries: Sequence[str]) -> list[str]:
    rows = []
    for library in libraries:
        for n, tested in found.items():
            here = [test for test in tested if test.library == library]
            if here:
                counts = [Counter(test.label(p) for test in here) for p in PS]
                rows.append([library, str(n), str(len(here)), *(f"{c[1]} / {c[0]} / {c[-1]}" for c in counts)])
    return _table(["surefoot against", "n", "problems", "t", "t, Holm", "Wilcoxon", "Wilcoxon, Holm"], rows)


def _fields(libraries: Sequence[str], n_runs: Counter[str]) -> list[list[str]]:
    """Libraries that ran at least so often, for every such number, the largest field first.

    A rank compares seeds that all of a field have: one library with one seed would leave one seed of all.
    """
    ours = [n_runs[OURS]] if OURS in libraries else []
    least = sorted({min([n_runs[name], *ours]) for name in libraries})
    return [[name for name in libraries if n_runs[name] >= n] for n in least]


def _ranks(tables: dict[int, Scores], fields: Sequence[Sequence[str]]) -> list[str]:
    """Of the libraries of each field, by their mean and median over the problems."""
    lines = []
    for n, table in tables.items():
        here = [tuple(name for name in field if any(name in found for found in table.values())) for field in fields]
        for field in dict.fromkeys(here):
            rows = [
                [name, f"{np.mean(r):.2f}", f"{np.median(r):.1f}", str(len(r))]
                for name, r in ranks(table, field).items() if len(r)
            ]  # fmt: skip
            if len(rows) > 1:
                lines += [f"Ranks at n = {n}, {len(field)} libraries, on the seeds that all of them have:", ""]
                lines += _table(["library", "mean rank", "median rank", "problems"], rows)
    return lines


def _ranks_by_part(tables: dict[int, Scores], libraries: Sequence[str]) -> list[str]:
    """Mean ranks over the problems of each part of the suite, one cell for all numbers of evaluations."""
    parts = list(dict.fromkeys(part_of(problem) for table in tables.values() for problem in table))
    rows = []
    for part in parts:
        by_n = [ranks({p: found for p, found in table.items() if part_of(p) == part}, libraries)
                for table in tables.values()]  # fmt: skip
        cells = [" / ".join(f"{np.mean(r[name]):.2f}" if len(r[name]) else "–" for r in by_n) for name in libraries]
        rows.append([part, str(max(len(found) for r in by_n for found in r.values())), *cells])
    return _table(["part", "problems", *libraries], rows)


def _suite(runs: Sequence[Run], suite: str) -> tuple[list[str], dict[int, list[PairedTest]], dict[int, Scores]]:
    everybody, sizes = names(runs, suite), checkpoints(runs, suite)
    libraries = [name for name in everybody if name == OURS or is_peer(name)]
    tables = {n: scores(runs, suite, n) for n in sizes}
    found = {n: paired_tests(table, everybody) for n, table in tables.items()}
    at = " / ".join(map(str, sizes))
    lines = [f"## {suite}", "", f"{MEANING[suite]}, at n = {at}.", ""]
    present = [p for p in SUITES[suite].problems if any(p in table for table in tables.values())]
    many = list(tables.values())
    lines += _table(["problem", *libraries], ([p, *_cells(many, p, libraries, "mean")] for p in present))
    if any(map(is_bbob, present)):
        grouped = {n: scores(runs, suite, n, bbob_group) for n in sizes}
        groups = list(dict.fromkeys(map(bbob_group, present)))
        lines += ["Medians over the functions of a group and their instances:", ""]
        many = list(grouped.values())
        lines += _table(["group", *libraries], ([g, *_cells(many, g, libraries, "median")] for g in groups))
        lines += ["The groups as problems, with (function, instance) as pairs: better / same / worse by each test:", ""]
        lines += _counts({n: paired_tests(table, libraries) for n, table in grouped.items()}, libraries)
    if suite == "failures":
        lines += ["Failed evaluations after the design, mean:", ""]
        head, rows = ["problem", *libraries], []
        for problem in present:
            failed = {name: [r.n_failed for r in runs if (r.case.suite, r.case.problem, r.case.library, r.error)
                             == (suite, problem, name, "")] for name in libraries}  # fmt: skip
            rows.append([problem, *(f"{np.mean(failed[name]):.1f}" if failed[name] else "–" for name in libraries)])
        lines += _table(head, rows)
    seeds = Counter(r.case.library for r in runs if r.case.suite == suite)
    full = [name for name in libraries if seeds[name] >= seeds[OURS]]
    fields = _fields(libraries, seeds)
    lines += _ranks(tables, fields)
    if suite in ("small", "mixed"):
        lines += ["Mean ranks by parts of the suite, on the seeds that all libraries of a table have:", ""]
        for field in fields:
            lines += _ranks_by_part(tables, field)
    if any(found.values()):
        lines += ["Problems on which surefoot is significantly better / neither / significantly worse (5 %):", ""]
        lines += _counts(found, libraries)
    others = [name for name in everybody if name not in libraries]
    if others:
        rows = variants.rows(tables, found, others, full)
        lines += [variants.explanation(tables, full), "", *_table(variants.HEAD, rows)]
    lines += ["Seconds of a run, mean: by the clock, less those of the objective; and of CPU, in all:", ""]
    rows = []
    for name in everybody:
        mine = [r for r in runs if r.case.suite == suite and r.case.library == name and not r.error]
        if mine:
            wall, cpu = (np.mean([getattr(r, which) for r in mine]) for which in ("overhead_s", "cpu_s"))
            n = "/".join(str(size) for size in sorted({r.case.n for r in mine}))
            rows.append([name, n, str(len(mine)), f"{wall:.3g}", f"{cpu:.3g}"])
    lines += _table(["library", "n", "runs", "overhead, s", "CPU, s"], rows)
    return lines, found, tables


def _heading(runs: Sequence[Run], commands: Sequence[str]) -> list[str]:
    versions: dict[str, set[str]] = {}
    for run in runs:
        if run.version:
            versions.setdefault(run.case.library.partition(":")[0], set()).add(run.version)
    used = "; ".join(f"{name} {', '.join(sorted(found))}" for name, found in sorted(versions.items()))
    made = f"Python {platform.python_version()}, NumPy {np.__version__}; {used}. {len(runs)} runs."
    return [
        "# Regret beside other libraries", "", *(f"    {command}" for command in commands), "", made, "",
        "Every run starts from the Latin hypercube of 10 d points of its problem and seed, the same for all libraries;",
        "those of the suites small, mixed and many-inputs start as each library does by default. Less is better; the "
        "least is bold.",
        "How each library is called: docs/evidence/regret-study.md.", "",
    ]  # fmt: skip


def stated_commands(out: Path, libraries: Collection[str]) -> list[str]:
    """Those with which runs of these libraries were made, of the report that is there."""
    path = out / "table.md"
    lines = path.read_text().splitlines() if path.exists() else []
    commands = [line.strip() for line in lines if line.startswith("    python -m benchmarks.regret")]
    named = ((line, re.findall(r"--library (\S+)", line)) for line in commands)
    return [line for line, names in named if not names or not set(names).isdisjoint(libraries)]


def _errors(runs: Sequence[Run]) -> list[str]:
    bad = [run for run in runs if run.error]
    short = [run for run in runs if not run.error and len(run.distances) < run.case.n]
    lines = [f"## Errors: {len(bad)} runs; ended early: {len(short)}", ""]
    counts = Counter((r.case.library, r.case.suite, r.error) for r in bad)
    lines += [
        f"- {name}, {suite}: {count} times `{' '.join(error.split())[:200]}`"
        for (name, suite, error), count in counts.items()
    ]
    early = Counter((r.case.library, r.case.suite) for r in short)
    lines += [
        f"- {name}, {suite}: {count} runs ended before n, their last value counts"
        for (name, suite), count in early.items()
    ]
    return [*lines, ""]


def write(runs: Sequence[Run], out: Path, commands: Sequence[str]) -> str:
    """Write everything; returns the Markdown."""
    out.mkdir(parents=True, exist_ok=True)
    sections, found, tables = [], {}, {}
    for suite in SUITES:
        if any(run.case.suite == suite for run in runs):
            lines, tested, tables[suite] = _suite(runs, suite)
            sections += lines
            found.update({(suite, n): tested_at for n, tested_at in tested.items()})
    skipped = {"many-inputs": 100}  # 50: the design, in five inputs
    shown = {key: tested for key, tested in found.items() if tested and key[1] != skipped.get(key[0], 50)}
    text = "\n".join([*_heading(runs, commands), *_worse(shown), *_errors(runs), *sections])
    write_whole(out / "table.md", text)
    spreadsheets.write(runs, found, out)
    libraries = [run for run in runs if run.case.library == OURS or is_peer(run.case.library)]
    if not any(run.is_stored for run in libraries):  # which tells no more than a few points of a curve
        figures.ecdf(libraries, out)
    means = {s: {n: mean_ranks(t, names(libraries, s)) for n, t in by_n.items()} for s, by_n in tables.items()}
    figures.rank_plot(means, out)
    return text
