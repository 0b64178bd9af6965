"""Studies in Optuna's relational storage: a SQLite file, or PostgreSQL for many machines.

SQLite      journal_mode = WAL: a writer does not block readers, and a crash at any moment leaves a whole file.
            synchronous = NORMAL, and after every end of a trial `wal_checkpoint(TRUNCATE)`: the log is synced and
            copied into the database file, that is synced, and the log is emptied. What has been reported is then in the
            main file and on the disk, whatever becomes of the log; what need not survive a power cut (a trial under
            way) costs no sync. BEGIN IMMEDIATE where something may be written: Optuna reads a trial's state and then
            writes it, relying on SELECT … FOR UPDATE, which SQLite does not have; without the lock two processes could
            take the same trial. What only reads (`opened`, `reading`) begins without it and never waits for a writer.
            On a network file system none of this holds: see working_copy.py.
PostgreSQL  commits are durable by default (synchronous_commit = on); connections are tested before use, so that a
            restarted server or a dropped connection costs a retry and not the run.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast
from weakref import WeakKeyDictionary

import optuna
from optuna.distributions import BaseDistribution
from optuna.exceptions import StorageInternalError
from optuna.storages import RDBStorage
from optuna.study import Study
from sqlalchemy import create_engine, event, inspect
from sqlalchemy.engine import URL
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from surefoot.errors import InvalidInputError, MissingExtraError, StorageLostError
from surefoot.runs.address import parse_url, shown_url, without_secrets
from surefoot.runs.file_systems import is_network
from surefoot.runs.sqlite_file import DAMAGED, OPTUNA_TABLES, SqliteFile, has_tables, is_damaged
from surefoot.runs.working_copy import WorkingCopy

__all__ = ["close_storage", "load_study", "open_storage", "opened", "parse_url", "shown_url", "study_names"]

_OPEN_TRIES = 6  # two processes that create the tables at the same time get in each other's way
_HOPELESS = ("not a database", "malformed", "unable to open", "authentication", "does not exist", "readonly")
_POSTGRES: dict[str, Any] = {  # a server that is not reachable is noticed in half a minute, not in hours
    "connect_timeout": 10, "keepalives": 1, "keepalives_idle": 10, "keepalives_interval": 5, "keepalives_count": 3,
    "tcp_user_timeout": 30_000,
}  # fmt: skip
_copies: WeakKeyDictionary[RDBStorage, WorkingCopy] = WeakKeyDictionary()
_thread = threading.local()  # .reading: whether this thread only reads now


class _Storage(RDBStorage):
    """Optuna's, where a parameter may become another: each trial keeps the distribution that its value came from."""

    def _set_trial_param_without_commit(
        self,
        session: Session,
        trial_id: int,
        param_name: str,
        param_value_internal: float,
        distribution: BaseDistribution,
        previous_distribution: BaseDistribution | None = None,
    ) -> None:
        # Optuna compares it with that of the study's first trial, if it is given none to compare it with
        super()._set_trial_param_without_commit(
            session, trial_id, param_name, param_value_internal, distribution, previous_distribution=distribution
        )


def open_storage(place: str | os.PathLike[str], *, create: bool = False, read_only: bool = False) -> RDBStorage:
    """The storage at a URL or path; an error that says why if there is none, unless `create`.

    read_only  nothing is written, not even tables or a log, and no writer is waited for
    """
    url = parse_url(place)
    optuna.logging.set_verbosity(optuna.logging.ERROR)  # what happens is ours to tell
    file, copy = None, None
    if url.get_backend_name() == "sqlite":
        file, copy = _sqlite_file(url, create=create, writes=not read_only)
        options: dict[str, Any] = {"creator": file.connect}
    else:
        extra = {"options": "-c default_transaction_read_only=on"} if read_only else {}
        options = {"pool_pre_ping": True, "connect_args": {**_POSTGRES, **extra}}
    try:
        storage = _open(url, options, tables_exist=not create)
    except BaseException:
        if copy is not None:
            copy.close()
        raise
    if file is not None:
        event.listen(storage.engine, "begin", _begin_reading if read_only else _begin_writing(file))
    if copy is not None:
        _copies[storage] = copy
    return storage


