"""Results: every way to read a number, and what is said where there is none."""

import json
import math

import pytest

from surefoot.errors import InvalidInputError
from surefoot.runs import reading
from surefoot.runs.evaluation import close, evaluate_trial
from surefoot.runs.storage import open_storage
from surefoot.runs.study import changes_of, open_study
from surefoot.runs.trial_run import evaluate_aloud, point_of

POINT = {"a": 1.5, "b": 2.0}
LISTING = """ SOLVER 3.1
 STEP   1  RES = 1.0E-01
 STEP   2  RES = 2.5D-03
 STEP   3  RES = 5.0E-07
 TOTAL MASS      =  4.680000E+00 KG
 Cd , 0.31 , 0.02
"""
TABLE = "# probes\nt [s],T [K]\n0,300\n1,350.5\n\n2,340\n"


def writer(**files):
    return f"for name, text in {files!r}.items(): open(name, 'w').write(text)\nprint('loss = 3'); print('loss = 7')"


@pytest.fixture
def result_of(make_problem):
    """The evaluation of a command that leaves some files, with one result x."""

    def evaluate(source, code=None, **more):
        files = {"lst": LISTING, "csv": TABLE, "js": '{"s": {"v": [1, 2.5]}}', "tm": "[s]\nv = 4", "ya": "s:\n  v: 5\n"}
        problem = make_problem(code or writer(**files), objective={"results": {"x": source, **more}, "name": "x"})
        return evaluate_trial(problem, 0, dict(POINT)).evaluation

    return evaluate


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ({"regex": r"loss = (\S+)"}, 7.0),
        ({"regex": r"loss = (\S+)", "take": "first"}, 3.0),
        ({"file": "lst", "regex": r"RES = (\S+)"}, 5e-7),
        ({"file": "lst", "regex": r"RES = (\S+)", "take": 2}, 2.5e-3),
        ({"file": "lst", "regex": r"RES = (\S+)", "take": -3}, 0.1),
        ({"file": "lst", "regex": r"RES = (\S+)", "take": "max"}, 0.1),
        ({"file": "lst", "regex": r"RES = (\S+)", "take": "min"}, 5e-7),
        ({"file": "lst", "regex": r"RES = (\S+)", "take": "sum"}, 0.1025005),
        ({"file": "lst", "line": "TOTAL MASS", "column": 4}, 4.68),
        ({"file": "lst", "line": "STEP", "column": 2, "take": "mean"}, 2.0),
        ({"file": "lst", "line": -1, "column": 2}, 0.31),
        ({"file": "lst", "line": 2, "column": 5}, 0.1),
        ({"file": "csv", "column": "T [K]", "take": "max"}, 350.5),
        ({"file": "csv", "column": "T [K]"}, 340.0),
        ({"file": "csv", "column": 2, "take": "first"}, 300.0),
        ({"json": "js", "key": "s.v.1"}, 2.5),
        ({"toml": "tm", "key": "s.v"}, 4.0),
        ({"yaml": "ya", "key": "s.v"}, 5.0),
        ("2*a + b**2", 7.0),
        ("10*max(0, y - 5)", 20.0),
    ],
)
def test_a_number_is_found(result_of, source, value):
    assert result_of(source, y={"regex": r"loss = (\S+)"}).y == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ({"file": "lst", "regex": "LIFT = (.*)"}, "nothing in lst matches 'LIFT = (.*)'; its last line is 'Cd , 0.31"),
        ({"file": "lst", "regex": r"RES = (\S+)", "take": 9}, "matches 'RES = (\\S+)' 9 times"),
        ({"file": "lst", "regex": "TOTAL (MASS)"}, "'MASS' is not a number, in the line 'TOTAL MASS      ="),
        ({"file": "lst", "line": "LIFT", "column": 1}, "no line with 'LIFT' in lst"),
        ({"file": "lst", "line": 99, "column": 1}, "no line 99 in lst, which has 6"),
        ({"file": "lst", "line": "Cd", "column": 9}, "no word 9 in the line 'Cd , 0.31 , 0.02'"),
        ({"file": "csv", "column": "p"}, "no column 'p' in csv"),
        ({"file": "csv", "column": "t [s]", "take": 7}, "number 7 was asked for, and there are 3"),
        ({"file": "nowhere", "column": 1}, "nowhere was not written"),
        ({"json": "js", "key": "s.w"}, "js has no 's.w': no 'w' in 'v'"),
        ({"json": "js", "key": "s.v"}, "is [1, 2.5], not a number"),
        ({"json": "lst", "key": "s"}, "lst is no JSON"),
        ("log(a - 5)", "'log(a - 5)' has no value at a = 1.5"),
        ("y + 1", "needs y, which was not read"),
    ],
)
def test_what_cannot_be_read_is_a_failure_that_quotes_what_was_there(result_of, source, said):
    evaluation = result_of(source, y={"file": "gone", "column": 1, "optional": True})
    assert not evaluation.ok
    assert evaluation.reason.startswith("no value: x: ")
    assert said in evaluation.reason


