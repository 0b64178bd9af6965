from __future__ import annotations

import numpy as np

from surefoot.engine.success import Labels, fit_success
from surefoot.failures.experts import REFITS
from surefoot.failures.registry import FAILURE_MODELS
from surefoot.gp.hyperparameters import is_due
from surefoot.numerics.latest import Latest


def test_what_was_asked_for_lately_is_not_computed_again():
    calls: list[str] = []
    latest: Latest[str] = Latest(size=2)
    for key in ("a", "b", "a", "c", "a", "b"):
        assert latest.of(key, lambda key=key: calls.append(key) or key.upper()) == key.upper()
    assert calls == ["a", "b", "c", "b"]


def test_maps_that_are_remembered_have_the_bits_of_maps_that_are_computed(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.random((1, 37, 2))
    failed = X[..., 0] + 0.5 * X[..., 1] > 0.9
    model, nothing = FAILURE_MODELS["experts"], np.zeros((1, 0, 0))
    _, state = fit_success(Labels(X[:, :36], failed[:, :36]), model, None, nothing)
    assert not is_due(37, state, REFITS)
    x = rng.random((1, 50, 2))

    def ask() -> np.ndarray:
        return fit_success(Labels(X, failed), model, state, nothing)[0].of.log_p(x)

    first, again = ask(), ask()
    monkeypatch.setattr("surefoot.failures.experts._latest", Latest(size=1))
    np.testing.assert_array_equal(first, again)
    np.testing.assert_array_equal(first, ask())
