"""Run one evaluation and say what came of it: a value, or a failure with its reason.

A failure teaches where the simulator fails; a transient one (a lost worker, a full disk: whatever `retry_on` names) is
tried again and, if it persists, recorded without teaching anything.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from typing import Any, Literal

from surefoot.errors import InvalidInputError, as_reason, described, shown
from surefoot.execute.isolate import Isolated, isolated
from surefoot.execute.outcome import Outcome, exception_outcome
from surefoot.optimize.checks import as_integer, is_a, plain_number
from surefoot.optimize.given import listed
from surefoot.optimize.history import VALUE, Evaluation
from surefoot.optimize.outputs import as_evaluation, as_share, partial_outputs
from surefoot.optimize.parameters import Value
from surefoot.optimize.space import Space

_LONGEST_S = 2_000_000  # of a timeout, 23 days: what waits for a process counts milliseconds in 32 bits
_MOST_MB = 1e12


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


def evaluate(
    fun: Callable[[Any], Any],
    space: Space,
    x: tuple[Value, ...],
    guard: Guard | None = None,
    objective: str | None = None,
    limited: Collection[str] = (),
) -> Evaluation:
    """fun at x. Exceptions are failures; KeyboardInterrupt, and SystemExit without isolation, pass through.

    objective: the name of the output that counts, if it is known; limited: those of the outputs that have limits
    """
    guard = guard or Guard()
    start = time.perf_counter()
    for attempt in range(guard.n_retries + 1):
        try:
            outcome = _call(fun, space.to_user(x), guard)
            is_transient = guard.is_transient(outcome)
        except Exception as error:  # what the function raises is an outcome: this is the machine (no process left)
            outcome, is_transient = Outcome(reason=described(error)), True
        if not outcome.reason or not is_transient:
            return from_outcome(x, outcome, time.perf_counter() - start, objective, limited=limited)
        if attempt < guard.n_retries:
            time.sleep(min(0.1 * 2**attempt, 2.0))  # what is transient needs a moment to pass
    lost = replace(outcome, reason=f"{outcome.reason} (transient; tried {guard.n_retries + 1} times)")
    return from_outcome(x, lost, time.perf_counter() - start, objective, "transient")


def from_outcome(
    x: tuple[Value, ...],
    outcome: Outcome,
    duration_s: float,
    objective: str | None,
    status: Literal["failed", "transient"] = "failed",
    limited: Collection[str] = (),
) -> Evaluation:
    """The evaluation that an outcome is; `status` if it has a reason."""
    if not outcome.reason:
        try:
            found = as_evaluation(x, outcome.value, duration_s, objective, limited)
            return replace(found, progress=as_share(outcome.progress))
        except (TypeError, InvalidInputError) as error:  # not a number, not outputs
            outcome = Outcome(outcome.value, as_reason(error) or type(error).__name__)  # what are numbers is kept
        except Exception as error:  # what an object does when it is looked at
            outcome = exception_outcome(error)
    name, further = objective or VALUE, partial_outputs(outcome.value)
    return Evaluation(x, math.nan, status, outcome.reason, duration_s, name, further, as_share(outcome.progress))


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
