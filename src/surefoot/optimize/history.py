"""What has been evaluated: the only state of an optimization, and all that has to be saved to resume it."""

from __future__ import annotations

import json
import math
import os
import sys
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

import numpy as np

from surefoot.engine.warmth import Warmth
from surefoot.errors import FileError, InvalidInputError, described, shown
from surefoot.optimize.checks import is_a, plain_number
from surefoot.optimize.files import read_text, write_whole
from surefoot.optimize.given import listed, same_rows
from surefoot.optimize.parameters import Value
from surefoot.optimize.space import Space

_FORMAT = "surefoot-history-1"
Direction = Literal["minimize", "maximize"]
_COLD = Warmth()


@dataclass(frozen=True)
class Evaluation:
    """One finished evaluation."""

    x: tuple[Value, ...]
    y: float  # NaN when it failed
    status: Literal["ok", "failed", "transient"] = "ok"  # transient: lost, and teaches nothing
    reason: str = ""  # why it failed
    duration_s: float = math.nan

    @property
    def ok(self) -> bool:
        """Whether it returned a finite value."""
        return self.status == "ok"

    def fault(self) -> str:
        """What is wrong with it; empty: nothing."""
        if not isinstance(self.x, tuple):
            return "its point is not a tuple of values"
        if not isinstance(self.status, str) or self.status not in ("ok", "failed", "transient"):
            return f"its status is {shown(self.status)}"
        if not _is_float(self.y) or not _is_float(self.duration_s):
            return "its value or duration is not a number"
        if not (math.isfinite(self.y) if self.ok else math.isnan(self.y)):
            return f"it is marked {self.status} and its value is {self.y}"
        if math.isinf(self.duration_s) or self.duration_s < 0.0:
            return f"its duration is {self.duration_s}"
        return "" if isinstance(self.reason, str) else f"its reason is {shown(self.reason)}"


@dataclass(frozen=True)
class History:
    """Evaluations in the order they were told, the warmth of the last suggestion, and which values are good ones."""

    evaluations: tuple[Evaluation, ...] = ()
    warmth: Warmth = _COLD
    direction: Direction = "minimize"

    def __len__(self) -> int:
        return len(self.evaluations)

    def append(self, evaluation: Evaluation) -> History:
        """A history with one more evaluation."""
        return replace(self, evaluations=(*self.evaluations, evaluation))

    @property
    def y(self) -> np.ndarray:
        """Values (n,), NaN where the evaluation failed."""
        return np.asarray([e.y for e in self.evaluations], dtype=float)

    @property
    def ok(self) -> np.ndarray:
        """Which evaluations succeeded, (n,)."""
        return np.asarray([e.ok for e in self.evaluations], dtype=bool)

    @property
    def seen(self) -> np.ndarray:
        """Which evaluations teach something: all but the transient failures, (n,)."""
        return np.asarray([e.status != "transient" for e in self.evaluations], dtype=bool)

    def units(self, space: Space) -> np.ndarray:
        """All points in the unit cube, (n, D)."""
        rows = [space.encode(e.x) for e in self.evaluations]
        return np.asarray(rows, dtype=float).reshape(len(self), space.n_inputs)

    def check(self, where: str = "a history") -> None:
        """Raise unless every evaluation is consistent: a finite value where it is ok, NaN where it failed."""
        if self.direction not in ("minimize", "maximize"):
            raise InvalidInputError(
                f"expected the direction 'minimize' or 'maximize'; got {shown(self.direction)} in {where}; "
                "try 'minimize'"
            )
        for i, evaluation in enumerate(self.evaluations):
            fault = evaluation.fault()
            if not fault and len(evaluation.x) != len(self.evaluations[0].x):
                fault = f"it has {len(evaluation.x)} values, the first one has {len(self.evaluations[0].x)}"
            if fault:
                raise InvalidInputError(
                    f"expected consistent evaluations; got evaluation {i} of {where}, where {fault}; "
                    "try correcting or removing it"
                )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write to a JSON file; the old file stays whole until the new one is complete on disk.

        A file that exists keeps its mode; through a symbolic link the file that it names is written.
        """
        document = {
            "format": _FORMAT,
            "direction": self.direction,
            "evaluations": [asdict(e) for e in self.evaluations],
            "warmth": self.warmth.to_json(),
        }
        try:
            text = json.dumps(document)
        except (TypeError, ValueError, RecursionError) as error:
            raise InvalidInputError(
                "expected choices that JSON can hold (text, numbers, tuples of them); "
                f"got others ({described(error)}); try names as choices, and look the objects up in your function"
            ) from None
        write_whole(path, text)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> History:
        """Read what `save` wrote; a file that does not say its direction is of a minimization."""
        text = read_text(path)
        try:
            document = json.loads(text, object_pairs_hook=_without_repeats)
            if document["format"] != _FORMAT:
                raise ValueError(f"its format is {shown(document['format'])}")
            evaluations = tuple(_evaluation(row) for row in document["evaluations"])
            direction = document.get("direction", "minimize")
            history = cls(evaluations, Warmth.from_json(document["warmth"]), direction)
        except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError) as error:
            raise FileError(
                f"expected a file written by History.save; got {shown(str(path))}, which is not ({described(error)}); "
                "try the path given to save"
            ) from None
        history.check(f"the file {shown(str(path))}")
        return history


def _is_float(value: Any) -> bool:
    number = plain_number(value)
    return number is not None and (number != number or abs(number) <= sys.float_info.max or math.isinf(number))


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise ValueError("a key stands there twice")
    return fields


def _evaluation(row: dict[str, Any]) -> Evaluation:
    if not isinstance(row["x"], list):
        raise TypeError("a point is not a list")
    y, duration_s = row["y"], row.get("duration_s", math.nan)
    if not _is_float(y) or not _is_float(duration_s):
        raise TypeError("a value or a duration is not a number")
    return Evaluation(**{**row, "x": tuple(row["x"]), "y": float(y), "duration_s": float(duration_s)})


def history_of(space: Space, x: Any, y: Any) -> History:
    """A history of given points and values; values that are missing or not finite are failures."""
    from surefoot.optimize.evaluate import as_evaluation  # it imports this module

    points = space.points(x)
    values = listed(y.ravel() if is_a(y, np.ndarray) else y)
    values = [y] if values is None else values
    if len(points) != len(values):
        raise InvalidInputError(
            f"expected as many values as points; got {len(points)} points and {len(values)} values; try zip"
        )
    if not same_rows(x, y):
        raise InvalidInputError(
            "expected values with the row labels of the points; got others; "
            "try y0=y.loc[x.index], or y0=y.to_numpy() if the order is the same"
        )
    evaluations = []
    for point, value in zip(points, values, strict=True):
        try:
            evaluations.append(as_evaluation(point, math.nan if value is None else value))
        except TypeError:
            raise InvalidInputError(
                f"expected a number for each point; got {shown(value)}; try a list of floats"
            ) from None
    return History(tuple(evaluations))