def test_a_table_that_goes_bad_is_not_read_past_it(result_of):
    evaluation = result_of({"file": "t", "column": 1, "take": "min"}, "open('t', 'w').write('head\\n3\\n****\\n1\\n')")
    assert "'****' is not a number, in the line '****'" in evaluation.reason


def test_what_is_optional_may_be_missing(result_of):
    evaluation = result_of("1.0", "print(1)", y={"file": "gone", "column": 1, "optional": True})
    assert evaluation.ok
    assert math.isnan(evaluation.outputs["y"])


def test_what_was_read_before_a_crash_is_kept_and_so_is_its_progress(make_problem):
    code = "import os; print('load 60 of 100', flush=True); os.abort()"
    results = {"load": {"regex": r"load (\d+)"}, "progress": "load / 100", "x": {"file": "gone", "column": 1}}
    evaluation = evaluate_trial(make_problem(code, objective={"results": results, "name": "x"}), 0, POINT).evaluation
    assert "SIGABRT" in evaluation.reason
    assert evaluation.outputs == {"load": 60.0}
    assert evaluation.progress == 0.6


def test_a_function_reads_what_nothing_else_can(make_problem, tmp_path):
    (tmp_path / "post.py").write_text("import os\ndef size(folder):\n    return os.path.getsize(folder + '/blob')\n")
    problem = make_problem(
        "open('blob', 'wb').write(b'12345')", objective={"results": {"x": {"python": "post.py:size"}}}
    )
    try:
        assert evaluate_trial(problem, 0, POINT).evaluation.y == 5.0
        evaluation = evaluate_trial(
            make_problem("", objective={"results": {"x": {"python": "post.py:size"}}}), 1, POINT
        )
        assert "post.py:size failed: FileNotFoundError" in evaluation.evaluation.reason
    finally:
        close()


@pytest.mark.parametrize(
    ("results", "said"),
    [
        ({"x": {"regx": "a"}}, "try regex"),
        ({"x": {"regex": "("}}, "expected a regular expression"),
        ({"x": {"regex": "(a)(b)"}}, "at most one group"),
        ({"x": {"file": "../secret", "column": 1}}, "in the working directory"),
        ({"x": {"file": "/etc/passwd", "column": 1}}, "in the working directory"),
        ({"x": {"column": 0}}, "from 1 on"),
        ({"x": {"column": 1, "take": "lst"}}, 'take = "last"'),
        ({"x": {"line": "a"}}, "a column and perhaps a line"),
        ({"x": {"line": "a", "column": "b"}}, "the number of the column"),
        ({"x": {"json": "f"}}, "json and key"),
        ({"x": {"json": "f", "key": 3}}, "as text"),
        ({"x": 3}, "a table or an expression"),
        ({"x": "a +"}, "result 'x': expected"),
        ({"x": "c + 1"}, "result 'x': expected"),
        ({"x": "__import__('os').system('id')"}, "result 'x': expected"),
        ({"x": "(" * 10**5}, "result 'x': expected"),
        ({"x": "9**9**9**9"}, "result 'x': expected"),
        ({"x": "y", "y": "x"}, "in a circle"),
        ({"a": "1.0"}, "other names than parameters"),
        ({"x": "1.0", "z": "2.0"}, "which says what the value is"),
        ({}, "which says what the value is"),
        ({"x": {"python": "post.py"}}, "module:function"),
        ([1], "as a table"),
    ],
)
def test_bad_results_are_refused_when_the_file_is_read(make_problem, results, said):
    with pytest.raises(InvalidInputError) as error:
        make_problem("", objective={"results": results})
    assert said in str(error.value)


