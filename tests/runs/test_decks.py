"""Decks: rendered byte by byte, in three styles, in fixed columns; copies, links; steps before and after."""

import os
import sys
from pathlib import Path

import pytest
from optuna.distributions import FloatDistribution, IntDistribution

from surefoot.errors import InvalidInputError
from surefoot.runs.dry_run import check
from surefoot.runs.evaluation import evaluate_trial
from surefoot.runs.placeholders import filled, names_in, written

POINT = {"a": 1.5, "b": 2.0}
ECHO = "print(1.0)"


@pytest.fixture
def evaluated(make_problem, tmp_path):
    """Evaluate a point and return the evaluation and its folder."""

    def evaluate(code=ECHO, x=POINT, **objective):
        problem = make_problem(code, objective=objective)
        evaluation = evaluate_trial(problem, 0, dict(x)).evaluation
        return evaluation, problem.evaluations_folder / "000000"

    return evaluate


@pytest.mark.parametrize(
    ("style", "template", "text"),
    [
        ("{}", "A={a:.3e} {{keep}}\r\nB={b}", "A=1.500e+00 {keep}\r\nB=2.0"),
        ("${}", "{a} $HOME ${a:.1f} ${b}", "{a} $HOME 1.5 2.0"),
        ("@@", "me@work.example {a} @a:6.2f@@b@", "me@work.example {a}   1.502.0"),
    ],
)
def test_a_template_is_rendered_in_its_style_and_nothing_else_changes(evaluated, tmp_path, style, template, text):
    (tmp_path / "t.in").write_bytes(template.encode())
    _, folder = evaluated(files={"deck.txt": "t.in"}, placeholders=style)
    assert (folder / "deck.txt").read_bytes() == text.encode()


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ('{"length": 1}', '{"length": 1}'),
        ('{"length": {length:.1f}}', '{"length": 1.5}'),
        ('{"x": {"y": {length}, "z": {"u": 2}}}', '{"x": {"y": 1.5, "z": {"u": 2}}}'),
        ("{print $1}", "{print $1}"),
        ("{}", "{}"),
    ],
)
def test_braces_that_are_no_placeholder_are_answered_with_what_works(text, meant):
    with pytest.raises(InvalidInputError, match=r"try {{ and }} for braces that are no placeholder: ") as raised:
        names_in(f"before {text} after", {"length": (1.5,)})
    attempt = str(raised.value).partition("placeholder: ")[2]
    assert names_in(attempt, {"length": (1.5,)}) <= {"length"}
    assert filled(attempt, {"length": 1.5}) == meant


def test_braces_around_a_name_may_be_a_misspelled_parameter_or_braces():
    with pytest.raises(InvalidInputError, match=r"try a parameter, length, or .* placeholder: {{other}}$"):
        names_in("{other}", {"length": (1.5,)})
    with pytest.raises(InvalidInputError, match=r"try length$"):
        names_in("{lenght}", {"length": (1.5,)})


def test_bytes_that_are_no_text_stay(evaluated, tmp_path):
    (tmp_path / "t.in").write_bytes(b"20 \xb0C {a} {b}\n")
    _, folder = evaluated(files={"deck": "t.in"})
    assert (folder / "deck").read_bytes() == b"20 \xb0C 1.5 2.0\n"


@pytest.mark.parametrize(
    ("spec", "value", "text"),
    [
        ("E12.4", 1234.5, "  1.2345E+03"),
        ("es12.4", -1.0, " -1.0000E+00"),
        ("D12.4", 1234.5, "  1.2345D+03"),
        ("F8.2", 3.14159, "    3.14"),
        ("I6", 42, "    42"),
    ],
)
def test_columns_are_as_wide_as_fortran_has_them(spec, value, text):
    assert filled(f"{{x:{spec}}}", {"x": value}) == text


@pytest.mark.parametrize(
    ("spec", "value"), [("F5.2", 1234.5), ("E8.4", -1.0), ("I2", 100), ("I6", 1.5), ("I6", 2.0), ("F8.2", "a")]
)
def test_what_does_not_fit_into_its_column_is_an_error(spec, value):
    with pytest.raises(ValueError, match=r"fit|hold"):
        filled(f"{{x:{spec}}}", {"x": value})


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("{a:.1f}", [("a", ".1f", 11)]),
        ("{a:.4f} {a}", [("a", ".4f", 1000), ("a", "", 1000)]),
        ("{b:.0e} {c:d} {e:.0f}", [("b", ".0e", 19)]),  # whole numbers and steps are meant
    ],
)
def test_how_many_numbers_a_format_writes_is_counted(text, found):
    parameters = {
        "a": FloatDistribution(0.0, 1.0),
        "b": FloatDistribution(1.0, 100.0, log=True),
        "c": IntDistribution(0, 3),
        "e": FloatDistribution(0.0, 3.0, step=1.0),
    }
    assert list(written(text, "{}", parameters)) == found


