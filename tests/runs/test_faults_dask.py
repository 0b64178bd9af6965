"""A Dask scheduler that is killed: the run waits, says what for, and goes on or ends with everything kept."""

import socket
import subprocess
import sys
import threading
import time

import pytest

from surefoot.errors import WorkersLostError
from surefoot.integrations.optuna_history import was_evaluated
from surefoot.runs.cluster import connect
from surefoot.runs.running import run
from surefoot.runs.storage import load_study, opened

pytest.importorskip("distributed")
pytestmark = pytest.mark.slow


class Dask:
    """A scheduler and a worker in processes of their own."""

    def __init__(self) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.address = f"tcp://127.0.0.1:{self.port}"
        self.processes: list[subprocess.Popen] = []

    def start(self) -> None:
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        place = ["--host", "127.0.0.1", "--no-dashboard"]
        for command in (
            ["distributed.cli.dask_scheduler", "--port", str(self.port), *place],
            ["distributed.cli.dask_worker", self.address, "--nthreads", "2", "--no-nanny", *place],
        ):
            self.processes.append(subprocess.Popen([sys.executable, "-m", *command], **quiet))

    def kill(self) -> None:
        while self.processes:
            process = self.processes.pop()
            process.kill()
            process.wait()


@pytest.fixture
def dask():
    cluster = Dask()
    cluster.start()
    yield cluster
    cluster.kill()


def connected(dask):
    for _ in range(30):
        try:
            return connect(dask.address)
        except ValueError:  # its worker is not there yet
            time.sleep(0.5)
    raise AssertionError("no Dask")


@pytest.mark.parametrize("comes_back", [True, False])
def test_a_scheduler_that_is_killed_is_waited_for(make_problem, reporter, ledger, dask, comes_back, monkeypatch):
    if not comes_back:
        monkeypatch.setattr("surefoot.runs.worker._MOST_TROUBLES", 2)
    problem = make_problem(ledger.code(0.3), n_evals=8, n_init=8)
    executor = connected(dask)

    def interrupt() -> None:
        while len(ledger.ends()) < 3:
            time.sleep(0.02)
        dask.kill()
        while comes_back and not any("the Dask scheduler at" in note for note in reporter.notes):
            time.sleep(0.05)
        if comes_back:
            dask.start()

    thread = threading.Thread(target=interrupt)
    thread.start()
    try:
        if comes_back:
            assert run(problem, workers=2, executor=executor, reporter=reporter).nfev == 8
        else:
            with pytest.raises(WorkersLostError, match="expected evaluations to be possible"):
                run(problem, workers=2, executor=executor, reporter=reporter)
    finally:
        thread.join()
        executor.shutdown()
    with opened(problem.default_storage) as storage:
        study = load_study(storage)
        assert ledger.check(study) >= (8 if comes_back else 2)
        assert not any(t.state.name == "RUNNING" for t in study.trials)
        assert sum(was_evaluated(t) for t in study.trials) <= 8
