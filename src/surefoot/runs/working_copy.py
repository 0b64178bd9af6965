"""A study's SQLite file on a network file system: worked on in a local copy, published whole after every end.

SQLite's log needs shared memory and locks that network file systems do not give. So no database is ever open there.
Opening   Whoever wants to write takes a lock (NAME.db.lock, by fcntl: NFS, Lustre and GPFS release it when the process
          or its machine dies), copies the file to the local disk, and works there as on any other.
Publish   All of the copy is written beside the file and synced, then renamed: readers on any machine see one whole
          study or the next, without locks. A study of 1000 trials has a few megabytes.
Others    Only one process at a time writes. Where locks hold on one machine only (some mounts), another machine's
          writing is noticed before the next is published: the run stops, and both have what they had.
"""

from __future__ import annotations

import json
import os
import platform
import secrets
import shutil
import sqlite3
import stat
import tempfile
from contextlib import suppress
from pathlib import Path

from optuna.exceptions import StorageInternalError

from surefoot.errors import InvalidInputError, StorageReplacedError


class WorkingCopy:
    """The local copy of a file that lies on a network file system; ours alone until it is closed."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = _locked(path.with_name(f"{path.name}.lock"))
        log = path.with_name(f"{path.name}-wal")
        if log.exists() and log.stat().st_size:
            os.close(self._lock)
            raise InvalidInputError(
                f"expected no log beside {path}, which is on a network file system; got {log.name} of a process that "
                'did not end; try, on the machine where it ran, python -c "import sqlite3; sqlite3.connect('
                f"'{path.name}').execute('PRAGMA wal_checkpoint(TRUNCATE)')\""
            )
        try:
            self._folder = Path(tempfile.mkdtemp(prefix="surefoot-"))
            self.local = self._folder / path.name
            self._published = _contents(path)
            if path.exists():
                self.local.write_bytes(self._published)
            for unfinished in path.parent.iterdir():  # of a process that was killed while it published
                if unfinished.name.startswith(f".{path.name}-") and unfinished.suffix == ".tmp":
                    unfinished.unlink(missing_ok=True)
        except OSError:
            os.close(self._lock)
            raise

    def publish(self, connection: sqlite3.Connection) -> None:
        """Return when everything committed is in the file, on the disk of its server."""
        image = connection.serialize()
        if image == self._published:
            return
        if self._there() != self._published:
            what = "written by another process" if self._path.exists() else "deleted"
            raise StorageReplacedError(
                f"expected the database {self._path} to stay as it is; it was {what} while the run went on; "
                "try one run at a time on a network file system, or postgresql://…"
            )
        beside = self._path.with_name(f".{self._path.name}-{secrets.token_hex(4)}.tmp")
        try:
            with beside.open("xb") as file:
                file.write(image)
                file.flush()
                if self._path.exists():
                    os.fchmod(file.fileno(), stat.S_IMODE(self._path.stat().st_mode))  # whoever may read it still may
                os.fsync(file.fileno())
            beside.replace(self._path)
        except OSError as error:  # no space left, a server that does not answer
            with suppress(OSError):
                beside.unlink()
            raise StorageInternalError(f"cannot write {self._path}: {error.strerror or error}") from error
        self._published = image

    def _there(self) -> bytes:
        """What the file holds. sshfs shows another machine's file under the same number; a stat on NFS may be old."""
        try:
            return _contents(self._path)
        except OSError as error:
            raise StorageInternalError(f"cannot read {self._path}: {error.strerror or error}") from error

    def close(self) -> None:
        """Let others in, and leave nothing."""
        with suppress(OSError):
            os.close(self._lock)
        shutil.rmtree(self._folder, ignore_errors=True)


def _contents(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return b""


def _locked(path: Path) -> int:
    """A descriptor that holds the lock; StorageInternalError while another process does."""
    import fcntl  # not on every system, where no network file system is known either

    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    except OSError as error:
        raise InvalidInputError(
            f"expected a folder that can be written; got {error.strerror}: {path}; try another --storage"
        ) from None
    try:
        fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        holder = _holder(descriptor)
        os.close(descriptor)
        if isinstance(error, (BlockingIOError, PermissionError)):
            raise StorageInternalError(f"the file is locked by {holder}") from None
        raise InvalidInputError(
            f"expected a file system with locks; got {error.strerror}: {path}; try --storage with a path on a local "
            "disk of this machine, or postgresql://…"
        ) from None
    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, json.dumps({"host": platform.node(), "process": os.getpid()}).encode(), 0)
    return descriptor


def _holder(descriptor: int) -> str:
    try:
        told = json.loads(os.pread(descriptor, 1000, 0))
        return f"process {told['process']} on {told['host']}, which works on this study"
    except (OSError, ValueError, KeyError, TypeError):
        return "another process, which works on this study"
