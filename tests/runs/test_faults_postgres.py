"""A real PostgreSQL: several workers, killed connections, a restarted server."""

import os
import signal
import socket
import time

import pytest

from surefoot.runs.storage import close_storage, load_study, open_storage, opened

pytestmark = pytest.mark.slow


def checked(url, ledger) -> int:
    with opened(url) as found:
        return ledger.check(load_study(found))


def wait_for(ledger, n_ends: int) -> None:
    while len(ledger.ends()) < n_ends:
        time.sleep(0.02)


def test_two_processes_begin_a_study_together_and_share_its_budget(make_problem, ledger, start_worker, storage):
    problem = make_problem(ledger.code(0.1), n_evals=16, n_init=8)
    workers = [start_worker(problem, storage, workers=2) for _ in range(2)]
    for worker in workers:
        worker.join(120)
        assert worker.exitcode == 0
    assert checked(storage, ledger) == 16
    assert len(ledger.ends()) == 16


def test_killed_connections_cost_nothing(make_problem, ledger, start_worker, server, storage):
    problem = make_problem(ledger.code(0.05), n_evals=24, n_init=8)
    worker = start_worker(problem, storage, workers=2)
    killed = 0
    for n_ends in (3, 6, 9, 12, 15):
        wait_for(ledger, n_ends)
        killed += server.kill_connections()
    worker.join(120)
    assert worker.exitcode == 0
    assert killed > 0
    assert checked(storage, ledger) == 24


def test_a_server_that_crashes_and_comes_back_costs_nothing(make_problem, ledger, start_worker, server, storage):
    problem = make_problem(ledger.code(0.05), n_evals=14, n_init=8)
    worker = start_worker(problem, storage)
    wait_for(ledger, 4)
    server.stop()  # immediate: as in a crash, the log is replayed at the next start
    time.sleep(0.5)
    server.start()
    checked(storage, ledger)
    worker.join(120)
    assert worker.exitcode == 0
    assert checked(storage, ledger) == 14


def test_an_outage_longer_than_six_heartbeats_costs_no_evaluation(make_problem, ledger, start_worker, server, storage):
    """All workers are alive, and cannot show it; nobody is given up, and nothing is evaluated twice."""
    problem = make_problem(ledger.code(4.0), n_evals=4, n_init=4, heartbeat_s=0.2)
    workers = [start_worker(problem, storage) for _ in range(4)]
    while not ledger.path.exists() or len(ledger.path.read_text().splitlines()) < 4:
        time.sleep(0.02)
    server.stop()
    time.sleep(6.0)  # thirty heartbeats; the evaluations end meanwhile
    server.start()
    for worker in workers:
        worker.join(120)
        assert worker.exitcode == 0
    assert checked(storage, ledger) == 4
    assert len(ledger.ends()) == 4


def test_reading_commands_leave_a_database_as_it_is(server, storage):
    import psycopg

    with pytest.raises(ValueError, match="without their tables"), opened(storage):
        pass
    with psycopg.connect(server.url) as connection:
        assert connection.execute("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'").fetchone() == (0,)


def test_kill_9_of_one_of_four_workers(make_problem, ledger, start_worker, storage):
    problem = make_problem(ledger.code(0.1), n_evals=20, n_init=8)
    workers = [start_worker(problem, storage) for _ in range(4)]
    wait_for(ledger, 6)
    os.kill(workers[1].pid, signal.SIGKILL)
    for worker in (workers[0], workers[2], workers[3]):
        worker.join(120)
        assert worker.exitcode == 0
    assert checked(storage, ledger) == 20


def test_a_server_that_is_not_there_is_an_error(server):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with pytest.raises(ValueError, match="expected a storage at postgresql"):
        close_storage(open_storage(f"postgresql://tester@127.0.0.1:{port}/nowhere"))
