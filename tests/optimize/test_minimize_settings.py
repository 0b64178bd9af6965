"""`minimize`: policies, kernels, searches, finite spaces, tolerances."""

import math
from collections.abc import Iterator

import numpy as np
import pytest

from surefoot import Categorical, History, Integer, minimize, register_policy
from surefoot.acquisition.registry import policy_names
from surefoot.errors import UnknownNameError
from surefoot.problems import Problem


def bowl(x) -> float:
    return (x[0] - 0.3) ** 2 + (x[1] + 0.2) ** 2


SQUARE = [(-1.0, 1.0), (-1.0, 1.0)]


# --- every policy, kernel, search and design


@pytest.mark.parametrize("search", ["gradient", "paper"])
@pytest.mark.parametrize("kernel", ["se", "matern52"])
@pytest.mark.parametrize("policy", ["alternate", "RND", "MN", "LCB", "PI", "EI", "MES", "MES-R", "ScaledEI"])
@pytest.mark.filterwarnings("ignore::surefoot.errors.NumericalWarning")
def test_every_combination_proposes_inside_the_bounds(policy: str, kernel: str, search: str, branin: Problem) -> None:
    result = minimize(branin, branin.bounds, n_evals=25, n_init=17, policy=policy, kernel=kernel, search=search)
    x = np.asarray(result.x_iters)
    assert result.n_failures == 0
    assert (x >= branin.lower).all()
    assert (x <= branin.upper).all()


def test_every_built_in_policy_is_in_the_test_above() -> None:
    tested = {"alternate", "RND", "MN", "LCB", "PI", "EI", "MES", "MES-R", "ScaledEI"}
    assert tested <= set(policy_names())


@pytest.mark.parametrize("design", ["lhs", "maximin", "sobol", "uniform"])
def test_every_design_fills_the_box(design: str) -> None:
    x = np.asarray(minimize(bowl, SQUARE, n_evals=16, n_init=16, design=design).x_iters)
    assert (np.ptp(x, axis=0) > 1.2).all()


def test_a_policys_name_may_be_in_any_case() -> None:
    upper, lower = (minimize(bowl, SQUARE, n_evals=12, n_init=8, policy=name) for name in ("SCALEDEI", "scaledei"))
    np.testing.assert_array_equal(upper.x_iters, lower.x_iters)


@pytest.mark.parametrize(
    "setting", [{"policy": "EIEIO"}, {"kernel": "rbf"}, {"search": "grid"}, {"design": "halton"}, {"policy": 3}]
)
def test_an_unknown_name_is_rejected_with_a_three_part_message(setting: dict, rejects) -> None:
    with rejects(UnknownNameError):
        minimize(bowl, SQUARE, **setting)


@pytest.mark.parametrize(
    "setting",
    [
        {"n_init": 0},
        {"n_init": 2.5},
        {"seed": -1},
        {"seed": "x"},
        {"noise": -0.1},
        {"noise": math.nan},
        {"noise": "some"},
        {"noise": True},
        {"kappa": -1.0},
        {"kappa": math.nan},
        {"kappa": "two"},
        {"min_distance": -1.0},
        {"min_distance": math.nan},
        {"polcy": "EI"},
    ],
    ids=str,
)
def test_a_bad_setting_is_rejected_with_a_three_part_message(setting: dict, rejects) -> None:
    with rejects():
        minimize(bowl, SQUARE, n_evals=3, **setting)


# --- a policy of the user's own


@pytest.fixture
def own_policies() -> Iterator[None]:
    """Policies registered inside are forgotten afterwards."""
    from surefoot.acquisition import registry

    before = dict(registry._POLICIES)
    yield
    registry._POLICIES.clear()
    registry._POLICIES.update(before)


@pytest.mark.usefixtures("own_policies")
def test_a_registered_policy_can_be_used_by_name(branin: Problem) -> None:
    register_policy("braver-lcb", lambda mu, sd, f_best: 3.0 * sd - mu)
    assert minimize(branin, branin.bounds, n_evals=60, policy="braver-lcb").fun - branin.f_star < 1e-2


@pytest.mark.usefixtures("own_policies")
def test_a_registered_copy_of_lcb_proposes_what_lcb_proposes(branin: Problem) -> None:
    def mine(mu, sd, f_best):
        return 2.0 * sd - mu, -np.ones_like(mu), 2.0 * np.ones_like(sd)

    register_policy("my-lcb", mine)
    own = minimize(branin, branin.bounds, n_evals=30, policy="my-lcb")
    built_in = minimize(branin, branin.bounds, n_evals=30, policy="LCB")
    np.testing.assert_allclose(own.x_iters, built_in.x_iters, atol=1e-6)


@pytest.mark.usefixtures("own_policies")
def test_a_registered_policy_without_derivatives_proposes_nearly_the_same(branin: Problem) -> None:
    register_policy("my-lcb", lambda mu, sd, f_best: 2.0 * sd - mu)
    own = minimize(branin, branin.bounds, n_evals=21, policy="my-lcb")
    built_in = minimize(branin, branin.bounds, n_evals=21, policy="LCB")
    np.testing.assert_allclose(own.x_iters, built_in.x_iters, atol=1e-2)


