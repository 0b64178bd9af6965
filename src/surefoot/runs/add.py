"""Evaluations from elsewhere and points to try first, put into a study.

A table has a column for every parameter, one for the value, and may have `reason`, `status` and columns of outputs:
what `surefoot export` writes can be read, and so can studies themselves (rows.py). A row with a value is an evaluation.
A row whose value is NaN, or that has a reason, is a failure. A row without a value is a point to be evaluated. A row
that the study has already is passed over, so that the same file can be added again after it was interrupted.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from optuna.distributions import CategoricalDistribution
from optuna.study import Study
from optuna.trial import TrialState, create_trial

from surefoot.errors import InvalidInputError, as_reason
from surefoot.expect import nearest
from surefoot.integrations.optuna_history import OUTPUT, REASON, trials_of
from surefoot.integrations.optuna_outputs import constraint_attributes, output_attributes
from surefoot.integrations.optuna_space import contains
from surefoot.optimize.history import VALUE, Evaluation
from surefoot.optimize.outputs import as_share
from surefoot.runs.names import PROGRESS
from surefoot.runs.problem import Problem
from surefoot.runs.rows import Row
from surefoot.runs.tables import RESERVED
from surefoot.runs.values import as_number, value_of

_FAILED = "failed, in {}"  # a failure without a reason
_DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+([eE][+-]?\d+)?")
_TAKEN = ("", "ok", "failed", "outside")  # of the column `status`; what is running, waiting, void or forgotten is left


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


def add_rows(study: Study, problem: Problem, rows: Sequence[Row], origin: str) -> Added:
    """Put every row into the study."""
    names = list(rows[0].cells)
    columns = {name: _column(name, names, problem) for name in problem.parameters}
    value = next((name for name in (problem.evaluator.name, VALUE) if name and name in names), "")
    outputs = _outputs(problem, rows, {*columns.values(), value, VALUE})
    have = {_key(t.params, t.value if t.state == TrialState.COMPLETE else None) for t in trials_of(study)}
    waiting = [t.system_attrs.get("fixed_params") for t in trials_of(study) if t.state == TrialState.WAITING]
    have |= {_key(point, None) for point in waiting if point}
    counts = {"evaluations": 0, "failures": 0, "points": 0, "known": 0}
    outside = []
    for row, where in ((one.cells, one.where) for one in rows):
        if row.get("status", "") not in _TAKEN:
            continue
        x = {n: _value(n, row.get(c, ""), problem, where) for n, c in columns.items()}
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
        told = {name: _number(name, row[name], where) for name in outputs if row.get(name, "").strip()}
        _add(study, problem, x, y if ok else None, told, _about(row, reason or _FAILED.format(origin), where))
        counts["evaluations" if ok else "failures"] += 1
    return Added(**counts, outside=tuple(outside))


def _outputs(problem: Problem, rows: Sequence[Row], others: Collection[str]) -> list[str]:
    """The columns of outputs: those that the problem names; where it names none, all numbers that are nothing else."""
    names = [name for name in rows[0].cells if name not in others]
    results = dict(problem.evaluator.results)
    if results:
        return [name for name in names if name in {*problem.settings.outputs, *results, PROGRESS}]
    return [name for name in names if name not in RESERVED and all(_is_number_or_none(row.cells, name) for row in rows)]


def _is_number_or_none(row: Mapping[str, str], name: str) -> bool:
    try:
        return row.get(name, "").strip() == "" or isinstance(as_number(row[name]), float)
    except ValueError:
        return False


def _about(row: Mapping[str, str], reason: str, where: str) -> dict[str, Any]:
    """What a row tells beside numbers that were computed: why it failed, how long it took, where its files are."""
    duration = row.get("duration_s", "").strip()
    if not duration:
        return {REASON: as_reason(reason)}
    place = {name: row[name] for name in ("host", "folder") if row.get(name)}
    return {REASON: as_reason(reason), OUTPUT: {"duration_s": _number("duration_s", duration, where), **place}}


def _add(
    study: Study, problem: Problem, x: dict[str, Any], y: float | None, told: dict[str, float], about: dict[str, Any]
) -> None:
    """One evaluation as a trial that has ended."""
    objective = problem.evaluator.name or VALUE
    told.pop(objective, None)
    progress = as_share(told.pop(PROGRESS, None))
    outputs = told if y is None else {objective: y, **told}
    fidelity = told.pop("fidelity", math.nan)
    evaluation = Evaluation(
        (), math.nan if y is None else y, objective=objective, further=told, progress=progress, fidelity=fidelity
    )
    attributes = {**about, **output_attributes(evaluation)}
    if y is not None:
        del attributes[REASON]
    constraints = constraint_attributes(outputs, problem.settings.outputs) if y is not None else {}
    state = TrialState.FAIL if y is None else TrialState.COMPLETE
    distributions = dict(problem.parameters)
    study.add_trial(
        create_trial(
            state=state,
            value=y,
            params=x,
            distributions=distributions,
            user_attrs=attributes,
            system_attrs=constraints,
        )
    )


def _column(name: str, columns: Sequence[str], problem: Problem) -> str:
    """The column of a parameter: of its name, perhaps with a unit in brackets; empty if it needs none."""
    for exact in (f"parameter.{name}", name):  # as `surefoot export` names one that has the name of another column
        if exact in columns:
            return exact
    with_unit = [c for c in columns if c.split("[")[0].split("(")[0].strip() == name]
    if len(with_unit) == 1:
        return with_unit[0]
    if problem.parameters[name].single() or name in problem.was:
        return ""
    near = nearest(name, columns)
    attempt = f"renaming {near!r}" if near else "a column of that name"
    raise InvalidInputError(f"expected a column {name!r}; got {', '.join(map(repr, columns))[:500]}; try {attempt}")


def _value(name: str, text: str, problem: Problem, where: str) -> Any:
    """A value of the parameter, as the study keeps it."""
    d, text = problem.parameters[name], text.strip()
    if not text and name in problem.was:
        return problem.was[name]
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
    with_point = text.strip().replace(",", ".", 1)
    hint = f"a decimal point: {with_point}" if _DECIMAL_COMMA.fullmatch(text.strip()) else "mending it"
    return InvalidInputError(f"expected a number as {name} in {where}; got {text[:60]!r}; try {hint}")


def _key(x: Mapping[str, Any], y: float | None) -> tuple[Any, ...]:
    return (tuple(sorted((name, str(value)) for name, value in x.items())), None if y is None else float(y))
