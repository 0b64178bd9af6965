"""Read the results of an evaluation out of what it left; what cannot be read is said with the line in question."""

from __future__ import annotations

import json
import math
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from surefoot.execute.match import find
from surefoot.formulas import parse_formula
from surefoot.runs.names import STDOUT
from surefoot.runs.reading import followed, in_short, match_limit, no_format, not_read, read_end, searched_from
from surefoot.runs.results import Source
from surefoot.runs.values import as_number

_MOST_BYTES = 64 * 2**20
_MOST_QUOTED = 160  # characters
_COMMENTS = ("#", "!", "%", "//")
Call = Callable[[str], float]  # a function by its name, called with the working directory


@dataclass(frozen=True)
class Found:
    """A number and where it stood; no number: why there is none."""

    number: float
    quote: str = ""
    error: str = ""


def extract(
    sources: Sequence[tuple[str, Source]], folder: Path, known: Mapping[str, Any], left_s: float, call: Call
) -> dict[str, Found]:
    """Every result, in the order of the sources; `known` are the parameters."""
    found: dict[str, Found] = {}
    for name, source in sources:
        try:
            numbers = {k: v for k, v in known.items() if isinstance(v, (int, float))}
            found[name] = _read(source, folder, numbers, found, left_s, call)
        except OSError as error:
            found[name] = Found(math.nan, error=not_read(source.file or "stdout", error))
        except ValueError as error:
            found[name] = Found(math.nan, error=str(error))
    return found


def _read(
    source: Source, folder: Path, known: Mapping[str, float], found: Mapping[str, Found], left_s: float, call: Call
) -> Found:
    if source.formula:
        return _computed(source.formula, known, found)
    if source.python:
        return Found(call(source.python), source.python)
    path = folder / (source.file or STDOUT)
    if source.format:
        return _by_key(path, source)
    if source.regex:
        take = source.take if isinstance(source.take, int) or source.take in ("last", "first") else "all"
        first = searched_from(path)
        if first and take != "last":
            raise ValueError(
                f'{source.file or "stdout"} has more than {_MOST_BYTES >> 20} MiB: only take = "last" reads it'
            )
        try:
            rows = find(source.regex, path, first, match_limit(left_s), take)
        except ValueError as error:
            raise ValueError(f"{error}{_ends_so(_lines(path))}") from None
        return _taken(rows, source.take if take == "all" else "last")
    return _taken(_cells(_lines(path), source), source.take)


def _computed(text: str, known: Mapping[str, float], found: Mapping[str, Found]) -> Found:
    formula = parse_formula(text, [*known, *found])
    values = {name: found[name].number if name in found else float(known[name]) for name in formula.names}
    lost = [name for name in formula.names if name in found and found[name].error]
    if lost:
        raise ValueError(f"{text!r} needs {lost[0]}, which was not read")
    number = formula.at(values)
    told = ", ".join(f"{name} = {value:.6g}" for name, value in values.items())
    if math.isnan(number):
        raise ValueError(f"{text!r} has no value at {told}")
    return Found(number, f"{text} at {told}" if told else text)


def _by_key(path: Path, source: Source) -> Found:
    raw = read_end(path, _MOST_BYTES + 1)
    if len(raw) > _MOST_BYTES:
        raise ValueError(f"{source.file} has more than {_MOST_BYTES >> 20} MiB")
    here: Any
    try:
        here = _parsed(raw, source.format)
    except Exception as error:  # whatever a parser raises, the file is what is wrong
        raise ValueError(no_format(source.file, source.format, raw, error)) from None
    here = followed(here, source.key, source.file)
    if here is None:
        return Found(math.nan, f"{source.key} = null")
    if isinstance(here, bool) or not isinstance(here, (int, float)):
        raise ValueError(f"{source.key!r} of {source.file} is {in_short(here)}, not a number")
    return Found(float(here), f"{source.key} = {here!r}")


def _parsed(raw: bytes, kind: str) -> Any:
    if kind == "json":
        return json.loads(raw)
    if kind == "toml":
        return tomllib.loads(raw.decode())
    import yaml  # type: ignore[import-untyped]

    return yaml.safe_load(raw)


def _lines(path: Path) -> list[str]:
    raw = read_end(path, _MOST_BYTES + 1)
    if len(raw) > _MOST_BYTES:
        raise ValueError(f"{path.name} has more than {_MOST_BYTES >> 20} MiB")
    return raw.decode(errors="replace").splitlines()


