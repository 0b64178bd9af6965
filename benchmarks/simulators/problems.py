"""The problems of examples/simulators as functions that record what they are asked.

A point is evaluated by the simulator, in processes of its own and with the timeout of the problem file, as `surefoot
run` does it; or by the emulator of its table, in a millisecond. Either way the answer is a value or a reason.
"""

from __future__ import annotations

import json
import math
import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from examples.simulators.emulated import HERE, NAMES, EmulatedError, load
from examples.simulators.make_table import row_of
from surefoot.integrations.optuna_space import engine_space
from surefoot.optimize.space import Space
from surefoot.paper.solvers.counter import Stopped
from surefoot.runs.problem import Problem, read_problem

BEST_FILES = dict.fromkeys(NAMES, "best.json") | {"battery-spme": "spme-best.json"}
Evaluate = Callable[[int, dict[str, float]], tuple[float, str]]
"""Number and point -> the value and "", or NaN and a reason."""


@cache
def problem_of(name: str) -> Problem:
    """What the problem file says."""
    folder, file, _ = NAMES[name]
    return read_problem(HERE / folder / file)


def space_of(name: str) -> Space:
    """The box, with logarithms where the problem file has them."""
    return engine_space(problem_of(name).parameters)


def best_of_search(name: str) -> float:
    """The best value that the example's long search found."""
    return float(json.loads((HERE / NAMES[name][0] / BEST_FILES[name]).read_text())["value"])


@contextmanager
def simulator(name: str) -> Iterator[Evaluate]:
    """The simulator itself; its process stays for the next run: `surefoot.runs.evaluation.close` ends it."""
    given = problem_of(name)
    problem = replace(given, name=f"{given.name}.bench-{os.getpid()}")  # folders of this process alone

    def evaluate(number: int, x: dict[str, float]) -> tuple[float, str]:
        row = row_of(problem, number, x)
        return (float(row[given.evaluator.name]), "") if row["status"] == "ok" else (math.nan, row["reason"])

    try:
        yield evaluate
    finally:
        shutil.rmtree(problem.evaluations_folder, ignore_errors=True)


@contextmanager
def emulator(name: str) -> Iterator[Evaluate]:
    """What the problem's table says, interpolated."""
    emulated = _loaded(name)

    def evaluate(number: int, x: dict[str, float]) -> tuple[float, str]:
        try:
            return emulated(x)[emulated.table.objective], ""
        except EmulatedError as error:
            return math.nan, error.reason

    yield evaluate


_loaded = cache(load)


class Recorder:
    """A problem on the unit cube as an optimizer sees it; all that it is asked is recorded, up to n evaluations."""

    def __init__(self, evaluate: Evaluate, space: Space, n: int) -> None:
        self.space, self.n, self.d = space, n, space.d
        self.bounds = [(0.0, 1.0)] * space.d
        self.y: list[float] = []  # NaN: failed
        self.reasons: list[str] = []  # "": succeeded
        self.cpu_s = 0.0  # that this process spent on evaluations
        self.wall_s = 0.0
        self._evaluate = evaluate

    def __call__(self, unit: Any) -> float:
        """The value at a point of the unit cube; NaN: it failed."""
        values = self.space.decode(np.clip(np.asarray(unit, dtype=float).reshape(self.d), 0.0, 1.0))
        return self.at(dict(zip(self.space.names, values, strict=True)))

    def at(self, x: dict[str, Any]) -> float:
        """The value at a point in the problem's units."""
        if len(self.y) == self.n:
            raise Stopped
        cpu, wall = time.process_time(), time.perf_counter()
        value, reason = self._evaluate(len(self.y), x)
        self.cpu_s += time.process_time() - cpu
        self.wall_s += time.perf_counter() - wall
        self.y.append(value)
        self.reasons.append(reason)
        return value
