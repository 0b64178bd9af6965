"""P(success) from labels alone."""

import numpy as np

from surefoot import minimize
from surefoot.calibration.success import learn_success

UNITS = np.random.default_rng(0).random((60, 2))
FAILED = UNITS.sum(axis=1) > 1.2


def test_nothing_is_learned_where_nothing_failed():
    assert learn_success(UNITS, np.zeros(60, bool)) is None


def test_it_is_high_where_simulations_ran_and_low_where_they_failed():
    success = learn_success(UNITS, FAILED)
    corners = success(np.array([[0.1, 0.1], [0.9, 0.9]]))
    assert corners[0] > 0.95
    assert corners[1] < 0.05


def test_it_is_what_an_optimization_learns_from_the_same_labels():
    def fails(x):
        return float("nan") if x[0] + x[1] > 1.2 else x[0]

    found = minimize(fails, [(0, 1), (0, 1)], n_evals=20, n_init=20, failures="ep")
    points = np.random.default_rng(1).random((50, 2))
    success = learn_success(np.asarray(found.x_iters), ~found.history.ok)
    np.testing.assert_allclose(success(points), found.success_probability(list(points)), atol=1e-6)


def test_many_labels_are_thinned_and_say_the_same():
    units = np.random.default_rng(2).random((420, 2))
    success = learn_success(units, units.sum(axis=1) > 1.2)
    margin = np.array([[0.5, 0.55], [0.5, 0.85]])
    assert success(margin)[0] > 0.8
    assert success(margin)[1] < 0.2
