"""Problem files with one mistake each: the error names the file, the line, and what to try."""

import sys

import pytest

from surefoot.errors import InvalidInputError
from surefoot.runs.problem import read_problem

GOOD = """
name = "fin"
n_evals = 40
direction = "minimize"
seed = 3
policy = "EI"
kernel = "se"
noise = 0.0
n_init = 6
kappa = 2.0
search = "gradient"
failures = "ep"
min_success = 0.5
warp = "none"
max_failures = 5
heartbeat_s = 10
stop = {target = 1.0, stagnation = 40, failures = 20, hours = 8}
[parameters]
length = {low = 0.01, high = 0.1, log = true}
fins = {low = 2, high = 20, kind = "integer", step = 2}
alloy = {choices = ["steel", "brass"]}
grade = {choices = [1, 2]}
width = {low = 0.0, high = 1.0, was = 0.5}
[constraints]
fits = "fins * width <= 10"
slim = "length <= width + 1"
[outputs]
mass = "<= 3.0"
heat = "between 1 and 9"
[objective]
files = {"case.inp" = "deck.in"}
placeholders = "{}"
copy = ["mesh.dat"]
link = ["tables"]
before = [{command = ["./mesher", "{fins}"], timeout_s = 60, name = "mesher"}]
command = ["./solver", "{alloy}", "{grade}"]
after = [["./mesher"]]
timeout_s = 120
memory_limit_mb = 4000
n_retries = 1
retry_on = [75, "SIGKILL"]
name = "cost"
[objective.environment]
OMP_NUM_THREADS = "1"
[objective.results]
mass = {file = "case.lst", regex = 'MASS = (\\S+)'}
heat = {file = "case.lst", line = "HEAT", column = 3, take = "first"}
peak = {file = "probes.csv", column = "T [K]", take = "max"}
eff = {json = "r.json", key = "a.b", optional = true}
lift = {python = "post.py:lift"}
cost = "mass + 0.1*heat"
"""
DECK = "LENGTH {length:E12.4}\nWIDTH {width:8.3f}\n"


def changed(old: str, *new: str):
    """The same line written wrongly in several ways."""
    return [(old, other) for other in new]


