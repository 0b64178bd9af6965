"""The two searches: the exact one and the paper's."""

import numpy as np
import pytest

from surefoot.acquisition.maximize import maximize_by_gradient
from surefoot.acquisition.paper_search import ABSOLUTE, BAYESOPT, N_STARTS, N_UNIFORM, RELATIVE, maximize_as_the_paper
from surefoot.acquisition.registry import PAPER_POLICIES, policy_at
from surefoot.numerics.designs import generator, kronecker

MODEL_BASED = [name for name in (*PAPER_POLICIES, "MES-R") if policy_at(name, 0).prepare is not None]
each_policy = pytest.mark.parametrize("name", MODEL_BASED)


def uniform(R, d, m=N_UNIFORM):
    return np.stack([generator(2, r, 0).random((m, d)) for r in range(R)])


def lattice_and_clouds(post):
    R, _, d = post.X.shape
    lattice = np.stack([kronecker(600, d, generator(0, r, 3)) for r in range(R)])
    rng = generator(0, 0, 4)
    clouds = post.X[:, :3].repeat(40, axis=1) + 10.0 ** -rng.uniform(1, 6, (R, 120, 1)) * rng.standard_normal(
        (R, 120, d)
    )
    return lattice, np.clip(clouds, 0.0, 1.0)


@each_policy
def test_the_papers_search_stays_in_the_cube_and_ends_no_lower_than_its_best_start(
    name, make_posterior, make_target, make_raw
):
    post, _, f_best = make_posterior(2, 12, 2)
    target = make_target(name, post, f_best)
    starts = uniform(2, 2)
    found = maximize_as_the_paper([make_raw(target)], [starts])[0]
    assert found.x.min() >= 0.0
    assert found.x.max() <= 1.0
    best = make_raw(target).values(starts).max(axis=1)
    assert (found.value[:, 0] >= best - 1e-9 * np.abs(best)).all()


def test_the_papers_search_ends_in_ten_points_best_first(make_posterior, make_target, make_raw):
    post, _, f_best = make_posterior(2, 12, 2)
    found = maximize_as_the_paper([make_raw(make_target("EI", post, f_best))], [uniform(2, 2)])[0]
    assert found.x.shape == (2, N_STARTS, 2)
    assert (np.diff(found.value, axis=1) <= 0.0).all()


def test_the_papers_search_reports_the_policy_itself_and_not_its_logarithm(make_posterior, make_target, make_raw):
    post, _, f_best = make_posterior(1, 12, 2)
    target = make_target("EI", post, f_best)
    found = maximize_as_the_paper([make_raw(target)], [uniform(1, 2)])[0]
    np.testing.assert_allclose(found.value, np.exp(target.values(found.x)), rtol=1e-9)


def test_a_run_alone_is_searched_by_the_papers_method_as_in_a_batch(make_posterior, make_target, make_raw):
    post, _, f_best = make_posterior(3, 12, 2)
    target = make_target("ScaledEI", post, f_best)
    together = maximize_as_the_paper([make_raw(target)], [uniform(3, 2)])[0]
    for r in range(3):
        alone = maximize_as_the_paper([make_raw(target.select(np.array([r])))], [uniform(3, 2)[r : r + 1]])[0]
        np.testing.assert_allclose(together.x[r, 0], alone.x[0, 0], rtol=0, atol=1e-9)


@each_policy
def test_the_exact_search_stays_in_the_cube_and_ends_no_lower_than_any_candidate(name, make_posterior, make_target):
    post, _, f_best = make_posterior(2, 15, 2)
    target = make_target(name, post, f_best)
    lattice, clouds = lattice_and_clouds(post)
    found = maximize_by_gradient(target, lattice, clouds, np.ones(2, dtype=bool))
    assert found.x.min() >= 0.0
    assert found.x.max() <= 1.0
    best = np.maximum(target.values(lattice).max(axis=1), target.values(clouds).max(axis=1))
    assert (found.value[:, 0] >= best - 1e-9 * np.abs(best)).all()


@pytest.mark.parametrize("name", ["EI", "ScaledEI", "LCB", "MN"])
def test_no_dense_grid_beats_the_exact_search(name, make_posterior, make_target):
    post, _, f_best = make_posterior(2, 12, 2)
    target = make_target(name, post, f_best)
    found = maximize_by_gradient(target, *lattice_and_clouds(post), np.ones(2, dtype=bool))
    axis = np.linspace(0.0, 1.0, 151)
    grid = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(1, -1, 2).repeat(2, axis=0)
    assert (found.value[:, 0] >= target.values(grid).max(axis=1) - 1e-6).all()


@each_policy
def test_values_reported_by_the_exact_search_are_those_at_its_points(name, make_posterior, make_target):
    post, _, f_best = make_posterior(2, 15, 2)
    target = make_target(name, post, f_best)
    found = maximize_by_gradient(target, *lattice_and_clouds(post), np.ones(2, dtype=bool))
    np.testing.assert_allclose(found.value[:, 0], target.values(found.x)[:, 0], rtol=1e-6, atol=1e-6)
    assert (np.diff(found.value, axis=1) <= 0.0).all()


