"""Settings from a TOML file: every table is optional, every key must exist, values are checked by the
records.

left_atrial_pressure_mmHg = 2.0
[variant]            # name = "published" or "original", then any field of Variant
[inflow]             # csv = "file.csv" (beside this file), or any field of Ejection
[fluid]  [tree]  [grid]
[network]   # inlet, outlets, blind_ends, [[network.vessels]], [[network.junctions]], [[network.beds]]
"""

import tomllib
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, TypeVar

from surefoot.errors import InvalidInputError
from surefoot.expect import known_keys
from surefoot.pulmonary.checks import require
from surefoot.pulmonary.geometry import Bed, Junction, Network, Vessel
from surefoot.pulmonary.inflow import Ejection, FlowTable, Inflow
from surefoot.pulmonary.settings import Fluid, Grid, Settings, Tree, Variant, named_variant

Table = dict[str, Any]
T = TypeVar("T")


def _field_names(record: type) -> list[str]:
    return [field.name for field in fields(record)]


def _table(where: str, value: object) -> Table:
    require(isinstance(value, dict), f"{where} to be a table", value, f"write it as [{where}]")
    return value if isinstance(value, dict) else {}


def _record(where: str, make: Callable[..., T], record: type, table: Table) -> T:
    """A record from a table, with TOML's lists turned into tuples."""
    known_keys(where, table, _field_names(record))
    values = {key: tuple(value) if isinstance(value, list) else value for key, value in table.items()}
    try:
        return make(**values)
    except TypeError as error:  # a missing key, or a text where a number belongs
        raise InvalidInputError(f"expected a complete {where}, got {table!r}; {error}") from error


def _rows(where: str, record: type[T], value: object) -> tuple[T, ...]:
    require(isinstance(value, list), f"{where} to be a list of tables", value, f"write them as [[{where}]]")
    rows = value if isinstance(value, list) else []
    return tuple(_record(where, record, record, _table(where, row)) for row in rows)


def _network(table: Table) -> Network:
    known_keys("[network]", table, _field_names(Network))
    given: Table = {key: tuple(value) if isinstance(value, list) else value for key, value in table.items()}
    for key, record in (("vessels", Vessel), ("junctions", Junction), ("beds", Bed)):
        if key in table:
            given[key] = _rows(f"network.{key}", record, table[key])
    return Network(**given)


def _inflow(table: Table, folder: Path) -> Inflow:
    if "csv" not in table:
        known_keys("[inflow]", table, ["csv", *_field_names(Ejection)])
        return _record("[inflow]", Ejection, Ejection, table)
    known_keys("[inflow] with csv", table, ["csv"])
    require(isinstance(table["csv"], str), "inflow csv to be a file name", table["csv"], "put it in quotes")
    return FlowTable.from_csv(folder / table["csv"])


def _variant(table: Table) -> Variant:
    base = named_variant(table["name"]) if "name" in table else Variant()
    changes = {key: value for key, value in table.items() if key != "name"}
    known_keys("[variant]", table, _field_names(Variant))
    if not changes:
        return base
    try:
        return replace(base, **{"name": "custom", **changes})
    except TypeError as error:
        raise InvalidInputError(f"expected numbers in [variant], got {changes!r}; {error}") from error


def settings_from_toml(path: Path) -> Settings:
    """Read and check a settings file."""
    try:
        with path.open("rb") as file:
            table: Table = tomllib.load(file)
    except OSError as error:
        raise InvalidInputError(f"expected a readable settings file, got {error}; check the path") from error
    except tomllib.TOMLDecodeError as error:
        raise InvalidInputError(f"expected a TOML file, got {path}: {error}; mend that line") from error
    known_keys(str(path), table, _field_names(Settings))
    values: Table = dict(table)
    readers: dict[str, Callable[[Table], object]] = {
        "network": _network,
        "inflow": lambda t: _inflow(t, path.parent),
        "fluid": lambda t: _record("[fluid]", Fluid, Fluid, t),
        "tree": lambda t: _record("[tree]", Tree, Tree, t),
        "grid": lambda t: _record("[grid]", Grid, Grid, t),
        "variant": _variant,
    }
    for key, read in readers.items():
        if key in table:
            values[key] = read(_table(key, table[key]))
    return Settings(**values)
