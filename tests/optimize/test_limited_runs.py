"""Runs with limits on outputs: the optimum on a limit, whatever the units, the failures and the gaps."""

import math
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import surefoot
from surefoot import Categorical, Integer, Optimizer, Real, minimize
from surefoot.errors import InvalidInputError

BOUNDS = [(0.0, 1.0), (0.0, 1.0)]
DISC = {"disc": "<= 0.25"}
BEST = 1.0 - math.sqrt(0.5)  # of x + y in the disc of radius 1/2 round (1/2, 1/2)


def slope(x):
    """The least sum inside a disc."""
    return {"sum": float(x[0] + x[1]), "disc": float((x[0] - 0.5) ** 2 + (x[1] - 0.5) ** 2)}


def run(fun=slope, outputs=DISC, n_evals=30, **more):
    return minimize(fun, BOUNDS, n_evals=n_evals, n_init=8, outputs=outputs, **more)


@pytest.fixture(scope="module")
def found():
    return run()


def test_an_optimum_on_a_limit_is_found_to_six_digits(found):
    assert found.fun == pytest.approx(BEST, rel=1e-6)


def test_the_best_point_is_strictly_feasible(found):
    assert found.feasible
    assert found.outputs["disc"] <= 0.25


def test_the_objective_is_the_output_without_a_limit(found):
    assert found.objective == "sum"


def test_best_so_far_counts_feasible_evaluations_only(found):
    rows = found.table()
    inside = [row["value"] for row in rows if row["disc"] <= 0.25]
    assert rows[-1]["best"] == min(inside)
    assert min(row["value"] for row in rows) < rows[-1]["best"]


@pytest.mark.slow
@pytest.mark.parametrize("unit", [1e-9, 1e9])
def test_the_unit_of_an_output_does_not_matter(found, unit):
    def scaled(x):
        y = slope(x)
        return {"sum": y["sum"], "disc": unit * y["disc"]}

    other = run(scaled, {"disc": f"<= {0.25 * unit!r}"})
    assert other.fun == pytest.approx(BEST, rel=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "value"),
    [(">= -0.25", lambda y: -y), ("between -5 and 0.25", lambda y: y), ("between -0.25 and 7", lambda y: -y)],
)
def test_every_form_of_the_limit_leads_to_the_same_optimum(text, value):
    def other(x):
        return {"sum": slope(x)["sum"], "disc": value(slope(x)["disc"])}

    assert run(other, {"disc": text}).fun == pytest.approx(BEST, rel=1e-5)


@pytest.mark.slow
def test_an_equality_is_met_within_its_tolerance():
    result = run(outputs={"disc": "= 0.25 within 1e-4"})
    assert abs(result.outputs["disc"] - 0.25) <= 1e-4
    assert result.fun == pytest.approx(BEST, abs=2e-4)


def test_a_margin_is_kept_by_the_best_point():
    result = run(outputs={"disc": "<= 0.25 margin 0.05"}, n_evals=25, noise=0)
    late = [e.further["disc"] for e in result.history.evaluations[15:]]
    assert np.median(late) < 0.21


@pytest.mark.slow
def test_a_maximum_is_found_too():
    def rising(x):
        return {"sum": -slope(x)["sum"], "disc": slope(x)["disc"]}

    result = run(rising, maximize=True)
    assert result.fun == pytest.approx(-BEST, rel=1e-6)


@pytest.mark.slow
def test_limits_and_failures_go_together():
    def fails(x):
        if x[0] > 0.7:
            raise ArithmeticError("diverged")
        return slope(x)

    result = run(fails, n_evals=35)
    assert result.n_failures > 0
    assert result.fun == pytest.approx(BEST, rel=1e-5)


@pytest.mark.slow
def test_an_output_may_be_missing_in_half_of_the_evaluations():
    def gap(seed):
        calls = []

        def gaps(x):
            calls.append(x)
            y = slope(x)
            return {**y, "disc": math.nan if len(calls) % 2 == 0 else y["disc"]}

        result = run(gaps, n_evals=40, seed=seed)
        assert result.feasible
        return result.fun / BEST - 1.0

    assert np.median([gap(seed) for seed in range(5)]) < 1e-3  # one in five stays at a distance


