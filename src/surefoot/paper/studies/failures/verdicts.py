"""The default against every other strategy: rank tests over seeds, corrected for their number."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from surefoot.paper.markdown import markdown
from surefoot.paper.statistics import LEVEL, holm, mann_whitney, wilcoxon
from surefoot.paper.studies.failures.runs import Runs
from surefoot.paper.studies.failures.strategies import OTHERS, OURS

BUDGETS = (100, 200)  # evaluations after which runs are compared, where they are that long
DEFAULT = "default"
FEW_PAIRS = 6  # fewer pairs cannot be significant at 5 %
FEW_RUNS = 5  # fewer runs that are no pairs are not tested


@dataclass(frozen=True)
class Verdict:
    """The default against another strategy on one problem."""

    problem: str
    policy: str
    strategy: str
    n: int
    what: str  # "regret" or "failed"
    gain: float  # median of the other's minus the default's: above 0 the default is better
    p: float  # corrected after Holm over the whole study

    @property
    def sign(self) -> int:
        """1: the default is significantly better, -1: worse."""
        return 0 if math.isnan(self.p) or self.p >= LEVEL else int(np.sign(self.gain))


def budgets_of(runs: Sequence[Runs]) -> list[int]:
    """Those that some run has reached; of a shorter study its own length."""
    longest = max(r.longest for r in runs)
    return [n for n in BUDGETS if n <= longest] or [longest]


def verdicts(runs: Sequence[Runs], *, paired: bool = True) -> list[Verdict]:
    """Every test: Wilcoxon's over the seeds that both have; of runs that are no pairs Mann and Whitney's over all."""
    by_key = {(r.problem, r.policy, r.strategy): r for r in runs}
    found: list[Verdict] = []
    for other in runs:
        mine = by_key.get((other.problem, other.policy, DEFAULT))
        if mine is None or other.strategy == DEFAULT:
            continue
        for n in budgets_of(runs):
            common = sorted(set(mine.seeds(n)) & set(other.seeds(n)))
            if not common:
                continue
            for what in ("regret", "failed"):
                a, b = (getattr(r, what)(n, common if paired else r.seeds(n)) for r in (mine, other))
                gain, p = in_pairs(a, b) if paired else _apart(a, b)
                found.append(Verdict(other.problem, other.policy, other.strategy, n, what, gain, p))
    return corrected(found)


def corrected(found: Sequence[Verdict]) -> list[Verdict]:
    """The same with p corrected after Holm over all of them."""
    return [replace(v, p=float(p)) for v, p in zip(found, holm(np.asarray([v.p for v in found])), strict=True)]


def in_pairs(a: np.ndarray, b: np.ndarray) -> tuple[float, float]:
    """The median of b - a, and p of Wilcoxon's test, not corrected."""
    gain = float(np.median(b - a)) or float(np.mean(b - a))
    return gain, wilcoxon(a, b) if len(a) >= FEW_PAIRS else math.nan


def _apart(a: np.ndarray, b: np.ndarray) -> tuple[float, float]:
    gain = float(np.median(b) - np.median(a)) or float(np.mean(b) - np.mean(a))
    return gain, mann_whitney(a, b) if min(len(a), len(b)) >= FEW_RUNS else math.nan


def ordered(strategies: Iterable[str]) -> list[str]:
    """The strategies that there are, in the order in which they are shown."""
    here = list(dict.fromkeys(strategies))
    order = [name for name in OURS if name in here]
    order += [name for name in here if name not in OURS and name not in OTHERS]  # variants of somebody else
    return order + [name for name in OTHERS if name in here]


def verdict_table(runs: Sequence[Runs], found: Sequence[Verdict]) -> str:
    """On how many problems the default is significantly better and worse than each other strategy."""
    budgets = budgets_of(runs)
    rows = [["strategy", *(f"{what}, n = {n}" for n in budgets for what in ("regret", "failures")), "seeds"]]
    for strategy in ordered(r.strategy for r in runs):
        if strategy == DEFAULT:
            continue
        cells = []
        for n in budgets:
            for what in ("regret", "failed"):
                signs = [v.sign for v in found if (v.strategy, v.n, v.what) == (strategy, n, what)]
                cells.append(f"{signs.count(1)} / {signs.count(-1)} of {len(signs)}" if signs else "")
        seeds = [len(r.all_seeds) for r in runs if r.strategy == strategy]
        span = f"{min(seeds)}" if min(seeds) == max(seeds) else f"{min(seeds)} to {max(seeds)}"
        rows.append([strategy, *cells, span])
    return markdown(rows)


def counted(found: Sequence[Verdict]) -> str:
    """The same from the tests alone, of one number of evaluations."""
    rows = [["strategy", "regret", "failures"]]
    for strategy in dict.fromkeys(v.strategy for v in found):
        signs = [[v.sign for v in found if (v.strategy, v.what) == (strategy, what)] for what in ("regret", "failed")]
        rows.append([strategy, *(f"{s.count(1)} / {s.count(-1)} of {len(s)}" for s in signs)])
    return markdown(rows)


def listed(found: Sequence[Verdict]) -> str:
    """Every significant difference; nothing where there is none."""
    rows = [["problem", "policy", "strategy", "n", "the default is", "median difference", "p"]]
    for v in found:
        if v.sign:
            word = "better" if v.sign > 0 else "worse"
            what = f"{word} in {'log10 regret' if v.what == 'regret' else 'failures'}"
            rows.append([v.problem, v.policy, v.strategy, str(v.n), what, f"{-v.gain:.2f}", f"{v.p:.1g}"])
    return markdown(rows) if len(rows) > 1 else ""
