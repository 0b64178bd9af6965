"""What an optimizer knows, and how asking and telling change it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from surefoot.engine.warmth import Warmth
from surefoot.optimize.history import Evaluation, History
from surefoot.optimize.outputs import under_one_name
from surefoot.optimize.parameters import Value


@dataclass(frozen=True)
class State:
    """What an optimizer knows: replaced whole, so that an interrupt finds it before or after a change."""

    history: History  # its warmth is that of the last point told
    warmth: Warmth  # of the last point asked for
    objective: str | None = None  # the name of the output that is optimized, once it is known
    units: tuple[np.ndarray, ...] = ()  # of the evaluations, (D,) each
    pending: tuple[tuple[tuple[Value, ...], np.ndarray], ...] = ()  # points asked for and not told, and their units

    def with_pending(self, values: tuple[Value, ...], unit: np.ndarray, warmth: Warmth) -> State:
        """After one more point was asked for."""
        return replace(self, warmth=warmth, pending=(*self.pending, (values, unit)))

    def with_told(self, told: Sequence[Evaluation], units: Sequence[np.ndarray]) -> State:
        """After evaluations were told, with their units."""
        pending = list(self.pending)
        for evaluation in told:
            at = next((i for i, (values, _) in enumerate(pending) if values == evaluation.x), None)
            if at is not None:
                del pending[at]
        named, objective = under_one_name(told, self.objective)
        before = self.history.evaluations
        if objective != self.objective:  # all of them failed
            before = tuple(under_one_name(before, objective)[0])
        # Only now does the warmth of the ask count: an ask that is never answered leaves no trace.
        history = replace(self.history, evaluations=(*before, *named), warmth=self.warmth)
        return State(history, self.warmth, objective, (*self.units, *units), tuple(pending))
