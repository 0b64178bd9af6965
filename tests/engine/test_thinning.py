from dataclasses import replace

import numpy as np
import pytest

from surefoot import Optimizer
from surefoot.engine.success import Labels, fit_success
from surefoot.engine.thinning import informative
from surefoot.failures.registry import FAILURE_MODELS, MAX_LABELS


def crowded(n=500, seed=0):
    """A third all over the square, the rest crowding at a point beside the boundary of a half-plane that fails."""
    rng = np.random.default_rng(seed)
    centre, spread = np.array([0.44, 0.5]), 10.0 ** rng.uniform(-4.0, -1.0, (n - n // 3, 1))
    crowd = np.clip(centre + spread * rng.standard_normal((n - n // 3, 2)), 0.0, 1.0)
    X = np.concatenate([rng.random((n // 3, 2)), crowd])
    return X[None], (X[:, 0] > 0.45)[None]


def test_both_kinds_lose_the_same_share_and_the_order_stays():
    X, failed = crowded()
    kept = informative(X, failed, None, None, 300)[0]
    assert len(kept) == len(set(kept)) == 300
    assert (np.diff(kept) > 0).all()
    assert failed[0, kept].mean() == pytest.approx(failed.mean(), abs=0.01)


def test_labels_that_repeat_an_earlier_one_go_first():
    rng = np.random.default_rng(1)
    X = np.concatenate([rng.random((20, 2)), np.zeros((20, 2))])
    X[20:] = X[:20] + 1e-6
    failed = np.tile(X[:20, 0] > 0.5, 2)
    assert informative(X[None], failed[None], None, None, 20)[0].tolist() == list(range(20))


def test_rows_that_were_not_seen_go_before_all_others():
    X, failed = crowded(120)
    seen = np.ones(failed.shape, bool)
    seen[0, 40:70] = False
    kept = informative(X, failed, seen, None, 80)[0]
    assert seen[0, kept].all()
    assert set(informative(X, failed, seen, None, 100)[0]) >= set(np.flatnonzero(seen[0]))


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_labels_of_one_kind_alone_are_thinned_too(share):
    X, _ = crowded(120)
    assert len(informative(X, np.full((1, 120), bool(share)), None, None, 50)[0]) == 50


def test_length_scales_decide_what_is_near():
    X = np.array([[[0.0, 0.0], [0.0, 0.9], [0.5, 0.0], [1.0, 0.0]]])
    failed = np.zeros((1, 4), bool)
    assert 1 not in informative(X, failed, None, np.array([[1.0, 1e-3]]), 3)[0]
    assert 1 in informative(X, failed, None, np.array([[1e-3, 1.0]]), 2)[0]


@pytest.mark.parametrize("name", FAILURE_MODELS)
def test_the_map_of_the_kept_labels_is_that_of_all(name):
    X, failed = crowded(450)
    model = FAILURE_MODELS[name]
    kept = informative(X, failed, None, None, model.keeps(450))[0]
    at = np.random.default_rng(3).random((1, 400, 2))
    uniforms = np.random.default_rng(4).random((1, 16, 3))

    def wrong_side(X, failed):
        everything = replace(model, keeps=lambda n: n)
        weight, _ = fit_success(Labels(X, failed), everything, None, uniforms)
        log_p = weight.of.log_p(at)
        return float(((log_p > np.log(0.5)) != (at[..., 0] <= 0.45)).mean())

    assert wrong_side(X[:, kept], failed[:, kept]) <= wrong_side(X, failed) + 0.02


def test_an_optimizer_with_many_labels_goes_on_suggesting():
    X, failed = crowded(MAX_LABELS + 20)
    optimizer = Optimizer([(0.0, 1.0)] * 2, n_init=1, failures="ep")
    for x, bad in zip(X[0], failed[0], strict=True):
        if bad:
            optimizer.tell_failure(x, "beyond")
        else:
            optimizer.tell(x, float(((x - 0.2) ** 2).sum()))
    for _ in range(2):
        x = np.asarray(optimizer.ask())
        assert x[0] <= 0.47
        optimizer.tell(x, float(((x - 0.2) ** 2).sum()))


def test_of_very_many_labels_both_kinds_keep_their_share_and_memory_stays_small():
    rng = np.random.default_rng(5)
    X = rng.random((1, 8000, 2))
    failed = X[..., 0] > 0.9
    kept = informative(X, failed, None, None, 200)[0]
    assert len(set(kept)) == 200
    assert failed[0, kept].mean() == pytest.approx(failed.mean(), abs=0.02)
