"""Models of scikit-learn as cheap functions: losses on whole grids, trained once, and what lies between the nodes.

Numbers   are interpolated linearly between neighbouring nodes, on a logarithmic scale where their parameter has one;
          categories are looked up. The least value of such a function lies at a node, so that it is known exactly.
Shapes    a point is (d,), categories by their index; a table has one axis for each parameter.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from surefoot import Categorical, Integer, Real
from surefoot.optimize.parameters import Parameter

TABLES = Path(__file__).with_name("tables.npz")


@dataclass(frozen=True)
class Axis:
    """One parameter: its nodes, or its choices."""

    name: str
    kind: str  # "real", "integer" or "category"
    levels: tuple
    log: bool = False

    @property
    def parameter(self) -> Parameter:
        """As surefoot has it."""
        if self.kind == "category":
            return Categorical(self.levels)
        low, high = self.levels[0], self.levels[-1]
        return Real(low, high, log=self.log) if self.kind == "real" else Integer(low, high, log=self.log)

    def place(self, value: float) -> tuple[int, float]:
        """The node before a value, and how far it is on the way to the next."""
        if self.kind == "category":
            return int(value), 0.0
        scale = [math.log(level) if self.log else float(level) for level in self.levels]
        at = math.log(value) if self.log else float(value)
        i = min(max(int(np.searchsorted(scale, at, side="right")) - 1, 0), len(scale) - 2)
        return i, min(1.0, max(0.0, (at - scale[i]) / (scale[i + 1] - scale[i])))


GRIDS = {
    "svm": (
        Axis("C", "real", (1e-3, 1e-2, 1e-1, 1.0, 10.0, 100.0, 1000.0), log=True),
        Axis("gamma", "real", (1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0), log=True),
        Axis("degree", "integer", (2, 3, 4, 5)),
        Axis("kernel", "category", ("linear", "poly", "rbf", "sigmoid")),
        Axis("scaler", "category", ("none", "standard", "minmax")),
    ),
    "neighbours": (
        Axis("neighbours", "integer", tuple(range(1, 51))),
        Axis("components", "integer", (2, 3, 4, 6, 9, 13, 20, 30), log=True),
        Axis(
            "metric", "category",
            ("braycurtis", "canberra", "chebyshev", "cityblock", "correlation", "cosine", "euclidean", "sqeuclidean"),
        ),
        Axis("scaler", "category", ("none", "standard", "minmax", "robust", "quantile")),
        Axis("weights", "category", ("uniform", "distance")),
    ),
    "forest": (
        Axis("trees", "integer", (1, 2, 4, 8, 16, 32), log=True),
        Axis("depth", "integer", (1, 2, 3, 5, 8)),
        Axis("leaf", "integer", (1, 2, 5, 10, 20), log=True),
        Axis("features", "real", (0.05, 0.2, 0.5, 1.0)),
        Axis("criterion", "category", ("gini", "entropy")),
        Axis("bootstrap", "category", (True, False)),
    ),
    "boosting": (
        Axis("stages", "integer", (1, 2, 5, 10, 20, 40, 70, 100), log=True),
        Axis("rate", "real", (0.01, 0.03, 0.1, 0.3, 1.0), log=True),
        Axis("depth", "integer", (1, 2, 3, 5)),
        Axis("subsample", "real", (0.3, 0.6, 1.0)),
        Axis("loss", "category", ("squared_error", "absolute_error", "huber")),
        Axis("features", "category", ("all", "sqrt", "log2")),
    ),
    "features": tuple(Axis(f"feature {i}", "category", (False, True)) for i in range(13)),
}  # fmt: skip


@cache
def table(name: str) -> np.ndarray:
    """The losses at the nodes."""
    with np.load(TABLES) as data:
        return np.asarray(data[name], dtype=float)


def interpolated(name: str, x: np.ndarray) -> float:
    """The loss at a point (d,)."""
    places = [axis.place(value) for axis, value in zip(GRIDS[name], x, strict=True)]
    losses, total = table(name), 0.0
    for ends in itertools.product(*((0, 1) if part > 0.0 else (0,) for _, part in places)):
        weight = math.prod(part if end else 1.0 - part for end, (_, part) in zip(ends, places, strict=True))
        total += weight * losses[tuple(i + end for end, (i, _) in zip(ends, places, strict=True))]
    return float(total)
