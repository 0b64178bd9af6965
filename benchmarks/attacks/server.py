"""A private PostgreSQL on loopback, in a folder of its own, that can be paused, crashed and restarted."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path

_NOBODY = 65534


def find(program: str) -> str | None:
    """A program of PostgreSQL, also where Debian hides it."""
    places = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return shutil.which(program, path=os.pathsep.join([*map(str, places), os.environ.get("PATH", "")]))


def missing() -> str:
    """Why there can be no server here; empty if there can."""
    if find("initdb") is None or find("postgres") is None:
        return "PostgreSQL is not installed (apt-get install postgresql)"
    if os.geteuid() == 0 and shutil.which("setpriv") is None:
        return "PostgreSQL refuses to run as root, and setpriv (util-linux) is not installed"
    try:
        import psycopg  # noqa: F401
    except ImportError:
        return "psycopg is not installed (pip install 'surefoot[postgres]')"
    return ""


class Server:
    """One server; its processes are our children."""

    def __init__(self, folder: Path) -> None:
        self._data = folder / "data"
        self._log = folder / "log.txt"
        self._process: subprocess.Popen[bytes] | None = None
        self._as_user: list[str] = []
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self._port = probe.getsockname()[1]
        folder.mkdir()
        if os.geteuid() == 0:
            self._as_user = ["setpriv", f"--reuid={_NOBODY}", f"--regid={_NOBODY}", "--clear-groups"]
            os.chown(folder, _NOBODY, _NOBODY)
            folder.parent.chmod(folder.parent.stat().st_mode | 0o711)
        options = ["-U", "tester", "--auth=trust", "-E", "UTF8", "--locale=C", "--no-sync"]
        subprocess.run(
            [*self._as_user, str(find("initdb")), "-D", str(self._data), *options],
            check=True, cwd="/", stdout=subprocess.DEVNULL,
        )  # fmt: skip
        with (self._data / "postgresql.conf").open("a") as file:
            file.write(f"port = {self._port}\nlisten_addresses = '127.0.0.1'\nunix_socket_directories = ''\n")
            file.write("fsync = off\n")  # processes are killed here, machines are not

    @property
    def url(self) -> str:
        """The storage for `surefoot run`."""
        return f"postgresql://tester@127.0.0.1:{self._port}/postgres"

    def start(self) -> None:
        """Start it, and return when it answers."""
        import psycopg

        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                [*self._as_user, str(find("postgres")), "-D", str(self._data)], cwd="/", stdout=log, stderr=log
            )
        for _ in range(300):
            try:
                psycopg.connect(self.url, connect_timeout=2).close()
                return
            except psycopg.OperationalError:
                time.sleep(0.1)
        raise RuntimeError(f"PostgreSQL does not start: {self._log.read_text()[-500:]}")

    def crash(self) -> None:
        """Immediate shutdown: as in a crash, the log is replayed at the next start."""
        if self._process is not None:
            self._process.send_signal(signal.SIGQUIT)
            self._process.wait()
            self._process = None

    def pause(self) -> None:
        """Stop the server and all its processes where they are."""
        self._signal_all(signal.SIGSTOP)

    def resume(self) -> None:
        """Let them go on."""
        self._signal_all(signal.SIGCONT)

    def _signal_all(self, sig: signal.Signals) -> None:
        if self._process is None or self._process.poll() is not None:
            return
        self._process.send_signal(sig)
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit():
                with contextlib.suppress(OSError, IndexError):
                    parent = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
                    if parent == self._process.pid:
                        os.kill(int(entry.name), sig)

    def close(self) -> None:
        """End it."""
        self.resume()
        self.crash()
