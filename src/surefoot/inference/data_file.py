"""Signals in a CSV file.

    # period_s = 0.7
    t_s, p_MPA_mmHg, sd_p_MPA_mmHg, q_MPA_mls
    0.00273, 13.1, 1.4, 20.2
    0.00547,     ,    , 21.0

One row per time, one column per signal: p_VESSEL_UNIT or q_VESSEL_UNIT (no unit: mmHg, ml/s). A column sd_...
holds the noise level of a signal, once or in every row. Empty cells and NaN are gaps. Lines `# key = value` before
the header: period_s, and f_L, f_S, xi of synthetic data.
"""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

from surefoot.errors import InvalidInputError
from surefoot.inference.plausible import PER_ML_S, PER_MMHG
from surefoot.inference.signals import Signals, make_signal, signal_names
from surefoot.pulmonary import Network
from surefoot.pulmonary.arrays import Floats

_TIME_S = {"t_s": 1.0, "t_ms": 1e-3}
_KEYS = ("period_s", "f_L", "f_S", "xi")
PERIOD_S = 0.70  # of the model's own beat


def read_signals(path: str | Path, *, period_s: float | None = None, network: Network | None = None) -> Signals:
    """Read and check a patient's data; every problem is an InvalidInputError that names column and remedy.

    period_s: length of a beat; default: what the file says, else 0.7 s, and then the times must cover one such beat.
    """
    path = Path(path)
    header, rows, keys = _cells(path)
    columns = {name: _numbers(path, name, [row[i] for row in rows]) for i, name in enumerate(header)}
    time_name = next((name for name in _TIME_S if name in columns), None)
    if time_name is None:
        raise InvalidInputError(f"expected a column t_s (or t_ms) in {path}; got {', '.join(header)}; try adding it")
    time_s = columns.pop(time_name) * _TIME_S[time_name]
    sd = {name: column for name, column in columns.items() if name.startswith("sd_")}
    measured = {name: column for name, column in columns.items() if name not in sd}
    if not measured:
        raise InvalidInputError(f"expected at least one signal in {path}; got none; try a column p_MPA_mmHg")
    given = period_s if period_s is not None else keys.get("period_s")
    if given is None:
        _check_one_beat(time_s, time_name)
    period = PERIOD_S if given is None else given
    known = signal_names(network)
    levels = {_signal(name[3:], known): _level(name, column) for name, column in sd.items()}
    signals, notes = [], []
    for name, column in measured.items():
        signal, per_unit = _signal(name, known)
        if np.isnan(column).all():
            notes.append(f"{signal}: no values, left out")
            continue
        level = next((value / per for (of, per), value in levels.items() if of == signal), None)
        made, more = make_signal(signal, time_s, column / per_unit, period, level, network)
        if per_unit != 1.0:
            more.append(f"{signal}: converted from {name.removeprefix(signal + '_')} to {made.unit}")
        signals.append(made)
        notes += more
    names = [signal.name for signal in signals]
    for doubled in sorted({name for name in names if names.count(name) > 1}):
        raise InvalidInputError(f"expected one column for {doubled}; got several; try removing all but one")
    for of, _ in levels:
        if of not in names:
            raise InvalidInputError(f"expected a signal for the noise level sd_{of}; got none; try adding {of}")
    if not signals:
        raise InvalidInputError(f"expected at least one signal with values in {path}; got none; try other data")
    truth = (keys["f_L"], keys["f_S"], keys["xi"]) if {"f_L", "f_S", "xi"} <= set(keys) else None
    return Signals(tuple(signals), period, truth, path.name, tuple(notes))


def write_signals(signals: Signals, path: str | Path) -> None:
    """Write what read_signals reads; signals at different times leave gaps."""
    times = np.unique(np.concatenate([signal.time_s for signal in signals]))
    header, columns = ["t_s"], [[f"{t:.9g}" for t in times]]
    for signal in signals:
        cells = [""] * times.size
        for t, value in zip(np.searchsorted(times, signal.time_s), signal.value, strict=True):
            cells[t] = f"{value:.9g}"
        name = f"{signal.name}_{'mmHg' if signal.kind == 'p' else 'mls'}"
        header.append(name)
        columns.append(cells)
        if signal.noise_from == "given":
            header.append(f"sd_{name}")
            columns.append([f"{signal.noise_sd:.9g}"] + [""] * (times.size - 1))
    with Path(path).open("w", newline="", encoding="utf-8") as file:
        file.write(f"# period_s = {signals.period_s!r}\n")
        for key, value in zip(("f_L", "f_S", "xi"), signals.truth or (), strict=False):
            file.write(f"# {key} = {value!r}\n")
        writer = csv.writer(file)
        writer.writerow(header)
        writer.writerows(zip(*columns, strict=True))


