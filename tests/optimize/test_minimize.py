"""`minimize`: what it finds, what it returns, what it accepts."""

import math
from collections.abc import Iterator

import numpy as np
import pytest

from surefoot import Categorical, History, Integer, Real, minimize, register_policy
from surefoot.acquisition.registry import policy_names
from surefoot.errors import UnknownNameError
from surefoot.problems import Problem


def bowl(x) -> float:
    return (x[0] - 0.3) ** 2 + (x[1] + 0.2) ** 2


SQUARE = [(-1.0, 1.0), (-1.0, 1.0)]


# --- what it finds


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_branins_minimum_is_found_to_1e6_in_60_evaluations(seed: int, branin: Problem) -> None:
    assert minimize(branin, branin.bounds, n_evals=60, seed=seed).fun - branin.f_star < 1e-6


def test_a_deterministic_branin_is_found_to_1e6_with_noise_0(branin: Problem) -> None:
    assert minimize(branin, branin.bounds, n_evals=60, noise=0).fun - branin.f_star < 1e-6


def test_a_given_noise_is_survived(branin: Problem) -> None:
    rng = np.random.default_rng(0)
    result = minimize(lambda x: branin(x) + 0.1 * rng.standard_normal(), branin.bounds, n_evals=50, noise=0.1)
    assert branin(result.x) - branin.f_star < 1.0


def test_an_estimated_noise_is_near_the_true_one() -> None:
    rng = np.random.default_rng(0)
    result = minimize(lambda x: bowl(x) + 0.05 * rng.standard_normal(), SQUARE, n_evals=60)
    assert result.model.noise_sd == pytest.approx(0.05, rel=0.5)


def test_a_given_noise_is_the_models_noise() -> None:
    rng = np.random.default_rng(0)
    result = minimize(lambda x: bowl(x) + 0.05 * rng.standard_normal(), SQUARE, n_evals=30, noise=0.05)
    assert result.model.noise_sd == pytest.approx(0.05, rel=1e-6)


def test_a_log_parameter_is_found_over_ten_decades() -> None:
    result = minimize(lambda x: math.log10(x[0] / 3e-4) ** 2, [Real(1e-8, 1e2, log=True)], n_evals=25)
    assert result.x[0] == pytest.approx(3e-4, rel=1e-2)


def test_the_best_choice_of_a_mixed_space_is_found() -> None:
    def cost(p: dict) -> float:
        return (p["a"] - 0.3) ** 2 + (p["n"] - 4) ** 2 + {"x": 2.0, "y": 0.0, "z": 1.0}[p["c"]]

    bounds = {"a": (0.0, 1.0), "n": Integer(0, 9), "c": Categorical("xyz")}
    best = minimize(cost, bounds, n_evals=50).x
    assert (best["n"], best["c"]) == (4, "y")


# --- the result


@pytest.fixture(scope="module", name="result")
def _result():
    def fun(x):
        if x[0] > 0.8:
            raise ArithmeticError("diverged")
        return bowl(x)

    return minimize(fun, SQUARE, n_evals=25, n_init=12)


def test_the_best_value_is_the_least_of_all_values(result) -> None:
    assert result.fun == np.nanmin(result.func_vals)


def test_the_best_point_has_the_best_value(result) -> None:
    assert bowl(result.x) == result.fun


def test_the_best_point_is_an_array_of_floats(result) -> None:
    assert (type(result.x), result.x.dtype) == (np.ndarray, np.dtype(float))


def test_the_result_counts_all_evaluations(result) -> None:
    assert result.nfev == len(result.x_iters) == len(result.func_vals) == len(result.history) == 25


def test_the_result_counts_the_failures(result) -> None:
    assert result.n_failures == sum(x[0] > 0.8 for x in result.x_iters) > 0


def test_values_are_nan_exactly_where_the_evaluation_failed(result) -> None:
    assert np.isnan(result.func_vals).tolist() == [x[0] > 0.8 for x in result.x_iters]


def test_a_run_with_a_success_is_a_success(result) -> None:
    assert result.success is True


def test_attributes_are_items_too(result) -> None:
    assert all(result[name] is getattr(result, name) for name in result)


def test_the_result_has_scipys_names(result) -> None:
    assert {"x", "fun", "nfev", "success", "message", "x_iters", "func_vals"} <= set(result.keys())


def test_an_unknown_item_is_a_key_error(result) -> None:
    with pytest.raises(KeyError):
        result["jac"]


def test_the_representation_shows_the_best_value(result) -> None:
    assert str(result.fun) in repr(result)


