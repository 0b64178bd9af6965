"""Nelder-Mead in lock-step: the decisions of the sequential method, over the unit cube."""

import numpy as np
import pytest

from surefoot.numerics.nelder_mead import Rules, minimize_simplex, sides_of_coordinates


def quadratic(x, runs=None):
    weights = np.arange(1.0, x.shape[-1] + 1.0)
    return np.sum(weights * (x - 0.4) ** 2, axis=-1) + 1.0


def rosenbrock(x, runs=None):
    z = 4.0 * x - 2.0
    return np.sum(100.0 * (z[..., 1:] - z[..., :-1] ** 2) ** 2 + (1.0 - z[..., :-1]) ** 2, axis=-1)


def wavy(x, runs=None):
    """Several valleys with a kink in them, and minima on the boundary."""
    return np.sum(np.sin(7.0 * x) + 0.7 * x, axis=-1) + np.abs(x[..., 0] - x[..., -1]) - 0.3


def rough(x, runs=None):
    """Ripples shorter than the first simplex: shrinks occur."""
    return np.sum(np.cos(90.0 * x + np.arange(x.shape[-1])) + 2.0 * x, axis=-1) + 4.0


FUNCTIONS = {"quadratic": quadratic, "rosenbrock": rosenbrock, "wavy": wavy, "rough": rough}


def sequential(fun, x0, f_tol, max_iterations, origin=None):
    """Textbook Nelder-Mead (Lagarias et al. 1998), one point at a time, trial points projected on the unit cube.

    origin: instead as fminsearch does it with a function that is infinite outside the cube.
    """
    d = len(x0)

    def value(x):
        outside = origin is not None and (x.min() < 0.0 or x.max() > 1.0)
        return np.inf if outside else float(fun(x[None, None])[0, 0])

    simplex = [x0]
    for i in range(d):
        vertex = x0.copy()
        if origin is not None:
            vertex[i] = origin + 1.05 * (x0[i] - origin)
        else:
            vertex[i] = x0[i] + 0.05 if x0[i] + 0.05 <= 1.0 else x0[i] - 0.05
        simplex.append(vertex)
    vertices = [(value(x), x) for x in simplex]
    moves = set()
    for _ in range(max_iterations):
        vertices.sort(key=lambda vertex: vertex[0])  # stable
        f_best, x_best = vertices[0]
        f_worst, x_worst = vertices[-1]
        if f_worst - f_best <= f_tol * abs(f_best):
            break
        centre = np.mean([x for _, x in vertices[:-1]], axis=0)

        def trial(factor, centre=centre, x_worst=x_worst):
            x = centre + factor * (centre - x_worst)
            x = np.clip(x, 0.0, 1.0) if origin is None else x
            return value(x), x

        reflected = trial(1.0)
        if reflected[0] < f_best:
            expanded = trial(2.0)
            moves.add("expand" if expanded[0] < reflected[0] else "reflect")
            vertices[-1] = expanded if expanded[0] < reflected[0] else reflected
            continue
        if reflected[0] < vertices[-2][0]:
            moves.add("reflect")
            vertices[-1] = reflected
            continue
        if reflected[0] < f_worst:
            contracted = trial(0.5)
            if contracted[0] <= reflected[0]:
                moves.add("outside")
                vertices[-1] = contracted
                continue
        else:
            contracted = trial(-0.5)
            if contracted[0] < f_worst:
                moves.add("inside")
                vertices[-1] = contracted
                continue
        moves.add("shrink")
        shrunk = [0.5 * (x + x_best) for _, x in vertices[1:]]
        vertices = [vertices[0], *((value(x), x) for x in shrunk)]
    f, x = min(vertices, key=lambda vertex: vertex[0])
    return x, f, moves


@pytest.mark.parametrize("d", [1, 2, 3, 5])
def test_a_quadratic_is_minimized(d):
    x0 = np.random.default_rng(0).random((2, 3, d))
    result = minimize_simplex(quadratic, x0, Rules(f_tol=1e-12))
    np.testing.assert_allclose(result.f, 1.0, rtol=1e-9)
    assert result.converged.all()


