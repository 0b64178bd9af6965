"""Trials taken out of a study: not learned from, not counted, kept; and set-up errors that make one want to."""

import os
import sys
import time
from dataclasses import replace

import pytest

from surefoot.errors import InvalidInputError, SuggestionError, TooManyFailuresError
from surefoot.integrations.optuna_history import result_of
from surefoot.runs import set_up
from surefoot.runs.dry_run import check
from surefoot.runs.forget import forget
from surefoot.runs.running import run
from surefoot.runs.storage import load_study, opened
from surefoot.runs.study import CHANGES
from surefoot.runs.tables import study_rows, trial_rows

BOWL = "import sys; a, b = map(float, sys.argv[1:3]); print((a - 3) ** 2 + (b - 2) ** 2)"
BROKEN = "import sys; sys.exit('No such file: mesh.dat')"


def forget_in(problem, *which, **options):
    with opened(problem.default_storage, write=True) as storage:
        return forget(load_study(storage), which, **options)


def statuses(problem):
    with opened(problem.default_storage) as storage:
        return [row["status"] for row in trial_rows(load_study(storage))]


def test_a_command_that_never_works_is_noticed_after_five_evaluations(make_problem, reporter):
    problem = make_problem(BROKEN, n_evals=50)
    with pytest.raises(TooManyFailuresError, match=r"No such file: mesh.dat; is the command right"):
        run(problem, reporter=reporter)
    assert statuses(problem) == ["failed"] * 5
    with pytest.raises(TooManyFailuresError, match="the last 12 evaluations"):  # who starts it again wants to go on
        run(make_problem(BROKEN, n_evals=50, max_failures=12), reporter=reporter)


@pytest.mark.parametrize(
    ("code", "table"),
    [
        (BROKEN, {"max_failures": 0}),
        ("import os, sys; sys.exit(['diverged', 'no mesh'][int(os.environ['SUREFOOT_TRIAL']) % 2])", {}),
        ("import os, sys; sys.exit('no mesh') if int(os.environ['SUREFOOT_TRIAL']) else print(1)", {}),
    ],
)
def test_failures_of_a_simulator_that_works_do_not_stop_a_run(make_problem, reporter, code, table):
    assert run(make_problem(code, n_evals=8, **table), reporter=reporter).nfev == 8


MISSPELLED = """
import os, sys
number = int(os.environ["SUREFOOT_TRIAL"])
if number in (1, 3):
    sys.exit(f"crash of kind {'ab'[number % 4 > 1]}")
open("r.json", "w").write('{"loss": 3.5}')
"""


@pytest.mark.parametrize("workers", [1, 2])
def test_a_result_that_is_never_written_is_noticed_however_slow_and_amid_crashes(
    make_problem, reporter, monkeypatch, workers
):
    monkeypatch.setattr(set_up, "_AT_ONCE_S", 0.0)  # every evaluation takes longer
    problem = make_problem(MISSPELLED, n_evals=20, objective={"value": {"json": "result.json", "key": "loss"}})
    said = r"expected result.json .* none in the first 5 .* status 0 \(2 others crashed\); .* has r.json; try"
    with pytest.raises(TooManyFailuresError, match=said):
        run(problem, workers=workers, reporter=reporter)
    assert len([status for status in statuses(problem) if status == "failed"]) in (7, 7 + workers - 1)
    again = replace(problem, n_evals=12)
    assert run(again, reporter=reporter).nfev == 12  # who starts it again wants to go on


def test_a_program_that_ends_well_and_writes_nothing_may_have_diverged(make_problem, reporter, monkeypatch):
    monkeypatch.setattr(set_up, "_AT_ONCE_S", 0.0)
    diverges = "open('log.txt', 'w').write('diverged')"
    problem = make_problem(diverges, n_evals=8, objective={"value": {"json": "result.json", "key": "loss"}})
    assert run(problem, reporter=reporter).nfev == 8


@pytest.mark.parametrize("first", ["print(1.0)", "print('nan')"])
def test_a_number_among_the_first_five_says_that_it_is_read_at_the_right_place(make_problem, reporter, first):
    code = f"import os\nif os.environ['SUREFOOT_TRIAL'] == '2': {first}"
    assert run(make_problem(code, n_evals=8), reporter=reporter).nfev == 8


def test_a_program_without_values_is_not_stopped_where_nothing_ever_stops(make_problem, reporter):
    assert run(make_problem("pass", n_evals=7, max_failures=0), reporter=reporter).nfev == 7