# fmt: off
BROKEN = [
    # budget and settings
    *changed("n_evals = 40", "n_evals = 0", "n_evals = -3", "n_evals = 4.5", 'n_evals = "forty"', "n_evals = true",
             "n_evals = [40]", "n_eval = 40", "evals = 40", "n_evals = 99999999999999999999"),
    *changed('direction = "minimize"', 'direction = "min"', "direction = 1", 'direction = "MAXIMIZE"',
             "maximize = true", 'directoin = "minimize"'),
    *changed("seed = 3", "seed = -1", "seed = 1.5", 'seed = "abc"', "seeds = 3"),
    *changed('policy = "EI"', 'policy = "IE"', "policy = 3", 'policy = ""', 'policy = ["EI"]', 'acquisition = "EI"'),
    *changed('kernel = "se"', 'kernel = "rbf"', "kernel = 2.5", "kernel = {name = 'se'}"),
    *changed("noise = 0.0", "noise = -1.0", 'noise = "loud"', "noise = nan", "noise = inf"),
    *changed("n_init = 6", "n_init = 0", "n_init = 2.5", 'n_init = "six"', "n_initial = 6"),
    *changed("kappa = 2.0", "kappa = -1.0", 'kappa = "two"'),
    *changed('search = "gradient"', 'search = "newton"', "search = 1"),
    *changed('failures = "ep"', 'failures = "none of it"', "failures = 1", "failures = []"),
    *changed("min_success = 0.5", "min_success = 1.5", 'min_success = "half"', "min_success = -0.1"),
    *changed('warp = "none"', 'warp = "log"', "warp = 7"),
    *changed("max_failures = 5", "max_failures = -1", "max_failures = 1.5", 'max_failures = "many"',
             "max_failures = true"),
    *changed("heartbeat_s = 10", "heartbeat_s = 0", "heartbeat_s = 1e9", 'heartbeat_s = "10 s"', "hearbeat_s = 10"),
    *changed("stop = {target = 1.0, stagnation = 40, failures = 20, hours = 8}", "stop = 40", "stop = {targt = 1.0}",
             "stop = {stagnation = 0}", "stop = {hours = -1}", 'stop = {target = "low"}', "stop = {failures = 2.5}"),
    *changed('name = "fin"', 'name = ""', "name = 3", 'name = "a/b"', 'name = ".hidden"', 'name = "a\\nb"'),
    # keys of other places
    *changed("seed = 3", "workers = 4", 'storage = "x.db"', "timeout_s = 3", 'command = ["true"]', "dask = 'tcp://x'",
             'python = "m:f"', 'environment = {A = "b"}', "retry_on = [3]", "bounds = 3"),
    *changed("timeout_s = 120", "n_evals = 9", "workers = 4", 'direction = "maximize"', "seed = 9", "timeout = 120",
             "time_limit = 120", "outputs = {a = '<= 1'}", "max_failures = 3"),
    # parameters
    *changed("length = {low = 0.01, high = 0.1, log = true}", "length = {low = 0.01}", "length = {high = 0.1}",
             "length = {low = 0.2, high = 0.1}", "length = {low = 0.0, high = 0.1, log = true}", "length = [0.01, 0.1]",
             "length = 0.05", "length = {low = 0.01, high = inf}", "length = {low = '0.01', high = 0.1}",
             "length = {min = 0.01, max = 0.1}", "length = {low = 0.01, high = 0.1, log = 1}", "length = {}",
             "length = {low = nan, high = 0.1}", "length = {low = 0.01, high = 0.1, unit = 'm'}",
             "length = {low = true, high = 2}", "lenght = {low = 0.01, high = 0.1}",
             '"my length" = {low = 0.0, high = 1.0}',
             "here = {low = 0.0, high = 1.0}", "length = {low = 0.01, high = 0.1, was = 5.0}",
             "length = {low = 0.01, high = 0.1, was = 'x'}", "length = {low = 0.01, high = [0.1]}"),
    *changed('fins = {low = 2, high = 20, kind = "integer", step = 2}',
             'fins = {low = 2.5, high = 20, kind = "integer"}',
             'fins = {low = 2, high = 20, kind = "int"}', 'fins = {low = 2, high = 20, kind = "integer", step = 0}',
             'fins = {low = 2, high = 20, kind = "integer", step = 1.5}',
             'fins = {low = 2, high = 20, kind = "integer", step = 50}',
             'fins = {low = 2, high = 20, kind = "integer", step = 2, log = true}',
             'fins = {low = 2, high = 20, kind = "integer", steps = 2}',
             'fins = {low = 2, high = 20, kind = "categorical"}'),
    *changed('alloy = {choices = ["steel", "brass"]}', "alloy = {choices = []}",
             'alloy = {choices = "steel, brass"}', 'alloy = {choices = ["steel", "steel"]}',
             'alloy = {choices = ["steel", ["a"]]}', 'alloy = {choices = ["steel", "brass"], low = 0}',
             'alloy = {choices = ["steel", "brass"], kind = "real"}', 'alloy = {choice = ["steel", "brass"]}',
             'alloy = {choices = ["steel", "brass"], was = "gold"}', "alloy = {choices = [1.0, nan]}"),
    # constraints
    *changed('fits = "fins * width <= 10"', 'fits = "fins * width"', 'fits = "fins * widht <= 10"', "fits = 10",
             'fits = ""', 'fits = "fins * (width <= 10"', 'fits = "fins <= 10 ; width"', 'fits = "mass <= 10"',
             "fits = \"alloy == 'steel'\"", 'fits = "alloy <= 2"', 'fits = "1 <= 2"', 'fits = "import os"',
             'fits = "__import__(1) <= 2"', 'fits = "fins.real <= 2"', 'fits = "fins[0] <= 2"', 'fits = "fins = 2 = 3"',
             'fits = "open(fins) <= 2"', 'fits = "lambda: 1 <= 2"'),
    # limits
    *changed('mass = "<= 3.0"', 'mass = "<= 3 kg"', 'mass = "3.0"', "mass = 3.0", 'mass = "= 3"', 'mass = "< = 3"',
             'mass = "between 3 and 1"', 'mass = "<= inf"', 'mass = ""', 'mas = "<= 3.0"', 'mass = "<= 3,0"',
             'mass = "= 3 within -1"', 'mass = "<= 3.0 margin -1"'),
    # files
    *changed('files = {"case.inp" = "deck.in"}', 'files = {"case.inp" = "dekc.in"}', 'files = "deck.in"',
             'files = ["deck.in"]', 'files = {"../case.inp" = "deck.in"}', 'files = {"/etc/case" = "deck.in"}',
             'files = {"stdout.txt" = "deck.in"}', 'files = {"parameters.json" = "deck.in"}',
             'files = {"" = "deck.in"}',
             'files = {"case.inp" = ""}', 'files = {"case.inp" = "."}', 'files = {"mesh.dat" = "deck.in"}',
             'files = {"case.inp" = "narrow.in"}', 'files = {"case.inp" = "unknown.in"}',
             'files = {"case.inp" = "braces.in"}',
             'file = {"case.inp" = "deck.in"}'),
    *changed('placeholders = "{}"', 'placeholders = "<>"', "placeholders = 1", 'placeholder = "{}"'),
    *changed('copy = ["mesh.dat"]', 'copy = "mesh.dat"', 'copy = ["mesh.dta"]', "copy = [1]", 'copy = [""]',
             'copy = ["mesh.dat", "mesh.dat"]'),
    *changed('link = ["tables"]', 'link = "tables"', 'link = ["tabels"]', 'links = ["tables"]'),
    # commands
    *changed('command = ["./solver", "{alloy}", "{grade}"]', 'command = "./solver {alloy} {grade}"', "command = []",
             'command = ["./solvr", "{alloy}", "{grade}"]', 'command = ["no-such-program", "{alloy}", "{grade}"]',
             'command = ["solver", "{alloy}", "{grade}"]', 'command = ["./deck.in", "{alloy}", "{grade}"]',
             'command = ["./tables", "{alloy}", "{grade}"]', 'command = ["./solver", "{alloy}"]',
             'command = ["./solver", "{alloy}", "{gradee}"]', 'command = ["./solver", "{alloy}", "{zzz}"]',
             'command = ["./solver", "{alloy}", "{grade"]', 'command = ["./solver", "{alloy:d}", "{grade}"]',
             'command = ["./solver", "{alloy!r}", "{grade}"]', 'command = ["./solver", "{alloy}", "{grade:q}"]',
             'command = ["./solver", "{alloy}", 3]', 'command = ["", "{alloy}", "{grade}"]',
             'command = ["./solver", "{alloy}", "{grade:99999}"]', 'command = ["./solver", "{alloy}", "{}{grade}"]',
             'command = ["./solver", "{alloy.upper}", "{grade}"]', 'commnad = ["./solver", "{alloy}", "{grade}"]',
             'python = "post.py:lift"', 'command = {name = "./solver"}', 'command = ["./solver", ["{alloy}"]]'),
    *changed('before = [{command = ["./mesher", "{fins}"], timeout_s = 60, name = "mesher"}]', 'before = "./mesher"',
             'before = ["./mesher", "{fins}"]', 'before = [{command = ["./mesherr", "{fins}"]}]',
             'before = [{comand = ["./mesher", "{fins}"]}]',
             'before = [{command = ["./mesher", "{fins}"], timeout_s = -1}]',
             'before = [{command = ["./mesher", "{fins}"], name = "a/b"}]', 'before = [["./mesher", "{fin}"]]',
             'before = [{command = ["./mesher", "{fins}"], name = ""}]', 'before = [[]]', 'before = [{timeout_s = 60}]',
             'before = {command = ["./mesher", "{fins}"]}', 'before = [["./mesher"]]'),
    *changed('after = [["./mesher"]]', "after = [3]", 'after = [{command = ["./mesher"], timeout = 60}]'),
    # limits of an evaluation
    *changed("timeout_s = 120", "timeout_s = 0", "timeout_s = -1", 'timeout_s = "2 min"', "timeout_s = inf",
             "timeout_s = true"),
    *changed("memory_limit_mb = 4000", "memory_limit_mb = 0", 'memory_limit_mb = "4 GB"', "memory_limit = 4000"),
    *changed("n_retries = 1", "n_retries = -1", "n_retries = 1.5", 'n_retries = "once"', "retries = 1"),
    *changed('retry_on = [75, "SIGKILL"]', 'retry_on = "SIGKILL"', "retry_on = [1.5]", "retry_on = [true]",
             "retry_on = [[75]]"),
    *changed('name = "cost"', 'name = "price"', 'name = "mas"', "name = 3 # of the value", 'name = "" # of the value'),
    *changed('OMP_NUM_THREADS = "1"', "OMP_NUM_THREADS = 1", "OMP_NUM_THREADS = true", '"A=B" = "c"', '"" = "c"',
             "n_evals = 5 # lost"),
    # results
    *changed("mass = {file = \"case.lst\", regex = 'MASS = (\\S+)'}", 'mass = {file = "case.lst"}',
             "mass = {regex = '('}",
             "mass = {regex = '(a)(b)'}", "mass = {regex = ''}", "mass = {regex = 3}", "mass = 3.0", "mass = ['MASS']",
             "mass = {file = '../case.lst', regex = 'x'}", "mass = {file = '/etc/passwd', regex = 'x'}",
             "mass = {file = 3, regex = 'x'}", "mass = {regexp = 'x'}", "mass = {regex = 'x', column = 2}", "mass = {}",
             "mass = {regex = 'x', take = 'lst'}", "mass = {regex = 'x', take = 0}",
             "mass = {regex = 'x', optional = 'yes'}",
             "mass = {regex = 'x', key = 'a'}"),
    *changed('heat = {file = "case.lst", line = "HEAT", column = 3, take = "first"}', 'heat = {line = "HEAT"}',
             'heat = {line = "HEAT", column = 0}', 'heat = {line = "HEAT", column = "T"}',
             'heat = {line = 0, column = 3}',
             'heat = {line = "", column = 3}', 'heat = {line = 1.5, column = 3}'),
    *changed('peak = {file = "probes.csv", column = "T [K]", take = "max"}', 'peak = {column = ""}',
             "peak = {column = -1}",
             'peak = {column = 1, take = "median"}', "peak = {column = true}"),
    *changed('eff = {json = "r.json", key = "a.b", optional = true}', 'eff = {json = "r.json"}', 'eff = {key = "a.b"}',
             'eff = {json = "r.json", key = 3}', 'eff = {json = "", key = "a"}',
             'eff = {json = "../r.json", key = "a"}',
             'eff = {json = "r.json", toml = "r.toml", key = "a"}', 'eff = {xml = "r.xml", key = "a"}'),
    *changed('lift = {python = "post.py:lift"}', 'lift = {python = "post.py"}', 'lift = {python = "pots.py:lift"}',
             'lift = {python = "post.py:"}', "lift = {python = 3}", 'lift = {python = "post.py:lift", take = "last"}'),
    *changed('cost = "mass + 0.1*heat"', 'cost = "mass + 0.1*haet"', 'cost = "cost + mass"', 'cost = "mass +"',
             'cost = ""',
             'cost = "mass ** ** 2"', 'cost = "__import__(\'os\')"', 'cost = "mass.real"', 'cost = "alloy + 1 +"',
             'cost = "mass if heat else 0"', 'cost = "exec(mass)"', 'cost = "mass; heat"', 'cost = "(mass"'),
]
# fmt: on
NOT_TOML = [
    *[
        "n_evals = ",
        "n_evals 40",
        "= 40",
        "n_evals = 40 50",
        'name = "fin',
        "name = 'fin\"",
        "[parameters",
        "[[outputs]",
    ],
    *[
        "n_evals = 0x",
        "n_evals = 1e",
        "seed = 03",
        "a.b.c",
        "{}",
        "x = {a = 1, a = 2}",
        "x = [1, 2",
        "direction = minimize",
    ],
    *["seed = 1,5", 'name = "\\q"', "x = 2024-13-01", "n_evals := 40", "n_evals: 40"],
]