@pytest.mark.parametrize(("text", "is_met"), [("<= 1", True), ("<= -1", False)])
def test_an_output_that_never_changes_is_a_limit_like_others(text, is_met):
    def constant(x):
        return {**slope(x), "same": 0.0}

    result = run(constant, {**DISC, "same": text}, n_evals=20)
    assert result.feasible == is_met


def test_where_nothing_is_feasible_the_point_least_outside_is_the_result():
    result = run(outputs={"disc": "<= -0.1"}, n_evals=20)
    assert not result.feasible
    assert result.outputs["disc"] == min(e.further["disc"] for e in result.history.evaluations)
    assert result.outputs["disc"] < 0.05


def test_a_small_feasible_region_is_found_by_its_outputs():
    def small(x):
        return {"sum": float(x[0] + x[1]), "a": float((x[0] - 0.83) ** 2), "b": float(abs(x[1] - 0.21))}

    result = run(small, {"a": "<= 1e-4", "b": "<= 0.01"}, n_evals=25)  # 0.04 % of the box
    assert result.feasible


def test_an_infinite_output_on_the_right_side_is_within():
    def endless(x):
        return {**slope(x), "life": math.inf if x[0] < 0.5 else 1.0}

    result = run(endless, {**DISC, "life": ">= 2"}, n_evals=20)
    assert result.feasible
    assert result.x[0] < 0.5


def test_parameters_may_be_of_all_kinds():
    space = {"a": Real(0.0, 1.0), "n": Integer(1, 5), "c": Categorical(["u", "v"])}

    def mixed(p):
        return {
            "cost": p["n"] + (p["c"] == "v") + p["a"],
            "load": p["n"] * (1.0 + p["a"]) * (2 if p["c"] == "v" else 1),
        }

    result = minimize(mixed, space, n_evals=35, n_init=10, outputs={"load": ">= 4.5"}, objective="cost")
    assert result.fun == pytest.approx(3.125, rel=1e-4)  # n = 2, v, a = 0.125


@pytest.mark.slow
def test_noisy_outputs_leave_a_point_that_is_probably_feasible():
    rng = np.random.default_rng(0)

    def noisy(x):
        y = slope(x)
        return {"sum": y["sum"] + 0.01 * rng.standard_normal(), "disc": y["disc"] + 0.01 * rng.standard_normal()}

    x = run(noisy, n_evals=40).recommended.x
    assert slope(x)["disc"] < 0.27
    assert slope(x)["sum"] < BEST + 0.1


@pytest.mark.parametrize("policy", ["MN", "LCB", "PI", "EI", "ScaledEI", "MES", "MES-R", "RND"])
def test_every_policy_can_be_used(policy):
    assert run(policy=policy, n_evals=14).feasible


@pytest.mark.parametrize("search", ["paper", "paper-absolute"])
def test_the_searches_of_the_paper_weigh_with_the_probability_alone(search):
    assert run(search=search, n_evals=16).feasible


def test_points_under_way_are_not_proposed_again():
    opt = Optimizer(BOUNDS, n_init=8, outputs=DISC)
    for _ in range(10):
        x = opt.ask()
        opt.tell(x, slope(x))
    asked = opt.ask(4)
    assert len({tuple(x) for x in asked}) == 4


def test_evaluations_may_run_in_parallel():
    with ThreadPoolExecutor(3) as executor:
        result = run(executor=executor, n_workers=3)
    assert result.fun == pytest.approx(BEST, rel=1e-4)


# --- errors


def test_an_output_that_is_not_returned_is_said_after_the_first_success():
    with pytest.raises(InvalidInputError, match=r"'disk'.*'sum', 'disc'; try outputs=\{'disc'") as raised:
        run(outputs={"disk": "<= 0.25"}, objective="sum")
    assert raised.value.result.nfev == 1


def test_a_number_alone_has_no_outputs_to_limit():
    with pytest.raises(InvalidInputError, match="returning a dict"):
        run(lambda x: float(x[0]))


def test_what_was_told_without_the_output_is_kept():
    opt = Optimizer(BOUNDS, outputs={"disk": "<= 0.25"}, objective="sum")
    with pytest.raises(InvalidInputError, match="disk"):
        opt.tell([0.5, 0.5], slope([0.5, 0.5]))
    assert len(opt.history) == 1


