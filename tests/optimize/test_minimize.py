"""`minimize`: what it finds, what it returns, what it accepts."""

import math

import numpy as np
import pytest

from surefoot import Categorical, Integer, Real, minimize
from surefoot.errors import InvalidInputError
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


def test_with_noise_the_recommended_point_is_better_than_the_luckiest_one() -> None:
    gaps = []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        result = minimize(lambda x, rng=rng: bowl(x) + 0.2 * rng.standard_normal(), SQUARE, n_evals=40, seed=seed)
        chosen = result.recommended
        assert any(chosen.x is x for x in result.x_iters)
        assert chosen.mean == pytest.approx(bowl(chosen.x), abs=max(4.0 * chosen.sd, 0.15))
        gaps.append(bowl(chosen.x) - bowl(result.x))
    assert np.mean(gaps) < 0.0


def test_without_noise_the_recommended_point_is_the_best_one() -> None:
    result = minimize(bowl, SQUARE, n_evals=25)
    np.testing.assert_array_equal(result.recommended.x, result.x)
    assert result.recommended.mean == pytest.approx(result.fun, abs=1e-4)


def test_nothing_is_recommended_when_everything_failed() -> None:
    result = minimize(lambda x: math.nan, SQUARE, n_evals=5, max_failures=None)
    with pytest.raises(InvalidInputError, match="all failed"):
        _ = result.recommended
