"""Tables of the failures study on problems with limits: the default against every other strategy."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from surefoot.paper.markdown import markdown
from surefoot.paper.studies.failures.constrained import get_constrained
from surefoot.paper.studies.failures.runs import FAILED, FIRST, NEVER, REGRET, Runs, upper_median
from surefoot.paper.studies.failures.verdicts import DEFAULT, Verdict, budgets_of, ordered, verdict_table, verdicts

BEFORE = "label-regression"  # the default before
RARE = 0.1  # little succeeds: a share below it


@cache
def share_that_succeeds(problem: str) -> float:
    """Of the box, from a million points."""
    return 1.0 - get_constrained(problem).share(1_000_000)


def median_of_random(problem: str) -> float:
    """Evaluations that random search needs for a first success: the median of a geometric distribution."""
    return math.ceil(math.log(0.5) / math.log1p(-share_that_succeeds(problem)))


def problems_table(problems: Sequence[str]) -> str:
    """What the problems are."""
    rows = [["problem", "d", "causes", "succeeds", "random search's first success", "f*", "source"]]
    for name in problems:
        problem, share = get_constrained(name), share_that_succeeds(name)
        rows.append(
            [name, str(problem.base.d), str(len(problem.causes)), f"{100 * share:.2g} %",
             f"{median_of_random(name)}", f"{problem.f_star:.7g}", problem.source]
        )  # fmt: skip
    return markdown(rows)


def regret_table(runs: Sequence[Runs], found: Sequence[Verdict], n: int) -> str:
    """Median log10 regret / failures after the design, with marks of what the tests say."""
    by_key = {(r.problem, r.strategy): r for r in runs}
    marks = {(v.problem, v.strategy, v.what): v.sign for v in found if v.n == n}
    strategies = ordered(r.strategy for r in runs if r.seeds(n))
    rows = [["problem", *strategies]]
    for problem in dict.fromkeys(r.problem for r in runs):
        cells = []
        for strategy in strategies:
            r = by_key.get((problem, strategy))
            seeds = r.seeds(n) if r else []
            if r is None or not seeds:
                cells.append("")
                continue
            regret = upper_median(r.regret(n, seeds))
            mark = {1: "+", -1: "−", 0: ""}[marks.get((problem, strategy, "regret"), 0)]
            mark += {1: "†", -1: "‡", 0: ""}[marks.get((problem, strategy, "failed"), 0)]
            text = "none" if regret == NEVER else f"{regret:.1f}"
            cells.append(f"{text} / {upper_median(r.failed(n, seeds)):.0f} {mark}".strip())
        rows.append([problem, *cells])
    return markdown(rows)


def first_table(runs: Sequence[Runs]) -> str:
    """Median evaluations until the first success."""
    strategies = ordered(r.strategy for r in runs)
    by_key = {(r.problem, r.strategy): r for r in runs}
    rows = [["problem", "succeeds", "random search, expected", *strategies]]
    for problem in dict.fromkeys(r.problem for r in runs):
        share = share_that_succeeds(problem)
        cells = []
        for strategy in strategies:
            r = by_key.get((problem, strategy))
            median = upper_median(r.first_success(r.all_seeds)) if r else math.nan
            cells.append("" if r is None else f"{median:.0f}" if math.isfinite(median) else "none")
        rows.append([problem, f"{100 * share:.2g} %", f"{median_of_random(problem):.0f}", *cells])
    return markdown(rows)


def rare_table(runs: Sequence[Runs], found: Sequence[Verdict]) -> str:
    """Where little succeeds: the default beside the old one, after the longest budget, and beside random search."""
    n = budgets_of(runs)[-1]
    by_key = {(r.problem, r.strategy): r for r in runs}
    signs = {(v.problem, v.what): v.sign for v in found if (v.strategy, v.n) == (BEFORE, n)}
    rows = [["problem", "succeeds", f"failed, {DEFAULT}", f"failed, {BEFORE}", "ratio", "regret", "first success",
             "of random search"]]  # fmt: skip
    for problem in sorted({r.problem for r in runs if share_that_succeeds(r.problem) < RARE}, key=share_that_succeeds):
        mine, before = (by_key.get((problem, name)) for name in (DEFAULT, BEFORE))
        if mine is None or before is None or not mine.seeds(n) or not before.seeds(n):
            continue
        failed = [upper_median(r.failed(n, r.seeds(n))) for r in (mine, before)]
        word = {1: "better", -1: "worse", 0: "no difference"}[signs.get((problem, "regret"), 0)]
        first = upper_median(mine.first_success(mine.all_seeds))
        rows.append(
            [problem, f"{100 * share_that_succeeds(problem):.2g} %", *(f"{f:.0f}" for f in failed),
             f"{failed[0] / max(failed[1], 1.0):.2f}", word, f"{first:.0f}" if math.isfinite(first) else "none",
             f"{first / median_of_random(problem):.2f}"]
        )  # fmt: skip
    return markdown(rows) if len(rows) > 1 else ""


def write_limits(runs: Sequence[Runs], folder: Path) -> str:
    """limits.md, limits.csv (medians and tests) and limits-runs.csv (every run); returns the Markdown."""
    found = verdicts(runs)
    parts = [
        "The default against each other strategy: problems on which it is significantly better / worse"
        " (Wilcoxon signed rank over seeds, Holm over the whole study, 5 %).",
        verdict_table(runs, found),
    ]
    for n in budgets_of(runs):
        parts += [
            f"n = {n}: median log10 of (best − f*) / |f*| / median failed evaluations after the design. Against this"
            " strategy the default has significantly + less, − more regret, † fewer, ‡ more failures.",
            regret_table(runs, found, n),
        ]
    rare = rare_table(runs, found)
    if rare:
        parts += [f"Where less than {100 * RARE:.0f} % succeeds, n = {budgets_of(runs)[-1]}.", rare]
    parts += ["Median evaluations until the first success.", first_table(runs)]
    parts += ["The problems.", problems_table(list(dict.fromkeys(r.problem for r in runs)))]
    libraries = sorted({r.library for r in runs if r.library})
    if libraries:
        parts.append(f"Other libraries: {', '.join(libraries)}.\n")
    text = "\n\n".join(part.rstrip("\n") for part in parts) + "\n"
    (folder / "limits.md").write_text(text, encoding="utf-8")
    _write_csv(runs, found, folder)
    return text


def _write_csv(runs: Sequence[Runs], found: Sequence[Verdict], folder: Path) -> None:
    """A row of limits-runs.csv has all seeds of a combination, with spaces between them: a row a run would be large."""
    p = {(v.problem, v.strategy, v.n, v.what): v.p for v in found}
    medians, every = io.StringIO(), io.StringIO()
    summary, lines = csv.writer(medians, lineterminator="\n"), csv.writer(every, lineterminator="\n")
    head = ["problem", "strategy", "n"]
    summary.writerow([*head, "seeds", "median_log10_regret", "median_failed", "median_first_success", "p_regret",
                      "p_failed"])  # fmt: skip
    lines.writerow([*head, "seeds", REGRET, FAILED, FIRST, "library"])
    for r in runs:
        for n in budgets_of(runs):
            seeds = r.seeds(n)
            if not seeds:
                continue
            regret, failed, first = r.regret(n, seeds), r.failed(n, seeds), r.first_success(seeds)
            key = (r.problem, r.strategy, n)
            tests = [f"{p.get((*key, what), math.nan):.3g}" for what in ("regret", "failed")]
            middle = [f"{upper_median(v):.3f}" for v in (regret, failed, first)]
            summary.writerow([*key, len(seeds), *middle, *tests])
            shown = (seeds, ".0f"), (regret, ".4f"), (failed, ".0f"), (first, ".0f")
            lines.writerow([*key, *(" ".join(format(v, form) for v in values) for values, form in shown), r.library])
    (folder / "limits.csv").write_text(medians.getvalue(), encoding="utf-8")
    (folder / "limits-runs.csv").write_text(every.getvalue(), encoding="utf-8")