@pytest.mark.parametrize("name", ["EI", "alternate", "mes-r"])
def test_a_built_in_policy_cannot_be_replaced(name: str, rejects) -> None:
    with rejects():
        register_policy(name, lambda mu, sd, f_best: -mu)


# --- finite spaces


def test_a_finite_space_ends_when_every_point_has_been_evaluated() -> None:
    result = minimize(lambda x: (x[0] - 3) ** 2, [Integer(0, 9)], n_evals=50)
    assert result.nfev == 10
    assert result.message.startswith("every point of the space has been evaluated (10)")


DISCRETE = [Integer(0, 3), Categorical("abc"), Integer(1, 4, log=True)]


@pytest.mark.parametrize("policy", ["alternate", "RND", "LCB", "MES"])
def test_no_point_of_a_discrete_space_is_evaluated_twice(policy: str) -> None:
    def fun(x) -> float:
        return (x[0] - 2) ** 2 + "abc".index(x[1]) + math.log(x[2])

    result = minimize(fun, DISCRETE, n_evals=40, n_init=8, policy=policy)
    assert len({tuple(x) for x in result.x_iters}) == result.nfev == 40


def test_no_point_of_a_discrete_space_is_evaluated_twice_with_the_papers_search() -> None:
    result = minimize(lambda x: (x[0] - 2) ** 2 + x[2], DISCRETE, n_evals=40, n_init=8, search="paper")
    assert len({tuple(x) for x in result.x_iters}) == 40


def test_a_discrete_space_is_exhausted_even_if_its_values_look_like_noise() -> None:
    values = dict(zip(range(30), np.random.default_rng(1).permutation(30), strict=True))
    result = minimize(lambda x: values[x[0]], [Integer(0, 29)], n_evals=60, n_init=10, noise=0)
    assert sorted(x[0] for x in result.x_iters) == list(range(30))


def test_no_point_is_evaluated_twice_while_the_noise_of_a_rough_function_is_only_estimated() -> None:
    values = dict(zip(range(30), np.random.default_rng(1).permutation(30), strict=True))
    result = minimize(lambda x: values[x[0]], [Integer(0, 29)], n_evals=30, n_init=10)
    assert sorted(x[0] for x in result.x_iters) == list(range(30))


def test_a_failing_finite_space_is_exhausted_too() -> None:
    result = minimize(lambda x: math.nan, [Integer(0, 6)], n_evals=50, n_init=3)
    assert (result.nfev, result.success) == (7, False)


def test_a_space_of_one_point_is_evaluated_once() -> None:
    assert minimize(lambda x: 1.0, [Categorical(["only"]), Integer(3, 3)], n_evals=5).nfev == 1


# --- never closer than the tolerance


@pytest.mark.parametrize("policy", ["alternate", "ScaledEI", "MN", "EI"])
@pytest.mark.parametrize("name", ["branin", "bowl", "one", "corner"])
@pytest.mark.filterwarnings("ignore::surefoot.errors.NumericalWarning")
def test_no_two_evaluations_are_closer_than_the_tolerance(
    name: str, policy: str, branin: Problem, closest_pair
) -> None:
    fun, bounds = {
        "branin": (branin, branin.bounds),
        "bowl": (bowl, SQUARE),
        "one": (lambda x: abs(x[0] - 0.3), [(0.0, 1.0)]),
        "corner": (lambda x: x[0] + 2 * x[1], [(0.0, 1.0), (0.0, 1.0)]),
    }[name]
    result = minimize(fun, bounds, n_evals=60, noise=0, policy=policy)
    assert closest_pair(result.space, result.x_iters) > 1e-8


def test_no_two_evaluations_of_a_deterministic_function_are_closer_than_the_tolerance_by_default(
    branin: Problem, closest_pair
) -> None:
    result = minimize(branin, branin.bounds, n_evals=60)
    assert closest_pair(result.space, result.x_iters) > 1e-8


def test_a_larger_tolerance_is_kept(branin: Problem, closest_pair) -> None:
    result = minimize(branin, branin.bounds, n_evals=40, noise=0, min_distance=1e-2)
    # decoding and encoding moves a point by rounding only
    assert closest_pair(result.space, result.x_iters) > 1e-2 * (1 - 1e-12)


# --- odd functions and old histories


def test_a_constant_function_is_optimized_without_a_fault() -> None:
    assert minimize(lambda x: 5.0, SQUARE, n_evals=25, n_init=8).nfev == 25


def test_a_history_may_be_given_from_a_file(tmp_path, branin: Problem) -> None:
    minimize(branin, branin.bounds, n_evals=8).history.save(tmp_path / "run.json")
    result = minimize(branin, branin.bounds, n_evals=9, history=History.load(tmp_path / "run.json"))
    assert result.nfev == 9