def test_a_name_that_is_no_result_is_refused(make_problem):
    with pytest.raises(InvalidInputError, match="among the results x"):
        make_problem("", objective={"results": {"x": "1.0"}, "name": "y"})


def test_a_changed_template_or_result_is_noticed(make_problem, tmp_path):
    (tmp_path / "t.in").write_text("{a} {b}")
    objective = {"files": {"deck": "t.in"}, "results": {"x": {"regex": "(.*)"}}}
    study = open_study(make_problem("", objective=objective), open_storage(tmp_path / "s.db", create=True))
    (tmp_path / "t.in").write_text("{a}, {b}")
    objective["results"]["x"] = {"column": 1}
    assert changes_of(study, make_problem("", objective=objective)) == ["results: x", "files: deck"]


def test_a_trial_run_shows_every_step(make_problem, tmp_path):
    (tmp_path / "t.in").write_text("deck of {a} and {b}")
    results = {"x": {"regex": r"loss = (\S+)"}, "cost": "x + a"}
    problem = make_problem(
        "print('loss = 3.5')", objective={"files": {"deck": "t.in"}, "results": results, "name": "cost"}
    )
    said = []
    evaluation = evaluate_aloud(problem, point_of(problem, POINT, ["a=2"]), said.append)
    text = "\n".join(said)
    assert evaluation.y == 5.5
    for part in (
        "deck of 2.0 and 2.0",
        "| loss = 3.5",
        "x = 3.5, from 'loss = 3.5'",
        "cost = 5.5, from x + a at x = 3.5",
    ):
        assert part in text
    assert json.loads((problem.evaluations_folder / "check" / "parameters.json").read_text()) == {"a": 2.0, "b": 2.0}


@pytest.mark.parametrize("asked", ["a", "c=1", "a=99", "a=x"])
def test_a_point_that_is_none_is_refused(make_problem, asked):
    with pytest.raises(InvalidInputError):
        point_of(make_problem(""), POINT, [asked])


def test_of_a_file_that_is_too_large_only_the_last_match_is_read(make_problem, monkeypatch):
    monkeypatch.setattr(reading, "_MOST_BYTES", 1000)
    code = "print('res = 777'); print('.' * 2000); print('res = 5')"
    results = {"x": {"regex": "res = (.*)"}, "y": {"regex": "res = (.*)", "take": "max", "optional": True}}
    said = []
    evaluation = evaluate_aloud(make_problem(code, objective={"results": results, "name": "x"}), POINT, said.append)
    assert evaluation.y == 5.0
    assert any("only take" in line for line in said)


def test_a_limit_on_what_is_no_result_is_refused_when_the_file_is_read(make_problem):
    with pytest.raises(InvalidInputError, match="try stress"):
        make_problem("", objective={"results": {"stress": "1.0"}}, outputs={"stres": "<= 1"})


def test_a_misspelled_name_is_answered_with_the_nearest_result(make_problem):
    results = {name: {"regex": name} for name in ("cost", "stress")}
    with pytest.raises(InvalidInputError, match='try name = "cost"'):
        make_problem("", objective={"results": results, "name": "costs"})
