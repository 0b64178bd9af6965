"""The function that is minimized: parameters in, root of the loss out, a failed simulation as an exception.

The engine minimizes the *root* of the loss. It has the same minimum, and far from it the residuals grow about linearly
in the parameters: a Gaussian process models such a cone better than the parabola of their squares, which spans decades
(measured in docs/inference.md).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from surefoot.inference.loss import Loss, check_vessels, waveforms
from surefoot.inference.result import NAMES, Vector, Waveforms
from surefoot.inference.signals import Signals
from surefoot.optimize.history import Evaluation, History
from surefoot.pulmonary import Ejection, FlowTable, Settings, SimulationFailure, simulate
from surefoot.pulmonary.arrays import Floats

FAILURE = "SimulationFailure: "  # how an evaluation's reason begins when the simulator failed


@dataclass(frozen=True)
class Objective:
    """Root of the loss of the data under the simulator; picklable, and safe in threads."""

    loss: Loss
    settings: Settings

    def beat(self, vector: Sequence[float] | Floats) -> Waveforms:
        """The simulation; raises SimulationFailure whose message begins with the kind."""
        f_L, f_S, xi = (float(value) for value in vector)
        try:
            return waveforms(simulate(f_L, f_S, xi, settings=self.settings))
        except SimulationFailure as failure:
            message = f"{failure.kind}: {failure.message}"
            raise SimulationFailure(failure.kind, failure.vessel, failure.time_s, message) from None

    def __call__(self, x: Sequence[float] | Floats | dict[str, float]) -> float:
        """The root of the loss at a point of the space (an array, or a dict by name)."""
        vector = [x[name] for name in NAMES] if isinstance(x, dict) else x
        return math.sqrt(self.loss(self.beat(vector)))


def as_losses(history: History) -> tuple[Evaluation, ...]:
    """Evaluations of the objective as evaluations of the loss, failures named by their kind."""
    return tuple(replace(e, y=e.y * e.y, reason=e.reason.removeprefix(FAILURE)) for e in history.evaluations)


def best_of(evaluations: Sequence[Evaluation]) -> Evaluation | None:
    """The successful evaluation of least value."""
    return min((e for e in evaluations if e.ok), key=lambda e: e.y, default=None)


def vector_of(x: Sequence[float] | Floats) -> Vector:
    """Three floats."""
    f_L, f_S, xi = (float(value) for value in x)
    return f_L, f_S, xi


def settings_for(data: Signals, settings: Settings) -> tuple[Settings, list[str]]:
    """The simulator's settings with the patient's heart beat, and notes on what was changed.

    If the data's period differs from the inflow's, the inflow is stretched in time; its mean flow is kept.
    """
    check_vessels(data, settings.network)
    inflow = settings.inflow
    factor = data.period_s / inflow.period_s
    if math.isclose(factor, 1.0, rel_tol=1e-9):
        return settings, []
    note = (
        f"the beat of the data lasts {data.period_s:g} s, that of the inflow {inflow.period_s:g} s: "
        "the inflow was stretched in time, its mean kept"
    )
    if isinstance(inflow, FlowTable):
        times = tuple(factor * t for t in inflow.times_s)
        return replace(settings, inflow=FlowTable((*times[:-1], data.period_s), inflow.flow_ml_s)), [note]
    stretched = Ejection(
        period_s=data.period_s,
        mean_ml_s=inflow.mean_ml_s,
        upstroke_s=factor * inflow.upstroke_s,
        downstroke_s=factor * inflow.downstroke_s,
        backflow_s=factor * inflow.backflow_s,
        backflow_fraction=inflow.backflow_fraction,
    )
    return replace(settings, inflow=stretched), [note]
