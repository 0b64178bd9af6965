"""How far a simulation is from the data [NH18, Eq. 12], for any subset of the signals.

Notation  d (N,) all measured values, g(q) (N,) the simulation at the same vessels and times, s (N,) noise standard
          deviations
Losses    "likelihood"  sum ((d - g)/s)² / 2: the negative log likelihood up to a constant (the default)
          "l2"          sum (d - g)²: the paper's, Eq. 12; signals with large numbers (flows) rule
          "mean"        as "likelihood", of the signals' cycle means alone: a literal 22-vector
Reading   A simulated beat is sampled 256 times; a periodic cubic spline runs between, which is linear in the samples:
          reading a signal off at its measured times is a matrix, made once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from surefoot.errors import InvalidInputError, UnknownNameError
from surefoot.inference.result import Residual, Waveforms
from surefoot.inference.signals import Signals
from surefoot.pulmonary import Network, Simulation
from surefoot.pulmonary.arrays import Floats
from surefoot.pulmonary.settings import SAMPLES_PER_BEAT

LOSSES = ("likelihood", "l2", "mean")


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
class Loss:
    """The data, ready to be compared with simulations."""

    data: Signals
    name: str = "likelihood"

    def __post_init__(self) -> None:
        if self.name not in LOSSES:
            raise UnknownNameError(f"expected a loss among {', '.join(LOSSES)}; got {self.name!r}; try 'likelihood'")
        if not self.data.signals:
            raise InvalidInputError("expected at least one signal; got none; try p_MPA")

    @cached_property
    def _readers(self) -> tuple[Floats, ...]:
        made: dict[bytes, Floats] = {}  # signals usually share their times
        for signal in self.data:
            key = signal.time_s.tobytes()
            if key not in made:
                made[key] = reader(signal.time_s, self.data.period_s)
        return tuple(made[signal.time_s.tobytes()] for signal in self.data)

    @cached_property
    def measured(self) -> Floats:
        """d/s (N,): the data in units of their noise."""
        return np.concatenate([signal.value / signal.noise_sd for signal in self.data])

    @cached_property
    def noise_sd(self) -> Floats:
        """s (N,)."""
        return np.concatenate([np.full(signal.value.size, signal.noise_sd) for signal in self.data])

    def predicted(self, beat: Waveforms) -> Floats:
        """g/s (N,): a simulated beat as the data would show it, in units of the noise."""
        parts = zip(self.data, self._readers, strict=True)
        return np.concatenate([read @ beat.get(signal.name) / signal.noise_sd for signal, read in parts])

    def _split(self, values: Floats) -> list[Floats]:
        ends = np.cumsum([signal.value.size for signal in self.data])
        return np.split(values, ends[:-1])

    def __call__(self, beat: Waveforms) -> float:
        """The loss of a simulated beat."""
        r = self.measured - self.predicted(beat)
        if self.name == "l2":
            return float(np.sum((r * self.noise_sd) ** 2))
        if self.name == "mean":
            return 0.5 * float(sum(np.sum(part) ** 2 / part.size for part in self._split(r)))
        return 0.5 * float(np.sum(r * r))

    def residuals(self, beat: Waveforms) -> tuple[Residual, ...]:
        """How well every signal is fitted."""
        rows = []
        for signal, r in zip(self.data, self._split(self.measured - self.predicted(beat)), strict=True):
            chi2 = float(np.mean(r * r))
            explained = 1.0 - chi2 * signal.noise_sd**2 / float(np.var(signal.value))
            rows.append(Residual(signal.name, signal.noise_sd * np.sqrt(chi2), signal.noise_sd, chi2, explained))
        return tuple(rows)


def check_vessels(data: Signals, network: Network) -> None:
    """Raise unless the simulator has every vessel that was measured."""
    missing: Sequence[str] = [signal.name for signal in data if signal.vessel not in network.names]
    if missing:
        raise InvalidInputError(
            f"expected signals of the vessels {', '.join(network.names)}; got {', '.join(missing)}; "
            "try settings with these vessels, or leave the signals out"
        )
