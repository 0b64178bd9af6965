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
from surefoot.runs.names import NO_VALUE, STDOUT
from surefoot.runs.values import as_number

_MOST_BYTES = 64 * 2**20  # of stdout, from its end, and of a JSON file
_MOST_QUOTED = 80  # characters of the beginning of a file
_MATCH_AT_LEAST_S, _MATCH_AT_MOST_S = 5.0, 30.0  # for a regular expression, whatever time is left
NOT_WRITTEN = "was not written"
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
        raise ValueError(f"{NO_VALUE}nothing on stdout")
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
        raise ValueError(f"{NO_VALUE}nothing on stdout")
    try:
        return find(expression, path, first, limit_s)[0][0]
    except ValueError as error:
        raise ValueError(f"{NO_VALUE}{error}") from None


def _from_json(path: Path, source: ValueSource) -> float | dict[str, float]:
    try:
        found = followed(_parsed(path, source.json), source.key, source.json)
        if isinstance(found, dict):  # beside its numbers it may hold anything
            return {name: _json_number(value) for name, value in found.items() if name and _is_json_number(value)}
        if _is_json_number(found):
            return _json_number(found)
    except OSError as error:
        raise ValueError(f"{NO_VALUE}{not_read(source.json, error)}") from None
    except UnreadableError as error:
        raise ValueError(f"{NO_VALUE}{error}") from None
    except (ValueError, OverflowError, RecursionError) as error:  # numbers or depths beyond all measure
        raise ValueError(f"{NO_VALUE}{source.key!r} of {source.json} ({type(error).__name__}: {error})") from None
    raise ValueError(f"{NO_VALUE}{source.key!r} of {source.json} is {found!r:.100}, not a number")


def _parsed(path: Path, name: str) -> Any:
    text = read_end(path, _MOST_BYTES + 1)
    if len(text) > _MOST_BYTES:
        raise OSError(f"more than {_MOST_BYTES >> 20} MiB")
    try:
        return json.loads(text)
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise UnreadableError(no_format(name, "json", text, error)) from None


class UnreadableError(ValueError):
    """The file is not of its format, or has no such key; the text says so."""


def followed(found: Any, key: str, name: str) -> Any:
    """What is at a key like fits.0.loss of what the file `name` holds; the whole without a key."""
    for part in key.split(".") if key else ():
        try:
            found = found[int(part)] if isinstance(found, list) else found[part]
        except (LookupError, TypeError, ValueError):
            raise UnreadableError(f"{name} has no {key!r}: no {part!r} in {in_short(found)}") from None
    return found


def in_short(value: Any) -> str:
    """A value from a file, of a table its keys."""
    return f"{', '.join(map(str, value))!r:.100}" if isinstance(value, dict) else f"{value!r:.100}"


def not_read(name: str, error: OSError) -> str:
    """Why a file that a program should have written was not read, without the path of this evaluation."""
    if isinstance(error, FileNotFoundError):
        return f"{name} {NOT_WRITTEN}"
    return f"{name} could not be read: {error.strerror or error}"


def no_format(name: str, kind: str, raw: bytes, error: Exception) -> str:
    """What is wrong with a file that is no JSON, say, and how it begins."""
    begins = raw[: 8 * _MOST_QUOTED].decode(errors="replace").strip()
    if not begins:
        return f"{name} is no {kind.upper()}: it is empty"
    told = " ".join(str(error).split())[:160]
    quoted = begins if len(begins) <= _MOST_QUOTED else begins[:_MOST_QUOTED] + "…"
    return f"{name} is no {kind.upper()} ({told}); it begins with {quoted!r}"


def _is_json_number(value: Any) -> bool:
    return value is None or (isinstance(value, (int, float)) and not isinstance(value, bool))


def _json_number(value: float | None) -> float:
    return math.nan if value is None else float(value)  # null: how many writers of JSON spell NaN
