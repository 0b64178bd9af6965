"""Four workers that are stopped, woken and killed at random: the study against the objective's own log."""

import os
import random
import signal
import time

import pytest

from surefoot.integrations.optuna_history import REPEATED, was_evaluated
from surefoot.runs.claims import AGAIN, LATE
from surefoot.runs.storage import load_study, opened

pytestmark = pytest.mark.slow
N_WORKERS = 4


def pause_and_kill(workers, restart, rng, seconds, kills) -> None:
    """One of them is stopped for a while, or killed and replaced, again and again."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        time.sleep(rng.uniform(0.0, 0.4))
        i = rng.randrange(len(workers))
        if not workers[i].is_alive():
            continue
        if kills and rng.random() < 0.4:
            workers[i].kill()
            workers[i].join()
            workers[i] = restart()
            continue
        os.kill(workers[i].pid, signal.SIGSTOP)
        time.sleep(rng.uniform(0.0, 2.5))  # up to a dozen heartbeats
        os.kill(workers[i].pid, signal.SIGCONT)


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
@pytest.mark.parametrize("kills", [False, True])
def test_workers_that_are_stopped_and_killed_at_random(make_problem, ledger, start_worker, request, kind, kills):
    place = None if kind == "sqlite" else request.getfixturevalue("storage")
    seed = random.SystemRandom().randrange(10**6)
    print(f"seed {seed}")  # noqa: T201 - to repeat a failure
    problem = make_problem(ledger.code(0.3), n_evals=40, n_init=30, heartbeat_s=0.2, max_failures=0)
    workers = [start_worker(problem, place) for _ in range(N_WORKERS)]
    while len(ledger.ends()) < 2:
        time.sleep(0.02)
    pause_and_kill(workers, lambda: start_worker(problem, place), random.Random(seed), 20.0, kills)
    for worker in workers:
        worker.join(240)
        assert worker.exitcode == 0
    with opened(place or problem.default_storage) as storage:
        study = load_study(storage)
        trials = study.get_trials(deepcopy=False)
        n_counted = ledger.check(study)
    # a late result whose point was lost twice meanwhile is one more, of an evaluation that had been begun
    assert 40 <= n_counted <= 40 + sum(LATE in t.user_attrs and AGAIN not in t.user_attrs for t in trials)
    assert not any(t.state.name in ("RUNNING", "WAITING") for t in trials)
    kept = {t.user_attrs.get(LATE, t.number): t.value for t in trials if was_evaluated(t) or REPEATED in t.user_attrs}
    if not kills:  # then every evaluation that ended was reported, by whoever it was
        assert {n: v for n, v in ledger.ends().items() if kept.get(n, "lost") != v} == {}
