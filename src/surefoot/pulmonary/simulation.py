"""What a simulation returns: the last beat of every vessel, summaries, and how it was reached."""

# ruff: noqa: N802, N815 - units keep their case (mmHg), symbols the paper's (f_L)

import csv
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

import numpy as np

from surefoot.pulmonary.arrays import Floats
from surefoot.pulmonary.checks import require
from surefoot.pulmonary.settings import SAMPLES_PER_BEAT


class Status(StrEnum):
    """How a simulation that has a result ended."""

    PERIODIC = "periodic"  # the last two beats agree within periodicity_mmHg
    COMPLETED = "completed"  # the fixed number of beats was simulated; they still differ


@dataclass(frozen=True)
class VesselSummary:
    """One vessel's midpoint over the last beat."""

    name: str
    systolic_mmHg: float
    mean_mmHg: float
    diastolic_mmHg: float
    mean_flow_ml_s: float


@dataclass(frozen=True)
class VesselNodes:
    """All nodes of one vessel, top to bottom, over the last beat."""

    name: str
    x_cm: Floats  # (N+1,)
    pressure_mmHg: Floats  # (N+1, 256)
    flow_ml_s: Floats  # (N+1, 256)


@dataclass(frozen=True)
class Simulation:
    """Pressures and flows of the last beat at the vessels' midpoints; healthy venous flow is negative."""

    f_L: float
    f_S: float
    xi: float
    vessels: tuple[str, ...]
    time_s: Floats = field(repr=False)  # (256,) t = j T/256, j = 1 .. 256
    pressure_mmHg: Floats = field(repr=False)  # (V, 256)
    flow_ml_s: Floats = field(repr=False)  # (V, 256)
    n_beats: int
    periodicity_mmHg: float  # largest change of a midpoint pressure over the last beat
    status: Status
    variant: str
    nodes: tuple[VesselNodes, ...] | None = field(default=None, repr=False)  # with all_nodes=True

    @property
    def mean_pressure_mmHg(self) -> Floats:
        """(V,) cycle means."""
        return np.asarray(self.pressure_mmHg.mean(axis=1))

    @property
    def mean_flow_ml_s(self) -> Floats:
        """(V,) cycle means."""
        return np.asarray(self.flow_ml_s.mean(axis=1))

    @property
    def summaries(self) -> tuple[VesselSummary, ...]:
        """Systolic, mean and diastolic pressure and mean flow of every vessel."""
        return tuple(
            VesselSummary(name, float(p.max()), float(p.mean()), float(p.min()), float(q.mean()))
            for name, p, q in zip(self.vessels, self.pressure_mmHg, self.flow_ml_s, strict=True)
        )

    def nodes_of(self, name: str) -> VesselNodes:
        """All nodes of one vessel; needs all_nodes=True."""
        require(self.nodes is not None, "a simulation with all nodes", "midpoints only", "pass all_nodes=True")
        require(name in self.vessels, f"a vessel among {', '.join(self.vessels)}", name, "correct the name")
        return next(vessel for vessel in self.nodes or () if vessel.name == name)

    def to_csv(self, path: str | Path) -> None:
        """Write t_s and, per vessel, p_NAME_mmHg and q_NAME_mls: one row per sample."""
        header = ["t_s"]
        columns = [self.time_s]
        for name, p, q in zip(self.vessels, self.pressure_mmHg, self.flow_ml_s, strict=True):
            header += [f"p_{name}_mmHg", f"q_{name}_mls"]
            columns += [p, q]
        with Path(path).open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(header)
            for j in range(SAMPLES_PER_BEAT):
                writer.writerow([f"{column[j]:.9g}" for column in columns])
