"""The other side of helper.py: a process that holds a function, started when needed and replaced when it has died."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from surefoot.execute.helper import Loading, Request
from surefoot.execute.messages import Messages, framed
from surefoot.execute.outcome import Outcome, death, death_outcome, timeout_outcome
from surefoot.execute.processes import Processes, wait
from surefoot.execute.supervise import GRACE_S, KILL_S

LOAD_AT_LEAST_S = 60.0  # a function may take so long to be imported, however short its calls have to be
_ROOT = str(Path(__file__).resolve().parents[2])
# this very package, whatever else of its name there is; nothing stays in the path of the function
_BOOT = (
    "import sys; sys.path.insert(0, sys.argv.pop(1)); from surefoot.execute.helper import main; del sys.path[0]; main()"
)


class LoadError(Exception):
    """The process could not load the function; the text says why."""


class _LostError(Exception):
    """The process has gone, or nothing came of it in time."""


class Caller:
    """A function behind a process."""

    def __init__(
        self,
        processes: Processes,
        loading: Loading,
        *,
        timeout_s: float | None = None,
        folder: Path | None = None,
        environment: dict[str, str] | None = None,
        quiet: bool = False,
    ) -> None:
        self._processes = processes
        self._loading = loading
        self._timeout_s = timeout_s
        self._folder = folder
        self._environment = environment
        self._output = subprocess.DEVNULL if quiet else None  # outside of calls that redirect it
        self._process: subprocess.Popen[bytes] | None = None
        self._connection: socket.socket | None = None
        self._messages = Messages()

    def start(self) -> None:
        """Start the process and load the function, if that has not happened; LoadError if it cannot be loaded."""
        if self._process is not None:
            return
        self._connection, theirs = socket.socketpair()
        self._messages = Messages()
        try:
            self._process = self._processes.start(
                [sys.executable, "-P", "-c", _BOOT, _ROOT, str(theirs.fileno())],
                folder=self._folder,
                environment=self._environment,
                stdout=self._output,
                stderr=self._output,
                pass_fds=(theirs.fileno(),),
            )
        except BaseException:
            self._connection.close()
            raise
        finally:
            theirs.close()
        limit = None if self._timeout_s is None else max(self._timeout_s, LOAD_AT_LEAST_S)
        try:
            self._send(self._loading, limit)
            said = self._receive(limit)
        except TimeoutError:
            self.stop()
            raise LoadError(f"no end of its import after {limit:g} s") from None
        except _LostError:
            raise LoadError(f"{death(self.stop())}, while importing it") from None
        except BaseException:
            self.stop()
            raise
        if said:
            self.stop()
            raise LoadError(said)

    def call(self, request: Request) -> Outcome:
        """What came of the call; after a KeyboardInterrupt, a death or a timeout the process is gone."""
        request = replace(request, timeout_s=self._timeout_s)
        limit = self._timeout_s
        if limit is not None and self._loading.fork:
            limit += GRACE_S + 2.0 * KILL_S  # it keeps the time itself
        try:
            for _ in range(3):
                self.start()
                if self._begin(request):
                    break
                self.stop()  # it died idle: nothing to do with this point
            else:
                return Outcome(reason="no process could be had that stays alive", machine=True)
            outcome: Outcome = self._receive(limit)
            return outcome
        except TimeoutError:
            self.stop()
            return timeout_outcome(self._timeout_s)
        except _LostError:
            return death_outcome(self.stop())
        except BaseException:
            self.stop()
            raise

    def stop(self) -> int:
        """End the process, if there is one; its exit code."""
        if self._process is None or self._connection is None:
            return 0
        ended, self._process = self._process, None
        self._connection.close()
        return self._processes.stop(ended)

    def _begin(self, request: Request) -> bool:
        """Whether it has taken the request."""
        try:
            self._send(request, LOAD_AT_LEAST_S)
            return bool(self._receive(LOAD_AT_LEAST_S))
        except (_LostError, TimeoutError):
            return False

    def _send(self, thing: Any, limit_s: float | None) -> None:
        assert self._connection is not None
        self._connection.settimeout(None if limit_s is None else min(limit_s, 86400.0))  # more is an OverflowError
        try:
            self._connection.sendall(framed(thing))
        except ConnectionError:
            raise _LostError from None

    def _receive(self, limit_s: float | None) -> Any:
        """A message. TimeoutError: not in time; _LostError: the process has ended, whoever else holds its socket."""
        assert self._connection is not None
        assert self._process is not None
        self._connection.setblocking(False)
        deadline = None if limit_s is None else time.monotonic() + limit_s
        while (thing := self._taken()) is None:
            left = None if deadline is None else max(0.0, deadline - time.monotonic())
            if not wait(self._process, left, self._connection.fileno()):
                raise TimeoutError
            try:
                piece = self._connection.recv(2**20)
            except BlockingIOError:
                if wait(self._process, 0.0):
                    raise _LostError from None
                continue
            except ConnectionError:
                piece = b""
            if not piece:
                wait(self._process, GRACE_S)  # how it ended is known a moment later
                raise _LostError
            self._messages.add(piece)
        return thing

    def _taken(self) -> Any:
        try:
            return self._messages.take()
        except Exception:  # the function wrote to a socket that is not its own
            raise _LostError from None
