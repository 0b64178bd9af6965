"""The process in which a function lives: loaded once, called on request until the connection closes.

Two ways of calling: in a fork of this process for every call (nothing of a call remains), or in this process (what the
function keeps from call to call remains; a call that kills it ends this process). Requests and answers are pickles,
each after its length, on a socket; stdout and stderr are the function's.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import itertools
import os
import pickle
import select
import signal
import socket
import sys
import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

from surefoot.execute.messages import Messages, framed
from surefoot.execute.outcome import (
    Outcome,
    death_outcome,
    exception_outcome,
    is_machine_trouble,
    timeout_outcome,
)
from surefoot.execute.supervise import (
    GRACE_S,
    LINUX,
    Alarm,
    adopt_orphans,
    descendants,
    die_with,
    end_descendants,
    limit_address_space,
)

_MOST_TEXT = 200  # characters of a value that is a text
_MOST_OUTPUTS = 10_000
Function = Callable[[Any], Any]


@dataclass(frozen=True)
class Loading:
    """Where the function comes from: a pickle (of cloudpickle), or a module:function or file.py:function."""

    pickled: bytes = b""
    path: tuple[str, ...] = ()  # sys.path, for the pickle
    spec: str = ""
    here: str = ""  # the folder in which spec is looked for
    fork: bool = False  # every call in a process of its own
    memory_limit_mb: float | None = None  # that all calls together may add; with fork: that each may add
    idle_s: float | None = None  # without a request for so long, the process ends


@dataclass(frozen=True)
class Request:
    """One call."""

    pickled: bytes  # the argument
    timeout_s: float | None = None  # with fork; else the other side stops us
    environment: tuple[tuple[str, str], ...] = ()  # to be set before
    outputs: tuple[str, ...] = ()  # files for stdout and stderr; else they stay what they are


class _Connection:
    """The other side: requests come from it, answers go to it."""

    def __init__(self, descriptor: int) -> None:
        self._socket = socket.socket(fileno=descriptor)
        self._messages = Messages()

    def send(self, thing: Any) -> None:
        """One message."""
        self._socket.sendall(framed(thing))

    def receive(self, idle_s: float | None = None) -> Any:
        """One message; None if the other side has closed, or says nothing for so long."""
        self._socket.settimeout(idle_s)
        try:
            while (thing := self._messages.take()) is None:
                piece = self._socket.recv(2**20)
                if not piece:
                    return None
                self._messages.add(piece)
        except (TimeoutError, ConnectionError):
            return None
        finally:
            self._socket.settimeout(None)
        return thing

    def close(self) -> None:
        """In a fork: it is not ours."""
        self._socket.close()


class NoFunctionError(Exception):
    """The module has no function of that name."""


def load(spec: str, here: str) -> Function:
    """The function that module:function or file.py:function names; whatever its import raises."""
    place, name = spec.split(":")
    sys.path.insert(0, here)
    if place.endswith(".py"):
        found = importlib.util.spec_from_file_location(Path(place).stem, Path(here, place))
        if found is None or found.loader is None:
            raise ImportError(f"cannot import {place}")
        module = importlib.util.module_from_spec(found)
        sys.modules[found.name] = module
        found.loader.exec_module(module)
    else:
        module = importlib.import_module(place)
    function: Any = getattr(module, name, None)
    if function is None:
        raise NoFunctionError(f"no {name!r} in {place}")
    if not callable(function):
        raise NoFunctionError(f"{name!r} in {place} is of type {type(function).__name__}")
    return cast(Function, function)


def limit_memory(added_mb: float | None) -> None:
    """Let this process take no more than so much memory in addition to what it has."""
    if added_mb is not None:
        limit_address_space(int(min(added_mb * 2**20 + _address_space_now(), sys.maxsize)))


def _address_space_now() -> int:
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


def _called(function: Function, request: Request) -> Outcome:
    try:
        value = function(pickle.loads(request.pickled))
    except BaseException as error:  # SystemExit too: it ends this evaluation, not the run
        outcome = exception_outcome(error)
        return replace(outcome, value=_partial(outcome.value))
    finally:
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(Exception):
                stream.flush()
    try:
        return Outcome(value=_plain_dict(value) if isinstance(value, Mapping) else _plain(value))
    except Exception as error:  # the value's own methods
        why = exception_outcome(error).reason
        return Outcome(reason=f"the function returned {type(value).__name__}, not a number ({why})")


def _plain(value: Any) -> Any:
    """A number, or what is none: nothing that the other side would have to import, or that is large."""
    if value is None or type(value) in (bool, int, complex):
        return value
    if isinstance(value, float):
        return float(value)
    if isinstance(value, (str, bytes)):
        return value[:_MOST_TEXT]
    import numpy as np

    if np.ma.is_masked(value):
        raise TypeError("masked")
    array = np.asarray(value)
    if array.size == 1 and array.dtype.kind in "biufc":
        return array.reshape(()).item()
    raise TypeError(f"of shape {array.shape}" if array.ndim else "not a numerical type")


def _partial(outputs: Any) -> dict[Any, Any] | None:
    """The outputs of a failure, which is one whatever they are."""
    try:
        return _plain_dict(outputs) if isinstance(outputs, Mapping) else None
    except Exception:
        return None


def _plain_dict(outputs: Mapping[Any, Any]) -> dict[Any, Any]:
    """Numbers by name; in the place of what is none stands what it is."""
    found: dict[Any, Any] = {}
    for name, value in itertools.islice(outputs.items(), _MOST_OUTPUTS):
        key = str(name) if isinstance(name, str) else _plain(name)
        try:
            found[key] = _plain(value)
        except Exception:
            found[key] = f"of type {type(value).__name__}"
    return found


def _redirect(request: Request) -> None:
    os.environ.update(request.environment)
    for descriptor, path in enumerate(request.outputs, start=1):
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.dup2(file, descriptor)
        os.close(file)


def _numpy_seed() -> int | None:
    """For numpy.random of the next fork, if there is one: all forks would begin with the numbers of this process.

    Python does the same for its own `random`. Generators that the function keeps are out of reach.
    """
    random = sys.modules.get("numpy.random")
    return None if random is None else int(random.randint(2**32, dtype="uint64"))


class _Forks:
    """Calls, each in a fork of this process."""

    def __init__(self, connection: _Connection, function: Function, memory_limit_mb: float | None) -> None:
        self._connection = connection
        self._function = function
        self._memory_limit_mb = memory_limit_mb
        adopt_orphans()
        self._alarm = Alarm(signal.SIGCHLD)
        self._child_pid = 0
        if not LINUX:  # where no supervisor ends the fork with us
            signal.signal(signal.SIGTERM, lambda *_: self._leave())
        self._spared = frozenset(descendants(os.getpid()) if LINUX else ())  # what loading the function started

    def call(self, request: Request) -> Outcome:
        """What came of it; the process is gone then, with all it started."""
        self._alarm.came()  # of calls before
        reader, writer = os.pipe()
        me = os.getpid()
        seed = _numpy_seed()
        try:
            child = os.fork()
        except OSError as error:
            os.close(reader)
            os.close(writer)
            return Outcome(reason=f"no process could be made: {error}", machine=is_machine_trouble(error))
        if child == 0:
            try:
                os.close(reader)
                self._child(request, writer, me, seed)
            finally:
                os._exit(1)
        self._child_pid = child
        os.close(writer)
        ended: dict[int, int] = {}
        grace_s = 0.0
        try:
            answer, in_time = self._answer(reader, child, ended, request.timeout_s)
            if not in_time:
                grace_s = GRACE_S
        finally:
            os.close(reader)
            end_descendants(child, ended, grace_s, self._spared)
            self._child_pid = 0
        if answer is not None:
            return answer
        if not in_time:
            return timeout_outcome(request.timeout_s)
        return death_outcome(os.waitstatus_to_exitcode(ended.get(child, signal.SIGKILL)))

    def _leave(self) -> None:
        if self._child_pid:
            end_descendants(self._child_pid, {})
        os._exit(128 + signal.SIGTERM)

    def _child(self, request: Request, writer: int, parent: int, seed: int | None) -> None:
        self._alarm.off()
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        self._connection.close()
        os.setsid()
        die_with(parent)
        limit_memory(self._memory_limit_mb)
        if seed is not None:
            sys.modules["numpy.random"].seed(seed)
        with os.fdopen(writer, "wb") as pipe:
            pipe.write(framed(_called(self._function, request)))
        os._exit(0)

    def _answer(
        self, reader: int, child: int, ended: dict[int, int], timeout_s: float | None
    ) -> tuple[Outcome | None, bool]:
        """What the child said, if it did before it ended, and whether that was in time.

        Its end counts even if something that it started holds the pipe open.
        """
        os.set_blocking(reader, False)
        deadline = None if timeout_s is None else time.monotonic() + timeout_s
        awaited = [reader, self._alarm.descriptor]
        said = Messages()
        answer: Outcome | None = None
        while True:
            try:
                while piece := os.read(reader, 2**16):
                    said.add(piece)
                awaited = [self._alarm.descriptor]  # closed
            except BlockingIOError:
                pass
            if answer is None and (answer := said.take()) is not None:
                deadline = time.monotonic() + GRACE_S  # it is about to exit by itself
            if child in ended:
                return answer, True
            left = 3600.0 if deadline is None else deadline - time.monotonic()
            if left <= 0.0:
                return answer, answer is not None
            select.select(awaited, [], [], min(left, 3600.0))
            self._alarm.came()
            pid, status = os.waitpid(child, os.WNOHANG)
            if pid:
                ended[pid] = status


def main() -> None:
    """Load the function, say how that went (a text if badly), then answer calls until the connection closes."""
    connection = _Connection(int(sys.argv[1]))
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which then stops us
    warnings.filterwarnings("ignore", ".*multi-threaded, use of fork", DeprecationWarning)
    loading: Loading | None = connection.receive()
    if loading is None:
        return
    try:
        if loading.path:
            sys.path[:] = loading.path
        function = pickle.loads(loading.pickled) if loading.pickled else load(loading.spec, loading.here)
    except NoFunctionError as error:
        connection.send(str(error))
        return
    except BaseException as error:
        connection.send(exception_outcome(error).reason)
        return
    if loading.fork:
        with contextlib.suppress(ImportError):
            importlib.import_module("numpy")  # points are arrays: else every fork would import it
    connection.send("")
    forks = _Forks(connection, function, loading.memory_limit_mb) if loading.fork else None
    if forks is None:
        limit_memory(loading.memory_limit_mb)
    while (request := connection.receive(loading.idle_s)) is not None:
        connection.send(True)  # from here on a death is the call's
        try:
            _redirect(request)
            answer = forks.call(request) if forks is not None else _called(function, request)
        except OSError as error:
            answer = Outcome(reason=f"cannot be called: {error}", machine=is_machine_trouble(error))
        connection.send(answer)
