"""What an inference returns: data, evaluations, estimate, fitted waveforms, failures, posterior, versions.

Everything a report needs is here, in plain numbers; `save` and `load` keep it in one JSON file.
"""

# ruff: noqa: N815 - units keep their case (mmHg)

from __future__ import annotations

import json
import math
import os
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np

from surefoot.errors import InvalidInputError
from surefoot.inference.signals import Signal, Signals
from surefoot.optimize.history import Evaluation
from surefoot.pulmonary.arrays import Floats

NAMES = ("f_L", "f_S", "xi")
_FORMAT = "surefoot-inference-1"

Vector = tuple[float, float, float]  # (f_L, f_S, xi), stiffnesses in dyn/cm²


@dataclass(frozen=True)
class Waveforms:
    """A simulated beat at the vessels' midpoints; healthy venous flow is negative."""

    vessels: tuple[str, ...]
    time_s: Floats = field(repr=False)  # (256,)
    pressure_mmHg: Floats = field(repr=False)  # (V, 256)
    flow_ml_s: Floats = field(repr=False)  # (V, 256)

    def get(self, name: str) -> Floats:
        """The waveform of a signal's name, p_MPA or the like."""
        row = self.vessels.index(name[2:])
        return np.asarray((self.pressure_mmHg if name.startswith("p") else self.flow_ml_s)[row])


@dataclass(frozen=True)
class Residual:
    """How well one signal is fitted."""

    name: str
    rms: float  # root mean square of measured - fitted, mmHg or ml/s
    noise_sd: float
    chi2_per_value: float  # mean of ((measured - fitted)/noise_sd)²: about 1 when the model explains the data
    explained: float  # share of the signal's variance that the fit explains


@dataclass(frozen=True)
class Interval:
    """A parameter's marginal posterior."""

    name: str  # f_L, f_S or xi
    mean: float
    sd: float
    median: float
    low: float
    high: float
    level: float  # 0.9: the interval from low to high holds 90 % of the probability, 5 % on either side
    at_bound: bool  # the interval touches the bounds of the search: the data alone do not end it there


@dataclass(frozen=True)
class Posterior:
    """Samples of (f_L, f_S, xi) given the data, and how far to trust them."""

    samples: Floats = field(repr=False)  # (S, 3) in the parameters' own units, thinned to be nearly independent
    intervals: tuple[Interval, ...]  # one per parameter
    correlation: Floats  # (3, 3)
    n_simulations: int  # run for the emulator beyond those of the optimization
    n_rounds: int  # of refinement
    emulator_error: float  # rms of the emulator's error in the log posterior at fresh posterior draws
    emulator_share: float  # median share of the emulator's variance in the total variance of a principal direction
    acceptance: float  # of the Markov chains
    n_effective: float  # independent draws the chains are worth, the least over the parameters
    converged: bool
    notes: tuple[str, ...] = ()  # in plain words, anything that did not go as it should


@dataclass(frozen=True)
class Inference:
    """The result for one patient."""

    data: Signals
    bounds: tuple[tuple[float, float], ...]  # of f_L, f_S, xi
    settings: Mapping[str, Any]  # of the optimization: loss, n_evals, n_init, policy, search, failures, seed, ...
    model: Mapping[str, Any]  # of the simulator: variant, inflow, fluid, trees, ...
    evaluations: tuple[Evaluation, ...] = field(
        repr=False
    )  # of the optimization: x, y = loss, status, reason ("kind: what")
    estimate: Vector  # the parameters of least loss: the best fit (posterior.intervals has the medians)
    loss: float  # at the estimate
    fit: Waveforms = field(repr=False)  # the simulation at the estimate
    residuals: tuple[Residual, ...] = field(repr=False)  # one per measured signal
    posterior: Posterior | None  # None if it was not asked for
    versions: Mapping[str, str]
    duration_s: float
    notes: tuple[str, ...] = ()  # warnings in plain words: a poor fit, an estimate at a bound, ...

    @property
    def failures(self) -> dict[str, int]:
        """How many simulations failed, by kind (matching, cfl, ...)."""
        return dict(Counter(failure_kind(e.reason) for e in self.evaluations if not e.ok))

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
        path = Path(path)
        part = path.with_name(f"{path.name}.{os.getpid()}.tmp")
        document = {"format": _FORMAT, **{f.name: _plain(getattr(self, f.name)) for f in fields(self)}}
        part.write_text(json.dumps(document))
        os.replace(part, path)

    @classmethod
    def load(cls, path: str | Path) -> Inference:
        """Read what save wrote."""
        try:
            raw = json.loads(Path(path).read_text())
            if raw.pop("format") != _FORMAT:
                raise KeyError("format")
            return _parse(raw)
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise InvalidInputError(
                f"expected a file written by Inference.save; got {str(path)!r}, which is not ({error}); "
                "try the path given to save"
            ) from error


def failure_kind(reason: str) -> str:
    """The kind in the reason of a failed evaluation: "matching: no state joins ..." is matching."""
    return reason.split(":", 1)[0]


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


def _parse(raw: dict[str, Any]) -> Inference:
    data = raw["data"]
    signals = tuple(
        Signal(**{**s, "time_s": np.asarray(s["time_s"]), "value": np.asarray(s["value"])}) for s in data["signals"]
    )
    truth = None if data["truth"] is None else _vector(data["truth"])
    fit, posterior = raw["fit"], raw["posterior"]
    arrays = {name: np.asarray(fit[name]) for name in ("time_s", "pressure_mmHg", "flow_ml_s")}
    return Inference(
        **{
            **raw,
            "data": Signals(**{**data, "signals": signals, "truth": truth, "notes": tuple(data["notes"])}),
            "bounds": tuple((float(low), float(high)) for low, high in raw["bounds"]),
            "evaluations": tuple(Evaluation(**{**e, "x": tuple(e["x"])}) for e in raw["evaluations"]),
            "estimate": _vector(raw["estimate"]),
            "fit": Waveforms(tuple(fit["vessels"]), **arrays),
            "residuals": tuple(Residual(**residual) for residual in raw["residuals"]),
            "posterior": None if posterior is None else _parse_posterior(posterior),
            "notes": tuple(raw["notes"]),
        }
    )


def _parse_posterior(raw: dict[str, Any]) -> Posterior:
    return Posterior(
        **{
            **raw,
            "samples": np.asarray(raw["samples"]),
            "correlation": np.asarray(raw["correlation"]),
            "intervals": tuple(Interval(**interval) for interval in raw["intervals"]),
            "notes": tuple(raw["notes"]),
        }
    )


def _vector(values: Any) -> Vector:
    f_L, f_S, xi = (float(value) for value in values)
    return f_L, f_S, xi
