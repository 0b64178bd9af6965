"""A real SLURM and everything that dies around it: the run, jobs, the node, SLURM's own controller."""

import random
import time

import pytest

from surefoot.integrations.optuna_history import TRANSIENT, VOID
from surefoot.runs.storage import load_study, opened

pytestmark = pytest.mark.slow

TABLE = {"poll_s": 0.5, "n_retries": 20}


def checked(problem, ledger) -> int:
    with opened(problem.default_storage) as storage:
        study = load_study(storage)
        chosen = [t for t in study.trials if len(t.params) == 2]  # a run may die before it has chosen a point
        assert not any({VOID, TRANSIENT} & t.user_attrs.keys() for t in chosen), "an evaluation was given up"
        return ledger.check(study)


def until(holds, seconds: float = 120.0) -> None:
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.05)


def finish(problem, ledger, start_worker) -> None:
    """The rest of the budget: exactly that, at as many points."""
    worker = start_worker(problem, workers=4, slurm=True)
    worker.join(300)
    assert worker.exitcode == 0
    assert checked(problem, ledger) == problem.n_evals


@pytest.mark.parametrize("on_network", [False, True])
def test_kill_9_of_the_run_at_random_moments_starts_nothing_twice(
    make_problem, ledger, start_worker, slurm, monkeypatch, on_network
):
    if on_network:
        monkeypatch.setattr("surefoot.runs.storage.is_network", lambda path: True)
    problem = make_problem(ledger.code(1.0), n_evals=20, n_init=20, slurm=TABLE)
    rng = random.Random(int(on_network))
    n_left = 0
    for _ in range(8):
        worker = start_worker(problem, workers=4, slurm=True)
        worker.join(rng.uniform(0.2, 4.0))
        worker.kill()
        worker.join()
        n_left += len(slurm.jobs())
        if len(ledger.ends()) > 0:
            checked(problem, ledger)
    assert n_left > 8  # jobs went on without their run
    finish(problem, ledger, start_worker)
    assert ledger.n_starts() == 20


def test_cancelled_jobs_a_drained_node_a_dead_node_and_kill_9_together(make_problem, ledger, start_worker, slurm):
    problem = make_problem(ledger.code(1.5), n_evals=16, n_init=16, slurm=TABLE)
    ledger.torn = True  # a job may be ended between the objective's last word and its result: then it speaks again
    rng = random.Random(2)
    worker = start_worker(problem, workers=4, slurm=True)
    for fault in ("cancel", "drain", "kill", "cancel", "down", "kill"):
        n_starts = ledger.n_starts()
        until(lambda n=n_starts, w=worker: ledger.n_starts() > n or not w.is_alive())
        time.sleep(rng.uniform(0.0, 1.0))
        if fault == "cancel":
            slurm.tell("scancel", *slurm.jobs())
        elif fault == "kill":
            worker.kill()
            worker.join()
            worker = start_worker(problem, workers=4, slurm=True)
        else:  # drained: what runs goes on, the rest waits; down: what runs is gone
            slurm.node(fault)
            time.sleep(2.0)
            slurm.node("resume")
    worker.join(300)
    assert worker.exitcode == 0
    assert checked(problem, ledger) == 16
    assert len(ledger.ends()) >= 16


def test_slurms_controller_is_waited_for_and_its_jobs_go_on(make_problem, ledger, start_worker, slurm):
    problem = make_problem(ledger.code(2.0), n_evals=8, n_init=8, slurm=TABLE)
    worker = start_worker(problem, workers=4, slurm=True)
    until(lambda: ledger.n_starts() >= 3)
    slurm.stop_controller()
    until(lambda: len(ledger.ends()) >= 3)
    time.sleep(3.0)
    slurm.start_controller()
    worker.join(300)
    assert worker.exitcode == 0
    assert (checked(problem, ledger), ledger.n_starts()) == (8, 8)


def test_two_runs_at_once_share_the_budget_and_one_takes_over_from_the_other(make_problem, ledger, start_worker, slurm):
    problem = make_problem(ledger.code(2.0), n_evals=10, n_init=10, slurm=TABLE, heartbeat_s=1.0)
    first, second = (start_worker(problem, workers=3, slurm=True) for _ in range(2))
    until(lambda: ledger.n_starts() >= 5)
    first.kill()
    first.join()
    second.join(300)
    assert second.exitcode == 0
    assert (checked(problem, ledger), ledger.n_starts()) == (10, 10)
