"""Named outputs of commands and functions, in the storage, in tables and files."""

import csv
import io
import json
import re

import pytest

from surefoot.errors import InvalidInputError
from surefoot.integrations.optuna_history import result_of
from surefoot.integrations.optuna_outputs import OUTPUTS
from surefoot.runs.dry_run import check
from surefoot.runs.progress import final_table
from surefoot.runs.running import run
from surefoot.runs.storage import load_study, opened
from surefoot.runs.tables import as_csv, trial_rows, write_rows

WRITES = """
import json, sys
a, b = map(float, sys.argv[1:3])
said = {"mass": a * a + b, "stress": None if b > 10 else 10 * b, "units": "kg", "done": True, "history": [1, 2]}
if a > 5:
    json.dump({"stress": 3.5, "progress": 0.6}, open("out.json", "w"))
    sys.exit("diverged")
json.dump(said, open("out.json", "w"))
"""
RETURNS = """
import surefoot
def evaluate(x):
    if x["a"] > 5:
        raise surefoot.Failed("diverged", outputs={"stress": 3.5}, progress=0.6)
    return {"mass": x["a"] ** 2 + x["b"], "stress": float("nan") if x["b"] > 10 else 10 * x["b"]}
"""
JSON = {"value": {"json": "out.json"}, "name": "mass"}


def rows_of(problem, reporter):
    run(problem, reporter=reporter)
    with opened(problem.default_storage) as storage:
        return trial_rows(load_study(storage))


def check_rows(rows):
    assert {row["status"] for row in rows} == {"ok", "failed"}
    for row in rows:
        if row["status"] == "ok":
            assert row["value"] == pytest.approx(row["a"] ** 2 + row["b"])
            assert row["stress"] == (None if row["b"] > 10 else pytest.approx(10 * row["b"]))
        else:
            assert (row["value"], row["stress"], row["progress"]) == (None, 3.5, 0.6)
            assert "diverged" in row["reason"]
    assert "mass" not in rows[0]  # it is the value
    assert not {"units", "done", "history"} & rows[0].keys()


def test_the_numbers_of_a_json_object_are_outputs(make_problem, reporter):
    check_rows(rows_of(make_problem(WRITES, objective=JSON, n_evals=10, n_init=10), reporter))


def test_a_function_may_return_a_dict_and_fail_with_outputs(make_problem, reporter):
    problem = make_problem(python=RETURNS, objective={"name": "mass"}, n_evals=10, n_init=10)
    check_rows(rows_of(problem, reporter))
    with opened(problem.default_storage) as storage:
        result = result_of(load_study(storage))
    assert result.history.outputs == ("mass", "stress")
    assert result.outputs["mass"] == result.fun
    result.history.check()


def test_an_object_in_the_file_can_be_named_by_its_key(make_problem, reporter):
    code = "import json, sys; json.dump({'fit': {'loss': float(sys.argv[1]), 'n': 3}}, open('out.json', 'w'))"
    source = {"value": {"json": "out.json", "key": "fit"}, "name": "loss"}
    rows = rows_of(make_problem(code, objective=source, n_evals=2), reporter)
    assert [row["value"] for row in rows] == [row["a"] for row in rows]
    assert [row["n"] for row in rows] == [3.0, 3.0]


def test_a_file_without_the_objective_is_a_failure_that_lists_its_outputs(make_problem, reporter):
    problem = make_problem(WRITES.replace("a > 5", "False"), objective={**JSON, "name": "loss"}, n_evals=1)
    (row,) = rows_of(problem, reporter)
    assert row["reason"].startswith("expected the objective 'loss' among the outputs; got mass, stress; try")


def test_a_value_under_another_name_than_before_has_failed(make_problem, reporter):
    code = "names = iter(['mass', 'weight', 'mass'])\ndef evaluate(x): return {next(names): x['a']}"
    rows = rows_of(make_problem(python=code, n_evals=3), reporter)
    assert [row["status"] for row in rows] == ["ok", "failed", "ok"]
    assert "'mass'" in rows[1]["reason"]


def test_a_study_goes_on_under_the_name_that_it_began_with(make_problem, reporter):
    rows_of(make_problem(python="def evaluate(x): return {'mass': x['a']}", n_evals=2), reporter)
    rows = rows_of(make_problem(python="def evaluate(x): return {'weight': x['a']}", n_evals=3), reporter)
    assert [row["status"] for row in rows] == ["ok", "ok", "failed"]


def test_another_name_of_the_objective_is_a_change_that_is_told(make_problem, reporter):
    code = "def evaluate(x): return {'mass': x['a'], 'stress': x['b']}"
    rows_of(make_problem(python=code, objective={"name": "mass"}, n_evals=2), reporter)
    problem = make_problem(python=code, objective={"name": "stress"}, n_evals=3)
    rows_of(problem, reporter)
    assert any("name was mass, is stress" in note for note in reporter.notes)
    with opened(problem.default_storage) as storage:
        history = result_of(load_study(storage)).history
    history.check()
    assert history.objective == "stress"


