"""Synthetic patients: a simulation with known parameters, read off at midpoints, with white Gaussian noise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from surefoot.errors import InvalidInputError
from surefoot.inference.lungs import reader, waveforms
from surefoot.inference.result import Vector, Waveforms
from surefoot.inference.signals import Signal, Signals, signal_names
from surefoot.pulmonary import Settings, simulate
from surefoot.pulmonary.arrays import Floats
from surefoot.pulmonary.settings import SAMPLES_PER_BEAT

# No instrument's noise is below this (mmHg, ml/s). Venous pressure of the `published` model varies by 0.001 mmHg over a
# beat: 10 dB of that would be an absurd precision, finer than the steps that the trees' cut-off makes in the model.
RESOLUTION = (0.1, 1.0)


def synthesize(
    truth: Vector,
    *,
    settings: Settings | None = None,
    snr_db: float = 10.0,
    seed: int = 0,
    resolution: tuple[float, float] = RESOLUTION,
    names: Sequence[str] = (),
    n_samples: int = SAMPLES_PER_BEAT,
) -> Signals:
    """The signals of a patient with parameters `truth`; raises SimulationFailure where the simulator fails.

    names: the signals measured; default: all. n_samples: per beat, evenly spaced.
    """
    settings = settings or Settings()
    instrument = Instrument(snr_db, resolution, n_samples)
    beat = waveforms(simulate(*truth, settings=settings))
    period_s = settings.inflow.period_s
    signals = instrument.measure(beat, period_s, np.random.default_rng(seed), names)
    return Signals(signals, period_s, truth, "synthetic")


@dataclass(frozen=True)
class Instrument:
    """How signals are measured: SNR is the variance of a signal about its mean over that of its noise."""

    snr_db: float
    resolution: tuple[float, float]  # least noise of a pressure and of a flow
    n_samples: int  # per beat

    def __post_init__(self) -> None:
        if not np.isfinite(self.snr_db):
            raise InvalidInputError(f"expected a finite SNR in dB; got {self.snr_db!r}; try 10")
        if self.n_samples < 4:
            raise InvalidInputError(f"expected at least 4 samples per beat; got {self.n_samples}; try 256")

    def measure(
        self, beat: Waveforms, period_s: float, rng: np.random.Generator, names: Sequence[str]
    ) -> tuple[Signal, ...]:
        """A simulated beat as measured.

        Noise is drawn for all signals and then left out for those not measured: the others do not depend on the choice.
        """
        known = tuple(f"{kind}_{vessel}" for vessel in beat.vessels for kind in ("p", "q"))
        for name in names:
            if name not in known:
                raise InvalidInputError(f"expected signals among {', '.join(signal_names())}; got {name!r}; try p_MPA")
        time_s: Floats = period_s / self.n_samples * np.arange(1, self.n_samples + 1, dtype=np.float64)
        time_s[-1] = 0.0  # one period is the onset of the next beat
        read = reader(time_s, period_s)
        order = np.argsort(time_s, kind="stable")
        signals = []
        for name in known:
            value: Floats = read @ beat.get(name)
            sd = max(float(np.std(value)) * 10.0 ** (-self.snr_db / 20.0), self.resolution[name[0] == "q"])
            noisy = value + sd * rng.standard_normal(self.n_samples)
            if name in (names or known):
                signals.append(Signal("p" if name[0] == "p" else "q", name[2:], time_s[order], noisy[order], sd))
        return tuple(signals)
