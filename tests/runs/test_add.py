"""Evaluations from elsewhere: every row ends somewhere, and none twice."""

import math
import sys

import optuna
import pytest

from surefoot.errors import InvalidInputError, MissingExtraError
from surefoot.integrations.optuna_history import result_of
from surefoot.runs.add import add_rows
from surefoot.runs.rows import read_rows
from surefoot.runs.running import run
from surefoot.runs.storage import open_storage
from surefoot.runs.study import open_study
from surefoot.runs.tables import as_csv, trial_rows, write_rows

CODE = "import sys; print(float(sys.argv[1]) ** 2 + float(sys.argv[2]))"


@pytest.fixture
def added(make_problem, tmp_path):
    """Put the text of a table into the study of a problem."""

    def add(text, problem=None):
        problem = problem or make_problem(CODE, n_evals=6)
        (tmp_path / "old.csv").write_bytes(text.encode())
        study = open_study(problem, open_storage(problem.default_storage, create=True))
        return add_rows(study, problem, read_rows(str(tmp_path / "old.csv")), "old.csv"), study, problem

    return add


def test_values_failures_and_points_are_told_apart(added, reporter):
    text = "a,b,value,reason\n1,2,3,\n2,2,nan,\n3,2,,mesh\n4,2,,\n99,2,1,\n"
    found, study, problem = added(text)
    assert (found.evaluations, found.failures, found.points, found.known) == (1, 2, 1, 0)
    assert found.outside == ("line 6 of old.csv: a = 99.0; expected it as a number between -5.0 and 10.0",)
    reasons = [e.reason for e in result_of(study).history.evaluations if not e.ok]
    assert reasons == ["failed, in old.csv", "mesh"]
    result = run(problem, reporter=reporter)
    assert result.nfev == 6
    assert {"a": 4.0, "b": 2.0} in [dict(x) for x in result.x_iters]


def test_a_table_whose_column_of_values_has_another_name_is_told_so(added):
    found, _, _ = added("a,b,values\n1,2,3\n")
    assert found.points == 1
    assert found.columns == ("no column 'value': no row has a value; is it the column 'values'?",)


def test_a_second_column_of_a_name_is_refused_and_a_second_value_named(added, make_problem):
    with pytest.raises(InvalidInputError, match=r"columns of old\.csv with different names; got \['a'\]"):
        added("a,a,b,value\n1,2,2,3\n")
    problem = make_problem(CODE, objective={"name": "mass"})
    found, study, _ = added("a,b,mass,value\n1,2,3,4\n", problem)
    assert [t.value for t in study.trials] == [3.0]
    assert found.columns == ("not used: 'value'",)


def test_how_long_an_added_evaluation_took_is_not_known(added):
    _, study, _ = added("a,b,value\n1,2,3\n")
    assert math.isnan(result_of(study).history.evaluations[0].duration_s)
    assert trial_rows(study)[0]["duration_s"] is None


def test_points_that_wait_are_shown(added):
    _, study, _ = added("a,b,value\n1,2,\n")
    assert [(row["status"], row["a"], row["b"]) for row in trial_rows(study)] == [("waiting", 1.0, 2.0)]


def test_columns_that_are_not_used_are_named(added):
    found, _, _ = added("a,b,value,comment,reason\n1,2,3,a good one,\n")
    assert found.columns == ("not used: 'comment'",)


def test_nothing_is_said_of_the_columns_that_export_writes(added, reporter):
    _, study, problem = added("a,b,value\n1,2,3\n")
    run(problem, reporter=reporter)
    assert added(as_csv(trial_rows(study)), problem)[0].columns == ()


def test_the_same_table_twice_adds_nothing(added):
    text = "a,b,value\n1,2,3\n1,2,\n"
    first, _, problem = added(text)
    again, study, _ = added(text, problem)
    assert (first.evaluations, first.points) == (1, 1)
    assert (again.evaluations, again.points, again.known) == (0, 0, 2)
    assert len(study.get_trials()) == 2


def test_a_point_that_was_evaluated_meanwhile_is_not_queued_again(added, reporter):
    text = "a,b,value\n1,2,\n2,2,\n"
    _, _, problem = added(text)
    run(problem, reporter=reporter)
    again, _, _ = added(text, problem)
    assert (again.points, again.known) == (0, 2)


