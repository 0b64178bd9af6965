"""Known constraints in problem files."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from surefoot.cli.app import app
from surefoot.errors import InvalidInputError, UnknownNameError
from surefoot.integrations.optuna_history import result_of
from surefoot.runs.problem import read_problem
from surefoot.runs.storage import load_study, opened

GOOD = """
n_evals = 8
n_init = 4
[parameters]
a = {low = 0.0, high = 1.0}
b = {low = 0.0, high = 1.0, step = 0.01}
n = {low = 1, high = 9, kind = "integer"}
[constraints]
fits = "a + b <= 0.5"
whole = "n * b <= 0.6"
[objective]
python = "model:value"
"""
MODEL = "def value(x):\n    return (x['a'] - 0.4) ** 2 + (x['b'] - 0.4) ** 2 + x['n']\n"


@pytest.fixture
def problem(tmp_path: Path) -> Path:
    (tmp_path / "model.py").write_text(MODEL)
    (tmp_path / "case.toml").write_text(GOOD)
    return tmp_path / "case.toml"


def invoke(*arguments: object) -> str:
    done = CliRunner().invoke(app, [str(a) for a in arguments])
    assert done.exit_code == 0, done.output
    return done.output


def test_a_run_keeps_to_the_constraints_and_shows_them(problem: Path) -> None:
    assert "fits: a + b <= 0.5" in invoke("run", problem)
    with opened(str(problem.with_suffix(".db"))) as storage:
        result = result_of(load_study(storage, "case"))
    assert all(x["a"] + x["b"] <= 0.5 and x["n"] * x["b"] <= 0.6 for x in result.x_iters)
    assert [str(c) for c in result.space.constraints] == ["fits: a + b <= 0.5", "whole: n * b <= 0.6"]
    assert "whole: n * b <= 0.6" in invoke("show", problem)


def test_check_tells_the_constraints_and_the_share_that_they_allow(problem: Path) -> None:
    told = invoke("check", problem)
    assert "constraint  fits: a + b <= 0.5" in told
    assert "allowed     about 0.0" in told


def test_a_constraint_that_is_added_later_leaves_evaluations_as_they_are(problem: Path) -> None:
    invoke("run", problem)
    problem.write_text(GOOD.replace("<= 0.5", "<= 0.2").replace("n_evals = 8", "n_evals = 9"))
    told = invoke("run", problem)
    assert "constraints were a + b <= 0.5, n * b <= 0.6, are a + b <= 0.2" in " ".join(told.split())
    with opened(str(problem.with_suffix(".db"))) as storage:
        result = result_of(load_study(storage, "case"))
    assert result.x_iters[-1]["a"] + result.x_iters[-1]["b"] <= 0.2
    assert any(e.violates for e in result.history.evaluations)
    assert result.x["a"] + result.x["b"] <= 0.2


@pytest.mark.parametrize(
    ("table", "error", "said"),
    [
        ('fits = "a + c <= 1"', UnknownNameError, "in the constraint 'fits': .*got 'c'"),
        ('fits = "a + "', InvalidInputError, "got the end"),
        ("fits = 3", InvalidInputError, "texts by name"),
        ('fits = ["a <= 1"]', InvalidInputError, "texts by name"),
        ("fits = \"__import__('os') <= 1\"", UnknownNameError, "a function, one of"),
    ],
)
def test_bad_constraints_are_refused_when_the_file_is_read(problem: Path, table, error, said) -> None:
    start, end = GOOD.index("fits"), GOOD.index("[objective]")
    problem.write_text(GOOD[:start] + table + "\n" + GOOD[end:])
    with pytest.raises(error, match=said):
        read_problem(problem)


def test_constraints_that_contradict_are_said_before_anything_is_evaluated(problem: Path) -> None:
    problem.write_text(GOOD.replace("n * b <= 0.6", "a - b >= 0.6"))
    done = CliRunner().invoke(app, ["run", str(problem)])
    assert done.exit_code != 0
    assert "a + b <= 0.5' and 'whole: a - b >= 0.6" in " ".join(str(done.output or done.exception).split())
    assert not problem.with_suffix(".runs").exists()
