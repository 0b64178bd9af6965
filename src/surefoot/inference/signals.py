"""The measured data: any of the 22 signals (pressure, flow at the midpoints of 11 vessels), each with its noise level.

Times     seconds since the onset of ejection, folded into one beat. Signals keep their own times: nothing measured is
          ever interpolated, the simulation is read off at the measured times instead. So gaps (NaN), any sampling
          rate and several beats are fine.
Units     mmHg and ml/s; columns in other units (Pa, kPa, l/min) are converted when read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from surefoot.errors import InvalidInputError
from surefoot.inference.noise import MIN_SAMPLES_TO_ESTIMATE, estimate_noise_sd
from surefoot.inference.plausible import check_plausible
from surefoot.pulmonary import Network
from surefoot.pulmonary.arrays import Floats

Kind = Literal["p", "q"]
UNITS = {"p": "mmHg", "q": "ml/s"}
WORDS = {"p": "pressure", "q": "flow"}
MIN_SAMPLES = 4  # fewer say next to nothing about a waveform


def signal_names(network: Network | None = None) -> tuple[str, ...]:
    """All names a signal can have: p_MPA, q_MPA, p_RPA, ... (22 for the standard network)."""
    return tuple(f"{kind}_{vessel}" for vessel in (network or Network()).names for kind in UNITS)


@dataclass(frozen=True)
class Signal:
    """One measured waveform."""

    kind: Kind  # "p" or "q"
    vessel: str
    time_s: Floats = field(repr=False)  # (n,) in [0, period)
    value: Floats = field(repr=False)  # (n,) mmHg or ml/s, all finite
    noise_sd: float  # in the unit of the values
    noise_from: Literal["given", "estimated"] = "given"

    @property
    def name(self) -> str:
        """p_MPA or the like."""
        return f"{self.kind}_{self.vessel}"

    @property
    def unit(self) -> str:
        """mmHg or ml/s."""
        return UNITS[self.kind]

    @property
    def check(self) -> str:
        """What to look at if the model does not explain it."""
        return "units, timing (t = 0 is the onset of ejection) and the inflow"

    @property
    def snr_db(self) -> float:
        """10 log10 of the variance of the signal about its mean (without noise) over the noise variance."""
        signal = max(float(np.var(self.value)) - self.noise_sd**2, 1e-300)
        return float(10.0 * np.log10(signal / self.noise_sd**2))


@dataclass(frozen=True)
class Signals:
    """The data of one patient."""

    signals: tuple[Signal, ...]
    period_s: float  # of one beat
    truth: tuple[float, float, float] | None = None  # (f_L, f_S, xi) of synthetic data
    source: str = ""  # a file name, "synthetic", ...
    notes: tuple[str, ...] = ()  # what was done to the data when it was read: gaps left out, units converted, ...

    def __len__(self) -> int:
        return len(self.signals)

    def __iter__(self) -> Iterator[Signal]:
        return iter(self.signals)

    @property
    def names(self) -> tuple[str, ...]:
        """Of the signals that were measured."""
        return tuple(signal.name for signal in self.signals)

    @property
    def n_values(self) -> int:
        """Measured values in all."""
        return sum(signal.value.size for signal in self.signals)

    def get(self, name: str) -> Signal | None:
        """The signal of that name, or None if it was not measured."""
        return next((signal for signal in self.signals if signal.name == name), None)

    def select(self, names: Sequence[str]) -> Signals:
        """Only the signals of these names."""
        missing = [name for name in names if name not in self.names]
        if missing or not names:
            raise InvalidInputError(
                f"expected signals among {', '.join(self.names)}; got {', '.join(missing) or 'none'}; try one of them"
            )
        return replace(self, signals=tuple(signal for signal in self.signals if signal.name in names))


def make_signal(
    name: str,
    time_s: Floats,
    value: Floats,
    period_s: float,
    noise_sd: float | None = None,
    network: Network | None = None,
) -> tuple[Signal, list[str]]:
    """A checked signal, and notes on what was left out; without a noise level it is estimated from the waveform.

    Raises InvalidInputError for an unknown name, too few values, a constant signal, or values that no pulmonary vessel
    has in this unit.
    """
    known = signal_names(network)
    if name not in known:
        raise InvalidInputError(f"expected a signal among {', '.join(known)}; got {name!r}; try p_MPA or q_MPA")
    if not (np.isfinite(period_s) and period_s > 0.0):
        raise InvalidInputError(f"expected a period above 0 s; got {period_s!r}; try 0.7")
    time_s, value = np.asarray(time_s, dtype=float), np.asarray(value, dtype=float)
    if time_s.shape != value.shape or time_s.ndim != 1:
        raise InvalidInputError(
            f"expected one time for every value of {name}; got shapes {time_s.shape} and {value.shape}; "
            "try two lists of equal length"
        )
    there = np.isfinite(time_s) & np.isfinite(value)
    notes = [] if there.all() else [f"{name}: {int((~there).sum())} of {there.size} values missing, left out"]
    time_s, value = np.mod(time_s[there], period_s), value[there]
    if value.size < MIN_SAMPLES:
        raise InvalidInputError(
            f"expected at least {MIN_SAMPLES} values of {name}; got {value.size}; try without this signal"
        )
    if np.ptp(value) <= 1e-9 * np.max(np.abs(value)):
        raise InvalidInputError(
            f"expected {name} to vary over the beat; got the constant {value[0]:g}; "
            "try without this signal (a sensor that was not connected?)"
        )
    check_plausible(name, value)
    order = np.argsort(time_s, kind="stable")
    time_s, value = time_s[order], value[order]
    if noise_sd is None:
        if value.size < MIN_SAMPLES_TO_ESTIMATE:
            raise InvalidInputError(
                f"expected the noise level of {name}, or {MIN_SAMPLES_TO_ESTIMATE} values to estimate it from; "
                f"got {value.size} values; try a column sd_{name}"
            )
        sd = estimate_noise_sd(time_s, value, period_s)
    elif np.isfinite(noise_sd) and noise_sd > 0.0:
        sd = float(noise_sd)
    else:
        raise InvalidInputError(
            f"expected a noise standard deviation above 0 for {name}; got {noise_sd!r}; "
            "try leaving it out: it is estimated then"
        )
    origin: Literal["given", "estimated"] = "estimated" if noise_sd is None else "given"
    return Signal("p" if name[0] == "p" else "q", name[2:], time_s, value, sd, origin), notes
