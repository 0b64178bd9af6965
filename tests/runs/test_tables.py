"""Studies as rows and files; the dashboard's figures."""

import csv
import io
import json
import math
import sys

import pytest
from optuna.trial import TrialState

from surefoot.errors import InvalidInputError, MissingExtraError
from surefoot.integrations.optuna_history import REASON, result_of
from surefoot.runs.figures import save_figures
from surefoot.runs.running import run
from surefoot.runs.storage import close_storage, load_study, open_storage, opened
from surefoot.runs.tables import as_csv, find_trial, output_of, study_rows, trial_rows, write_rows

CODE = """
import sys
a, b = float(sys.argv[1]), sys.argv[2]
print("a", a)
if a > 8: sys.exit("the mesh, \\"collapsed\\"")
print(a * a)
"""


@pytest.fixture
def study(make_problem, reporter):
    parameters = {"a": {"low": -5.0, "high": 10.0}, "b": {"choices": ["x,y", "z"]}}
    problem = make_problem(CODE, parameters=parameters, n_evals=8, n_init=8)
    run(problem, reporter=reporter)
    with opened(problem.default_storage) as storage:
        yield load_study(storage)


def test_rows_and_files_agree(study, tmp_path):
    rows = trial_rows(study)
    assert [row["number"] for row in rows] == list(range(8))
    assert {row["status"] for row in rows} == {"ok", "failed"}
    assert all((row["value"] is None) == (row["status"] == "failed") for row in rows)
    read = list(csv.DictReader(io.StringIO(as_csv(rows))))
    assert [float(row["a"]) for row in read] == [row["a"] for row in rows]
    assert [row["reason"] for row in read] == [row["reason"] for row in rows]
    write_rows(rows, tmp_path / "t.json")
    assert json.loads((tmp_path / "t.json").read_text()) == rows
    write_rows([{"stress": math.inf, "sag": math.nan}], tmp_path / "inf.json")  # what no reader but Python's takes
    assert json.loads((tmp_path / "inf.json").read_text()) == [{"stress": "inf", "sag": None}]
    parquet = pytest.importorskip("pyarrow.parquet")
    write_rows(rows, tmp_path / "t.parquet")
    assert parquet.read_table(tmp_path / "t.parquet").to_pylist() == rows


def test_a_study_is_a_row(study):
    (row,) = study_rows(study._storage._backend)
    assert (row["study"], row["finished"], row["n_evals"], row["running"]) == ("p", 8, 8, 0)


def test_output_is_found_by_number_and_its_end_survives_the_folder(study, tmp_path):
    trial = find_trial(study, 3)
    whole = output_of(trial)["stdout"]
    assert whole[1]
    assert whole[0].startswith("a ")
    (tmp_path / "p.runs").rename(tmp_path / "gone")
    assert output_of(trial)["stdout"] == (whole[0], False)
    with pytest.raises(InvalidInputError, match="0 to 7; got 8"):
        find_trial(study, 8)


def test_parquet_without_pyarrow_says_how_to_get_it(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match=r"surefoot\[parquet\]"):
        write_rows([{"a": 1}], tmp_path / "t.parquet")


def test_an_unknown_format_is_an_error(tmp_path):
    with pytest.raises(InvalidInputError, match=r"\.csv, \.json, \.parquet"):
        write_rows([], tmp_path / "t.xls")


def test_figures_are_saved_into_the_study(make_problem, reporter):
    pytest.importorskip("optuna_dashboard")
    from optuna_dashboard._custom_plot_data import get_plotly_graph_objects

    code = "import sys; a, b = map(float, sys.argv[1:3])\nif a > 6: sys.exit(1)\nprint(a + b)"
    problem = make_problem(code, n_evals=10, n_init=10)
    run(problem, reporter=reporter)
    with opened(problem.default_storage, write=True) as storage:
        study = load_study(storage)
        assert save_figures(study)
        figures = get_plotly_graph_objects(study._storage.get_study_system_attrs(study._study_id))
    assert figures.keys() == {"surefoot-convergence", "surefoot-success"}
    assert all(json.loads(text)["data"] for text in figures.values())
    assert max(map(len, figures.values())) < 10 * 2045  # few rows in the storage


def test_texts_that_a_spreadsheet_would_run_are_escaped_and_numbers_are_not(make_problem, reporter, tmp_path):
    parameters = {"a": {"low": -5.0, "high": -1.0}, "b": {"choices": ["=cmd()", "@x"]}}
    run(make_problem("import sys; sys.exit('+1+1')", parameters=parameters, n_evals=3), reporter=reporter)
    with opened(tmp_path / "p.db") as storage:
        rows = list(csv.DictReader(io.StringIO(as_csv(trial_rows(load_study(storage))))))
    assert {row["b"] for row in rows} <= {"'=cmd()", "'@x"}
    assert all(float(row["a"]) < 0 for row in rows)
    assert as_csv([{"reason": "-1 is no mesh", "value": -1.0}]).splitlines()[1] == "'-1 is no mesh,-1.0"


def test_a_reason_with_lone_surrogates_is_exported(make_problem, reporter, tmp_path):
    code = "import os, sys; os.write(2, b'bad \\xff\\xed\\xa0\\x80 bytes'); sys.exit(1)"
    problem = make_problem(code, n_evals=1)
    run(problem, reporter=reporter)
    storage = open_storage(problem.default_storage)
    study = load_study(storage)
    trial = study.ask()
    trial.set_user_attr(REASON, "an older version wrote \ud800")
    study.tell(trial, state=TrialState.FAIL)
    rows = trial_rows(study)
    for suffix in (".csv", ".json", ".parquet"):
        write_rows(rows, tmp_path / f"t{suffix}")
    assert as_csv(rows).encode()
    assert result_of(study).history.evaluations[-1].reason.encode()
    close_storage(storage)
