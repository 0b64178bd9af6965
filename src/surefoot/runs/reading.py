"""Read the value that a command left: never for ever, whatever it left."""

from __future__ import annotations

import json
import math
import os
import stat
from pathlib import Path
from typing import Any

from surefoot.execute.match import find
from surefoot.runs.evaluator import ValueSource
from surefoot.runs.names import STDOUT
from surefoot.runs.values import as_number

_MOST_BYTES = 64 * 2**20  # of stdout, from its end, and of a JSON file
_MATCH_AT_LEAST_S, _MATCH_AT_MOST_S = 5.0, 30.0  # for a regular expression, whatever time is left
# a pipe is not waited for, children do not inherit it, line ends stay; where a system knows these flags
_AT_ONCE = os.O_RDONLY | sum(getattr(os, name, 0) for name in ("O_NONBLOCK", "O_CLOEXEC", "O_BINARY"))


def tail(path: Path, n_bytes: int) -> str:
    """The end of a file; nothing if it cannot be read."""
    try:
        return read_end(path, n_bytes).decode(errors="replace")
    except OSError:
        return ""


def read_end(path: Path, n_bytes: int) -> bytes:
    """The end of a file. OSError if there is none; a pipe, whose reader would wait for ever, is no file."""
    descriptor = os.open(path, _AT_ONCE)
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError("not a regular file")
        file.seek(max(0, os.fstat(descriptor).st_size - n_bytes))
        return file.read(n_bytes)


def read_value(source: ValueSource, folder: Path, left_s: float) -> float | dict[str, float]:
    """The value of a command that ended well, or its outputs by name, within the time that is left.

    ValueError says why there is none.
    """
    if source.json:
        return _from_json(folder / source.json, source)
    if source.regex:
        return as_number(_last_match(source.regex, folder / STDOUT, match_limit(left_s)))
    lines = [line for line in tail(folder / STDOUT, 2**20).splitlines() if line.strip()]
    if not lines:
        raise ValueError("no value: nothing on stdout")
    return as_number(lines[-1])


def read_partial(source: ValueSource, folder: Path) -> dict[str, float]:
    """The outputs by name that a command left which did not end well."""
    try:
        found = _from_json(folder / source.json, source) if source.json else {}
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def match_limit(left_s: float) -> float:
    """Seconds for a regular expression, given those that are left for the evaluation."""
    return min(max(left_s, _MATCH_AT_LEAST_S), _MATCH_AT_MOST_S)


def searched_from(path: Path) -> int:
    """The byte from which a file is searched, so that its end is; OSError if there is nothing to search."""
    with os.fdopen(os.open(path, _AT_ONCE), "rb") as file:
        about = os.fstat(file.fileno())
        if not stat.S_ISREG(about.st_mode):
            raise OSError("not a regular file")
        return max(0, about.st_size - _MOST_BYTES)


def _last_match(expression: str, path: Path, limit_s: float) -> str:
    try:
        first, size = searched_from(path), path.stat().st_size
    except OSError:
        first, size = 0, 0
    if not size:
        raise ValueError("no value: nothing on stdout")
    try:
        return find(expression, path, first, limit_s)[0][0]
    except ValueError as error:
        raise ValueError(f"no value: {error}") from None


def _from_json(path: Path, source: ValueSource) -> float | dict[str, float]:
    found: Any
    try:
        text = read_end(path, _MOST_BYTES + 1)
        if len(text) > _MOST_BYTES:
            raise OSError(f"more than {_MOST_BYTES >> 20} MiB")
        found = json.loads(text)
        for key in source.key.split(".") if source.key else ():
            found = found[int(key)] if isinstance(found, list) else found[key]
        if isinstance(found, dict):  # beside its numbers it may hold anything
            return {name: _json_number(value) for name, value in found.items() if name and _is_json_number(value)}
        if _is_json_number(found):
            return _json_number(found)
    except (OSError, ValueError, LookupError, TypeError, OverflowError, RecursionError) as error:
        raise ValueError(f"no value: {source.key!r} of {source.json} ({type(error).__name__}: {error})") from None
    raise ValueError(f"no value: {source.key!r} of {source.json} is {found!r:.100}, not a number")


def _is_json_number(value: Any) -> bool:
    return value is None or (isinstance(value, (int, float)) and not isinstance(value, bool))


def _json_number(value: float | None) -> float:
    return math.nan if value is None else float(value)  # null: how many writers of JSON spell NaN
