"""One JSON file that holds all of an optimization; whoever reads it needs nothing else to go on.

Its fields: docs/reference/document.md.

What is no number (NaN) is null there. A history alone is the same document without space and settings.
"""

from __future__ import annotations

import json
import math
import os
from dataclasses import asdict, dataclass, replace
from typing import Any

import surefoot
from surefoot.engine.warmth import Warmth
from surefoot.errors import FileError, InvalidInputError, UnknownNameError, described, shown
from surefoot.optimize.constraints import Constraint
from surefoot.optimize.files import read_text, write_whole
from surefoot.optimize.history import VALUE, Evaluation, History, is_float
from surefoot.optimize.parameters import Categorical, Integer, Parameter, Real, Value
from surefoot.optimize.settings import Settings
from surefoot.optimize.space import Space

FORMAT, VERSION = "surefoot", 2
_CONSTRAINED = 3  # the version of a document with constraints, which readers of version 2 would pass over
_FIRST = "surefoot-history-1"  # the format of version 1: evaluations alone, without names of outputs
_KINDS = {"real": Real, "integer": Integer, "categorical": Categorical}
_NUMBERS = ("duration_s", "progress", "fidelity")  # of an evaluation
_PLAIN = (str, int, float, bool, type(None))


class _VersionError(Exception):
    """The file is of another version."""


class _UnknownSettingError(Exception):
    """A setting names something that is not registered here."""


@dataclass(frozen=True)
class Document:
    """An optimization as it is saved."""

    history: History
    space: Space | None = None  # None, as settings: a history alone
    settings: Settings | None = None
    objective: str | None = None  # the name of the output that is optimized; None: not known yet
    pending: tuple[tuple[Value, ...], ...] = ()  # points asked for and not told
    asked: Warmth | None = None  # of the last point asked for, where that is not the last one told

    def write(self, path: str | os.PathLike[str]) -> None:
        """Replace the file at once by this document."""
        history = self.history
        known = history.ok.any() or history.objective != VALUE
        named = history.objective if self.objective is None and known else self.objective
        try:
            document = {
                "format": FORMAT,
                "version": _CONSTRAINED if self.space is not None and self.space.constraints else VERSION,
                "surefoot": surefoot.__version__,
                "direction": history.direction,
                "objective": named,
                "outputs": [*([] if named is None else [named]), *history.outputs[1:]],
                "space": None if self.space is None else _dump_space(self.space),
                "names": list(history.names),
                "settings": None if self.settings is None else asdict(self.settings),
                "evaluations": [_dump(e) for e in history.evaluations],
                "pending": [list(x) for x in self.pending],
                "warmth": history.warmth.to_json(),
                "asked_warmth": None if self.asked is None else self.asked.to_json(),
            }
            text = json.dumps(document)
        except (TypeError, ValueError, RecursionError) as error:
            raise InvalidInputError(
                "expected choices that JSON can hold (text, numbers, tuples of them); "
                f"got others ({described(error)}); try names as choices, and look the objects up in your function"
            ) from None
        write_whole(path, text)

    @classmethod
    def read(cls, path: str | os.PathLike[str], *, history_only: bool = False) -> Document:
        """What `write` wrote, or an earlier version did; history_only: without space and settings."""
        text = read_text(path)
        try:
            fields = json.loads(text, object_pairs_hook=_without_repeats)
            fields = {"names": _names(fields.get("space")), **fields}  # files of before had none
            found = _parse(fields | {"space": None, "settings": None} if history_only else fields)
        except _VersionError as error:
            raise FileError(
                f"expected a document of version {VERSION}, which this surefoot ({surefoot.__version__}) writes (with "
                f"constraints {_CONSTRAINED}), or before; got {shown(str(path))}, {error}; "
                "try the surefoot that wrote it, or a newer one"
            ) from None
        except _UnknownSettingError as error:
            raise FileError(
                f"expected settings that this program knows; got {shown(str(path))}, where {error}; "
                "try registering it first (docs/howto/extending.md), or history=… to take over the evaluations alone"
            ) from None
        except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError) as error:
            raise FileError(
                f"expected a file written by save; got {shown(str(path))}, which is not ({described(error)}); "
                "try the path given to save"
            ) from None
        found.history.check(f"the file {shown(str(path))}")
        return found


def _parse(fields: dict[str, Any]) -> Document:
    if fields["format"] == _FIRST:
        evaluations = tuple(_parse_first(row) for row in fields["evaluations"])
        direction = fields.get("direction", "minimize")
        return Document(History(evaluations, Warmth.from_json(fields["warmth"]), direction))
    if fields["format"] != FORMAT:
        raise ValueError(f"its format is {shown(fields['format'])}")
    if fields["version"] not in (VERSION, _CONSTRAINED):
        raise _VersionError(f"which is of version {shown(fields['version'])}")
    objective, asked = fields["objective"], fields["asked_warmth"]
    if not (objective is None or (isinstance(objective, str) and objective)):
        raise TypeError("the objective's name is no text")
    evaluations = tuple(
        _parse_evaluation(row, VALUE if objective is None else objective) for row in fields["evaluations"]
    )
    return Document(
        History(evaluations, Warmth.from_json(fields["warmth"]), fields["direction"], _checked_names(fields["names"])),
        None if fields["space"] is None else _parse_space(fields["space"]),
        None if fields["settings"] is None else _parse_settings(fields["settings"]),
        objective,
        tuple(_point(x) for x in fields["pending"]),
        None if asked is None else Warmth.from_json(asked),
    )


def _names(space: Any) -> list[str]:
    """Those of the parameters, where a document's points are dicts."""
    return [row["name"] for row in space["parameters"]] if space and space["named"] else []


