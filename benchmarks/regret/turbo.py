"""TuRBO-1, written anew after Eriksson et al., "Scalable Global Optimization via Local Bayesian Optimization" (2019).

It is not on PyPI as a library. This is the paper's method with its settings: an exact process (Matern 5/2, a length
scale for each input, 50 steps of Adam from the same start at every round), a trust region round the best point whose
sides follow the length scales, candidates that differ from the best point in about 20 inputs, and a draw of the process
for each point of a batch. After a success three times in a row the region doubles, after max(4, d) / q failures it
halves, and when it is too small a new one begins, with a design and data of its own.

Shapes    X (n, d) in the unit cube, y (n,); q points are asked for at once.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from benchmarks.regret.suites import Objective
from surefoot.numerics.designs import latin_hypercube, sobol
from surefoot.paper.studies.failures.peers import impute

FIRST, LEAST, MOST = 0.8, 0.5**7, 1.6  # side of the region
SUCCESSES = 3
STEPS, RATE = 50, 0.1  # of Adam
CANDIDATES = 100  # for each input, but at most
MOST_CANDIDATES = 5000
CHANGED = 20  # inputs of a candidate that differ from the best point, about
GAIN = 1e-3  # of the best value: less is no success
BOXES = {"ell": (0.005, 2.0, 0.5), "s2": (0.05, 20.0, 1.0), "noise": (5e-4, 0.2, 0.005)}  # low, high, start


def turbo(f: Objective, design: np.ndarray, n: int, seed: int, q: float = 4) -> Any:
    """TuRBO-1 with batches of q. A given design is that of its first region; others have 2 d points."""
    rng, low, high = np.random.default_rng(seed), *np.asarray(f.bounds).T

    def evaluate(units: np.ndarray) -> np.ndarray:
        for unit in units[: n - len(f.y)]:
            f(low + unit * (high - low))
        return impute(f.y)[-len(units) :]

    first = (design - low) / (high - low) if len(design) else latin_hypercube(2 * f.d, f.d, rng)
    while len(f.y) < n:
        X = first if not f.y else latin_hypercube(2 * f.d, f.d, rng)
        y = evaluate(X)
        side, wins, losses = FIRST, 0, 0
        while len(f.y) < n and side >= LEAST:
            batch = _batch(X, y, side, int(q), rng)
            values = evaluate(batch)
            if values.min() < y.min() - GAIN * abs(y.min()):
                wins, losses = wins + 1, 0
            else:
                wins, losses = 0, losses + 1
            if wins == SUCCESSES:
                side, wins = min(2.0 * side, MOST), 0
            elif losses >= math.ceil(max(4.0, f.d) / q):
                side, losses = side / 2.0, 0
            X, y = np.concatenate([X, batch[: len(values)]]), np.concatenate([y, values])


def _batch(X: np.ndarray, y: np.ndarray, side: float, q: int, rng: np.random.Generator) -> np.ndarray:
    """The next q points: of each draw the best of the candidates in the region."""
    import torch

    d = X.shape[1]
    best = X[np.argmin(y)]
    scale = y.std() or 1.0
    ell, s2, noise = _fit(torch.tensor(X), torch.tensor((y - np.median(y)) / scale))
    sides = ell / ell.mean()
    sides = side * (sides / np.exp(np.log(sides).mean()))
    low, high = np.clip(best - sides / 2.0, 0.0, 1.0), np.clip(best + sides / 2.0, 0.0, 1.0)
    m = min(CANDIDATES * d, MOST_CANDIDATES)
    inside = low + sobol(m, d, rng) * (high - low)
    changed = rng.random((m, d)) <= min(CHANGED / d, 1.0)
    changed[np.arange(m), rng.integers(d, size=m)] |= ~changed.any(axis=1)
    candidates = np.where(changed, inside, best)
    draws = _draw(X, (y - np.median(y)) / scale, candidates, ell, s2, noise, rng.standard_normal((m, q)))
    chosen: list[int] = []
    for j in range(q):
        order = np.argsort(draws[:, j])
        chosen.append(next(i for i in order.tolist() if i not in chosen))
    return np.asarray(candidates[chosen])


def _correlation(A: Any, B: Any, ell: Any) -> Any:
    """Matern 5/2."""
    import torch

    r = torch.cdist(A / ell, B / ell, compute_mode="donot_use_mm_for_euclid_dist").clamp_min(1e-12) * math.sqrt(5.0)
    return (1.0 + r + r * r / 3.0) * torch.exp(-r)


def _fit(X: Any, y: Any) -> tuple[np.ndarray, float, float]:
    """Length scales (d,), variance and noise of greatest likelihood in their boxes, after STEPS steps; mean 0."""
    import torch

    def inverse(name: str, size: int) -> Any:
        low, high, start = BOXES[name]
        share = (start - low) / (high - low)
        return torch.full((size,), math.log(share / (1.0 - share)), dtype=X.dtype, requires_grad=True)

    def in_box(name: str, free: Any) -> Any:
        low, high, _ = BOXES[name]
        return low + (high - low) * torch.sigmoid(free)

    free = {name: inverse(name, X.shape[1] if name == "ell" else 1) for name in BOXES}
    adam = torch.optim.Adam(list(free.values()), lr=RATE)
    eye = torch.eye(len(y), dtype=X.dtype)
    for _ in range(STEPS):
        adam.zero_grad()
        ell, s2, noise = (in_box(name, free[name]) for name in BOXES)
        L = torch.linalg.cholesky(s2 * _correlation(X, X, ell) + (noise + 1e-8) * eye)
        half = torch.linalg.solve_triangular(L, y[:, None], upper=False)
        (0.5 * (half**2).sum() / len(y) + L.diagonal().log().sum() / len(y)).backward()
        adam.step()
    found = {name: in_box(name, free[name]).detach().numpy() for name in BOXES}
    return found["ell"], float(found["s2"][0]), float(found["noise"][0])


def _draw(
    X: np.ndarray, y: np.ndarray, Z: np.ndarray, ell: np.ndarray, s2: float, noise: float, normals: np.ndarray
) -> np.ndarray:
    """Draws (m, q) of the process at Z (m, d)."""
    import torch

    A, B, scales = torch.tensor(X), torch.tensor(Z), torch.tensor(ell)
    L = torch.linalg.cholesky(s2 * _correlation(A, A, scales) + (noise + 1e-8) * torch.eye(len(y), dtype=A.dtype))
    cross = torch.linalg.solve_triangular(L, s2 * _correlation(A, B, scales), upper=False)
    mean = cross.T @ torch.linalg.solve_triangular(L, torch.tensor(y)[:, None], upper=False)
    cov = s2 * _correlation(B, B, scales) - cross.T @ cross
    root = torch.linalg.cholesky(cov + 1e-6 * s2 * torch.eye(len(Z), dtype=A.dtype))
    return np.asarray((mean + root @ torch.tensor(normals)).numpy())
