"""Variants of surefoot beside its default: what each choice is worth."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from benchmarks.regret.libraries import OURS
from benchmarks.regret.scores import PairedTest, Scores, ranks

HEAD = ("variant", "n", "pairs", "mean difference", "default better / neither / worse", "where it matters most", "rank")
EXPLANATION = (
    "Variants of surefoot, from the same designs as its default: the mean over problems of the difference in log10 "
    "distance (positive: the default is nearer), paired t-tests at 5 % without correction, the problems with the "
    "largest differences, and the mean rank that the variant would have in the default's place (default: {own})."
)


def rows(
    tables: dict[int, Scores], found: dict[int, list[PairedTest]], variants: Sequence[str], field: Sequence[str]
) -> list[list[str]]:
    """One row for each variant and number of evaluations, from its tests; field: the libraries to rank among."""
    lines = []
    for variant in variants:
        for n, table in tables.items():
            tested = [test for test in found[n] if test.library == variant]
            if tested:
                place = ranks(table, [*field, variant])[variant]
                lines.append([variant.partition(":")[2], str(n), *_cells(tested), f"{np.mean(place):.2f}"])
    return lines


def _cells(tested: Sequence[PairedTest]) -> list[str]:
    gains = {test.problem: test.theirs - test.ours for test in tested}
    counts = [sum(test.label("p_t") == label for test in tested) for label in (1, 0, -1)]
    largest = sorted(gains, key=lambda problem: -abs(gains[problem]))[:4]
    most = ", ".join(f"{problem} {gains[problem]:+.1f}" for problem in largest)
    pairs = str(sum(test.n_pairs for test in tested))
    return [pairs, f"{np.mean(list(gains.values())):+.2f}", " / ".join(map(str, counts)), most]


def explanation(tables: dict[int, Scores], field: Sequence[str]) -> str:
    """What the table shows, with the default's own ranks."""
    own = ", ".join(f"{np.mean(ranks(table, field)[OURS]):.2f} at n = {n}" for n, table in tables.items())
    return EXPLANATION.format(own=own)
