"""Cells: labels to learn from and fresh points to predict, of R designs of one problem with n labels each."""

from __future__ import annotations

import csv
import gzip
import math
import tomllib
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.stats import qmc

from benchmarks.crash_model.regions import REGIONS, Region
from surefoot.optimize.reasons import pattern_of
from surefoot.paper.studies.failures.constrained import catalogue, get_constrained

SIZES = (20, 40, 100)
ALONG = (40, 100)  # evaluations of a run after which its labels are learned from
N_DESIGNS, N_TEST = 10, 3000


@dataclass(frozen=True)
class Cell:
    """R designs."""

    group: str  # "dev", "held", "simulators" or "along runs"
    problem: str
    n: int
    X: np.ndarray  # (R, n, d) in the unit cube
    kinds: np.ndarray  # (R, n) the position of the cause of failure; -1: it succeeded
    points: np.ndarray  # (R, m, d) fresh ones
    fails: np.ndarray  # (R, m)

    @property
    def key(self) -> str:
        """A name that changes with what is in it."""
        digest = zlib.crc32(np.ascontiguousarray(self.X).tobytes() + self.kinds.astype(np.int64).tobytes())
        return f"{self.group} {self.problem} {self.n} {digest:08x}"


def of_region(region: Region, n: int, n_designs: int = N_DESIGNS) -> Cell:
    """Latin hypercubes, and uniform points to predict."""
    X, kinds, points, fails = [], [], [], []
    for r in range(n_designs):
        rng = np.random.default_rng([r, n, region.d])
        X.append(qmc.LatinHypercube(region.d, rng=rng).random(n))
        points.append(rng.random((N_TEST, region.d)))
        kinds.append(region.kinds(X[-1], rng))
        fails.append(region.kinds(points[-1], rng) >= 0)
    return Cell(region.half, region.name, n, *map(np.asarray, (X, kinds, points, fails)))


def of_regions(halves: Sequence[str], sizes: Sequence[int], n_designs: int) -> Iterator[Cell]:
    """All regions of these halves."""
    for region in REGIONS:
        if region.half in halves:
            yield from (of_region(region, n, n_designs) for n in sizes)


# --- simulators


def _parameters(path: Path) -> dict[str, tuple[float, float, bool]]:
    """Name -> low, high and whether on the logarithm, of the numbers in the problem file beside a table."""
    with path.open("rb") as file:
        asked = tomllib.load(file)["parameters"]
    return {
        name: (float(box["low"]), float(box["high"]), bool(box.get("log", False)))
        for name, box in asked.items()
        if isinstance(box, dict) and "low" in box and "high" in box
    }


def read_table(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Points (n, d) of the unit cube and kinds (n,) of failure, from a table of evaluations beside its problem file."""
    parameters = _parameters(path.parent / "problem.toml")
    content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    rows = [row for row in csv.DictReader(content.decode().splitlines()) if row.get("status") in ("ok", "failed")]
    columns = []
    for name, (low, high, log) in parameters.items():
        x = np.asarray([float(row[name]) for row in rows])
        columns.append(np.log(x / low) / math.log(high / low) if log else (x - low) / (high - low))
    patterns = [pattern_of(row["reason"]) if row["status"] == "failed" else "" for row in rows]
    codes = {pattern: i for i, pattern in enumerate(dict.fromkeys(p for p in patterns if p))}
    kinds = [codes.get(p, 0) if row["status"] == "failed" else -1 for p, row in zip(patterns, rows, strict=True)]
    return np.clip(np.stack(columns, axis=1), 0.0, 1.0), np.asarray(kinds)


def of_tables(folder: Path, sizes: Sequence[int], n_designs: int) -> Iterator[Cell]:
    """Designs drawn from the rows of each table below the folder; the other rows are predicted."""
    for path in sorted(folder.glob("*/table*.csv*")):
        if path.suffix not in (".csv", ".gz") or not (path.parent / "problem.toml").exists():
            continue
        X, kinds = read_table(path)
        for n in sizes:
            orders = [np.random.default_rng([r, n]).permutation(len(X)) for r in range(n_designs)]
            own, rest = np.asarray([o[:n] for o in orders]), np.asarray([o[n : n + N_TEST] for o in orders])
            yield Cell("simulators", path.parent.name, n, X[own], kinds[own], X[rest], kinds[rest] >= 0)


# --- along runs


def of_runs(folder: Path, strategy: str, n_runs: int) -> Iterator[Cell]:
    """The labels of the first evaluations of runs of `surefoot study failures`; uniform points to predict."""
    for path in sorted(folder.glob("*.npz")):
        with np.load(path) as data:
            if "strategy" not in data or str(data["strategy"]) != strategy or str(data["problem"]) not in catalogue():
                continue
            name, X, kinds = str(data["problem"]), data["X"][:n_runs], data["cause"][:n_runs].astype(int)
        base = get_constrained(name).base
        low, high = np.asarray(base.bounds).T
        points = np.random.default_rng([11, base.d]).random((len(X), N_TEST, base.d))
        fails = get_constrained(name).fails(low + points * (high - low))
        for n in (n for n in ALONG if n <= X.shape[1]):
            yield Cell("along runs", name, n, X[:, :n], kinds[:, :n], points, fails)