def test_inputs_that_are_not_free_keep_the_value_of_their_candidate(make_posterior, make_target):
    post, _, f_best = make_posterior(1, 15, 3)
    lattice, clouds = lattice_and_clouds(post)
    lattice[..., 1] = np.round(4.0 * lattice[..., 1]) / 4.0
    clouds[..., 1] = np.round(4.0 * clouds[..., 1]) / 4.0
    found = maximize_by_gradient(make_target("EI", post, f_best), lattice, clouds, np.array([True, False, True]))
    np.testing.assert_array_equal(4.0 * found.x[..., 1] % 1.0, 0.0)


def test_a_run_alone_is_searched_exactly_as_in_a_batch(make_posterior, make_target):
    post, _, f_best = make_posterior(3, 12, 2)
    target = make_target("EI", post, f_best)
    lattice, clouds = lattice_and_clouds(post)
    free = np.ones(2, dtype=bool)
    together = maximize_by_gradient(target, lattice, clouds, free)
    for r in range(3):
        some = np.array([r])
        alone = maximize_by_gradient(target.select(some), lattice[some], clouds[some], free)
        np.testing.assert_allclose(together.x[r, 0], alone.x[0, 0], rtol=0, atol=1e-7)


@pytest.mark.parametrize("name", ["MN", "LCB"])
def test_the_relative_tolerance_of_a_level_counts_from_the_users_zero(name, make_posterior, make_target, make_raw):
    post, _, f_best = make_posterior(1, 20, 2)
    near_zero = make_raw(make_target(name, post, f_best), zero=f_best - 1e-3)  # the least value is about 1e-3 there
    standardized = make_target(name, post, f_best)
    starts = uniform(1, 2)
    deep, shallow = (maximize_as_the_paper([raw], [starts])[0] for raw in (near_zero, make_raw(standardized)))
    assert standardized.values(deep.x)[0, 0] >= standardized.values(shallow.x)[0, 0]
    spread = [np.ptp(standardized.values(found.x)[0, :3]) for found in (deep, shallow)]
    assert spread[0] <= spread[1]


def test_policies_that_are_no_levels_keep_their_own_zero(make_posterior, make_target, make_raw):
    post, _, f_best = make_posterior(1, 12, 2)
    target = make_target("EI", post, f_best)
    x = uniform(1, 2)[:, :5]
    np.testing.assert_array_equal(make_raw(target, zero=f_best + 7.0).values(x), make_raw(target).values(x))


def test_the_absolute_tolerance_of_ei_counts_in_the_users_units_and_that_of_scaled_ei_does_not(
    make_posterior, make_target, make_raw
):
    post, _, f_best = make_posterior(1, 20, 2)
    starts = uniform(1, 2)

    def found(name, unit):
        target = make_raw(make_target(name, post, f_best), unit=np.full((1, 1), unit))
        return maximize_as_the_paper([target], [starts], ABSOLUTE)[0].value[0, 0]

    assert found("EI", 1e-6) > found("EI", 1e6)  # y in large units: a step of 1e-3 is nothing; in small ones everything
    assert found("ScaledEI", 1e-6) == found("ScaledEI", 1e6)


def test_with_an_absolute_tolerance_a_policy_far_below_it_is_not_searched(make_posterior, make_target, make_raw):
    post, _, f_best = make_posterior(1, 20, 2)
    starts = uniform(1, 2)
    target = make_raw(make_target("EI", post, f_best), unit=np.full((1, 1), 1e9))
    found = maximize_as_the_paper([target], [starts], ABSOLUTE)[0]
    best = starts[0, target.values(starts)[0].argmax()]
    assert np.abs(found.x[0, 0] - best).max() <= 0.05  # the best screening point or a vertex of the first simplex


def test_as_bayesopt_does_it_a_search_ends_after_nine_moves(make_posterior, make_target, make_raw):
    post, _, f_best = make_posterior(1, 20, 2)
    starts = uniform(1, 2)
    raw = make_raw(make_target("EI", post, f_best))
    short, long = (maximize_as_the_paper([raw], [starts], reading)[0] for reading in (BAYESOPT, RELATIVE))
    first = raw.values(starts).max()
    assert first <= short.value[0, 0] < long.value[0, 0]


def test_as_bayesopt_does_it_every_proposal_lies_in_the_box(make_posterior, make_target, make_raw):
    post, _, f_best = make_posterior(2, 20, 3)
    raw = make_raw(make_target("MN", post, f_best), origin=-3.0)
    found = maximize_as_the_paper([raw], [uniform(2, 3)], BAYESOPT)[0]
    assert found.x.min() >= 0.0
    assert found.x.max() <= 1.0