def test_rosenbrock_is_minimized_in_the_plane():
    x0 = np.random.default_rng(1).random((2, 4, 2))
    result = minimize_simplex(rosenbrock, x0, Rules(f_tol=1e-8))
    np.testing.assert_allclose(result.x, 0.75, atol=1e-4)


@pytest.mark.parametrize("d", [2, 3])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_end_point_is_that_of_the_sequential_method(name, d):
    fun = FUNCTIONS[name]
    x0 = np.random.default_rng(2).random((3, 4, d))
    result = minimize_simplex(fun, x0, Rules(f_tol=1e-6, x_tol=0.0, max_moves=60))
    for r, s in np.ndindex(3, 4):
        x, f, _ = sequential(fun, x0[r, s], 1e-6, 60)
        np.testing.assert_allclose(result.x[r, s], x, rtol=0, atol=1e-12)
        assert result.f[r, s] == pytest.approx(f, rel=1e-12, abs=1e-15)


@pytest.mark.parametrize("origin", [0.0, 0.6, -2.0])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_walled_and_with_sides_of_the_coordinates_it_ends_where_fminsearch_ends(name, origin):
    fun = FUNCTIONS[name]
    x0 = np.random.default_rng(12).random((3, 4, 3))
    rules = Rules(f_tol=1e-6, x_tol=0.0, max_moves=40, walled=True)
    result = minimize_simplex(fun, x0, rules, sides=sides_of_coordinates(x0, np.full((3, 1, 3), origin)))
    for r, s in np.ndindex(3, 4):
        x, f, _ = sequential(fun, x0[r, s], 1e-6, 40, origin)
        np.testing.assert_allclose(result.x[r, s], x, rtol=0, atol=1e-9)
        assert result.f[r, s] == pytest.approx(f, rel=1e-9, abs=1e-12)


def test_sides_are_five_per_cent_of_each_coordinate_with_its_sign():
    x0 = np.array([[[0.2, 0.8, 0.5]]])
    np.testing.assert_allclose(sides_of_coordinates(x0, np.array([[[0.0, 1.0, 0.5]]])), [[[0.01, -0.01, 0.00025]]])


def test_the_comparison_with_the_sequential_method_goes_through_every_move():
    moves = set()
    for name, d in [(name, d) for name in FUNCTIONS for d in (2, 3)]:
        x0 = np.random.default_rng(2).random((3, 4, d))
        for r, s in np.ndindex(3, 4):
            moves |= sequential(FUNCTIONS[name], x0[r, s], 1e-6, 60)[2]
    assert moves == {"reflect", "expand", "outside", "inside", "shrink"}


def test_a_flat_function_ends_at_once():
    x0 = np.random.default_rng(3).random((2, 3, 4))
    result = minimize_simplex(lambda x, runs: np.full(x.shape[:-1], 0.7), x0, Rules(f_tol=1e-3))
    assert result.n_calls == 1
    np.testing.assert_array_equal(result.x, x0)
    assert result.converged.all()


@pytest.mark.parametrize("level", [0.0, np.inf, np.nan])
def test_a_function_that_is_zero_infinite_or_nan_everywhere_ends_at_once(level):
    x0 = np.random.default_rng(3).random((1, 2, 3))
    assert minimize_simplex(lambda x, runs: np.full(x.shape[:-1], level), x0, Rules(f_tol=1e-3)).n_calls == 1


@pytest.mark.parametrize("name", FUNCTIONS)
def test_problems_in_a_batch_end_where_they_end_alone(name):
    fun = FUNCTIONS[name]
    x0 = np.random.default_rng(4).random((3, 5, 3))
    together = minimize_simplex(fun, x0, Rules(f_tol=1e-6))
    for r, s in np.ndindex(3, 5):
        alone = minimize_simplex(fun, x0[r : r + 1, s : s + 1], Rules(f_tol=1e-6))
        np.testing.assert_allclose(together.x[r, s], alone.x[0, 0], rtol=0, atol=1e-12)


