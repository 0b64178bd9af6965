"""Bound-constrained BFGS in lock-step: minima, bounds, statuses, and that problems do not disturb each other."""

import numpy as np
import pytest

from surefoot.numerics import quasi_newton as qn

OPTIONS = {"first_step": 0.5, "max_step": 2.0, "f_tol": 1e-14, "max_calls": 400}
LOWER, UPPER = np.full(2, -5.0), np.full(2, 5.0)


def rosenbrock(x, runs=None):
    a, b = x[..., 0], x[..., 1]
    f = (1.0 - a) ** 2 + 100.0 * (b - a * a) ** 2
    g = np.stack([-2.0 * (1.0 - a) - 400.0 * a * (b - a * a), 200.0 * (b - a * a)], axis=-1)
    return f, g


def rosenbrock_starts(R=3, S=4):
    return np.random.default_rng(0).uniform(-2.0, 2.0, (R, S, 2))


def quadratic(hessian, centre):
    def fun(x, runs=None):
        g = (x - centre) @ hessian
        return 0.5 * np.sum((x - centre) * g, axis=-1), g

    return fun


def spd(p, seed, condition=100.0):
    q, _ = np.linalg.qr(np.random.default_rng(seed).standard_normal((p, p)))
    return q @ np.diag(np.logspace(0.0, np.log10(condition), p)) @ q.T


def test_rosenbrocks_minimum_is_found_from_every_start():
    result = qn.minimize_box(rosenbrock, rosenbrock_starts(), LOWER, UPPER, qn.Rules(**OPTIONS))
    np.testing.assert_allclose(result.x, 1.0, atol=1e-6)


def test_every_rosenbrock_run_reports_convergence():
    result = qn.minimize_box(rosenbrock, rosenbrock_starts(), LOWER, UPPER, qn.Rules(**OPTIONS))
    assert (result.status == qn.CONVERGED).all()


def test_value_and_gradient_returned_are_those_at_the_point_returned():
    result = qn.minimize_box(rosenbrock, rosenbrock_starts(), LOWER, UPPER, qn.Rules(**(OPTIONS | {"max_calls": 12})))
    f, g = rosenbrock(result.x)
    np.testing.assert_array_equal(result.f, f)
    np.testing.assert_array_equal(result.g, g)


def test_a_convex_quadratic_in_ten_variables_is_solved():
    centre = np.random.default_rng(1).uniform(-1.0, 1.0, 10)
    x0 = np.random.default_rng(2).uniform(-3.0, 3.0, (2, 3, 10))
    result = qn.minimize_box(quadratic(spd(10, 3), centre), x0, -5.0, 5.0, qn.Rules(**OPTIONS))
    np.testing.assert_allclose(result.x, np.broadcast_to(centre, x0.shape), atol=1e-6)


@pytest.mark.parametrize("seed", range(5))
def test_a_minimum_on_the_bounds_meets_the_kkt_conditions(seed):
    rng = np.random.default_rng(seed)
    p = 6
    fun = quadratic(spd(p, seed), rng.uniform(-2.0, 2.0, p))  # most centres lie outside the box
    x0 = rng.uniform(-1.0, 1.0, (2, 2, p))
    result = qn.minimize_box(fun, x0, -1.0, 1.0, qn.Rules(**OPTIONS))
    at_lower, at_upper = result.x <= -1.0, result.x >= 1.0
    assert (at_lower | at_upper).any()
    assert (result.g[at_lower] >= -1e-5).all()
    assert (result.g[at_upper] <= 1e-5).all()
    assert np.abs(result.g[~(at_lower | at_upper)]).max() < 1e-5


def test_active_bounds_do_not_depend_on_the_start():
    fun = quadratic(spd(5, 7), np.array([3.0, 0.2, -2.0, 0.5, 1.5]))
    x0 = np.random.default_rng(4).uniform(-1.0, 1.0, (1, 8, 5))
    x = qn.minimize_box(fun, x0, -1.0, 1.0, qn.Rules(**OPTIONS)).x[0]
    np.testing.assert_allclose(x, np.broadcast_to(x[0], x.shape), atol=1e-6)


