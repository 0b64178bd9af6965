"""`python -m benchmarks.stuck`: in how many runs is the best value after n evaluations that of a wrong minimum?

    python -m benchmarks.stuck --n 200 --problem 'SH*'
    python -m benchmarks.stuck --variant restarts=none --variant warp=both

A run counts as far if its best value lies more than FAR standard deviations of the function over its box above the
least one. It counts as stuck if it is far and half of its last LAST evaluations lie within NEAR of its best point (in
the unit cube, largest coordinate): the others are on their way. Every variant of surefoot begins as it does by default.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatch

import numpy as np

from benchmarks.regret.further import CLASSICAL, FURTHER
from benchmarks.regret.suites import PAPER, Objective, Task, make_task
from surefoot import minimize
from surefoot.numerics.designs import sobol

VARIANTS = ("default", "restarts=none", "warp=both")
FAR = 1e-2
NEAR, LAST = 1e-3, 30
PROBLEMS = (
    *("HM6", "SH5", "SH7", "SH10", "SHU", "Rastrigin 4", "Ackley 5", "Michalewicz 5", "Levy 6"),
    *("Styblinski-Tang 6", "Styblinski-Tang 4", "Styblinski-Tang 8"),
)


@dataclass(frozen=True)
class End:
    """How a run ended."""

    distance: float  # of its best value to the least one, in standard deviations of the function
    n_near: int  # of its last evaluations, those beside its best point

    @property
    def is_far(self) -> bool:
        """Whether the best value is none of the least minimum."""
        return self.distance > FAR

    @property
    def is_stuck(self) -> bool:
        """Whether it is far, and stays where it is."""
        return self.is_far and self.n_near >= LAST // 2


def task_of(name: str) -> Task:
    """A function of the suite `small`, or Styblinski and Tang's with another number of inputs."""
    if name in PAPER or name in FURTHER:
        return make_task("small", name, 0)
    base, d = name.rsplit(" ", 1)
    known = CLASSICAL[base]
    return Task(name, (known.side,) * int(d), lambda x: float(known.function(x)), known.least * int(d))


def spread(task: Task) -> float:
    """Standard deviation of a function over its box, at 2048 Sobol points."""
    low, high = np.asarray(task.bounds).T
    points = low + sobol(2048, task.d, np.random.default_rng(0)) * (high - low)
    return float(np.std([task.function(x) for x in points]))


def end_of(task: Task, unit: float, seed: int, n: int, **settings: str) -> End:
    """One run."""
    objective = Objective(task, seed)
    minimize(objective, list(task.bounds), n_evals=n, seed=seed, **settings)
    low, high = np.asarray(task.bounds).T
    X, y = (np.asarray(objective.X) - low) / (high - low), np.asarray(objective.true)
    near = np.abs(X[-LAST:] - X[np.argmin(y)]).max(axis=1) < NEAR
    return End(float(y.min() - task.f_star) / unit, int(near.sum()))


def row(name: str, ends: Sequence[End], variant: str) -> str:
    """A line of the table."""
    log = np.mean([np.log10(max(end.distance, 1e-15)) for end in ends])
    far, stuck = sum(end.is_far for end in ends), sum(end.is_stuck for end in ends)
    return f"| {name} | {variant} | {far} of {len(ends)} | {stuck} | {log:.1f} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--problem", action="append", default=[], help="repeatable, * and ? as in file names")
    parser.add_argument("--variant", action="append", default=[], help='setting=value, repeatable; "default": as it is')
    parser.add_argument("--seeds", type=int, nargs=2, default=(1, 11), help="the first, and the one after the last")
    parser.add_argument("--n", type=int, default=100)
    options = parser.parse_args()
    print("| function | variant | far | of these stuck | mean log10 distance |\n|---|---|---|---|---|")
    for name in PROBLEMS:
        if options.problem and not any(fnmatch(name, pattern) for pattern in options.problem):
            continue
        task = task_of(name)
        unit = spread(task)
        for variant in options.variant or VARIANTS:
            settings = dict([variant.split("=", 1)]) if "=" in variant else {}
            ends = [end_of(task, unit, seed, options.n, **settings) for seed in range(*options.seeds)]
            print(row(name, ends, variant), flush=True)


if __name__ == "__main__":
    main()
