"""Run a function in a process of its own, so that its death, its hunger or its sleep cannot harm the run.

The child leads a session of its own: stopping it stops everything it started. On systems with fork any function can be
sent; elsewhere it has to be importable (picklable).
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any

from surefoot.errors import described

GRACE_S = 0.5  # between the polite signal and the final one


@dataclass(frozen=True)
class Outcome:
    """What came of the call: a value, or why there is none."""

    value: Any = None
    reason: str = ""  # empty: the value counts
    exception_names: tuple[str, ...] = ()  # class names of the exception, most special first


def exception_outcome(error: BaseException) -> Outcome:
    """A raised exception as an outcome."""
    names = tuple(f"{c.__module__}.{c.__qualname__}" for c in type(error).__mro__)
    return Outcome(reason=described(error), exception_names=names)


def _child(pipe: Connection, function: Callable[[Any], Any], argument: Any, memory_limit_mb: float | None) -> None:
    os.setsid()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which then stops us
    limit_memory(memory_limit_mb)
    try:
        outcome = Outcome(value=function(argument))
    except BaseException as error:  # SystemExit too: it ends this evaluation, not the run
        outcome = exception_outcome(error)
    try:
        pipe.send(outcome)
    except Exception as error:  # the value cannot be sent: not a number, then
        kind = type(outcome.value).__name__
        pipe.send(Outcome(reason=f"the function returned {kind}, not a number ({described(error)})"))
    pipe.close()


def limit_memory(added_mb: float | None) -> None:
    """Let this process take no more than so much memory in addition to what it has."""
    if added_mb is not None:
        import resource

        limit = int(added_mb * 2**20) + _address_space_now()
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


def _address_space_now() -> int:
    """Bytes of address space in use: the limit is on what the evaluation adds to it."""
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


def call_in_process(
    function: Callable[[Any], Any], argument: Any, timeout_s: float | None, memory_limit_mb: float | None
) -> Outcome:
    """function(argument) in a child process; never raises for what happens there, except KeyboardInterrupt here."""
    context: Any = multiprocessing.get_context("fork" if "fork" in multiprocessing.get_all_start_methods() else "spawn")
    receiver, sender = context.Pipe(duplex=False)
    child = context.Process(target=_child, args=(sender, function, argument, memory_limit_mb))
    with warnings.catch_warnings():  # forking beside BLAS threads is safe: BLAS restarts its own
        warnings.simplefilter("ignore", DeprecationWarning)
        child.start()
    sender.close()
    try:
        if not receiver.poll(timeout_s):
            return Outcome(reason=f"timeout: no result after {timeout_s:g} s, stopped", exception_names=("timeout",))
        try:
            outcome: Outcome = receiver.recv()
        except EOFError:  # the child died without a word
            child.join(GRACE_S)
            return Outcome(reason=death(child.exitcode), exception_names=("death",))
        return outcome
    finally:
        receiver.close()
        _stop(child)


def death(exit_code: int | None) -> str:
    """Why a process died, from its exit code as `multiprocessing` and `subprocess` give it."""
    if exit_code is None:
        return "the process closed its connection without a result"
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


def _stop(child: Any) -> None:
    """End the child and everything in its session, politely, then for good."""
    for sig in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(child.pid, sig)
        deadline = time.monotonic() + GRACE_S
        while child.is_alive() and time.monotonic() < deadline:
            child.join(0.01)
        if sig == signal.SIGTERM and not child.is_alive():
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(child.pid, signal.SIGKILL)  # grandchildren that ignore the polite signal
            break
    child.join()
    child.close()
