"""Python objectives: imported once, in a process whose death is a failure and nothing more."""

import os

import pytest

from surefoot.errors import InvalidInputError
from surefoot.execute import caller
from surefoot.runs import evaluation
from surefoot.runs.evaluation import evaluate_trial, processes

CODE = """
import os, sys, time
print("imported", file=sys.stderr)
calls = 0
def evaluate(x):
    global calls
    calls += 1
    print("call", calls)
    if x["a"] == 1: os.abort()
    if x["a"] == 2: sys.exit("enough")
    if x["a"] == 3: raise ValueError("diverged")
    if x["a"] == 4: time.sleep(60)
    if x["a"] == 5: return float("nan")
    if x["a"] == 6: return "text"
    if x["a"] == 7: return bytearray(2**30) and 1.0
    if x["a"] == 8: os.system("echo from C")
    return x["a"] + x["b"] + calls / 1000
"""


@pytest.fixture
def problem(make_problem):
    yield make_problem(python=CODE, objective={"timeout_s": 0.5, "memory_limit_mb": 200})
    evaluation.close()


def evaluate(problem, a, number=0):
    return evaluate_trial(problem, number, {"a": a, "b": 2.0})


def test_the_function_gets_a_dict_and_stays_loaded(problem):
    assert [evaluate(problem, 10, n).evaluation.y for n in (0, 1)] == [12.001, 12.002]


@pytest.mark.parametrize(
    ("a", "reason"),
    [
        (1, "the process was killed by SIGABRT"),
        (2, "SystemExit: enough"),
        (3, "ValueError: diverged"),
        (4, "timeout: no result after 0.5 s, stopped"),
        (5, "the value was nan"),
        (6, "the function returned 'text', not a number"),
        (7, "MemoryError: "),
    ],
)
def test_a_failure_has_its_reason_and_the_next_call_works(problem, a, reason):
    failed = evaluate(problem, a).evaluation
    assert (failed.status, failed.reason) == ("failed", reason)
    assert evaluate(problem, 10, 1).evaluation.ok


def test_output_is_kept_per_evaluation(problem):
    first, second = evaluate(problem, 10, 0), evaluate(problem, 8, 1)
    assert first.output["stdout"] == "call 1\n"
    assert sorted(second.output["stdout"].splitlines()) == ["call 2", "from C"]


def test_a_retry_is_by_the_name_of_the_exception(make_problem):
    problem = make_problem(python=CODE, objective={"retry_on": ["ValueError"], "n_retries": 1})
    finished = evaluate(problem, 3)
    evaluation.close()
    assert finished.evaluation.status == "transient"
    assert finished.output["stdout"] == "call 2\n"
    assert (problem.evaluations_folder / "000000.try-1" / "stdout.txt").read_text() == "call 1\n"


@pytest.mark.parametrize("code", ["import nowhere_at_all", "evaluate = 3", "x = 1", "import os; os._exit(3)"])
def test_a_function_that_cannot_be_loaded_is_an_error(make_problem, code):
    with pytest.raises(
        InvalidInputError, match=r"expected a function at 'function\.py:evaluate'; got .*; try"
    ) as caught:
        evaluate(make_problem(python=code), 10)
    assert "got expected" not in str(caught.value)


def test_an_import_without_end_is_an_error(make_problem, monkeypatch):
    monkeypatch.setattr(caller, "LOAD_AT_LEAST_S", 0.5)
    with pytest.raises(InvalidInputError, match=r"no end of its import after 0\.5 s"):
        evaluate(make_problem(python="while True: pass", objective={"timeout_s": 0.1}), 10)


def test_a_death_is_noticed_while_the_workers_of_a_pool_live_on(make_problem):
    code = """
import os, time
from concurrent.futures import ProcessPoolExecutor
def evaluate(x):
    pool = ProcessPoolExecutor(2)
    pool.submit(time.sleep, 600)
    pool.submit(os.getpid).result()
    os._exit(3)
"""
    assert "status 3" in evaluate(make_problem(python=code), 10).evaluation.reason


@pytest.mark.parametrize("value", ["object()", "[1, 2]", "lambda: 0", "Odd()", "b'1' * 10**7"])
def test_a_value_that_is_no_number_is_a_failure(make_problem, value):
    code = f"""
class Odd:
    def __array__(self, *args, **kwargs): raise RuntimeError("no")
def evaluate(x): return {value}
"""
    finished = evaluate(make_problem(python=code), 10).evaluation
    evaluation.close()
    assert (finished.status, bool(finished.reason)) == ("failed", True)


def test_it_runs_beside_the_problem_file(make_problem, tmp_path):
    (tmp_path / "data.txt").write_text("4.5")
    problem = make_problem(python="def evaluate(x): return float(open('data.txt').read())")
    value = evaluate(problem, 1).evaluation.y
    evaluation.close()
    assert value == 4.5
    assert os.getcwd() != str(tmp_path)


def test_nothing_is_started_while_a_run_stops_and_again_after_it(problem):
    processes.stop_all()
    try:
        with pytest.raises(OSError, match="stopped"):
            evaluate(problem, 0.0)
    finally:
        processes.allow()
    assert evaluate(problem, 0.0).evaluation.ok