@pytest.fixture
def broken(tmp_path):
    """The message for a problem file with this text, in a folder that has all that the good one needs."""
    for name in ("solver", "mesher"):
        (tmp_path / name).write_text(f"#!{sys.executable}\n")
        (tmp_path / name).chmod(0o755)
    (tmp_path / "deck.in").write_text(DECK)
    (tmp_path / "narrow.in").write_text(DECK + "{width:F2.1}\n")
    (tmp_path / "unknown.in").write_text(DECK + "{widht}\n")
    (tmp_path / "braces.in").write_text(DECK + "a { b\n")
    (tmp_path / "mesh.dat").write_text("")
    (tmp_path / "post.py").write_text("def lift(folder): return 1.0")
    (tmp_path / "tables").mkdir()

    def message(text: str) -> str:
        (tmp_path / "case.toml").write_text(text)
        with pytest.raises(InvalidInputError) as error:
            read_problem(tmp_path / "case.toml")
        return str(error.value)

    return message


def test_the_file_without_a_mistake_is_read(broken, tmp_path):
    (tmp_path / "case.toml").write_text(GOOD)
    assert read_problem(tmp_path / "case.toml").n_evals == 40


def test_there_are_more_than_two_hundred_different_mistakes():
    texts = {GOOD.replace(old, new) for old, new in BROKEN} | set(NOT_TOML)
    assert len(texts) == len(BROKEN) + len(NOT_TOML) > 200


