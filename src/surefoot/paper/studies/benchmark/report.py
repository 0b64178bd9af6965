"""From the benchmark's checkpoints to its tables and figures."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from surefoot.acquisition.registry import PAPER_POLICIES
from surefoot.errors import InvalidInputError
from surefoot.paper.labels.comparisons import Comparison, Distances, compare, labels
from surefoot.paper.labels.printed import EVALUATIONS
from surefoot.paper.labels.tables import agreements, one_table, write_label_tables
from surefoot.paper.markdown import markdown
from surefoot.paper.problems import ALL
from surefoot.paper.studies.benchmark.agreement import ceiling
from surefoot.paper.studies.benchmark.figures import draw_labels, draw_traces
from surefoot.paper.studies.benchmark.recorded import read_distances
from surefoot.paper.studies.benchmark.study import AGAIN, NO_KERNEL, Group, State, distances

Tests = dict[tuple[str, int], dict[tuple[str, str], Comparison]]


def compare_all(found: dict[str, Distances], n_seeds: int) -> Tests:
    """ScaledEI against every other policy, for each kernel and each n of the paper that all runs reached."""
    tables: Tests = {}
    for kernel, all_seeds in found.items():
        some = {key: values[:n_seeds] for key, values in all_seeds.items() if key[1] != AGAIN}
        reached = min(values.shape[1] for values in some.values())
        for n in EVALUATIONS:
            if n <= reached:
                tables[kernel, n] = compare(some, n)
    return tables


def write(done: Sequence[tuple[Group, State]], folder: Path, heading: str) -> str:
    """Traces, label tables, controls; returns the Markdown of the tables."""
    kernels = sorted({group.kernel for group, _ in done if group.kernel != NO_KERNEL}, reverse=True)  # se first
    found = {kernel: distances(done, kernel) for kernel in kernels}
    found = {kernel: some for kernel, some in found.items() if ("ScaledEI" in {policy for _, policy in some})}
    for kernel, some in found.items():
        shown = {key: values for key, values in some.items() if key[1] != AGAIN}
        draw_traces(shown, folder / f"traces-{kernel}.png", first=10 * max(group.d for group, _ in done))
    _write_csv(found, done[0][0].reading, folder / "distances.csv")
    text = heading + "\n"
    five = compare_all(found, 5)  # as many seeds as the paper has
    n_seeds = max(values.shape[0] for some in found.values() for values in some.values())
    if five and n_seeds > 1:
        text += write_label_tables(five, folder)
        draw_labels(five, folder / "labels.png")
        if n_seeds > 5:
            text += "\n" + _more_seeds(five, compare_all(found, n_seeds), n_seeds)
        if n_seeds >= 10:
            text += "\n" + _ceiling(found, five)
        text += _control(found)
    (folder / "labels.md").write_text(text, encoding="utf-8")
    return text


def recorded_tests(folder: Path) -> Tests:
    """ScaledEI against every other policy, of distances.csv: what is known where the runs are gone."""
    problems = [problem.abbreviation for problem in ALL]
    tests: Tests = {}
    for (_, kernel, n), table in sorted(read_distances(folder).items(), key=lambda item: item[0][1:], reverse=True):
        if n in EVALUATIONS:
            cells = sorted((key for key in table if key[1] != AGAIN), key=lambda key: _place(key, problems))
            five = {key: table[key][:5, None] for key in cells}  # as many seeds as the paper has, at this n alone
            tests[kernel, n] = compare(five, 1)
    if not tests:
        raise InvalidInputError(f"expected runs of {EVALUATIONS[-1]} evaluations in {folder}; got none; try more")
    return tests


def _place(key: tuple[str, str], problems: list[str]) -> tuple[int, int]:
    """Where the paper's tables have it; other policies come last."""
    problem, policy = key
    known = policy in PAPER_POLICIES
    return problems.index(problem), PAPER_POLICIES.index(policy) if known else len(PAPER_POLICIES)


