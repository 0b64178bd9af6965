"""The lungs as calibration knows them: a simulator of the measured signals, and three parameters.

Reading   A simulated beat is sampled 256 times; a periodic cubic spline runs between, which is linear in the samples:
          reading a signal off at its measured times is a matrix, made once.
Steps     The number of vessels in a tree is whole, so all outputs step at many values of xi, by up to the noise. They
          do so because the trees' conductances do; in the logarithms of these, which take the place of xi, they are
          smooth.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np

from surefoot.calibration.box import Floats, Stepped
from surefoot.calibration.loss import Loss, RootLoss
from surefoot.errors import InvalidInputError
from surefoot.inference.result import NAMES, Waveforms
from surefoot.inference.signals import Signals
from surefoot.optimize.parameters import Real
from surefoot.pulmonary import (
    PARAMETER_BOX,
    Ejection,
    FlowTable,
    Network,
    Settings,
    Simulation,
    SimulationFailure,
    simulate,
)
from surefoot.pulmonary.settings import SAMPLES_PER_BEAT
from surefoot.pulmonary.trees import conductance

# In the unit interval: as far as xi must go for a tree's conductance to be again what it was before steps. In the
# paper's bounds, 0.67 wide, that is 0.0153 at most.
REACH = 0.023


def log_conductances(settings: Settings, xi: Floats) -> Floats:
    """(m, trees) of the trees at every xi (m,)."""
    roots = [settings.network.vessel(bed.artery).radius_bottom_cm for bed in settings.network.beds]
    return np.log([[conductance(root, float(x), settings.tree, settings.fluid) for root in roots] for x in xi])


def parameters(settings: Settings) -> dict[str, Real]:
    """f_L, f_S and xi in the paper's bounds."""
    f_L, f_S, xi = PARAMETER_BOX
    stepped = Stepped(*xi, features=partial(log_conductances, settings), reach=REACH)
    return dict(zip(NAMES, (Real(*f_L), Real(*f_S), stepped), strict=True))


def reader(time_s: Floats, period_s: float) -> Floats:
    """The matrix (n, 256) that takes a simulated beat's samples to its values at the given times."""
    from scipy.interpolate import CubicSpline

    grid = period_s / SAMPLES_PER_BEAT * np.arange(SAMPLES_PER_BEAT + 1)
    # the simulation's samples are at T/256 .. T; sample 256 is also the value at 0
    samples = np.roll(np.eye(SAMPLES_PER_BEAT), 1, axis=0)
    spline = CubicSpline(grid, np.concatenate([samples, samples[:1]]), bc_type="periodic")
    return np.asarray(spline(np.mod(time_s, period_s)))


def waveforms(simulation: Simulation) -> Waveforms:
    """A simulation's beat as the record that results keep."""
    return Waveforms(simulation.vessels, simulation.time_s, simulation.pressure_mmHg, simulation.flow_ml_s)


@dataclass(frozen=True)
class Lungs:
    """Parameters in, what the data would show out; picklable, and safe in threads."""

    data: Signals
    settings: Settings

    @cached_property
    def _readers(self) -> tuple[Floats, ...]:
        made: dict[bytes, Floats] = {}  # signals usually share their times
        for signal in self.data:
            key = signal.time_s.tobytes()
            if key not in made:
                made[key] = reader(signal.time_s, self.data.period_s)
        return tuple(made[signal.time_s.tobytes()] for signal in self.data)

    def beat(self, x: Sequence[float] | Floats | Mapping[str, float]) -> Waveforms:
        """The simulation; raises SimulationFailure whose message begins with the kind."""
        f_L, f_S, xi = (float(value) for value in ([x[name] for name in NAMES] if isinstance(x, Mapping) else x))
        try:
            return waveforms(simulate(f_L, f_S, xi, settings=self.settings))
        except SimulationFailure as failure:
            message = f"{failure.kind}: {failure.message}"
            raise SimulationFailure(failure.kind, failure.vessel, failure.time_s, message) from None

    def shown(self, beat: Waveforms) -> dict[str, Floats]:
        """A beat as the data would show it, without noise."""
        pairs = zip(self.data, self._readers, strict=True)
        return {signal.name: read @ beat.get(signal.name) for signal, read in pairs}

    def __call__(self, x: Sequence[float] | Floats | Mapping[str, float]) -> dict[str, Floats]:
        """The signals at a point of the space (an array, or a dict by name)."""
        return self.shown(self.beat(x))


def root_loss(data: Signals, settings: Settings, loss: str = "likelihood") -> RootLoss:
    """The root of the loss of the data as a function of the parameters."""
    return RootLoss(Lungs(data, settings), Loss(data.signals, loss))


def check_vessels(data: Signals, network: Network) -> None:
    """Raise unless the simulator has every vessel that was measured."""
    missing: Sequence[str] = [signal.name for signal in data if signal.vessel not in network.names]
    if missing:
        raise InvalidInputError(
            f"expected signals of the vessels {', '.join(network.names)}; got {', '.join(missing)}; "
            "try settings with these vessels, or leave the signals out"
        )


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
