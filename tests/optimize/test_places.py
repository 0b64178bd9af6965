"""Where failures of one reason lie, in a few words or not at all."""

import numpy as np
import pytest

from surefoot import Categorical, Evaluation, History, Integer, Real
from surefoot.optimize.places import where
from surefoot.optimize.space import Space

MIXED = Space.of({
    "x": (0.0, 10.0), "y": (0.0, 1.0), "n": Integer(0, 9), "c": Categorical("abc"), "k": Real(1e-3, 1e3, log=True),
})  # fmt: skip


def spread(space: Space, n: int = 200) -> History:
    units = space.from_uniform(np.random.default_rng(0).random((n, space.d)))
    return History(tuple(Evaluation(space.decode(unit), 1.0) for unit in units))


def told(space: Space, history: History, rule) -> str:
    points = [dict(zip(space.names, e.x, strict=True)) for e in history.evaluations]
    return where(space, history, [i for i, point in enumerate(points) if rule(point)])


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        (lambda v: v["x"] > 8, "x > 8"),
        (lambda v: 2 < v["x"] < 3, "2 < x < 3"),
        (lambda v: v["n"] <= 2, "n <= 2"),
        (lambda v: v["n"] == 4, "n = 4"),
        (lambda v: v["c"] == "b", "c = 'b'"),
        (lambda v: v["n"] >= 6 and v["c"] == "a", "c = 'a', n >= 6"),
    ],
)
def test_a_region_apart_is_told(rule, text: str) -> None:
    assert told(MIXED, spread(MIXED), rule) == text


def test_a_region_of_a_log_parameter_is_told_in_its_units() -> None:
    name, sign, edge = told(MIXED, spread(MIXED), lambda v: v["k"] > 50).split()
    assert (name, sign) == ("k", ">")
    assert float(edge) == pytest.approx(50, rel=0.1)


def test_parameters_that_can_be_compared_are() -> None:
    space = Space.of(dict.fromkeys("abcde", (0.0, 1.0)))
    assert told(space, spread(space, 60), lambda v: v["a"] <= v["b"]) == "a < b"


@pytest.mark.parametrize(
    "rule",
    [
        lambda v: True,
        lambda v: False,
        lambda v: v["x"] < 9,  # nearly everywhere
        lambda v: v["y"] * 7919 % 1 < 0.1,  # here and there
        lambda v: v["x"] > 9.9,  # too few
    ],
)
def test_what_is_not_clear_is_not_told(rule) -> None:
    assert told(MIXED, spread(MIXED), rule) == ""


def test_an_optimizer_that_crowds_elsewhere_makes_no_region() -> None:
    space = Space.of({"a": (0.0, 1.0), "t": (0.0, 1.0)})
    crowd = tuple(Evaluation((0.5, 0.0), 1.0) for _ in range(100))
    history = History((*spread(space, 60).evaluations, *crowd))
    assert where(space, history, list(range(0, 60, 3))) == ""


def test_chance_rarely_makes_a_region() -> None:
    history, rng = spread(MIXED), np.random.default_rng(1)
    picks = [rng.choice(200, size=int(rng.integers(3, 40)), replace=False).tolist() for _ in range(300)]
    assert sum(where(MIXED, history, chosen) != "" for chosen in picks) <= 9


def test_points_that_all_coincide_make_no_error() -> None:
    history = History(tuple(Evaluation((0.5,), 1.0) for _ in range(9)))
    assert where(Space.of([(0.0, 1.0)]), history, [0, 1, 2, 3]) == ""


def test_a_fixed_parameter_is_not_named() -> None:
    space = Space.of({"x": (0.0, 1.0), "fixed": (2.0, 2.0), "one": Categorical(["a"])})
    assert told(space, spread(space), lambda v: v["x"] > 0.7) == "x > 0.7"