def test_a_study_without_outputs_has_no_attribute_of_them(make_problem, reporter):
    problem = make_problem("print(1.0)", n_evals=2)
    rows_of(problem, reporter)
    with opened(problem.default_storage) as storage:
        study = load_study(storage)
        assert not any(OUTPUTS in t.user_attrs for t in study.trials)
        assert result_of(study).history.outputs == ("value",)


def test_no_column_overwrites_another_in_a_file(make_problem, reporter, tmp_path):
    names = ("status", "reason", "value", "folder", "stress", "fallback")
    parameters = {name: {"low": float(k), "high": k + 0.5} for k, name in enumerate(names)}
    code = "def evaluate(x): return {'mass': 1.0, 'stress': 9.0, 'host': 8.0, 'value': 7.0}"
    rows = rows_of(make_problem(python=code, parameters=parameters, objective={"name": "mass"}, n_evals=1), reporter)
    (row,) = rows
    assert (row["status"], row["value"], row["reason"]) == ("ok", 1.0, "")
    for k, name in enumerate(names):
        column = name if name == "stress" else f"parameter.{name}"
        assert k <= row[column] <= k + 0.5
    assert (row["output.stress"], row["output.host"], row["output.value"]) == (9.0, 8.0, 7.0)
    (read,) = csv.DictReader(io.StringIO(as_csv(rows)))
    assert list(read) == list(row)
    write_rows(rows, tmp_path / "t.json")
    assert json.loads((tmp_path / "t.json").read_text()) == rows
    parquet = pytest.importorskip("pyarrow.parquet")
    write_rows(rows, tmp_path / "t.parquet")
    assert parquet.read_table(tmp_path / "t.parquet").to_pylist() == rows


def test_the_objective_is_named_to_people(make_problem, reporter):
    problem = make_problem(WRITES, objective=JSON, n_evals=6, n_init=6)
    assert next(iter(check(problem, str(problem.default_storage)))).startswith("study       p, minimize mass, 6")
    result = run(problem, reporter=reporter)
    labels = [str(cell) for cell in final_table(result, "p", 6).columns[0]._cells]
    assert labels[0] == "best mass"
    assert "stress" in labels


@pytest.mark.parametrize("name", ["", 3, ["mass"]])
def test_a_name_that_is_none_is_an_error_of_the_problem_file(make_problem, name):
    with pytest.raises(InvalidInputError, match=re.escape("expected name as text; got")):
        make_problem("", objective={"name": name})


# --- limits

LIMITED = """
import surefoot
def evaluate(x):
    if x["a"] > 5:
        raise surefoot.Failed("diverged")
    return {"mass": x["a"] ** 2 + x["b"], "stress": 10 * x["b"]}
"""


def limited(make_problem, outputs, n_evals=14):
    return make_problem(python=LIMITED, objective={"name": "mass"}, n_evals=n_evals, n_init=10, outputs=outputs)


def test_the_best_of_a_study_is_within_its_limits(make_problem, reporter):
    problem = limited(make_problem, {"stress": ">= 30"})
    result = run(problem, reporter=reporter)
    assert result.feasible
    assert result.outputs["stress"] >= 30.0
    with opened(problem.default_storage) as storage:
        study = load_study(storage)
        assert result_of(study).fun == result.fun == study.best_value
        assert study.best_trial.constraints["stress"] <= 0.0


def test_a_command_that_does_not_return_a_limited_output_is_told_how_it_could(make_problem, reporter):
    problem = make_problem("print(1.0)", n_evals=4, outputs={"stress": "<= 3"})
    with pytest.raises(
        InvalidInputError, match=r"output 'stress' .*; got one number without a name; try \[objective.results\] with"
    ):
        run(problem, reporter=reporter)


def test_the_final_table_tells_the_limits(make_problem, reporter):
    problem = limited(make_problem, {"stress": ">= 30"})
    result = run(problem, reporter=reporter)
    cells = [str(cell) for column in final_table(result, "x", 14).columns for cell in column.cells]
    assert any("limit >= 30.0" in cell for cell in cells)


def test_an_output_that_no_evaluation_has_stops_the_run(make_problem, reporter):
    with pytest.raises(InvalidInputError, match=r"'strain'.*; got mass, stress; try"):
        run(limited(make_problem, {"strain": ">= 30"}), reporter=reporter)


@pytest.mark.parametrize("outputs", [3, "stress", {"stress": "small"}, {"stress": 3}])
def test_a_table_of_limits_that_is_none_is_refused(make_problem, outputs):
    with pytest.raises(InvalidInputError, match="expected"):
        limited(make_problem, outputs)
