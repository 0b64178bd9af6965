"""Results that could not be stored: kept in a file beside the evaluations, and stored by the next run."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Mapping
from contextlib import closing, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, cast

from optuna.storages import RDBStorage

from surefoot.runs.problem import Problem

_PATTERN = "unsaved-*.jsonl"


@dataclass(frozen=True)
class Unsaved:
    """A result, as it would have been stored."""

    storage: str  # of which study it is
    number: int
    point: Mapping[str, Any]
    value: float | None  # None: failed
    attributes: Mapping[str, Any]


def keep(problem: Problem, results: list[Unsaved]) -> Path:
    """Write them beside the evaluations."""
    folder = problem.evaluations_folder
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"unsaved-{os.getpid()}.jsonl"
    with path.open("a", encoding="utf-8") as file:
        for result in results:
            file.write(json.dumps(asdict(result)) + "\n")
        file.flush()
        os.fsync(file.fileno())
    return path


def kept(problem: Problem, storage: str) -> list[tuple[Path, list[Unsaved]]]:
    """The files of earlier runs on this storage, and what they hold; lines that cannot be read are left out."""
    found = []
    for path in sorted(problem.evaluations_folder.glob(_PATTERN)):
        results = []
        for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
            try:
                results.append(Unsaved(**json.loads(line)))
            except (ValueError, TypeError):
                continue
        if results and all(result.storage == storage for result in results):
            found.append((path, results))
    return found


def done(path: Path) -> None:
    """What the file holds is stored now."""
    with suppress(FileNotFoundError):  # another run has just done the same
        path.rename(path.with_suffix(".stored"))


def copy_database(storage: RDBStorage, path: Path) -> Path | None:
    """A copy of a SQLite database that was deleted, from a connection that is open still; None if there is none."""
    for k in range(1000):
        target = path.with_name(f"{path.stem}.rescued{f'-{k}' if k else ''}{path.suffix}")
        if not target.exists():
            break
    try:
        with closing(storage.engine.raw_connection()) as source, closing(sqlite3.connect(target)) as copy:
            cast(sqlite3.Connection, source.driver_connection).backup(copy)
    except Exception:  # no open connection is left, or no folder to write to
        target.unlink(missing_ok=True)
        return None
    return target
