"""The loop: budgets kept, runs continued exactly, several workers, ends of every kind."""

import os
import signal
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import optuna
import pytest
from optuna.trial import TrialState

import surefoot
from surefoot.errors import InvalidInputError, TooManyFailuresError
from surefoot.integrations.optuna_history import REASON, is_void, result_of
from surefoot.runs.running import run
from surefoot.runs.storage import close_storage, load_study, open_storage, opened
from surefoot.runs.study import check_same_problem
from surefoot.runs.tables import trial_rows

BOWL = "import sys; a, b = map(float, sys.argv[1:3]); print((a - 3) ** 2 + (b - 2) ** 2)"
BOWL_FUNCTION = """
def evaluate(x):
    if x["a"] > 8: raise ArithmeticError("diverged")
    return (x["a"] - 3) ** 2 + (x["b"] - 2) ** 2
"""


def trials(problem, place=None):
    with opened(place or problem.default_storage) as storage:
        return load_study(storage).get_trials(deepcopy=False)


def test_a_run_is_minimize_with_a_storage(make_problem, reporter):
    problem = make_problem(python=BOWL_FUNCTION, n_evals=16, seed=2, n_init=10)
    result = run(problem, reporter=reporter)

    def fun(x):
        if x["a"] > 8:
            raise ArithmeticError("diverged")
        return (x["a"] - 3) ** 2 + (x["b"] - 2) ** 2

    same = surefoot.minimize(fun, {"a": (-5, 10), "b": (0, 15)}, n_evals=16, seed=2, n_init=10)
    assert [tuple(x.values()) for x in result.x_iters] == [tuple(x.values()) for x in same.x_iters]
    assert result.fun == same.fun


def test_points_under_way_when_the_program_could_not_be_started_are_evaluated_later(make_problem, reporter, tmp_path):
    program = tmp_path / "sim"

    def problem():
        program.write_text(f"#!{sys.executable}\n{BOWL}\n")
        program.chmod(0o755)
        return make_problem(objective={"command": ["./sim", "{a}", "{b}"]}, n_evals=5, n_init=5)

    whole = run(problem(), str(tmp_path / "whole.db"), reporter=reporter)
    without = problem()
    program.unlink()
    with pytest.raises(InvalidInputError, match="cannot start"):
        run(without, reporter=reporter)
    assert sorted(map(str, run(problem(), reporter=reporter).x_iters)) == sorted(map(str, whole.x_iters))


@pytest.mark.bits
def test_a_run_that_is_continued_gives_the_points_of_one_that_was_not(make_problem, reporter, tmp_path):
    whole = run(make_problem(python=BOWL_FUNCTION, n_evals=12, n_init=6), str(tmp_path / "whole.db"), reporter=reporter)
    run(make_problem(python=BOWL_FUNCTION, n_evals=8, n_init=6), reporter=reporter)
    parts = run(make_problem(python=BOWL_FUNCTION, n_evals=12, n_init=6), reporter=reporter)
    assert parts.x_iters == whole.x_iters


def test_a_run_that_is_done_evaluates_nothing(make_problem, reporter):
    problem = make_problem(BOWL, n_evals=3)
    assert run(problem, reporter=reporter).nfev == 3
    assert run(problem, reporter=reporter).nfev == 3


def test_a_maximizing_run(make_problem, reporter):
    code = "import sys; a, b = map(float, sys.argv[1:3]); print(-(a - 3) ** 2 - (b - 2) ** 2)"
    result = run(make_problem(code, n_evals=10, n_init=6, direction="maximize"), reporter=reporter)
    assert result.fun == max(result.func_vals)
    assert result.sign == -1.0


def test_workers_evaluate_at_the_same_time(make_problem, reporter, tmp_path):
    code = f"""
import os, sys, time
open(os.path.join({str(tmp_path)!r}, "running-" + os.environ["SUREFOOT_TRIAL"]), "w")
for _ in range(500):
    if len([n for n in os.listdir({str(tmp_path)!r}) if n.startswith("running-")]) >= 3: break
    time.sleep(0.01)
else: sys.exit("alone")
print(sys.argv[1])
"""
    result = run(make_problem(code, n_evals=3), workers=3, reporter=reporter)
    assert result.n_failures == 0


