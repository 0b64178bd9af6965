"""Processes that are stopped and woken, a lock that is held, a database that is deleted: waited for, said, kept."""

import contextlib
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from wsgiref.util import setup_testing_defaults

import pytest

from surefoot.errors import StorageLostError, StorageReplacedError
from surefoot.integrations.optuna_history import REPEATED, VOID, published, was_evaluated
from surefoot.runs.dashboard import guarded
from surefoot.runs.running import run
from surefoot.runs.storage import load_study, opened, reading
from surefoot.runs.tables import study_rows

HOLD = """
import sqlite3, sys, time
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("BEGIN IMMEDIATE")
print("held", flush=True)
sys.stdin.read()
"""


@contextlib.contextmanager
def lock_held_by_a_stopped_process(path) -> Iterator[subprocess.Popen]:
    holder = subprocess.Popen([sys.executable, "-c", HOLD, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert holder.stdout is not None
    assert holder.stdin is not None
    holder.stdout.readline()
    holder.send_signal(signal.SIGSTOP)
    try:
        yield holder
    finally:
        holder.kill()
        holder.wait()
        holder.stdin.close()
        holder.stdout.close()


def wait_for(condition) -> None:
    while not condition():
        time.sleep(0.02)


def is_locked(path) -> bool:
    with contextlib.closing(sqlite3.connect(path, timeout=0.0, isolation_level=None)) as connection:
        try:
            connection.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError:
            return True
    return False


def stop(process, path) -> None:
    """Stop it, but not while it holds the database's lock: then nobody could go on."""
    os.kill(process.pid, signal.SIGSTOP)
    while is_locked(path):
        os.kill(process.pid, signal.SIGCONT)
        time.sleep(0.003)
        os.kill(process.pid, signal.SIGSTOP)


def trials(problem):
    with opened(problem.default_storage) as storage:
        return load_study(storage).get_trials(deepcopy=False)


def test_a_worker_that_is_stopped_and_woken_loses_no_result(make_problem, ledger, start_worker):
    """Given up while it was stopped, its evaluation evaluated again elsewhere; both results are in the study."""
    problem = make_problem(ledger.code(0.3), n_evals=8, n_init=8, heartbeat_s=0.1)
    first = start_worker(problem)
    wait_for(ledger.path.exists)
    stop(first, problem.default_storage)
    second = start_worker(problem)
    wait_for(lambda: problem.default_storage.exists() and any(VOID in t.user_attrs for t in trials(problem)))
    os.kill(first.pid, signal.SIGCONT)
    for worker in (first, second):
        worker.join(120)
        assert worker.exitcode == 0
    found = trials(problem)
    values = sorted(t.value for t in found if t.value is not None)
    assert values == sorted(value for value in ledger.ends().values() if value is not None)
    points = [tuple(t.params.values()) for t in found if was_evaluated(t)]
    assert len(points) == len(set(points)) == 8
    assert len(ledger.ends()) == 8 + sum(REPEATED in t.user_attrs for t in found)


def test_readers_do_not_wait_for_a_stopped_writer(make_problem, reporter):
    problem = make_problem("print(1)", n_evals=2)
    run(problem, reporter=reporter)
    with lock_held_by_a_stopped_process(problem.default_storage), opened(problem.default_storage) as storage:
        assert study_rows(storage)[0]["finished"] == 2


def test_the_dashboard_shows_studies_while_a_stopped_writer_holds_the_lock(make_problem, reporter):
    wsgi = pytest.importorskip("optuna_dashboard").wsgi
    problem = make_problem("print(1)", n_evals=2)
    run(problem, reporter=reporter)
    environ = {"PATH_INFO": "/api/studies", "HTTP_HOST": "localhost"}
    setup_testing_defaults(environ)
    with (
        lock_held_by_a_stopped_process(problem.default_storage),
        opened(problem.default_storage, write=True) as storage,
    ):
        seen = []
        with reading():
            app = guarded(wsgi(storage), "127.0.0.1")
        page = b"".join(app(environ, lambda status, *_: seen.append(status)))
    assert seen == ["200 OK"]
    assert b'"p"' in page


def test_a_run_waits_for_a_stopped_lock_holder_says_so_and_goes_on(make_problem, reporter):
    problem = make_problem("print(1)", n_evals=2)
    run(problem, reporter=reporter)
    longer = make_problem("print(1)", n_evals=4)
    with lock_held_by_a_stopped_process(problem.default_storage) as holder:

        def release() -> None:
            wait_for(lambda: any("waiting for the storage" in note for note in reporter.notes))
            holder.kill()

        thread = threading.Thread(target=release)
        thread.start()
        assert run(longer, reporter=reporter).nfev == 4
        thread.join()
    told = next(note for note in reporter.notes if "waiting for the storage" in note)
    assert f"held by process {holder.pid}, which is stopped" in told
    assert any("answers again" in note for note in reporter.notes)


def test_a_run_that_waits_for_a_lock_is_stopped_by_ctrl_c(make_problem, reporter):
    problem = make_problem("print(1)", n_evals=2)
    run(problem, reporter=reporter)

    def interrupt() -> None:
        wait_for(lambda: any("waiting for the storage" in note for note in reporter.notes))
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    with lock_held_by_a_stopped_process(problem.default_storage):
        thread.start()
        with pytest.raises(StorageLostError, match="database is locked"):
            run(make_problem("print(1)", n_evals=4), reporter=reporter)
        thread.join()


def test_results_that_cannot_be_stored_are_kept_in_a_file_and_stored_by_the_next_run(make_problem, reporter, ledger):
    problem = make_problem(ledger.code(0.5), n_evals=3)
    stopped = []

    def interrupt() -> None:
        wait_for(ledger.path.exists)
        with lock_held_by_a_stopped_process(problem.default_storage):
            wait_for(lambda: any("waiting for the storage" in note for note in reporter.notes))
            os.kill(os.getpid(), signal.SIGTERM)
            wait_for(lambda: bool(stopped))

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(StorageLostError, match="1 results that could not be stored are in"):
        run(problem, reporter=reporter)
    stopped.append(True)
    thread.join()
    assert len(ledger.ends()) == 1
    result = run(problem, reporter=reporter)
    assert any("are stored now" in note for note in reporter.notes)
    assert result.nfev == 3
    assert len(ledger.ends()) == 3  # nothing was evaluated again
    run(problem, reporter=reporter)
    assert sum("are stored now" in note for note in reporter.notes) == 1


@pytest.mark.parametrize("replaced", [False, True])
def test_a_database_that_is_deleted_or_replaced_is_noticed_and_rescued(make_problem, reporter, ledger, replaced):
    problem = make_problem(ledger.code(0.1), n_evals=30)
    path = problem.default_storage

    def remove() -> None:
        wait_for(lambda: len(ledger.ends()) >= 3)
        for name in ("", "-wal", "-shm"):
            path.with_name(path.name + name).unlink(missing_ok=True)
        if replaced:
            path.write_bytes(b"")

    thread = threading.Thread(target=remove)
    thread.start()
    with pytest.raises(StorageReplacedError, match="replaced by another" if replaced else "was deleted"):
        run(problem, reporter=reporter)
    thread.join()
    rescued = path.with_name("p.rescued.db")
    path.unlink(missing_ok=True)
    n_ended = len(ledger.ends())
    rescued.rename(path)
    result = run(make_problem(ledger.code(0.1), n_evals=n_ended), reporter=reporter)
    assert result.nfev == n_ended
    with contextlib.closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)


@pytest.mark.parametrize("sig", [signal.SIGINT, signal.SIGTERM])
def test_a_worker_that_waits_for_its_turn_hears_signals_and_begins_nothing_new(make_problem, start_worker, ledger, sig):
    problem = make_problem(ledger.code(0.05), n_evals=40, heartbeat_s=600.0)
    first = start_worker(problem)
    wait_for(lambda: len(ledger.ends()) >= 2)
    while True:  # until it is stopped between the creation of a trial and the publication of its point
        stop(first, problem.default_storage)
        last = trials(problem)[-1]
        if last.state.name == "RUNNING" and not last.params and not published(last):
            break
        os.kill(first.pid, signal.SIGCONT)
        time.sleep(0.013)
    begun = len(os.listdir(problem.evaluations_folder))
    second = start_worker(problem)
    wait_for(lambda: len(trials(problem)) > last.number + 1)
    os.kill(second.pid, sig)
    second.join(60)
    assert second.exitcode == 0
    assert len(os.listdir(problem.evaluations_folder)) == begun
    first.kill()
