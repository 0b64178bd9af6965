"""Scores of P(success): of failure models by name, through the call that the engine makes, and of the references."""

from __future__ import annotations

import csv
import io
from dataclasses import fields
from pathlib import Path

import numpy as np

from benchmarks.crash_model.cells import Cell
from benchmarks.crash_model.references import BASE_RATE, REFERENCES, predict
from surefoot.backend import engine, to_host
from surefoot.engine.success import Labels, fit_success
from surefoot.errors import InvalidInputError, UnknownNameError
from surefoot.failures.registry import FAILURE_MODELS
from surefoot.gp.hyperparameters import N_RANDOM_STARTS
from surefoot.paper.resumable import write_whole

SCORES = ("log loss", "Brier", "calibration error", "P(own label)")
REASONS = "+reasons"  # after a model's name: it is told them
CLIP = 1e-6  # of P, for every model alike
BINS = 10


def check_model(name: str) -> None:
    """Raise if there is no such model, or none that can be told reasons."""
    if name.removesuffix(REASONS) not in FAILURE_MODELS:
        known = ", ".join(FAILURE_MODELS)
        raise UnknownNameError(f"expected a failure model among {known}; got {name!r}; try ep")
    if name.endswith(REASONS) and "kinds" not in _LABEL_FIELDS:
        raise InvalidInputError(f"expected a model that is told reasons; got {name!r}; try it without {REASONS}")


_LABEL_FIELDS = {field.name for field in fields(Labels)}


def by_model(name: str, cell: Cell, points: np.ndarray) -> np.ndarray:
    """P(success) (R, m) at points (R, m, d) of a model that is fitted afresh to all designs at once."""
    model = FAILURE_MODELS[name.removesuffix(REASONS)]
    R, n, d = cell.X.shape
    told = {"kinds": cell.kinds} if name.endswith(REASONS) else {}
    labels = Labels(cell.X, cell.kinds >= 0, **told)
    p = model.n_hyperparameters(d) if getattr(model, "draws", True) else 0
    uniforms = np.stack([np.random.default_rng(r).random((N_RANDOM_STARTS, p)) for r in range(R)])
    with engine(n):
        weight, _ = fit_success(labels, model, None, uniforms)
        return np.asarray(to_host(weight.probability(points)))


def by_reference(name: str, cell: Cell, points: np.ndarray) -> np.ndarray:
    """The same of a reference."""
    return np.stack([predict(name, *one) for one in zip(cell.X, cell.kinds >= 0, points, strict=True)])


def score(name: str, cell: Cell) -> np.ndarray:
    """All scores (R, 4) of a model or a reference on a cell."""
    asked = np.concatenate([cell.points, cell.X], axis=1)
    P = (by_reference if name in REFERENCES else by_model)(name, cell, asked)
    m = cell.points.shape[1]
    return np.asarray(
        [
            _scores(p[:m], fails, p[m:], kinds >= 0)
            for p, fails, kinds in zip(np.clip(P, CLIP, 1 - CLIP), cell.fails, cell.kinds, strict=True)
        ]
    )


def _scores(p: np.ndarray, failed: np.ndarray, p_own: np.ndarray, failed_own: np.ndarray) -> tuple[float, ...]:
    """Log loss, Brier score, distance of predicted and observed shares over bins of P, mean P of the own labels."""
    loss = -np.mean(np.where(failed, np.log1p(-p), np.log(p)))
    bins = np.minimum((BINS * p).astype(int), BINS - 1)
    gaps = np.bincount(bins, weights=p - ~failed, minlength=BINS)
    own = np.mean(np.where(failed_own, 1 - p_own, p_own))
    return float(loss), float(np.mean((p - ~failed) ** 2)), float(np.sum(np.abs(gaps)) / len(p)), float(own)


class Kept:
    """Scores of the references, which do not change: kept in one file each."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._known: dict[str, dict[str, np.ndarray]] = {}

    def score(self, name: str, cell: Cell) -> np.ndarray:
        """From the file, or computed and added to it; the base rate costs nothing."""
        if name == BASE_RATE:
            return score(name, cell)
        known = self._read(name)
        if cell.key not in known:
            known[cell.key] = score(name, cell)
            self.write(name, known)
        return known[cell.key]

    def _path(self, name: str) -> Path:
        return self._folder / f"{name.replace(' ', '-')}.csv"

    def _read(self, name: str) -> dict[str, np.ndarray]:
        """Cells by their keys; a row is the key of a cell, a score, and its value of each design."""
        if name not in self._known:
            rows: dict[str, list[list[float]]] = {}
            if self._path(name).exists():
                for key, _, *values in csv.reader(self._path(name).read_text().splitlines()):
                    rows.setdefault(key, []).append(list(map(float, values)))
            self._known[name] = {key: np.asarray(scores).T for key, scores in rows.items()}
        return self._known[name]

    def write(self, name: str, known: dict[str, np.ndarray]) -> None:
        """All scores of a reference, by the keys of the cells."""
        self._folder.mkdir(parents=True, exist_ok=True)
        text = io.StringIO()
        lines = csv.writer(text, lineterminator="\n")
        for key, scores in known.items():
            for which, values in zip(SCORES, scores.T, strict=True):
                lines.writerow([key, which, *(f"{value:.4g}" for value in values)])
        write_whole(self._path(name), text.getvalue())
