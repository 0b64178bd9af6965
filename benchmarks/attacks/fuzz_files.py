"""Damaged history files and malformed problem files."""

from __future__ import annotations

import copy
import json
import math
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.attacks.fuzz_api import Wrong
from benchmarks.attacks.fuzz_values import shown
from benchmarks.attacks.programs import as_toml

_ODD: list[Any] = [
    None, True, False, 0, -1, 1, 2**70, 10**320, 0.5, -0.0, 1e308, math.nan, math.inf, -math.inf, "", "x", "nan", "ok",
    "failed", "\ud800", "a\0b", "../x", "x" * 5000, [], {}, [[]], [0.5], [0.5, 0.5], ["a", "b"], [[0.5, 0.5]], {"a": 1},
    [None], [1, "a"], "{a}", "{b:d}", "{", "{here}/x", "sqlite:///x",
]  # fmt: skip


# --- histories


def try_history(rng: random.Random, folder: Path, say: Callable[[str], None]) -> None:
    """Load a damaged history; what is accepted has to be sound, and the run goes on from it."""
    from surefoot import History, Optimizer

    path = folder / "history.json"
    if not path.exists():
        _write_history(path)
    text = path.read_text()
    damaged, how = _damage_text(rng, text) if rng.random() < 0.4 else _damage_document(rng, json.loads(text))
    target = folder / "damaged.json"
    target.write_bytes(damaged)
    say(f"History.load of a history in which {how}")
    history = History.load(target)
    for e in history.evaluations:
        number = isinstance(e.y, (int, float)) and not isinstance(e.y, bool) and math.isfinite(e.y)
        if e.status not in ("ok", "failed", "transient") or e.ok != number:
            raise Wrong("raw", f"accepted as sound: y = {shown(e.y)} with status {shown(e.status)}")
    optimizer = Optimizer([(0, 1), (0, 1)], history=history, n_init=6)
    if len(optimizer.history) != len(history):
        raise Wrong("lost", "evaluations of an accepted history")
    optimizer.ask()
    optimizer.result().table()


def _write_history(path: Path) -> None:
    from surefoot import minimize

    minimize(lambda x: x[0] if x[0] < 0.8 else math.nan, [(0, 1), (0, 1)], n_evals=9, n_init=6).history.save(path)


def _damage_text(rng: random.Random, text: str) -> tuple[bytes, str]:
    data = bytearray(text.encode("utf-8", "surrogatepass"))
    kind = rng.choice(
        ["a byte is changed", "it ends too early", "a piece is missing", "a piece is there twice", "noise"]
    )
    at = rng.randrange(max(1, len(data)))
    to = min(len(data), at + rng.randint(1, 40))
    if kind == "a byte is changed" and data:
        data[at] = rng.randrange(256)
    elif kind == "it ends too early":
        del data[at:]
    elif kind == "a piece is missing":
        del data[at:to]
    elif kind == "a piece is there twice":
        data[at:at] = data[at:to]
    else:
        data[at:at] = bytes(rng.randrange(256) for _ in range(rng.randint(1, 20)))
    return bytes(data), f"{kind} (at {at})"


def _damage_document(rng: random.Random, document: Any) -> tuple[bytes, str]:
    document, how = copy.deepcopy(document), []
    for _ in range(rng.randint(1, 2)):
        parent, key, path = _somewhere(rng, document)
        odd = copy.deepcopy(rng.choice(_ODD))
        if rng.random() < 0.2:
            del parent[key]
            how.append(f"{path} is missing")
        else:
            parent[key] = odd
            how.append(f"{path} is {shown(odd)}")
    return json.dumps(document).encode(), " and ".join(how)


def _somewhere(rng: random.Random, document: Any) -> tuple[Any, Any, str]:
    """A place in nested lists and dicts: what holds it, its key, its path."""
    parent, key, path = {"document": document}, "document", ""
    while isinstance(parent[key], (dict, list)) and parent[key] and (parent[key] is document or rng.random() < 0.8):
        parent = parent[key]
        key = rng.choice(list(parent)) if isinstance(parent, dict) else rng.randrange(len(parent))
        path += f"/{key}"
    return parent, key, path


# --- problem files

_PROBLEMS: list[dict[str, Any]] = [
    {
        "name": "p", "n_evals": 20, "direction": "minimize", "seed": 0, "n_init": 4, "max_failures": 5,
        "heartbeat_s": 10, "policy": "EI", "noise": 0.0, "kernel": "se",
        "parameters": {"a": {"low": 0.0, "high": 1.0, "log": False}, "b": {"low": 1, "high": 9, "kind": "integer",
                       "step": 2}, "c": {"choices": ["x", "y"]}},
        "objective": {"command": ["/bin/echo", "{a:.3e}", "{b}", "{c}", "{here}"], "timeout_s": 5, "n_retries": 1,
                      "memory_limit_mb": 100, "retry_on": [75, "SIGKILL"], "environment": {"A": "1"},
                      "value": {"json": "out.json", "key": "loss.0"}},
    },
    {
        "parameters": {"a": {"low": 1e-3, "high": 1.0, "log": True}},
        "objective": {"command": ["/bin/echo"], "value": {"regex": "x = (.*)"}},
    },
    {"parameters": {"a": {"low": 0.0, "high": 1.0}}, "objective": {"python": "f.py:g"}},
]  # fmt: skip


def try_problem(rng: random.Random, folder: Path, say: Callable[[str], None]) -> None:
    """Read a malformed problem file; what is accepted can be checked without evaluating anything."""
    from surefoot.runs.dry_run import check
    from surefoot.runs.problem import read_problem

    (folder / "f.py").write_text("def g(x):\n    return 0.0\n")
    document = copy.deepcopy(rng.choice(_PROBLEMS))
    if rng.random() < 0.5:
        data, how = _damage_text(rng, _lines(document))
    else:
        how = ""
        for _ in range(rng.randint(1, 3)):
            parent, key, path = _somewhere(rng, document)
            odd = copy.deepcopy(rng.choice(_ODD))
            if odd is None or rng.random() < 0.15:
                del parent[key]
            else:
                parent[key] = odd
            how += f" {path} is {'missing' if odd is None else shown(odd)}"
        data = _lines(document).encode("utf-8", "surrogatepass") if isinstance(document, dict) else b""
    target = folder / rng.choice(["p.toml", "p.toml", "x y.toml", ".toml"])
    target.write_bytes(data)
    say(f"a problem file in which {how}: {shown(data)}")
    problem = read_problem(target)
    if problem.evaluator.command:  # a Python objective would be imported into this process
        list(check(problem, str(folder / "none.db")))


def _lines(document: dict[str, Any]) -> str:
    return "\n".join(f"{json.dumps(str(key))} = {as_toml(value)}" for key, value in document.items()) + "\n"
