"""`python -m benchmarks.regret.mixed.make_tables`: train scikit-learn's models once on whole grids; writes tables.npz.

About ten minutes. Each table holds the cross-validated loss (3 folds) at every node of its grid; the last axes are
those of tables.GRIDS. What does not depend on an axis is copied along it (degree of a kernel that is no polynomial).
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from scipy.spatial.distance import cdist
from sklearn import datasets, ensemble, preprocessing, svm
from sklearn.decomposition import PCA
from sklearn.model_selection import KFold, StratifiedKFold

from benchmarks.regret.mixed.tables import GRIDS, TABLES

DIVERGED = 200.0  # the error of a boosting that diverges; that of a constant is 77
Fold = tuple[np.ndarray, np.ndarray]
SCALERS = {
    "none": lambda: None,
    "standard": preprocessing.StandardScaler,
    "minmax": preprocessing.MinMaxScaler,
    "robust": preprocessing.RobustScaler,
    "quantile": lambda: preprocessing.QuantileTransformer(n_quantiles=100),
}


def _levels(name: str) -> dict[str, tuple]:
    return {axis.name: axis.levels for axis in GRIDS[name]}


def _table(name: str) -> np.ndarray:
    return np.full([len(axis.levels) for axis in GRIDS[name]], np.nan)


def _nodes(of: dict[str, tuple], names: tuple[str, ...]) -> Iterator[tuple[tuple[int, ...], tuple]]:
    """The nodes of some axes: their place, and their levels."""
    for place in itertools.product(*(range(len(of[name])) for name in names)):
        yield place, tuple(of[name][i] for name, i in zip(names, place, strict=True))


def _folds(X: np.ndarray, y: np.ndarray, classes: bool = True) -> list[Fold]:
    kind = StratifiedKFold if classes else KFold
    return list(kind(3, shuffle=True, random_state=0).split(X, y))


def _scaled(name: str, train: np.ndarray, test: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    scaler = SCALERS[name]()
    return (train, test) if scaler is None else (scaler.fit_transform(train), scaler.transform(test))


def _svm() -> np.ndarray:
    """Error of a support vector classifier on 600 digits."""
    X, y = (a[:600] for a in datasets.load_digits(return_X_y=True))
    of, out = _levels("svm"), _table("svm")
    done = np.nan
    for (i, scaler), (train, test) in itertools.product(enumerate(of["scaler"]), _folds(X, y)):
        A, B = _scaled(scaler, X[train], X[test])
        for (j, kernel), (a, C) in itertools.product(enumerate(of["kernel"]), enumerate(of["C"])):
            for (b, gamma), (c, degree) in itertools.product(enumerate(of["gamma"]), enumerate(of["degree"])):
                at = np.s_[a, b, c, j, i]
                if (kernel != "poly" and c) or (kernel == "linear" and b):
                    error = done  # it does not matter here
                else:
                    model = svm.SVC(C=C, kernel=kernel, gamma=gamma, degree=degree, max_iter=2000)
                    error = done = np.mean(model.fit(A, y[train]).predict(B) != y[test])
                out[at] = np.nansum([out[at], error / 3])
    return out


def _neighbours() -> np.ndarray:
    """Error of k nearest neighbours on 600 digits, after scaling and principal components."""
    X, y = (a[:600] for a in datasets.load_digits(return_X_y=True))
    of, out = _levels("neighbours"), _table("neighbours")
    out[:] = 0.0
    for (i, scaler), (train, test) in itertools.product(enumerate(of["scaler"]), _folds(X, y)):
        A, B = _scaled(scaler, X[train], X[test])
        pca = PCA(max(of["components"]), svd_solver="full").fit(A)
        A, B = pca.transform(A), pca.transform(B)
        for (b, q), (j, metric) in itertools.product(enumerate(of["components"]), enumerate(of["metric"])):
            D = cdist(B[:, :q], A[:, :q], metric)
            order = np.argsort(D, axis=1, kind="stable")[:, : max(of["neighbours"])]
            near, hit = np.take_along_axis(D, order, axis=1), np.eye(10)[y[train][order]]  # (m, k), (m, k, 10)
            for v, weights in enumerate((np.ones_like(near), 1.0 / np.maximum(near, 1e-12))):
                votes = np.cumsum(hit * weights[..., None], axis=1)  # (m, k, 10)
                wrong = (votes.argmax(axis=2) != y[test][:, None]).mean(axis=0)  # of every k
                out[:, b, j, i, v] += wrong[np.asarray(of["neighbours"]) - 1] / 3
    return out


def _forest() -> np.ndarray:
    """Log loss of a forest on the breast cancer data; the first trees of a large forest are a small one."""
    X, y = datasets.load_breast_cancer(return_X_y=True)
    of, out = _levels("forest"), _table("forest")
    out[:] = 0.0
    names = ("depth", "leaf", "features", "criterion", "bootstrap")
    for train, test in _folds(X, y):
        for place, (depth, leaf, features, criterion, bootstrap) in _nodes(of, names):
            model = ensemble.RandomForestClassifier(
                max(of["trees"]), criterion=criterion, max_depth=depth, min_samples_leaf=leaf, max_features=features,
                bootstrap=bootstrap, random_state=0,
            )  # fmt: skip
            model.fit(X[train], y[train])
            votes = np.cumsum([tree.predict_proba(X[test])[:, 1] for tree in model.estimators_], axis=0)
            for a, trees in enumerate(of["trees"]):
                p = np.clip(votes[trees - 1] / trees, 0.01, 0.99)
                loss = -np.mean(np.where(y[test] == 1, np.log(p), np.log(1.0 - p)))
                out[(a, *place)] += loss / 3
    return out


def _boosting() -> np.ndarray:
    """Root of the mean squared error of boosted trees on the diabetes data; stages are read off one fit."""
    X, y = datasets.load_diabetes(return_X_y=True)
    of, out = _levels("boosting"), _table("boosting")
    out[:] = 0.0
    names = ("rate", "depth", "subsample", "loss", "features")
    for train, test in _folds(X, y, classes=False):
        for place, (rate, depth, subsample, loss, features) in _nodes(of, names):
            model = ensemble.GradientBoostingRegressor(
                loss=loss, learning_rate=rate, n_estimators=max(of["stages"]), subsample=subsample, max_depth=depth,
                max_features=None if features == "all" else features, random_state=0,
            )  # fmt: skip
            model.fit(X[train], y[train])
            squares = [np.mean((guess - y[test]) ** 2) for guess in model.staged_predict(X[test])]
            out[(slice(None), *place)] += np.asarray(squares)[np.asarray(of["stages"]) - 1] / 3
    return np.minimum(np.sqrt(out), DIVERGED)


def _features() -> np.ndarray:
    """Squared error of linear discrimination of three wines by some of 13 features, each of which costs 0.002."""
    X, y = datasets.load_wine(return_X_y=True)
    X, Y = preprocessing.StandardScaler().fit_transform(X), np.eye(3)[y]
    out = _table("features")
    for chosen in itertools.product((0, 1), repeat=13):
        A = np.column_stack([np.ones(len(X)), X[:, np.asarray(chosen, bool)]])
        H = A @ np.linalg.solve(A.T @ A + 1e-6 * np.eye(A.shape[1]), A.T)
        rest = (Y - H @ Y) / (1.0 - np.diag(H))[:, None]  # each left out once
        out[chosen] = np.mean(np.sum(rest**2, axis=1)) + 0.002 * sum(chosen)
    return out


def main() -> None:
    """Train everything."""
    warnings.simplefilter("ignore")
    makers = {"svm": _svm, "neighbours": _neighbours, "forest": _forest, "boosting": _boosting, "features": _features}
    found = {}
    for name, make in makers.items():
        found[name] = make().astype(np.float32)
        print(f"{name}: {found[name].shape}, {found[name].min():.4f} to {found[name].max():.4f}", flush=True)
        np.savez_compressed(Path(TABLES), **found)


if __name__ == "__main__":
    main()
