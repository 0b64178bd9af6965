"""Studies in Optuna's relational storage: a SQLite file, or PostgreSQL for many machines.

SQLite      journal_mode = WAL: a writer does not block readers (the dashboard), and a crash at any moment leaves a
            whole file. synchronous = NORMAL, and after every end of a trial `wal_checkpoint(TRUNCATE)`: the log is
            synced and copied into the database file, that is synced, and the log is emptied. What has been reported is
            then in the main file and on the disk, whatever becomes of the log; what need not survive a power cut (a
            trial under way) costs no sync. BEGIN IMMEDIATE for every transaction: Optuna reads a trial's state and then
            writes it, relying on SELECT … FOR UPDATE, which SQLite does not have; without the lock two processes could
            take the same trial.
PostgreSQL  commits are durable by default (synchronous_commit = on); connections are tested before use, so that a
            restarted server or a dropped connection costs a retry and not the run.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import optuna
from optuna.storages import RDBStorage
from optuna.study import Study
from sqlalchemy import event
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, SQLAlchemyError

from surefoot.errors import InvalidInputError, MissingExtraError

BUSY_TIMEOUT_S = 60.0  # how long SQLite waits for another process to finish its transaction
_OPEN_TRIES = 8  # two processes that create the tables at the same time get in each other's way


def parse_url(place: str | os.PathLike[str]) -> URL:
    """The URL of a storage: sqlite:///…, postgresql://… or the path of a SQLite file."""
    text = os.fspath(place)
    if "://" not in text:
        return URL.create("sqlite", database=text)
    try:
        url = make_url(text)
    except ArgumentError as error:
        raise InvalidInputError(
            f"expected a storage; got {text!r} ({error}); try study.db or postgresql://user@host/database"
        ) from None
    kind = url.get_backend_name()
    if kind == "postgres":
        url, kind = url.set(drivername="postgresql"), "postgresql"
    if kind not in ("sqlite", "postgresql"):
        raise InvalidInputError(
            f"expected a storage in SQLite or PostgreSQL; got {kind!r}; try study.db or postgresql://user@host/database"
        )
    return url.set(drivername="postgresql+psycopg") if url.drivername == "postgresql" else url


def shown_url(url: URL) -> str:
    """For messages: a path, or the URL without its password."""
    return str(url.database) if url.get_backend_name() == "sqlite" else url.render_as_string(hide_password=True)


def open_storage(place: str | os.PathLike[str], *, create: bool = False) -> RDBStorage:
    """The storage at a URL or path; an error that says why if there is none, unless `create`."""
    url = parse_url(place)
    optuna.logging.set_verbosity(optuna.logging.ERROR)  # what happens is ours to tell
    if url.get_backend_name() == "sqlite":
        if url.database in (None, "", ":memory:"):
            raise InvalidInputError(f"expected a SQLite file; got {str(url)!r}, which is none; try study.db")
        path = Path(str(url.database)).resolve()
        if not create and not path.is_file():
            raise InvalidInputError(
                f"expected a storage; got {str(path)!r}, which does not exist; try surefoot run first"
            )
        options: dict[str, Any] = {"creator": lambda: _connect(path)}
    else:
        options = {"pool_pre_ping": True, "connect_args": {"connect_timeout": 10}}
    for attempt in range(_OPEN_TRIES):
        try:
            storage = RDBStorage(_template(url), engine_kwargs=options)
            break
        except ImportError as error:
            raise MissingExtraError(
                f"expected the driver of {url.drivername}; got {error}; try pip install 'surefoot[postgres]'"
            ) from error
        except (SQLAlchemyError, sqlite3.Error, optuna.exceptions.OptunaError) as error:
            told = str(getattr(error, "orig", error)).strip().splitlines()[0]
            hopeless = any(
                word in told for word in ("not a database", "unable to open", "authentication", "does not exist")
            )
            if hopeless or attempt == _OPEN_TRIES - 1:
                raise InvalidInputError(
                    f"expected a storage at {shown_url(url)}; got {told}; "
                    "try a path that can be written, or a server that runs"
                ) from None
            time.sleep(0.1 * 2**attempt)
        except RuntimeError as error:  # a schema of another version of Optuna
            raise InvalidInputError(f"expected a storage of this Optuna; got {error}; try that command") from None
    if url.get_backend_name() == "sqlite":
        event.listen(storage.engine, "begin", _begin_immediate)
    return storage


def _template(url: URL) -> str:
    """The URL as RDBStorage wants it, which fills in braces."""
    return url.render_as_string(hide_password=False).replace("{", "{{").replace("}", "}}")


def _connect(path: Path) -> sqlite3.Connection:
    # isolation_level None: transactions begin where SQLAlchemy begins them, not where sqlite3 guesses
    connection = sqlite3.connect(path, timeout=BUSY_TIMEOUT_S, isolation_level=None, check_same_thread=False)
    for pragma in ("journal_mode = WAL", "synchronous = NORMAL", "checkpoint_fullfsync = 1", "fullfsync = 1"):
        connection.execute(f"PRAGMA {pragma}")
    return connection


def _begin_immediate(connection: Any) -> None:
    connection.exec_driver_sql("BEGIN IMMEDIATE")


def make_durable(storage: RDBStorage) -> None:
    """Return when everything committed is on the disk, in the main file."""
    if storage.engine.name != "sqlite":
        return
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
def opened(place: str | os.PathLike[str]) -> Iterator[RDBStorage]:
    """A storage to read from, closed at the end."""
    storage = open_storage(place)
    try:
        yield storage
    finally:
        close_storage(storage)


def close_storage(storage: RDBStorage) -> None:
    """Close all connections."""
    storage.remove_session()
    storage.engine.dispose()


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