def test_rosenbrocks_minimum_on_a_bound_is_found():
    # with a <= 1/2 the least value lies at a = 1/2, b = 1/4
    result = qn.minimize_box(rosenbrock, rosenbrock_starts(), LOWER, np.array([0.5, 5.0]), qn.Rules(**OPTIONS))
    np.testing.assert_allclose(result.x, np.broadcast_to([0.5, 0.25], result.x.shape), atol=1e-6)


def test_no_evaluation_lies_outside_the_box():
    seen = []

    def fun(x, runs):
        seen.append(x.reshape(-1, 2))
        return rosenbrock(x)

    lower, upper = np.array([-1.5, 0.3]), np.array([0.8, 2.0])
    qn.minimize_box(fun, rosenbrock_starts(), lower, upper, qn.Rules(**OPTIONS))
    points = np.concatenate(seen)
    assert ((points >= lower) & (points <= upper)).all()


def test_a_start_outside_the_box_is_moved_into_it():
    result = qn.minimize_box(rosenbrock, np.full((1, 1, 2), 30.0), LOWER, UPPER, qn.Rules(**OPTIONS))
    np.testing.assert_allclose(result.x, 1.0, atol=1e-6)


def test_bounds_may_differ_between_problems():
    upper = np.stack([np.array([[0.5, 5.0]]), np.array([[5.0, 5.0]])])  # (2, 1, 2)
    x0 = np.full((2, 1, 2), -1.0)
    result = qn.minimize_box(rosenbrock, x0, LOWER, upper, qn.Rules(**OPTIONS))
    np.testing.assert_allclose(result.x[:, 0], [[0.5, 0.25], [1.0, 1.0]], atol=1e-6)


def test_problems_in_a_batch_end_where_they_end_alone():
    x0 = rosenbrock_starts(4, 5)
    together = qn.minimize_box(rosenbrock, x0, LOWER, UPPER, qn.Rules(**OPTIONS))
    for r, s in np.ndindex(4, 5):
        alone = qn.minimize_box(rosenbrock, x0[r : r + 1, s : s + 1], LOWER, UPPER, qn.Rules(**OPTIONS))
        np.testing.assert_allclose(together.x[r, s], alone.x[0, 0], rtol=0, atol=1e-12)
        assert together.status[r, s] == alone.status[0, 0]


def test_inverse_hessians_in_a_batch_are_those_found_alone():
    x0 = rosenbrock_starts(2, 3)
    together = qn.minimize_box(rosenbrock, x0, LOWER, UPPER, qn.Rules(**OPTIONS))
    for r, s in np.ndindex(2, 3):
        alone = qn.minimize_box(rosenbrock, x0[r : r + 1, s : s + 1], LOWER, UPPER, qn.Rules(**OPTIONS))
        np.testing.assert_allclose(together.inv_hessian[r, s], alone.inv_hessian[0, 0], rtol=1e-9)


def test_runs_receive_their_own_index():
    centres = np.array([[-1.0, 0.0], [0.5, 0.5], [2.0, -2.0]])
    hessian = np.diag([1.0, 30.0])

    def fun(x, runs):
        centre = centres if runs is None else centres[runs]
        g = (x - centre[:, None]) @ hessian
        return 0.5 * np.sum((x - centre[:, None]) * g, axis=-1), g

    # the first run starts at its solution and leaves the batch at once
    x0 = np.stack([centres[:1].repeat(2, 0), np.zeros((2, 2)), np.ones((2, 2))])
    result = qn.minimize_box(fun, x0, LOWER, UPPER, qn.Rules(**OPTIONS))
    np.testing.assert_allclose(result.x, np.broadcast_to(centres[:, None], x0.shape), atol=1e-6)


