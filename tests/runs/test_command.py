"""Commands: no shell, a folder each, values read in three ways, every end told apart."""

import json
import math
import os
import sys
import time
from pathlib import Path

import pytest

from surefoot.errors import InvalidInputError
from surefoot.runs import reading
from surefoot.runs.evaluation import evaluate_trial

POINT = {"a": 1.5, "b": 2.0}


def evaluate(problem, number=0, **x):
    return evaluate_trial(problem, number, x or POINT).evaluation


def test_the_value_is_the_last_line(make_problem):
    problem = make_problem("import sys\nprint('steps 10')\nprint(float(sys.argv[1]) + float(sys.argv[2]))\nprint()")
    assert evaluate(problem).y == 3.5


@pytest.mark.parametrize(
    ("written", "value"),
    [("  0.15D+03 ", 150.0), ("1.5+100", 1.5e100), ("-.25-101", -0.25e-101), ("2.Q0", 2.0), ("1.5E+3", 1500.0)],
)
def test_a_value_as_fortran_writes_it(make_problem, written, value):
    assert evaluate(make_problem(f"print({written!r})")).y == value


@pytest.mark.parametrize("written", ["2020-10-100", "1+100", "1.5+10", "1.5 +100", "0x1p3", "1.5D"])
def test_what_only_looks_like_a_value_of_fortran_is_none(make_problem, written):
    assert "is not a number" in evaluate(make_problem(f"print({written!r})")).reason


def test_the_value_is_the_last_match_of_a_regular_expression(make_problem):
    code = "print('loss = 3.0')\nprint('loss = 1.5e0 J')\nprint('done')"
    assert evaluate(make_problem(code, objective={"value": {"regex": r"loss = (\S+)"}})).y == 1.5


def test_the_value_is_a_key_of_a_json_file_in_the_working_directory(make_problem):
    code = "open('out.json', 'w').write('{\"fits\": [{\"loss\": 4.5}]}')"
    value = {"json": "out.json", "key": "fits.0.loss"}
    assert evaluate(make_problem(code, objective={"value": value})).y == 4.5


def test_a_regular_expression_finds_a_value_long_before_the_end(make_problem):
    code = "print('loss = 1.5')\nfor _ in range(3 * 2**20 // 64): print('.' * 63)"
    assert evaluate(make_problem(code, objective={"value": {"regex": r"loss = (\S+)"}})).y == 1.5


def test_a_regular_expression_that_backtracks_for_ever_is_stopped(make_problem, monkeypatch):
    monkeypatch.setattr(reading, "_MATCH_AT_LEAST_S", 0.5)
    objective = {"timeout_s": 0.2, "value": {"regex": r"(a+)+$"}}
    code = "print('a' * 60 + 'b')"
    while (reason := evaluate(make_problem(code, objective=objective)).reason).startswith("timeout"):
        objective["timeout_s"] *= 2  # on a busy machine the command itself may take longer
    assert "had not been matched" in reason


def test_nothing_of_an_earlier_attempt_is_read(make_problem, tmp_path):
    code = f"""
import os, sys
first = not os.path.exists({str(tmp_path / "again")!r})
open({str(tmp_path / "again")!r}, "w")
if first:
    open("out.json", "w").write('{{"v": 1}}')
    sys.exit(75)
"""
    problem = make_problem(code, objective={"retry_on": [75], "value": {"json": "out.json", "key": "v"}})
    assert evaluate(problem).reason == "no value: out.json was not written"
    assert (problem.evaluations_folder / "000000.try-1" / "out.json").exists()


def test_a_timeout_longer_than_poll_can_wait(make_problem):
    assert evaluate(make_problem("print(1)", objective={"timeout_s": 1e12})).y == 1.0


def test_a_result_that_is_a_pipe_is_no_value(make_problem):
    json_value = {"value": {"json": "out", "key": "v"}}
    assert "not a regular file" in evaluate(make_problem("import os; os.mkfifo('out')", objective=json_value)).reason
    replaced = "import os; print(1); os.remove('stdout.txt'); os.mkfifo('stdout.txt')"
    assert evaluate(make_problem(replaced)).reason == "no value: nothing on stdout"
    regex_value = {"value": {"regex": "1"}}
    assert evaluate(make_problem(replaced, objective=regex_value)).reason == "no value: nothing on stdout"


@pytest.mark.parametrize(
    "value", [{}, {"value": {"regex": "(.)"}}, {"value": {"json": "out.json", "key": "v"}}], ids=str
)
def test_a_command_that_deletes_its_folder_has_failed(make_problem, value):
    code = "import os, shutil; print(1); shutil.rmtree(os.getcwd())"
    finished = evaluate_trial(make_problem(code, objective=value), 0, POINT)
    assert finished.evaluation.status == "failed"
    assert finished.evaluation.reason.startswith("no value")
    assert finished.output["stdout"] == ""


