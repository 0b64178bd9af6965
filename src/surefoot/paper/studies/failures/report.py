"""What the failures study shows in the end: tables and figures of both groups of problems."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from surefoot.errors import InvalidInputError, UnknownNameError
from surefoot.paper.studies.failures import figures, limits_figure, limits_tables, paper_tables, verdicts
from surefoot.paper.studies.failures.constrained import LIMITS, PAPER, get_constrained, group_of, groups
from surefoot.paper.studies.failures.runs import Runs, read_runs, recorded_runs
from surefoot.paper.studies.failures.study import Case, n_initial


def problems_of(named_groups: Sequence[str], names: Sequence[str]) -> list[str]:
    """Problems by the names of groups and their own; all, if there are none."""
    for group in named_groups:
        if group not in groups():
            raise UnknownNameError(f"expected a group among {', '.join(groups())}; got {group!r}; try {LIMITS}")
    found = [name for group in named_groups for name in groups()[group]] + [get_constrained(n).name for n in names]
    return list(dict.fromkeys(found)) or [name for group in groups().values() for name in group]


def write(todo: Sequence[Case], raw: Path, out: Path) -> Iterator[str]:
    """Write tables and figures of the runs that are there; yields what to print."""
    of_paper = [case for case in todo if group_of(case.problem) == PAPER and (raw / case.file_name).exists()]
    if of_paper:
        rows = paper_tables.summarize(of_paper, raw, out / "runs.csv")
        yield paper_tables.write_tables(rows, out)
        against = _against_the_default(rows, max(case.n_evals for case in of_paper))
        if against:
            (out / "verdicts.md").write_text(against, encoding="utf-8")
            yield against
        yield from (f"figure: {path}" for path in figures.draw(of_paper, rows, raw, out))
    runs = _on_limits(todo, raw, out)
    if runs:
        yield limits_tables.write_limits(runs, out)
        yield f"figure: {limits_figure.draw(limits_figure.places_of(runs), out / 'limits.png')}"
    if not of_paper:
        rows = paper_tables.summarize([], raw, out / "runs.csv")
        if rows:
            yield from (f"figure: {path}" for path in figures.draw([], rows, raw, out))
        if not rows and not runs:
            raise InvalidInputError(f"expected runs in {raw}; got none; try the study without --only-tables")


def _on_limits(todo: Sequence[Case], raw: Path, out: Path) -> list[Runs]:
    """Those on problems with limits; combinations whose files are gone are as limits-runs.csv has them."""
    asked = list(dict.fromkeys(case.problem for case in todo if group_of(case.problem) == LIMITS))
    if not asked:
        return []
    runs = read_runs(raw, asked)
    here = {(r.problem, r.strategy) for r in runs}
    gone = [r for r in recorded_runs(out / "limits-runs.csv", n_initial) if (r.problem, r.strategy) not in here]
    order = {name: i for i, name in enumerate(groups()[LIMITS])}
    return sorted([*runs, *gone], key=lambda r: order[r.problem])


def _against_the_default(rows: Sequence[paper_tables.Row], n: int) -> str:
    """What the tests say of the default on the paper's problems; nothing where it did not run."""
    found = paper_tables.against_the_default(rows, n)
    if not found:
        return ""
    intro = (
        "The default against each other strategy: problems and policies on which it is significantly better / worse"
        " (Wilcoxon signed rank over seeds, Holm over the whole study, 5 %)."
    )
    return "\n".join([intro, "", verdicts.counted(found), verdicts.listed(found)])
