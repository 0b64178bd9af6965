"""Helpers of the parity tests: a family of small problems, one per run."""

from collections.abc import Callable
from types import SimpleNamespace

import numpy as np
import pytest

from surefoot.engine.batch import Batch
from surefoot.engine.suggest import initial_design, suggest
from surefoot.engine.warmth import Warmth
from surefoot.optimize.settings import Settings
from surefoot.optimize.space import Space

SPACE = Space.of([(0.0, 1.0), (0.0, 1.0)])
N_INIT = 8


def values(X: np.ndarray, run_ids: np.ndarray) -> np.ndarray:
    """y (R, n) at X (R, n, 2); every run has a function of its own."""
    a, b = X[..., 0] - 0.2 - 0.01 * run_ids, X[..., 1] - 0.7 + 0.008 * run_ids
    return 3.0 * a * a + b * b + 0.3 * np.sin(9.0 * a + run_ids) * np.cos(5.0 * b)


def failed(X: np.ndarray, run_ids: np.ndarray) -> np.ndarray:
    """A failing strip, of another width for every run: unequal numbers of failures, none at all for some."""
    return X[..., 0] > 0.7 + 0.007 * run_ids


def make_runs(X: np.ndarray, run_ids: list[int], failing: bool = False, n_pending: int = 0) -> Batch:
    ids = np.asarray(run_ids)[:, None]
    pending = X[:, X.shape[1] - n_pending :]
    X = X[:, : X.shape[1] - n_pending]
    ok = ~failed(X, ids) if failing else np.ones(X.shape[:2], dtype=bool)
    kinds = np.where(ok, -1, (X[..., 1] > 0.5).astype(int))
    return Batch(X, np.where(ok, values(X, ids), np.nan), ok, pending, tuple(run_ids), kinds=kinds)


def loop(run_ids: list[int], settings: Settings, steps: int = 10, failing: bool = False) -> np.ndarray:
    """X (R, n, 2) after some steps from the initial design, every run on what it proposed itself."""
    X = np.stack([initial_design(SPACE, settings.spec, run) for run in run_ids])
    warmth = Warmth()
    for number in range(N_INIT, N_INIT + steps):
        suggestion = suggest(SPACE, make_runs(X, run_ids, failing), number, settings.spec, warmth)
        warmth = suggestion.warmth
        X = np.concatenate([X, suggestion.x[:, None]], axis=1)
    return X


def cut(warmth: Warmth, r: int) -> Warmth:
    """The warmth of one run of a batch."""
    return warmth.part(np.asarray([r]))


@pytest.fixture(scope="session")
def family() -> SimpleNamespace:
    """The helpers above: files of tests do not import each other."""
    members: dict[str, Callable[..., object] | object] = {
        "space": SPACE, "n_init": N_INIT, "make_runs": make_runs, "loop": loop, "cut": cut, "failed": failed,
    }  # fmt: skip
    return SimpleNamespace(**members)
