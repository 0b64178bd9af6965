"""Somebody is told that a run has ended, and a notification breaks no run."""

import json
import sys

import pytest

from surefoot.errors import InvalidInputError, TooManyFailuresError
from surefoot.runs import notify as module
from surefoot.runs.notify import command_of
from surefoot.runs.running import run

BOWL = "import sys; a, b = map(float, sys.argv[1:3]); print((a - 3) ** 2 + (b - 2) ** 2)"
TELL = """
import json, os
with open("told.jsonl", "a") as file:
    print(json.dumps({k[9:].lower(): v for k, v in os.environ.items() if k.startswith("SUREFOOT_")}), file=file)
"""


def told(tmp_path):
    return [json.loads(line) for line in (tmp_path / "told.jsonl").read_text().splitlines()]


@pytest.fixture
def tell(tmp_path):
    (tmp_path / "tell.py").write_text(TELL)
    return [sys.executable, "-I", "-S", "tell.py"]


def test_a_command_is_told_what_came_of_a_run(make_problem, reporter, tmp_path, tell):
    result = run(make_problem(BOWL, n_evals=4, notify=tell), reporter=reporter)
    (end,) = told(tmp_path)
    assert (end["study"], end["state"], end["evaluations"], end["failures"]) == ("p", "finished", "4", "0")
    assert float(end["best"]) == result.fun
    assert json.loads(end["point"]) == result.x
    assert end["reason"] == result.message
    assert reporter.notes == []


def test_it_is_told_why_a_run_stopped(make_problem, reporter, tmp_path, tell):
    run(make_problem(BOWL, n_evals=20, stop={"target": 1e6}, notify=tell), reporter=reporter)
    assert told(tmp_path)[0]["reason"] == "stopped: evaluation 0 reached the target 1e+06"


def test_it_is_told_of_a_run_that_failed(make_problem, reporter, tmp_path, tell):
    problem = make_problem("raise SystemExit('no mesh')", n_evals=9, max_failures=3, notify=tell)
    with pytest.raises(TooManyFailuresError):
        run(problem, reporter=reporter)
    (end,) = told(tmp_path)
    assert (end["state"], end["best"], end["failures"]) == ("failed", "", "3")
    assert "no mesh" in end["reason"]


@pytest.mark.parametrize(
    ("command", "noted"),
    [("no-such-program", "no program no-such-program"), ([sys.executable, "-c", "raise SystemExit(3)"], "status 3")],
)
def test_a_command_that_fails_breaks_no_run(make_problem, reporter, command, noted):
    assert run(make_problem(BOWL, n_evals=2, notify=command), reporter=reporter).nfev == 2
    assert noted in reporter.notes[-1]


def test_a_command_that_hangs_is_stopped(make_problem, reporter, monkeypatch):
    monkeypatch.setattr(module, "TIMEOUT_S", 0.5)
    hangs = [sys.executable, "-I", "-S", "-c", "import time; time.sleep(600)"]
    assert run(make_problem(BOWL, n_evals=2, notify=hangs), reporter=reporter).nfev == 2
    assert reporter.notes[-1] == "notify was stopped after 0.5 s"


def test_a_text_is_split_as_a_shell_would_and_never_given_to_one():
    assert command_of("mail -s 'a study' me; rm x") == ("mail", "-s", "a study", "me;", "rm", "x")


@pytest.mark.parametrize("given", [5, "", [], ["a", 1], "say 'this", [""], {"command": "x"}])
def test_what_is_no_command_is_refused(given):
    with pytest.raises(InvalidInputError, match="expected notify as a command"):
        command_of(given)
