"""Histories: what is saved is what is loaded."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

from surefoot import Categorical, Evaluation, History, Integer, Optimizer, Real, minimize
from surefoot.errors import InvalidInputError
from surefoot.problems import Problem

MIXED = {
    "a": (0.0, 1.0),
    "b": Real(1e-9, 1e9, log=True),
    "n": Integer(-3, 9),
    "c": Categorical(["u", "ü", 3, 2.5, None, True]),
}


def same(one: History, other: History) -> bool:
    """Equality, with NaN equal to NaN."""
    return repr(one.evaluations) == repr(other.evaluations) and json.dumps(_warmth(one)) == json.dumps(_warmth(other))


def _warmth(history: History) -> list[object]:
    states = (history.warmth.objective, history.warmth.failures)
    return [None if s is None else [s.theta.tolist(), s.inv_hessian.tolist(), s.n_cold] for s in states]


@pytest.fixture(name="run")
def _run() -> History:
    def fun(p: dict) -> float:
        if p["a"] > 0.8:
            raise ArithmeticError('diverged: "über" \\ \n')
        return p["a"] + math.log10(p["b"]) ** 2 + p["n"] / 3

    return minimize(fun, MIXED, n_evals=20, n_init=12).history


def test_a_loaded_history_equals_the_saved_one(run: History, tmp_path: Path) -> None:
    run.save(tmp_path / "run.json")
    assert same(History.load(tmp_path / "run.json"), run)


def test_the_saved_history_has_failures_and_successes(run: History) -> None:
    assert 0 < run.ok.sum() < len(run)


def test_values_survive_bit_by_bit(tmp_path: Path) -> None:
    values = [1 / 3, 1e-300, 5e-324, 1.7976931348623157e308, -0.0, 0.1 + 0.2]
    history = History(tuple(Evaluation((v,), v, duration_s=v) for v in values))
    history.save(tmp_path / "run.json")
    loaded = History.load(tmp_path / "run.json")
    assert [float.hex(v) for v in loaded.y] == [float.hex(v) for v in values]


def test_nan_survives(tmp_path: Path) -> None:
    History((Evaluation((0.5,), math.nan, "failed", "crashed"),)).save(tmp_path / "run.json")
    (evaluation,) = History.load(tmp_path / "run.json").evaluations
    assert math.isnan(evaluation.y)
    assert math.isnan(evaluation.duration_s)


def test_types_survive(tmp_path: Path) -> None:
    x = (0.5, 3, "ü", None, True, 2.0)
    History((Evaluation(x, 1.0),)).save(tmp_path / "run.json")
    (evaluation,) = History.load(tmp_path / "run.json").evaluations
    assert [type(v) for v in evaluation.x] == [type(v) for v in x]


def test_an_empty_history_survives(tmp_path: Path) -> None:
    History().save(tmp_path / "run.json")
    assert len(History.load(tmp_path / "run.json")) == 0


def test_choices_that_are_tuples_can_be_resumed(tmp_path: Path) -> None:
    bounds = [Categorical([(8, 8), (16,), ()])]
    first = minimize(lambda x: float(sum(x[0])), bounds, n_evals=2, n_init=2)
    first.history.save(tmp_path / "run.json")
    again = minimize(lambda x: float(sum(x[0])), bounds, n_evals=3, history=History.load(tmp_path / "run.json"))
    assert {x[0] for x in again.x_iters} == {(8, 8), (16,), ()}


def test_the_path_may_be_a_string(tmp_path: Path) -> None:
    History().save(str(tmp_path / "run.json"))
    assert len(History.load(str(tmp_path / "run.json"))) == 0


def test_the_path_may_be_relative(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    History().save("run.json")
    assert (tmp_path / "run.json").exists()


def test_a_maximization_is_saved_with_the_users_sign(tmp_path: Path) -> None:
    opt = Optimizer([(0, 1)], maximize=True)
    opt.tell(0.5, 7.0)
    opt.history.save(tmp_path / "run.json")
    assert History.load(tmp_path / "run.json").y.tolist() == [7.0]


FOREIGN = {
    "empty": b"",
    "text": b"hello",
    "bytes": b"\xff\xfe\x00\x80",
    "a number": b"3",
    "a list": b"[1, 2]",
    "null": b"null",
    "another object": b"{}",
    "another format": b'{"format": "surefoot-history-99", "evaluations": [], "warmth": {}}',
    "no evaluations": b'{"format": "surefoot-history-1"}',
    "evaluations of another kind": b'{"format": "surefoot-history-1", "evaluations": [1], "warmth": {}}',
    "an evaluation without x": b'{"format": "surefoot-history-1", "evaluations": [{"y": 1}], "warmth": {}}',
    "an evaluation with more": (
        b'{"format": "surefoot-history-1", "evaluations": [{"x": [1], "y": 1, "z": 2}], '
        b'"warmth": {"objective": null, "failures": null}}'
    ),
    "warmth of another kind": b'{"format": "surefoot-history-1", "evaluations": [], "warmth": 3}',
    "warmth without fields": b'{"format": "surefoot-history-1", "evaluations": [], "warmth": {"objective": {}}}',
}


@pytest.mark.parametrize("content", FOREIGN.values(), ids=FOREIGN)
def test_a_foreign_file_is_rejected_with_a_three_part_message(content: bytes, tmp_path: Path, rejects) -> None:
    (tmp_path / "run.json").write_bytes(content)
    with rejects():
        History.load(tmp_path / "run.json")


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9, 0.999])
def test_a_truncated_file_is_rejected_with_a_three_part_message(
    share: float, run: History, tmp_path: Path, rejects
) -> None:
    run.save(tmp_path / "run.json")
    whole = (tmp_path / "run.json").read_bytes()
    (tmp_path / "run.json").write_bytes(whole[: int(share * len(whole))])
    with rejects():
        History.load(tmp_path / "run.json")


def test_a_missing_file_is_an_os_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        History.load(tmp_path / "none.json")


def _unsaveable() -> History:
    return History((*[Evaluation((0.5,), 1.0)] * 1000, Evaluation((object(),), 1.0)))


def test_the_old_file_is_whole_when_saving_fails(tmp_path: Path) -> None:
    History((Evaluation((0.5,), 1.0),)).save(tmp_path / "run.json")
    before = (tmp_path / "run.json").read_bytes()
    with pytest.raises(Exception):  # noqa: B017, PT011 the next test says which
        _unsaveable().save(tmp_path / "run.json")
    assert (tmp_path / "run.json").read_bytes() == before


def test_choices_that_cannot_be_saved_are_rejected_with_a_three_part_message(tmp_path: Path, rejects) -> None:
    with rejects():
        _unsaveable().save(tmp_path / "run.json")


def test_no_stray_file_is_left_when_saving_fails(tmp_path: Path) -> None:
    with pytest.raises(Exception):  # noqa: B017, PT011 the test above says which
        _unsaveable().save(tmp_path / "run.json")
    assert list(tmp_path.iterdir()) == []


def test_no_stray_file_is_left_when_saving_succeeds(run: History, tmp_path: Path) -> None:
    run.save(tmp_path / "run.json")
    run.save(tmp_path / "run.json")
    assert [p.name for p in tmp_path.iterdir()] == ["run.json"]


def test_a_history_is_not_changed_by_appending() -> None:
    history = History()
    history.append(Evaluation((0.5,), 1.0))
    assert len(history) == 0


def test_units_of_an_empty_history_have_the_right_shape() -> None:
    opt = Optimizer([(0, 1), Categorical("abc")])
    assert History().units(opt.space).shape == (0, 4)


def test_every_unit_lies_in_the_cube(branin: Problem) -> None:
    result = minimize(branin, branin.bounds, n_evals=30)
    units = result.history.units(result.space)
    assert (np.clip(units, 0.0, 1.0) == units).all()


@pytest.mark.parametrize("as_file", ["result", "history", None])
def test_values_of_a_history_are_taken_by_the_names_of_their_parameters(as_file, tmp_path):
    def f(x):
        return (x["a"] - 0.1) ** 2 + (x["b"] - 0.9) ** 2

    first = minimize(f, {"a": (0, 1), "b": (0, 1)}, n_evals=8, seed=1)
    given = first.history if as_file is None else tmp_path / "run.json"
    if as_file:
        (first if as_file == "result" else first.history).save(given)
    second = minimize(f, {"b": (0, 1), "a": (0, 1)}, n_evals=9, history=given)
    assert [e.x[::-1] for e in second.history.evaluations[:8]] == [e.x for e in first.history.evaluations]
    assert second.fun == f(second.x)
    assert Optimizer({"b": (0, 1), "a": (0, 1)}, history=given).history.names == ("b", "a")
    with pytest.raises(InvalidInputError, match="history of the parameters u, a; got one of a, b"):
        minimize(f, {"u": (0, 1), "a": (0, 1)}, n_evals=9, history=given)
    by_position = minimize(lambda x: f({"a": x[0], "b": x[1]}), [(0, 1)] * 2, n_evals=9, history=given)
    assert by_position.history.evaluations[0].x == first.history.evaluations[0].x
