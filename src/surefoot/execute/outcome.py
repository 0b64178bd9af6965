"""What came of somebody's code: a value, or why there is none, in words that anything can store."""

from __future__ import annotations

import errno
import math
import numbers
import signal
from dataclasses import dataclass
from typing import Any

from surefoot.errors import Failed, as_reason, described

# What says something about the machine and nothing about the point: worth another try.
MACHINE_TROUBLE = frozenset(
    (errno.ENOSPC, errno.EDQUOT, errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EAGAIN, errno.EIO, errno.ESTALE)
)


@dataclass(frozen=True)
class Outcome:
    """What came of the call: a value, or why there is none."""

    value: Any = None  # with a reason: the outputs that it had by then
    reason: str = ""  # empty: the value counts
    exception_names: tuple[str, ...] = ()  # class names of the exception, most special first
    machine: bool = False  # the machine could not evaluate: nothing is learned about the point
    progress: float = math.nan  # share of the work that was done, if somebody said so

    def __post_init__(self) -> None:
        object.__setattr__(self, "reason", as_reason(self.reason))


def exception_outcome(error: BaseException) -> Outcome:
    """A raised exception as an outcome, whatever its own methods do."""
    names = tuple(f"{c.__module__}.{c.__qualname__}" for c in type(error).__mro__)
    if isinstance(error, Failed):
        is_number = isinstance(error.progress, numbers.Real) and not isinstance(error.progress, bool)
        progress = float(error.progress) if is_number else math.nan
        return Outcome(error.outputs, as_reason(error) or "failed", names, progress=progress)
    return Outcome(reason=described(error), exception_names=names)


def timeout_outcome(limit_s: float | None) -> Outcome:
    """It took too long."""
    return Outcome(reason=f"timeout: no result after {limit_s:g} s, stopped", exception_names=("timeout",))


def death_outcome(exit_code: int) -> Outcome:
    """The process died without a word; its exit code as `multiprocessing` and `subprocess` give it."""
    name = signal_name(-exit_code) if exit_code < 0 else str(exit_code)
    return Outcome(reason=death(exit_code), exception_names=("death", name))


def death(exit_code: int) -> str:
    """Why a process died."""
    if exit_code >= 0:
        return f"the process exited with status {exit_code} and no result (os._exit?)"
    name = signal_name(-exit_code)
    hint = {"SIGKILL": " (out of memory?)", "SIGSEGV": " (segmentation fault)"}.get(name, "")
    return f"the process was killed by {name}{hint}"


def signal_name(number: int) -> str:
    """SIGSEGV for 11."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def is_machine_trouble(error: BaseException) -> bool:
    """Whether the error is the machine's and passes: no space, no descriptors, no memory, no processes left."""
    return isinstance(error, OSError) and error.errno in MACHINE_TROUBLE
