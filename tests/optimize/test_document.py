"""One document: whoever reads it needs nothing else to go on, and goes on as if nothing had been in between."""

import json
import math
import os
import signal
import subprocess
import sys
from enum import StrEnum
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from surefoot import Categorical, Failed, History, Integer, Optimizer, Real, minimize
from surefoot.errors import FileError, InvalidInputError
from surefoot.optimize.document import VERSION, Document

MIXED = {
    "a": Real(-1.0, 2.0),
    "b": Integer(1, 9),
    "c": Categorical(["u", "v", ("w", 3), None, True, 2.5]),
    "e": Real(1e-3, 1.0, log=True),
    "fixed": (3, 3),
}
SQUARE = [(-1.0, 1.0), (-1.0, 1.0)]


def crashing(x: Any) -> dict[str, float]:
    """Two outputs of four parameters of different kinds; a corner fails."""
    if x["b"] > 6 and x["a"] > 0:
        raise Failed("diverged", outputs={"stress": 1.0}, progress=0.5)
    return {"mass": (x["a"] - 0.4) ** 2 + 0.1 * (x["b"] - 4) ** 2 + (x["c"] == "v"), "stress": float(x["e"])}


def bowl(x: Any) -> float:
    return float((x[0] - 0.3) ** 2 + (x[1] + 0.2) ** 2)


def step(opt: Optimizer, x: Any) -> None:
    """Evaluate and tell, through JSON."""
    x = json.loads(json.dumps(x))
    try:
        opt.tell(x, json.loads(json.dumps(crashing(opt.space.to_user(opt.space.validate(x))))))
    except Failed as failed:
        opt.tell_failure(x, str(failed), outputs=failed.outputs, progress=failed.progress)


def points(opt: Optimizer) -> list[tuple[Any, ...]]:
    return [e.x for e in opt.history.evaluations]


def begun(maximize: bool = False) -> Optimizer:
    return Optimizer(MIXED, n_init=8, seed=3, policy="EI", maximize=maximize, objective="mass")


@pytest.mark.bits
@pytest.mark.parametrize("maximize", [False, True], ids=["minimize", "maximize"])
def test_a_loop_that_is_saved_and_loaded_goes_on_bit_by_bit(maximize: bool, tmp_path: Path) -> None:
    whole, parted = begun(maximize), begun(maximize)
    for k in range(16):
        step(whole, whole.ask())
        step(parted, parted.ask())
        parted.save(tmp_path / "run.json")
        if k % 5 == 4:
            parted = Optimizer.load(tmp_path / "run.json")
    assert points(parted) == points(whole)
    assert repr(parted.history.evaluations) == repr(whole.history.evaluations)
    assert (parted.settings, parted.space, parted.direction) == (whole.settings, whole.space, whole.direction)


@pytest.mark.bits
def test_pending_points_are_saved_and_loaded_bit_by_bit(tmp_path: Path) -> None:
    whole, parted = begun(), begun()
    for opt in (whole, parted):
        for x in opt.ask(10):
            step(opt, x)
    for _ in range(4):
        first, second, third = whole.ask(3)
        for x in (second, third, first):
            step(whole, x)
        parted.ask(3)
        for at in (1, 1, 0):
            parted.save(tmp_path / "run.json")
            parted = Optimizer.load(tmp_path / "run.json")
            step(parted, parted.pending[at])
    assert points(parted) == points(whole)
    np.testing.assert_array_equal(whole.pending, [])


LOOP = """
import json, os, signal, sys
from surefoot import Optimizer

path, until = sys.argv[1], int(sys.argv[2])
opt = Optimizer.load(path) if os.path.exists(path) else Optimizer([(-1, 1), (-1, 1)], n_init=6, seed=2)
while len(opt.history) < 14:
    x = opt.ask()
    if len(opt.history) == until:
        os.kill(os.getpid(), signal.SIGKILL)  # in the middle of an evaluation
    if x[0] > 0.6:
        opt.tell_failure(x, "diverged")
    else:
        opt.tell(x, (x[0] - 0.3) ** 2 + (x[1] + 0.2) ** 2)
    opt.save(path)
"""


