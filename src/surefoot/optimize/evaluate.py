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

from surefoot.errors import InvalidInputError, as_reason, described, shown
from surefoot.execute.isolate import Isolated, isolated
from surefoot.execute.outcome import Outcome, exception_outcome
from surefoot.optimize.checks import as_integer, is_a, plain_number
from surefoot.optimize.given import listed
from surefoot.optimize.history import Evaluation
from surefoot.optimize.parameters import Value
from surefoot.optimize.space import Space

_LONGEST_S = 2_000_000  # of a timeout, 23 days: what waits for a process counts milliseconds in 32 bits
_MOST_MB = 1e12
_MAX_SHOWN = 100  # characters of a returned value in a reason


@dataclass(frozen=True)
class Guard:
    """How an evaluation is run."""

    timeout_s: float | None = None  # stops the work; needs and implies a process of its own
    isolate: str | None = None  # "process": survive segmentation faults, os._exit, sys.exit and lack of memory
    memory_limit_mb: float | None = None  # that an isolated evaluation may add
    retry_on: tuple[type[BaseException], ...] = ()  # exceptions that are transient
    n_retries: int = 2

    def __post_init__(self) -> None:
        if self.isolate is not None and not (is_a(self.isolate, str) and self.isolate == "process"):
            raise InvalidInputError(
                f"expected isolate='process' or None; got {shown(self.isolate)}; try isolate='process'"
            )
        for what, field, most in (
            ("timeout", "timeout_s", _LONGEST_S),
            ("memory_limit_mb", "memory_limit_mb", _MOST_MB),
        ):
            value = getattr(self, field)
            if value is None:
                continue
            number = plain_number(value)
            if number is None or not 0.0 < number <= most:
                raise InvalidInputError(
                    f"expected {what} to be a positive number, at most {most:g}; got {shown(value)}; try {what}=60"
                )
            object.__setattr__(self, field, float(number))
        object.__setattr__(self, "n_retries", as_integer("n_retries", self.n_retries, 0, 2))

    @property
    def in_process(self) -> bool:
        """Whether evaluations get a process of their own."""
        return self.isolate == "process" or self.timeout_s is not None or self.memory_limit_mb is not None

    def is_transient(self, outcome: Outcome) -> bool:
        """Whether the failure is one of those to be tried again."""
        names = {f"{kind.__module__}.{kind.__qualname__}" for kind in self.retry_on}
        return outcome.machine or bool(names & set(outcome.exception_names))


def exception_classes(given: Any) -> tuple[type[BaseException], ...]:
    """The exceptions that a user names: one, or several."""
    several = listed(given)
    kinds: tuple[Any, ...] = (given,) if several is None else tuple(several)
    if not all(is_a(kind, type) and issubclass(kind, BaseException) for kind in kinds):
        raise InvalidInputError(
            f"expected retry_on as an exception class or a tuple of them; got {shown(given)}; try (OSError,)"
        )
    return kinds


def as_float(value: Any) -> float:
    """A scalar result as a float: numbers, 0-d and one-element arrays. TypeError for anything else."""
    if is_a(value, bool, np.bool_, str, bytes) or value is None:
        raise TypeError(f"the function returned {shown(value, _MAX_SHOWN)}, not a number")
    if is_a(value, np.ma.MaskedArray) and np.ma.is_masked(value):  # its data mean nothing
        raise TypeError("the function returned a masked value, not a number")
    try:
        array = np.asarray(value)
    except Exception as error:
        kind = "a ragged sequence" if is_a(value, list, tuple) else f"an object of type {type(value).__name__}"
        raise TypeError(f"the function returned {kind}, not one real number ({described(error)})") from None
    if array.size == 1 and array.dtype.kind in "iuf":
        return float(array.reshape(()).item())
    of_shape = f"of shape {array.shape}" if array.ndim > 0 else shown(value, _MAX_SHOWN)
    raise TypeError(f"the function returned {type(value).__name__} {of_shape}, not one real number")


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
        try:
            outcome = _call(fun, space.to_user(x), guard)
            is_transient = guard.is_transient(outcome)
        except Exception as error:  # what the function raises is an outcome: this is the machine (no process left)
            outcome, is_transient = Outcome(reason=described(error)), True
        if not outcome.reason:
            try:
                return as_evaluation(x, outcome.value, time.perf_counter() - start)
            except Exception as error:  # TypeError, or what an object does when it is looked at
                return Evaluation(x, math.nan, "failed", as_reason(error), time.perf_counter() - start)
        if not is_transient:
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
