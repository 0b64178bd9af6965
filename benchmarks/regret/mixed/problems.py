"""The problems of the suite: 14, of which half are for choosing defaults and the other half for judging them.

Score     log10 of the distance to the least value. A distance below FLOOR times that of a good random point (the best
          percent of 1000) counts as that: a table's least value can be met exactly, and then nothing is left to gain.
Points    x (d,) for the objective: numbers as they are, categories by their index.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cache, partial

import numpy as np

from benchmarks.regret.mixed import formulas
from benchmarks.regret.mixed.tables import GRIDS, interpolated, table
from benchmarks.regret.suites import Task
from surefoot import Categorical, Integer, Real
from surefoot.optimize.parameters import Parameter
from surefoot.optimize.space import Space

FLOOR = 1e-3
Point = tuple[float, ...]


@dataclass(frozen=True)
class MixedTask(Task):
    """A task whose parameters are of several kinds; every library starts from its own defaults."""

    space: Space = field(default_factory=lambda: Space.of([(0.0, 1.0)]))

    def design(self, seed: int) -> np.ndarray:
        """No point is given."""
        return np.empty((0, self.d))

    def code(self, values: list) -> list[float]:
        """A point (d,) from the values of the parameters in their order."""
        return [
            float(p.choices.index(v)) if isinstance(p, Categorical) else float(v)
            for p, v in zip(self.space.parameters, values, strict=True)
        ]


@dataclass(frozen=True)
class Problem:
    """A function of mixed parameters, and where it is least."""

    function: Callable[[np.ndarray], float]
    parameters: tuple[Parameter, ...]
    best: Point


def _of_table(name: str) -> Problem:
    losses = table(name)
    node = np.unravel_index(int(losses.argmin()), losses.shape)
    best = tuple(float(i if a.kind == "category" else a.levels[i]) for a, i in zip(GRIDS[name], node, strict=True))
    return Problem(partial(interpolated, name), tuple(axis.parameter for axis in GRIDS[name]), best)


def _levels(k: int) -> Categorical:
    return Categorical([f"level {i}" for i in range(k)])


# Where the formulas are least: as published, or the best of differential evolution for every choice of categories.
_BEST: dict[str, Point] = {
    "func2C": (-0.0449210070, 0.3563281733, 1, 1),
    "func3C": (-0.0449210070, 0.3563281733, 1, 1, 0),
    "Ackley-5C": (8, 9, 3, 14, 10, 0.0),
    "Goldstein": (94.5447717799, 100.0, 2, 1),
    "gear train": (16, 19, 43, 49),
    "pressure vessel": (13, 7, 42.09844559585492, 176.63659584243945),
    "coil spring": (9, 35, 1.2230410255911603),
    "concrete beam": (57, 34, 8.5),
    "welded beam": (0, 1, 3, 132, 4, 1.7821022531267077),
}


def _formula(name: str) -> Problem:
    sixteenths, number = Integer(1, 32), Real(-1.0, 1.0)
    parameters: dict[str, tuple[Parameter, ...]] = {
        "func2C": (number, number, _levels(3), _levels(5)),
        "func3C": (number, number, _levels(3), _levels(5), _levels(4)),
        "Ackley-5C": (*(_levels(17),) * 5, number),
        "Goldstein": (Real(0.0, 100.0), Real(0.0, 100.0), _levels(3), _levels(3)),
        "gear train": (Integer(12, 60),) * 4,
        "pressure vessel": (Integer(1, 99), Integer(1, 99), Real(10.0, 200.0), Real(10.0, 240.0)),
        "coil spring": (Integer(1, 70), Integer(0, 41), Real(0.6, 3.0)),
        "concrete beam": (Integer(0, 75), Integer(28, 40), Real(5.0, 10.0)),
        "welded beam": (
            Categorical(("steel", "cast iron", "aluminium", "brass")), Categorical(("two sides", "four sides")),
            sixteenths, Integer(16, 160), sixteenths, Real(0.5, 10.0),
        ),
    }  # fmt: skip
    functions = {
        "func2C": formulas.func2c,
        "func3C": formulas.func3c,
        "Ackley-5C": formulas.ackley5c,
        "Goldstein": formulas.goldstein,
        "gear train": formulas.gear_train,
        "pressure vessel": formulas.pressure_vessel,
        "coil spring": formulas.coil_spring,
        "concrete beam": formulas.concrete_beam,
        "welded beam": formulas.welded_beam,
    }
    return Problem(functions[name], parameters[name], _BEST[name])


@cache
def mixed_task(name: str) -> MixedTask:
    """The task of that name."""
    problem = _of_table(name) if name in GRIDS else _formula(name)
    space = Space.of(list(problem.parameters))
    f_star = problem.function(np.asarray(problem.best, dtype=float))
    bounds = tuple(
        (0.0, p.n_values - 1.0) if isinstance(p, Categorical) else (float(p.low), float(p.high))
        for p in problem.parameters
    )
    task = MixedTask(name, bounds, problem.function, f_star, space=space)
    units = space.from_uniform(np.random.default_rng(0).random((1000, space.d)))
    values = [problem.function(np.asarray(task.code(list(space.decode(unit))))) for unit in units]
    return replace(task, floor=FLOOR * (float(np.quantile(values, 0.01)) - f_star))