def test_the_table_has_a_row_per_evaluation(result) -> None:
    assert [row["number"] for row in result.table()] == list(range(25))


def test_the_table_has_the_parameters_by_name(result) -> None:
    assert [[row["x0"], row["x1"]] for row in result.table()] == [list(x) for x in result.x_iters]


def test_the_tables_best_never_rises(result) -> None:
    best = [row["best"] for row in result.table()]
    assert best == sorted(best, reverse=True)


def test_the_tables_last_best_is_the_result(result) -> None:
    assert result.table()[-1]["best"] == result.fun


def test_the_table_has_the_reasons_of_the_failures(result) -> None:
    reasons = {row["reason"] for row in result.table() if row["status"] == "failed"}
    assert reasons == {"ArithmeticError: diverged"}


def test_the_table_has_durations(result) -> None:
    assert all(row["duration_s"] >= 0.0 for row in result.table())


def test_the_model_predicts_the_evaluated_values(result) -> None:
    ok = result.history.ok
    mean, _ = result.model.predict([x for x, good in zip(result.x_iters, ok, strict=True) if good])
    np.testing.assert_allclose(mean, result.func_vals[ok], atol=1e-3)


def test_the_model_predicts_between_the_evaluated_points(result) -> None:
    mean, sd = result.model.predict([[0.0, 0.0]])
    assert abs(mean[0] - bowl([0.0, 0.0])) < max(4.0 * sd[0], 1e-3)


def test_success_is_less_probable_where_evaluations_failed(result) -> None:
    failing, working = result.success_probability([[0.95, 0.0], [-0.5, 0.0]])
    assert failing < working


def test_success_is_certain_while_nothing_has_failed() -> None:
    assert minimize(bowl, SQUARE, n_evals=5).success_probability([[0.0, 0.0]]).tolist() == [1.0]


def test_the_models_prediction_rejects_a_point_outside(result, rejects) -> None:
    with rejects():
        result.model.predict([[2.0, 0.0]])


# --- what the function gets


def test_a_dict_of_bounds_gives_dict_points() -> None:
    seen = []
    minimize(lambda p: seen.append(p) or p["a"] + p["b"], {"a": (0.0, 1.0), "b": (0.0, 2.0)}, n_evals=3)
    assert all(type(p) is dict and list(p) == ["a", "b"] for p in seen)


def test_real_bounds_give_arrays() -> None:
    seen = []
    minimize(lambda x: seen.append(x) or bowl(x), SQUARE, n_evals=3)
    assert all(type(x) is np.ndarray and x.shape == (2,) and x.dtype == float for x in seen)


MIXED = {"a": (0.0, 1.0), "b": Real(1e-3, 1.0, log=True), "n": Integer(1, 9), "m": Integer(1, 99, log=True), "c": None}


def mixed_bounds(named: bool):
    bounds = {**MIXED, "c": Categorical(["u", "v", 3])}
    return bounds if named else list(bounds.values())


@pytest.mark.parametrize("named", [True, False], ids=["dict", "list"])
def test_a_mixed_space_gives_python_values_of_the_right_types(named: bool) -> None:
    seen = []

    def fun(p):
        values = list(p.values()) if named else p
        seen.append(p)
        return values[0] + values[2] + (values[4] == "v")

    minimize(fun, mixed_bounds(named), n_evals=30, n_init=10)
    assert {type(p) for p in seen} == {dict if named else list}
    rows = [list(p.values()) if named else p for p in seen]
    assert {tuple(type(v) for v in row[:4]) for row in rows} == {(float, float, int, int)}
    assert {(row[4], type(row[4])) for row in rows} <= {("u", str), ("v", str), (3, int)}


def test_the_result_of_a_dict_space_is_a_dict() -> None:
    assert set(minimize(lambda p: p["a"], {"a": (0, 1)}, n_evals=3).x) == {"a"}


def test_the_function_may_change_its_argument() -> None:
    def fun(x):
        value = bowl(x)
        x[:] = 99.0
        return value

    result = minimize(fun, SQUARE, n_evals=15, n_init=8)
    assert all(np.abs(x).max() <= 1.0 for x in result.x_iters)


def test_a_read_only_x0_is_not_changed() -> None:
    x0, y0 = np.asarray([[0.1, 0.2], [0.3, 0.4]]), np.asarray([1.0, 2.0])
    x0.flags.writeable = y0.flags.writeable = False
    bounds = np.asarray(SQUARE)
    bounds.flags.writeable = False
    result = minimize(bowl, bounds, x0=x0, y0=y0, n_evals=12, n_init=5)
    np.testing.assert_array_equal(result.x_iters[:2], [[0.1, 0.2], [0.3, 0.4]])


