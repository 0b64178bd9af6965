"""A study's SQLite file: connections that write, connections that only look, and whether it is still the same file.

Writing  journal_mode = WAL, synchronous = NORMAL; see storage.py.
Looking  mode = ro, so that nothing can be written. Of a database that nobody has open (it has no log) a copy in memory
         is read: SQLite would leave an empty log beside the file, or, told that it is immutable, read a part of what a
         run writes that begins meanwhile.
Gone     A process goes on in a file that was deleted, and nobody else can see what it writes. So the file's identity
         is compared before every transaction.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing, suppress
from pathlib import Path

from optuna.exceptions import StorageInternalError
from optuna.storages._rdb import models

from surefoot.errors import InvalidInputError, StorageReplacedError
from surefoot.runs.saved import refuse_saved_run

BUSY_TIMEOUT_S = 2.0  # how long SQLite waits for another process; short, for it hears no signal while it waits
DAMAGED = "the file is damaged; try a copy of it, or what `sqlite3 damaged.db .recover | sqlite3 new.db` saves"
OPTUNA_TABLES = frozenset({"studies", "trials", "version_info", "alembic_version"})


class SqliteFile:
    """Opens connections to one file, and notices when it is another."""

    def __init__(self, path: Path, *, writes: bool, create: bool = False) -> None:
        self.path = path
        self._writes = writes
        self._create = create
        self._identity: tuple[int, int] | None = None

    def connect(self) -> sqlite3.Connection:
        """A connection; the first one makes the file if it may be created."""
        if not self._writes:
            return self._copy() or self._open(f"{self.path.as_uri()}?mode=ro")
        self.check()
        connection = self._open(f"{self.path.as_uri()}?mode={'rwc' if self._create and not self._identity else 'rw'}")
        for pragma in ("synchronous = NORMAL", "checkpoint_fullfsync = 1", "fullfsync = 1"):
            connection.execute(f"PRAGMA {pragma}")
        if self._create:  # otherwise whoever made the file has chosen
            connection.execute("PRAGMA journal_mode = WAL")
        self._identity = self._identity or identity(self.path)
        return connection

    def _copy(self) -> sqlite3.Connection | None:
        """A connection to a copy in memory; None if somebody has the file open, or wrote to it while it was read."""
        before = _version(self.path)
        if before is None or not _is_wal(self.path):
            return None
        try:
            image = bytearray(self.path.read_bytes())
        except OSError:
            return None
        if _version(self.path) != before:
            return None
        image[18:20] = b"\1\1"  # in memory there is no log
        connection = self._open(":memory:")
        connection.deserialize(bytes(image))
        connection.execute("PRAGMA query_only = 1")
        return connection

    def _open(self, uri: str) -> sqlite3.Connection:
        # isolation_level None: transactions begin where SQLAlchemy begins them, not where sqlite3 guesses
        return sqlite3.connect(uri, uri=True, timeout=BUSY_TIMEOUT_S, isolation_level=None, check_same_thread=False)

    def check(self) -> None:
        """Raise if the file that was opened is no longer the one at the path."""
        if self._identity is not None and identity(self.path) != self._identity:
            what = "replaced by another file" if self.path.exists() else "deleted"
            raise StorageReplacedError(
                f"expected the database {self.path} to stay where it is; it was {what} while the run went on; "
                "try putting it back, then run again to continue"
            )


def is_damaged(told: str) -> bool:
    """Whether SQLite says that parts of the file are lost: no patience helps."""
    return "malformed" in told


def _is_wal(path: Path) -> bool:
    """Whether the file's header says that it has a log: its read and write versions are 2."""
    with suppress(OSError), path.open("rb") as file:
        return file.read(20)[18:20] == b"\2\2"
    return False


def _version(path: Path) -> tuple[int, ...] | None:
    """What differs after something was written; None if there is a log: somebody has the file open, or was killed."""
    if path.with_name(f"{path.name}-wal").exists():
        return None
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


def identity(path: Path) -> tuple[int, int] | None:
    """What tells the file at a path from another that takes its place."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def has_tables(path: Path, *, create: bool) -> bool:
    """Whether the file holds Optuna's tables. An error if it must and does not, or if it is another program's."""
    tables = _tables(path) if path.exists() and path.stat().st_size else set()
    if tables >= OPTUNA_TABLES:
        return True
    if create and tables <= {*OPTUNA_TABLES, *models.BaseModel.metadata.tables}:  # some: whoever made them was killed
        return False
    listed = ", ".join(sorted(tables)[:5]) + ("…" if len(tables) > 5 else "") if tables else "no tables"
    attempt = "the file of a surefoot run or of an Optuna study"
    if create:
        attempt = "another file: surefoot run does not write into other programs' databases"
    raise InvalidInputError(f"expected a database of studies; got {str(path)!r} with {listed}; try {attempt}")


def _tables(path: Path) -> set[str]:
    try:
        with closing(SqliteFile(path, writes=False).connect()) as connection:
            rows = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    except sqlite3.Error as error:
        if "locked" in str(error):  # it will pass
            raise StorageInternalError(str(error)) from error
        refuse_saved_run(path, "a database of studies")
        attempt = DAMAGED if is_damaged(str(error)) else "try the file of a surefoot run"
        raise InvalidInputError(f"expected a database of studies at {path}; got {error}; {attempt}") from None
    return {str(name) for (name,) in rows}
