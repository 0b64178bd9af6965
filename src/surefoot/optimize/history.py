"""What has been evaluated: the only state of an optimization, and all that has to be saved to resume it."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from surefoot.engine.warmth import Warmth
from surefoot.errors import InvalidInputError, UnknownNameError, shown
from surefoot.optimize.checks import plain_number
from surefoot.optimize.parameters import Value
from surefoot.optimize.reasons import kinds_of
from surefoot.optimize.space import Space

VALUE = "value"  # the name of the objective where nobody gave it another
Direction = Literal["minimize", "maximize"]
_COLD = Warmth()


@dataclass(frozen=True)
class Evaluation:
    """One finished evaluation."""

    x: tuple[Value, ...]
    y: float  # the objective's value; NaN when it failed
    status: Literal["ok", "failed", "transient"] = "ok"  # transient: lost, and teaches nothing
    reason: str = ""  # why it failed
    duration_s: float = math.nan
    objective: str = VALUE  # the name of the output that y is
    further: Mapping[str, float] = field(default_factory=dict, hash=False)  # the other outputs; NaN: not computed
    progress: float = math.nan  # share of the simulation that was reached, 0 to 1; NaN: not known
    fidelity: float = math.nan  # of the simulation; NaN: not known
    violates: tuple[str, ...] = ()  # the known constraints that its point does not meet

    @property
    def ok(self) -> bool:
        """Whether it returned a finite value."""
        return self.status == "ok"

    @property
    def outputs(self) -> dict[str, float]:
        """Every number that came of it, by name: the objective is one of them, unless it failed without."""
        return {**({self.objective: self.y} if self.ok else {}), **self.further}

    def fault(self) -> str:
        """What is wrong with it; empty: nothing."""
        if not isinstance(self.x, tuple):
            return "its point is not a tuple of values"
        if not isinstance(self.status, str) or self.status not in ("ok", "failed", "transient"):
            return f"its status is {shown(self.status)}"
        if not all(map(is_float, (self.y, self.duration_s, self.progress, self.fidelity))):
            return "its value, duration, progress or fidelity is not a number"
        if not (math.isfinite(self.y) if self.ok else math.isnan(self.y)):
            return f"it is marked {self.status} and its value is {self.y}"
        if math.isinf(self.duration_s) or self.duration_s < 0.0:
            return f"its duration is {self.duration_s}"
        if not (math.isnan(self.progress) or 0.0 <= self.progress <= 1.0) or math.isinf(self.fidelity):
            return f"its progress is {self.progress}, its fidelity {self.fidelity}"
        return self._fault_of_outputs() or (
            "" if isinstance(self.reason, str) else f"its reason is {shown(self.reason)}"
        )

    def _fault_of_outputs(self) -> str:
        if not isinstance(self.objective, str) or not self.objective:
            return f"the name of its objective is {shown(self.objective)}"
        if not isinstance(self.further, Mapping) or not all(map(is_float, self.further.values())):
            return "its outputs are not numbers"
        if not all(isinstance(name, str) and name for name in self.further):
            return "its outputs have no names"
        return f"it has two values of {self.objective!r}" if self.ok and self.objective in self.further else ""


@dataclass(frozen=True)
class History:
    """Evaluations in the order they were told, the warmth of the last suggestion, and which values are good ones."""

    evaluations: tuple[Evaluation, ...] = ()
    warmth: Warmth = _COLD
    direction: Direction = "minimize"
    names: tuple[str, ...] = ()  # of the parameters, in the order of each point; none: they have no names

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
        """Which evaluations teach something, (n,): not the transient failures, nor failures where none is suggested."""
        return np.asarray([e.ok or (e.status == "failed" and not e.violates) for e in self.evaluations], dtype=bool)

    @property
    def allowed(self) -> np.ndarray:
        """Which evaluations meet the known constraints, (n,)."""
        return np.asarray([not e.violates for e in self.evaluations], dtype=bool)

    @property
    def counts(self) -> np.ndarray:
        """Which evaluations can be the best, (n,): the successes that are allowed; all successes where none is."""
        inside = self.ok & self.allowed
        return inside if inside.any() else self.ok

    @property
    def kinds(self) -> np.ndarray:
        """The kind of each failure's reason, (n,), from 0 on; -1 where it did not fail."""
        return kinds_of([e.reason if e.status == "failed" else None for e in self.evaluations])

    def ordered_as(self, space: Space) -> History:
        """The same with the values of each point in the order of a space's names; an error if those are others."""
        if not self.names or not space.named or self.names == space.names:
            return self
        if len(self.names) != len(space.names) or set(self.names) != set(space.names):
            raise InvalidInputError(
                f"expected a history of the parameters {', '.join(space.names)}; got one of {', '.join(self.names)}; "
                "try bounds with its names, or dataclasses.replace(history, names=()) if only the names are others"
            )
        order = [self.names.index(name) for name in space.names]
        evaluations = tuple(replace(e, x=tuple(e.x[i] for i in order)) for e in self.evaluations)
        return replace(self, evaluations=evaluations, warmth=_COLD, names=space.names)

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
            if not fault and evaluation.objective != self.objective:
                fault = f"the objective is {evaluation.objective!r}, that of the first one is {self.objective!r}"
            if fault:
                raise InvalidInputError(
                    f"expected consistent evaluations; got evaluation {i} of {where}, where {fault}; "
                    "try correcting or removing it"
                )

    @property
    def objective(self) -> str:
        """The name of the output that is minimized or maximized."""
        return self.evaluations[0].objective if self.evaluations else VALUE

    @property
    def outputs(self) -> tuple[str, ...]:
        """The names of all outputs: the objective, then the others in the order in which they first came."""
        names = dict.fromkeys(name for e in self.evaluations for name in e.further)
        return (self.objective, *(name for name in names if name != self.objective))

    def output(self, name: str) -> np.ndarray:
        """One output of every evaluation, (n,): NaN where it was not computed; an error if none has it."""
        if name not in self.outputs:
            raise UnknownNameError(
                f"expected an output, one of {', '.join(self.outputs)}; got {shown(name)}; try {self.outputs[-1]!r}"
            )
        return np.asarray([e.outputs.get(name, math.nan) for e in self.evaluations], dtype=float)

    def limited(self, names: Iterable[str]) -> np.ndarray | None:
        """The outputs of these names of every evaluation, (1, k, n): NaN where not computed; None without names."""
        rows = [[e.outputs.get(name, math.nan) for e in self.evaluations] for name in names]
        return np.asarray(rows, dtype=float).reshape(1, len(rows), len(self)) if rows else None

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the evaluations to a JSON file; `Result.save` and `Optimizer.save` add the space and the settings.

        The old file stays whole until the new one is complete on disk. A file that exists keeps its mode; through a
        symbolic link the file that it names is written.
        """
        from surefoot.optimize.document import Document  # it imports this module

        Document(self).write(path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> History:
        """The evaluations in a file that `save` of a history, a result or an optimizer wrote."""
        from surefoot.optimize.document import Document

        return Document.read(path, history_only=True).history


def judged(evaluation: Evaluation, space: Space) -> Evaluation:
    """The evaluation, with the known constraints that its point violates."""
    if not space.constraints:
        return evaluation
    return replace(evaluation, violates=tuple(str(c) for c in space.violated(evaluation.x)))


def is_float(value: Any) -> bool:
    """Whether it is a number that a float can be."""
    number = plain_number(value)
    return number is not None and (number != number or abs(number) <= sys.float_info.max or math.isinf(number))