def test_a_reason_is_text_that_can_be_stored(make_problem):
    code = "import sys; sys.stderr.buffer.write(b'\\xed\\xb2\\x80\\xff\\0 bad'); sys.exit(1)"
    reason = evaluate(make_problem(code)).reason
    assert reason.encode().decode() == reason
    assert "\0" not in reason


def test_arguments_that_are_too_long_are_the_failure_of_the_point(make_problem):
    problem = make_problem("print(1)", parameters={"c": {"choices": ["x" * 99_000, "y"]}})
    object.__setattr__(problem.evaluator, "command", (*problem.evaluator.command, *["{c}"] * 60))
    assert "Argument list too long" in evaluate(problem, c="x" * 99_000).reason


def test_a_python_that_vanished_is_an_error_and_not_a_failure(make_problem, monkeypatch, tmp_path):
    problem = make_problem("print(1)")
    monkeypatch.setattr(sys, "executable", str(tmp_path / "gone"))
    with pytest.raises(InvalidInputError, match=r"(?s)expected Python.*got.*try"):
        evaluate(problem)


def test_folders_that_cannot_be_made_are_an_error_and_not_a_failure(make_problem):
    problem = make_problem("print(1)")
    problem.evaluations_folder.write_text("in the way")
    with pytest.raises(InvalidInputError, match=r"(?s)expected a folder.*got.*try"):
        evaluate(problem)


@pytest.mark.parametrize(
    ("code", "options", "reason"),
    [
        (
            "open('o', 'w').write('[' * 100_000)",
            {"value": {"json": "o", "key": "k"}},
            "no value: 'k' of o (RecursionError",
        ),
        (
            "open('o', 'w').write('[1' + '0' * 400 + ']')",
            {"value": {"json": "o", "key": "0"}},
            "no value: '0' of o (Over",
        ),
        (
            "open('o', 'w').write('[' + '1' * 5000 + ']')",
            {"value": {"json": "o", "key": "0"}},
            "no value: '0' of o (Value",
        ),
        ("print('nan')", {}, "the value was nan"),
        ("print('-inf')", {}, "the value was -inf"),
        ("pass", {}, "no value: nothing on stdout"),
        ("print('done')", {}, "no value: 'done' is not a number"),
        ("print(1)", {"value": {"regex": "loss (.*)"}}, "no value: nothing in stdout matches"),
        ("print(1)", {"value": {"json": "o", "key": "k"}}, "no value: o was not written"),
        ("open('o', 'w')", {"value": {"json": "o"}}, "no value: o is no JSON: it is empty"),
        (
            "open('o', 'w').write('loss = 3')",
            {"value": {"json": "o", "key": "k"}},
            "no value: o is no JSON (Expecting value: line 1 column 1 (char 0)); it begins with 'loss = 3'",
        ),
        ("open('o', 'wb').write(b'\\xff[')", {"value": {"json": "o"}}, "no value: o is no JSON ("),
        (
            "open('o', 'w').write('{\"fit\": {\"los\": 3}}')",
            {"value": {"json": "o", "key": "fit.loss"}},
            "no value: o has no 'fit.loss': no 'loss' in 'los'",
        ),
        ("import os; os.mkdir('o')", {"value": {"json": "o"}}, "no value: o could not be read: "),
        ("import sys; print(1); sys.exit(4)", {}, "exit status 4"),
        ("import sys; sys.exit('mesh\\ncollapsed')", {}, "exit status 1: collapsed"),
        ("import os; os.kill(os.getpid(), 11)", {}, "the process was killed by SIGSEGV (segmentation fault)"),
        ("import os; os.abort()", {}, "the process was killed by SIGABRT"),
        ("import time; time.sleep(60)", {"timeout_s": 0.3}, "timeout: no result after 0.3 s, stopped"),
        ("x = b'0' * 2**30; print(1)", {"memory_limit_mb": 200}, "exit status 1: MemoryError"),
    ],
)
def test_a_failure_has_its_reason(make_problem, code, options, reason):
    evaluation = evaluate(make_problem(code, objective=options))
    assert (evaluation.status, math.isnan(evaluation.y)) == ("failed", True)
    assert evaluation.reason.startswith(reason)
    assert "/" not in evaluation.reason


