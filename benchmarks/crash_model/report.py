"""What the scores say: means, and every cell in which a model is worse than it should be.

A model should be below the base rate's log loss in every cell, and at most 10 % above the best reference's.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.crash_model.references import BASE_RATE, REFERENCES
from benchmarks.crash_model.scoring import SCORES
from surefoot.paper.markdown import markdown
from surefoot.paper.statistics import standard_error

MOST_ABOVE = 1.1  # times the log loss of the best reference
ROUNDING = 1.0005  # no worse than the base rate: up to this factor


@dataclass(frozen=True)
class Scored:
    """The scores of a model or a reference on a cell."""

    model: str
    group: str
    problem: str
    n: int
    scores: np.ndarray  # (R, 4)

    @property
    def loss(self) -> float:
        """Mean log loss."""
        return float(np.mean(self.scores[:, 0]))


@dataclass(frozen=True)
class Fault:
    """A cell in which a model is worse than it should be."""

    scored: Scored
    best: Scored  # the best reference there
    base: Scored

    @property
    def above_base(self) -> bool:
        """Whether it is worse than the base rate."""
        return self.scored.loss > ROUNDING * self.base.loss

    @property
    def ratio(self) -> float:
        """To the best reference."""
        return self.scored.loss / self.best.loss


def faults(scored: Sequence[Scored], model: str) -> list[Fault]:
    """Of a model, the worst first."""
    by_cell: dict[tuple[str, str, int], dict[str, Scored]] = {}
    for s in scored:
        by_cell.setdefault((s.group, s.problem, s.n), {})[s.model] = s
    found = []
    for names in by_cell.values():
        if model in names and all(name in names for name in REFERENCES):
            best = min((names[name] for name in REFERENCES), key=lambda s: s.loss)
            fault = Fault(names[model], best, names[BASE_RATE])
            if fault.above_base or fault.ratio > MOST_ABOVE:
                found.append(fault)
    return sorted(found, key=lambda fault: -fault.ratio)


def text(scored: Sequence[Scored]) -> str:
    """The whole report as Markdown."""
    return "\n\n".join(part.rstrip("\n") for part in _parts(scored)) + "\n"


def _parts(scored: Sequence[Scored]) -> Iterator[str]:
    models = [m for m in dict.fromkeys(s.model for s in scored) if m not in REFERENCES]
    order = [*REFERENCES, *models]
    for group in dict.fromkeys(s.group for s in scored):
        here = [s for s in scored if s.group == group]
        n_problems = len({s.problem for s in here})
        yield f"## {group}: {n_problems} problems"
        yield _means(here, order)
        yield "Mean log loss of each problem."
        yield _by_problem(here, order)
    for model in models:
        found = faults(scored, model)
        yield f"## {model}: cells above the base rate, or more than 10 % above the best reference ({len(found)})"
        if found:
            yield _faults(found)


def _means(scored: Sequence[Scored], order: Sequence[str]) -> str:
    sizes = sorted({s.n for s in scored})
    head = [f"{SCORES[0]}, n = {n}" for n in sizes] + [f"{name}, {_listed(sizes)}" for name in SCORES[1:]]
    rows = [["model", *head, "above base rate", "above 1.1 best", "cells"]]
    for model in order:
        own = {n: [s for s in scored if s.model == model and s.n == n] for n in sizes}
        if not any(own.values()):
            continue
        cells = [f"{_mean(own[n], 0):.4f}" for n in sizes]
        cells += [" / ".join(f"{_mean(own[n], k):.3f}" for n in sizes) for k in (1, 2, 3)]
        found = faults(scored, model)
        worse = [str(sum(f.above_base for f in found)), str(sum(f.ratio > MOST_ABOVE for f in found))]
        rows.append([model, *cells, *worse, str(sum(map(len, own.values())))])
    return markdown(rows)


def _listed(sizes: Sequence[int]) -> str:
    return "n = " + " / ".join(map(str, sizes))


def _mean(scored: Sequence[Scored], which: int) -> float:
    return float(np.mean([np.mean(s.scores[:, which]) for s in scored])) if scored else np.nan


def _by_problem(scored: Sequence[Scored], order: Sequence[str]) -> str:
    by_key = {(s.model, s.problem, s.n): s for s in scored}
    models = [m for m in order if any(s.model == m for s in scored)]
    rows = [["problem", "n", *models]]
    for problem, n in dict.fromkeys((s.problem, s.n) for s in scored):
        cells = [by_key.get((model, problem, n)) for model in models]
        rows.append([problem, str(n), *("" if s is None else f"{s.loss:.3f}" for s in cells)])
    return markdown(rows)


def _faults(found: Sequence[Fault]) -> str:
    rows = [["problem", "group", "n", "log loss", "base rate", "best reference", "ratio", "difference to the best"]]
    for fault in found:
        s = fault.scored
        gap = s.scores[:, 0] - fault.best.scores[:, 0]  # design by design: they share their labels
        rows.append(
            [s.problem, s.group, str(s.n), _with_error(s.scores[:, 0]),
             f"{fault.base.loss:.3f}{' !' if fault.above_base else ''}", f"{fault.best.model} {fault.best.loss:.3f}",
             f"{fault.ratio:.2f}", _with_error(gap)]
        )  # fmt: skip
    return markdown(rows)


def _with_error(values: np.ndarray) -> str:
    error = standard_error(values) if len(values) > 1 else np.nan
    return f"{np.mean(values):.3f} ± {error:.3f}"