def test_any_executor_will_do(make_problem, reporter):
    with ThreadPoolExecutor(2) as executor:
        assert run(make_problem(BOWL, n_evals=4), workers=2, executor=executor, reporter=reporter).nfev == 4


def test_a_parameter_with_equal_bounds_keeps_its_value(make_problem, reporter):
    parameters = {"a": {"low": -5.0, "high": 10.0}, "b": {"low": 2.0, "high": 2.0}}
    result = run(make_problem(BOWL, parameters=parameters, n_evals=8, n_init=5), reporter=reporter)
    assert {x["b"] for x in result.x_iters} == {2.0}
    assert result.n_failures == 0


@pytest.mark.slow
def test_a_dask_cluster_evaluates(make_problem, reporter):
    distributed = pytest.importorskip("distributed")
    from surefoot.runs.cluster import connect

    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=2, dashboard_address="127.0.0.1:0", host="127.0.0.1"
        ) as cluster,
        connect(cluster.scheduler_address) as executor,
    ):
        problem = make_problem(python=BOWL_FUNCTION, n_evals=10)
        result = run(problem, workers=executor.n_threads, executor=executor, reporter=reporter)
    assert executor.n_threads == 4
    assert result.nfev == 10


def test_two_processes_share_the_budget_and_propose_different_points(make_problem, start_worker, ledger):
    problem = make_problem(ledger.code(0.05), n_evals=16, n_init=6)
    processes = [start_worker(problem, workers=2) for _ in range(2)]
    for process in processes:
        process.join(60)
        assert process.exitcode == 0
    with opened(problem.default_storage) as storage:
        assert ledger.check(load_study(storage)) == 16
    assert len(ledger.ends()) == 16


def test_a_study_of_somebody_else_is_refused(make_problem, reporter):
    problem = make_problem(BOWL, n_evals=1)
    storage = open_storage(problem.default_storage, create=True)
    optuna.create_study(storage=storage, study_name="p").optimize(lambda t: t.suggest_float("a", 0, 1), n_trials=1)
    close_storage(storage)
    with pytest.raises(InvalidInputError, match="another's"):
        run(problem, reporter=reporter)


@pytest.mark.parametrize("look", ["get_trials", "user_attrs"])
def test_a_study_that_another_run_begins_while_this_one_looks_is_ours(make_problem, reporter, monkeypatch, look):
    problem = make_problem(BOWL, n_evals=3)
    looked = getattr(optuna.Study, look)

    def slowly(study, *args, **options):
        found = looked(study, *args, **options) if callable(looked) else looked.fget(study)
        monkeypatch.setattr(optuna.Study, look, looked)  # once
        run(make_problem(BOWL, n_evals=2), reporter=reporter)
        return found

    with opened(problem.default_storage, write=True, create=True) as storage:
        study = optuna.create_study(storage=storage, study_name="p")
        monkeypatch.setattr(optuna.Study, look, slowly if callable(looked) else property(slowly))
        check_same_problem(study, problem)
        assert len(study.get_trials()) == 2


def test_too_many_failures_stop_it(make_problem, reporter):
    problem = make_problem("import sys; sys.exit('no licence')", n_evals=50, max_failures=4)
    with pytest.raises(TooManyFailuresError, match=r"no licence \(4\).*max_failures = 0 in the problem file"):
        run(problem, reporter=reporter)
    assert len(trials(problem)) == 4


def test_a_finite_space_ends_when_it_is_exhausted(make_problem, reporter):
    problem = make_problem("print(1)", parameters={"c": {"choices": ["x", "y", "z"]}}, n_evals=10)
    assert run(problem, workers=2, reporter=reporter).nfev == 3
    assert any("every point" in note for note in reporter.notes)


def test_an_enqueued_trial_is_evaluated_as_given(make_problem, reporter):
    problem = make_problem(BOWL, n_evals=4)
    run(make_problem(BOWL, n_evals=1), reporter=reporter)
    with opened(problem.default_storage, write=True) as storage:
        load_study(storage).enqueue_trial({"a": 3.0, "b": 2.0})
    assert run(problem, reporter=reporter).fun == 0.0


