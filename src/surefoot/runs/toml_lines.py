"""Where a key stands in a TOML file: Python's reader does not say.

Only headers and keys at the beginning of a line are looked for. What stands within a value (an inline table, a list of
several lines) is found at the line where that value begins.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Sequence

_HEADER = re.compile(r"\s*\[(\[?)\s*(.+?)\s*\]\1?\s*(#.*)?$")
_KEY = re.compile(r"""\s*((?:[\w-]+|"[^"\n]*"|'[^'\n]*')(?:\s*\.\s*(?:[\w-]+|"[^"\n]*"|'[^'\n]*'))*)\s*=""")
_LONG = ('"""', "'''")
Place = tuple[str, ...]


def line_of(text: str, place: Sequence[str]) -> int | None:
    """The line, from 1 on, of a key by the names that lead to it, or of the nearest of them that is found."""
    lines = dict(_places(text))
    for n in range(len(place), 0, -1):
        if tuple(place[:n]) in lines:
            return lines[tuple(place[:n])]
    return None


def _places(text: str) -> Iterator[tuple[Place, int]]:
    table: Place = ()
    inside = ""  # of a text of several lines: how it ends
    for number, line in enumerate(text.splitlines(), 1):
        if inside:
            inside = "" if inside in line else inside
            continue
        if (header := _HEADER.match(line)) is not None:
            table = _names(header[2])
            yield table, number
        elif (key := _KEY.match(line)) is not None:
            yield (*table, *_names(key[1])), number
            inside = next((mark for mark in _LONG if line.count(mark) % 2), "")


def _names(key: str) -> Place:
    """The parts of a dotted key, as TOML has them."""
    names: list[str] = []
    try:
        found = tomllib.loads(f"{key} = 0")
    except tomllib.TOMLDecodeError:
        return ()
    while isinstance(found, dict) and found:
        names.append(next(iter(found)))
        found = found[names[-1]]
    return tuple(names)
