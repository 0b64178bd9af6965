"""Evaluations from elsewhere and points to try first, put into a study.

A table has a column for every parameter, one for the value, and may have `reason`, `status` and columns of outputs:
what `surefoot export` writes can be read. A row with a value is an evaluation. A row whose value is NaN, or that has a
reason, is a failure. A row without a value is a point to be evaluated. A row that the study has already is passed over,
so that the same file can be added again after it was interrupted.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from optuna.distributions import BaseDistribution, CategoricalDistribution
from optuna.study import Study
from optuna.trial import TrialState, create_trial

from surefoot.errors import InvalidInputError, as_reason
from surefoot.expect import expect, nearest
from surefoot.integrations.optuna_history import REASON, trials_of
from surefoot.integrations.optuna_outputs import constraint_attributes, output_attributes
from surefoot.optimize.history import VALUE, Evaluation
from surefoot.optimize.outputs import as_share
from surefoot.runs.names import PROGRESS
from surefoot.runs.problem import Problem
from surefoot.runs.values import as_number, contains, value_of

_MOST_BYTES = 256 * 2**20
_FAILED = "failed, in {}"  # a failure without a reason
_TAKEN = ("", "ok", "failed")  # of the column `status`; what is running, waiting, void or forgotten is left
Row = Mapping[str, str]


@dataclass(frozen=True)
class Added:
    """What became of the rows of a table."""

    evaluations: int = 0
    failures: int = 0
    points: int = 0  # to be evaluated
    known: int = 0  # rows that the study had already
    outside: tuple[str, ...] = ()  # rows outside the bounds, and which parameter is

    def told(self) -> str:
        """For people."""
        parts = [
            (self.evaluations, "evaluation", "added"),
            (self.failures, "failure", "added"),
            (self.points, "point", "to be evaluated first"),
            (self.known, "row", "known already"),
            (len(self.outside), "row", "outside the bounds, left out"),
        ]
        said = [f"{n} {what}{'s' * (n != 1)} {how}" for n, what, how in parts if n]
        return ", ".join(said) or "nothing to add"


def read_table(path: Path) -> list[Row]:
    """The rows of a CSV file."""
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise OSError(f"more than {_MOST_BYTES >> 20} MiB")
        with path.open(newline="", encoding="utf-8-sig") as file:
            first = file.readline()
            file.seek(0)
            mark = max(",;\t", key=first.count)
            reader = csv.DictReader(file, delimiter=mark, skipinitialspace=True, restval="")
            rows: list[Row] = [{k.strip(): v for k, v in row.items() if k and isinstance(v, str)} for row in reader]
    except (OSError, ValueError, csv.Error) as error:
        raise InvalidInputError(
            f"expected a table as CSV with a line of names; got {str(path)!r} ({error}); try surefoot export's format"
        ) from None
    expect(bool(rows), "a table with rows", str(path), "a CSV file whose first line has the names of the parameters")
    return rows


def add_rows(study: Study, problem: Problem, rows: Sequence[Row], origin: str) -> Added:
    """Put every row into the study."""
    names = list(rows[0])
    columns = {name: _column(name, names, d) for name, d in problem.parameters.items()}
    value = next((name for name in (problem.evaluator.name, VALUE) if name and name in names), "")
    outputs = [
        name for name in {*problem.settings.outputs, *dict(problem.evaluator.results), PROGRESS} if name in names
    ]
    have = {_key(t.params, t.value if t.state == TrialState.COMPLETE else None) for t in trials_of(study)}
    waiting = [t.system_attrs.get("fixed_params") for t in trials_of(study) if t.state == TrialState.WAITING]
    have |= {_key(point, None) for point in waiting if point}
    counts = {"evaluations": 0, "failures": 0, "points": 0, "known": 0}
    outside = []
    for number, row in enumerate(rows, 2):
        if row.get("status", "") not in _TAKEN:
            continue
        where = f"line {number} of {origin}"
        x = {n: _value(n, row.get(c, ""), problem.parameters[n], where) for n, c in columns.items()}
        wrong = [n for n, v in x.items() if not contains(problem.parameters[n], v)]
        if wrong:
            outside.append(f"{where}: {wrong[0]} = {x[wrong[0]]}")
            continue
        text, reason = row.get(value, "").strip() if value else "", row.get("reason", "").strip()
        y = _number(value, text, where) if text else math.nan
        ok, failed = math.isfinite(y), bool(text or reason or row.get("status") == "failed")
        key = _key(x, y if ok else None)
        if key in have:
            counts["known"] += 1
            continue
        have.add(key)
        if not ok and not failed:
            study.enqueue_trial(x)
            counts["points"] += 1
            continue
        told = {name: _number(name, row[name], where) for name in outputs if row[name].strip()}
        _add(study, problem, x, y if ok else None, reason or _FAILED.format(origin), told)
        counts["evaluations" if ok else "failures"] += 1
    return Added(**counts, outside=tuple(outside))


def _add(
    study: Study, problem: Problem, x: dict[str, Any], y: float | None, reason: str, told: dict[str, float]
) -> None:
    """One evaluation as a trial that has ended."""
    objective = problem.evaluator.name or VALUE
    told.pop(objective, None)
    progress = as_share(told.pop(PROGRESS, None))
    outputs = told if y is None else {objective: y, **told}
    evaluation = Evaluation((), math.nan if y is None else y, objective=objective, further=told, progress=progress)
    attributes = dict(output_attributes(evaluation))
    if y is None:
        attributes[REASON] = as_reason(reason)
    elif problem.settings.outputs:
        attributes |= constraint_attributes(outputs, problem.settings.outputs)
    state = TrialState.FAIL if y is None else TrialState.COMPLETE
    distributions = dict(problem.parameters)
    study.add_trial(create_trial(state=state, value=y, params=x, distributions=distributions, user_attrs=attributes))


def _column(name: str, columns: Sequence[str], d: BaseDistribution) -> str:
    """The column of a parameter: of its name, perhaps with a unit in brackets; a parameter that is fixed needs none."""
    if name in columns:
        return name
    with_unit = [c for c in columns if c.split("[")[0].split("(")[0].strip() == name]
    if len(with_unit) == 1:
        return with_unit[0]
    if d.single():
        return ""
    near = nearest(name, columns)
    attempt = f"renaming {near!r}" if near else "a column of that name"
    raise InvalidInputError(f"expected a column {name!r}; got {', '.join(map(repr, columns))[:500]}; try {attempt}")


def _value(name: str, text: str, d: BaseDistribution, where: str) -> Any:
    """A value of the parameter, as the study keeps it."""
    text = text.strip()
    if not text and d.single():
        return d.choices[0] if isinstance(d, CategoricalDistribution) else d.low  # type: ignore[attr-defined]
    try:
        return value_of(d, text)
    except ValueError:
        raise _no_number(name, text, where) from None


def _number(name: str, text: str, where: str) -> float:
    try:
        return as_number(text)
    except ValueError:
        raise _no_number(name, text, where) from None


def _no_number(name: str, text: str, where: str) -> InvalidInputError:
    return InvalidInputError(f"expected a number as {name} in {where}; got {text[:60]!r}; try mending it")


def _key(x: Mapping[str, Any], y: float | None) -> tuple[Any, ...]:
    return (tuple(sorted((name, str(value)) for name, value in x.items())), None if y is None else float(y))