def _sqlite_file(url: URL, *, create: bool, writes: bool) -> tuple[SqliteFile, WorkingCopy | None]:
    """The file to work on; on a network file system that is a copy."""
    if url.database in (None, "", ":memory:"):
        raise InvalidInputError(f"expected a SQLite file; got {str(url)!r}, which is none; try study.db")
    path = Path(str(url.database)).resolve()
    try:
        exists = path.is_file()
    except OSError as error:  # a name that is too long, a folder that may not be entered
        raise InvalidInputError(
            f"expected a storage; got {str(path)[:200]!r} ({error.strerror}); try a shorter path, or its permissions"
        ) from None
    if not create and not exists:
        what, hint = ("is a folder", "a file in it") if path.is_dir() else ("does not exist", "surefoot run first")
        raise InvalidInputError(f"expected a storage; got {str(path)!r}, which {what}; try {hint}")
    has_tables(path, create=create)
    copy = WorkingCopy(path) if writes and is_network(path) else None
    return SqliteFile(path if copy is None else copy.local, writes=writes, create=create), copy


def _open(url: URL, options: dict[str, Any], *, tables_exist: bool) -> RDBStorage:
    for attempt in range(_OPEN_TRIES):
        try:
            if tables_exist and url.get_backend_name() != "sqlite" and not _server_has_tables(url, options):
                raise InvalidInputError(
                    f"expected a database of studies; got {shown_url(url)} without their tables; try surefoot run first"
                )
            return _Storage(_template(url), engine_kwargs=options, skip_table_creation=tables_exist)
        except ImportError as error:
            raise MissingExtraError(
                f"expected the driver of {url.drivername}; got {error}; try pip install 'surefoot[postgres]'"
            ) from error
        except (SQLAlchemyError, sqlite3.Error, optuna.exceptions.OptunaError) as error:
            told = without_secrets(message_of(error), url)
            if "locked" in told:  # by a process that will go on, perhaps: whoever opens knows how long to wait
                raise StorageInternalError(told) from error
            if any(word in told for word in _HOPELESS) or attempt == _OPEN_TRIES - 1:
                raise InvalidInputError(
                    f"expected a storage at {shown_url(url)}; got {told}; "
                    "try a path that can be written, or a server that runs"
                ) from None
            time.sleep(0.1 * 2**attempt)
        except RuntimeError as error:  # a schema of another version of Optuna
            raise InvalidInputError(f"expected a storage of this Optuna; got {error}; try that command") from None
    raise AssertionError("not reached")


def _server_has_tables(url: URL, options: dict[str, Any]) -> bool:
    engine = create_engine(url, **options)
    try:
        return set(inspect(engine).get_table_names()) >= OPTUNA_TABLES
    finally:
        engine.dispose()


def has_studies(place: str | os.PathLike[str]) -> bool:
    """Whether a storage has been made there; an error if none could be. Writes nothing."""
    url = parse_url(place)
    if url.get_backend_name() == "sqlite":
        return has_tables(Path(str(url.database)).resolve(), create=True)
    try:
        return _server_has_tables(url, {"connect_args": _POSTGRES})
    except SQLAlchemyError as error:
        raise InvalidInputError(
            f"expected a storage at {shown_url(url)}; got {without_secrets(message_of(error), url)}; "
            "try a server that runs"
        ) from None


def message_of(error: BaseException) -> str:
    """What the database said, in one line."""
    lines = str(getattr(error.__cause__ or error, "orig", None) or error).strip().splitlines()
    return lines[0] if lines else type(error).__name__