def half_infinite(x, runs=None):
    """x - log x summed: the minimum is 1, and there is no value at all for x <= 0."""
    inside = (x > 0.0).all(axis=-1)
    safe = np.where(x > 0.0, x, 1.0)
    f = np.where(inside, (safe - np.log(safe)).sum(axis=-1), np.inf)
    return f, np.where(inside[..., None], 1.0 - 1.0 / safe, np.nan)


def test_a_function_that_is_infinite_in_part_of_the_box_is_minimized():
    x0 = np.random.default_rng(5).uniform(0.05, 4.0, (2, 4, 3))
    result = qn.minimize_box(half_infinite, x0, -5.0, 5.0, qn.Rules(**OPTIONS))
    np.testing.assert_allclose(result.x, 1.0, atol=1e-6)


def test_nan_values_are_rejected_steps():
    def fun(x, runs):
        f, g = half_infinite(x)
        return np.where(np.isinf(f), np.nan, f), g

    result = qn.minimize_box(fun, np.full((1, 1, 2), 4.0), -5.0, 5.0, qn.Rules(**(OPTIONS | {"max_step": 10.0})))
    np.testing.assert_allclose(result.x, 1.0, atol=1e-6)


def test_an_infinite_start_is_reported_as_bad():
    x0 = np.array([[[-1.0, 1.0], [2.0, 2.0]]])
    result = qn.minimize_box(half_infinite, x0, -5.0, 5.0, qn.Rules(**OPTIONS))
    assert result.status.tolist() == [[qn.BAD_START, qn.CONVERGED]]


def test_a_bad_start_stays_where_it_was():
    x0 = np.array([[[-1.0, 1.0], [2.0, 2.0]]])
    result = qn.minimize_box(half_infinite, x0, -5.0, 5.0, qn.Rules(**OPTIONS))
    np.testing.assert_array_equal(result.x[0, 0], x0[0, 0])
    assert result.f[0, 0] == np.inf


def test_a_bad_start_does_not_disturb_the_others():
    good = np.array([[[2.0, 3.0]], [[0.1, 4.0]]])
    mixed = np.concatenate([np.array([[[-1.0, 1.0]], [[0.5, -0.5]]]), good], axis=1)
    alone = qn.minimize_box(half_infinite, good, -5.0, 5.0, qn.Rules(**OPTIONS))
    together = qn.minimize_box(half_infinite, mixed, -5.0, 5.0, qn.Rules(**OPTIONS))
    np.testing.assert_allclose(together.x[:, 1:], alone.x, rtol=0, atol=1e-12)


def test_a_start_at_the_minimum_takes_one_call():
    result = qn.minimize_box(rosenbrock, np.ones((2, 2, 2)), LOWER, UPPER, qn.Rules(**OPTIONS))
    assert result.n_calls == 1
    assert (result.status == qn.CONVERGED).all()


def test_a_warm_inverse_hessian_needs_fewer_calls():
    hessian = spd(8, 11, condition=1e4)
    options = OPTIONS | {"f_tol": 1e-8}
    cold = qn.minimize_box(quadratic(hessian, np.zeros(8)), np.ones((1, 1, 8)), -5.0, 5.0, qn.Rules(**options))
    moved = quadratic(hessian, np.full(8, 0.05))
    from_cold = qn.minimize_box(moved, cold.x, -5.0, 5.0, qn.Rules(**options))
    from_warm = qn.minimize_box(moved, cold.x, -5.0, 5.0, qn.Rules(**options), inv_hessian=cold.inv_hessian)
    assert from_warm.n_calls < from_cold.n_calls


def test_the_exact_inverse_hessian_of_a_quadratic_needs_one_step():
    hessian = spd(4, 12)
    fun = quadratic(hessian, np.full(4, 0.3))
    H = np.linalg.inv(hessian)[None, None]
    result = qn.minimize_box(fun, np.zeros((1, 1, 4)), -5.0, 5.0, qn.Rules(**OPTIONS), inv_hessian=H)
    assert result.n_calls == 2
    np.testing.assert_allclose(result.x, 0.3, atol=1e-12)


