"""What a calibration returns: evaluations, best fit, residuals, failures, posterior, warnings.

Everything a report needs is here, in plain numbers; `save` and `load` keep it in one JSON file.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np

from surefoot.calibration.box import Floats
from surefoot.calibration.signals import Measured, Signal
from surefoot.errors import InvalidInputError, described, shown
from surefoot.optimize.files import write_whole
from surefoot.optimize.history import Evaluation


@dataclass(frozen=True)
class Residual:
    """How well one signal is fitted."""

    name: str
    rms: float  # root mean square of measured - fitted, in the signal's unit
    noise_sd: float  # the median, if every value has its own; then rms is this times the root of chi2_per_value
    chi2_per_value: float  # mean of ((measured - fitted)/noise_sd)²: about 1 when the model explains the data
    explained: float  # share of the signal's variance that the fit explains


@dataclass(frozen=True)
class Interval:
    """A parameter's marginal posterior."""

    name: str
    mean: float
    sd: float
    median: float
    low: float
    high: float
    level: float  # 0.9: the interval from low to high holds 90 % of the probability, 5 % on either side
    at_bound: bool  # the interval touches the bounds of the search: the data alone do not end it there


@dataclass(frozen=True)
class Posterior:
    """Samples of the parameters given the data, and how far to trust them."""

    samples: Floats = field(repr=False)  # (S, d) in the parameters' own units, thinned to be nearly independent
    intervals: tuple[Interval, ...]  # one per parameter
    correlation: Floats  # (d, d)
    n_simulations: int  # run for the emulator beyond those of the optimization
    n_rounds: int  # of refinement
    emulator_error: float  # rms of the emulator's error in the log posterior at fresh posterior draws
    emulator_share: float  # median share of the emulator's variance in the total variance of a principal direction
    acceptance: float  # of the Markov chains
    n_effective: float  # independent draws the chains are worth, the least over the parameters
    converged: bool
    notes: tuple[str, ...] = ()  # in plain words, anything that did not go as it should

    @classmethod
    def parse(cls, raw: dict[str, Any]) -> Posterior:
        """From what JSON held."""
        arrays = {name: np.asarray(raw[name]) for name in ("samples", "correlation")}
        intervals = tuple(Interval(**interval) for interval in raw["intervals"])
        return cls(**{**raw, **arrays, "intervals": intervals, "notes": tuple(raw["notes"])})


@dataclass(frozen=True, kw_only=True)
class Findings:
    """What every calibration finds, whatever was simulated."""

    bounds: tuple[tuple[float, float], ...]  # of the parameters
    settings: Mapping[str, Any]  # of the optimization: loss, n_evals, n_init, policy, search, failures, seed, ...
    evaluations: tuple[Evaluation, ...] = field(repr=False)  # of the optimization: x, y = loss, status, reason
    estimate: tuple[float, ...]  # the parameters of least loss: the best fit (posterior.intervals has the medians)
    loss: float  # at the estimate
    residuals: tuple[Residual, ...] = field(repr=False)  # one per signal
    posterior: Posterior | None  # None if it was not asked for
    duration_s: float
    notes: tuple[str, ...] = ()  # warnings in plain words: a poor fit, an estimate at a bound, ...

    format: ClassVar[str]

    @property
    def failures(self) -> dict[str, int]:
        """How many simulations failed, by kind: what their reasons begin with."""
        return dict(Counter(e.reason.split(":", 1)[0] for e in self.evaluations if not e.ok))

    @property
    def n_evals(self) -> int:
        """Simulations of the optimization, failed ones included."""
        return len(self.evaluations)

    @property
    def n_failures(self) -> int:
        """How many of them failed."""
        return sum(not e.ok for e in self.evaluations)

    @property
    def loss_trace(self) -> Floats:
        """Least loss after each evaluation; NaN before the first success."""
        best = np.minimum.accumulate([e.y if e.ok else math.inf for e in self.evaluations])
        return np.where(np.isfinite(best), best, np.nan)

    def save(self, path: str | Path) -> None:
        """Write one JSON file, whole or not at all."""
        document = {"format": self.format, **{f.name: _plain(getattr(self, f.name)) for f in fields(self)}}
        write_whole(Path(path), json.dumps(document))

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read what save wrote."""
        try:
            raw = json.loads(Path(path).read_text(encoding="utf-8"))
        except (OSError, ValueError, TypeError) as error:
            raise cls._not_ours(path, f"which cannot be read ({described(error)})") from error
        came = raw.pop("format", None) if isinstance(raw, dict) else None
        if came != cls.format:
            raise cls._not_ours(path, "which has no format" if came is None else f"whose format is {shown(came)}")
        try:
            return cls(**{**raw, **cls._parsed(raw)})
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise cls._not_ours(path, f"which has that format but not its fields ({described(error)})") from error

    @classmethod
    def _not_ours(cls, path: object, came: str) -> InvalidInputError:
        return InvalidInputError(
            f"expected a file written by {cls.__name__}.save, whose format is {cls.format!r}; "
            f"got {shown(str(path))}, {came}; try the path given to save"
        )

    @classmethod
    def _parsed(cls, raw: dict[str, Any]) -> dict[str, Any]:
        """The fields that JSON does not hold as they are."""
        return {
            "bounds": tuple((float(low), float(high)) for low, high in raw["bounds"]),
            "evaluations": tuple(Evaluation(**{**e, "x": tuple(e["x"])}) for e in raw["evaluations"]),
            "estimate": tuple(float(value) for value in raw["estimate"]),
            "residuals": tuple(Residual(**residual) for residual in raw["residuals"]),
            "posterior": None if raw["posterior"] is None else Posterior.parse(raw["posterior"]),
            "notes": tuple(raw["notes"]),
        }


@dataclass(frozen=True, kw_only=True)
class Calibration(Findings):
    """The result of `calibrate`."""

    names: tuple[str, ...]  # of the parameters
    data: tuple[Measured, ...]
    fit: Mapping[str, Floats] = field(repr=False)  # what the simulator shows at the estimate, by signal

    format: ClassVar[str] = "surefoot-calibration-1"

    @property
    def best(self) -> dict[str, float]:
        """The best fit by the parameters' names: the values of `estimate`."""
        return dict(zip(self.names, self.estimate, strict=True))

    @classmethod
    def _parsed(cls, raw: dict[str, Any]) -> dict[str, Any]:
        return {
            **super()._parsed(raw),
            "names": tuple(raw["names"]),
            "data": tuple(Signal(**signal) for signal in raw["data"]),
            "fit": {name: np.asarray(values) for name, values in raw["fit"].items()},
        }


def _plain(value: Any) -> Any:
    """Records and arrays as JSON can hold them."""
    if is_dataclass(value) and not isinstance(value, type):
        return {f.name: _plain(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, (tuple, list)):
        return [_plain(item) for item in value]
    return value