def test_runs_receive_their_own_index():
    centres = np.array([0.2, 0.5, 0.8])

    def fun(x, runs):
        centre = centres if runs is None else centres[runs]
        return np.sum((x - centre[:, None, None]) ** 2, axis=-1) + 0.1 * (1.0 + centre[:, None])

    x0 = np.random.default_rng(5).random((3, 2, 2))
    x0[1] = 0.5  # one run is nearly done from the start
    result = minimize_simplex(fun, x0, Rules(f_tol=1e-10))
    np.testing.assert_allclose(result.x, np.broadcast_to(centres[:, None, None], x0.shape), atol=1e-4)


@pytest.mark.parametrize("corner", [0.0, 1.0])
def test_every_point_evaluated_lies_in_the_unit_cube(corner):
    seen = []

    def fun(x, runs):
        seen.append(x.reshape(-1, 3))
        return np.sum((x - (3.0 * corner - 1.0)) ** 2, axis=-1)  # the minimum lies beyond the corner

    x0 = np.concatenate([np.random.default_rng(6).random((1, 3, 3)), np.full((1, 1, 3), corner)], axis=1)
    minimize_simplex(fun, x0, Rules(f_tol=1e-9))
    points = np.concatenate(seen)
    assert points.min() >= 0.0
    assert points.max() <= 1.0


def test_a_corner_that_is_the_minimum_is_reached():
    x0 = np.random.default_rng(7).random((2, 3, 2))
    result = minimize_simplex(lambda x, runs: 1.0 + np.sum(x, axis=-1), x0, Rules(f_tol=1e-9))
    np.testing.assert_allclose(result.x, 0.0, atol=1e-6)


@pytest.mark.parametrize("scale", [1e-200, 1.0, 1e200])
def test_the_tolerance_is_relative_to_the_value(scale):
    x0 = np.random.default_rng(8).random((1, 3, 2))
    result = minimize_simplex(lambda x, runs: scale * quadratic(x), x0, Rules(f_tol=1e-4))
    unit = minimize_simplex(quadratic, x0, Rules(f_tol=1e-4))
    np.testing.assert_allclose(result.x, unit.x, rtol=1e-9)


def test_a_looser_tolerance_ends_earlier_and_farther_away():
    x0 = np.random.default_rng(9).random((1, 1, 2))
    loose, tight = (minimize_simplex(quadratic, x0, Rules(f_tol=tol)) for tol in (1e-2, 1e-8))
    assert loose.n_calls < tight.n_calls
    assert tight.f[0, 0] < loose.f[0, 0] <= 1.02


def test_a_run_that_may_not_iterate_is_not_converged():
    x0 = np.random.default_rng(10).random((1, 2, 2))
    result = minimize_simplex(rosenbrock, x0, Rules(f_tol=1e-8, max_moves=3))
    assert not result.converged.any()


def test_nan_counts_as_the_worst_value():
    def fun(x, runs):
        f = quadratic(x)
        return np.where(x[..., 0] > 0.6, np.nan, f)

    x0 = np.array([[[0.59, 0.1], [0.3, 0.9]]])
    np.testing.assert_allclose(minimize_simplex(fun, x0, Rules(f_tol=1e-12)).x, 0.4, atol=1e-4)


def test_a_simplex_that_sees_only_rounding_stops_when_it_is_tiny():
    def rough(x, runs):  # ten per cent of noise at every scale, a slope towards 0.3 at none
        return 1.0 + 0.1 * np.sin(1e14 * np.sum(x, axis=-1))

    result = minimize_simplex(rough, np.full((1, 3, 2), 0.3) + 0.01 * np.arange(3)[:, None], Rules(f_tol=1e-3))
    assert result.n_calls < 200