@pytest.mark.parametrize(
    "evil", ["; touch {0}", "$(touch {0})", "`touch {0}`", "' ; touch {0} ; '", 'a b"c', "| tee {0}"]
)
def test_a_value_with_shell_characters_executes_nothing_but_the_command(make_problem, tmp_path, evil):
    flag = tmp_path / "owned"
    evil = evil.format(flag)
    problem = make_problem(
        "import sys, json\njson.dump(sys.argv[1:], open('argv.json', 'w'))\nprint(1)",
        parameters={"c": {"choices": [evil, "plain"]}},
    )
    finished = evaluate_trial(problem, 0, {"c": evil})
    assert finished.evaluation.y == 1.0
    assert json.loads(Path(finished.output["folder"], "argv.json").read_text()) == [evil]
    assert not flag.exists()


def test_every_evaluation_has_a_working_directory_with_its_parameters_and_output(make_problem):
    problem = make_problem("import os, sys\nprint(os.getcwd(), file=sys.stderr)\nopen('mine', 'w')\nprint(1)")
    folders = [evaluate_trial(problem, number, POINT).output["folder"] for number in (0, 1)]
    assert folders == [str(problem.evaluations_folder / name) for name in ("000000", "000001")]
    for folder in folders:
        assert sorted(os.listdir(folder)) == ["mine", "parameters.json", "stderr.txt", "stdout.txt"]
        assert json.loads(Path(folder, "parameters.json").read_text()) == POINT
        assert Path(folder, "stderr.txt").read_text() == folder + "\n"


def test_what_another_study_left_in_the_folder_is_moved_aside(make_problem):
    problem = make_problem("print(1)", objective={"value": {"json": "old.json", "key": "v"}})
    folder = problem.evaluations_folder / "000000"
    folder.mkdir(parents=True)
    (folder / "old.json").write_text('{"v": 1}')
    assert evaluate(problem).status == "failed"
    assert (problem.evaluations_folder / "000000.old-1" / "old.json").exists()


def test_placeholders_for_the_folders_and_the_number(make_problem, tmp_path):
    program = tmp_path / "p.py"
    program.write_text("import sys; assert sys.argv[1:4] == [sys.argv[4], sys.argv[5], '7']; print(2)")
    folder = str(tmp_path / "p.runs" / "000007")
    command = [sys.executable, "{here}/p.py", "{here}", "{folder}", "{trial}", str(tmp_path), folder, "{a}", "{b}"]
    assert evaluate(make_problem(objective={"command": command}), number=7).y == 2.0


def test_the_environment_is_passed_on_and_added_to(make_problem, monkeypatch):
    monkeypatch.setenv("FROM_OUTSIDE", "1")
    code = "from os import environ as e; print(sum(int(e[k]) for k in ('FROM_OUTSIDE', 'ADDED', 'SUREFOOT_TRIAL')))"
    assert evaluate(make_problem(code, objective={"environment": {"ADDED": "10"}}), number=5).y == 16.0


def test_a_transient_failure_is_tried_again(make_problem, tmp_path):
    count = tmp_path / "count"
    code = f"""
import sys
with open({str(count)!r}, "a") as f: f.write("x")
if len(open({str(count)!r}).read()) < 3: sys.exit(75)
print(1)
"""
    assert evaluate(make_problem(code, objective={"retry_on": [75]})).y == 1.0
    assert count.read_text() == "xxx"


def test_a_transient_failure_that_stays_teaches_nothing(make_problem):
    problem = make_problem("import sys; sys.exit(75)", objective={"retry_on": [75], "n_retries": 1})
    evaluation = evaluate(problem)
    assert evaluation.status == "transient"
    assert evaluation.reason == "exit status 75 (transient; tried 2 times)"


def test_what_a_command_started_ends_with_it(make_problem, tmp_path):
    pid_file = tmp_path / "pid"
    code = f"""
import subprocess, sys
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
open({str(pid_file)!r}, "w").write(str(child.pid))
print(1)
"""
    assert evaluate(make_problem(code)).y == 1.0
    for _ in range(200):
        try:
            state = Path(f"/proc/{pid_file.read_text()}/stat").read_text().rsplit(")", 1)[1].split()[0]
        except FileNotFoundError:
            return
        if state == "Z":
            return
        time.sleep(0.01)
    pytest.fail("the grandchild lives")


def test_a_program_that_vanished_is_an_error_and_not_a_failure(make_problem, tmp_path):
    program = tmp_path / "sim"
    program.write_text("#!/bin/sh\necho 1\n")
    program.chmod(0o755)
    problem = make_problem(objective={"command": ["./sim", "{a}", "{b}"]})
    program.unlink()
    with pytest.raises(InvalidInputError, match="cannot start"):
        evaluate(problem)
