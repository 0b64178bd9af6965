"""What has been evaluated: the only state of an optimization, and all that has to be saved to resume it."""

from __future__ import annotations

import json
import math
import os
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from surefoot.errors import InvalidInputError
from surefoot.gp.fit import FitState
from surefoot.optimize.parameters import Value
from surefoot.optimize.space import Space

_FORMAT = "surefoot-history-1"


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


@dataclass(frozen=True)
class Warmth:
    """Where the hyperparameter searches of the last suggestion ended: the next one starts there."""

    objective: FitState | None = None
    failures: FitState | None = None
    failures_by: str = ""  # the failure model that `failures` belongs to: its hyperparameters mean nothing to another
    warp: tuple[int, ...] = ()  # level of y's warping in every run, as `objective` was fitted; empty: none
    kernels: tuple[str, ...] = ()  # of the objective in every run

    def to_json(self) -> dict[str, Any]:
        """What JSON can hold."""
        return {
            "objective": _dump(self.objective),
            "failures": _dump(self.failures),
            "failures_by": self.failures_by,
            "warp": list(self.warp),
            "kernels": list(self.kernels),
        }

    @classmethod
    def from_json(cls, fields: dict[str, Any]) -> Warmth:
        """Read what `to_json` gave; ValueError, KeyError or TypeError if it did not."""
        return cls(
            _parse(fields["objective"]),
            _parse(fields["failures"]),
            failures_by=str(fields["failures_by"]),
            warp=tuple(int(level) for level in fields.get("warp", ())),
            kernels=tuple(str(name) for name in fields.get("kernels", ())),
        )


@dataclass(frozen=True)
class History:
    """Evaluations in the order they were told, and the warmth of the last suggestion."""

    evaluations: tuple[Evaluation, ...] = ()
    warmth: Warmth = Warmth()

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

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write to a JSON file; the old file stays whole until the new one is complete on disk."""
        path = Path(path)
        document = {
            "format": _FORMAT,
            "evaluations": [asdict(e) for e in self.evaluations],
            "warmth": self.warmth.to_json(),
        }
        try:
            text = json.dumps(document)
        except TypeError as error:
            raise InvalidInputError(
                f"expected choices that JSON can hold (text, numbers, tuples of them); got others ({error}); "
                "try names as choices, and look the objects up in your function"
            ) from None
        with tempfile.NamedTemporaryFile("w", dir=path.parent, delete=False, suffix=".tmp") as file:
            try:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            except BaseException:  # a full disk, Ctrl-C: leave nothing half written
                os.unlink(file.name)
                raise
        os.replace(file.name, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> History:
        """Read what `save` wrote."""
        try:
            document = json.loads(Path(path).read_text())
            if document["format"] != _FORMAT:
                raise KeyError(document["format"])
            rows = document["evaluations"]
            evaluations = tuple(Evaluation(**{**row, "x": tuple(row["x"])}) for row in rows)
            return cls(evaluations, Warmth.from_json(document["warmth"]))
        except (ValueError, KeyError, TypeError) as error:
            raise InvalidInputError(
                f"expected a file written by History.save; got {str(path)!r}, which is not ({error}); "
                "try the path given to save"
            ) from error


def _dump(state: FitState | None) -> dict[str, Any] | None:
    if state is None:
        return None
    return {"theta": state.theta.tolist(), "inv_hessian": state.inv_hessian.tolist(), "n_cold": state.n_cold}


def _parse(fields: dict[str, Any] | None) -> FitState | None:
    if fields is None:
        return None
    return FitState(np.asarray(fields["theta"]), np.asarray(fields["inv_hessian"]), int(fields["n_cold"]))


def history_of(space: Space, x: Sequence[Any], y: Sequence[Any]) -> History:
    """A history of given points and values; values that are not finite are failures."""
    try:
        x, y = list(x), np.ravel(np.asarray(y, dtype=float)).tolist()
    except (TypeError, ValueError):
        raise InvalidInputError(f"expected a number for each point; got {y!r}; try a list of floats") from None
    if len(x) != len(y):
        raise InvalidInputError(f"expected as many values as points; got {len(x)} points and {len(y)} values; try zip")
    history = History()
    for point, value in zip(x, y, strict=True):
        values = space.validate(point)
        history = history.append(
            Evaluation(values, float(value))
            if math.isfinite(value)
            else Evaluation(values, math.nan, "failed", f"the value was {value}")
        )
    return history
