"""Real processes killed at random moments: no reported result lost, nothing counted twice, the study goes on."""

import random
import time
from pathlib import Path

import pytest

from surefoot.integrations.optuna_history import VOID
from surefoot.runs.running import run
from surefoot.runs.storage import load_study, opened


def checked(problem, ledger) -> int:
    with opened(problem.default_storage) as storage:
        return ledger.check(load_study(storage))


def kill_at_random_moments(problem, ledger, start_worker, n_kills: int, seed: int) -> None:
    rng = random.Random(seed)
    for k in range(n_kills):
        n_lines = ledger.n_lines()
        worker = start_worker(problem)
        while k % 2 and worker.is_alive() and ledger.n_lines() == n_lines:  # on a slow machine too some get so far
            time.sleep(0.01)
        worker.join(rng.uniform(0.1, 1.4))  # from the opening of the storage to the tenth trial or so
        worker.kill()
        worker.join()
        if len(ledger.ends()) > 0:  # else it may have been killed before the study was made
            checked(problem, ledger)


def finish(problem, ledger, start_worker) -> None:
    worker = start_worker(problem)
    worker.join(240)
    assert worker.exitcode == 0
    assert checked(problem, ledger) == problem.n_evals


@pytest.mark.parametrize("n_kills", [3, pytest.param(50, marks=pytest.mark.slow)])
def test_kill_9_of_the_worker_at_random_moments(make_problem, ledger, start_worker, n_kills):
    n_evals = 10 + 5 * n_kills
    problem = make_problem(ledger.code(0.1), n_evals=n_evals, n_init=10)
    kill_at_random_moments(problem, ledger, start_worker, n_kills, seed=n_kills)
    with opened(problem.default_storage) as storage:
        n_running = sum(t.state.name == "RUNNING" for t in load_study(storage).trials)
        n_lost = sum("lost" in t.user_attrs.get(VOID, "") for t in load_study(storage).trials) + n_running
    assert n_lost >= n_kills // 4  # the others died while they opened the storage
    finish(problem, ledger, start_worker)


@pytest.mark.slow
def test_kill_9_of_one_of_four_concurrent_workers(make_problem, ledger, start_worker):
    problem = make_problem(ledger.code(0.1), n_evals=30, n_init=10)
    workers = [start_worker(problem) for _ in range(4)]
    while len(ledger.ends()) < 8:
        time.sleep(0.02)
    workers[2].kill()
    for worker in (workers[0], workers[1], workers[3]):
        worker.join(120)
        assert worker.exitcode == 0
    assert checked(problem, ledger) == 30


@pytest.mark.slow
def test_kill_9_and_a_torn_log(make_problem, ledger, start_worker):
    ledger.torn = True  # what was under way when the log was torn may be forgotten, and its number given out again
    problem = make_problem(ledger.code(0.02), n_evals=20, n_init=10)
    log = problem.default_storage.with_name("p.db-wal")
    rng = random.Random(3)
    for n_ends in (4, 8, 12):
        worker = start_worker(problem)
        while len(ledger.ends()) < n_ends:
            time.sleep(0.01)
        time.sleep(rng.uniform(0.0, 0.1))
        worker.kill()
        worker.join()
        with log.open("ab") as file:
            file.truncate(rng.randrange(file.tell() + 1))
        checked(problem, ledger)
    finish(problem, ledger, start_worker)


def test_the_simulator_dies_with_its_worker(make_problem, ledger, start_worker):
    problem = make_problem(ledger.code(0.8), n_evals=2)
    worker = start_worker(problem)
    while not ledger.path.exists():
        time.sleep(0.01)
    worker.kill()
    worker.join()
    time.sleep(1.2)
    assert ledger.ends() == {}


def test_a_simulator_behind_a_shell_dies_with_its_worker(make_problem, tmp_path, start_worker):
    """Or its point would be evaluated a second time while the first evaluation goes on."""
    wrapper, pids = tmp_path / "wrapper", tmp_path / "pids"
    wrapper.write_text(f"#!/bin/sh\necho $$ >> {pids}\nsh -c 'echo $$ >> {pids}; sleep 600; :' | cat\n")
    wrapper.chmod(0o755)
    worker = start_worker(make_problem(objective={"command": ["./wrapper", "{a}", "{b}"]}, n_evals=2))
    while not (pids.exists() and pids.read_text().count("\n") == 2):
        time.sleep(0.01)
    worker.kill()
    worker.join()
    deadline = time.monotonic() + 60.0
    while (alive := [pid for pid in pids.read_text().split() if Path(f"/proc/{pid}").exists()]) and (
        time.monotonic() < deadline
    ):
        time.sleep(0.02)
    assert not alive


def test_a_simulator_that_deletes_its_folder_is_run_once_at_each_point(make_problem, reporter):
    code = "import os, shutil; print(1); shutil.rmtree(os.getcwd())"
    result = run(make_problem(code, n_evals=3), reporter=reporter)
    assert (result.nfev, result.n_failures) == (3, 3)
    assert not any("trying again" in note for note in reporter.notes)
