"""What results print fits a terminal of 80 columns, and nothing of it is cut off."""

import math

import numpy as np
import pytest

from surefoot import Failed, Result, minimize
from surefoot.optimize.fitted import warp_name
from surefoot.optimize.printed import entries, two_columns

MANY = {f"parameter_{i}": (0.0, 1.0) for i in range(30)}


@pytest.fixture(scope="module")
def result() -> Result:
    return minimize(lambda x: math.nan if x["parameter_0"] > 0.4 else sum(x.values()), MANY, n_evals=8, seed=1)


def test_no_line_is_longer_than_80_columns(result: Result) -> None:
    for text in (repr(result), repr(result.robust(within="1 %"))):
        assert max(map(len, text.splitlines())) <= 80


def test_every_parameter_of_the_best_point_is_printed(result: Result) -> None:
    assert all(f"'{name}': {value}" in repr(result) for name, value in result.x.items())


def test_a_point_that_was_printed_can_be_pasted(result: Result) -> None:
    assert eval(entries(result.x), {}) == result.x


@pytest.mark.parametrize("x", [{}, {"a": 1.0}, {"a": 1.0, "b": "two words"}, {"a" * 90: 1.0}, None])
def test_what_fits_into_a_line_is_as_python_writes_it(x: object) -> None:
    assert entries(x) == repr(x)


def test_arrays_end_their_lines_in_time() -> None:
    text = two_columns({"x": entries(np.linspace(0.0, 1.0, 40))})
    assert max(map(len, text.splitlines())) <= 80


def test_a_long_sentence_goes_on_below() -> None:
    lines = two_columns({"note": "word " * 30 + "\nanother one"}).splitlines()
    assert lines[1].startswith(" " * 15 + "word")
    assert lines[-1] == " " * 13 + "another one"


def test_a_model_is_printed_in_a_line(result: Result) -> None:
    assert repr(result.model) == "<model of the value, failures over 30 parameters>"


def test_a_printed_result_tells_why_evaluations_failed_most_often() -> None:
    reasons = iter(["mesh collapsed", "stress 3e7 > 2e7", "stress 4e7 > 2e7"])

    def simulate(x):
        for reason in reasons:
            raise Failed(reason)
        return x[0]

    text = " ".join(repr(minimize(simulate, [(0, 1)], n_evals=5)).split())
    assert "n_failures: 3: stress … > 2e7 (2); mesh collapsed (1) " in text


def beam(x) -> dict:
    return {"mass": float(x[0]), "stress": float(x[0])}


@pytest.mark.parametrize(
    ("limit", "said"),
    [
        ("<= 0.35", "2 of 4 evaluations were outside limits on outputs"),
        ("<= 0.5", "1 of 4 evaluations was outside limits on outputs"),
    ],
)
def test_a_printed_result_tells_how_many_evaluations_were_outside_limits(limit: str, said: str) -> None:
    x0 = [[0.1], [0.3], [0.4], [0.9]]
    result = minimize(beam, [(0.0, 1.0)], n_evals=4, x0=x0, objective="mass", outputs={"stress": limit})
    assert said in repr(result)


@pytest.mark.parametrize("limit", ["<= 2", ">= 2"])
def test_where_all_evaluations_or_none_are_within_limits_they_are_not_counted(limit: str) -> None:
    result = minimize(beam, [(0.0, 1.0)], n_evals=4, objective="mass", outputs={"stress": limit})
    assert "of 4 evaluations" not in repr(result)


@pytest.mark.parametrize(
    ("level", "said"),
    [
        (np.inf, "none"),
        (1.0, "from 1 standard deviation above the best value on"),
        (-0.1, "from 0.1 standard deviations below the worst value on"),
    ],
)
def test_how_values_are_compressed_is_told_in_words(level: float, said: str) -> None:
    assert warp_name(level) == said
