"""Files of histories: how they are written, and which are refused."""

import json
import math
import os
import stat
import threading
from pathlib import Path
from typing import Any

import pytest

from surefoot import Evaluation, History, Optimizer, minimize
from surefoot.errors import FileError, InvalidInputError

ONE = History((Evaluation((0.5,), 1.0),))


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


# --- writing


def test_a_new_file_has_the_mode_that_the_umask_leaves(tmp_path: Path) -> None:
    (tmp_path / "other").write_text("")
    ONE.save(tmp_path / "h.json")
    assert mode_of(tmp_path / "h.json") == mode_of(tmp_path / "other")


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664, 0o444])
def test_an_existing_file_keeps_its_mode(mode: int, tmp_path: Path) -> None:
    ONE.save(tmp_path / "h.json")
    (tmp_path / "h.json").chmod(mode)
    ONE.save(tmp_path / "h.json")
    assert mode_of(tmp_path / "h.json") == mode


def test_a_symbolic_link_stays_and_its_file_is_written(tmp_path: Path) -> None:
    (tmp_path / "far").mkdir()
    (tmp_path / "h.json").symlink_to(Path("far") / "real.json")
    for _ in range(2):  # the file does not exist the first time
        ONE.save(tmp_path / "h.json")
        assert (tmp_path / "h.json").is_symlink()
        assert len(History.load(tmp_path / "far" / "real.json")) == 1


@pytest.mark.parametrize("name", [".", "none/h.json", "x" * 300, "a\0b"], ids=["folder", "nowhere", "overlong", "NUL"])
def test_a_file_that_cannot_be_written_is_said_and_leaves_nothing(name: str, tmp_path: Path, rejects: Any) -> None:
    with rejects(FileError):
        ONE.save(str(tmp_path) + "/" + name)
    assert list(tmp_path.rglob("*")) == []


def test_a_name_as_long_as_can_be_is_written(tmp_path: Path) -> None:
    ONE.save(tmp_path / ("x" * 255))
    assert len(History.load(tmp_path / ("x" * 255))) == 1


def test_an_interrupt_while_writing_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(descriptor: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupted)
    with pytest.raises(KeyboardInterrupt):
        ONE.save(tmp_path / "h.json")
    assert list(tmp_path.iterdir()) == []


def test_threads_that_save_to_one_file_leave_a_whole_one(tmp_path: Path) -> None:
    history = minimize(lambda x: x[0], [(0, 1)], n_evals=5).history
    threads = [threading.Thread(target=history.save, args=(tmp_path / "h.json",)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(History.load(tmp_path / "h.json")) == 5
    assert [p.name for p in tmp_path.iterdir()] == ["h.json"]


def test_a_pipe_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append((tmp_path / "pipe").read_text()))
    reader.start()
    ONE.save(tmp_path / "pipe")
    reader.join()
    assert json.loads(read[0])["format"] == "surefoot"
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)


# --- reading


def document() -> dict[str, Any]:
    state = {"theta": [[0.0, 0.0]], "inv_hessian": [[[1.0, 0.0], [0.0, 1.0]]], "n_cold": 3}
    return {
        "format": "surefoot-history-1",
        "direction": "minimize",
        "evaluations": [
            {"x": [0.5], "y": 1.0, "status": "ok", "reason": "", "duration_s": math.nan},
            {"x": [0.6], "y": math.nan, "status": "failed", "reason": "no mesh", "duration_s": 1.5},
        ],
        "warmth": {"objective": state, "failures": None, "failures_by": "ep", "warp": [0], "kernels": ["se"]},
    }


def changed(*path: Any, to: Any) -> dict[str, Any]:
    whole = document()
    node: Any = whole
    for key in path[:-1]:
        node = node[key]
    node[path[-1]] = to
    return whole


INCONSISTENT = {
    "NaN marked ok": changed("evaluations", 0, "y", to=math.nan),
    "an infinity marked ok": changed("evaluations", 0, "y", to=math.inf),
    "failed with an infinity": changed("evaluations", 1, "y", to=-math.inf),
    "failed with a value": changed("evaluations", 1, "y", to=2.0),
    "a value that is text": changed("evaluations", 0, "y", to="1.0"),
    "a value that is true": changed("evaluations", 0, "y", to=True),
    "a value that is missing": changed("evaluations", 0, "y", to=None),
    "a value beyond float": changed("evaluations", 0, "y", to=10**400),
    "a status of another kind": changed("evaluations", 0, "status", to="fine"),
    "a status that is a list": changed("evaluations", 0, "status", to=[]),
    "a reason that is a number": changed("evaluations", 1, "reason", to=3),
    "a negative duration": changed("evaluations", 1, "duration_s", to=-1.0),
    "a point that is a number": changed("evaluations", 0, "x", to=0.5),
    "a point that is text": changed("evaluations", 0, "x", to="5"),
    "points of unequal lengths": changed("evaluations", 0, "x", to=[0.5, 0.5]),
    "evaluations in a dict": changed("evaluations", to={"a": 1}),
    "another direction": changed("direction", to="sideways"),
    "a direction that is a list": changed("direction", to=["minimize"]),
    "hyperparameters of no shape": changed("warmth", "objective", "theta", to=3.0),
    "hyperparameters of unequal shapes": changed("warmth", "objective", "inv_hessian", to=[[1.0]]),
    "hyperparameters of text": changed("warmth", "objective", "theta", to=[["a", "b"]]),
    "a count that is none": changed("warmth", "objective", "n_cold", to=1.5),
    "warps of another number of runs": changed("warmth", "warp", to=[0, 1]),
    "a warp that there is not": changed("warmth", "warp", to=[2**70]),
    "a warp that is text": changed("warmth", "warp", to=["a"]),
    "a kernel that is a number": changed("warmth", "kernels", to=[3]),
}


def test_the_document_is_accepted_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "h.json").write_text(json.dumps(document()))
    assert Optimizer([(0, 1)], history=tmp_path / "h.json").best is not None


@pytest.mark.parametrize("broken", INCONSISTENT.values(), ids=INCONSISTENT)
def test_an_inconsistent_file_is_refused(broken: dict, tmp_path: Path, rejects: Any) -> None:
    (tmp_path / "h.json").write_text(json.dumps(broken))
    with rejects():
        History.load(tmp_path / "h.json")


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(document()).replace('"y": 1.0', '"y": 1.0, "y": 2.0'),
        json.dumps(document()).replace('"format"', '"direction": "minimize", "format"'),
        "[" * 100_000,
        '{"format": ' * 50_000,
        "1" * 10_000,
    ],
    ids=["value twice", "direction twice", "deep list", "deep dict", "long number"],
)
def test_a_text_that_means_nothing_is_refused(text: str, tmp_path: Path, rejects: Any) -> None:
    (tmp_path / "h.json").write_text(text)
    with rejects():
        History.load(tmp_path / "h.json")


def test_a_history_made_by_hand_is_checked_too() -> None:
    with pytest.raises(InvalidInputError, match="evaluation 0 of a history, where it is marked ok"):
        Optimizer([(0, 1)], history=History((Evaluation((0.5,), math.nan),)))


def test_a_reason_with_lone_surrogates_can_be_written_everywhere(tmp_path: Path) -> None:
    opt = Optimizer([(0, 1)])
    opt.tell_failure(0.5, "bad \ud800 text")
    opt.history.save(tmp_path / "h.json")
    (evaluation,) = History.load(tmp_path / "h.json").evaluations
    assert evaluation.reason.encode("utf-8") == b"bad \\ud800 text"
