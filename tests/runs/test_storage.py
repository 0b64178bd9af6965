"""Storages: which are understood, what is told if not, and that what was reported is on the disk."""

import contextlib
import os
import shutil
import sqlite3
from dataclasses import replace
from pathlib import Path

import optuna
import pytest

from surefoot.errors import InvalidInputError, StorageLostError, SurefootError
from surefoot.runs.dry_run import check
from surefoot.runs.running import run
from surefoot.runs.sqlite_file import SqliteFile
from surefoot.runs.storage import (
    close_storage,
    has_studies,
    load_study,
    make_durable,
    open_storage,
    opened,
    parse_url,
    shown_url,
    study_names,
)
from surefoot.runs.tables import study_rows


@pytest.mark.parametrize(
    ("place", "shown"),
    [
        ("a b.db", "a b.db"),
        ("sqlite:////x/a.db", "/x/a.db"),
        ("postgresql://u:secret@h/d", "postgresql://u:***@h/d"),
        ("postgres://h/d", "postgresql://h/d"),
    ],
)
def test_paths_and_urls_are_understood_and_passwords_not_shown(place, shown):
    assert shown_url(parse_url(place)) == shown


@pytest.mark.parametrize("place", ["mysql://h/d", "sqlite://", "http://x:y:z", "nowhere.db"])
def test_what_is_not_a_storage_is_an_error(place, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InvalidInputError, match="expected a"):
        open_storage(place)
    assert os.listdir(tmp_path) == []


def test_a_file_that_is_no_database_is_an_error(tmp_path):
    (tmp_path / "x.db").write_text("hello, this is not a database at all\n" * 100)
    with pytest.raises(InvalidInputError, match="not a database"):
        open_storage(tmp_path / "x.db")


def test_a_folder_that_cannot_be_written_is_an_error(tmp_path):
    with pytest.raises(InvalidInputError, match="unable to open"):
        open_storage(tmp_path / "nowhere" / "x.db", create=True)


def test_a_storage_with_several_studies_wants_a_name(tmp_path):
    storage = open_storage(tmp_path / "x.db", create=True)
    for name in ("one", "two"):
        optuna.create_study(storage=storage, study_name=name)
    assert study_names(storage) == ["one", "two"]
    assert load_study(storage, "two").study_name == "two"
    with pytest.raises(InvalidInputError, match="it has 'one', 'two'; try --study"):
        load_study(storage)
    with pytest.raises(InvalidInputError, match="got 'three'"):
        load_study(storage, "three")
    close_storage(storage)


def test_the_log_is_empty_once_an_end_was_made_durable(tmp_path):
    storage = open_storage(tmp_path / "x.db", create=True)
    study = optuna.create_study(storage=storage, study_name="s")
    study.tell(study.ask(), 1.0)
    assert os.path.getsize(tmp_path / "x.db-wal") > 0
    make_durable(storage)
    assert os.path.getsize(tmp_path / "x.db-wal") == 0
    close_storage(storage)


@pytest.mark.parametrize("keep", [0, 1, 31, 32, 1000, 5000])
def test_a_truncated_log_loses_nothing_that_was_reported(tmp_path, keep):
    storage = open_storage(tmp_path / "x.db", create=True)
    study = optuna.create_study(storage=storage, study_name="s")
    for value in range(5):
        study.tell(study.ask(), float(value))
    make_durable(storage)
    study.ask().set_user_attr("under", "way")
    (tmp_path / "copy").mkdir()
    for name in ("x.db", "x.db-wal"):  # what the disk would hold after a power cut, with a torn log
        shutil.copy(tmp_path / name, tmp_path / "copy" / name)
    os.truncate(tmp_path / "copy" / "x.db-wal", min(keep, os.path.getsize(tmp_path / "x.db-wal")))
    close_storage(storage)
    with opened(tmp_path / "copy" / "x.db", write=True) as found:
        again = load_study(found)
        assert [t.value for t in again.trials if t.state.is_finished()] == [0.0, 1.0, 2.0, 3.0, 4.0]
        again.tell(again.ask(), 5.0)


def test_an_end_is_durable_even_while_a_reader_holds_the_log(tmp_path, monkeypatch):
    monkeypatch.setattr("surefoot.runs.sqlite_file.BUSY_TIMEOUT_S", 0.05)
    storage = open_storage(tmp_path / "x.db", create=True)
    study = optuna.create_study(storage=storage, study_name="s")
    reader = sqlite3.connect(tmp_path / "x.db")
    reader.execute("BEGIN")
    reader.execute("SELECT * FROM studies").fetchall()
    study.tell(study.ask(), 1.0)
    make_durable(storage)
    reader.close()
    close_storage(storage)


