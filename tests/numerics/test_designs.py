"""Designs in the unit cube and the random streams they are drawn from."""

import numpy as np
import pytest
from scipy.spatial.distance import pdist
from scipy.stats import qmc

from surefoot.numerics import designs

SHAPES = [(1, 1), (2, 3), (7, 1), (20, 4), (33, 10)]
MAKERS = {**designs.DESIGNS, "kronecker": designs.kronecker}


def rng(seed=0):
    return designs.generator(seed, 0, 0)


@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize(("n", "d"), SHAPES)
def test_every_design_lies_in_the_half_open_unit_cube(name, n, d):
    x = MAKERS[name](n, d, rng())
    assert x.shape == (n, d)
    assert x.dtype == np.float64
    assert x.min() >= 0.0
    assert x.max() < 1.0


@pytest.mark.parametrize("name", MAKERS)
def test_a_design_is_repeated_by_the_same_stream_and_only_by_that(name):
    first, again, other = (MAKERS[name](12, 3, rng(seed)) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert not np.isclose(first, other).any()


@pytest.mark.parametrize("name", ["lhs", "maximin"])
@pytest.mark.parametrize(("n", "d"), SHAPES)
def test_latin_hypercubes_have_one_point_in_each_stratum_of_each_input(name, n, d):
    x = designs.DESIGNS[name](n, d, rng(3))
    strata = np.sort(np.floor(n * x).astype(int), axis=0)
    np.testing.assert_array_equal(strata, np.arange(n)[:, None].repeat(d, axis=1))


def test_columns_of_a_latin_hypercube_are_permuted_independently():
    x = designs.latin_hypercube(200, 2, rng(4))
    assert abs(np.corrcoef(x.T)[0, 1]) < 0.3


def test_maximin_designs_keep_their_points_farther_apart_on_average():
    plain = np.mean([pdist(designs.latin_hypercube(15, 2, rng(s))).min() for s in range(60)])
    maximin = np.mean([pdist(designs.maximin_latin_hypercube(15, 2, rng(s))).min() for s in range(60)])
    assert maximin > 1.3 * plain


def test_a_maximin_design_is_the_best_of_the_designs_its_stream_gives():
    stream = rng(5)
    distances = [pdist(designs.latin_hypercube(10, 3, stream)).min() for _ in range(20)]
    assert pdist(designs.maximin_latin_hypercube(10, 3, rng(5))).min() == max(distances)


@pytest.mark.parametrize("d", [1, 3, 6])
def test_sobol_points_fill_every_dyadic_interval_of_each_input(d):
    x = designs.sobol(64, d, rng(6))
    strata = np.sort(np.floor(64 * x).astype(int), axis=0)
    np.testing.assert_array_equal(strata, np.arange(64)[:, None].repeat(d, axis=1))


def test_a_shorter_sobol_design_is_the_beginning_of_a_longer_one():
    np.testing.assert_array_equal(designs.sobol(10, 3, rng(7)), designs.sobol(32, 3, rng(7))[:10])


@pytest.mark.parametrize("d", [1, 2, 4])
def test_a_kronecker_lattice_is_spread_more_evenly_than_random_points(d):
    for seed in range(5):
        lattice = qmc.discrepancy(designs.kronecker(500, d, rng(seed)), method="L2-star")
        random = np.mean([qmc.discrepancy(rng(100 + s).random((500, d)), method="L2-star") for s in range(10)])
        assert lattice < 0.7 * random


def test_kronecker_lattices_of_different_streams_differ_by_a_shift():
    a, b = designs.kronecker(50, 3, rng(1)), designs.kronecker(50, 3, rng(2))
    shift = (a - b) % 1.0
    np.testing.assert_allclose((shift - shift[0] + 0.5) % 1.0, 0.5, atol=1e-12)
    assert not np.isclose(a[0], b[0]).any()


def test_a_stream_is_reproducible():
    np.testing.assert_array_equal(designs.generator(1, 2, 3).random(10), designs.generator(1, 2, 3).random(10))


def test_streams_differ_in_seed_run_and_iteration():
    keys = [(s, r, i) for s in range(4) for r in range(4) for i in range(4)]
    first = [designs.generator(*key).random() for key in keys]
    assert len(set(first)) == len(keys)


def test_streams_that_share_all_but_one_number_are_uncorrelated():
    base = designs.generator(1, 1, 1).random(4000)
    for key in [(2, 1, 1), (1, 2, 1), (1, 1, 2)]:
        assert abs(np.corrcoef(base, designs.generator(*key).random(4000))[0, 1]) < 5.0 / np.sqrt(4000)


def test_draws_of_a_run_do_not_depend_on_the_batch():
    streams = tuple(designs.generator(0, run, 5) for run in range(3))
    together = designs.draw(streams, lambda g: g.random((4, 2)), np.zeros(0))
    alone = designs.draw((designs.generator(0, 2, 5),), lambda g: g.random((4, 2)), np.zeros(0))
    np.testing.assert_array_equal(together[2], alone[0])


def test_even_normal_numbers_are_normal_and_finite():
    z = designs.even_normals(1024, 96, designs.generator(0, 0, 0))
    assert np.isfinite(z).all()
    np.testing.assert_allclose(z.mean(axis=0), 0.0, atol=0.01)
    np.testing.assert_allclose(z.var(axis=0), 1.0, atol=0.05)
    np.testing.assert_allclose(np.corrcoef(z.T), np.eye(96), atol=0.25)


def test_even_normal_numbers_are_finite_where_the_sequence_is_0(monkeypatch):
    monkeypatch.setattr(designs, "sobol", lambda n, d, rng: np.zeros((n, d)))
    assert np.isfinite(designs.even_normals(2, 3, designs.generator(0, 0, 0))).all()
