"""Evaluations from elsewhere and points to try first, put into a study.

A table has a column for every parameter, one for the value, and may have `reason`, `status` and columns of outputs:
what `surefoot export` writes can be read, and so can studies themselves (rows.py). A row with a value is an evaluation.
A row whose value is NaN, or that has a reason, is a failure. A row without a value is a point to be evaluated. A table
is added in one transaction, all of it or none. A row that the study has already is passed over, so that the same file
can be added again.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from optuna.distributions import CategoricalDistribution
from optuna.study import Study
from optuna.trial import FrozenTrial, TrialState, create_trial

from surefoot.errors import InvalidInputError, as_reason
from surefoot.expect import nearest
from surefoot.integrations.optuna_history import OUTPUT, REASON, VOID, trials_of
from surefoot.integrations.optuna_outputs import constraint_attributes, output_attributes
from surefoot.integrations.optuna_space import contains
from surefoot.optimize.history import VALUE, Evaluation
from surefoot.optimize.outputs import as_share
from surefoot.runs.ends import add_together, waiting
from surefoot.runs.names import PROGRESS
from surefoot.runs.problem import Problem
from surefoot.runs.rows import Row
from surefoot.runs.tables import RESERVED
from surefoot.runs.values import as_number, domain_of, value_of

_FAILED = "failed, in {}"  # a failure without a reason
_DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+([eE][+-]?\d+)?")
Key = tuple[tuple[tuple[str, str], ...], float | str]  # the point, and the value, "failed" or "queued"
_TAKEN = ("", "ok", "failed", "outside")  # of the column `status`; what is running, waiting, void or forgotten is left


@dataclass(frozen=True)
class Added:
    """What became of the rows of a table."""

    evaluations: int = 0
    failures: int = 0
    points: int = 0  # to be evaluated
    known: int = 0  # rows that the study had already
    outside: tuple[str, ...] = ()  # rows outside the bounds, and which parameter is
    columns: tuple[str, ...] = ()  # what to know of the columns: that none has the value, which are not used

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


@dataclass(frozen=True)
class _Columns:
    """Which columns of a table are what."""

    parameters: Mapping[str, str]  # by the parameter's name; empty where it needs none
    value: str  # empty: there is none
    outputs: Sequence[str]
    unused: Sequence[str]

    @classmethod
    def of(cls, problem: Problem, rows: Sequence[Row]) -> _Columns:
        """The columns of a table as the problem names them."""
        names = list(rows[0].cells)
        parameters = {name: _column(name, names, problem) for name in problem.parameters}
        value = next((name for name in (problem.evaluator.name, VALUE) if name and name in names), "")
        outputs = _outputs(problem, rows, {*parameters.values(), value, VALUE})
        used = {*parameters.values(), value, *outputs, *(name for name in RESERVED if name != VALUE), PROGRESS}
        return cls(parameters, value, outputs, [name for name in names if name not in used])

    def told(self, objective: str) -> Iterator[str]:
        """What who added the table may not expect."""
        if not self.value:
            wanted = " or ".join(repr(name) for name in dict.fromkeys((objective, VALUE)))
            near = nearest(objective, [*self.unused, *self.outputs])
            yield f"no column {wanted}: no row has a value{f'; is it the column {near!r}?' if near else ''}"
        if self.unused:
            yield f"not used: {', '.join(map(repr, self.unused))[:200]}"


@dataclass(frozen=True)
class _Read:
    """A row as a trial: what tells it from others, and as what it is counted."""

    key: Key
    kind: str
    trial: FrozenTrial


def add_rows(study: Study, problem: Problem, rows: Sequence[Row], origin: str) -> Added:
    """Put every row into the study, all together or, if this process dies, none."""
    columns = _Columns.of(problem, rows)
    read, outside = _read(problem, rows, columns, origin)
    told = tuple(columns.told(problem.evaluator.name or VALUE))
    while True:
        trials = trials_of(study)
        have = {key for trial in trials for key in _keys(trial)}
        new = []
        for one in read:
            if one.key not in have:
                have |= {one.key, *_keys(one.trial)}
                new.append(one)
        if add_together(study, [one.trial for one in new], len(trials)):  # else others have added some meanwhile
            counts = Counter(one.kind for one in new)
            return Added(**counts, known=len(read) - len(new), outside=tuple(outside), columns=told)


def _read(problem: Problem, rows: Sequence[Row], columns: _Columns, origin: str) -> tuple[list[_Read], list[str]]:
    """The rows as trials, and those that are outside; nothing is written, so that a bad row leaves nothing behind."""
    value, outputs = columns.value, columns.outputs
    read, outside = [], []
    for row, where in ((one.cells, one.where) for one in rows):
        if row.get("status", "") not in _TAKEN:
            continue
        x = {n: _value(n, row.get(c, ""), problem, where) for n, c in columns.parameters.items()}
        wrong = [n for n, v in x.items() if not contains(problem.parameters[n], v)]
        if wrong:
            name = wrong[0]
            outside.append(f"{where}: {name} = {x[name]}; expected it {domain_of(problem.parameters[name])}")
            continue
        text, reason = row.get(value, "").strip() if value else "", row.get("reason", "").strip()
        y = _number(value, text, where) if text else math.nan
        if math.isfinite(y) or text or reason or row.get("status") == "failed":
            told = {name: _number(name, row[name], where) for name in outputs if row.get(name, "").strip()}
            about = _about(row, reason or _FAILED.format(origin), where)
            trial = _ended(problem, x, y if math.isfinite(y) else None, told, about)
            kind = "evaluations" if math.isfinite(y) else "failures"
            read.append(_Read(_key(x, y if math.isfinite(y) else "failed"), kind, trial))
        else:
            read.append(_Read(_key(x, "queued"), "points", waiting(x, {})))
    return read, outside


def _keys(trial: FrozenTrial) -> Iterator[Key]:
    """The rows that a trial makes known: a point is not to be queued twice, whatever has become of it meanwhile."""
    queued = trial.system_attrs.get("fixed_params")
    if queued:
        yield _key({**queued, **trial.params}, "queued")
    if trial.state == TrialState.COMPLETE and trial.value is not None:
        yield _key(trial.params, float(trial.value))
    elif trial.params and VOID not in trial.user_attrs:
        yield _key(trial.params, "queued")
        if trial.state.is_finished():
            yield _key(trial.params, "failed")


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


def _ended(
    problem: Problem, x: dict[str, Any], y: float | None, told: dict[str, float], about: dict[str, Any]
) -> FrozenTrial:
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
    return create_trial(
        state=TrialState.FAIL if y is None else TrialState.COMPLETE,
        value=y,
        params=x,
        distributions=dict(problem.parameters),
        user_attrs=attributes,
        system_attrs=constraint_attributes(outputs, problem.settings.outputs) if y is not None else {},
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


def _key(x: Mapping[str, Any], told: float | str) -> Key:
    return tuple(sorted((name, str(value)) for name, value in x.items())), told
