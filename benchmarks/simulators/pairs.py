"""The default against every other strategy over all problems: a pair is a problem and a seed, from the same design.

Few seeds say little about one problem. A sign test over all pairs asks whether the default is the better one more often
than not, whatever the units of the problems are. p is corrected after Holm for all tests of the table.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from benchmarks.simulators.runs import SimulatorRuns
from surefoot.paper.markdown import markdown
from surefoot.paper.statistics import LEVEL, holm
from surefoot.paper.studies.failures.verdicts import DEFAULT, ordered

_WHAT = ("regret", "failed")


@dataclass(frozen=True)
class Count:
    """Pairs in which the default has less, as much, more."""

    strategy: str
    what: str  # "regret" or "failed"
    less: int
    equal: int
    more: int
    p: float


def counts(runs: Sequence[SimulatorRuns]) -> list[Count]:
    """Of every other strategy, at the full length of the runs."""
    found = [
        _count(runs, strategy, what)
        for strategy in ordered(r.strategy for r in runs)
        if strategy != DEFAULT
        for what in _WHAT
    ]
    corrected = holm(np.asarray([count.p for count in found]))
    return [replace(count, p=float(p)) for count, p in zip(found, corrected, strict=True)]


def _count(runs: Sequence[SimulatorRuns], strategy: str, what: str) -> Count:
    from scipy.stats import binomtest

    gaps: list[float] = []
    for mine, other in ((a, b) for a in runs for b in runs if a.problem == b.problem):
        if (mine.strategy, other.strategy) == (DEFAULT, strategy):
            seeds = sorted(set(mine.values) & set(other.values))
            n = min(len(y) for r in (mine, other) for y in r.values.values())
            gaps += (getattr(mine, what)(n, seeds) - getattr(other, what)(n, seeds)).tolist()
    less, more = sum(gap < 0 for gap in gaps), sum(gap > 0 for gap in gaps)
    p = float(binomtest(less, less + more).pvalue) if less + more else np.nan
    return Count(strategy, what, less, len(gaps) - less - more, more, p)


def pairs_table(runs: Sequence[SimulatorRuns]) -> str:
    """One row a strategy; significant differences in bold."""
    rows = [["strategy", "pairs", "regret: less / equal / more", "p", "failures: fewer / equal / more", "p"]]
    found = {(count.strategy, count.what): count for count in counts(runs)}
    for strategy in dict.fromkeys(count.strategy for count in found.values()):
        cells = []
        for what in _WHAT:
            count = found[strategy, what]
            text = f"{count.less} / {count.equal} / {count.more}"
            cells += [f"**{text}**" if count.p < LEVEL else text, "" if np.isnan(count.p) else f"{count.p:.1g}"]
        total = found[strategy, "regret"]
        rows.append([strategy, str(total.less + total.equal + total.more), *cells])
    return markdown(rows)
