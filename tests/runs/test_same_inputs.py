"""Points that a format writes alike: the run says so, in a later run too, and `show`; all of them are evaluated."""

import sys

import pytest
from typer.testing import CliRunner

from surefoot.cli.app import app
from surefoot.runs.running import run
from surefoot.runs.same_inputs import told_of_same
from surefoot.runs.storage import load_study, opened
from surefoot.runs.study import trials_of

PARAMETERS = {"a": {"low": 1.0, "high": 1.4}, "b": {"low": 2.0, "high": 2.4}}
PRINT = [sys.executable, "-I", "-S", "-c", "print(1.0)"]
SAID = (
    "3 evaluations had the same input files and arguments as an earlier one at another point (trial 3 as trial 0): "
    "write more digits ({a:.17g}), or give the parameter a step"
)


@pytest.fixture
def problem(make_problem, tmp_path):
    """One whose format writes all points of the box alike, or not."""

    def make(n_evals=4, template="{a:.0f} {b:F8.0}", command=PRINT, **table):
        (tmp_path / "t.in").write_text(template)
        objective = {"command": command, "files": {"deck": "t.in"}}
        return make_problem(parameters=PARAMETERS, objective=objective, n_evals=n_evals, n_init=n_evals, **table)

    return make


def test_points_that_are_written_alike_are_said_and_evaluated(problem, reporter):
    result = run(problem(), reporter=reporter)
    assert result.nfev == 4
    said = [note for note in reporter.notes if "same input files" in note]
    assert said[0].startswith("1 evaluation had the same input files and arguments as an earlier one at another point")
    assert said[1:] == [SAID]
    shown = CliRunner().invoke(app, ["show", str(problem().default_storage)])
    assert SAID in " ".join(shown.output.split())


def test_they_are_known_to_later_runs_and_several_workers(problem, reporter):
    run(problem(1), reporter=reporter)
    assert not any("same input" in note for note in reporter.notes)
    run(problem(2), workers=2, reporter=reporter)
    assert sum(note.startswith("1 evaluation had the same input") for note in reporter.notes) == 1


@pytest.mark.parametrize(
    "table",
    [
        {"template": "{a} {b:.17g}"},
        {"template": "{a:.0f} {b:.0f}", "command": [*PRINT, "{a}"]},
        {"template": "{a:.0f} {b:.0f} {trial}"},  # a seed, perhaps
        {"template": "no parameter"},  # the program reads parameters.json
        {"command": [*PRINT, "parameters.json"]},
    ],
    ids=str,
)
def test_input_that_differs_or_is_not_known_is_not_said_to_be_the_same(problem, reporter, table):
    run(problem(**table), reporter=reporter)
    assert not any("same input" in note for note in reporter.notes)


def test_another_template_is_other_input(problem, reporter):
    run(problem(1), reporter=reporter)
    run(problem(2, "other text {a:.0f} {b:F8.0}"), reporter=reporter)
    with opened(problem().default_storage) as storage:
        assert told_of_same(trials_of(load_study(storage))) == ""


def test_a_point_that_is_evaluated_again_is_no_other_point(problem, reporter):
    run(problem(1), reporter=reporter)
    with opened(problem().default_storage, write=True) as storage:
        study = load_study(storage)
        study.enqueue_trial(study.trials[0].params)
    run(problem(2), reporter=reporter)
    assert not any("same input" in note for note in reporter.notes)