def _cells(lines: list[str], source: Source) -> list[tuple[str, str]]:
    """The texts of a column and their lines."""
    where = source.file or "stdout"
    if isinstance(source.line, int):
        place = source.line - 1 if source.line > 0 else source.line
        if not -len(lines) <= place < len(lines):
            raise ValueError(f"no line {source.line} in {where}, which has {len(lines)}")
        chosen = [lines[place]]
    elif isinstance(source.line, str):
        chosen = [line for line in lines if source.line in line]
        if not chosen:
            raise ValueError(f"no line with {source.line!r} in {where}{_ends_so(lines)}")
    elif isinstance(source.column, str):
        return _named_column(lines, source.column, where)
    else:
        return _numbered_column(lines, source.column or 1, where)
    return [(_word(line, int(source.column or 1)), line) for line in chosen]


def _named_column(lines: list[str], name: str, where: str) -> list[tuple[str, str]]:
    """Below the first line that has the name among its fields."""
    for number, line in enumerate(lines):
        head = line.lstrip("#!% \t") if line.lstrip().startswith(_COMMENTS) else line
        fields = _fields(head)
        if name in fields:
            place = fields.index(name) + 1
            return [(_cell(row, place), row) for row in _rows(lines[number + 1 :])]
    raise ValueError(f"no column {name!r} in {where}; its first line is {_quoted(lines[0] if lines else '')}")


def _numbered_column(lines: list[str], place: int, where: str) -> list[tuple[str, str]]:
    """From the first line that has a number there on."""
    rows = _rows(lines)
    for number, line in enumerate(rows):
        try:
            as_number(_cell(line, place))
        except ValueError:
            continue
        return [(_cell(row, place), row) for row in rows[number:]]
    raise ValueError(f"no number in column {place} of {where}{_ends_so(lines)}")


def _rows(lines: list[str]) -> list[str]:
    return [line for line in lines if line.strip() and not line.lstrip().startswith(_COMMENTS)]


def _fields(line: str) -> list[str]:
    """Between commas, semicolons or tabs if there are any, else the words."""
    for mark in (",", ";", "\t"):
        if mark in line:
            return [part.strip().strip('"') for part in line.split(mark)]
    return line.split()


def _cell(line: str, place: int) -> str:
    fields = _fields(line)
    if place > len(fields):
        raise ValueError(f"no column {place} in the line {_quoted(line)}")
    return fields[place - 1]


def _word(line: str, place: int) -> str:
    """Of a line in a listing, where commas and semicolons part words too."""
    words = re.split(r"[\s,;]+", line.strip())
    if place > len(words):
        raise ValueError(f"no word {place} in the line {_quoted(line)}")
    return words[place - 1]


def _taken(rows: list[tuple[str, str]], take: int | str) -> Found:
    """One of the numbers, or what they come to."""
    if isinstance(take, int):
        place = take - 1 if take > 0 else take
        if not -len(rows) <= place < len(rows):
            raise ValueError(f"number {take} was asked for, and there are {len(rows)}")
        rows = [rows[place]]
    elif take in ("last", "first") and rows:
        rows = [rows[-1 if take == "last" else 0]]
    if not rows:
        raise ValueError("the table has no rows")
    numbers = [_checked(text, line) for text, line in rows]
    if len(rows) == 1:
        return Found(numbers[0], _quoted(rows[0][1]))
    if any(map(math.isnan, numbers)):
        return Found(math.nan, f"NaN among {len(rows)} numbers")
    total = math.fsum(numbers)
    comes_to = {"sum": total, "min": min(numbers), "max": max(numbers), "mean": total / len(numbers)}
    return Found(comes_to[str(take)], f"{take} of {len(rows)} numbers")


def _checked(text: str, line: str) -> float:
    try:
        return as_number(text)
    except ValueError:
        raise ValueError(f"{text[:60]!r} is not a number, in the line {_quoted(line)}") from None


def _ends_so(lines: list[str]) -> str:
    """The last line, which often says what went wrong."""
    last = [line for line in lines if line.strip()][-1:]
    return f"; its last line is {_quoted(last[0])}" if last else ", which is empty"


def _quoted(line: str) -> str:
    line = line.strip()
    return repr(line if len(line) <= _MOST_QUOTED else line[:_MOST_QUOTED] + "…")
