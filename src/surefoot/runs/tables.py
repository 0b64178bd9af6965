"""Studies as rows: for `surefoot list`, `show` and `export`."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from optuna.storages import RDBStorage
from optuna.study import Study
from optuna.trial import FrozenTrial, TrialState

from surefoot.errors import InvalidInputError, MissingExtraError, encodable
from surefoot.integrations.optuna_history import (
    FORGOTTEN,
    OUTPUT,
    REASON,
    REPEATED,
    STUDY,
    duration_of,
    fallbacks_of,
    is_outside,
    is_void,
    reason_of,
    trials_of,
)
from surefoot.integrations.optuna_outputs import objective_of, outputs_of
from surefoot.optimize.document import dump_number
from surefoot.optimize.history import VALUE
from surefoot.optimize.outputs import OPTIONAL, columns
from surefoot.runs.judge import Judge
from surefoot.runs.storage import load_study, study_names
from surefoot.runs.study import counts_of

WITHIN = "within"  # the column that says whether limits and known constraints are met
RESERVED = ("number", "status", "duration_s", "reason", "started", "ended", "host", "folder", "fallback", WITHIN)
FORMATS = (".csv", ".json", ".parquet")
Row = dict[str, Any]


def status_of(trial: FrozenTrial) -> str:
    """ok, failed (learned from), transient (not), void (never evaluated), pruned, running or waiting.

    forgotten: the user took it out; outside: its point is not among the parameters of today; repeated: a second result
    of a point. These three are kept and do not count.
    """
    if FORGOTTEN in trial.user_attrs:
        return "forgotten"
    if is_outside(trial):
        return "outside"
    if REPEATED in trial.user_attrs:
        return "repeated"
    if trial.state == TrialState.COMPLETE:
        return "ok"
    if trial.state == TrialState.FAIL:
        return "failed" if REASON in trial.user_attrs else "void" if is_void(trial) else "transient"
    return trial.state.name.lower()


def trial_rows(study: Study) -> list[Row]:
    """One row per trial, in the order of their numbers, all with the same keys.

    A study with points that are random because the engine failed has a column `fallback`, which tells why; one with
    limits or known constraints a column `within`, yes or no by those that it has now. Further
    outputs have a column each, progress and fidelity if any is known. A parameter or output whose name is taken has a
    prefix: parameter.status, output.status.
    """
    trials = trials_of(study)
    fallbacks = fallbacks_of(trials)
    judge = Judge(study)
    ruled = judge.has_rules()
    values = ["value"] if len(study.directions) == 1 else [f"value_{i}" for i in range(len(study.directions))]
    told = {t.number: outputs_of(t) for t in trials}
    names = dict.fromkeys(name for trial in trials for name in _point(trial))
    further = dict.fromkeys(name for fields in told.values() for name in fields["further"])
    further.pop(objective_of(trials) or VALUE, None)
    parameters, outputs = columns((*RESERVED, *OPTIONAL, *values), names, further)
    known = [name for name in OPTIONAL if any(math.isfinite(fields[name]) for fields in told.values())]
    rows = []
    for t in trials:
        output = t.user_attrs.get(OUTPUT) or {}
        row = {
            "number": t.number,
            "status": status_of(t),
            **dict(zip(values, t.values or [None] * len(values), strict=True)),
            **({WITHIN: _yes(judge.is_within(t)) if t.state == TrialState.COMPLETE else None} if ruled else {}),
            **{column: _point(t).get(name) for name, column in parameters.items()},
            **{column: _or_none(told[t.number]["further"].get(name)) for name, column in outputs.items()},
            **{name: _or_none(told[t.number][name]) for name in known},
            "duration_s": _or_none(duration_of(t)) if t.state.is_finished() else None,
            "reason": reason_of(t) if t.state == TrialState.FAIL else "",
            "started": t.datetime_start.isoformat() if t.datetime_start else None,
            "ended": t.datetime_complete.isoformat() if t.datetime_complete else None,
            "host": output.get("host"),
            "folder": output.get("folder"),
            **({"fallback": fallbacks.get(t.number, "")} if fallbacks else {}),
        }  # fmt: skip
        rows.append({name: encodable(value) if isinstance(value, str) else value for name, value in row.items()})
    return rows


def _point(trial: FrozenTrial) -> dict[str, Any]:
    """The values of the parameters; of a trial that waits those that are to be evaluated."""
    return trial.params or dict(trial.system_attrs.get("fixed_params") or {})


def _yes(holds: bool) -> str:
    return "yes" if holds else "no"


def _or_none(number: float | None) -> float | None:
    return None if number is None or math.isnan(number) else number


def study_rows(storage: RDBStorage) -> list[Row]:
    """One row per study of the storage."""
    rows = []
    for name in study_names(storage):
        study = load_study(storage, name)
        about = study.user_attrs.get(STUDY) or {}
        several = len(study.directions) > 1
        counts = None if several else counts_of(study, about.get("n_evals", 0))
        rows.append({
            "study": name,
            "direction": ", ".join(d.name.lower() for d in study.directions),
            "finished": len(study.get_trials(deepcopy=False)) if counts is None else counts.finished,
            "n_evals": about.get("n_evals"),
            "failed": None if counts is None else counts.failed,
            "running": None if counts is None else counts.running,
            "best": None if counts is None else counts.best,
            "forgotten": None if counts is None else counts.forgotten,
            "outside": None if counts is None else counts.outside,
            "fallbacks": None if counts is None else counts.fallbacks,
            "objective": about.get("objective", ""),
        })  # fmt: skip
    return rows


def find_trial(study: Study, number: int) -> FrozenTrial:
    """A trial by its number."""
    for trial in study.get_trials(deepcopy=False):
        if trial.number == number:
            return trial
    n = len(study.get_trials(deepcopy=False))
    known = f"0 to {n - 1}" if n else "of which there are none yet"
    raise InvalidInputError(f"expected the number of a trial, {known}; got {number}; try surefoot show without --trial")


def output_of(trial: FrozenTrial) -> dict[str, tuple[str, bool]]:
    """stdout and stderr of an evaluation: text, and whether it is whole (the file is here) or its stored end."""
    stored = trial.user_attrs.get(OUTPUT) or {}
    found = {stream: (str(stored.get(stream, "")), False) for stream in ("stdout", "stderr")}
    folder = stored.get("folder")
    if not folder:  # else the files of the current folder would be taken for it
        return found
    for stream in found:
        with contextlib.suppress(OSError):
            found[stream] = Path(folder, f"{stream}.txt").read_text(encoding="utf-8", errors="replace"), True
    return found


def write_rows(rows: Sequence[Row], path: Path) -> None:
    """Write rows as the file's suffix says."""
    suffix = path.suffix.lower()
    if suffix not in FORMATS:
        raise InvalidInputError(f"expected a file that ends in {', '.join(FORMATS)}; got {str(path)!r}; try trials.csv")
    if suffix == ".parquet":
        _write_parquet(rows, path)
        return
    text = as_csv(rows) if suffix == ".csv" else as_json(rows)
    try:
        path.write_text(text, encoding="utf-8", errors="backslashreplace")
    except OSError as error:
        raise InvalidInputError(f"expected a file that can be written; got {error}; try another path") from None


