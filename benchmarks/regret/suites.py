"""The problems: six suites, and the objective that records what a library evaluates.

A task is a function on a box with its least value; it may be observed with noise, and may fail where nothing says so.
"""

from __future__ import annotations

import re
import time
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from benchmarks.regret.further import CLASSICAL, FURTHER
from benchmarks.regret.mixed import CHOSEN_ON, JUDGED_ON
from surefoot import problems
from surefoot.errors import UnknownNameError
from surefoot.numerics.designs import latin_hypercube, sobol
from surefoot.paper.statistics import FLOOR
from surefoot.paper.studies.failures.constrained import get_constrained

PAPER = tuple(p.abbreviation for p in problems.ALL)
NOISY = ("BRA", "CAM", "GPR", "HM3", "SH10", "HM6")
NOISE_LEVELS = (1, 10)  # standard deviation of the noise, in percent of that of the function over its box
FAILING = ("BRA discs", "BRA random 20 %", "HM3 half-space 10 %", "HM3 half-space 30 %")  # 10 to 30 % of the box
PER_INPUT = 10  # points of the design from which all libraries start, for each input
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

    @property
    def n_design(self) -> int:
        """Points from which every library starts."""
        return PER_INPUT * self.d

    def log10_distance(self, f: np.ndarray) -> np.ndarray:
        """log10 |f - f_star|, not below the floor; 3 where f is not finite: nothing has succeeded yet."""
        distance = np.maximum(np.abs(f - self.f_star), self.floor)
        return np.where(np.isfinite(distance), np.log10(np.where(np.isfinite(distance), distance, 1.0)), 3.0)

    def design(self, seed: int) -> np.ndarray:
        """The Latin hypercube (n_design, d) from which every library starts."""
        rng = np.random.default_rng((seed, zlib.crc32(self.name.encode())))
        low, high = np.asarray(self.bounds).T
        return np.asarray(low + latin_hypercube(self.n_design, self.d, rng) * (high - low))


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


def _of_further(name: str) -> Task:
    f = FURTHER[name]
    return Task(name, f.bounds, lambda x: float(f.function(x)), f.f_star)


def _of_bbob(name: str, instance: int) -> Task:
    f = bbob_function(name, instance)
    box = ((-5.0, 5.0),) * f.dimension
    return Task(name, box, lambda x: float(f(x)), float(f.best_value()))


def _of_mixed(name: str) -> Task:
    from benchmarks.regret.mixed.problems import mixed_task  # which stands on this file

    return mixed_task(name)


def _of_many_inputs(name: str, seed: int) -> Task:
    """A BBOB function, one of CLASSICAL, or HM6 of the paper, the first six of many inputs."""
    base, d = name.rsplit(" d", 1)
    if is_bbob(name):
        return _of_bbob(name, seed)
    if base == "HM6":
        f = _of_paper(base)
        box = (*f.bounds, *(((0.0, 1.0),) * (int(d) - f.d)))
        return Task(name, box, lambda x: f.function(x[: f.d]), f.f_star, f.floor)
    known = CLASSICAL[base]
    return Task(name, (known.side,) * int(d), lambda x: float(known.function(x)), known.least * int(d))


def is_bbob(problem: str) -> bool:
    """Whether it is a function of COCO's."""
    return re.fullmatch(r"f\d\d d\d+", problem) is not None


def _of_any(name: str, seed: int) -> Task:
    """The paper's, a further one, or instance `seed` of a BBOB function."""
    if name in FURTHER:
        return _of_further(name)
    return _of_paper(name) if name in PAPER else _of_bbob(name, seed)


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
    checkpoints: tuple[int, ...] = (50, 100, 200)  # evaluations after which runs are compared
    own_start: bool = False  # every library begins as it does by default; otherwise all with the same design


def _bbob(*dimensions: int) -> tuple[str, ...]:
    return tuple(f"f{i:02d} d{d}" for d in dimensions for i in range(1, 25))


SUITES = {
    "paper": Suite(PAPER, tuple(range(15)), 200, lambda p, _: _of_paper(p)),
    "bbob": Suite(_bbob(2, 5), tuple(range(1, 6)), 200, _of_bbob),
    "noise": Suite(
        tuple(f"{p} {level} %" for p in NOISY for level in NOISE_LEVELS), tuple(range(15)), 100,
        lambda p, _: _with_noise(p),
    ),
    "failures": Suite(FAILING, tuple(range(15)), 100, lambda p, _: _with_failures(p)),
    "many-inputs": Suite(
        (*(f"{name} d{d}" for d in (20, 50) for name in CLASSICAL), "HM6 d100",
         *_bbob(20, 40)),
        tuple(range(1, 6)), 400, _of_many_inputs, (100, 200, 400), own_start=True,
    ),
    "small": Suite(
        (*PAPER, *FURTHER, *_bbob(2, 3, 5, 10)), tuple(range(1, 11)), 60, _of_any, (20, 30, 40, 60), own_start=True
    ),
    "mixed": Suite(
        (*CHOSEN_ON, *JUDGED_ON), tuple(range(10)), 100, lambda p, _: _of_mixed(p), (30, 60, 100), own_start=True
    ),
}  # fmt: skip


def make_task(suite: str, problem: str, seed: int) -> Task:
    """The task of that name; seed s of a BBOB function is its instance s."""
    if suite not in SUITES or problem not in SUITES[suite].problems:
        known = ", ".join(SUITES[suite].problems if suite in SUITES else SUITES)
        raise UnknownNameError(f"expected one of {known}; got {suite!r}, {problem!r}; try another spelling")
    return SUITES[suite].make(problem, seed)


def bbob_group(problem: str) -> str:
    """The group and dimension of a BBOB function; the name of any other."""
    if not is_bbob(problem):
        return problem
    number = int(problem[1:3])
    return next(name for name, members in BBOB_GROUPS.items() if number in members) + problem[3:]


def part_of(problem: str) -> str:
    """Where a problem of the suite `small` comes from; what one of `mixed` is for."""
    if problem in CHOSEN_ON or problem in JUDGED_ON:
        return "defaults chosen on" if problem in CHOSEN_ON else "judged on"
    if problem in PAPER or problem in FURTHER:
        return "paper" if problem in PAPER else "further"
    return f"BBOB, d = {problem[5:]}"
