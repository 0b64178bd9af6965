"""The problems: four suites, and the objective that records what a library evaluates.

A task is a function on a box with its least value; it may be observed with noise, and may fail where nothing says so.
"""

from __future__ import annotations

import time
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from surefoot import problems
from surefoot.errors import UnknownNameError
from surefoot.numerics.designs import latin_hypercube, sobol
from surefoot.paper.statistics import FLOOR
from surefoot.paper.studies.failures.constrained import get_constrained

NOISY = ("BRA", "CAM", "GPR", "HM3", "SH10", "HM6")
NOISE_LEVELS = (1, 10)  # standard deviation of the noise, in percent of that of the function over its box
FAILING = ("BRA discs", "BRA random 20 %", "HM3 half-space 10 %", "HM3 half-space 30 %")  # 10 to 30 % of the box
BBOB_GROUPS = {
    "separable": range(1, 6),
    "moderate conditioning": range(6, 10),
    "ill-conditioned": range(10, 15),
    "multi-modal": range(15, 20),
    "weak structure": range(20, 25),
}


@dataclass(frozen=True)
class Task:
    """What is minimized."""

    name: str
    bounds: tuple[tuple[float, float], ...]
    function: Callable[[np.ndarray], float]  # one point (d,) -> its true value; NaN where it fails
    f_star: float
    floor: float = FLOOR  # distances below it count as this
    noise_sd: float = 0.0
    may_fail: bool = False

    @property
    def d(self) -> int:
        """Number of inputs."""
        return len(self.bounds)

    def log10_distance(self, f: np.ndarray) -> np.ndarray:
        """log10 |f - f_star|, not below the floor; 3 where f is not finite: nothing has succeeded yet."""
        distance = np.maximum(np.abs(f - self.f_star), self.floor)
        return np.where(np.isfinite(distance), np.log10(np.where(np.isfinite(distance), distance, 1.0)), 3.0)

    def design(self, seed: int) -> np.ndarray:
        """The Latin hypercube of 10 d points, (10 d, d), from which every library starts."""
        rng = np.random.default_rng((seed, zlib.crc32(self.name.encode())))
        low, high = np.asarray(self.bounds).T
        return np.asarray(low + latin_hypercube(10 * self.d, self.d, rng) * (high - low))


class Objective:
    """A task as a library sees it: one point in, the observed value out (NaN: failed). Everything is recorded."""

    def __init__(self, task: Task, seed: int) -> None:
        self.task, self.bounds, self.d = task, list(task.bounds), task.d
        self.X: list[np.ndarray] = []
        self.y: list[float] = []  # as observed
        self.true: list[float] = []  # without noise
        self.ends: list[float] = []
        self.seconds = 0.0
        # The k-th evaluation of a seed has the same noise whatever the library.
        self._noise = np.random.default_rng((seed, zlib.crc32(task.name.encode()), 1))

    def __call__(self, x: object) -> float:
        """Evaluate one point."""
        begin = time.perf_counter()
        point = np.array(x, dtype=float).reshape(self.d)
        true = float(self.task.function(point))
        y = true + self.task.noise_sd * float(self._noise.standard_normal())
        self.X.append(point)
        self.true.append(true)
        self.y.append(y)
        self.ends.append(time.perf_counter())
        self.seconds += self.ends[-1] - begin
        return y


def _of_paper(name: str) -> Task:
    f = problems.get(name)
    assert f.f_star is not None  # true of the paper's functions
    floor = float(np.spacing(max(1.0, abs(f.f_star))))  # that of Problem.log10_distance
    return Task(name, tuple(f.bounds), lambda x: float(f(x)), f.f_star, floor)


def bbob_function(name: str, instance: int) -> Any:
    """COCO's function of that name, such as f08 d2; it knows its least value (`best_value`) and point."""
    from cocoex.bare_problem import BareProblem

    function, d = name[1:].split(" d")
    return BareProblem("bbob", int(function), int(d), instance)


def _of_bbob(name: str, instance: int) -> Task:
    f = bbob_function(name, instance)
    box = ((-5.0, 5.0),) * f.dimension
    return Task(name, box, lambda x: float(f(x)), float(f.best_value()))


@cache
def spread(name: str) -> float:
    """Standard deviation of a function of the paper over its box, at 10^4 Sobol points."""
    f = problems.get(name)
    low, high = np.asarray(f.lower), np.asarray(f.upper)
    return float(np.std(f(low + sobol(10_000, f.d, np.random.default_rng(0)) * (high - low))))


def _with_noise(name: str) -> Task:
    base, level, _ = name.split()
    f = _of_paper(base)
    return Task(name, f.bounds, f.function, f.f_star, f.floor, float(level) / 100.0 * spread(base))


def _with_failures(name: str) -> Task:
    problem = get_constrained(name)
    f = problem.base

    def function(x: np.ndarray) -> float:
        return np.nan if bool(problem.fails(x)) else float(f(x))

    return Task(name, tuple(f.bounds), function, problem.f_star, may_fail=True)


@dataclass(frozen=True)
class Suite:
    """Problems by name, the seeds of each and the evaluations of a run."""

    problems: tuple[str, ...]
    seeds: tuple[int, ...]
    n: int
    make: Callable[[str, int], Task]  # problem and seed -> task


SUITES = {
    "paper": Suite(tuple(p.abbreviation for p in problems.ALL), tuple(range(15)), 200, lambda p, _: _of_paper(p)),
    "bbob": Suite(
        tuple(f"f{i:02d} d{d}" for d in (2, 5) for i in range(1, 25)), tuple(range(1, 6)), 200, _of_bbob
    ),
    "noise": Suite(
        tuple(f"{p} {level} %" for p in NOISY for level in NOISE_LEVELS), tuple(range(15)), 100,
        lambda p, _: _with_noise(p),
    ),
    "failures": Suite(FAILING, tuple(range(15)), 100, lambda p, _: _with_failures(p)),
}  # fmt: skip


def make_task(suite: str, problem: str, seed: int) -> Task:
    """The task of that name; seed s of a BBOB function is its instance s."""
    if suite not in SUITES or problem not in SUITES[suite].problems:
        known = ", ".join(SUITES[suite].problems if suite in SUITES else SUITES)
        raise UnknownNameError(f"expected one of {known}; got {suite!r}, {problem!r}; try another spelling")
    return SUITES[suite].make(problem, seed)


def bbob_group(problem: str) -> str:
    """The group and dimension of a BBOB function."""
    number = int(problem[1:3])
    return next(name for name, members in BBOB_GROUPS.items() if number in members) + problem[3:]
