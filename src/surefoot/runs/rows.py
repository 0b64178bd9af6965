"""Rows of evaluations from elsewhere: a CSV, JSON or Parquet file, or a study in another storage."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from surefoot.errors import InvalidInputError, MissingExtraError
from surefoot.expect import expect
from surefoot.runs.problem import storage_place
from surefoot.runs.storage import load_study, opened
from surefoot.runs.tables import as_csv, is_guarded, trial_rows
from surefoot.runs.values import text_of

_MOST_BYTES = 256 * 2**20
_SQLITE = b"SQLite format 3\0"
_PARQUET = b"PAR1"


@dataclass(frozen=True)
class Row:
    """The cells of a row, by column, and where it stands."""

    cells: Mapping[str, str]
    where: str


def read_rows(place: str, study: str = "") -> list[Row]:
    """The rows of a CSV, JSON or Parquet file, or of a study (by name, if there are several) in a storage."""
    if "://" in place or place.endswith(".toml") or _begins_with(_SQLITE, Path(place)):
        with opened(storage_place(place)) as found:
            chosen = load_study(found, study or None)
            text, name = as_csv(trial_rows(chosen)), f"study {chosen.study_name}"
        rows = list(_of_csv(text, name))
    elif _begins_with(_PARQUET, Path(place)):
        rows = list(_of_objects(_parquet(Path(place)), "row", Path(place).name))
    else:
        text, name = _text(Path(place)), Path(place).name
        rows = list(_of_json(text, name) if text.lstrip()[:1] in ("[", "{") else _of_csv(text, name))
    expect(bool(rows), "a table with rows", place, "a CSV file whose first line has the names of the parameters")
    return rows


def _begins_with(mark: bytes, path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(len(mark)) == mark
    except OSError:
        return False


def _text(path: Path) -> str:
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise OSError(f"more than {_MOST_BYTES >> 20} MiB")
        return path.read_bytes().decode("utf-8-sig")
    except (OSError, ValueError) as error:
        raise InvalidInputError(
            f"expected a table as CSV with a line of names, a JSON file or a storage; got {str(path)!r} ({error}); "
            "try surefoot export's format"
        ) from None


def _of_csv(text: str, name: str) -> Iterator[Row]:
    table = text.lstrip("\r\n")
    n_above = text[: len(text) - len(table)].count("\n")
    mark = max(",;\t", key=table.partition("\n")[0].count)
    reader = csv.DictReader(io.StringIO(table, newline=""), delimiter=mark, skipinitialspace=True, restval="")
    try:
        given = [name.strip() for name in reader.fieldnames or () if name]
        double = sorted({name for name in given if given.count(name) > 1})
        expect(not double, f"columns of {name} with different names", double, "leaving one out")
        for cells in reader:
            where = f"line {n_above + reader.line_num} of {name}"
            n_more = len(cells.pop(None, ()))
            n = len(reader.fieldnames or ())
            hint = "decimal points, or ; between the columns" if mark == "," else "quotes around texts"
            expect(not n_more, f"{n} fields in {where}, as the names above", n + n_more, hint)
            yield Row({key.strip(): _unguarded(cell) for key, cell in cells.items() if key}, where)
    except csv.Error as error:
        raise InvalidInputError(
            f"expected a table as CSV; got {name!r} ({error}); try surefoot export's format"
        ) from None


def _unguarded(cell: str) -> str:
    """Without the apostrophe that `surefoot export` puts before what a spreadsheet would run."""
    return cell[1:] if cell.startswith("'") and is_guarded(cell[1:]) else cell


def _of_json(text: str, name: str) -> Iterator[Row]:
    found: Any
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidInputError(f"expected JSON; got {name!r} ({error}); try surefoot export's format") from None
    objects = isinstance(found, list) and all(isinstance(one, dict) for one in found)
    expect(objects, f"a list of objects in {name}", found, '[{"a": 1.0, "b": 2.0, "value": 3.0}]')
    yield from _of_objects(found, "object", name)


def _of_objects(objects: Iterable[Mapping[str, Any]], what: str, name: str) -> Iterator[Row]:
    for number, one in enumerate(objects, 1):
        yield Row({k: "" if v is None else text_of(v) for k, v in one.items()}, f"{what} {number} of {name}")


def _parquet(path: Path) -> list[dict[str, Any]]:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError as error:
        raise MissingExtraError(
            f"expected pyarrow, which reads {path.name}; it is not installed; try pip install 'surefoot[parquet]', "
            "or a .csv file"
        ) from error
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise OSError(f"more than {_MOST_BYTES >> 20} MiB")
        found: list[dict[str, Any]] = parquet.read_table(path).to_pylist()
    except (OSError, ValueError, pyarrow.ArrowException) as error:
        raise InvalidInputError(
            f"expected a table in {str(path)!r}; got {type(error).__name__}: {str(error)[:200]}; try a .csv file"
        ) from None
    return found
