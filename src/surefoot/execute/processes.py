"""Processes that evaluate: each under a supervisor (supervise.py), stopped with all it started, dead when we die."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import IO, Any

from surefoot.execute import supervise
from surefoot.execute.supervise import GRACE_S, KILL_S, LINUX, kill_tree

_SUPERVISOR = str(Path(supervise.__file__).resolve())
_SLICE_S = 86400.0  # poll takes at most 24.8 days
_LOOK_S = 0.02  # between looks at a process, on systems that cannot tell


class StoppedError(OSError):
    """Nothing is started any more."""


class Processes:
    """Those that were started together and can be stopped together."""

    def __init__(self) -> None:
        self._live: set[subprocess.Popen[bytes]] = set()
        self._lock = threading.Lock()
        self._closed = threading.Event()

    def start(
        self,
        command: list[str],
        *,
        folder: Path | None = None,
        environment: dict[str, str] | None = None,
        memory_limit_mb: float | None = None,
        stdout: int | IO[bytes] | None = None,
        stderr: int | IO[bytes] | None = None,
        pass_fds: tuple[int, ...] = (),
    ) -> subprocess.Popen[bytes]:
        """Start the command, without any shell; OSError if it cannot be started, StoppedError after `stop_all`."""
        memory = "0" if memory_limit_mb is None else str(int(min(memory_limit_mb * 2**20, sys.maxsize)))
        argv = [sys.executable, "-I", "-S", _SUPERVISOR, memory, str(os.getpid()), *command]
        process = subprocess.Popen(
            argv, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=stdout, stderr=stderr,
            start_new_session=True, pass_fds=pass_fds,
        )  # fmt: skip
        with self._lock:
            self._live.add(process)
        if self._closed.is_set():
            self.stop(process)
            raise StoppedError("stopped")
        return process

    def stop(self, process: subprocess.Popen[bytes]) -> int:
        """End it and everything it started, politely, then for good; its exit code."""
        ended = wait(process, 0.0)
        if not ended:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGTERM)  # the supervisor passes it on
            ended = wait(process, GRACE_S + 2.0 * KILL_S)
        if not (ended and LINUX):  # a supervisor that ended has left nothing
            kill_tree(process.pid)
        with self._lock:
            self._live.discard(process)
        code = process.wait()
        return code

    def stop_all(self) -> None:
        """Kill everything that has not ended, and start nothing more; waiting threads see it end."""
        self._closed.set()
        with self._lock:
            processes = list(self._live)
        for process in processes:
            kill_tree(process.pid)

    def allow(self) -> None:
        """Let processes be started again."""
        self._closed.clear()


def wait(process: subprocess.Popen[bytes], timeout_s: float | None, readable: int | None = None) -> bool:
    """Whether it ended in time, or there is something to read. It is not reaped, so it can still be stopped safely."""
    deadline = None if timeout_s is None else time.monotonic() + timeout_s
    poll: Any = select.poll()
    if readable is not None:
        poll.register(readable, select.POLLIN)
    end = _end_of(process)
    try:
        if end is not None:
            poll.register(end, select.POLLIN)
        while True:
            left = _SLICE_S if deadline is None else deadline - time.monotonic()
            piece = min(max(0.0, left), _SLICE_S if end is not None else _LOOK_S)
            if poll.poll(piece * 1000.0) or (end is None and process.poll() is not None):
                return True
            if left <= 0.0:
                return False
    finally:
        if end is not None:
            os.close(end)


def _end_of(process: subprocess.Popen[bytes]) -> int | None:
    """A descriptor that becomes readable when it ends (Linux since 5.3)."""
    if process.returncode is None and hasattr(os, "pidfd_open"):
        with contextlib.suppress(OSError):
            return os.pidfd_open(process.pid)
    return None