# --- what the function may return


@pytest.mark.parametrize(
    "value", [1, 1.5, np.float32(1.5), np.int64(2), np.asarray(1.5), np.asarray([1.5]), np.asarray([[1.5]]), [1.5]]
)
def test_one_real_number_in_any_wrapping_is_a_value(value: object) -> None:
    assert minimize(lambda x: value, SQUARE, n_evals=1).fun == float(np.ravel(value)[0])


# --- starting points


def test_x0_is_evaluated_first() -> None:
    result = minimize(bowl, SQUARE, x0=[0.5, -0.5], n_evals=5)
    assert result.x_iters[0].tolist() == [0.5, -0.5]


def test_several_x0_are_evaluated_first_in_their_order() -> None:
    x0 = [[0.5, -0.5], [0.1, 0.2], [-1.0, 1.0]]
    assert [x.tolist() for x in minimize(bowl, SQUARE, x0=x0, n_evals=5).x_iters[:3]] == x0


def test_as_many_x0_as_parameters_are_points_and_not_coordinates() -> None:
    x0 = np.asarray([[0.5, -0.5], [0.1, 0.2]])
    np.testing.assert_array_equal(minimize(bowl, SQUARE, x0=x0, n_evals=2).x_iters, x0)


def test_a_dict_x0_is_evaluated_first() -> None:
    x0 = {"b": 0.25, "a": 0.5}
    assert minimize(lambda p: p["a"], {"a": (0, 1), "b": (0, 1)}, x0=x0, n_evals=3).x_iters[0] == x0


def test_a_number_is_an_x0_of_one_parameter() -> None:
    assert minimize(lambda x: x[0], [(0, 1)], x0=0.25, n_evals=2).x_iters[0].tolist() == [0.25]


def test_x0_counts_among_the_evaluations() -> None:
    assert minimize(bowl, SQUARE, x0=[0.5, -0.5], n_evals=5).nfev == 5


def test_more_x0_than_evaluations_are_cut() -> None:
    assert minimize(bowl, SQUARE, x0=np.zeros((9, 2)) + np.arange(9)[:, None] / 9, n_evals=4).nfev == 4


def test_points_with_known_values_are_not_evaluated_again() -> None:
    seen = []
    x0 = [[0.5, -0.5], [0.1, 0.2]]
    minimize(lambda x: seen.append(x.tolist()) or bowl(x), SQUARE, x0=x0, y0=[7.0, 8.0], n_evals=20, n_init=8)
    assert len(seen) == 18
    assert not [x for x in seen if x in x0]


def test_given_values_are_kept() -> None:
    result = minimize(bowl, SQUARE, x0=[[0.5, -0.5], [0.1, 0.2]], y0=[-7.0, 8.0], n_evals=5)
    assert result.fun == -7.0


def test_a_given_value_that_is_nan_is_a_failure() -> None:
    result = minimize(bowl, SQUARE, x0=[[0.5, -0.5]], y0=[math.nan], n_evals=3)
    assert (result.n_failures, result.history.evaluations[0].status) == (1, "failed")


def test_one_given_point_may_have_its_value_as_a_number() -> None:
    assert minimize(bowl, SQUARE, x0=[0.5, -0.5], y0=-7.0, n_evals=2).func_vals[0] == -7.0


@pytest.mark.parametrize(
    ("x0", "y0"),
    [
        ([[2.0, 0.0]], None),
        ([0.1, 0.2, 0.3], None),
        ([[0.1, 0.2, 0.3]], None),
        (0.5, None),
        ([["a", "b"]], None),
        ([[0.1, 0.2]], [1.0, 2.0]),
        ([[0.1, 0.2]], ["one"]),
        ([[0.1, 0.2]], [None, [1.0, 2.0]]),
        (None, [1.0]),
    ],
    ids=["outside", "flat", "wide", "number", "strings", "more values", "word as value", "ragged", "values only"],
)
def test_bad_starting_points_are_rejected_with_a_three_part_message(x0: object, y0: object, rejects) -> None:
    with rejects():
        minimize(bowl, SQUARE, x0=x0, y0=y0, n_evals=3)


# --- budgets


@pytest.mark.parametrize("n_evals", [1, 4, 8])
def test_a_budget_within_the_design_is_kept(n_evals: int) -> None:
    assert minimize(bowl, SQUARE, n_evals=n_evals, n_init=8).nfev == n_evals


