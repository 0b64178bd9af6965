"""From runs to numbers: means, ranks, paired tests, and the list of problems where surefoot is worse.

A score is a log10 distance after n evaluations; seeds are paired: a seed of a problem has one design for all libraries.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.stats import rankdata

from benchmarks.regret.libraries import LIBRARIES, OURS, is_peer
from benchmarks.regret.runner import Run
from benchmarks.regret.suites import SUITES
from surefoot.paper.statistics import LEVEL, holm, paired_t, wilcoxon

PS = ("p_t", "p_t_holm", "p_w", "p_w_holm")  # the p-values of a test
Seeds = dict[object, float]  # seed -> score
Scores = dict[str, dict[str, Seeds]]  # problem -> library -> seeds
MeanRanks = dict[str, dict[int, dict[str, float]]]  # suite -> evaluations -> library -> its mean rank


def scores(runs: Iterable[Run], suite: str, n: int, group: Callable[[str], str] | None = None) -> Scores:
    """The scores of a suite after n evaluations; with `group`, problems are put together and pairs are kept apart."""
    found: Scores = {}
    for run in runs:
        value = run.score(n)
        if run.case.suite == suite and np.isfinite(value):
            problem = run.case.problem
            name, pair = (group(problem), (problem, run.case.seed)) if group else (problem, run.case.seed)
            found.setdefault(name, {}).setdefault(run.case.library, {})[pair] = value
    return found


def checkpoints(runs: Iterable[Run], suite: str) -> list[int]:
    """The numbers of evaluations to report: the suite's, as far as there are runs, and the longest run."""
    sizes = {run.case.n for run in runs if run.case.suite == suite}
    if suite == "noise":
        return sorted(sizes)  # a recommendation is asked for at the end only
    return sorted({n for n in SUITES[suite].checkpoints if n <= max(sizes)} | {max(sizes)})


def names(runs: Iterable[Run], suite: str) -> list[str]:
    """The libraries that ran on a suite, each variant of surefoot after surefoot."""
    order = list(LIBRARIES)
    present = {run.case.library for run in runs if run.case.suite == suite}
    return sorted(present, key=lambda name: (order.index(name.partition(":")[0]), name))


def _rank_in(table: Scores, name: str, field: Sequence[str]) -> np.ndarray:
    """Ranks of a library among the field, one per problem, by means over the seeds that all of them have."""
    ranks = []
    for libraries in table.values():
        if all(other in libraries for other in field):
            common = set.intersection(*(set(libraries[other]) for other in field))
            if common:
                means = [np.mean([libraries[other][seed] for seed in common]) for other in field]
                ranks.append(rankdata(means)[list(field).index(name)])
    return np.asarray(ranks)


def ranks(table: Scores, libraries: Sequence[str]) -> dict[str, np.ndarray]:
    """Library -> its ranks over the problems. A variant of surefoot is ranked as if it stood in surefoot's place."""
    peers = [name for name in libraries if is_peer(name)]
    ours = [OURS] if OURS in libraries else []
    return {name: _rank_in(table, name, [*(ours if is_peer(name) else [name]), *peers]) for name in libraries}


def mean_ranks(table: Scores, libraries: Sequence[str]) -> dict[str, float]:
    """Mean ranks of the libraries that have scores in this table, among these."""
    field = [name for name in libraries if any(name in found for found in table.values())]
    return {name: float(r.mean()) for name, r in ranks(table, field).items() if len(r)}


@dataclass(frozen=True)
class PairedTest:
    """surefoot's default against another library on one problem, pair by pair."""

    problem: str
    library: str
    n_pairs: int
    ours: float  # mean score of surefoot
    theirs: float
    p_t: float  # paired t-test
    p_w: float  # Wilcoxon's signed rank test
    p_t_holm: float = np.nan  # corrected after Holm over the problems of the suite, for this library
    p_w_holm: float = np.nan

    def label(self, which: str) -> int:
        """1: surefoot is significantly better by that p-value, -1: worse, 0: neither."""
        return int(np.sign(self.theirs - self.ours)) if getattr(self, which) < LEVEL else 0


def paired_tests(table: Scores, libraries: Sequence[str]) -> list[PairedTest]:
    """surefoot against every other library on every problem; at least two pairs are needed."""
    found = []
    for library in libraries:
        rows = []
        for problem, by_library in table.items():
            pairs = sorted(by_library.get(OURS, {}).keys() & by_library.get(library, {}).keys(), key=str)
            if library == OURS or len(pairs) < 2:
                continue
            a, b = (np.asarray([by_library[name][pair] for pair in pairs]) for name in (OURS, library))
            rows.append(
                PairedTest(
                    problem, library, len(pairs), float(a.mean()), float(b.mean()), paired_t(a, b), wilcoxon(a, b)
                )
            )
        t, w = (holm(np.asarray([getattr(row, p) for row in rows])) for p in ("p_t", "p_w"))
        found += [replace(row, p_t_holm=float(t[i]), p_w_holm=float(w[i])) for i, row in enumerate(rows)]
    return found


def against_best(found: Sequence[PairedTest]) -> list[PairedTest]:
    """For every problem the test against the peer of least mean score."""
    best: dict[str, PairedTest] = {}
    for test in found:
        if is_peer(test.library) and (test.problem not in best or test.theirs < best[test.problem].theirs):
            best[test.problem] = test
    return list(best.values())


def worse_than_best(found: Sequence[PairedTest]) -> list[PairedTest]:
    """Where surefoot is significantly worse than the best peer, by either test, without correction: the strict view."""
    return [test for test in against_best(found) if -1 in (test.label("p_t"), test.label("p_w"))]