def test_a_label_may_be_coarse_where_the_number_stands_elsewhere(make_problem, tmp_path):
    (tmp_path / "t.in").write_text("TITLE a is {a:.0e}\n{a} {b}\n")
    problem = make_problem(ECHO, objective={"files": {"deck.txt": "t.in"}, "command": [sys.executable, "program.py"]})
    assert not [line for line in check(problem, str(tmp_path / "p.db")) if line.startswith("note")]


def test_a_check_says_where_a_format_is_coarse_once(make_problem, tmp_path):
    (tmp_path / "t.in").write_text("{a:.0e}\n{a:.0e} {b}\n")
    problem = make_problem(ECHO, objective={"files": {"deck.txt": "t.in"}, "command": [sys.executable, "program.py"]})
    (note,) = (line for line in check(problem, str(tmp_path / "p.db")) if line.startswith("note"))
    assert "a:.0e in deck.txt writes" in note


def test_a_column_too_narrow_for_the_bounds_is_found_when_the_file_is_read(make_problem, tmp_path):
    (tmp_path / "t.in").write_text("one\n{a:F3.1} {b}\n")
    with pytest.raises(InvalidInputError, match=r"line 2 of t\.in.*does not fit into F3\.1"):
        make_problem(ECHO, objective={"files": {"deck": "t.in"}})


def test_an_unknown_name_is_named_with_its_line_and_the_nearest_one(make_problem, tmp_path):
    (tmp_path / "t.in").write_text("{a}\n{bb}\n{b}")
    with pytest.raises(InvalidInputError, match=r"(?s)line 2 of t\.in.*'bb'.*try b.*placeholders = "):
        make_problem(ECHO, objective={"files": {"deck": "t.in"}})


def test_parameters_may_stand_in_the_files_instead_of_the_command(make_problem, tmp_path):
    (tmp_path / "t.in").write_text("{a}\n")
    (tmp_path / "p.py").write_text("print(open('deck').read())")
    command = [sys.executable, str(tmp_path / "p.py")]
    objective = {"command": [*command, "{b}"], "files": {"deck": "t.in"}}
    assert evaluate_trial(make_problem(objective=objective), 0, POINT).evaluation.y == 1.5
    with pytest.raises(InvalidInputError, match="every parameter in the command or the files"):
        make_problem(objective={"command": command, "files": {"deck": "t.in"}})


def test_files_and_folders_are_copied_and_linked(evaluated, tmp_path):
    (tmp_path / "mesh.dat").write_text("mesh")
    (tmp_path / "tables").mkdir()
    (tmp_path / "tables" / "steam").write_text("hot")
    (tmp_path / "huge").write_text("huge")
    code = "open('mesh.dat', 'a').write('!'); print(1.0)"
    _, folder = evaluated(code, copy=["mesh.dat", "tables"], link=["huge"])
    assert (folder / "mesh.dat").read_text() == "mesh!"
    assert (tmp_path / "mesh.dat").read_text() == "mesh"
    assert (folder / "tables" / "steam").read_text() == "hot"
    assert os.readlink(folder / "huge") == str(tmp_path / "huge")


def test_no_file_is_written_into_a_folder_that_all_trials_share(make_problem, tmp_path):
    (tmp_path / "t.in").write_text("{a} {b}")
    (tmp_path / "mesh").mkdir()
    objective = {"command": ["true"], "files": {"mesh/case.inp": "t.in"}}
    make_problem(objective=objective | {"copy": ["mesh"]})
    with pytest.raises(InvalidInputError, match=r"linked folders, which all trials share; got 'mesh/case\.inp'.*copy"):
        make_problem(objective=objective | {"link": ["mesh"]})


@pytest.mark.parametrize(
    "objective",
    [
        {"files": {"../deck": "t.in"}},
        {"files": {"/tmp/deck": "t.in"}},
        {"files": {"stdout.txt": "t.in"}},
        {"files": {"": "t.in"}},
        {"files": {"deck": "missing.in"}},
        {"files": {"deck": "."}},
        {"files": ["t.in"]},
        {"files": {"t.in": "t.in"}, "copy": ["t.in"]},
        {"copy": ["missing"]},
        {"copy": "t.in"},
        {"placeholders": "<>"},
        {"before": "mesher"},
        {"before": [{"command": ["no-such-program"]}]},
        {"before": [{"timeout": 3, "command": ["true"]}]},
        {"after": [{"command": ["true"], "timeout_s": -1}]},
        {"after": [["true", "{nobody}"]]},
    ],
)
def test_a_bad_deck_is_refused_when_the_file_is_read(make_problem, tmp_path, objective):
    (tmp_path / "t.in").write_text("{a} {b}")
    with pytest.raises(InvalidInputError, match=r"expected .*; got .*; try "):
        make_problem(ECHO, objective=objective)