def test_a_budget_within_the_design_is_said_in_the_message() -> None:
    assert "initial design" in minimize(bowl, SQUARE, n_evals=4, n_init=8).message


def test_a_budget_beyond_the_design_does_not_speak_of_it() -> None:
    assert "initial design" not in minimize(bowl, SQUARE, n_evals=9, n_init=8).message


def test_a_history_that_fills_the_budget_is_not_added_to() -> None:
    first = minimize(bowl, SQUARE, n_evals=12)
    assert minimize(bowl, SQUARE, n_evals=12, history=first.history).nfev == 12


@pytest.mark.parametrize("n_evals", [0, -1, 2.5, "10", None, True])
def test_a_bad_budget_is_rejected_with_a_three_part_message(n_evals: object, rejects) -> None:
    with rejects():
        minimize(bowl, SQUARE, n_evals=n_evals)  # type: ignore[arg-type]


def test_something_that_is_not_a_function_is_rejected_with_a_three_part_message(rejects) -> None:
    with rejects():
        minimize(3.0, SQUARE)  # type: ignore[arg-type]


def test_bad_bounds_are_rejected_before_the_function_is_called(rejects) -> None:
    with rejects():
        minimize(lambda x: pytest.fail("called"), [(1.0, 0.0)])


def test_a_history_of_another_space_is_rejected_with_a_three_part_message(rejects) -> None:
    history = minimize(lambda x: x[0], [(0, 1)], n_evals=3).history
    with rejects():
        minimize(bowl, SQUARE, n_evals=5, history=history)


# --- stopping


def test_stopiteration_from_the_callback_stops_the_run() -> None:
    def callback(result) -> None:
        if result.nfev == 7:
            raise StopIteration

    result = minimize(bowl, SQUARE, n_evals=50, callback=callback)
    assert (result.nfev, result.message) == (7, "stopped by the callback")


def test_the_callback_sees_every_evaluation() -> None:
    seen: list[int] = []
    minimize(bowl, SQUARE, n_evals=6, callback=lambda result: seen.append(result.nfev))
    assert seen == [1, 2, 3, 4, 5, 6]


def test_what_a_callback_returns_does_not_stop_the_run() -> None:
    assert minimize(bowl, SQUARE, n_evals=6, callback=lambda result: True).nfev == 6


def test_an_error_in_the_callback_is_the_users_own() -> None:
    def callback(result) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        minimize(bowl, SQUARE, n_evals=6, callback=callback)


# --- progress


def test_progress_prints_the_count(capsys: pytest.CaptureFixture[str]) -> None:
    minimize(bowl, SQUARE, n_evals=5, progress=True)
    assert "5/5" in capsys.readouterr().out


def test_nothing_is_printed_without_progress(capsys: pytest.CaptureFixture[str]) -> None:
    minimize(bowl, SQUARE, n_evals=5)
    assert capsys.readouterr() == ("", "")


def test_progress_shows_failures(capsys: pytest.CaptureFixture[str]) -> None:
    minimize(lambda x: math.nan, SQUARE, n_evals=5, progress=True)
    assert "5 failed" in capsys.readouterr().out


# --- seeds


def test_the_same_seed_gives_the_same_points(branin: Problem) -> None:
    first, second = (minimize(branin, branin.bounds, n_evals=30, seed=3) for _ in range(2))
    np.testing.assert_array_equal(first.x_iters, second.x_iters)


def test_another_seed_gives_other_points(branin: Problem) -> None:
    first, second = (minimize(branin, branin.bounds, n_evals=25, seed=seed) for seed in (3, 4))
    assert not np.isclose(first.x_iters, second.x_iters).all(axis=1).any()


def test_numpys_global_random_state_is_left_alone(branin: Problem) -> None:
    np.random.seed(5)
    before = np.random.get_state()[1].tolist()  # type: ignore[index]
    minimize(branin, branin.bounds, n_evals=25)
    assert np.random.get_state()[1].tolist() == before  # type: ignore[index]


# --- every policy, kernel, search and design


@pytest.mark.parametrize("search", ["gradient", "paper"])
@pytest.mark.parametrize("kernel", ["se", "matern52"])
@pytest.mark.parametrize("policy", ["alternate", "RND", "MN", "LCB", "PI", "EI", "MES", "MES-R", "ScaledEI"])
@pytest.mark.filterwarnings("default::surefoot.errors.NumericalWarning")
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
@pytest.mark.filterwarnings("default::surefoot.errors.NumericalWarning")
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
