"""Processes of the campaign: all carry a mark in their environment, and only what carries it is ever signalled."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import benchmarks
import surefoot
from benchmarks.attacks.tally import Finding

MARK = "SUREFOOT_ATTACK"
SITE = "SUREFOOT_ATTACK_SITE"  # a folder to import from before all others
_ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
_BOUNDED = ("/bin/sh", "-c", 'ulimit -v 4194304; exec "$@"', "bounded")  # 4 GiB: no attack may starve the machine
_PATIENCE_S = 4.0  # for what was told to die


_closed = threading.Event()


def close() -> None:
    """Let no process of the campaign be started any more: it is being stopped."""
    _closed.set()


def environment(mark: str, more: Mapping[str, str] | None = None) -> dict[str, str]:
    """Of a process of the campaign: this surefoot and these attacks are imported, wherever it runs."""
    if _closed.is_set():
        raise RuntimeError("the campaign is being stopped")
    homes = [str(Path(str(module.__file__)).resolve().parents[1]) for module in (surefoot, benchmarks)]
    plain = {name: text for name, text in os.environ.items() if name not in ("COLUMNS", "LINES", "FORCE_COLOR")}
    one = dict.fromkeys(_ONE_THREAD, "1")
    homes = [text for text in [(more or {}).get(SITE, "")] if text] + homes
    return {
        **plain, **one, "NO_COLOR": "1", "TERM": "dumb", "PYTHONPATH": os.pathsep.join(homes), MARK: mark,
        **(more or {}),
    }  # fmt: skip


def _carries(pid: int, mark: str, more: Mapping[str, str] | None = None) -> bool:
    """Whether it lives and was started with this mark, or one that begins with it and a dash."""
    try:
        found = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except (OSError, IndexError):  # it ended, or belongs to somebody else
        return False
    ours = f"{MARK}={mark}".encode()
    is_ours = any(word == ours or word.startswith(ours + b"-") for word in found)
    return is_ours and state not in "ZX" and all(f"{k}={v}".encode() in found for k, v in (more or {}).items())


def marked(mark: str, more: Mapping[str, str] | None = None) -> list[int]:
    """The living processes that were started with this mark in their environment, or by such a process."""
    pids = [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]
    return [pid for pid in pids if pid not in (1, os.getpid()) and _carries(pid, mark, more)]


def described(pid: int) -> str:
    """The command line of a process, for people."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()[:120]
    return "?"


def kill_marked(mark: str) -> None:
    """End everything that carries the mark; what another process took over under the same number is spared."""
    for _ in range(20):  # what forks while it is looked for is found in the next round
        pids = marked(mark)
        if not pids:
            return
        for pid in pids:
            with contextlib.suppress(OSError):
                descriptor = os.pidfd_open(pid)
                try:
                    if _carries(pid, mark):
                        signal.pidfd_send_signal(descriptor, signal.SIGKILL)
                finally:
                    os.close(descriptor)
        time.sleep(0.05)


def orphans(mark: str, more: Mapping[str, str] | None = None, patience_s: float = _PATIENCE_S) -> list[Finding]:
    """What still carries the mark after a moment of grace; it is then killed."""
    deadline = time.monotonic() + patience_s
    left = marked(mark, more)
    while left and time.monotonic() < deadline:
        time.sleep(0.1)
        left = marked(mark, more)
    found = [Finding("orphans", f"left behind: {described(pid)}") for pid in left]
    if more is None:
        kill_marked(mark)
    return found


@dataclass(frozen=True)
class Ended:
    """How a bounded process ended."""

    code: int | None  # None: it had to be killed, a hang
    said: str  # stdout and stderr together, their end

    @property
    def last_line(self) -> str:
        """What it said last."""
        lines = [line for line in self.said.strip().splitlines() if line.strip()]
        return lines[-1][:200] if lines else "nothing"


def tail(path: Path, n_bytes: int = 20000) -> str:
    """The end of a file."""
    with contextlib.suppress(OSError), path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - n_bytes))
        return file.read().decode(errors="replace")
    return ""


@contextlib.contextmanager
def started(
    argv: Sequence[str], mark: str, folder: Path, log: Path, more: Mapping[str, str] | None = None
) -> Iterator[subprocess.Popen[bytes]]:
    """A marked process whose output goes to a file (a pipe could be held open by what it starts); killed at the end."""
    with log.open("ab") as out:
        process = subprocess.Popen(
            [*_BOUNDED, *argv], cwd=folder, env=environment(mark, more), stdin=subprocess.DEVNULL, stdout=out,
            stderr=out, start_new_session=True,
        )  # fmt: skip
    try:
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()


def run_bounded(
    argv: Sequence[str], mark: str, folder: Path, limit_s: float, more: Mapping[str, str] | None = None
) -> Ended:
    """Run it to its end, or kill it after `limit_s`."""
    log = folder / "said.txt"
    with started(argv, mark, folder, log, more) as process:
        try:
            code = process.wait(limit_s)
        except subprocess.TimeoutExpired:
            kill_marked(mark)
            return Ended(None, tail(log))
    return Ended(code, tail(log))
