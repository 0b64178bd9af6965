"""How far readings of the paper's search agree with its labels: beyond chance, beside a ceiling, and by likelihood.

Reads the distances.csv of studies that differ in their reading. The first five seeds of each are compared with the
paper, which has five; where a study has ten or more, disjoint sets of five of them say how far the same program agrees
with itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from surefoot.errors import InvalidInputError
from surefoot.paper.labels.comparisons import NAIVE, Agreement, Labels, agreement, compare, labels
from surefoot.paper.labels.likelihood import (
    GROUP,
    constants,
    label_probabilities,
    log_likelihoods,
    mix,
    smoothed,
)
from surefoot.paper.labels.printed import EVALUATIONS, KERNELS, POLICIES, paper_labels
from surefoot.paper.markdown import markdown
from surefoot.paper.studies.benchmark.recorded import read_distances

N_SPLITS = 100  # of the seeds into two sets of five
OURS = "ScaledEI"
GUESS = "better than RND, equal to all others"

Cells = Mapping[tuple[str, str], np.ndarray]
Key = tuple[str, int]  # kernel, n


@dataclass(frozen=True)
class Reading:
    """One study: the distances of each table of the paper that it reached."""

    name: str
    tables: Mapping[Key, Cells]

    def gaps(self, key: Key, cell: tuple[str, str]) -> np.ndarray:
        """Differences of log10 distances, ScaledEI less the policy, of the first five seeds."""
        cells = self.tables[key]
        return (cells[cell[0], OURS] - cells[cell])[:GROUP]


@dataclass(frozen=True)
class Likelihood:
    """Of the paper's labels beside RND, under one reading."""

    by_kernel: Mapping[str, float]  # log-likelihoods, smoothed
    gains: Mapping[str, float]  # over constants, of each problem
    share: float  # of the mixture with constants
    mixture_gain: float


def read_readings(folders: Sequence[Path]) -> list[Reading]:
    """The studies, each named by its search; of a study that was stopped the tables that it has completed."""
    readings = []
    for folder in folders:
        tables: dict[str, dict[Key, Cells]] = {}
        recorded = read_distances(folder)
        runs = {cell for cells in recorded.values() for cell in cells if cell[1] in (*POLICIES, OURS)}
        for (search, kernel, n), cells in recorded.items():
            wanted = {key: values for key, values in cells.items() if key in runs}
            complete = wanted.keys() == runs and any(policy == OURS for _, policy in runs)
            if n in EVALUATIONS and kernel in KERNELS and complete:
                tables.setdefault(search, {})[kernel, n] = wanted
        readings += [Reading(search, found) for search, found in tables.items()]
    few = [r.name for r in readings if min(len(v) for cells in r.tables.values() for v in cells.values()) < GROUP]
    if not readings or few:
        raise InvalidInputError(
            f"expected studies with ScaledEI and {GROUP} seeds; got {', '.join(few) or 'none'}; "
            f"try surefoot study benchmark --seeds {GROUP}"
        )
    return readings


def _labels(cells: Cells, seeds: Sequence[int] | np.ndarray) -> Labels:
    return labels(compare({key: values[seeds][:, None] for key, values in cells.items()}, 1))


def ceiling(cells: Cells) -> Agreement:
    """How far two disjoint sets of five seeds of one study agree, on average over random splits; kappa too."""
    n_seeds = min(len(values) for values in cells.values())
    rng = np.random.default_rng(0)
    found = []
    for _ in range(N_SPLITS):
        order = rng.permutation(n_seeds)
        found.append(agreement(_labels(cells, order[:GROUP]), _labels(cells, order[GROUP : 2 * GROUP])))
    means = {name: float(np.mean([getattr(a, name) for a in found])) for name in ("equal", "n_significant", "n_found")}
    kappa = float(np.nanmean([a.kappa for a in found]))
    counts = {name: round(value) for name, value in means.items()}
    return Agreement(counts["equal"], found[0].n, math.nan, math.nan, kappa, counts["n_significant"], counts["n_found"])


def _beside_the_paper(reading: Reading, key: Key) -> Agreement:
    return agreement(_labels(reading.tables[key], np.arange(GROUP)), paper_labels()[key])


def _guess(key: Key) -> Agreement:
    theirs = paper_labels()[key]
    return agreement({cell: int(cell[1] == NAIVE) for cell in theirs}, theirs)


def likelihood(reading: Reading) -> Likelihood:
    """How likely the paper's labels are under a reading, in all tables that it reached."""
    keys = [
        (key, cell)
        for key in reading.tables
        for cell in paper_labels()[key]
        if cell[1] != NAIVE and cell in reading.tables[key]
    ]
    theirs = [paper_labels()[key][cell] for key, cell in keys]
    p = np.stack([label_probabilities(reading.gaps(key, cell)) for key, cell in keys])
    each = log_likelihoods(smoothed(p), theirs)
    known = log_likelihoods(np.broadcast_to(constants(theirs), p.shape), theirs)
    kernels = np.asarray([key[0] for key, _ in keys])
    problems = np.asarray([cell[0] for _, cell in keys])
    mixture = mix(p, theirs)
    return Likelihood(
        {kernel: float(each[kernels == kernel].sum()) for kernel in KERNELS if (kernels == kernel).any()},
        {str(name): float(np.sum((each - known)[problems == name])) for name in np.unique(problems)},
        mixture.share,
        mixture.log_likelihood - float(known.sum()),
    )


