"""The result for one patient: a calibration's findings, with data, fitted waveforms and simulator of the lungs."""

# ruff: noqa: N815 - units keep their case (mmHg)

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from surefoot.calibration.box import Floats
from surefoot.calibration.result import Findings
from surefoot.inference.signals import Signal, Signals

NAMES = ("f_L", "f_S", "xi")

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


@dataclass(frozen=True, kw_only=True)
class Inference(Findings):
    """The result for one patient; the kinds of failures are the simulator's (matching, cfl, ...)."""

    data: Signals
    estimate: Vector  # of least loss: the best fit (posterior.intervals has the medians)
    model: Mapping[str, Any]  # of the simulator: variant, inflow, fluid, trees, ...
    fit: Waveforms = field(repr=False)  # the simulation at the estimate
    versions: Mapping[str, str]

    format: ClassVar[str] = "surefoot-inference-1"

    @classmethod
    def _parsed(cls, raw: dict[str, Any]) -> dict[str, Any]:
        data, fit = raw["data"], raw["fit"]
        signals = tuple(
            Signal(**{**s, "time_s": np.asarray(s["time_s"]), "value": np.asarray(s["value"])}) for s in data["signals"]
        )
        truth = None if data["truth"] is None else vector_of(data["truth"])
        arrays = {name: np.asarray(fit[name]) for name in ("time_s", "pressure_mmHg", "flow_ml_s")}
        return {
            **super()._parsed(raw),
            "estimate": vector_of(raw["estimate"]),
            "data": Signals(**{**data, "signals": signals, "truth": truth, "notes": tuple(data["notes"])}),
            "fit": Waveforms(tuple(fit["vessels"]), **arrays),
        }


def vector_of(x: Any) -> Vector:
    """Three floats."""
    f_L, f_S, xi = (float(value) for value in x)
    return f_L, f_S, xi