def _template(url: URL) -> str:
    """The URL as RDBStorage wants it, which fills in braces."""
    return url.render_as_string(hide_password=False).replace("{", "{{").replace("}", "}}")


def _begin_reading(connection: Any) -> None:
    connection.exec_driver_sql("BEGIN")


def _begin_writing(file: SqliteFile) -> Any:
    def begin(connection: Any) -> None:
        file.check()
        connection.exec_driver_sql("BEGIN" if getattr(_thread, "reading", False) else "BEGIN IMMEDIATE")

    return begin


@contextlib.contextmanager
def reading() -> Iterator[None]:
    """What this thread does meanwhile only reads: it takes no lock."""
    before = getattr(_thread, "reading", False)
    _thread.reading = True
    try:
        yield
    finally:
        _thread.reading = before


def make_durable(storage: RDBStorage) -> None:
    """Return when everything committed is on the disk, in the main file."""
    if storage.engine.name == "sqlite":
        try:
            _checkpoint(storage)
        except sqlite3.Error as error:  # a full disk; the log still has everything
            raise StorageInternalError(str(error)) from error
    if storage in _copies:
        _publish(storage)


def is_copied(storage: RDBStorage) -> bool:
    """Whether others see what is written only when it is made durable."""
    return storage in _copies


def _publish(storage: RDBStorage) -> None:
    with contextlib.closing(storage.engine.raw_connection()) as connection:
        _copies[storage].publish(cast(sqlite3.Connection, connection.driver_connection))


def _checkpoint(storage: RDBStorage) -> None:
    with contextlib.closing(storage.engine.raw_connection()) as connection:
        for _ in range(3):
            busy, _, _ = connection.cursor().execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            if not busy:
                return
        # a reader holds on to the log: then the log itself has to be on the disk
        (file_name,) = (row[2] for row in connection.cursor().execute("PRAGMA database_list") if row[1] == "main")
    log = Path(f"{file_name}-wal")
    with contextlib.suppress(FileNotFoundError), log.open("rb") as file:
        os.fsync(file.fileno())


@contextlib.contextmanager
def opened(place: str | os.PathLike[str], *, write: bool = False, create: bool = False) -> Iterator[RDBStorage]:
    """A storage, closed at the end; to read from unless `write`. What goes wrong is an error of ours."""
    storage = None
    try:
        storage = open_storage(place, create=create, read_only=not write)
        yield storage
    except (StorageInternalError, SQLAlchemyError, sqlite3.Error) as error:
        url = parse_url(place)
        told = without_secrets(message_of(error), url)
        attempt = DAMAGED if is_damaged(told) else "try again when no other process holds its lock"
        raise StorageLostError(f"expected the storage {shown_url(url)} to answer; got {told}; {attempt}") from error
    finally:
        if storage is not None:
            close_storage(storage)


def close_storage(storage: RDBStorage) -> None:
    """Close all connections."""
    storage.remove_session()
    try:
        if storage in _copies:
            _publish(storage)
    except StorageInternalError as error:
        raise StorageLostError(
            f"expected the storage to take what was written last; got {error}; try freeing space, then once more"
        ) from error
    finally:
        storage.engine.dispose()
        if storage in _copies:
            _copies.pop(storage).close()


def study_names(storage: RDBStorage) -> list[str]:
    """Of all studies in the storage."""
    return sorted(str(name) for name in optuna.get_all_study_names(storage))


def load_study(storage: RDBStorage, name: str | None = None) -> Study:
    """A study by name; without a name the only one."""
    names = study_names(storage)
    if name is None and len(names) == 1:
        name = names[0]
    if name not in names:
        listed = ", ".join(map(repr, names)) or "none"
        where = shown_url(storage.engine.url)
        if name is None:
            raise InvalidInputError(f"expected the name of a study in {where}; it has {listed}; try --study")
        raise InvalidInputError(f"expected a study in {where}, which has {listed}; got {name!r}; try one of them")
    return optuna.load_study(study_name=name, storage=storage)
