"""A real PostgreSQL: several workers, killed connections, a restarted server."""

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path

import pytest

from surefoot.runs.storage import close_storage, load_study, open_storage, opened

psycopg = pytest.importorskip("psycopg")
pytestmark = pytest.mark.slow


def find(program: str) -> str | None:
    places = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return shutil.which(program, path=os.pathsep.join([*map(str, places), os.environ.get("PATH", "")]))


class Server:
    """PostgreSQL in a folder of its own, on loopback; as another user if we are root, whom it refuses."""

    def __init__(self, folder: Path) -> None:
        self.data = folder / "data"
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.as_user: list[str] = []
        if os.geteuid() == 0:
            self.as_user = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
            os.chown(folder, 65534, 65534)
        self.run([find("initdb"), "-D", self.data, "-U", "tester", "--auth=trust", "-E", "UTF8", "--locale=C"])
        with (self.data / "postgresql.conf").open("a") as file:
            file.write(f"port = {self.port}\nlisten_addresses = '127.0.0.1'\nunix_socket_directories = ''\n")

    def run(self, command: list) -> None:
        done = subprocess.run([*self.as_user, *map(str, command)], capture_output=True, text=True, cwd="/", check=False)
        assert done.returncode == 0, done.stderr

    def start(self) -> None:
        log = self.data.parent / "log.txt"
        self.run([find("pg_ctl"), "-D", self.data, "-l", log, "-w", "start"])

    def stop(self) -> None:
        self.run([find("pg_ctl"), "-D", self.data, "-m", "immediate", "-w", "stop"])

    @property
    def url(self) -> str:
        return f"postgresql://tester@127.0.0.1:{self.port}/postgres"

    def kill_connections(self) -> int:
        with psycopg.connect(self.url, autocommit=True) as connection:
            others = "FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND usename = 'tester'"
            return len(connection.execute(f"SELECT pg_terminate_backend(pid) {others}").fetchall())


@pytest.fixture(scope="module")
def server():
    if find("initdb") is None or find("pg_ctl") is None:
        pytest.skip("PostgreSQL is not installed (apt-get install postgresql)")
    if os.geteuid() == 0 and shutil.which("setpriv") is None:
        pytest.skip("PostgreSQL refuses to run as root, and setpriv (util-linux) is not installed")
    # not below pytest's folder, which every other pytest of this user closes to others
    folder = Path(tempfile.mkdtemp(prefix="surefoot-postgres-"))
    server = Server(folder)
    server.start()
    yield server
    with contextlib.suppress(AssertionError):
        server.stop()
    shutil.rmtree(folder)


@pytest.fixture
def storage(server):
    """An empty database."""
    with psycopg.connect(server.url, autocommit=True) as connection:
        connection.execute("DROP SCHEMA public CASCADE")
        connection.execute("CREATE SCHEMA public")
    return server.url


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
