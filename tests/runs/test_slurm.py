"""Evaluations as jobs of a real SLURM on this machine: they outlive their run, and are counted once whatever dies."""

import os
import re
import signal
import time

import pytest
from typer.testing import CliRunner

from surefoot.cli.app import app
from surefoot.errors import InvalidInputError, WorkersLostError
from surefoot.integrations.optuna_history import REASON, TRANSIENT
from surefoot.runs.running import run
from surefoot.runs.storage import load_study, opened

QUICK = {"poll_s": 0.5}


def until(holds, seconds: float = 60.0) -> None:
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.05)


def trials_of(problem):
    with opened(problem.default_storage) as storage:
        return load_study(storage).trials


def checked(problem, ledger) -> int:
    with opened(problem.default_storage) as storage:
        return ledger.check(load_study(storage))


def test_evaluations_are_jobs_and_what_aborts_is_a_lesson(make_problem, reporter, slurm):
    code = "import os, sys; a = float(sys.argv[1]); print(os.environ['SLURM_JOB_NAME'], a); os.abort() if a > 2 else 0"
    problem = make_problem(
        code,
        n_evals=4,
        n_init=4,
        objective={"value": {"regex": r"(\S+)$"}},
        slurm={**QUICK, "setup": ["export SOMETHING=1"]},
    )
    result = run(problem, workers=4, slurm=True, reporter=reporter)
    assert (result.nfev, 0 < result.n_failures < 4) == (4, True)
    failed = [t for t in trials_of(problem) if t.state.name == "FAIL"]
    assert all("SIGABRT" in t.user_attrs[REASON] for t in failed)
    assert sorted(path.name[-6:] for path in (problem.evaluations_folder / "jobs").iterdir()) == [
        f"{k:06d}" for k in range(4)
    ]


@pytest.mark.slow
def test_after_kill_9_the_next_run_finds_its_jobs_and_starts_nothing_twice(make_problem, ledger, start_worker, slurm):
    problem = make_problem(ledger.code(2.0), n_evals=4, n_init=4, slurm=QUICK)
    first = start_worker(problem, workers=3, slurm=True)
    until(lambda: ledger.n_starts() >= 2)
    first.kill()
    first.join()
    second = start_worker(problem, workers=3, slurm=True)
    second.join(90)
    assert second.exitcode == 0
    assert (checked(problem, ledger), ledger.n_starts(), len(trials_of(problem))) == (4, 4, 4)


def test_results_that_came_while_no_run_lived_are_collected(make_problem, ledger, start_worker, slurm):
    problem = make_problem(ledger.code(1.0), n_evals=2, n_init=2, slurm=QUICK)
    first = start_worker(problem, workers=2, slurm=True)
    until(lambda: ledger.n_starts() == 2)
    os.kill(first.pid, signal.SIGTERM)  # as Ctrl-C twice: jobs are left to the next run
    first.join(30)
    until(lambda: len(ledger.ends()) == 2 and not slurm.jobs())
    second = start_worker(problem, workers=2, slurm=True)
    second.join(60)
    assert (checked(problem, ledger), ledger.n_starts()) == (2, 2)


@pytest.mark.slow
def test_a_cancelled_job_is_submitted_again_and_counts_once(make_problem, ledger, start_worker, slurm):
    problem = make_problem(ledger.code(1.5), n_evals=2, n_init=2, slurm=QUICK)
    worker = start_worker(problem, workers=2, slurm=True)
    until(lambda: ledger.n_starts() == 2)
    slurm.tell("scancel", slurm.jobs()[0])
    worker.join(60)
    assert (checked(problem, ledger), ledger.n_starts(), len(trials_of(problem))) == (2, 3, 2)


def test_a_point_whose_jobs_the_scheduler_always_ends_counts_and_teaches_nothing(make_problem, reporter, slurm):
    code = "import os, sys, subprocess; subprocess.run(['scancel', os.environ['SLURM_JOB_ID']]); input()"
    problem = make_problem(code, n_evals=1, slurm={**QUICK, "n_retries": 0})
    result = run(problem, workers=1, slurm=True, reporter=reporter)
    (trial,) = trials_of(problem)
    assert (result.nfev, REASON in trial.user_attrs) == (1, False)
    assert "ended without a result (CANCELLED)" in trial.user_attrs[TRANSIENT]


SLEEP = "import time; time.sleep(600)"
KILL = "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("code", "objective", "table", "kind", "said"),
    [
        (SLEEP, {}, {"time": 1}, TRANSIENT, r"\(TIMEOUT\)"),
        (KILL, {}, {}, TRANSIENT, r"\(FAILED\): the process was killed by SIGKILL"),
        (SLEEP, {"timeout_s": 1}, {}, REASON, "timeout: no result after 1 s"),
    ],
)
def test_only_what_the_program_does_is_a_lesson(make_problem, reporter, slurm, code, objective, table, kind, said):
    problem = make_problem(code, n_evals=1, objective=objective, slurm={**QUICK, **table, "n_retries": 0})
    run(problem, slurm=True, reporter=reporter)
    (trial,) = trials_of(problem)
    assert {REASON, TRANSIENT} & trial.user_attrs.keys() == {kind}
    assert re.search(said, trial.user_attrs[kind])


@pytest.mark.parametrize(
    ("partition", "said"), [("work", "job         sbatch --partition=work"), ("nowhere", "nvalid partition name")]
)
def test_a_dry_run_asks_slurm_whether_it_would_take_the_job(tmp_path, slurm, partition, said):
    table = '[parameters]\nx = {low = 0, high = 1}\n[objective]\ncommand = ["true"]\n'
    table += f'[slurm]\npartition = "{partition}"\n'
    (tmp_path / "p.toml").write_text(table)
    done = CliRunner().invoke(app, ["run", str(tmp_path / "p.toml"), "--slurm", "--dry-run"])
    assert said in f"{done.output} {done.exception}"
    assert [path.name for path in tmp_path.iterdir()] == ["p.toml"]


def test_a_request_that_slurm_refuses_ends_the_run_with_its_words(make_problem, reporter, slurm):
    problem = make_problem("print(1)", n_evals=3, slurm={**QUICK, "partition": "nowhere"})
    with pytest.raises(InvalidInputError, match=r"nvalid partition name.*try other values in \[slurm\]"):
        run(problem, workers=2, slurm=True, reporter=reporter)


def test_jobs_that_cannot_begin_end_the_run_and_use_up_no_budget(make_problem, reporter, slurm):
    problem = make_problem("print(1)", n_evals=3, slurm={**QUICK, "setup": ["no-such-module gcc"], "n_retries": 0})
    with pytest.raises(WorkersLostError, match=r"no-such-module.*setup"):
        run(problem, workers=1, slurm=True, reporter=reporter)
    assert reporter.counts.finished == 0
