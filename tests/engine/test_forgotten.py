"""Runs of a batch of which one forgets what its searches for hyperparameters found; evaluations that are taken out."""

from dataclasses import replace

import numpy as np
import pytest

from surefoot.engine import suggest as suggest_module
from surefoot.engine.batch import Batch
from surefoot.engine.suggest import suggest
from surefoot.engine.warmth import Warmth
from surefoot.optimize.settings import Settings
from surefoot.optimize.space import Space


@pytest.mark.parametrize("as_on_a_gpu", [False, True])
def test_a_run_that_forgets_its_hyperparameters_leaves_others_theirs(as_on_a_gpu, monkeypatch):
    rng, begun = np.random.default_rng(1), (6, 6)
    X, space, spec = rng.random((2, 20, 2)), Space.of([(0.0, 1.0)] * 2), Settings(n_init=6).spec
    batch = Batch(X, ((X - 0.3) ** 2).sum(axis=-1), np.ones((2, 20), bool), np.zeros((2, 0, 2)), (0, 1))
    warmth = suggest(space, batch.of_evaluations(np.tile(np.arange(18), (2, 1))), 18, spec, Warmth(begun=begun)).warmth
    if as_on_a_gpu:
        monkeypatch.setattr(suggest_module, "on_cuda", lambda _: True)
    found = suggest(space, batch, 20, spec, replace(warmth, phases=(1, 0))).warmth
    assert found.objective.n_cold == (20, 18)


def test_where_evaluations_were_taken_out_a_run_can_settle_among_those_that_are_left():
    X, space, spec = np.random.default_rng(1).random((1, 20, 2)), Space.of([(0.0, 1.0)] * 2), Settings(n_init=6).spec
    batch = Batch(X, ((X - 0.3) ** 2).sum(axis=-1), np.ones((1, 20), bool), np.zeros((1, 0, 2)), (0,))
    assert suggest(space, batch, 20, spec, Warmth(begun=(100,))).warmth.begun == (20,)
    assert suggest(space, batch, 20, spec, Warmth(begun=(8,))).warmth.begun == (8,)
