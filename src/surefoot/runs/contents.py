"""The files that evaluations are made with, and whether they have changed: a mesh, a table, the simulator itself.

Meant are copies and links, functions in Python files, and arguments of commands that are files below the folder of the
problem file. What they import or read beside these is not known.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from surefoot.runs.evaluator import Evaluator

_MOST_BYTES = 2**30  # of a file that is read for its digest; of a larger one its size and time are taken
_DIGITS = 16


def files_of(evaluator: Evaluator, folder: Path) -> dict[str, Path]:
    """Files and folders by their names relative to the folder of the problem file."""
    commands = [argument for step in evaluator.steps for argument in step.command]
    beside = [argument.replace("{here}", str(folder)) for argument in commands]
    found = [Path(path) for path in beside if _is_below(path, folder) and os.path.isfile(path)]
    specs = [evaluator.python, *(source.python for _, source in evaluator.results)]
    found += [folder / spec.split(":")[0] for spec in specs if spec.split(":")[0].endswith(".py")]
    found += map(Path, (*evaluator.deck.copies, *evaluator.deck.links))
    return {os.path.relpath(path, folder): path for path in found}


def _is_below(path: str, folder: Path) -> bool:
    return os.path.isabs(path) and Path(path).is_relative_to(folder) and "\0" not in path


def digests_of(files: Mapping[str, Path]) -> dict[str, str]:
    """What they hold, in short."""
    return {name: _digest(path) for name, path in files.items()}


def stamps_of(files: Mapping[str, Path]) -> dict[str, tuple[tuple[str, int, int], ...]]:
    """Names, sizes and times: whether it is worth while to look at what they hold."""
    return {name: tuple(_stamp(one) for one in _all(path)) for name, path in files.items()}


def _digest(path: Path) -> str:
    whole = hashlib.sha256()
    for one in _all(path):
        name, size, time = _stamp(one)
        whole.update(f"{os.path.relpath(name, path)}\0{size}\0".encode(errors="surrogateescape"))
        try:
            if 0 <= size <= _MOST_BYTES:
                with one.open("rb") as file:
                    whole.update(hashlib.file_digest(file, "sha256").digest())
            else:
                whole.update(str(time).encode())
        except OSError:
            continue
    return whole.hexdigest()[:_DIGITS]


def _all(path: Path) -> Iterator[Path]:
    """The file, or all files in the folder, in an order that does not depend on the disk."""
    if not path.is_dir():
        yield path
        return
    for place, folders, names in os.walk(path):
        folders.sort()
        yield from (Path(place, name) for name in sorted(names))


def _stamp(path: Path) -> tuple[str, int, int]:
    try:
        about = path.stat()
    except OSError:  # it is gone
        return str(path), -1, 0
    return str(path), about.st_size if path.is_file() else -1, about.st_mtime_ns
