"""A problem file is checked whole, and every mistake is told in three parts."""

import re
from pathlib import Path

import pytest
from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

from surefoot.errors import InvalidInputError, UnknownNameError
from surefoot.runs.evaluator import ValueSource
from surefoot.runs.placeholders import fill
from surefoot.runs.problem import read_problem, storage_place

GOOD = """
name = "stiffness"
n_evals = 30
[parameters]
f_L = {low = 1.33e5, high = 5.33e5}
xi = {low = 2.33, high = 3.0}
[objective]
command = ["true", "--stiffness", "{f_L}", "--xi", "{xi}"]
timeout_s = 120
"""


def read(tmp_path: Path, text: str):
    path = tmp_path / "problem.toml"
    path.write_text(text)
    return read_problem(path)


def test_the_file_of_the_documentation_is_understood(tmp_path):
    problem = read(tmp_path, GOOD)
    assert problem.name == "stiffness"
    assert problem.n_evals == 30
    assert problem.parameters == {"f_L": FloatDistribution(1.33e5, 5.33e5), "xi": FloatDistribution(2.33, 3.0)}
    assert problem.evaluator.timeout_s == 120
    assert problem.default_storage == tmp_path / "stiffness.db"


def test_defaults_are_those_of_minimize(tmp_path):
    problem = read(tmp_path, GOOD)
    assert (problem.settings.seed, problem.settings.policy, problem.settings.n_init) == (0, "alternate", 6)
    assert (problem.direction, problem.max_failures) == ("minimize", 50)


def test_the_name_defaults_to_that_of_the_file(tmp_path):
    assert read(tmp_path, GOOD.replace('name = "stiffness"', "")).name == "problem"