def test_a_failure_at_a_queued_point_is_not_passed_over(added):
    found, study, _ = added("a,b,value,reason\n1,2,,\n1,2,,mesh\n1,2,,\n")
    assert (found.failures, found.points, found.known) == (1, 1, 1)
    assert result_of(study).n_failures == 1


def test_a_bad_row_leaves_nothing_behind(added, make_problem):
    with pytest.raises(InvalidInputError, match="line 3"):
        added("a,b,value\n1,2,3\n1,x,3\n")
    problem = make_problem(CODE)
    assert open_study(problem, open_storage(problem.default_storage)).get_trials() == []


def test_added_trials_are_those_that_optuna_itself_would_store(make_problem, tmp_path):
    parameters = {"a": {"low": 1.0, "high": 9.0, "log": True}, "n": {"low": 1, "high": 9}, "c": {"choices": ["x", 2]}}
    problem = make_problem(CODE, parameters=parameters, outputs={"m": "<= 4"})
    (tmp_path / "t.csv").write_text("a,n,c,value,reason,m\n1.5,2,x,3,,7\n2,3,2,,mesh,\n3,4,x,,,\n")
    study = open_study(problem, open_storage(problem.default_storage, create=True))
    add_rows(study, problem, read_rows(str(tmp_path / "t.csv")), "t.csv")
    other = optuna.create_study(storage=open_storage(tmp_path / "other.db", create=True))
    for trial in study.get_trials():
        other.add_trial(trial)
    assert other.get_trials() == study.get_trials()  # numbers and ids among the rest
    assert [t.state.name for t in other.get_trials()] == ["COMPLETE", "FAIL", "WAITING"]


def test_parquet_can_be_added(added, tmp_path, monkeypatch):
    pytest.importorskip("pyarrow")
    _, study, problem = added("a,b,value\n0,0,0\n")
    rows = [{"a": 1.5, "b": 2, "value": 3.0, "reason": None}, {"a": 2.0, "b": 2, "value": None, "reason": "mesh"}]
    write_rows(rows, tmp_path / "t.parquet")
    found = add_rows(study, problem, read_rows(str(tmp_path / "t.parquet")), "t.parquet")
    assert (found.evaluations, found.failures) == (1, 1)
    (tmp_path / "torn.parquet").write_bytes((tmp_path / "t.parquet").read_bytes()[:40])
    with pytest.raises(InvalidInputError, match=r"expected a table in .*torn\.parquet"):
        read_rows(str(tmp_path / "torn.parquet"))
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match=r"surefoot\[parquet\]"):
        read_rows(str(tmp_path / "t.parquet"))


def test_what_export_writes_goes_into_a_study_with_other_bounds(make_problem, added, reporter, tmp_path):
    old = make_problem(CODE, n_evals=8)
    run(old, reporter=reporter)
    rows = trial_rows(open_study(old, open_storage(old.default_storage)))
    parameters = {"a": {"low": 0.0, "high": 5.0}, "b": {"low": 0.0, "high": 15.0}}
    new = make_problem(CODE, parameters=parameters, name="new")
    found, study, _ = added(as_csv(rows), new)
    inside = [row for row in rows if row["a"] >= 0.0 and row["a"] <= 5.0]
    assert found.evaluations == len(inside) > 0
    assert len(found.outside) == 8 - len(inside)
    assert result_of(study).fun == min(row["value"] for row in inside)


def test_progress_stays_progress(added):
    _, study, _ = added("a,b,value,reason,progress\n1,2,,mesh,0.6\n")
    (evaluation,) = result_of(study).history.evaluations
    assert evaluation.progress == 0.6


def test_units_in_names_semicolons_and_outputs_are_understood(make_problem, added):
    results = {"mass": {"regex": "(.*)"}, "cost": "mass + 1"}
    problem = make_problem(CODE, objective={"results": results, "name": "cost"}, outputs={"mass": "<= 4"})
    found, study, _ = added("a [m]; b (kg); cost; mass\n1; 2; 6; 5\n1; 3; 7; 3\n", problem)
    assert found.evaluations == 2
    result = result_of(study, settings=problem.settings)
    assert result.fun == 7.0
    assert result.outputs == {"cost": 7.0, "mass": 3.0}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a,c,value\n1,2,3\n", "expected a column 'b'"),
        ("a,bb,value\n1,2,3\n", "renaming 'bb'"),
        ("a,b,value\n1,x,3\n", "expected a number as b in line 2 of old.csv; got 'x'"),
        ("a,b,value\n1,2,y\n", "expected a number as value in line 2"),
        ("a,b,value\n", "a table with rows"),
        ("", "a table with rows"),
    ],
)
def test_a_bad_table_is_refused_with_its_line(added, text, said):
    with pytest.raises(InvalidInputError) as error:
        added(text)
    assert said in str(error.value)