@pytest.mark.parametrize("n_signals", [1, 2])
def test_ctrl_c_once_finishes_what_runs_and_twice_stops_it(make_problem, reporter, ledger, n_signals):
    problem = make_problem(ledger.code(0.6 if n_signals == 1 else 30.0), n_evals=6, seed=1)

    def interrupt():
        while not ledger.path.exists():
            time.sleep(0.01)
        for _ in range(n_signals):
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.05)

    thread = threading.Thread(target=interrupt)
    thread.start()
    result = run(problem, reporter=reporter)
    thread.join()
    assert result.nfev == (1 if n_signals == 1 else 0)
    assert reporter.notes[-1].startswith(
        "finishing what runs" if n_signals == 1 else "1 unfinished evaluation given back"
    )
    states = [t.state.name for t in trials(problem)]
    assert states == (["COMPLETE"] if n_signals == 1 else ["FAIL", "WAITING"])
    if n_signals == 2:
        assert is_void(trials(problem)[0])


def test_what_was_interrupted_is_evaluated_first_when_the_run_is_continued(make_problem, reporter, ledger):
    thread = threading.Thread(target=lambda: _interrupt_twice(ledger))
    thread.start()
    run(make_problem(ledger.code(60.0), n_evals=3), reporter=reporter)  # it does not end before the signals come
    thread.join()
    problem = make_problem(ledger.code(0.0), n_evals=3)
    result = run(problem, reporter=reporter)
    kept = trials(problem)
    assert result.nfev == 3
    assert kept[1].params == kept[0].params


def _interrupt_twice(ledger):
    while not ledger.path.exists():
        time.sleep(0.01)
    os.kill(os.getpid(), signal.SIGINT)
    os.kill(os.getpid(), signal.SIGTERM)


def test_sigterm_stops_now(make_problem, reporter, ledger):
    problem = make_problem(ledger.code(5.0), n_evals=3)

    def terminate():
        while not ledger.path.exists():
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGTERM)

    thread = threading.Thread(target=terminate)
    thread.start()
    assert run(problem, reporter=reporter).nfev == 0
    thread.join()


@pytest.mark.parametrize("last", ["os.kill(os.getpid(), signal.SIGTERM)", "sys.exit('interrupted')"])
def test_what_a_batch_system_ends_together_with_the_run_is_no_failure(make_problem, reporter, last):
    code = f"import os, signal, sys; os.kill({os.getpid()}, signal.SIGTERM); {last}"
    assert run(make_problem(code, n_evals=3), reporter=reporter).nfev == 0
    first, again = trials(make_problem(code))
    assert REASON not in first.user_attrs
    assert again.state == TrialState.WAITING
    assert again.system_attrs["fixed_params"] == first.params


def test_a_program_that_somebody_ends_alone_is_a_failure(make_problem, reporter):
    code = "import os, signal; os.kill(os.getpid(), signal.SIGTERM)"
    result = run(make_problem(code, n_evals=1), reporter=reporter)
    assert [e.reason for e in result.history.evaluations] == ["the process was killed by SIGTERM"]


def test_the_result_knows_settings_and_failures(make_problem, reporter):
    problem = make_problem(python=BOWL_FUNCTION, n_evals=12, n_init=12, policy="EI", seed=5)
    run(problem, reporter=reporter)
    with opened(problem.default_storage) as storage:
        result = result_of(load_study(storage))
        rows = trial_rows(load_study(storage))
    assert (result.settings.policy, result.settings.seed, result.nfev) == ("EI", 5, 12)
    assert {row["reason"] for row in rows if row["status"] == "failed"} == {"ArithmeticError: diverged"}


def test_a_target_ends_a_run_and_the_next_one_at_once(make_problem, reporter):
    problem = make_problem("import sys; print(float(sys.argv[1]) ** 2)", n_evals=30, stop={"target": 4.0})
    result = run(problem, reporter=reporter)
    assert result.fun <= 4.0
    assert result.nfev < 30
    assert "reached the target 4" in result.message
    assert reporter.notes[-1].startswith("stopping: ")
    assert run(problem, reporter=reporter).nfev == result.nfev
