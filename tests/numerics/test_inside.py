"""Points inside a small part of the cube."""

import numpy as np
import pytest

from surefoot.numerics.inside import find_inside, spread, walk


def box(width):
    """A box of this width in the middle of the cube."""
    return lambda points: np.maximum(np.abs(points - 0.5) - width / 2.0, 0.0).sum(axis=1)


@pytest.mark.parametrize("d", [2, 10, 20])
@pytest.mark.parametrize("share", [0.5, 1e-2, 1e-6, 1e-12])
def test_a_part_of_any_size_is_found_and_its_share_is_told(d, share):
    width = share ** (1.0 / d)
    found = find_inside(box(width), d, 512, np.random.default_rng(d))
    assert box(width)(found.points).max() == 0.0
    assert abs(np.log10(found.share / share)) < 1.0


@pytest.mark.parametrize("share", [0.3, 1e-6])
def test_points_fill_the_part_evenly(share):
    width = share ** (1.0 / 5)
    points = (find_inside(box(width), 5, 512, np.random.default_rng(1)).points - 0.5) / width
    assert np.abs(points.mean(axis=0)).max() < 0.07  # sd of a mean: 0.29 / sqrt(512) = 0.013, a walk is correlated
    assert points.std(axis=0) == pytest.approx(12.0**-0.5, rel=0.15)


def test_pieces_are_found_in_proportion_to_their_size():
    def excess(points):
        small = np.maximum(np.abs(points - 0.1) - 0.01, 0.0).sum(axis=1)
        large = np.maximum(np.abs(points - 0.8) - 0.02, 0.0).sum(axis=1)
        return np.minimum(small, large)

    found = find_inside(excess, 2, 512, np.random.default_rng(0)).points
    assert 0.05 < np.mean(found[:, 0] < 0.5) < 0.4  # 1/5 of the area


def test_a_thin_slab_is_found():
    def excess(points):
        return np.maximum(np.abs(points.sum(axis=1) - 5.0) - 1e-9, 0.0)

    found = find_inside(excess, 10, 512, np.random.default_rng(0))
    assert (excess(found.points) == 0.0).all()
    assert found.points.std(axis=0).min() > 0.2


def test_a_part_that_says_only_yes_or_no_is_met_by_chance():
    found = find_inside(lambda points: 1.0 - (points < 0.03).all(axis=1), 2, 512, np.random.default_rng(0))
    assert len(found.points) == 512
    assert found.points.max() < 0.03


def test_an_empty_part_has_no_points():
    found = find_inside(lambda points: 1.0 + points.sum(axis=1), 3, 512, np.random.default_rng(0))
    assert (len(found.points), found.share) == (0, 0.0)
    assert found.n_tries > 10_000


def test_a_start_inside_is_enough():
    corner = np.full((1, 3), 0.7)

    def excess(points):
        return 1.0 * (np.abs(points - corner).max(axis=1) > 1e-4)

    found = find_inside(excess, 3, 512, np.random.default_rng(0), corner)
    assert (excess(found.points) == 0.0).all()
    assert np.ptp(found.points, axis=0).min() > 1e-4


def test_a_walk_never_leaves_the_part():
    ball = find_inside(lambda p: np.maximum(((p - 0.3) ** 2).sum(axis=1) - 0.01, 0.0), 4, 256, np.random.default_rng(0))
    moved = walk(
        ball.points, lambda p: np.maximum(((p - 0.3) ** 2).sum(axis=1) - 0.01, 0.0), 0.0, ball.points,
        np.random.default_rng(1), 20,
    )  # fmt: skip
    assert ((moved - 0.3) ** 2).sum(axis=1).max() <= 0.01
    assert np.abs(moved - ball.points).max(axis=1).min() > 1e-6


def test_chosen_points_are_far_apart_and_far_from_kept_ones():
    line = np.linspace(0.0, 1.0, 11)[:, None]
    assert spread(line, 2, np.asarray([[0.0]])).tolist() == [10, 5]