# a name that is missing at another line than the one that was changed: that line is named
SEEN_AT = {
    "lenght = {low = 0.01, high = 0.1}": "files = {",
    'python = "post.py:lift"': "files = {",
    'before = [["./mesher"]]': 'command = ["./solver"',
}


@pytest.mark.parametrize(("old", "new"), BROKEN, ids=[new for _, new in BROKEN])
def test_a_mistake_is_named_with_its_file_line_and_remedy(broken, old, new):
    assert GOOD.count(f"\n{old}\n") == 1
    text = GOOD.replace(f"\n{old}\n", f"\n{new}\n")
    said = broken(text)
    n_above = text[: text.index("\n" + SEEN_AT.get(new, new))].count("\n") + 1
    assert said.startswith(f"case.toml, line {n_above + 1}: "), said
    assert all(part in said for part in ("expected ", "; got ", "; try ")), said
    assert said.split("; try ")[-1].strip() not in ("", "it", "one"), said


@pytest.mark.parametrize("line", NOT_TOML)
def test_what_is_no_toml_is_named_with_its_line(broken, line):
    said = broken(f"# a comment\n{line}\n")
    assert "case.toml" in said
    assert "line 2" in said or "line 3" in said or "end of document" in said, said
    assert all(part in said for part in ("expected a TOML file", "; got ", "; try ")), said