def test_a_python_function_has_no_deck(make_problem, tmp_path):
    (tmp_path / "t.in").write_text("{a} {b}")
    with pytest.raises(InvalidInputError, match="no files with python"):
        make_problem(python="def evaluate(x): return 1.0", objective={"files": {"deck": "t.in"}})


def script(tmp_path: Path, name: str, code: str) -> list[str]:
    (tmp_path / name).write_text(code)
    return [sys.executable, "-I", "-S", str(tmp_path / name)]


def test_steps_run_in_order_in_one_folder(evaluated, tmp_path):
    mesh = script(tmp_path, "mesh.py", "open('log', 'a').write('mesh '); print('meshed')")
    post = script(tmp_path, "post.py", "open('log', 'a').write('post')")
    evaluation, folder = evaluated(
        "open('log', 'a').write('solve '); print(2.5)", before=[{"command": mesh, "name": "mesher"}], after=[post]
    )
    assert evaluation.y == 2.5
    assert (folder / "log").read_text() == "mesh solve post"
    assert (folder / "mesher.stdout.txt").read_text() == "meshed\n"


def test_a_failed_step_is_a_reason_of_its_own_and_nothing_runs_after_it(evaluated, tmp_path):
    mesh = script(tmp_path, "mesh.py", "import sys; sys.exit('no elements')")
    evaluation, folder = evaluated("open('solved', 'w'); print(1)", before=[{"command": mesh, "name": "mesher"}])
    assert evaluation.reason == "mesher: exit status 1: no elements"
    assert not (folder / "solved").exists()


def test_a_step_has_a_timeout_of_its_own(evaluated, tmp_path):
    mesh = script(tmp_path, "mesh.py", "import time; time.sleep(60)")
    evaluation, _ = evaluated(before=[{"command": mesh, "name": "mesher", "timeout_s": 0.5}], timeout_s=30)
    assert evaluation.reason.startswith("mesher: timeout: no result after 0.5 s")


def test_values_in_a_deck_stay_text_whatever_they_hold(make_problem, tmp_path):
    (tmp_path / "t.in").write_text("{a}|{kind}")
    nasty = "x; rm -rf {here} $(id) {{a}} \n%s"
    parameters = {"a": {"low": 0.0, "high": 2.0}, "kind": {"choices": [nasty, "y"]}}
    problem = make_problem(ECHO, parameters=parameters, objective={"files": {"deck": "t.in"}})
    evaluate_trial(problem, 0, {"a": 1.0, "kind": nasty})
    assert (problem.evaluations_folder / "000000" / "deck").read_text() == f"1.0|{nasty}"


def test_of_a_step_that_failed_is_kept_what_it_printed(make_problem):
    mesh = [sys.executable, "-c", "import sys; print('cells: 0'); sys.exit('no mesh')"]
    problem = make_problem("print(1)", objective={"before": [{"command": mesh, "name": "mesher"}]})
    output = evaluate_trial(problem, 0, POINT).output
    assert output["stdout"] == "[mesher]\ncells: 0\n"
    assert output["stderr"] == "[mesher]\nno mesh\n"


def test_steps_before_and_after_with_one_program_keep_their_outputs_apart(make_problem):
    command = [sys.executable, "-c", "print('there')"]
    problem = make_problem("print(1)", objective={"before": [command, command], "after": [command]})
    program = Path(sys.executable).name
    assert [step.name for step in problem.evaluator.steps] == [program, f"{program}-2", "", f"{program}-3"]


def test_a_command_line_as_one_text_is_refused(make_problem, tmp_path):
    (tmp_path / "sim").write_text("#!/bin/sh\necho 1\n")
    (tmp_path / "sim").chmod(0o755)
    with pytest.raises(
        InvalidInputError, match=r'one text for each part of command.*try \["\./sim", "\{a\}", "\{b\}"\]'
    ):
        make_problem(objective={"command": ["./sim {a} {b}"]})


@pytest.mark.parametrize(
    ("name", "meant"), [("tiemout", "timeout"), ("SIGSEV", "SIGSEGV"), ("sigkill", "SIGKILL"), (256, "")]
)
def test_what_no_command_ends_with_cannot_be_retried_on(make_problem, name, meant):
    with pytest.raises(
        InvalidInputError, match=rf"retry_on of exit statuses, signals or timeout; got '{name}'; try \"{meant}"
    ):
        make_problem("print(1)", objective={"retry_on": [name]})
