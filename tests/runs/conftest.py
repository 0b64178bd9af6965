"""Problems made of small Python programs, and a reporter that remembers what it was told."""

import contextlib
import multiprocessing
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from benchmarks.local_slurm import LocalSlurm, missing_programs
from surefoot.integrations.optuna_history import TRANSIENT, was_evaluated
from surefoot.runs.claims import LATE
from surefoot.runs.problem import Problem, problem_from


class Remembering:
    def __init__(self) -> None:
        self.notes: list[str] = []
        self.counts = None

    def progress(self, counts) -> None:
        self.counts = counts

    def note(self, text: str) -> None:
        self.notes.append(text)

    def saved(self, study) -> None:
        pass


@pytest.fixture
def reporter() -> Remembering:
    return Remembering()


@pytest.fixture
def make_problem(tmp_path):
    """A problem whose command is the given Python code, with the parameters as its arguments."""

    def make(code: str = "", *, parameters=None, python: str = "", **table) -> Problem:
        parameters = parameters or {"a": {"low": -5.0, "high": 10.0}, "b": {"low": 0.0, "high": 15.0}}
        objective = dict(table.pop("objective", {}))
        if python:
            (tmp_path / "function.py").write_text(python)
            objective["python"] = "function.py:evaluate"
        else:
            program = tmp_path / "program.py"
            program.write_text(code)
            arguments = ["{" + name + "}" for name in parameters]
            # -I -S: a bare interpreter, which starts faster
            objective.setdefault("command", [sys.executable, "-I", "-S", str(program), *arguments])
        return problem_from({"name": "p", "parameters": parameters, "objective": objective, **table}, Path(tmp_path))

    return make


LEDGER_CODE = """
import os, sys, time
a, b, number = float(sys.argv[1]), float(sys.argv[2]), os.environ["SUREFOOT_TRIAL"]
def log(text):  # appended and synced: what this program did cannot be forgotten
    file = os.open({path!r}, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.write(file, (text + "\\n").encode())
    os.fsync(file)
    os.close(file)
log("start " + number)
time.sleep({sleep})
while {gate!r} and int(number) > 0 and not os.path.exists({gate!r}):
    time.sleep(0.01)
value = (a - 3.0) ** 2 + (b - 2.0) ** 2
fails = a > 7.0
log("end " + number + " " + ("fail" if fails else repr(value)))
if fails:
    sys.exit("the mesh collapsed")
print(repr(value))
"""


class Ledger:
    """What the objective itself wrote down, against what the study says."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.torn = False
        self._reported: dict[int, float | None] = {}

    def code(self, sleep: float, gate: Path | None = None) -> str:
        """The program; with a gate, only trial 0 ends before that file exists."""
        return LEDGER_CODE.format(path=str(self.path), sleep=sleep, gate=str(gate or ""))

    def n_starts(self) -> int:
        """How often the objective began, whatever came of it."""
        return self.path.read_text().count("start ") if self.path.exists() else 0

    def n_lines(self) -> int:
        return len(self.path.read_text().splitlines()) if self.path.exists() else 0

    def ends(self) -> dict[int, float | None]:
        """Values by trial number; None: failed. No number ends twice, unless its trial was torn off the log."""
        lines = [line.split() for line in self.path.read_text().splitlines()] if self.path.exists() else []
        ended = [(int(number), None if rest[0] == "fail" else float(rest[0])) for kind, number, *rest in lines if rest]
        assert self.torn or len(dict(ended)) == len(ended), "a trial was evaluated twice"
        return dict(ended)

    def check(self, study) -> int:
        """Everything reported is there still, and is what the objective said; the number of evaluations that count."""
        ends = self.ends()
        finished = {t.number: t.value for t in study.get_trials(deepcopy=False) if was_evaluated(t)}
        lost_twice = {t.number for t in study.get_trials(deepcopy=False) if TRANSIENT in t.user_attrs}
        for number, value in self._reported.items():
            assert finished.get(number, "lost") == value, f"the result of trial {number} is lost"
        late = {t.number: t.user_attrs.get(LATE, t.number) for t in study.get_trials(deepcopy=False)}
        for number, value in finished.items():
            own = number in lost_twice or ends[late[number]] == value
            assert own, f"trial {number} has a value that is not its own"
        self._reported = finished
        counted = [t for t in study.get_trials(deepcopy=False) if was_evaluated(t) and t.number not in lost_twice]
        points = [tuple(t.params.values()) for t in counted]
        assert len(set(points)) == len(points), "a point was counted twice"
        return len(finished)


@pytest.fixture
def ledger(tmp_path) -> Ledger:
    return Ledger(tmp_path / "ledger.txt")


def _work(problem: Problem, place: str | None, workers: int, slurm: bool) -> None:
    from surefoot.runs.running import run

    reporter = Remembering()
    run(problem, place, workers=workers, slurm=slurm, reporter=reporter)


@pytest.fixture
def start_worker():
    """Work on a problem in a process of its own, forked so that it begins at once; killed at the end of the test."""
    context = multiprocessing.get_context("fork")
    started = []

    def start(problem: Problem, place: str | None = None, workers: int = 1, slurm: bool = False):
        process = context.Process(target=_work, args=(problem, place, workers, slurm))
        process.start()
        started.append(process)
        return process

    yield start
    for process in started:
        if process.is_alive():
            process.kill()
        process.join()
        process.close()


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
        import psycopg

        with psycopg.connect(self.url, autocommit=True) as connection:
            others = "FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND usename = 'tester'"
            return len(connection.execute(f"SELECT pg_terminate_backend(pid) {others}").fetchall())


@pytest.fixture(scope="module")
def server():
    pytest.importorskip("psycopg")
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
    import psycopg

    with psycopg.connect(server.url, autocommit=True) as connection:
        connection.execute("DROP SCHEMA public CASCADE")
        connection.execute("CREATE SCHEMA public")
    return server.url


@pytest.fixture(scope="session")
def slurm_here():
    if missing := missing_programs():
        pytest.skip(f"{', '.join(missing)} not installed (apt-get install slurm-wlm munge)")
    folder = Path(tempfile.mkdtemp(prefix="surefoot-slurm-"))
    with LocalSlurm(folder) as slurm:
        yield slurm
    shutil.rmtree(folder)


@pytest.fixture
def slurm(slurm_here, monkeypatch):
    """A real SLURM on this machine, which SLURM's commands talk to; without jobs, and its node ready."""
    for name, value in slurm_here.environment.items():
        monkeypatch.setenv(name, value)
    yield slurm_here
    slurm_here.tell("scancel", "--user", str(os.getuid()))
    slurm_here.node("resume")
