"""The simulators without the simulators: each is emulated from its table, in a millisecond, the same on every machine.

    from emulated import load
    mapk = load("mapk")
    mapk({"V1": 2.5, ...})           # a dict of outputs, or EmulatedError with a reason

Outputs are interpolated between the successes (radial basis functions, linear, the nearest 60). Whether and why a point
fails is the vote of its five nearest neighbours, each with the inverse square of its distance. So the emulator answers
what the simulator did at every point of the table. Between them the border of failures is simpler than the real one:
good for quick tests of code, no evidence about methods. `load` needs NumPy and SciPy, and nothing of surefoot.
"""

from __future__ import annotations

import csv
import gzip
import tomllib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from scipy.interpolate import RBFInterpolator
from scipy.spatial import KDTree

HERE = Path(__file__).parent
NAMES = {  # problem: its folder, problem file and table
    "mapk": ("mapk", "problem.toml", "table.csv.gz"),
    "colpitts": ("colpitts", "problem.toml", "table.csv.gz"),
    "battery": ("battery", "problem.toml", "table.csv.gz"),
    "battery-spme": ("battery", "spme.toml", "spme.csv.gz"),
    "frame": ("frame", "problem.toml", "table.csv.gz"),
    "reactor": ("reactor", "problem.toml", "table.csv.gz"),
}
_VOTERS = 5
_NEIGHBOURS = 60  # of an interpolated point
_OWN = ("status", "reason", "duration_s", "progress")  # columns that are no outputs


class EmulatedError(Exception):
    """What the simulator would have said; progress is NaN where it tells none."""

    def __init__(self, reason: str, progress: float) -> None:
        super().__init__(reason)
        self.reason, self.progress = reason, progress


@dataclass(frozen=True)
class Table:
    """A problem's box, and what came of random points in it; n points, d parameters."""

    parameters: dict[str, dict]  # as in the problem file
    objective: str
    rows: list[dict[str, str]]

    @cached_property
    def units(self) -> np.ndarray:
        """The points in the unit cube, (n, d)."""
        return np.array([self.unit(row) for row in self.rows])

    @cached_property
    def ok(self) -> np.ndarray:
        """Which succeeded, (n,)."""
        return np.array([row["status"] == "ok" for row in self.rows])

    @property
    def outputs(self) -> list[str]:
        """Names of what a success tells, the objective among them."""
        return [name for name in self.rows[0] if name not in (*self.parameters, *_OWN)]

    def column(self, name: str) -> np.ndarray:
        """Numbers, (n,); NaN where there are none."""
        return np.array([float(row.get(name) or "nan") for row in self.rows])

    def unit(self, x: dict) -> np.ndarray:
        """A point in the unit cube, (d,)."""
        return np.array([_unit(p, float(x[name])) for name, p in self.parameters.items()])


class Emulated:
    """A function of a dict of parameters."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self._points = KDTree(table.units)
        outputs = np.column_stack([table.column(name)[table.ok] for name in table.outputs])
        self._values = RBFInterpolator(table.units[table.ok], outputs, neighbors=_NEIGHBOURS, kernel="linear")

    def __call__(self, x: dict) -> dict[str, float]:
        """The outputs at x; EmulatedError where the neighbours failed."""
        unit = self.table.unit(x)
        distances, places = self._points.query(unit, k=_VOTERS)
        weights = np.maximum(distances, 1e-12) ** -2.0
        failed = ~self.table.ok[places]
        if weights[failed].sum() > 0.5 * weights.sum():
            raise self._failure(places[failed], weights[failed])
        return dict(zip(self.table.outputs, map(float, self._values(unit[None])[0]), strict=True))

    def _failure(self, places: np.ndarray, weights: np.ndarray) -> EmulatedError:
        votes: dict[str, float] = {}
        for place, weight in zip(places, weights, strict=True):
            reason = self.table.rows[place]["reason"]
            votes[reason] = votes.get(reason, 0.0) + weight
        return EmulatedError(max(votes, key=lambda r: votes[r]), self.table.column("progress")[places[0]])


def read_table(name: str) -> Table:
    """The table of a problem in NAMES."""
    folder, problem, table = NAMES[name]
    described = tomllib.loads((HERE / folder / problem).read_text())
    with gzip.open(HERE / folder / table, "rt", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return Table(described["parameters"], described["objective"]["name"], rows)


def load(name: str) -> Emulated:
    """The emulated simulator of a problem in NAMES."""
    return Emulated(read_table(name))


def _unit(parameter: dict, value: float) -> float:
    low, high = parameter["low"], parameter["high"]
    if parameter.get("log"):
        low, high, value = np.log(low), np.log(high), np.log(value)
    return float((value - low) / (high - low))