def test_forgotten_trials_do_not_count_and_a_corrected_run_starts_as_if_they_were_not(make_problem, reporter, tmp_path):
    run(make_problem(BROKEN, n_evals=5, n_init=4, max_failures=0), reporter=reporter)
    mended = make_problem(BOWL, n_evals=5, n_init=4)
    assert forget_in(mended, "No such") == [0, 1, 2, 3, 4]
    assert forget_in(mended, "0-4") == []
    result = run(mended, reporter=reporter)
    other = run(mended, str(tmp_path / "other.db"), reporter=reporter)
    assert result.x_iters == other.x_iters
    assert statuses(mended) == ["forgotten"] * 5 + ["ok"] * 5
    with opened(mended.default_storage) as storage:
        (row,) = study_rows(storage)
    assert (row["finished"], row["failed"], row["forgotten"]) == (5, 0, 5)


def test_forgetting_can_be_undone(make_problem, reporter):
    problem = make_problem(BROKEN, n_evals=4, max_failures=0)
    run(problem, reporter=reporter)
    assert forget_in(problem, "1", "2-3") == [1, 2, 3]
    assert forget_in(problem, "*mesh*", undo=True) == [1, 2, 3]
    assert statuses(problem) == ["failed"] * 4
    with opened(problem.default_storage) as storage:
        assert result_of(load_study(storage)).nfev == 4


@pytest.mark.parametrize("which", ["4", "0-9", "7-5", "another reason", "99999999999"])
def test_what_is_not_there_cannot_be_forgotten(make_problem, reporter, which):
    problem = make_problem(BROKEN, n_evals=2, max_failures=0)
    run(problem, reporter=reporter)
    with pytest.raises(InvalidInputError, match="expected numbers of trials"):
        forget_in(problem, which)


def test_a_run_that_goes_on_evaluates_as_many_more(make_problem, start_worker, ledger, tmp_path):
    problem = make_problem(ledger.code(0.0, gate=tmp_path / "gate"), n_evals=6, n_init=6)
    worker = start_worker(problem)
    while ledger.n_starts() < 2:  # the first is reported, the second runs until the gate opens
        time.sleep(0.01)
    assert forget_in(problem, "0") == [0]
    (tmp_path / "gate").touch()
    worker.join(60)
    assert worker.exitcode == 0
    assert len(ledger.ends()) == 7
    assert statuses(problem).count("forgotten") == 1


def test_a_changed_objective_is_said_and_what_changed_is_kept(make_problem, reporter):
    run(make_problem(BOWL, n_evals=2, objective={"environment": {"KEY": "s3cret"}}), reporter=reporter)
    again = make_problem(BOWL, n_evals=2, objective={"environment": {"KEY": "s3cret"}})
    run(again, reporter=reporter)
    assert not any("changed" in note for note in reporter.notes)
    command = [sys.executable, "-S", str(again.folder / "program.py"), "{a}", "{b}"]
    objective = {"command": command, "environment": {"KEY": "other"}, "timeout_s": 9}
    changed = make_problem(BOWL, n_evals=3, objective=objective)
    assert sum(line.startswith("changed") for line in check(changed, str(changed.default_storage))) == 3
    run(changed, reporter=reporter)
    told = next(note for note in reporter.notes if "the objective has changed" in note)
    assert "-I -S" in told
    assert "environment: KEY" in told
    assert "timeout_s was none, is 9" in told
    assert any("2 evaluations so far count" in note for note in reporter.notes)
    with opened(changed.default_storage) as storage:
        attributes = load_study(storage).user_attrs
    assert attributes[CHANGES][0]["trials"] == 2
    assert "s3cret" not in str(attributes)


def test_an_engine_that_fails_ends_a_run_with_an_error_and_no_random_point(make_problem, reporter, monkeypatch):
    run(make_problem(BOWL, n_evals=3, n_init=2), reporter=reporter)

    def broken(*_):
        raise ArithmeticError("a defect of the engine")

    monkeypatch.setattr("surefoot.integrations.optuna.suggest", broken)
    problem = make_problem(BOWL, n_evals=5, n_init=2)
    with pytest.raises(SuggestionError, match="ArithmeticError: a defect of the engine"):
        run(problem, reporter=reporter)
    assert statuses(problem) == ["ok"] * 3 + ["void"]
    assert len(os.listdir(problem.evaluations_folder)) == 3