@pytest.mark.bits
def test_a_loop_that_is_killed_goes_on_bit_by_bit(tmp_path: Path) -> None:
    def run(name: str, until: int) -> int:
        return subprocess.run([sys.executable, "-c", LOOP, str(tmp_path / name), str(until)]).returncode

    assert run("whole.json", -1) == 0
    assert [run("killed.json", until) for until in (4, 9, 12, -1)] == [-signal.SIGKILL] * 3 + [0]
    killed, whole = (Document.read(tmp_path / name).history for name in ("killed.json", "whole.json"))
    assert len(whole) == 14
    assert [e.x for e in killed.evaluations] == [e.x for e in whole.evaluations]
    assert os.listdir(tmp_path).count("killed.json") == 1
    assert len(os.listdir(tmp_path)) == 2


# --- minimize


@pytest.mark.bits
@pytest.mark.parametrize("maximize", [False, True], ids=["minimize", "maximize"])
def test_minimize_resumes_from_the_file_alone(maximize: bool, tmp_path: Path) -> None:
    settings: dict[str, Any] = {"n_init": 8, "seed": 3, "policy": "EI", "maximize": maximize, "objective": "mass"}
    whole = minimize(crashing, MIXED, n_evals=18, **settings)
    minimize(crashing, MIXED, n_evals=11, **settings).save(tmp_path / "run.json")
    resumed = minimize(crashing, resume=tmp_path / "run.json", n_evals=18)
    assert repr(resumed.x_iters) == repr(whole.x_iters)
    assert (resumed.settings, resumed.objective, resumed.sign) == (whole.settings, "mass", whole.sign)


@pytest.mark.parametrize("parallel", [False, True])
def test_minimize_evaluates_the_pending_points_first(parallel: bool, tmp_path: Path) -> None:
    from concurrent.futures import ThreadPoolExecutor

    opt = Optimizer(SQUARE, n_init=4)
    waiting = opt.ask(3)
    opt.save(tmp_path / "run.json")
    with ThreadPoolExecutor(1) as threads:
        result = minimize(bowl, resume=tmp_path / "run.json", n_evals=4, executor=threads if parallel else None)
    assert [list(x) for x in result.x_iters[:3]] == waiting


def test_what_is_given_again_and_agrees_is_accepted(tmp_path: Path) -> None:
    minimize(bowl, SQUARE, n_evals=4, seed=5, search="paper", warp="auto").save(tmp_path / "run.json")
    result = minimize(
        bowl, SQUARE, n_evals=5, seed=5, search="paper", warp="auto", maximize=False, resume=tmp_path / "run.json"
    )
    assert result.nfev == 5


CONTRADICTIONS: dict[str, tuple[dict[str, Any], str]] = {
    "bounds": ({"bounds": [(-1, 1), (-1, 2)]}, r"x1: Real\(low=-1, high=2"),
    "log": ({"bounds": [(-1, 1), Real(1, 2, log=True)]}, "x1: Real"),
    "names": ({"bounds": {"a": (-1, 1), "b": (-1, 1)}}, "bounds as a dict where it has a list"),
    "seed": ({"seed": 0}, "seed=0 where it says 5"),
    "policy": ({"policy": "alternate"}, "policy='alternate' where it says 'EI'"),
    "n_init": ({"n_init": 7}, "n_init=7 where it says 3"),
    "direction": ({"maximize": True}, "maximize=True where it says minimize"),
    "objective": ({"objective": "mass"}, "objective='mass' where it says 'value'"),
    "two": ({"kernel": "se", "failures": "ep"}, "failures='ep' where it says 'experts', kernel='se' where"),
}


@pytest.mark.parametrize(("given", "said"), CONTRADICTIONS.values(), ids=CONTRADICTIONS)
def test_what_contradicts_the_document_is_named(given: dict[str, Any], said: str, tmp_path: Path, rejects) -> None:
    minimize(bowl, SQUARE, n_evals=4, seed=5, policy="EI").save(tmp_path / "run.json")
    with rejects():
        minimize(bowl, resume=tmp_path / "run.json", n_evals=5, **given)
    with pytest.raises(InvalidInputError, match=said):
        minimize(bowl, resume=tmp_path / "run.json", n_evals=5, **given)


def test_a_run_without_bounds_and_document_is_rejected_with_a_three_part_message(tmp_path: Path, rejects) -> None:
    with rejects():
        minimize(bowl)
    minimize(bowl, SQUARE, n_evals=2).save(tmp_path / "run.json")
    with rejects():
        minimize(bowl, resume=tmp_path / "run.json", history=History())


