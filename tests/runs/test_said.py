"""What a run says of itself: the best by today's rules, what waits, what is no share; and how it exits."""

import json
import re
import signal
import subprocess
import sys
import warnings

import pytest

from surefoot.errors import InvalidInputError
from surefoot.integrations.optuna_history import result_of
from surefoot.runs.add import add_rows
from surefoot.runs.problem import problem_from
from surefoot.runs.rows import read_rows
from surefoot.runs.running import run
from surefoot.runs.storage import load_study, open_storage, opened
from surefoot.runs.study import open_study
from surefoot.runs.tables import trial_rows
from surefoot.runs.trial_run import evaluate_aloud, point_of

CODE = "import sys, json; a = float(sys.argv[1]); json.dump({'cost': a, 'stress': -a}, open('o', 'w'))"
OBJECTIVE = {"value": {"json": "o"}, "name": "cost"}


@pytest.fixture
def problem(make_problem):
    def make(n_evals=6, **table):
        return make_problem(CODE, n_evals=n_evals, n_init=6, objective=OBJECTIVE, **table)

    return make


def command(folder, *arguments):
    start = [sys.executable, "-m", "surefoot", *arguments]
    return subprocess.run(start, cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("rules", [{"outputs": {"stress": "<= -2"}}, {"constraints": {"least": "a >= 2"}}])
def test_the_best_is_the_best_by_the_rules_of_today(problem, reporter, rules):
    run(problem(), reporter=reporter)
    result = run(problem(**rules), reporter=reporter)
    assert reporter.counts.best == result.fun
    assert result.fun >= 2.0
    with opened(problem().default_storage) as storage:
        rows = trial_rows(load_study(storage))
    assert {row["within"] for row in rows} == {"yes", "no"}
    assert all((row["within"] == "yes") == (row["a"] >= 2.0) for row in rows)


def test_the_best_of_added_rows_is_within_the_limits(problem, reporter, tmp_path):
    limited = problem(n_evals=2, outputs={"stress": "<= -2"})
    (tmp_path / "old.csv").write_text("a,b,cost,stress\n1,1,1,-1\n3,1,3,-3\n")
    study = open_study(limited, open_storage(limited.default_storage, create=True))
    add_rows(study, limited, read_rows(str(tmp_path / "old.csv")), "old.csv")
    run(limited, reporter=reporter)
    assert reporter.counts.best == 3.0 == study.best_value == result_of(study).fun


def test_a_table_without_rules_has_no_column_for_them(problem, reporter):
    run(problem(1), reporter=reporter)
    with opened(problem().default_storage) as storage:
        assert "within" not in trial_rows(load_study(storage))[0]


FILE = """
n_evals = 6
[parameters]
a = {{low = 0.0, high = 1.0}}
[objective]
command = [{python!r}, "-I", "-S", "-c", {code!r}, "{{a}}"]
value = {{json = "o"}}
name = "cost"
[outputs]
{limit}
"""


@pytest.mark.parametrize(
    ("limit", "hint"),
    [('stres = "<= 1"', "try stress"), ('q = "<= 1"', r"try \[objective.results\] with a line for each number")],
)
@pytest.mark.parametrize("arguments", [["run", "p.toml"], ["check", "p.toml", "--run"]])
def test_a_limit_on_an_output_that_never_comes_is_an_error_of_the_file(tmp_path, limit, hint, arguments):
    code = CODE.replace("{", "{{").replace("}", "}}")
    (tmp_path / "p.toml").write_text(FILE.format(python=sys.executable, code=code, limit=limit))
    done = command(tmp_path, *arguments)
    name = limit.split()[0]
    said = rf"error: p.toml, line 10: expected the output '{name}' of \[outputs\] from the program; got cost, stress; "
    assert re.search(said + hint, done.stderr), done.stderr
    assert done.returncode == 2
    assert "= nan" not in done.stdout


def test_a_limit_on_an_output_that_a_function_never_returns_asks_for_a_dict(make_problem, reporter):
    problem = make_problem(python="def evaluate(x): return x['a']", outputs={"stress": "<= 1"})
    with pytest.raises(InvalidInputError, match="from the function; got one number without a name; try returning a di"):
        run(problem, reporter=reporter)


def test_a_trial_run_says_what_is_forbidden_and_what_is_outside_a_limit(problem):
    said = []
    ruled = problem(outputs={"stress": "<= -2"}, constraints={"least": "a >= 2"})
    evaluate_aloud(ruled, point_of(ruled, {"a": 0.0, "b": 1.0}, ["a=1.0"]), said.append)
    assert "FORBIDDEN   by least: a >= 2: no run evaluates this point" in said
    assert "limit       stress = -1, OUTSIDE <= -2.0" in said
    said.clear()
    evaluate_aloud(ruled, {"a": 3.0, "b": 1.0}, said.append)
    assert "limit       stress = -3, within <= -2.0" in said
    assert not any(line.startswith("FORBIDDEN") for line in said)


def test_progress_in_per_cent_is_said_once_and_kept_as_an_output(make_problem, reporter):
    code = "import json; json.dump({'progress': 60}, open('o', 'w')); raise SystemExit('diverged')"
    result = run(make_problem(code, n_evals=2, objective={"value": {"json": "o"}}), reporter=reporter)
    said = [note for note in reporter.notes if "share from 0 to 1; got 60" in note]
    assert len(said) == 1
    assert all(e.further == {"progress": 60.0} for e in result.history.evaluations)


def test_queued_points_and_evaluations_beyond_the_budget_are_said(problem, reporter):
    run(problem(3), reporter=reporter)
    assert not any("none is begun" in note for note in reporter.notes)
    open_study(problem(3), open_storage(problem().default_storage)).enqueue_trial({"a": 1.0, "b": 1.0})
    run(problem(2), reporter=reporter)
    said = "all 2 evaluations are there, and 1 more, 1 queued point waits: none is begun; try n_evals = 4"
    assert any(said in note for note in reporter.notes)
    assert run(problem(4), reporter=reporter).x_iters[3] == {"a": 1.0, "b": 1.0}


@pytest.mark.parametrize("kind", ["integer", "real"])
def test_a_step_that_does_not_divide_the_range_ends_at_its_last_step_without_a_warning(tmp_path, kind):
    table = {"low": 10, "high": 85, "step": 10, "kind": kind}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        problem = problem_from({"parameters": {"n": table}, "objective": {"command": ["true", "{n}"]}}, tmp_path)
    assert problem.parameters["n"].high == 80


PROBLEM = """
n_evals = 2
[parameters]
a = {{low = 0.0, high = 1.0}}
[objective]
command = [{python!r}, "-I", "-S", "-c", {code}, "{{a}}"]
"""


@pytest.mark.parametrize(("code", "status"), [("print(1)", 0), ("raise SystemExit(3)", 1), ("", 1)])
@pytest.mark.slow
def test_the_exit_status_tells_whether_anything_succeeded(tmp_path, code, status):
    (tmp_path / "p.toml").write_text(PROBLEM.format(python=sys.executable, code=json.dumps(code)))
    assert command(tmp_path, "run", "p.toml").returncode == status


def test_sigterm_is_not_called_the_keyboard(tmp_path):
    code = "import os, signal, time; os.kill(int(open('../../pid').read()), signal.SIGTERM); time.sleep(60)"
    (tmp_path / "p.toml").write_text(PROBLEM.format(python=sys.executable, code=json.dumps(code)))
    start = [sys.executable, "-m", "surefoot", "run", "p.toml"]
    with subprocess.Popen(start, cwd=tmp_path, stdout=subprocess.PIPE, text=True) as process:
        (tmp_path / "pid").write_text(str(process.pid))
        said, _ = process.communicate()
    assert "interrupted by SIGTERM" in said
    assert process.returncode == 128 + signal.SIGTERM
