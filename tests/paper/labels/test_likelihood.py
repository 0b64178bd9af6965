"""How likely the paper's labels are under our runs."""

from itertools import product

import numpy as np
import pytest

from surefoot.paper.labels.comparisons import compare, labels
from surefoot.paper.labels.likelihood import LABELS, constants, label_probabilities, log_likelihoods, mix, smoothed


def by_all_draws(gaps):
    """The same from every ordered draw and the tests of the tables."""
    found = []
    for draw in product(range(len(gaps)), repeat=5):
        drawn = gaps[list(draw)][:, None]
        cells = {("F", "ScaledEI"): drawn, ("F", "EI"): np.zeros_like(drawn)}
        found.append(labels(compare(cells, 1))["F", "EI"])
    return np.asarray([np.mean(np.asarray(found) == code) for code in LABELS])


@pytest.mark.parametrize("gaps", [[-1.0, -0.2, 0.1, -0.8], [0.0, 0.0, 0.3, 0.4], [2.0, 2.0, 2.0, 2.1]])
def test_probabilities_are_those_of_all_groups_of_five(gaps):
    gaps = np.asarray(gaps)
    np.testing.assert_allclose(label_probabilities(gaps), by_all_draws(gaps), atol=1e-12)


def test_probabilities_sum_to_one():
    gaps = np.random.default_rng(0).standard_normal(15)
    assert label_probabilities(gaps).sum() == pytest.approx(1.0)


def test_seeds_that_all_say_nearer_leave_one_label():
    np.testing.assert_array_equal(label_probabilities(np.full(5, -0.7)), [0.0, 0.0, 1.0])


def test_no_smoothed_probability_is_zero():
    p = smoothed(np.asarray([0.0, 0.0, 1.0]))
    np.testing.assert_allclose(p, [1 / 18, 1 / 18, 16 / 18])


def test_the_log_likelihood_of_a_label_is_that_of_its_column():
    p = np.asarray([[0.2, 0.3, 0.5], [0.1, 0.8, 0.1]])
    np.testing.assert_allclose(log_likelihoods(p, [-1, 0]), np.log([0.2, 0.8]))


def test_constants_are_frequencies():
    np.testing.assert_allclose(constants([0, 0, 1, -1]), [0.25, 0.5, 0.25])


def test_runs_that_say_nothing_of_the_labels_have_no_share():
    found = [0, 1] * 50
    against = np.asarray([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0]] * 50)  # each time the other one
    mixture = mix(against, found)
    assert mixture.share < 1e-6
    assert mixture.log_likelihood == pytest.approx(100 * np.log(0.5), abs=1e-3)


def test_runs_that_know_every_label_have_all_of_it():
    mixture = mix(np.asarray([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]] * 50), [0, 1] * 50)
    assert mixture.share == pytest.approx(1.0, abs=1e-6)
