"""Output warping: when it is chosen, what it gains, and that nothing else notices."""

import math

import numpy as np
import pytest

from surefoot import Optimizer, minimize, problems
from surefoot.engine.model import fit_model
from surefoot.engine.warmth import Warmth
from surefoot.errors import UnknownNameError
from surefoot.numerics.designs import generator
from surefoot.numerics.warping import ABOVE
from surefoot.optimize.settings import Settings


def level_after(f, n=60, **settings):
    result = minimize(f, f.bounds, n_evals=n, n_init=20, **settings)
    return result.history.warmth.warp


def test_a_function_that_spans_powers_of_ten_is_warped():
    assert level_after(problems.get("GPR"))[0] > 0


def test_low_values_are_compressed_where_that_is_asked_for_and_a_plain_has_pits():
    assert level_after(problems.get("HM6"), n=22, warp="both")[0] not in ABOVE


def test_by_default_low_values_are_not_compressed():
    assert Settings().spec.warps == ABOVE


def test_with_limits_on_outputs_no_end_of_the_values_is_compressed_alone():
    assert Settings(warp="both", outputs={"stress": "<= 1"}).spec.warps == ABOVE


def test_a_result_says_which_values_are_compressed():
    f = problems.get("HM6")
    assert minimize(f, f.bounds, n_evals=22, n_init=20, warp="both").model.warp.endswith("below the worst value on")


def test_predictions_from_compressed_low_values_are_in_the_users_units():
    f = problems.get("HM6")
    result = minimize(f, f.bounds, n_evals=22, n_init=20, warp="both")
    mean, _ = result.model.predict(result.x_iters)
    np.testing.assert_allclose(mean, result.func_vals, rtol=1e-3, atol=1e-6)


def test_shekel_is_solved_in_more_runs_with_low_values_compressed():
    f = problems.get("SH7")
    solved = {
        warp: sum(minimize(f, f.bounds, n_evals=70, seed=seed, warp=warp).fun < f.f_star + 0.1 for seed in (18, 19, 20))
        for warp in ("both", "auto")
    }
    assert solved["both"] > solved["auto"]


def test_a_smooth_bowl_is_not():
    result = minimize(lambda x: (x[0] - 0.3) ** 2 + (x[1] + 0.2) ** 2, [(-1.0, 1.0)] * 2, n_evals=22, n_init=20)
    assert result.history.warmth.warp == (0,)


def test_above_200_evaluations_some_of_them_decide():
    f = problems.get("GPR")
    rng = np.random.default_rng(0)
    X = np.asarray(f.lower) + rng.random((300, 2)) * (np.asarray(f.upper) - np.asarray(f.lower))
    optimizer = Optimizer(f.bounds, n_init=1)
    for x in X[:290]:  # most fail: the few successes must be among those that decide
        optimizer.tell_failure(x, "no")
    for x in X[290:]:
        optimizer.tell(x, float(f(x)))
    optimizer.tell(optimizer.ask(), 5.0)
    assert optimizer.history.warmth.warp[0] > 0


def test_noise_that_a_warp_would_draw_out_forbids_it():
    f = problems.get("GPR")
    rng = np.random.default_rng(0)
    X = np.asarray(f.lower) + rng.random((60, 2)) * (np.asarray(f.upper) - np.asarray(f.lower))
    levels = []
    for noise in (0.0, 1e5):  # the values' own standard deviation is about 1.4e5
        y = f(X) + noise * rng.standard_normal(60)
        levels.append(minimize(f, f.bounds, n_evals=61, x0=X, y0=y).history.warmth.warp[0])
    assert levels[0] > 0
    assert levels[1] == 0


@pytest.mark.parametrize("settings", [{"warp": "none"}, {"search": "paper"}, {"noise": 0.5}], ids=str)
def test_it_is_off_where_it_would_mean_something_else(settings):
    assert not any(level_after(problems.get("GPR"), n=22, **settings))


def test_goldstein_and_price_is_solved_a_thousand_times_better():
    f = problems.get("GPR")
    with_warp, without = (
        np.mean([f.log10_distance(minimize(f, f.bounds, n_evals=80, seed=seed, warp=warp).fun) for seed in range(3)])
        for warp in ("auto", "none")
    )
    assert with_warp < without - 3.0


def test_predictions_are_in_the_users_units():
    f = problems.get("GPR")
    result = minimize(f, f.bounds, n_evals=60, n_init=20, seed=1)
    assert result.history.warmth.warp[0] > 0
    mean, sd = result.model.predict(result.x_iters)
    np.testing.assert_allclose(mean, result.func_vals, rtol=1e-2)
    assert (sd >= 0.0).all()
    assert result.recommended.mean == pytest.approx(result.fun, rel=1e-2)


@pytest.mark.bits
def test_maximizing_the_negative_gives_the_same_points():
    f = problems.get("GPR")
    down = minimize(f, f.bounds, n_evals=30)
    optimizer = Optimizer(f.bounds, maximize=True)
    for _ in range(30):
        x = optimizer.ask()
        optimizer.tell(x, -float(f(x)))
    np.testing.assert_array_equal(np.asarray(optimizer.result().x_iters), np.asarray(down.x_iters))


def test_failures_beside_a_warped_objective():
    f = problems.get("GPR")

    def crashes(x):
        return math.nan if x[0] > 1.0 else float(f(x))

    result = minimize(crashes, f.bounds, n_evals=60, n_init=20, max_failures=None)
    assert result.history.warmth.warp[0] > 0
    assert f.log10_distance(result.fun) < -2.0


def test_the_level_is_kept_with_the_history():
    warmth = Warmth(warp=(9, 0))
    assert Warmth.from_json(warmth.to_json()).warp == (9, 0)
    old = warmth.to_json()
    del old["warp"]
    assert Warmth.from_json(old).warp == ()


def test_an_unknown_warp_is_refused():
    with pytest.raises(UnknownNameError, match="auto"):
        minimize(lambda x: 0.0, [(0.0, 1.0)], n_evals=1, warp="log")


def _piled(width: float) -> Optimizer:
    """Two parabolas, the second with a limit: 15 evaluations all over the square, then 25 about an optimum on it."""
    rng = np.random.default_rng(1)
    best = np.asarray([0.6, 0.8])
    optimizer = Optimizer([(0.0, 2.0)] * 2, objective="cost", outputs={"stress": "<= 1"}, n_init=6)
    for x in [*(2.0 * rng.random((15, 2))), *(best + width * rng.standard_normal((25, 2)))]:
        optimizer.tell(x, {"cost": float(np.sum((x - 1.0) ** 2)), "stress": float(x @ x)})
    return optimizer


def test_evaluations_on_one_spot_do_not_choose_the_warps_of_the_map():
    optimizer = _piled(1e-5)
    optimizer.ask()  # the search has chosen its own
    shown = optimizer.result().map.fitted
    assert shown.scaling.levels.tolist() == [0]
    assert shown.outputs.scaling.levels.tolist() == [0]


def test_without_piles_the_map_is_the_model_of_the_search():
    optimizer = _piled(0.2)
    optimizer.tell(x := optimizer.ask(), {"cost": 1.0, "stress": float(np.sum(np.square(x)))})
    result = optimizer.result()
    rng = generator(result.settings.seed, 0, result.nfev)
    own = fit_model(result.batch, result.settings.spec, result.history.warmth, (rng,))
    np.testing.assert_array_equal(result.map.fitted.objective.alpha, own.objective.alpha)
