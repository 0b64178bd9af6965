"""Tables of the benchmark on simulators, in Markdown: all numbers come from the stored runs."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

import numpy as np
from scipy.stats import mannwhitneyu

from benchmarks.simulators.pairs import pairs_table
from benchmarks.simulators.problems import problem_of
from benchmarks.simulators.runs import Records, SimulatorRuns, bests, complete, gathered
from examples.simulators.emulated import NAMES, read_table
from surefoot.optimize.reasons import grouped
from surefoot.paper.markdown import markdown
from surefoot.paper.statistics import LEVEL, holm
from surefoot.paper.studies.failures.limits_tables import regret_table
from surefoot.paper.studies.failures.runs import upper_median
from surefoot.paper.studies.failures.verdicts import (
    DEFAULT,
    FEW_RUNS,
    budgets_of,
    listed,
    ordered,
    verdict_table,
    verdicts,
)

NEAR = 0.1  # of the best known value
Cell = Callable[[SimulatorRuns], str]


def write(records: Records, out: Path) -> str:
    """table.md of the runs; returns its text."""
    text = "\n\n".join(part.rstrip("\n") for part in _parts(records)) + "\n"
    (out / "table.md").write_text(text)
    return text


def in_order(runs: Sequence[SimulatorRuns]) -> list[str]:
    """The problems that there are, as the examples list them."""
    return [name for name in NAMES if any(r.problem == name for r in runs)]


def _parts(records: Records) -> list[str]:
    found = gathered(records)
    names = in_order(found)
    runs = sorted(found, key=lambda r: names.index(r.problem))
    tests = verdicts(runs, paired=False)
    emulated = any(case.emulated for case in records)
    parts = [
        f"Made by `python -m benchmarks.simulators{' --emulated' if emulated else ''}`"
        f" on {'emulators' if emulated else 'the simulators themselves'}; all strategies from the same designs.",
        _problems(records, runs),
        "The default against each other strategy, over all pairs of a problem and a seed that both have: pairs in which"
        " the default has less, equal, more (sign test, Holm over the table; bold: p < 5 %).",
        pairs_table(runs),
    ]
    test = f"Mann and Whitney's test over seeds, Holm over all tests, 5 %; fewer than {FEW_RUNS} seeds are not tested"
    if any(v.sign for v in tests):
        told = f"Problems on which the default is significantly better / worse ({test}), and every such difference."
        parts += [told, verdict_table(runs, tests), listed(tests)]
    else:
        parts.append(f"On single problems no difference is significant ({test}).")
    parts += [
        "The default's best values against those of each other strategy, problem by problem: p of Mann and Whitney's"
        f" test, Holm over the strategies of that problem; bold: p < 5 %; fewer than {FEW_RUNS} seeds are not tested.",
        _by_problem(runs),
    ]
    for n in budgets_of(runs):
        parts += [
            f"n = {n}: median log10 of (best − best known) / |best known| / median failed evaluations after the"
            " design. Against this strategy the default has significantly + less, − more regret,"
            " † fewer, ‡ more failures.",
            regret_table(runs, tests, n),
        ]
    defaults = {r.problem: r for r in runs if r.strategy == DEFAULT}
    for title, cell in (
        (f"Median best value in the problem's units; quartiles where there are {FEW_RUNS} seeds.", _best),
        ("Evaluations after which the median of the default over the same seeds is as good as the other's at its end;"
         " –: never.",
         partial(_caught_up, defaults)),
        (f"Runs that came within {100 * NEAR:.0f} % of the best known value, and after how many evaluations (median).",
         _near),
        ("Evaluations that failed, of all seeds together: in the design → after it.", _shares),
        ("Median evaluations until the first success.", _first),
        ("Processor time of the optimizer alone, milliseconds an evaluation.", _cpu),
        ("Seeds. Where they differ, only the pairs above compare like with like.", lambda r: str(len(r.values))),
    ):  # fmt: skip
        parts += [title, _crossed(runs, cell)]
    parts += ["Why evaluations of the default failed, of all seeds together.", _reasons(runs)]
    cut = [case for case, record in records.items() if not complete(record)]
    if cut:
        rows = [["problem", "strategy", "seed", "evaluations", "error"]]
        rows += [[c.problem, c.strategy, str(c.seed), str(len(records[c]["values"])), records[c]["error"]] for c in cut]
        parts += ["Runs that an error of the optimizer ended; they are left out.", markdown(rows)]
    libraries = sorted({r.library for r in runs if r.library})
    return [*parts, f"Versions: {', '.join(libraries)}."]


def _problems(records: Records, runs: Sequence[SimulatorRuns]) -> str:
    known = bests(records)
    rows = [["problem", "inputs", "design", "random points that fail", "an evaluation takes", "best known", "found by"]]
    for name in in_order(runs):
        table, mine = read_table(name), [r for r in runs if r.problem == name]
        told = [record for r in mine for record in r.records]
        seconds = sum(r["evaluations_s"] for r in told) / sum(len(r["values"]) for r in told)
        rows.append(
            [name, str(len(problem_of(name).parameters)), str(mine[0].n_init), f"{100 * (~table.ok).mean():.0f} %",
             f"{1000 * seconds:.0f} ms", f"{known[name].value:.5g}", known[name].found_by]
        )  # fmt: skip
    return markdown(rows)


def _by_problem(runs: Sequence[SimulatorRuns]) -> str:
    """Problems by strategies: whether the default's best values are better or worse, and how surely."""
    last = {(r.problem, r.strategy): r.best_so_far()[:, -1] for r in runs if len(r.values) >= FEW_RUNS}
    others = [name for name in ordered(r.strategy for r in runs) if name != DEFAULT]
    others = [name for name in others if any((problem, name) in last for problem in in_order(runs))]
    if not others:
        return "No other strategy has so many."
    rows = [["problem", *others]]
    for problem in in_order(runs):
        cells, mine = dict.fromkeys(others, ""), last.get((problem, DEFAULT))
        there = [name for name in others if mine is not None and (problem, name) in last]
        p = holm(np.asarray([mannwhitneyu(mine, last[problem, name]).pvalue for name in there]))
        for name, value in zip(there, p, strict=True):
            told = f"{'better' if np.median(mine) < np.median(last[problem, name]) else 'worse'}, {value:.1g}"
            cells[name] = f"**{told}**" if value < LEVEL else told
        rows.append([problem, *cells.values()])
    return markdown(rows)


