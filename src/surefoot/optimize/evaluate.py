"""Run one evaluation and say what came of it: a value, or a failure with its reason.

A failure teaches where the simulator fails; a transient one (a lost worker, a full disk: whatever `retry_on` names) is
tried again and, if it persists, recorded without teaching anything.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from surefoot.errors import InvalidInputError
from surefoot.execute.isolate import Isolated, isolated
from surefoot.execute.outcome import Outcome, exception_outcome
from surefoot.optimize.history import Evaluation
from surefoot.optimize.parameters import Value
from surefoot.optimize.space import Space


@dataclass(frozen=True)
class Guard:
    """How an evaluation is run."""

    timeout_s: float | None = None  # stops the work; needs and implies a process of its own
    isolate: str | None = None  # "process": survive segmentation faults, os._exit, sys.exit and lack of memory
    memory_limit_mb: float | None = None  # that an isolated evaluation may add
    retry_on: tuple[type[BaseException], ...] = ()  # exceptions that are transient
    n_retries: int = 2

    def __post_init__(self) -> None:
        if self.isolate not in (None, "process"):
            raise InvalidInputError(f"expected isolate='process' or None; got {self.isolate!r}; try isolate='process'")
        for name, value in (("timeout", self.timeout_s), ("memory_limit_mb", self.memory_limit_mb)):
            if value is not None and not (isinstance(value, (int, float)) and 0.0 < value < math.inf):
                raise InvalidInputError(f"expected {name} to be a positive number; got {value!r}; try {name}=60")
        if isinstance(self.n_retries, bool) or not isinstance(self.n_retries, int) or self.n_retries < 0:
            raise InvalidInputError(f"expected n_retries of at least 0; got {self.n_retries!r}; try n_retries=2")
        kinds = self.retry_on if isinstance(self.retry_on, tuple) else (self.retry_on,)
        if not all(isinstance(kind, type) and issubclass(kind, BaseException) for kind in kinds):
            raise InvalidInputError(
                f"expected retry_on as an exception class or a tuple of them; got {self.retry_on!r}; try (OSError,)"
            )
        object.__setattr__(self, "retry_on", kinds)

    @property
    def in_process(self) -> bool:
        """Whether evaluations get a process of their own."""
        return self.isolate == "process" or self.timeout_s is not None or self.memory_limit_mb is not None

    def is_transient(self, outcome: Outcome) -> bool:
        """Whether the failure is one of those to be tried again."""
        names = {f"{kind.__module__}.{kind.__qualname__}" for kind in self.retry_on}
        return outcome.machine or bool(names & set(outcome.exception_names))


def as_float(value: Any) -> float:
    """A scalar result as a float: numbers, 0-d and one-element arrays. TypeError for anything else."""
    if isinstance(value, (bool, np.bool_, str, bytes)) or value is None:
        raise TypeError(f"the function returned {value!r}, not a number")
    try:
        array = np.asarray(value)
    except ValueError:
        raise TypeError("the function returned a ragged sequence, not one real number") from None
    if array.size != 1 or array.dtype.kind not in "iuf":
        raise TypeError(f"the function returned {type(value).__name__} of shape {array.shape}, not one real number")
    return float(array.reshape(()).item())


def as_evaluation(x: tuple[Value, ...], value: Any, duration_s: float = math.nan) -> Evaluation:
    """The evaluation that a returned value stands for: NaN and infinities are failures. TypeError: not a number."""
    y = as_float(value)
    if math.isfinite(y):
        return Evaluation(x, y, duration_s=duration_s)
    return Evaluation(x, math.nan, "failed", f"the value was {y}", duration_s)


def evaluate(fun: Callable[[Any], Any], space: Space, x: tuple[Value, ...], guard: Guard | None = None) -> Evaluation:
    """fun at x. Exceptions are failures; KeyboardInterrupt, and SystemExit without isolation, pass through."""
    guard = guard or Guard()
    start = time.perf_counter()
    for attempt in range(guard.n_retries + 1):
        outcome = _call(fun, space.to_user(x), guard)
        if not outcome.reason:
            try:
                return as_evaluation(x, outcome.value, time.perf_counter() - start)
            except TypeError as error:
                return Evaluation(x, math.nan, "failed", str(error), time.perf_counter() - start)
        if not guard.is_transient(outcome):
            return Evaluation(x, math.nan, "failed", outcome.reason, time.perf_counter() - start)
        if attempt < guard.n_retries:
            time.sleep(min(0.1 * 2**attempt, 2.0))  # what is transient needs a moment to pass
    reason = f"{outcome.reason} (transient; tried {guard.n_retries + 1} times)"
    return Evaluation(x, math.nan, "transient", reason, time.perf_counter() - start)


def _call(fun: Callable[[Any], Any], argument: Any, guard: Guard) -> Outcome:
    if isinstance(fun, Isolated):
        return fun.call(argument)
    if guard.in_process:  # a single call: `minimize` keeps the processes from call to call
        with isolated(fun, guard) as prepared:
            return _call(prepared, argument, guard)
    try:
        return Outcome(value=fun(argument))
    except Exception as error:
        return exception_outcome(error)
