"""Flow into the first artery over one beat: the built-in ejection waveform, or a table from a CSV file."""

import csv
import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from surefoot.errors import InvalidInputError
from surefoot.pulmonary.arrays import Floats
from surefoot.pulmonary.checks import number, positive, require


@dataclass(frozen=True)
class Ejection:
    """Half-cosine up, half-cosine down, a small closing backflow, then rest; made for this project.

    The measured waveform of the 2014 study is not public. The mean is chosen so that the pressure in the main
    pulmonary artery is normal (about 13 mmHg) at the nominal parameters; stroke volume 77 ml.
    """

    period_s: float = 0.70  # the 2014 program
    mean_ml_s: float = 110.0
    upstroke_s: float = 0.16
    downstroke_s: float = 0.21
    backflow_s: float = 0.08
    backflow_fraction: float = 0.04  # of the peak

    def __post_init__(self) -> None:
        for key in ("period_s", "upstroke_s", "downstroke_s", "backflow_s"):
            positive(f"inflow {key}", getattr(self, key), "times are in seconds")
        number("inflow mean_ml_s", self.mean_ml_s, "110 ml/s is the default")
        number("inflow backflow_fraction", self.backflow_fraction, "0.04 is the default")
        beat = self.upstroke_s + self.downstroke_s + self.backflow_s
        require(
            beat <= self.period_s,
            f"upstroke + downstroke + backflow <= period_s = {self.period_s}",
            beat,
            "shorten them",
        )
        require(
            0.0 <= self.backflow_fraction < 1.0,
            "0 <= backflow_fraction < 1",
            self.backflow_fraction,
            "try 0.04",
        )

    def at(self, t_s: Floats) -> Floats:
        """Flow in ml/s at times within one period."""
        up, down, back, part = self.upstroke_s, self.downstroke_s, self.backflow_s, self.backflow_fraction
        after = t_s - up - down
        shape = np.select(
            [t_s < up, after < 0.0, after < back],
            [
                0.5 * (1.0 - np.cos(math.pi * t_s / up)),
                0.5 * (1.0 + np.cos(math.pi * (t_s - up) / down)),
                -0.5 * part * (1.0 - np.cos(2.0 * math.pi * after / back)),
            ],
            0.0,
        )
        stroke = 0.5 * up + 0.5 * down - 0.5 * part * back
        return np.asarray(self.mean_ml_s * self.period_s * shape / stroke, dtype=np.float64)


@dataclass(frozen=True)
class FlowTable:
    """A measured flow from 0 to one period, equal at both ends; a periodic cubic spline runs through it."""

    times_s: tuple[float, ...]
    flow_ml_s: tuple[float, ...]

    def __post_init__(self) -> None:
        t, q = np.asarray(self.times_s), np.asarray(self.flow_ml_s)
        require(
            t.size >= 4 and t.size == q.size,
            "at least 4 pairs of time and flow",
            (t.size, q.size),
            "add rows",
        )
        finite = bool(np.all(np.isfinite(t)) and np.all(np.isfinite(q)))
        require(finite, "finite times and flows", "a NaN or infinity", "remove those rows")
        require(bool(np.all(np.diff(t) > 0.0)), "increasing times", self.times_s[:5], "sort the rows")
        require(t[0] == 0.0, "the first time to be 0", float(t[0]), "subtract it from all times")
        close = abs(q[-1] - q[0]) <= 1e-6 * float(np.max(np.abs(q)))
        require(close, "the last flow to equal the first: one whole beat", (q[0], q[-1]), "add the row t = period")

    @property
    def period_s(self) -> float:
        """Length of the beat."""
        return self.times_s[-1]

    def at(self, t_s: Floats) -> Floats:
        """Flow in ml/s at times within one period."""
        from scipy.interpolate import CubicSpline  # here: only tables need it

        q = np.asarray(self.flow_ml_s)
        q[-1] = q[0]
        return np.asarray(CubicSpline(np.asarray(self.times_s), q, bc_type="periodic")(t_s), dtype=np.float64)

    @staticmethod
    def from_csv(path: str | Path) -> "FlowTable":
        """Read the columns t_s and q_ml_s of a CSV file with a header."""
        try:
            with Path(path).open(newline="", encoding="utf-8") as file:
                rows = list(csv.DictReader(file))
        except OSError as error:
            raise InvalidInputError(f"expected a readable inflow file, got {error}; check the path") from error
        columns = list(rows[0]) if rows else []
        good = "t_s" in columns and "q_ml_s" in columns
        require(good, f"columns t_s and q_ml_s in {path}", columns, "name the columns in the first line")
        try:
            times = tuple(float(row["t_s"]) for row in rows)
            flows = tuple(float(row["q_ml_s"]) for row in rows)
        except (TypeError, ValueError) as error:
            raise InvalidInputError(f"expected numbers in every row of {path}, got: {error}; mend that row") from error
        return FlowTable(times, flows)


Inflow = Ejection | FlowTable
