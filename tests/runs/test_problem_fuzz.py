"""Problem files with anything anywhere: understood, or refused in three parts; and what is understood can be run."""

import copy
import random
import warnings

import pytest

from surefoot.engine.suggest import initial_design
from surefoot.errors import InvalidInputError
from surefoot.integrations.optuna_space import engine_space, from_engine
from surefoot.runs.evaluation import evaluate_trial
from surefoot.runs.problem import problem_from, read_problem


def nested(n: int, inside):
    for _ in range(n):
        inside = [inside]
    return inside


# fmt: off
TEXTS = [
    "", "\0", "a\0b", "x" * 300, "x" * 200_000, "é" * 200, "a\rb", "a\nb", "\u200b", "\U0001f600", "a", "../..",
    "/", ".", "~", " ", "{", "}", "{}", "{0}", "{a", "{a!r}", "{a.b}", "{a[0]}", "{a:{b}}", "{a:>999999999}", "{a:d}",
    "{a:s}", "{b:c}", "{c:d}", "%s", "(", "(a)(b)", "[", "(?P<x>", "a{99999999999}", "a:b", "a.py:b", ":", "a:",
    "os:path", "minimize", "categorical", "integer", "real", "EI", "se", "SIGKILL",
]
NUMBERS = [
    0, 1, -1, 2, 3.5, -0.0, 1e-320, 1e308, -1e308, float("inf"), float("-inf"), float("nan"), 10**18, 2**63 - 1, 2**63,
    10**308, 10**309, -(10**400), True, False,
]
LISTS = [
    [], [[]], [1], [1, 2], ["a", "b"], ["a", "a"], [1, True], [0.1, float("nan")], ["a\0", "b"], [{}], [10**400, 1],
    list(range(500)), nested(300, 1), nested(20_000, 1),
]
TABLES = [
    {}, {"a": 1}, {"": ""}, {"\0": "a"}, {"A=B": "c"}, {"A": "b\0"}, {"regex": "x"}, {"regex": "(" * 200 + ")" * 200},
    {"json": "a\0", "key": "k"}, {"json": "/dev/zero", "key": "k"}, {"low": 1, "high": 1}, {"low": 0, "high": 1},
]
PIECES = [
    b"\0", b"\xff", b"\xed\xb2\x80", b"[", b"[[", b"]", b"{", b"}", b"=", b".", b'"', b"'''", b"\n", b"\r", b"#",
    b"a." * 3000, b"[" * 5000, b"{a=" * 3000, b"9" * 5000, b"1e999", b"nan", b"-inf", b"0x", b"1979-05-27",
]
# fmt: on
ANYTHING = [None, *TEXTS, *NUMBERS, *LISTS, *TABLES]
FILE = b"""
n_evals = 3
[parameters]
a = {low = 0.0, high = 1.0}
[objective]
command = ["true", "{a}"]
timeout_s = 3
"""
GOOD = {
    **{"name": "p", "n_evals": 5, "direction": "minimize", "seed": 0, "policy": "EI", "kernel": "se", "noise": 0.0},
    **{"search": "gradient", "failures": "ep", "n_init": 3, "kappa": 2.0, "min_success": 0.5, "warp": "none"},
    **{"max_failures": 5, "heartbeat_s": 10},
    "parameters": {
        "a": {"low": 0.0, "high": 1.0},
        "b": {"low": 1, "high": 9, "kind": "integer", "step": 2},
        "c": {"choices": ["u", "v"]},
        "d": {"low": 0.1, "high": 5.0, "log": True},
    },
    "objective": {
        **{"command": ["true", "{a}", "{b}", "{c}", "{d}"], "timeout_s": 30, "memory_limit_mb": 4000, "n_retries": 0},
        **{"retry_on": [75, "SIGKILL"], "value": {"json": "o.json", "key": "a.b"}, "environment": {"A": "b"}},
    },
}


def places(table, before=()):
    for key in table if isinstance(table, dict) else range(len(table)):
        yield (*before, key)
        if isinstance(table[key], (dict, list)) and len(before) < 4:
            yield from places(table[key], (*before, key))


def spoilt(rng: random.Random) -> dict:
    table = copy.deepcopy(GOOD)
    for key in list(table):
        if key not in ("parameters", "objective") and rng.random() < 0.7:
            del table[key]
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        *way, last = rng.choice(list(places(table)))
        at = table
        for key in way:
            at = at[key]
        what = rng.random()
        if what < 0.1 and isinstance(at, dict):
            del at[last]
        elif what < 0.2 and isinstance(at, dict):
            at[rng.choice(TEXTS)] = at.pop(last)
        else:
            at[last] = copy.copy(rng.choice(ANYTHING))
    return table


def refused(error: InvalidInputError) -> None:
    message = str(error)
    message.encode()
    assert all(part in message for part in ("expected", "got", "try")), message[:1000]


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 10))])
def test_anything_in_a_problem_is_understood_or_refused(tmp_path, seed):
    n_understood = 0
    for i in range(400):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Optuna's, of steps that do not divide the range
            try:
                problem = problem_from(spoilt(random.Random(f"{seed} {i}")), tmp_path)
                space = engine_space(problem.parameters)
                point = space.decode(initial_design(space, problem.settings.spec, 0)[0])
            except InvalidInputError as error:
                refused(error)
                continue
        n_understood += 1
        if problem.evaluator.command:
            x = {name: from_engine(d, v) for (name, d), v in zip(problem.parameters.items(), point, strict=True)}
            try:
                assert evaluate_trial(problem, i, x).evaluation.status == "failed"  # it leaves no file with a value
            except InvalidInputError as error:  # a program whose name is a placeholder
                refused(error)
    assert n_understood > 10


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 10))])
def test_any_bytes_in_a_problem_file_are_understood_or_refused(tmp_path, seed):
    path = tmp_path / "problem.toml"
    for i in range(300):
        rng = random.Random(f"{seed} {i}")
        text = bytearray(FILE)
        for _ in range(rng.choice([1, 2, 5])):
            at = rng.randrange(len(text))
            text[at : at + rng.choice([0, 1, 5])] = rng.choice([*PIECES, bytes([rng.randrange(256)])])
        path.write_bytes(bytes(text))
        try:
            read_problem(path)
        except InvalidInputError as error:
            refused(error)
