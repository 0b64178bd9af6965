"""Does the progress of crashed evaluations help to tell where evaluations fail? `python -m benchmarks.progress`

Model     A run reaches g(x) of its work: it succeeds if g >= 1, and stops at g otherwise. g is a Gaussian process. With
          progress a failure observes g (noise TAU), a success only that g >= 1: a censored regression. Without
          progress a failure says no more than g < 1. Both by Laplace's approximation, averaged over a grid of
          hyperparameters by their evidence.
Judged    by the log loss of P(success) at points that were not shown, beside the default failure model (`experts`) and
          the mean of its P with that of the censored regression.
Tables    the simulator `frame` (progress: the share of the drift reached), a made one whose progress tells the distance
          to the border, and a made one whose progress has nothing to do with it.
"""

from __future__ import annotations

import os

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[_variable] = "1"  # before NumPy is imported

import argparse
import csv
import gzip
import itertools
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from scipy.spatial.distance import cdist
from scipy.special import log_ndtr, ndtr

from surefoot.backend import engine, to_host
from surefoot.engine.success import Labels, fit_success
from surefoot.failures.registry import FAILURE_MODELS
from surefoot.gp.hyperparameters import N_RANDOM_STARTS
from surefoot.paper.markdown import markdown

TAU = 0.1
SIZES, N_TEST = (20, 40, 100), 600
GRID = tuple(itertools.product((0.2, 0.5, 1.0, 2.0, 4.0), (0.3, 1.0, 3.0)))  # ell / sqrt d, sd
FRAME = Path(__file__).parents[1] / "examples" / "simulators" / "frame" / "table.csv.gz"
Table = tuple[np.ndarray, np.ndarray]  # x (n, d) in the unit cube, reach (n,): 1 where it succeeded


def frame() -> Table:
    """The simulator's table."""
    with gzip.open(FRAME, "rt") as file:
        rows = list(csv.DictReader(file))
    names = list(rows[0])[:6]
    x = np.asarray([[float(row[name]) for name in names] for row in rows])
    x = (x - x.min(axis=0)) / np.ptp(x, axis=0)
    return x, np.asarray([1.0 if row["status"] == "ok" else float(row["progress"] or 0.0) for row in rows])


def telling() -> Table:
    """A half-space in four inputs; a run stops the earlier the farther it is from the border."""
    x = np.random.default_rng(1).random((2000, 4))
    return x, np.clip(1.0 + 2.0 * (0.95 - x @ [0.9, 0.6, 0.3, 0.1]), 0.0, 1.0)


def idle() -> Table:
    """The same half-space; a run that fails stops at any time."""
    x, reach = telling()
    return x, np.where(reach < 1.0, np.random.default_rng(2).random(len(x)), 1.0)


TABLES = {"frame": frame, "telling": telling, "idle": idle}


def _mode(K: np.ndarray, z: np.ndarray, told: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
    """log evidence, d log p/dg and its negated slope at the mode; z: values, or the sign of g - 1 where not told."""
    f = np.zeros(len(z))
    for _ in range(30):
        t = z * f / TAU
        ratio = np.exp(-0.5 * t * t - 0.9189385332046727 - log_ndtr(t))
        slope = np.where(told, (z - f) / TAU**2, z * ratio / TAU)
        W = np.where(told, 1.0 / TAU**2, ratio * (t + ratio) / TAU**2)
        root = np.sqrt(np.maximum(W, 1e-10))
        L = np.linalg.cholesky(np.eye(len(z)) + root[:, None] * K * root)
        b = W * f + slope
        a = b - root * np.linalg.solve(L.T, np.linalg.solve(L, root * (K @ b)))
        step = K @ a - f
        f = f + step * min(1.0, 2.0 / max(1e-12, float(np.abs(step).max())))
        if float(np.abs(step).max()) < 1e-6:
            break
    t = z * f / TAU
    fits = np.where(told, -0.5 * ((z - f) / TAU) ** 2 - np.log(TAU) - 0.9189385332046727, log_ndtr(t))
    return float(fits.sum() - 0.5 * a @ f - np.log(np.diag(L)).sum()), slope, W


def reach_model(x: np.ndarray, reach: np.ndarray, at: np.ndarray, with_progress: bool) -> np.ndarray:
    """P(success) at points, by the model above."""
    ok = reach >= 1.0
    told = ~ok & with_progress & (reach > 0.0)
    logs, found = [], []
    for ell, sd in GRID:
        scale = ell * np.sqrt(x.shape[1])

        def kernel(a: np.ndarray, b: np.ndarray, scale: float = scale, sd: float = sd) -> np.ndarray:
            r = np.sqrt(5.0) * cdist(a, b) / scale
            return np.asarray(sd**2 * ((1.0 + r + r * r / 3.0) * np.exp(-r) + 0.25))

        K = kernel(x, x) + 1e-8 * np.eye(len(x))
        z = np.where(told, reach - 1.0, np.where(ok, 1.0, -1.0))
        evidence, slope, W = _mode(K, z, told)
        k = kernel(at, x)
        root = np.sqrt(np.maximum(W, 1e-10))
        L = np.linalg.cholesky(np.eye(len(x)) + root[:, None] * K * root)
        v = np.linalg.solve(L, root[:, None] * k.T)
        variance = np.maximum(1.25 * sd**2 - (v * v).sum(axis=0), 1e-9)
        logs.append(evidence)
        found.append(ndtr(k @ slope / np.sqrt(variance + TAU**2)))
    weights = np.exp(np.asarray(logs) - max(logs))
    return np.asarray(weights @ np.stack(found) / weights.sum())


def default_model(x: np.ndarray, reach: np.ndarray, at: np.ndarray) -> np.ndarray:
    """P(success) as surefoot learns it."""
    draws = np.zeros((1, N_RANDOM_STARTS, 0))
    with engine(len(x)):
        weight, _ = fit_success(Labels(x[None], (reach < 1.0)[None]), FAILURE_MODELS["experts"], None, draws)
        return np.asarray(to_host(weight.probability(at[None]))[0])


def log_loss(p: np.ndarray, ok: np.ndarray) -> float:
    """Mean of -log of the probability of what happened."""
    return float(-np.mean(np.log(np.clip(np.where(ok, p, 1.0 - p), 1e-6, None))))


def losses(table: Table, n: int, seed: int) -> list[float]:
    """Log loss of the default, of both forms of the model, and of the mean with the censored one."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(table[0]))
    shown, hidden = order[:n], order[n : n + N_TEST]
    x, reach, at, ok = table[0][shown], table[1][shown], table[0][hidden], table[1][hidden] >= 1.0
    default = default_model(x, reach, at)
    without, censored = (reach_model(x, reach, at, with_progress) for with_progress in (False, True))
    return [log_loss(p, ok) for p in (default, without, censored, 0.5 * (default + censored))]


def main(argv: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--designs", type=int, default=5)
    options = parser.parse_args(argv)
    rows = [["table", "labels", "default", "g, without progress", "g, with progress", "mean of default and g with"]]
    for name, make in TABLES.items():
        for n in SIZES:
            found = np.mean([losses(make(), n, seed) for seed in range(options.designs)], axis=0)
            rows.append([name, str(n), *(f"{loss:.3f}" for loss in found)])
    print(markdown(rows))


if __name__ == "__main__":
    main()