def test_a_reader_is_not_told_a_part_of_what_a_run_writes_that_begins_meanwhile(tmp_path):
    path = tmp_path / "x.db"

    def write(statements: list[str]) -> None:
        with contextlib.closing(SqliteFile(path, writes=True, create=True).connect()) as connection:
            for statement in statements:
                connection.execute(statement)

    text = "x" * 500
    write(["CREATE TABLE t (i, text)", *(f"INSERT INTO t VALUES ({i}, '{text}')" for i in range(3000))])
    assert sorted(os.listdir(tmp_path)) == ["x.db"]
    with contextlib.closing(SqliteFile(path, writes=False).connect()) as reader:
        rows = reader.execute("SELECT i FROM t")
        first = rows.fetchone()
        write(["DELETE FROM t WHERE i > 100", "VACUUM"])
        assert [first, *rows.fetchall()] == [(i,) for i in range(3000)]
        with pytest.raises(sqlite3.OperationalError):
            reader.execute("DELETE FROM t")
    with contextlib.closing(SqliteFile(path, writes=False).connect()) as reader:
        assert reader.execute("SELECT COUNT(*) FROM t").fetchone() == (101,)
    assert sorted(os.listdir(tmp_path)) == ["x.db"]


def test_a_damaged_file_is_said_to_be_so_at_once(make_problem, reporter):
    problem = make_problem("print(1)", n_evals=3, n_init=3)
    run(problem, reporter=reporter)
    path = Path(problem.default_storage)
    contents = bytearray(path.read_bytes())
    half = len(contents) // 2
    contents[half:] = bytes(b ^ 0x5A for b in contents[half:])
    path.write_bytes(contents)
    said = pytest.raises(SurefootError, match=r"malformed.*damaged; try a copy of it")
    with said, opened(path) as storage:
        load_study(storage).get_trials()
    with said:
        run(replace(problem, n_evals=5), reporter=reporter)


SECRETS = [
    "postgresql://u:s3cret@h:54x/d",  # a port that is no number
    "postgresql://u:s3cret@h:54x/d?password=s3cret",
    "postgresql:/u:s3cret@h/d",
    "mysql://u:s3cret@h/d",
    "postgresql://u@127.0.0.1:1/d?password=s3cret",  # nobody listens there
    "postgresql://u:s3cret@127.0.0.1:1/d?sslpassword=s3cret",
    "postgresql://u:a/b@s3cret@127.0.0.1:1/d",
]


@pytest.mark.parametrize("place", SECRETS)
def test_no_password_is_shown_when_a_storage_cannot_be_opened(place, monkeypatch):
    monkeypatch.setattr("surefoot.runs.storage._OPEN_TRIES", 1)
    for attempt in (open_storage, has_studies):
        with pytest.raises(InvalidInputError) as told:
            attempt(place)
        assert "s3cret" not in str(told.value)


@pytest.fixture(params=["delete", "wal"])
def foreign(tmp_path, request):
    """A database of another program."""
    path = tmp_path / "foreign.db"
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(f"PRAGMA journal_mode = {request.param}")
        connection.execute("CREATE TABLE customers (name TEXT)")
        connection.execute("INSERT INTO customers VALUES ('Ada')")
    return path


def test_a_database_of_another_program_is_not_touched(foreign, make_problem, reporter):
    before = foreign.read_bytes()
    for attempt in (
        lambda: opened(foreign).__enter__(),
        lambda: opened(foreign, write=True).__enter__(),
        lambda: list(check(make_problem("print(1)"), str(foreign))),
        lambda: run(make_problem("print(1)"), str(foreign), reporter=reporter),
    ):
        with pytest.raises(InvalidInputError, match=r"expected a database of studies; got .*customers"):
            attempt()
    assert foreign.read_bytes() == before
    assert sorted(path.name for path in foreign.parent.iterdir()) == ["foreign.db", "program.py"]


def test_reading_leaves_an_optuna_file_and_its_folder_as_they_are(tmp_path):
    path = tmp_path / "plain.db"
    plain = optuna.storages.RDBStorage(f"sqlite:///{path}")  # no WAL: Optuna's own way
    optuna.create_study(storage=plain, study_name="t").optimize(lambda t: t.suggest_float("a", 0, 1), n_trials=2)
    plain.engine.dispose()
    before = path.read_bytes()
    with opened(path) as storage:
        assert study_rows(storage)[0]["finished"] == 2
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["plain.db"]


def test_reading_a_finished_run_leaves_no_log_beside_it(make_problem, reporter):
    problem = make_problem("print(1)", n_evals=1)
    run(problem, reporter=reporter)
    before = sorted(os.listdir(problem.folder))
    with opened(problem.default_storage) as storage:
        assert load_study(storage).trials
    assert sorted(os.listdir(problem.folder)) == before


def test_an_empty_file_is_no_storage_to_read_and_one_to_run_in(tmp_path, make_problem, reporter):
    path = tmp_path / "empty.db"
    path.touch()
    with pytest.raises(InvalidInputError, match="no tables"), opened(path):
        pass
    assert any("to be made" in line for line in check(make_problem("print(1)"), str(path)))
    assert run(make_problem("print(1)", n_evals=1), str(path), reporter=reporter).nfev == 1


def test_what_was_opened_for_reading_cannot_be_written(tmp_path):
    close_storage(open_storage(tmp_path / "x.db", create=True))
    with pytest.raises(StorageLostError, match="readonly"), opened(tmp_path / "x.db") as storage:
        optuna.create_study(storage=storage)


def test_a_folder_is_not_said_to_be_missing(tmp_path):
    with pytest.raises(InvalidInputError, match="which is a folder; try a file in it"):
        open_storage(str(tmp_path))
