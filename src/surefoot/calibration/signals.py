"""The data: signals, each with a noise level. The simulator says what it would show in place of each."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from surefoot.calibration.box import Floats
from surefoot.errors import InvalidInputError, shown
from surefoot.expect import expect


class Measured(Protocol):
    """What calibration needs to know of a signal."""

    @property
    def name(self) -> str:
        """By which the simulator returns it."""

    @property
    def value(self) -> Floats:
        """(n,), all finite."""

    @property
    def noise_sd(self) -> float | Floats:
        """Standard deviation of the noise, of all values or (n,) of each, in their unit."""

    @property
    def noise_from(self) -> str:
        """Where that is from: given, estimated, ..."""

    @property
    def check(self) -> str:
        """What to look at if the simulator does not explain it."""


@dataclass(frozen=True)
class Signal:
    """One measured curve, or any list of numbers that belong together.

    at    where the values were measured (times, places), for figures; default: 0, 1, ...
    unit  of the values, for figures
    """

    name: str
    value: Floats = field(repr=False)  # (n,), all finite
    noise_sd: float | Floats  # above 0, in the unit of the values; one for all, or one for each
    at: Floats | None = field(default=None, repr=False)
    unit: str = ""
    noise_from: str = "given"
    check: str = "units, noise level and what the simulator leaves out"

    def __post_init__(self) -> None:
        named = isinstance(self.name, str) and self.name != ""
        expect(named, "the name of a signal as text", self.name, "Signal('position', values, noise_sd=0.1)")
        value = numbers(self.value)
        if value is None or value.ndim != 1 or value.size == 0 or not np.isfinite(value).all():
            raise InvalidInputError(
                f"expected the values of {self.name} as a list of finite numbers; got {shown(self.value)}; "
                "try leaving gaps out, here and of what the simulator returns"
            )
        sd = numbers(self.noise_sd)
        if sd is None or sd.shape not in ((), value.shape) or not np.all(np.isfinite(sd) & (sd > 0.0)):
            raise InvalidInputError(
                f"expected the noise's standard deviation of {self.name}, above 0, one or {value.size}; "
                f"got {shown(self.noise_sd)}; try what the instrument's maker says, or the scatter of repetitions"
            )
        at = numbers(np.arange(value.size) if self.at is None else self.at)
        if at is None or at.shape != value.shape:
            raise InvalidInputError(
                f"expected one place for each of the {value.size} values of {self.name}; got {shown(self.at)}; "
                "try without `at`"
            )
        for name, array in (("value", value), ("noise_sd", float(sd) if sd.ndim == 0 else sd), ("at", at)):
            object.__setattr__(self, name, array)


def numbers(given: Any) -> Floats | None:
    """Real numbers as an array; None if they are none."""
    try:
        return None if has_complex(given) else np.asarray(given, dtype=float)
    except (TypeError, ValueError):
        return None


def has_complex(given: Any) -> bool:
    """Whether complex numbers are among them: NumPy would take their real parts."""
    try:
        array = np.asarray(given)
    except (TypeError, ValueError):  # ragged: no numbers at all
        return False
    if array.dtype == object:
        return any(isinstance(item, (complex, np.complexfloating)) for item in array.flat)
    return array.dtype.kind == "c"


def as_signals(data: Any) -> tuple[Measured, ...]:
    """One signal or several, as a tuple; their names must differ."""
    signals = (data,) if hasattr(data, "noise_sd") else tuple(data) if isinstance(data, Iterable) else ()
    names = [getattr(signal, "name", None) for signal in signals]
    if not signals or None in names or len(set(names)) < len(names):
        raise InvalidInputError(
            f"expected at least one signal, each with a name of its own; got {shown(data)}; "
            "try [Signal('position', values, noise_sd=0.1)]"
        )
    return signals