def _crossed(runs: Sequence[SimulatorRuns], cell: Cell) -> str:
    """Problems by strategies."""
    by_key, strategies = {(r.problem, r.strategy): r for r in runs}, ordered(r.strategy for r in runs)
    rows = [["problem", *strategies]]
    for name in in_order(runs):
        rows.append([name, *(cell(by_key[name, s]) if (name, s) in by_key else "" for s in strategies)])
    return markdown(rows)


def _best(r: SimulatorRuns) -> str:
    low, middle, high = np.quantile(r.best_so_far()[:, -1], [0.25, 0.5, 0.75], method="higher")
    return f"{middle:.4g} ({low:.4g} to {high:.4g})" if len(r.values) >= FEW_RUNS else f"{middle:.4g}"


def _caught_up(defaults: Mapping[str, SimulatorRuns], r: SimulatorRuns) -> str:
    mine = defaults.get(r.problem)
    seeds = sorted(set(mine.values) & set(r.values)) if mine else []
    if mine is None or mine is r or not seeds:
        return ""
    ours, others = (np.quantile(x.best_so_far(seeds), 0.5, axis=0, method="higher") for x in (mine, r))
    reached = np.flatnonzero(ours <= others[-1])
    return str(reached[0] + 1) if len(reached) else "–"


def _near(r: SimulatorRuns) -> str:
    within = r.best_so_far() <= r.best_known + NEAR * abs(r.best_known)
    there = within[:, -1]
    text = f"{there.sum()} of {len(there)}"
    return f"{text} ({upper_median(within[there].argmax(axis=1) + 1.0):.0f})" if there.any() else text


def _shares(r: SimulatorRuns) -> str:
    seeds = list(r.values)
    in_design = r.failed_in_design(seeds).sum() / (r.n_init * len(seeds))
    after = sum(np.isnan(y[r.n_init :]).sum() for y in r.values.values())
    n_after = sum(max(len(y) - r.n_init, 0) for y in r.values.values())
    return f"{100 * in_design:.0f} → {100 * after / n_after:.0f} %" if n_after else f"{100 * in_design:.0f} %"


def _first(r: SimulatorRuns) -> str:
    first = upper_median(r.first_success(list(r.values)))
    return f"{first:.0f}" if math.isfinite(first) else "none"


def _cpu(r: SimulatorRuns) -> str:
    milliseconds = 1000 * r.cpu_per_evaluation
    return f"{milliseconds:.0f}" if milliseconds >= 10 else f"{milliseconds:.1f}"


def _reasons(runs: Sequence[SimulatorRuns]) -> str:
    rows = [["problem", "in the design", "after it", "reason"]]
    for r in (r for r in runs if r.strategy == DEFAULT):
        told = [
            (i < r.n_init, record["reasons"][kind])
            for record in r.records for i, kind in enumerate(record["kinds"]) if kind >= 0
        ]  # fmt: skip
        for group in grouped(reason for _, reason in told):
            early = sum(told[i][0] for i in group.members)
            text = group.label.replace("|", "\\|")
            rows.append([r.problem, str(early), str(group.count - early), text])
    return markdown(rows)
