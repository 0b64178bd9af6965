"""The distances.csv that a benchmark left, read again: log10 distances to three decimals, which change no label."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

from surefoot.errors import InvalidInputError

Recorded = dict[tuple[str, str, int], dict[tuple[str, str], np.ndarray]]
"""(search, kernel, n) -> (problem, policy) -> log10 distances after n evaluations (seeds,), by seed."""


def read_distances(folder: Path) -> Recorded:
    """What the study in this folder recorded."""
    path = folder / "distances.csv"
    if not path.exists():
        raise InvalidInputError(f"expected a study with {path.name}; {folder} has none; try surefoot study benchmark")
    found: dict[tuple[str, str, int], dict[tuple[str, str], dict[int, float]]] = {}
    with path.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            marks = [int(name[1:]) for name, value in row.items() if name[0] == "n" and name[1:].isdigit() and value]
            for n in marks:
                search = row.get("search", "paper")  # files without this column hold the paper's
                table = found.setdefault((search, row["kernel"], n), {})
                table.setdefault((row["problem"], row["policy"]), {})[int(row["seed"])] = float(row[f"n{n}"])
    return {
        key: {cell: np.array([values[seed] for seed in sorted(values)]) for cell, values in table.items()}
        for key, table in found.items()
    }
