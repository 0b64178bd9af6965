"""What a run of `minimize` has to do, and one evaluation after another of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from surefoot.optimize.evaluate import Guard, evaluate
from surefoot.optimize.history import Evaluation
from surefoot.optimize.optimizer import Optimizer
from surefoot.optimize.parameters import Value

Point = tuple[Value, ...]


@dataclass(frozen=True)
class Work:
    """Evaluate `fun` at the points of the queue, then where the optimizer suggests, until there are n_evals in all."""

    fun: Callable[[Any], Any]
    optimizer: Optimizer
    queue: list[Point]
    n_evals: int
    guard: Guard
    report: Callable[[Evaluation], None]  # called after each; may raise to stop

    @property
    def n_left(self) -> int:
        """Evaluations that have not ended."""
        return self.n_evals - len(self.optimizer.history)

    def next_point(self) -> Point:
        """The point to be evaluated next, pending from now on."""
        if not self.queue:
            return self.optimizer.space.validate(self.optimizer.ask())
        self.optimizer.mark_pending(self.queue[0])
        return self.queue.pop(0)

    def task(self, point: Point) -> tuple[Any, ...]:
        """The arguments of `evaluate`, here or on a worker."""
        optimizer = self.optimizer
        space = replace(optimizer.space, constraints=())  # functions among them may not travel
        limited = tuple(optimizer.settings.outputs)
        return self.fun, space, point, self.guard, optimizer.known_objective, limited


def one_by_one(work: Work) -> None:
    """All of it, here [NH18, Algorithms 1 and 2]."""
    while work.n_left > 0:
        evaluation = evaluate(*work.task(work.next_point()))
        work.optimizer.record(evaluation)
        work.report(evaluation)