def test_every_kind_of_parameter(tmp_path):
    text = GOOD.replace(
        "xi = {low = 2.33, high = 3.0}",
        'xi = {low = 1, high = 9, kind = "integer", step = 2}\n'
        'l = {low = 1, high = 100, kind = "integer", log = true}\n'
        'c = {choices = ["a b", 2]}\ns = {low = 0, high = 1, step = 0.25}\ng = {low = 0.1, high = 10.0, log = true}',
    ).replace('"{xi}"', '"{xi}", "{l}", "{c}", "{s}", "{g}"')
    assert read(tmp_path, text).parameters == {
        "f_L": FloatDistribution(1.33e5, 5.33e5),
        "xi": IntDistribution(1, 9, step=2),
        "l": IntDistribution(1, 100, log=True),
        "c": CategoricalDistribution(["a b", 2]),
        "s": FloatDistribution(0, 1, step=0.25),
        "g": FloatDistribution(0.1, 10.0, log=True),
    }


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("n_evals = 30", "n_evals = 0", "n_evals as an integer of at least 1"),
        ("n_evals = 30", "n_eval = 30", "got 'n_eval'; try n_evals"),
        ("n_evals = 30", 'direction = "up"', "minimize or maximize"),
        ("n_evals = 30", 'policy = "EII"', "EII"),
        ("n_evals = 30", "heartbeat_s = 0", "heartbeat_s between"),
        ("n_evals = 30", "max_failures = -1", "max_failures"),
        ('"stiffness"', '"a/b"', "can be a file name"),
        ("[parameters]", "[parameter]", "got 'parameter'"),
        ("low = 2.33, high = 3.0", "low = 2.33", "expected high for parameter 'xi'"),
        ("low = 2.33, high = 3.0", "low = 3.0, high = 2.0", "try low = 2.0, high = 3.0"),
        ("low = 2.33, high = 3.0", "low = 2.33, high = 3.0, lgo = true", "got 'lgo'; try lo"),
        ("low = 2.33, high = 3.0", "low = 0.0, high = 3.0, log = true", "expected low > 0"),
        ("low = 2.33, high = 3.0", 'low = 2.33, high = 3.0, kind = "integer"', "an integer as low"),
        ("low = 2.33, high = 3.0", 'low = 2, high = 3, kind = "int"', "kind real or integer"),
        ("low = 2.33, high = 3.0", "low = 2.33, high = 3.0, step = 5.0", "positive step within the range"),
        ("low = 2.33, high = 3.0", 'low = "a", high = 3.0', "a finite number as low"),
        ("low = 2.33, high = 3.0", "choices = []", "a list of different"),
        ("low = 2.33, high = 3.0", 'choices = ["a", "a"]', "a list of different"),
        ('"{xi}"', '"{x}"', "placeholders among f_L, xi, here, folder, trial"),
        ('"{xi}"', '"3"', "every parameter in the command"),
        ('"{xi}"', '"{xi:q}"', "placeholders like"),
        ('"{xi}"', '"{xi"', "placeholders like"),
        ('["true"', '["./nowhere"', "no such program"),
        ("command = [", "commands = [", "got 'commands'; try command"),
        ('"true"', '""', "list of texts"),
        ("timeout_s = 120", "timeout_s = 0", "positive number"),
        ("timeout_s = 120", 'python = "m:f"', "command or python"),
        ("timeout_s = 120", "retry_on = 3", "retry_on as a list"),
        ("timeout_s = 120", "n_retries = -1", "n_retries of at least 0"),
        ("timeout_s = 120", 'value = {regex = "("}', "regular expression"),
        ("timeout_s = 120", 'value = {regex = "(a)(b)"}', "at most one group"),
        ("timeout_s = 120", 'value = {key = "a"}', "{json, key}"),
        ("timeout_s = 120", "environment = {A = 1}", "table of texts"),
        ("n_evals = 30", "n_evals = ", "TOML file"),
        ("n_evals = 30", "n_evals = " + "9" * 5000, "TOML file"),
        ("n_evals = 30", "n_evals = 18446744073709551616", "64 bits"),
        ("n_evals = 30", "max_failures = true", "0 for never"),
        ("n_evals = 30", "noise = [1.0]", "a text or a number for noise"),
        ("n_evals = 30", "noise = " + "[" * 20 + "]" * 20, "fewer levels"),
        ("n_evals = 30", "noise = " + "[" * 50_000 + "]" * 50_000, "TOML file"),
        ('"stiffness"', '"' + "s" * 201 + '"', "at most 200 bytes"),
        ("low = 2.33, high = 3.0", "low = 0.0, high = 1e300, step = 1e-300", "positive step within the range"),
        ("low = 2.33, high = 3.0", "low = nan, high = 3.0", "a finite number as low"),
        ("low = 2.33, high = 3.0", r'choices = ["a\u0000", "b"]', "without NUL"),
        ("low = 2.33, high = 3.0", "choices = [1.0, nan]", "a list of different"),
        ('"{xi}"', '"{xi!r}"', "no conversion"),
        ('"{xi}"', '"{xi:>99999}"', "fewer than 1000 characters"),
        ('"{xi}"', r'"{xi}\u0000"', "without NUL"),
        ('["true"', '["./' + "n" * 300 + '"', "no such program"),
        ("timeout_s = 120", "timeout_s = inf", "positive number"),
        ("timeout_s = 120", "environment = {'A=B' = 'c'}", "have no ="),
        ("timeout_s = 120", "environment = {'' = 'c'}", "not empty"),
        ("timeout_s = 120", r'environment = {A = "\u0000"}', "without NUL"),
        ("timeout_s = 120", 'value = {regex = "a{99999999999}"}', "regular expression"),
        ("timeout_s = 120", r'value = {json = "a\u0000", key = "k"}', "without NUL"),
    ],
)
def test_a_mistake_is_named(tmp_path, old, new, message):
    assert old in GOOD
    with pytest.raises(InvalidInputError, match=re.escape(message)):
        read(tmp_path, GOOD.replace(old, new))


def test_every_choice_must_suit_its_format(tmp_path):
    text = GOOD.replace("xi = {low = 2.33, high = 3.0}", 'xi = {choices = [1, "two"]}').replace("{xi}", "{xi:d}")
    with pytest.raises(InvalidInputError, match="placeholders like"):
        read(tmp_path, text)


@pytest.mark.parametrize("more", ["", ", log = true", ', kind = "integer"', ", step = 1.0"])
def test_a_parameter_with_equal_bounds_is_fixed(tmp_path, more):
    problem = read(tmp_path, GOOD.replace("xi = {low = 2.33, high = 3.0}", f"xi = {{low = 2.0, high = 2.0{more}}}"))
    assert problem.parameters["xi"].single()