def _checked_names(stored: Any) -> tuple[str, ...]:
    if not isinstance(stored, list) or not all(isinstance(name, str) for name in stored):
        raise TypeError("the names of the parameters are no texts")
    return tuple(stored)


def _parse_settings(fields: dict[str, Any]) -> Settings:
    try:
        return Settings.of(**fields)
    except UnknownNameError as error:
        raise _UnknownSettingError(str(error)) from None


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise ValueError("a key stands there twice")
    return fields


# --- evaluations


def _dump(e: Evaluation) -> dict[str, Any]:
    return {
        "x": list(e.x),
        "outputs": {name: dump_number(number) for name, number in e.outputs.items()},
        "status": e.status,
        "reason": e.reason,
        **{name: dump_number(getattr(e, name)) for name in _NUMBERS},
    }


def _parse_evaluation(row: dict[str, Any], objective: str) -> Evaluation:
    outputs = {name: parse_number(number) for name, number in row["outputs"].items()}
    numbers: dict[str, Any] = {name: parse_number(row[name]) for name in _NUMBERS}
    y = outputs.pop(objective) if row["status"] == "ok" else math.nan
    return Evaluation(
        _point(row["x"]), y, row["status"], row["reason"], objective=objective, further=outputs, **numbers
    )


def _parse_first(row: dict[str, Any]) -> Evaluation:
    y, duration_s = row["y"], row.get("duration_s", math.nan)
    if not is_float(y) or not is_float(duration_s) or not row.keys() <= {"x", "y", "status", "reason", "duration_s"}:
        raise TypeError("a value or a duration is not a number, or an evaluation has more")
    return Evaluation(**{**row, "x": _point(row["x"]), "y": float(y), "duration_s": float(duration_s)})


def _point(x: Any) -> tuple[Value, ...]:
    if not isinstance(x, list):
        raise TypeError("a point is not a list")
    return tuple(x)


def dump_number(number: float) -> float | str | None:
    """A number as every reader of JSON takes it: null for NaN, text for infinities."""
    return number if math.isfinite(number) else None if math.isnan(number) else str(number)


def parse_number(stored: Any) -> float:
    """What `dump_number` gave; TypeError if it did not."""
    if stored is None or (isinstance(stored, str) and stored in ("inf", "-inf")):
        return math.nan if stored is None else float(stored)
    if not is_float(stored):
        raise TypeError(f"{shown(stored)} is no number")
    return float(stored)


# --- the space


def _dump_space(space: Space) -> dict[str, Any]:
    kinds = {kind: name for name, kind in _KINDS.items()}
    parameters = zip(space.names, space.parameters, strict=True)
    constraints = [
        {"name": c.name, "text": c.text, "kind": "function" if c.comparison is None else "expression"}
        for c in space.constraints
    ]
    return {
        "named": space.named,
        "parameters": [{"name": name, "kind": kinds[type(p)], **_dump_parameter(p)} for name, p in parameters],
        **({"constraints": constraints} if constraints else {}),
    }


def _dump_parameter(p: Parameter) -> dict[str, Any]:
    if isinstance(p, Categorical):
        _check_plain(p.choices)
    return asdict(p)


def _check_plain(choice: Any) -> None:
    """TypeError for what JSON would turn into something else: an enumeration that is a text, say."""
    if type(choice) is tuple:
        for part in choice:
            _check_plain(part)
    elif type(choice) not in _PLAIN:
        raise TypeError(f"{shown(choice)} is of type {type(choice).__name__}")
    elif isinstance(choice, float) and not math.isfinite(choice):
        raise TypeError(f"{choice} is no number of JSON")


def _parse_space(fields: dict[str, Any]) -> Space:
    named = {row["name"]: _parse_parameter(row) for row in fields["parameters"]}
    space = Space.of(named if fields["named"] else list(named.values()))
    if list(space.names) != [row["name"] for row in fields["parameters"]]:
        raise ValueError("the names of its parameters")
    constraints = tuple(_parse_constraint(row, space) for row in fields.get("constraints", ()))
    return space.constrained(constraints) if constraints else space


def _parse_constraint(row: dict[str, Any], space: Space) -> Constraint:
    if not isinstance(row["name"], str) or not isinstance(row["text"], str):
        raise TypeError("a constraint is no text")
    if row["kind"] == "function":
        return Constraint(row["text"], row["name"])
    return replace(space.constrained(row["text"]).constraints[0], name=row["name"])


def given_again(space: Space, constraints: Any, path: str | os.PathLike[str]) -> Space:
    """The space of a document with the constraints that were given again: they must be those of the document."""
    if constraints is None:
        missing = [str(c) for c in space.constraints if c.comparison is None and c.function is None]
        if missing:
            raise InvalidInputError(
                f"expected the functions {', '.join(missing)} among the constraints, which {shown(str(path))} cannot "
                "hold; got none; try giving all constraints again: constraints=[...]"
            )
        return space
    given = space.constrained(constraints)
    ours, theirs = ([str(c) for c in one.constraints] for one in (given, space))
    if ours != theirs:
        raise InvalidInputError(
            f"expected the constraints of {shown(str(path))}: {', '.join(theirs) or 'none'}; got "
            f"{', '.join(ours) or 'none'}; try history= to take over the evaluations alone"
        )
    return given


def _parse_parameter(row: dict[str, Any]) -> Parameter:
    fields = {name: value for name, value in row.items() if name not in ("name", "kind")}
    if row["kind"] == "categorical":
        fields["choices"] = _tuples(fields["choices"])
    parameter: Parameter = _KINDS[row["kind"]](**fields)
    return parameter


def _tuples(value: Any) -> Any:
    """Lists as the tuples that they were."""
    return tuple(_tuples(part) for part in value) if isinstance(value, list) else value