def _sum(by_problem: Sequence[float]) -> str:
    """A sum over problems with its standard error: the cells of a problem hang together, problems do not."""
    error = math.sqrt(len(by_problem)) * float(np.std(by_problem, ddof=1)) if len(by_problem) > 1 else math.nan
    return f"{sum(by_problem):.1f} ± {error:.1f}"


def _rows_of(readings: Sequence[Reading], keys: Sequence[Key]) -> list[tuple[str, dict[Key, Agreement]]]:
    """The agreements of each reading, of the guess, and of studies with themselves."""
    rows = [(r.name, {key: _beside_the_paper(r, key) for key in keys if key in r.tables}) for r in readings]
    rows.append((GUESS, {key: _guess(key) for key in keys}))
    for r in readings:
        if min(len(values) for cells in r.tables.values() for values in cells.values()) >= 2 * GROUP:
            own = {key: ceiling(r.tables[key]) for key in keys if key in r.tables}
            rows.append((f"{r.name}: five seeds beside five others", own))
    return rows


def agreement_tables(readings: Sequence[Reading]) -> str:
    """Three tables: shares of equal labels, kappa without RND, significant labels found."""
    keys = [(kernel, n) for kernel in KERNELS for n in EVALUATIONS if any((kernel, n) in r.tables for r in readings)]
    header = [f"{'SE' if kernel == 'se' else 'Matérn'}, n = {n}" for kernel, n in keys]
    rows = _rows_of(readings, keys)
    shown: dict[str, Callable[[Agreement], str]] = {
        "Labels equal to the paper's": lambda a: f"{100 * a.share:.0f} %",
        "Cohen's kappa without RND: 1 all, 0 chance": lambda a: f"{a.kappa:.2f}",
        "Significant labels of the paper, without RND, that are found": lambda a: f"{a.n_found} of {a.n_significant}",
    }
    parts = []
    for title, cell in shown.items():
        lines = [[name, *(cell(found[key]) if key in found else "" for key in keys)] for name, found in rows]
        parts.append(f"{title}:\n\n" + markdown([["", *header], *lines]))
    return "\n".join(parts)


def likelihood_tables(readings: Sequence[Reading]) -> str:
    """The readings by the tables that all of them have completed; those that have completed more, by all of theirs."""
    common = set.intersection(*(set(r.tables) for r in readings))
    most = max(len(r.tables) for r in readings)
    groups = [(readings, common)] if common else []
    longest = [r for r in readings if len(r.tables) == most]
    if most > len(common):
        groups.append((longest, set(longest[0].tables)))
    parts = []
    for some, keys in groups:
        own = [Reading(r.name, {key: r.tables[key] for key in r.tables if key in keys}) for r in some]
        told = ", ".join(
            f"{'SE' if k == 'se' else 'Matérn'} n = {n}" for k in KERNELS for n in EVALUATIONS if (k, n) in keys
        )
        parts.append(f"By likelihood, in the tables {told}:\n\n{_likelihood_table(own)}")
    return "\n".join(parts)


def _likelihood_table(readings: Sequence[Reading]) -> str:
    """A row a reading: how much likelier or less likely it makes the paper's labels than constants do."""
    header = ["reading", "log-likelihood, SE", "Matérn", "gain over constants", "gain over the first reading"]
    rows = [[*header, "likeliest share", "gain over constants with it"]]
    found = [likelihood(reading) for reading in readings]
    for reading, one in zip(readings, found, strict=True):
        by_kernel = [f"{one.by_kernel[kernel]:.1f}" if kernel in one.by_kernel else "" for kernel in KERNELS]
        beside = [one.gains[name] - found[0].gains[name] for name in one.gains if name in found[0].gains]
        gains = [_sum(list(one.gains.values())), "" if one is found[0] else _sum(beside)]
        rows.append([reading.name, *by_kernel, *gains, f"{one.share:.2f}", f"{one.mixture_gain:.1f}"])
    return markdown(rows)


EXPLAINED = f"""Log-likelihood: our first {GROUP} seeds are drawn with replacement in groups of {GROUP}, the paper's
number of runs; the share of groups with the paper's label, smoothed as if one seed in {GROUP + 1} could say anything,
is its probability; sums of natural logarithms over all cells without RND. Constants: the frequencies of the paper's own
labels in these cells, whatever the problem and the policy. Gains have their standard error over the problems.
Likeliest share: the w of the mixture w ours + (1 - w) constants, unsmoothed; 0: ours add nothing.
"""


def write(folders: Sequence[Path], out: Path, heading: str) -> str:
    """agreement.md; returns its text."""
    readings = read_readings(folders)
    out.mkdir(parents=True, exist_ok=True)
    text = f"{heading}\n\n{agreement_tables(readings)}\n{likelihood_tables(readings)}\n{EXPLAINED}"
    (out / "agreement.md").write_text(text, encoding="utf-8")
    return text