def describe(done: Sequence[tuple[Group, State]]) -> str:
    """What was run, in a line."""
    groups = [group for group, _ in done]
    kernels = sorted({group.kernel for group in groups if group.kernel != NO_KERNEL}, reverse=True)
    members = [member for group in groups for member in group.members]
    evaluations = sorted({state.n for _, state in done})
    n = str(evaluations[0]) if len(evaluations) == 1 else f"{evaluations[0]} to {evaluations[-1]}"
    return (
        f"{len(members)} runs of {n} evaluations: search {groups[0].reading}; "
        f"kernels {', '.join(kernels)}; "
        f"policies {', '.join(sorted({m.policy for m in members}))}; "
        f"{len({m.problem for m in members})} problems; {len({m.seed for m in members})} seeds."
    )


def _write_csv(found: dict[str, Distances], search: str, path: Path) -> None:
    """Every run's log10 distance after the evaluations that the paper tests at, and a few more."""
    marks = (50, 100, 200, 400, 600, 800, 1000)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["search", "kernel", "problem", "policy", "seed", *(f"n{n}" for n in marks)])
        for kernel, some in found.items():
            for (problem, policy), values in sorted(some.items()):
                for seed, trace in enumerate(values):
                    cells = [f"{trace[n - 1]:.3f}" if n <= len(trace) else "" for n in marks]
                    writer.writerow([search, kernel, problem, policy, seed, *cells])


def _more_seeds(five: Tests, all_seeds: Tests, n_seeds: int) -> str:
    """How many labels of five seeds survive when there are more, and whether more are the paper's."""
    rows = [["kernel", "n", "significant with 5 seeds", f"of these with {n_seeds}", f"significant with {n_seeds}",
             "equal to the paper's with 5", f"with {n_seeds}"]]  # fmt: skip
    equal = [{key: str(found.equal) for key, found in agreements(tests).items()} for tests in (five, all_seeds)]
    for key, table in five.items():
        few, many = labels(table), labels(all_seeds[key])
        kept = sum(1 for cell, label in few.items() if label != 0 and many[cell] == label)
        counts = [sum(map(abs, some.values())) for some in (few, many)]
        rows.append([key[0], str(key[1]), f"{counts[0]} of {len(few)}", str(kept), f"{counts[1]} of {len(many)}",
                     *(some.get(key, "") for some in equal)])  # fmt: skip
    title = f"# {n_seeds} seeds instead of 5\n\n"
    return title + markdown(rows) + "\n" + "\n".join(one_table(*key, table) for key, table in all_seeds.items()) + "\n"


def _ceiling(found: dict[str, Distances], tests: Tests) -> str:
    """How far two disjoint sets of five seeds agree: what another program that does the same would reach."""
    rows = [["kernel", "n", "equal labels", "kappa without RND"]]
    for kernel, n in tests:
        cells = {key: values[:, n - 1] for key, values in found[kernel].items() if key[1] != AGAIN}
        own = ceiling(cells)
        rows.append([kernel, str(n), f"{100 * own.share:.0f} %", f"{own.kappa:.2f}"])
    title = "## Ceiling: five seeds beside five others\n\nMeans over random splits of the seeds.\n\n"
    return title + markdown(rows)


def _control(found: dict[str, Distances]) -> str:
    """ScaledEI against itself with other search seeds: labels that chance makes."""
    rows = [["kernel", "n", "labels that are not 0", "mean |difference| in log10"]]
    for kernel, some in found.items():
        own = {key: values for key, values in some.items() if key[1] in ("ScaledEI", AGAIN)}
        if not any(policy == AGAIN for _, policy in own):
            continue
        for n in EVALUATIONS:
            if n <= min(values.shape[1] for values in own.values()):
                tests = compare(own, n)
                count = sum(map(abs, labels(tests).values()))
                gap = float(np.mean([abs(test.difference) for test in tests.values()]))
                rows.append([kernel, str(n), f"{count} of {len(tests)}", f"{gap:.2f}"])
    if len(rows) == 1:
        return ""
    title = "## Control: ScaledEI against itself\n\nThe same designs, other search seeds. At a level of 5 %, "
    return "\n" + title + "chance makes one label in twenty.\n\n" + markdown(rows)
