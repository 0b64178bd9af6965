"""Call a function in a process of its own every time, so that its death, its hunger or its sleep cannot harm the run.

A program with threads must not be forked: a lock that another thread holds (in BLAS, say) is held for ever in the
child. So a clean process is started, gets the function once (by cloudpickle: lambdas, closures and functions of a
notebook can be sent), and forks itself for every call. It has no threads but those that loading the function started.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import sys
import threading
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol

import cloudpickle

from surefoot.errors import InvalidInputError
from surefoot.execute.caller import Caller, LoadError
from surefoot.execute.helper import Loading, Request
from surefoot.execute.outcome import Outcome, exception_outcome, is_machine_trouble
from surefoot.execute.processes import Processes
from surefoot.execute.system import require_processes

_IDLE_S = 300.0  # a process that nobody calls ends: on a worker of a cluster nobody says that the run is over
_COPIES = 4  # functions that a worker process keeps ready
_copies: dict[str, Isolated] = {}  # in a worker process: the functions that were sent to it
_copies_lock = threading.Lock()


class Limits(Protocol):
    """What an evaluation may take."""

    @property
    def in_process(self) -> bool:
        """Whether it gets a process of its own."""

    @property
    def timeout_s(self) -> float | None:
        """Seconds."""

    @property
    def memory_limit_mb(self) -> float | None:
        """What it may add."""


@contextmanager
def isolated(function: Callable[[Any], Any], limits: Limits) -> Iterator[Any]:
    """The function, as `Isolated` if processes are wanted; they end with the context.

    InvalidInputError, before any call, if the function cannot be sent or not be loaded there.
    """
    if not limits.in_process:
        yield function
        return
    require_processes("isolate, timeout and memory_limit_mb", limits.memory_limit_mb)
    prepared = Isolated(pickled(function), limits.timeout_s, limits.memory_limit_mb)
    try:
        prepared.start()
        yield prepared
    finally:
        prepared.close()


class Isolated:
    """A function behind processes: one for each thread that calls it at the same time. It can be sent to workers."""

    def __init__(self, function: bytes, timeout_s: float | None, memory_limit_mb: float | None, key: str = "") -> None:
        self._function = function
        self._timeout_s = timeout_s
        self._memory_limit_mb = memory_limit_mb
        self._key = key or uuid.uuid4().hex
        self._processes = Processes()
        self._lock = threading.Lock()
        self._idle: list[Caller] = []
        self._closed = False

    def __reduce__(self) -> Any:
        return _copy, (self._function, self._timeout_s, self._memory_limit_mb, self._key)

    def start(self) -> None:
        """Have a process ready, and know that the function can be loaded."""
        caller = self._take()
        with contextlib.suppress(OSError), _refused():  # what the machine cannot do now it may do at the first call
            caller.start()
        self._give(caller)

    def call(self, argument: Any) -> Outcome:
        """What came of function(argument); raises nothing for what happens there."""
        try:
            sent = cloudpickle.dumps(argument)
        except Exception as error:
            return Outcome(reason=f"the point cannot be sent to another process ({exception_outcome(error).reason})")
        caller = self._take()
        try:
            with _refused():
                outcome = caller.call(Request(sent))
        except OSError as error:
            return Outcome(reason=f"no process could be started: {error}", machine=is_machine_trouble(error))
        self._give(caller)
        return outcome

    def close(self) -> None:
        """End the processes: idle ones now, busy ones when their call has ended."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        for caller in idle:
            caller.stop()

    def _take(self) -> Caller:
        with self._lock:
            if self._idle:
                return self._idle.pop()
        loading = Loading(
            self._function, tuple(sys.path), fork=True, memory_limit_mb=self._memory_limit_mb, idle_s=_IDLE_S
        )
        return Caller(self._processes, loading, timeout_s=self._timeout_s)

    def _give(self, caller: Caller) -> None:
        with self._lock:
            if not self._closed:
                self._idle.append(caller)
                return
        caller.stop()


@contextmanager
def _refused() -> Iterator[None]:
    try:
        yield
    except LoadError as error:
        raise InvalidInputError(
            f"expected a function that a fresh process can load; got {error}; "
            "try importing what it needs inside the function, or a module that is on sys.path"
        ) from None


def _copy(function: bytes, timeout_s: float | None, memory_limit_mb: float | None, key: str) -> Isolated:
    """The one of this process: a function that comes again finds its processes running."""
    with _copies_lock:
        copy = _copies.pop(key, None) or Isolated(function, timeout_s, memory_limit_mb, key)
        _copies[key] = copy  # the latest last
        old = [_copies.pop(first) for first in list(_copies)[:-_COPIES]]
    for one in old:
        one.close()
    return copy


def pickled(function: Callable[[Any], Any]) -> bytes:
    """The function as bytes; InvalidInputError names what in it cannot be sent."""
    try:
        sent: bytes = cloudpickle.dumps(function)
        return sent
    except Exception as error:
        said = exception_outcome(error).reason
        name = getattr(function, "__qualname__", type(function).__name__)
    culprits = [f"{kind} {name!r} of type {type(value).__name__}" for kind, name, value in _parts(function)
                if not _can_be_sent(value)]  # fmt: skip
    raise InvalidInputError(
        f"expected a function that can be sent to another process; got {name}"
        f"{', which uses ' + ' and '.join(culprits) if culprits else ''} ({said}); "
        "try making that inside the function, or neither isolate nor timeout nor memory_limit_mb"
    )


def _parts(function: Any) -> Iterator[tuple[str, str, Any]]:
    """What the function carries with it: (kind, name, value)."""
    while isinstance(function, functools.partial):
        yield from (("the argument", str(i), value) for i, value in enumerate(function.args))
        yield from (("the argument", name, value) for name, value in function.keywords.items())
        function = function.func
    owner = getattr(function, "__self__", None if inspect.isfunction(function) else function)
    if owner is not None and not inspect.ismodule(owner):
        yield from (("the attribute", name, value) for name, value in getattr(owner, "__dict__", {}).items())
    function = getattr(function, "__func__", function)
    if inspect.isfunction(function):
        used = inspect.getclosurevars(function)
        yield from (("the variable", name, value) for name, value in {**used.globals, **used.nonlocals}.items())
        yield from (("the default", str(i), value) for i, value in enumerate(function.__defaults__ or ()))


def _can_be_sent(value: Any) -> bool:
    try:
        cloudpickle.dumps(value)
    except Exception:
        return False
    return True