def test_a_parameter_with_one_choice_is_fixed(tmp_path):
    problem = read(tmp_path, GOOD.replace("xi = {low = 2.33, high = 3.0}", 'xi = {choices = ["a"]}'))
    assert problem.parameters["xi"] == CategoricalDistribution(["a"])


def test_the_mark_that_windows_editors_put_before_a_text_is_passed_over(tmp_path):
    assert read(tmp_path, "\ufeff" + GOOD).n_evals == 30


def test_a_file_in_another_encoding_is_told_so_with_the_line(tmp_path):
    (tmp_path / "problem.toml").write_bytes(GOOD.replace("n_evals = 30", "n_evals = 30  # 20 °C").encode("latin-1"))
    with pytest.raises(InvalidInputError, match=r"in UTF-8; got .* whose line 3 is not; try saving it as UTF-8"):
        read_problem(tmp_path / "problem.toml")


@pytest.mark.parametrize("name", ["nowhere.toml", "a\0b.toml", "n" * 300 + ".toml", "folder.toml"])
def test_a_file_that_cannot_be_read_is_named(tmp_path, name):
    (tmp_path / "folder.toml").mkdir()
    with pytest.raises(InvalidInputError, match=r"(?s)expected.*got.*try"):
        read_problem(tmp_path / name)


def test_a_timeout_longer_than_poll_can_wait_is_kept(tmp_path):
    assert read(tmp_path, GOOD.replace("timeout_s = 120", "timeout_s = 1e12")).evaluator.timeout_s == 1e12


def test_an_unknown_policy_is_an_unknown_name(tmp_path):
    with pytest.raises(UnknownNameError, match="policy"):
        read(tmp_path, 'policy = "nonsense"\n' + GOOD)


def test_python_needs_a_function_and_a_file(tmp_path):
    text = GOOD.split("[objective]")[0] + "[objective]\npython = "
    with pytest.raises(InvalidInputError, match="module:function"):
        read(tmp_path, text + '"module"')
    with pytest.raises(InvalidInputError, match="beside the problem file"):
        read(tmp_path, text + '"nowhere.py:f"')


def test_a_command_that_reads_the_parameters_file_needs_no_placeholders(tmp_path):
    problem = read(tmp_path, GOOD.replace(', "--stiffness", "{f_L}", "--xi", "{xi}"', ""))
    assert len(problem.evaluator.command) == 1


def test_a_relative_program_is_found_beside_the_problem_file(tmp_path):
    (tmp_path / "sim").write_text("#!/bin/sh\n")
    with pytest.raises(InvalidInputError, match="cannot be executed"):
        read(tmp_path, GOOD.replace('"true"', '"./sim"'))
    (tmp_path / "sim").chmod(0o755)
    assert read(tmp_path, GOOD.replace('"true"', '"./sim"')).evaluator.command[0] == str(tmp_path / "sim")


def test_numbers_keep_all_their_digits_and_formats_are_applied():
    filled = fill(("{x}", "a{x:.2e}b", "{{x}}", "{n:03d}", "{t}"), {"x": 0.1 + 0.2, "n": 7, "t": True})
    assert filled == ["0.30000000000000004", "a3.00e-01b", "{x}", "007", "true"]


def test_a_json_value_is_understood(tmp_path):
    text = GOOD + 'value = {json = "out.json", key = "a.loss"}'
    assert read(tmp_path, text).evaluator.value == ValueSource(json="out.json", key="a.loss")


def test_a_problem_file_stands_for_its_storage(tmp_path):
    (tmp_path / "problem.toml").write_text(GOOD)
    assert storage_place(str(tmp_path / "problem.toml")) == str(tmp_path / "stiffness.db")
    assert storage_place("other.db") == "other.db"


def test_a_budget_of_failures_steers_a_run(make_problem):
    assert make_problem("", stop={"failures": 7}).settings.failure_budget == 7
    assert make_problem("", stop={"failures": 7}, failure_budget=0).settings.failure_budget == 0
    assert make_problem("").settings.failure_budget == 0
