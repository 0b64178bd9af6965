"""Processes that evaluate: each in a session of its own, stopped with everything it started, dead when we die."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import IO, Any

from surefoot.optimize.isolate import GRACE_S
from surefoot.runs import launch

_LAUNCHER = str(Path(launch.__file__).resolve())
_live: set[subprocess.Popen[bytes]] = set()
_lock = threading.Lock()
_closed = threading.Event()


def start(
    command: list[str],
    *,
    folder: Path,
    environment: dict[str, str],
    memory_limit_mb: float | None = None,
    stdin: int | IO[bytes] = subprocess.DEVNULL,
    stdout: int | IO[bytes] = subprocess.DEVNULL,
    stderr: int | IO[bytes] = subprocess.DEVNULL,
    pass_fds: tuple[int, ...] = (),
) -> subprocess.Popen[bytes]:
    """Start the command, without any shell; OSError if it cannot be started, or after `stop_all`."""
    memory = "0" if memory_limit_mb is None else str(int(memory_limit_mb * 2**20))
    argv = [sys.executable, "-I", "-S", _LAUNCHER, memory, str(os.getpid()), *command]
    process = subprocess.Popen(
        argv, cwd=folder, env=environment, stdin=stdin, stdout=stdout, stderr=stderr, start_new_session=True,
        pass_fds=pass_fds,
    )  # fmt: skip
    with _lock:
        _live.add(process)
    if _closed.is_set():
        stop(process)
        if process.stdin is not None:
            process.stdin.close()
        raise OSError("stopped")
    return process


def wait(process: subprocess.Popen[bytes], timeout_s: float | None) -> bool:
    """Whether it ended in time. It is not reaped yet, so its group can still be stopped safely."""
    if not hasattr(os, "pidfd_open"):  # not Linux: polled by subprocess, and reaped
        try:
            process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            return False
        return True
    descriptor = os.pidfd_open(process.pid)
    try:
        poll: Any = select.poll()
        poll.register(descriptor, select.POLLIN)
        return bool(poll.poll(None if timeout_s is None else max(0.0, timeout_s * 1000.0)))
    finally:
        os.close(descriptor)


def stop(process: subprocess.Popen[bytes]) -> int:
    """End it and everything in its session, politely, then for good; its exit code."""
    ended = wait(process, 0.0)
    if not ended:
        _signal(process, signal.SIGTERM)
        wait(process, GRACE_S)
    _signal(process, signal.SIGKILL)
    code = process.wait()
    with _lock:
        _live.discard(process)
    return code


def allow() -> None:
    """Let processes be started again."""
    _closed.clear()


def stop_all() -> None:
    """End everything that was started here and has not ended, and start nothing more; waiting threads see it end."""
    _closed.set()
    with _lock:
        processes = list(_live)
    for process in processes:
        _signal(process, signal.SIGKILL)


def _signal(process: subprocess.Popen[bytes], sig: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, sig)