# --- ask and tell speak JSON


@pytest.mark.parametrize("bounds", [SQUARE, MIXED, list(MIXED.values())], ids=["reals", "dict", "list"])
def test_what_is_asked_can_be_written_and_what_was_read_can_be_told(bounds: Any) -> None:
    opt = Optimizer(bounds, n_init=3)
    for k in range(6):
        x = json.loads(json.dumps(opt.ask()))
        opt.tell(x, json.loads(json.dumps({"mass": 1.0 / (k + 1)})))
    assert opt.pending == []
    json.dumps([opt.ask(2), opt.pending])


# --- the file


def saved(path: Path) -> dict[str, Any]:
    opt = begun()
    for _ in range(12):
        step(opt, opt.ask())
    opt.ask(2)
    opt.save(path)
    found: dict[str, Any] = json.loads(path.read_text(), parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))
    return found


def test_the_document_says_everything_in_strict_json(tmp_path: Path) -> None:
    document = saved(tmp_path / "run.json")
    assert (document["format"], document["version"]) == ("surefoot", VERSION)
    assert (document["direction"], document["objective"], document["outputs"]) == (
        "minimize",
        "mass",
        ["mass", "stress"],
    )
    assert [p["kind"] for p in document["space"]["parameters"]] == ["real", "integer", "categorical", "real", "real"]
    assert (document["settings"]["seed"], document["settings"]["prior"]) == (3, "similar-scales")
    assert (len(document["evaluations"]), len(document["pending"])) == (12, 2)
    failed = next(row for row in document["evaluations"] if row["status"] == "failed")
    assert (failed["outputs"], failed["progress"], failed["fidelity"]) == ({"stress": 1.0}, 0.5, None)


def test_an_optimizer_without_evaluations_is_saved_with_its_objective(tmp_path: Path) -> None:
    Optimizer(SQUARE, objective="mass").save(tmp_path / "run.json")
    opt = Optimizer.load(tmp_path / "run.json")
    assert (opt.objective, len(opt.history)) == ("mass", 0)


def test_a_name_that_was_given_survives_failures_alone(tmp_path: Path) -> None:
    def fun(x: Any) -> dict[str, float]:
        raise ArithmeticError("diverged")

    minimize(fun, SQUARE, n_evals=2, objective="mass").save(tmp_path / "run.json")
    assert minimize(bowl, resume=tmp_path / "run.json", n_evals=3).objective == "mass"


def test_a_name_is_not_invented_for_failures_alone(tmp_path: Path) -> None:
    opt = Optimizer(SQUARE)
    opt.tell_failure(opt.ask())
    opt.save(tmp_path / "run.json")
    again = Optimizer.load(tmp_path / "run.json")
    again.tell(again.ask(), {"mass": 1.0})
    again.history.check()
    assert again.objective == "mass"


FIRST = {
    "format": "surefoot-history-1",
    "direction": "maximize",
    "evaluations": [
        {"x": [0.25, 0.5], "y": 3.0, "status": "ok", "reason": "", "duration_s": 1.5},
        {"x": [0.5, 0.5], "y": math.nan, "status": "failed", "reason": "crashed", "duration_s": math.nan},
    ],
    "warmth": {"objective": None, "failures": None, "failures_by": "", "warp": [], "kernels": []},
}


def test_a_file_of_the_first_version_is_read_wherever_a_path_is_taken(tmp_path: Path) -> None:
    path = tmp_path / "old.json"
    path.write_text(json.dumps(FIRST))
    assert History.load(path).evaluations[0].outputs == {"value": 3.0}
    assert len(Optimizer(SQUARE, history=path, maximize=True).history) == 2
    assert minimize(bowl, SQUARE, n_evals=3, history=path, maximize=True).fun == 3.0
    assert minimize(bowl, SQUARE, n_evals=3, resume=path, maximize=True).fun == 3.0


def test_a_history_alone_is_not_enough_to_go_on(tmp_path: Path, rejects) -> None:
    minimize(bowl, SQUARE, n_evals=3).history.save(tmp_path / "run.json")
    with rejects():
        Optimizer.load(tmp_path / "run.json")
    with rejects():
        minimize(bowl, resume=tmp_path / "run.json")


