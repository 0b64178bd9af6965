"""Candidates and climbing where integers and categories move by steps."""

import numpy as np

from surefoot import Categorical, Integer, minimize
from surefoot.engine import candidates
from surefoot.numerics.designs import generator
from surefoot.optimize.space import Space

MIXED = Space.of([(0.0, 1.0), Integer(1, 60), Categorical("abcde")])


def drawn(space, n, seed=0):
    X = space.from_uniform(np.random.default_rng(seed).random((n, space.d)))[None]
    y = np.arange(float(n))[None]
    return X[0], candidates.clouds(space, X, y, y >= 0.0, (generator(0, 0, n),))[0]


def test_clouds_hold_the_neighbours_of_the_best_in_categories():
    X, cloud = drawn(MIXED, 6)
    best = MIXED.decode(X[0])
    near = [MIXED.decode(x) for x in cloud]
    found = {x[2] for x in near if x[1] == best[1] and abs(x[0] - best[0]) < 0.3}
    assert found == set("abcde")


def test_an_integer_of_many_levels_moves_a_little_too():
    X, cloud = drawn(MIXED, 6)
    best = MIXED.decode(X[0])
    steps = {abs(MIXED.decode(x)[1] - best[1]) for x in cloud}
    assert {1, 2, 3} <= steps


def test_all_points_of_a_cloud_are_valid():
    _, cloud = drawn(MIXED, 6)
    np.testing.assert_array_equal(MIXED.snap(cloud), cloud)


def test_a_cloud_has_as_many_points_whatever_the_best_ones_are():
    sizes = {len(drawn(MIXED, 6, seed)[1]) for seed in range(5)}
    assert len(sizes) == 1


def test_a_fixed_parameter_leaves_the_clouds_of_a_real_space_as_they_are():
    real, fixed = Space.of([(0.0, 1.0)]), Space.of([(0.0, 1.0), (2.0, 2.0)])
    assert len(drawn(real, 6)[1]) == len(drawn(fixed, 6)[1])


def test_no_point_of_a_finite_space_is_evaluated_twice_while_others_are_left():
    seen = []

    def f(x):
        seen.append(tuple(x))
        return (x[0] - 3) ** 2 + (x[1] == "b")

    minimize(f, [Integer(0, 6), Categorical("abc")], n_evals=21, seed=1)
    assert len(set(seen)) == len(seen) == 21