def test_a_failure_first_is_no_reason_to_complain():
    calls = []

    def late(x):
        calls.append(x)
        if len(calls) < 3:
            raise ArithmeticError("diverged")
        return slope(x)

    assert run(late, n_evals=6).n_failures == 2


def test_a_limit_that_is_none_is_refused_before_anything_runs():
    with pytest.raises(InvalidInputError, match="'disc'"):
        run(lambda x: pytest.fail("was called"), {"disc": "small"})


# --- going on


def test_a_saved_run_goes_on_as_if_it_had_not_been_away(tmp_path, found):
    path = tmp_path / "run.json"
    run(n_evals=15).save(path)
    resumed = minimize(slope, n_evals=30, resume=path)
    np.testing.assert_array_equal(resumed.x_iters, found.x_iters)


def test_a_saved_optimizer_goes_on_with_the_same_points(tmp_path):
    path = tmp_path / "run.json"
    opt = Optimizer(BOUNDS, n_init=8, outputs=DISC)
    for _ in range(12):
        x = opt.ask()
        opt.tell(x, slope(x))
    opt.save(path)
    assert Optimizer.load(path).ask() == opt.ask()


def test_other_limits_beside_resume_are_a_contradiction(tmp_path, found):
    path = tmp_path / "run.json"
    found.save(path)
    with pytest.raises(InvalidInputError, match="outputs="):
        minimize(slope, resume=path, outputs={"disc": "<= 0.3"})


def test_a_history_can_be_taken_over_under_other_limits(found):
    result = run(history=found.history, outputs={"disc": "<= 0.16"}, n_evals=40)
    assert result.fun == pytest.approx(1.0 - 0.4 * math.sqrt(2.0), rel=1e-5)


def test_a_document_without_limits_opens_as_before(tmp_path):
    path = tmp_path / "run.json"
    minimize(lambda x: float(x[0]), [(0, 1)], n_evals=3, n_init=3).save(path)
    path.write_text(path.read_text().replace(', "outputs": {}', ""))  # as it was written before there were limits
    assert surefoot.Optimizer.load(path).settings.outputs == {}


@pytest.mark.parametrize("seed", [0, 1])
def test_where_an_output_is_missing_the_search_does_not_stay(seed):
    def f(x):
        return {"m": x["x"] + x["y"], "s": math.nan if x["x"] < 0.5 else 1.0 + x["y"]}

    bounds = {"x": (0, 2), "y": (0, 2)}
    result = minimize(f, bounds, outputs={"s": "<= 3"}, objective="m", n_evals=25, seed=seed)
    assert result.fun < 0.6  # the least is 0.5


def test_an_objective_that_is_no_output_ends_the_run_after_some_evaluations():
    with pytest.raises(InvalidInputError, match="expected the objective 'mm' among the outputs; got m, s"):
        minimize(lambda x: {"m": 1.0, "s": 2.0}, [(0, 1)], n_evals=9, objective="mm")


def test_a_value_that_has_another_name_since_a_run_was_saved_ends_the_run(tmp_path):
    minimize(lambda x: x[0], [(0, 1)], n_evals=4).save(tmp_path / "run.json")
    with pytest.raises(
        InvalidInputError, match=r"'value' among the outputs; got k; .* \(10 evaluations have failed so"
    ):
        minimize(lambda x: {"k": x[0]}, resume=tmp_path / "run.json", n_evals=30)


def test_simulations_that_end_early_do_not_end_a_run_that_was_resumed(tmp_path):
    minimize(lambda x: {"k": x[0]}, [(0, 1)], n_evals=4, objective="k").save(tmp_path / "run.json")
    calls = []

    def often_ends_early(x):
        calls.append(x)
        return {"k": x[0]} if len(calls) == 9 else {"steps": 1.0}

    assert minimize(often_ends_early, resume=tmp_path / "run.json", n_evals=18).n_failures == 13


@pytest.mark.slow
def test_a_dask_cluster_evaluates_with_limits_on_outputs():
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=2, processes=False, dashboard_address="127.0.0.1:0", silence_logs=50
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        result = run(n_evals=36, executor=client.get_executor(), n_workers=2)
    assert result.nfev == 36
    assert result.feasible
    assert result.fun == pytest.approx(BEST, rel=1e-3)