def _cells(path: Path) -> tuple[list[str], list[list[str]], dict[str, float]]:
    """Header, rows and keys of the file."""
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInputError(f"expected a readable CSV file; got {error}; try another path") from error
    keys = {}
    for line in lines:
        key, equals, value = line.lstrip("# ").partition("=")
        if not line.startswith("#") or not equals:
            continue
        if key.strip() not in _KEYS:
            raise InvalidInputError(
                f"expected keys among {', '.join(_KEYS)} in {path}; got {key.strip()!r}; try removing that line"
            )
        keys[key.strip()] = _number(path, key.strip(), value)
    table = [row for row in csv.reader(line for line in lines if line.strip() and not line.startswith("#")) if row]
    if len(table) < 2:
        raise InvalidInputError(f"expected a header and rows of numbers in {path}; got {len(table)} lines; try another")
    header = [name.strip() for name in table[0]]
    for number, row in enumerate(table[1:], start=2):
        if len(row) != len(header):
            raise InvalidInputError(
                f"expected {len(header)} cells in every row of {path}; got {len(row)} in row {number}; "
                "try commas between cells and a point in decimals"
            )
    if len(set(header)) != len(header):
        raise InvalidInputError(f"expected column names to be unique in {path}; got {', '.join(header)}; rename them")
    return header, table[1:], keys


def _number(path: Path, where: str, cell: str) -> float:
    text = cell.strip()
    if text.lower() in ("", "nan", "na"):
        return np.nan
    try:
        return float(text)
    except ValueError:
        raise InvalidInputError(
            f"expected numbers for {where} in {path}; got {cell!r}; try an empty cell for a missing value"
        ) from None


def _numbers(path: Path, name: str, cells: list[str]) -> Floats:
    values = np.asarray([_number(path, name, cell) for cell in cells])
    return np.where(np.isfinite(values), values, np.nan)


def _signal(column: str, known: tuple[str, ...]) -> tuple[str, float]:
    """Name of the signal and units per mmHg or ml/s, from a column's name."""
    parts = column.split("_", 2)
    name = "_".join(parts[:2])
    units = PER_MMHG if column.startswith("p_") else PER_ML_S
    unit = parts[2] if len(parts) == 3 else next(iter(units))
    if name not in known:
        raise InvalidInputError(
            f"expected columns p_VESSEL_mmHg or q_VESSEL_mls, vessels {', '.join(n[2:] for n in known[::2])}; "
            f"got {column!r}; try p_MPA_mmHg, or remove the column"
        )
    if unit not in units:
        raise InvalidInputError(f"expected a unit among {', '.join(units)} for {name}; got {unit!r}; try {column}")
    return name, units[unit]


def _level(name: str, column: Floats) -> float:
    """The one noise level that a column sd_... holds."""
    values = np.unique(column[np.isfinite(column)])
    if values.size != 1:
        raise InvalidInputError(
            f"expected one noise level in column {name}; got {values.size} different ones; try the same in every row"
        )
    return float(values[0])


def _check_one_beat(time_s: Floats, time_name: str) -> None:
    """Raise unless the times cover just one beat of the model's period."""
    times = np.unique(time_s[np.isfinite(time_s)])
    if times.size < 2:
        raise InvalidInputError(f"expected at least two times in {time_name}; got {times.size}; try more rows")
    step = float(np.median(np.diff(times)))
    covered = float(times[-1] - times[0]) + step
    if abs(covered - PERIOD_S) > max(1.5 * step, 0.02 * PERIOD_S):
        hint = f"try --period {covered:.4g} if this is one beat, or the length of a beat if it is several"
        if time_name == "t_s" and 100.0 < covered < 20000.0:
            hint = "try naming the column t_ms: the times look like milliseconds"
        raise InvalidInputError(
            f"expected times that cover one beat of {PERIOD_S} s (the model's); got {covered:.4g} s; {hint}"
        )