def test_finished_problems_are_no_longer_evaluated():
    passed = []

    def fun(x, runs):
        passed.append(x.shape[0] * x.shape[1])
        return rosenbrock(x)

    x0 = np.ones((3, 2, 2))  # all at the minimum ...
    x0[1, 0] = (-1.2, 1.0)  # ... but one
    qn.minimize_box(fun, x0, LOWER, UPPER, qn.Rules(**OPTIONS))
    assert passed[0] == 6
    assert len(passed) > 10
    assert set(passed[1:]) == {2}  # two columns at least: see running.py


def test_the_number_of_calls_is_within_the_budget_and_says_so():
    result = qn.minimize_box(rosenbrock, rosenbrock_starts(), LOWER, UPPER, qn.Rules(**(OPTIONS | {"max_calls": 7})))
    assert result.n_calls == 7
    assert (result.status == qn.BUDGET).all()


def test_no_run_ends_higher_than_it_started():
    x0 = rosenbrock_starts(5, 5)
    for max_calls in (2, 5, 20):
        result = qn.minimize_box(rosenbrock, x0, LOWER, UPPER, qn.Rules(**(OPTIONS | {"max_calls": max_calls})))
        assert (result.f <= rosenbrock(x0)[0]).all()


def test_the_first_step_of_a_cold_start_is_no_longer_than_asked():
    seen = []

    def fun(x, runs):
        seen.append(x.copy())
        return rosenbrock(x)

    x0 = np.full((1, 2, 2), -1.0)
    limits = np.array([[1e-3, 0.2]])
    qn.minimize_box(fun, x0, LOWER, UPPER, qn.Rules(**(OPTIONS | {"first_step": limits, "max_calls": 2})))
    np.testing.assert_allclose(np.abs(seen[1] - x0).max(axis=-1), limits, rtol=1e-9)


# --- a race of starts


def two_wells(x, runs=None):
    """Minima 0 at -2 and 3 at +2; not finite beyond 4."""
    a = x[..., 0]
    left, right = (a + 2.0) ** 2, (a - 2.0) ** 2 + 3.0
    f, g = np.minimum(left, right), np.where(left < right, 2.0 * (a + 2.0), 2.0 * (a - 2.0))
    return np.where(a > 4.0, np.inf, f + 100.0), g[..., None]


def race(fun, x0, **options):
    return qn.minimize_box(fun, x0, -5.0, 5.0, qn.Rules(**(OPTIONS | {"race": True} | options)))


def test_a_race_finds_the_best_minimum_that_its_starts_reach():
    x0 = np.asarray([[[-4.5], [-0.5], [1.0], [3.5]]])
    assert race(two_wells, x0).f.min() == pytest.approx(100.0)


def slow_valley(x, runs=None):
    """Rosenbrock's valley, lifted by 100, not finite where the first input exceeds 4."""
    f, g = rosenbrock(x)
    return np.where(x[..., 0] > 4.0, np.nan, f + 100.0), g


def test_a_bad_start_drops_no_good_one_from_a_race():
    good = rosenbrock_starts(R=5, S=3)
    bad = np.full((5, 1, 2), 4.5)
    alone = race(slow_valley, good)
    together = race(slow_valley, np.concatenate([bad, good], axis=1))
    np.testing.assert_array_equal(together.f[:, 1:], alone.f)
    np.testing.assert_allclose(together.f.min(axis=1), 100.0, atol=1e-8)


def test_a_race_of_bad_starts_only_ends_with_that_status():
    result = race(slow_valley, np.full((2, 3, 2), 4.5))
    assert (result.status == qn.BAD_START).all()
    assert np.isinf(result.f).all()


def test_a_race_drops_a_start_that_cannot_win():
    def fun(x, runs=None):  # one run: the second start lies in a valley that ends a thousand above the first
        f, g = rosenbrock(x)
        return f + np.asarray([0.0, 1000.0]), g

    x0 = np.asarray([[[1.1, 1.2], [-1.9, 2.0]]])
    assert race(fun, x0, max_calls=400).status.tolist() == [[qn.CONVERGED, qn.BUDGET]]