def test_a_table_that_is_not_there_is_an_error(tmp_path):
    with pytest.raises(InvalidInputError, match="expected a table as CSV"):
        read_rows(str(tmp_path / "none.csv"))


def test_a_study_is_copied_with_its_failures_outputs_and_durations(make_problem, reporter):
    code = """
import sys, json
a = float(sys.argv[1])
json.dump({'n': 2.0, 'progress': 0.5} if a > 5 else {'m': a, 'n': a + 1.0}, open('o', 'w'))
assert a <= 5
"""
    objective = {"value": {"json": "o"}, "name": "m"}
    old = make_problem(code, n_evals=8, objective=objective)
    first = run(old, reporter=reporter)
    new = make_problem(code, n_evals=8, objective=objective, name="copy")
    study = open_study(new, open_storage(new.default_storage, create=True))
    found = add_rows(study, new, read_rows(str(old.default_storage)), "p")
    assert (found.evaluations, found.failures) == (8 - first.n_failures, first.n_failures)
    assert 0 < first.n_failures < 8
    assert repr(result_of(study).history.evaluations) == repr(first.history.evaluations)  # a failure has NaN as value


def test_studies_are_merged_and_points_that_both_have_stay_one(make_problem, added, reporter):
    old = make_problem(CODE, n_evals=5)
    run(old, reporter=reporter)
    rows = read_rows(str(old.default_storage))
    found, study, new = added("a,b,value\n1,2,3\n", make_problem(CODE, name="new"))
    assert found.evaluations == 1
    assert add_rows(study, new, rows, "p").evaluations == 5
    assert add_rows(study, new, rows, "p").known == 5
    assert result_of(study).nfev == 6


def test_json_as_export_writes_it_can_be_added(added, tmp_path):
    _, study, problem = added("a,b,value\n0,0,0\n")
    (tmp_path / "t.json").write_text('[{"a": 1.5, "b": 2, "value": 3, "reason": null}, {"a": 2, "b": 2}]')
    found = add_rows(study, problem, read_rows(str(tmp_path / "t.json")), "t.json")
    assert (found.evaluations, found.points) == (1, 1)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a;b;value\n1,5;2;3\n", "expected a number as a in line 2 of old.csv; got '1,5'; try a decimal point: 1.5"),
        ("a,b,value\n1,5,2,3\n", "3 fields in line 2 of old.csv, as the names above; got 4; try decimal points"),
        ('{"a": 1}', "expected a list of objects in old.csv"),
        ("[1, 2", "expected JSON; got 'old.csv'"),
        ("\n\na,b,value\n\n1,x,3\n", "in line 5 of old.csv"),
    ],
)
def test_other_formats_are_understood_or_refused(added, text, said):
    with pytest.raises(InvalidInputError) as error:
        added(text)
    assert said in str(error.value)


def test_choices_that_a_spreadsheet_would_run_come_back_as_they_were(make_problem, reporter, tmp_path):
    parameters = {"a": {"low": 0.0, "high": 1.0}, "mode": {"choices": ["-fast", "=safe", "'quoted"]}}
    old = make_problem("import sys; print(sys.argv[1])", parameters=parameters, n_evals=6)
    first = run(old, reporter=reporter)
    new = make_problem("", parameters=parameters, name="new")
    (tmp_path / "t.csv").write_text(as_csv(trial_rows(open_study(old, open_storage(old.default_storage)))))
    study = open_study(new, open_storage(new.default_storage, create=True))
    assert add_rows(study, new, read_rows(str(tmp_path / "t.csv")), "t.csv").evaluations == 6
    assert [dict(x) for x in result_of(study).x_iters] == [dict(x) for x in first.x_iters]
