"""Tables of labels as the paper prints them, and ours beside the paper's, as Markdown and CSV."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path

from surefoot.paper.labels.comparisons import OUTCOMES, Agreement, Comparison, Labels, agreement, labels, totals
from surefoot.paper.labels.printed import paper_labels
from surefoot.paper.markdown import markdown
from surefoot.paper.statistics import CORRECTIONS, LEVEL

Tests = Mapping[tuple[str, int], Mapping[tuple[str, str], Comparison]]
"""(kernel, n) -> (problem, policy) -> the test of ScaledEI against the policy: an entry for each table of the paper."""

KERNEL_NAMES = {"se": "squared exponential", "matern52": "Matérn 5/2"}


def labels_table(found: Labels, paper: Labels | None = None) -> list[list[str]]:
    """Header, a row for each problem, and Same, Better, Worse; where the paper differs, `**ours** (the paper's)`."""
    problems = list(dict.fromkeys(problem for problem, _ in found))
    policies = list(dict.fromkeys(policy for _, policy in found))
    theirs = paper or {}
    # Totals compare like with like: the paper's over the same cells.
    ours_total, theirs_total = totals(found), totals({key: theirs[key] for key in found if key in theirs})
    rows = [["test function", *policies]]
    for problem in problems:
        cells = [(found.get((problem, policy)), theirs.get((problem, policy))) for policy in policies]
        rows.append([problem, *(_cell(ours, other) for ours, other in cells)])
    for outcome in OUTCOMES:
        pairs = [(ours_total[outcome, policy], theirs_total.get((outcome, policy))) for policy in policies]
        rows.append([outcome.capitalize(), *(_percent(ours, other) for ours, other in pairs)])
    return rows


def _cell(ours: int | None, theirs: int | None) -> str:
    if ours is None:
        return ""
    return str(ours) if theirs in (None, ours) else f"**{ours}** ({theirs})"


def _percent(ours: float, theirs: float | None) -> str:
    text = f"{100 * ours:.0f} %"
    return text if theirs is None else f"{text} ({100 * theirs:.0f} %)"


def write_label_tables(tests: Tests, folder: Path) -> str:
    """labels.csv (every test) and labels.md (each table beside the paper's); returns the Markdown."""
    printed = paper_labels()
    with (folder / "labels.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        corrected = [f"label_{name.replace('-', '_')}" for name in CORRECTIONS if name != "none"]
        writer.writerow(
            ["kernel", "n", "problem", "policy", "difference", "p", "label", *corrected, "paper_label", "agrees"]
        )
        for (kernel, n), table in tests.items():
            found = {name: labels(table, name) for name in CORRECTIONS}
            for key, test in table.items():
                theirs = printed.get((kernel, n), {}).get(key)
                ours = [found[name][key] for name in CORRECTIONS]
                agrees = "" if theirs is None else int(ours[0] == theirs)
                other = "" if theirs is None else theirs
                writer.writerow([kernel, n, *key, f"{test.difference:.4f}", f"{test.p:.3g}", *ours, other, agrees])
    text = _summary(tests) + "\n" + "\n".join(one_table(*key, table) for key, table in tests.items())
    (folder / "labels.md").write_text(text, encoding="utf-8")
    return text


def agreements(tests: Tests) -> dict[tuple[str, int], Agreement]:
    """How far the labels of each table agree with the paper's."""
    printed = paper_labels()
    return {key: agreement(labels(table), printed[key]) for key, table in tests.items() if key in printed}


def _summary(tests: Tests) -> str:
    """One row a table: agreement with the paper, and what a correction for multiplicity leaves of the labels."""
    shares = agreements(tests)
    rows = [
        [
            "kernel",
            "n",
            "labels equal to the paper's",
            "kappa without RND",
            "the paper's significant labels found",
            "significant",
            *(f"after {c}" for c in CORRECTIONS if c != "none"),
        ]
    ]
    for key, table in tests.items():
        share = shares.get(key)
        equal = "" if share is None else f"{share.equal} of {share.n}, {_interval(share)}"
        beyond = ["", ""] if share is None else [f"{share.kappa:.2f}", f"{share.n_found} of {share.n_significant}"]
        counts = [sum(map(abs, labels(table, name).values())) for name in CORRECTIONS]
        rows.append(
            [KERNEL_NAMES.get(key[0], key[0]), str(key[1]), equal, *beyond, *(f"{c} of {len(table)}" for c in counts)]
        )
    return (
        f"Labels of two-sided paired t-tests at level {LEVEL:g}: 1 ScaledEI is nearer to the minimum, -1 farther, "
        "0 neither. Shares with Wilson's 95 % interval; corrections within each table. Kappa is Cohen's; 0: chance.\n\n"
        + markdown(rows)
    )  # fmt: skip


def _interval(share: Agreement) -> str:
    return f"{100 * share.share:.0f} % [{100 * share.low:.0f}, {100 * share.high:.0f}]"


def one_table(kernel: str, n: int, table: Mapping[tuple[str, str], Comparison]) -> str:
    """One table of labels beside the paper's, with its heading."""
    paper = paper_labels().get((kernel, n))
    note = "" if paper is None else " Bold: the paper's label, in brackets, differs."
    title = f"## {KERNEL_NAMES.get(kernel, kernel)}, n = {n}\n\nScaledEI against each policy.{note}\n\n"
    return title + markdown(labels_table(labels(table), paper))