def test_a_document_is_a_history_where_one_is_asked_for(tmp_path: Path) -> None:
    first = minimize(bowl, SQUARE, n_evals=4)
    first.save(tmp_path / "run.json")
    wider = Optimizer([(-2.0, 2.0)] * 2, seed=9, history=tmp_path / "run.json")
    assert wider.history.y.tolist() == first.func_vals.tolist()


@pytest.mark.parametrize("version", [1, VERSION + 2, "2", None])
def test_another_version_is_refused_and_the_own_one_named(version: object, tmp_path: Path, rejects) -> None:
    document = {**saved(tmp_path / "run.json"), "version": version}
    (tmp_path / "run.json").write_text(json.dumps(document))
    with rejects(FileError):
        Optimizer.load(tmp_path / "run.json")
    with pytest.raises(FileError, match=rf"version {VERSION}, which this surefoot .* writes.*version {version!r}"):
        Optimizer.load(tmp_path / "run.json")


DAMAGE: dict[str, dict[str, Any]] = {
    "no space": {"space": 3},
    "a kind that does not exist": {"space": {"named": True, "parameters": [{"name": "a", "kind": "complex"}]}},
    "bounds the wrong way": {
        "space": {"named": True, "parameters": [{"name": "a", "kind": "real", "low": 2, "high": 1, "log": False}]}
    },
    "settings that do not exist": {"settings": {"speed": 3}},
    "settings out of range": {"settings": {"n_init": -3}},
    "an objective without a name": {"objective": ""},
    "a pending point that is none": {"pending": [3]},
    "a pending point outside": {"pending": [[9.0, 1, "u", 0.1, 3]]},
    "another number of parameters": {"pending": [[0.1]]},
    "no direction": {"direction": "sideways"},
    "evaluations without outputs": {"evaluations": [{"x": [0.1]}]},
    "an ok one without the objective": {
        "evaluations": [
            {"x": [0, 1, "u", 0.1, 3], "outputs": {"stress": 1}, "status": "ok", "reason": "", "duration_s": None,
             "progress": None, "fidelity": None}
        ]
    },
    "warmth of another kind": {"asked_warmth": 3},
}  # fmt: skip


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_a_damaged_document_is_rejected_with_a_three_part_message(damage: dict, tmp_path: Path, rejects) -> None:
    document = {**saved(tmp_path / "run.json"), **damage}
    (tmp_path / "run.json").write_text(json.dumps(document))
    with rejects():
        Optimizer.load(tmp_path / "run.json")


class Scheme(StrEnum):
    UPWIND = "upwind"
    CENTRAL = "central"


@pytest.mark.parametrize("choices", [list(Scheme), [b"a", b"b"], [object, str]], ids=["enum", "bytes", "classes"])
def test_choices_that_json_would_change_are_rejected_with_a_three_part_message(
    choices: list[Any], tmp_path: Path, rejects
) -> None:
    opt = Optimizer([Categorical(choices)], n_init=2)
    with rejects():
        opt.save(tmp_path / "run.json")
    assert list(tmp_path.iterdir()) == []


def test_evaluations_under_settings_that_are_not_known_here_can_be_taken_over(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    minimize(lambda x: x[0], [(0.0, 1.0)], n_evals=3).save(path)
    path.write_text(path.read_text().replace('"policy": "alternate"', '"policy": "mine"'))
    assert len(History.load(path)) == 3
    assert minimize(lambda x: x[0], [(0.0, 1.0)], history=path, n_evals=4).nfev == 4
    with pytest.raises(FileError, match=r"expected settings that this program knows; got .*'mine'.*try registering it"):
        minimize(lambda x: x[0], resume=path, n_evals=4)


@pytest.mark.parametrize("choice", [math.inf, math.nan])
def test_choices_that_are_no_numbers_of_json_are_refused(choice: float, tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="expected choices that JSON can hold"):
        Optimizer({"c": Categorical([choice, 0.0])}).save(tmp_path / "run.json")


def test_results_are_equal_to_themselves_alone() -> None:
    first, second = (minimize(lambda x: x[0], [(0.0, 1.0)], n_evals=3) for _ in range(2))
    assert first == first
    assert first != second