def as_csv(rows: Sequence[Row]) -> str:
    """With a header; missing values are empty. A text that a spreadsheet would run begins with an apostrophe."""
    text = io.StringIO()
    if rows:
        writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
        writer.writerow({name: _cell(name) for name in rows[0]})
        writer.writerows({name: _cell(value) for name, value in row.items()} for row in rows)
    return text.getvalue()


def is_guarded(text: str) -> bool:
    """Whether a spreadsheet would run it."""
    return text.startswith(("=", "+", "-", "@", "\t", "\r"))


def _cell(value: Any) -> Any:
    return f"'{value}" if isinstance(value, str) and is_guarded(value) else value


def as_json(rows: Sequence[Row]) -> str:
    """A list of objects; missing values are null, infinite ones the texts inf and -inf."""
    told = [{k: dump_number(v) if isinstance(v, float) else v for k, v in row.items()} for row in rows]
    return json.dumps(told, indent=1, allow_nan=False) + "\n"


def _write_parquet(rows: Sequence[Row], path: Path) -> None:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError as error:
        raise MissingExtraError(
            "expected pyarrow for Parquet; it is not installed; try pip install 'surefoot[parquet]', or a .csv file"
        ) from error
    mixed = [name for name in (rows[0] if rows else {}) if len({type(row[name]) for row in rows} - {type(None)}) > 1]
    for name in mixed:  # choices of several types: a column has one
        numbers = all(
            isinstance(row[name], (int, float, type(None))) and not isinstance(row[name], bool) for row in rows
        )
        convert = float if numbers else str
        rows = [{**row, name: None if row[name] is None else convert(row[name])} for row in rows]
    try:
        parquet.write_table(pyarrow.Table.from_pylist(list(rows)), path)
    except OSError as error:
        raise InvalidInputError(f"expected a file that can be written; got {error}; try another path") from None
