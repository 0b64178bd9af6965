"""Known constraints: what is refused, and what is never violated."""

import math
from random import Random

import numpy as np
import pytest

from surefoot import Categorical, Integer, Optimizer, Real, minimize
from surefoot.errors import InvalidInputError, UnknownNameError
from surefoot.optimize.allowed import domain_of
from surefoot.optimize.document import Document
from surefoot.optimize.region import Region
from surefoot.optimize.space import Space
from surefoot.reports.optimization import write_report

SQUARE = {"a": (0.0, 1.0), "b": (0.0, 1.0)}
TUBE = {"d_inner": (0.1, 1.0), "d_outer": (0.1, 1.0)}
SIMPLEX = {"a": (0.0, 1.0), "b": (0.0, 1.0), "c": (0.0, 1.0)}
MIXED = {
    "a": Real(1e-4, 10.0, log=True),
    "b": (0.0, 1.0),
    "n": Integer(1, 50),
    "m": Categorical(["u", "v"]),
    "k": Categorical([1, 2, 4]),
}


def bowl(x):
    values = x.values() if isinstance(x, dict) else x
    return sum((v - 0.7) ** 2 for v in values if not isinstance(v, str))


def asked(optimizer, n, f=bowl):
    """n points, each told before the next is asked for."""
    points = []
    for _ in range(n):
        points.append(optimizer.ask())
        optimizer.tell(points[-1], f(points[-1]))
    return points


# --- never violated


@pytest.mark.parametrize(
    ("bounds", "constraints", "holds"),
    [
        (TUBE, ["d_inner + 0.001 <= d_outer"], lambda x: x["d_inner"] + 0.001 <= x["d_outer"]),
        (TUBE, ["d_inner < d_outer"], lambda x: x["d_inner"] < x["d_outer"]),
        (SQUARE, ["0.9 <= a + b <= 0.91"], lambda x: 0.9 <= x["a"] + x["b"] <= 0.91),
        (SQUARE, ["a ** 2 + b ** 2 <= 0.5", "a * b >= 0.1"], lambda x: x["a"] ** 2 + x["b"] ** 2 <= 0.5),
        (SQUARE, ["sqrt(a - 0.5) >= b"], lambda x: x["a"] >= 0.5 and math.sqrt(x["a"] - 0.5) >= x["b"]),
        (SQUARE, [lambda x: x["a"] + x["b"] <= 0.3], lambda x: x["a"] + x["b"] <= 0.3),
        (SQUARE, [lambda x: 0.3 - x["a"] - x["b"]], lambda x: 0.3 - x["a"] - x["b"] >= 0.0),
        (SIMPLEX, ["a + b + c == 1"], lambda x: x["a"] + x["b"] + x["c"] == 1.0),
        (SIMPLEX, ["a + b + c == 1", "a >= b"], lambda x: x["a"] + x["b"] + x["c"] == 1.0 and x["a"] >= x["b"]),
        (SIMPLEX, ["2*a + 3*b == 1.7 - c"], lambda x: 2 * x["a"] + 3 * x["b"] == 1.7 - x["c"]),
        (MIXED, ["a * n <= 1e-2", "b >= n / 50"], lambda x: x["a"] * x["n"] <= 1e-2 and x["b"] >= x["n"] / 50),
        (MIXED, [lambda x: x["m"] == "u" or x["n"] > 45], lambda x: x["m"] == "u" or x["n"] > 45),
        (MIXED, ["k * n <= 3"], lambda x: x["k"] * x["n"] <= 3),
    ],
    ids=lambda value: str(value)[:40] if isinstance(value, list) and all(isinstance(v, str) for v in value) else "",
)
def test_no_suggestion_violates_a_constraint_as_it_is_written(bounds, constraints, holds):
    optimizer = Optimizer(bounds, constraints=constraints, n_init=8, seed=1)
    assert all(holds(x) for x in asked(optimizer, 16))


@pytest.mark.parametrize(
    ("policy", "search"),
    [*((policy, "gradient") for policy in ("RND", "EI", "LCB", "MES")), *((p, "paper") for p in ("RND", "EI", "LCB"))],
)
def test_no_policy_and_no_search_leaves_the_region(policy, search):
    optimizer = Optimizer(SQUARE, constraints=["a + b <= 0.2"], n_init=5, policy=policy, search=search)
    assert all(x["a"] + x["b"] <= 0.2 for x in asked(optimizer, 9))


def test_points_asked_for_together_are_allowed_and_different():
    optimizer = Optimizer(SQUARE, constraints=["a + b <= 0.2"], n_init=4)
    asked(optimizer, 5)
    points = optimizer.ask(6)
    assert all(x["a"] + x["b"] <= 0.2 for x in points)
    assert len({(x["a"], x["b"]) for x in points}) == 6


def test_where_everything_fails_points_stay_inside():
    optimizer = Optimizer(SQUARE, constraints=["a ** 2 + b ** 2 <= 0.05"], n_init=4)
    for i in range(24):
        x = optimizer.ask()
        assert x["a"] ** 2 + x["b"] ** 2 <= 0.05
        optimizer.tell_failure(x, ("mesh", "pressure")[i % 2])


def test_with_noise_points_stay_inside():
    optimizer = Optimizer(SQUARE, constraints=["a + b <= 0.2"], n_init=4, noise=0.1)
    assert all(x["a"] + x["b"] <= 0.2 for x in asked(optimizer, 12))


def test_a_design_of_a_small_region_has_different_points():
    optimizer = Optimizer([(0.0, 1.0)] * 10, constraints=[" + ".join(f"x{i}" for i in range(10)) + " <= 1"], n_init=20)
    points = np.asarray(optimizer.ask(20))
    assert points.sum(axis=1).max() <= 1.0
    assert np.abs(points[:, None] - points[None]).max(axis=2)[~np.eye(20, dtype=bool)].min() > 0.02


def test_the_optimum_on_a_border_is_found():
    result = minimize(bowl, SQUARE, constraints=["a + b <= 1"], n_evals=30)
    assert result.fun == pytest.approx(0.08, abs=1e-6)


def test_the_optimum_on_a_curved_border_is_found():
    result = minimize(bowl, SQUARE, constraints=["a ** 2 + b ** 2 <= 0.5"], n_evals=30)
    assert result.fun == pytest.approx(2 * 0.2**2, abs=1e-5)


def test_the_optimum_of_a_mixture_is_found():
    result = minimize(bowl, SIMPLEX, constraints=["a + b + c == 1"], n_evals=35)
    assert result.fun == pytest.approx(3 * (1 / 3 - 0.7) ** 2, abs=1e-5)


def test_names_of_a_list_of_bounds_are_x0_x1():
    assert minimize(bowl, [(0.0, 1.0)] * 2, constraints="x0 >= x1 + 0.5", n_evals=8).x[0] >= 0.5


def test_a_finite_space_ends_when_all_allowed_points_are_evaluated():
    result = minimize(bowl, {"i": Integer(0, 5), "j": Integer(0, 5)}, constraints=["i + j <= 2"], n_evals=50)
    assert result.nfev == 6
    assert "every point" in result.message


def test_one_allowed_point_among_many_is_found():
    bounds = {"i": Integer(0, 199), "j": Integer(0, 199)}
    assert minimize(bowl, bounds, constraints=["i >= 199", lambda x: x["j"] == 17], n_evals=9).nfev == 1


def test_an_isolated_run_does_not_need_constraints_that_travel():
    result = minimize(bowl, SQUARE, constraints=[lambda x: x["a"] <= 0.5], n_evals=3, isolate="process")
    assert all(x["a"] <= 0.5 for x in result.x_iters)


def test_suggestions_are_repeatable():
    first, second = (Optimizer(SIMPLEX, constraints=["a * b <= 0.01"], n_init=5) for _ in range(2))
    assert asked(first, 9) == asked(second, 9)


# --- what is said before the first evaluation


@pytest.mark.parametrize(
    ("bounds", "constraints", "said"),
    [
        (
            SQUARE,
            ["a + b <= 0.5", "a >= 0.3", "b >= 0.3", "a <= 0.9"],
            "'a \\+ b <= 0.5' and 'a >= 0.3' and 'b >= 0.3':",
        ),
        (SQUARE, ["a + b >= 2.5"], "no point of the space meets"),
        (SQUARE, ["a ** 2 + b ** 2 <= -1"], "found in [0-9]+ tries"),
        (SQUARE, [lambda x: False], "found in [0-9]+ tries"),
        (SQUARE, ["a <= 0.3", "a >= 0.3", "b <= 0.1", "b >= 0.1"], "no room to move"),
        ({"i": Integer(0, 9)}, ["2 * i >= 5", "2 * i <= 5.5"], "none of all 10 points"),
        ({"i": Integer(0, 10**6), "b": (0, 1)}, ["2 * i >= 5", "2 * i <= 5.5"], "no point of the space meets"),
        ({"a": Real(1e-3, 1, log=True), "b": (0, 1)}, ["a + b <= 0"], "no point of the space meets"),
        (SQUARE, ["a * b == 0.1"], "is curved; try leaving one of its parameters out"),
        ({"i": Integer(0, 9), "a": (0, 1)}, ["i + a == 3"], "i is an integer"),
        ({"i": Real(0.1, 9, log=True), "a": (0, 1)}, ["i + a == 3"], "logarithmic"),
        (SQUARE, ["a + b == 1", "2 * a + 2 * b == 1"], "contradicts the ones before"),
        (SQUARE, ["a + b == 3"], "no point of the space meets"),
        (SQUARE, ["1 <= 2"], "names none"),
        (SQUARE, [""], "got the end"),
        (SQUARE, 3, "a list of texts and functions"),
        (SQUARE, [3], "as text or function"),
        (SQUARE, ["a + b"], "a comparison"),
        (MIXED, ["m <= 1"], "try a function"),
        (SQUARE, [lambda x: x["c"] <= 1], "KeyError"),
        (SQUARE, [lambda x: "yes"], "True, False or a number"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_cannot_be_used_is_refused_before_anything_is_evaluated(bounds, constraints, said):
    with pytest.raises(InvalidInputError, match=said):
        minimize(lambda x: pytest.fail("evaluated"), bounds, constraints=constraints, n_evals=5)


def test_an_unknown_name_is_refused_with_the_one_that_was_meant():
    with pytest.raises(UnknownNameError, match="try d_inner"):
        Optimizer(TUBE, constraints=["d_iner <= d_outer"])


@pytest.mark.parametrize("seed", range(40))
def test_random_text_is_refused_or_kept_to(seed):
    rng = Random(seed)
    words = ["a", "b", "n", "(", ")", "+", "-", "*", "/", "**", "^", "<=", "<", "==", ">=", "1", "0.5", "1e3"]
    words += ["sqrt", "(", "max", ",", "pi", "'a'", " ", "0"]
    for _ in range(40):
        text = "".join(rng.choice(words) for _ in range(rng.randint(3, 12)))
        try:
            optimizer = Optimizer({**SQUARE, "n": Integer(0, 5)}, constraints=text)
        except InvalidInputError:
            continue
        assert optimizer.space.violated(tuple(optimizer.ask().values())) == []


def test_no_constraints_are_no_constraints():
    assert Space.of(SQUARE, []).constraints == ()
    assert domain_of(Space.of(SQUARE, [])).region is None


# --- points that users give


def test_a_given_point_that_violates_is_kept_and_is_not_the_best():
    result = minimize(bowl, SQUARE, constraints=["a + b <= 1"], x0=[{"a": 0.7, "b": 0.7}], n_evals=6)
    assert result.func_vals.min() == 0.0
    assert result.fun > 0.0
    assert result.history.evaluations[0].violates == ("a + b <= 1",)
    assert "1 evaluation violates known constraints" in repr(result)


def test_where_all_successes_violate_the_best_one_says_so():
    result = minimize(bowl, SQUARE, constraints=["a + b <= 1"], x0=[{"a": 0.7, "b": 0.7}], n_evals=1)
    assert "the best point violates a + b <= 1" in repr(result)


def test_failures_where_nothing_is_suggested_are_not_learned():
    optimizer = Optimizer(SQUARE, constraints=["a + b <= 1"], n_init=4)
    optimizer.tell_failure({"a": 0.9, "b": 0.9}, "crashed")
    asked(optimizer, 6)
    assert not optimizer.history.seen[0]
    assert not optimizer.result().model.learns_failures


def test_a_value_outside_is_learned_but_is_no_incumbent():
    told = Optimizer(SQUARE, constraints=["a + b <= 1"], n_init=4, noise=0)
    told.tell({"a": 0.7, "b": 0.7}, -100.0)
    told.tell({"a": 0.2, "b": 0.2}, 1.0)
    assert told.best.y == 1.0
    fitted = told.result().model.fitted
    assert float(fitted.f_best[0, 0]) == pytest.approx(float(fitted.scaling.forward(np.asarray([[1.0]]))[0, 0]))


def test_the_result_names_the_constraints_that_the_best_point_lies_at():
    result = minimize(bowl, SQUARE, constraints={"budget": "a + b <= 1", "far": "a >= -5"}, n_evals=25)
    assert "lies at the border of budget: a + b <= 1" in repr(result)
    assert "far" not in repr(result)


def test_a_robust_point_is_allowed():
    def fails(x):
        return math.nan if x["a"] > 0.8 else bowl(x)

    result = minimize(fails, SQUARE, constraints=["a + b <= 1"], n_evals=25)
    x = result.robust(0.9, within="2 %").x
    assert x["a"] + x["b"] <= 1.0


# --- documents


def test_a_saved_run_goes_on_with_its_constraints(tmp_path):
    whole = minimize(bowl, SQUARE, constraints=["a + b <= 1"], n_evals=12, n_init=5)
    minimize(bowl, SQUARE, constraints=["a + b <= 1"], n_evals=8, n_init=5).save(tmp_path / "run.json")
    resumed = minimize(bowl, resume=tmp_path / "run.json", n_evals=12)
    assert [str(c) for c in resumed.space.constraints] == ["a + b <= 1"]
    assert resumed.func_vals.tolist() == whole.func_vals.tolist()


def test_functions_must_be_given_again(tmp_path):
    def small(x):
        return x["a"] <= 0.5

    optimizer = Optimizer(SQUARE, constraints=["a + b <= 1", small])
    optimizer.save(tmp_path / "run.json")
    with pytest.raises(InvalidInputError, match=r"functions small .* constraints=\[...\]"):
        Optimizer.load(tmp_path / "run.json")
    with pytest.raises(InvalidInputError, match=r"expected the constraints of .*a \+ b <= 1, small; got a <= 1"):
        Optimizer.load(tmp_path / "run.json", constraints=["a <= 1"])
    again = Optimizer.load(tmp_path / "run.json", constraints=["a + b <= 1", small])
    assert again.ask() == optimizer.ask()


def test_names_of_constraints_are_kept(tmp_path):
    Optimizer(SQUARE, constraints={"budget": "a + b <= 1"}).save(tmp_path / "run.json")
    assert Optimizer.load(tmp_path / "run.json").space.constraints[0].name == "budget"


def test_a_document_without_constraints_is_what_it_was(tmp_path):
    Optimizer(SQUARE).save(tmp_path / "plain.json")
    Optimizer(SQUARE, constraints=["a <= 0.5"]).save(tmp_path / "with.json")
    assert '"version": 2' in (tmp_path / "plain.json").read_text()
    assert "constraints" not in (tmp_path / "plain.json").read_text()
    assert '"version": 3' in (tmp_path / "with.json").read_text()
    assert Document.read(tmp_path / "with.json").space.constraints


# --- the region


def region_of(bounds, constraints):
    space = Space.of(bounds, constraints)
    return Region(space, space.constraints)


def test_margins_have_the_slopes_of_central_differences():
    region = region_of(MIXED, ["a * b <= 1e-2 * n", "0.1 <= b ** 2 + log10(a) <= 5", lambda x: x["a"] - x["b"]])
    unit = Space.of(MIXED).encode((0.3, 0.4, 7, "u", 2))
    _, slopes = region.margins(unit)
    for j in np.flatnonzero(Space.of(MIXED).free):
        step = 1e-5 * np.eye(len(unit))[j]
        difference = (region.margins(unit + step)[0] - region.margins(unit - step)[0]) / 2e-5
        np.testing.assert_allclose(slopes[:, j], difference, rtol=1e-4, atol=1e-6)


def test_computed_parameters_move_with_the_others():
    region = region_of(SIMPLEX, ["a + 2 * b + c == 1.5"])
    unit = region.project(np.asarray([[0.3, 0.4, 0.5]]))[0]
    for k, j in enumerate(region.moving):
        moved = unit + 0.01 * region.moves[:, k]
        assert moved[0] + 2 * moved[1] + moved[2] == pytest.approx(1.5, abs=1e-14)
        assert moved[j] == pytest.approx(unit[j] + 0.01)


def test_fixed_parameters_count_as_numbers():
    bounds = {"a": (0.0, 1.0), "b": (0.0, 1.0), "s": Real(3.0, 3.0)}
    optimizer = Optimizer(bounds, constraints=["s * a + b == 1"], n_init=4)
    assert all(3.0 * x["a"] + x["b"] == 1.0 for x in asked(optimizer, 6))


def test_what_is_brought_in_lies_on_the_border():
    domain = domain_of(Space.of(SQUARE, ["a + b <= 1"]))
    x = domain.snap(np.asarray([[0.9, 0.9], [0.2, 0.3]]))
    assert x.sum(axis=1) == pytest.approx([1.0, 0.5], abs=1e-12)
    assert x.sum(axis=1).max() <= 1.0


def test_a_report_names_the_constraints(tmp_path):
    result = minimize(bowl, SQUARE, constraints={"budget": "a + b <= 1"}, n_evals=20)
    page = write_report(result, tmp_path / "report.html").read_text()
    assert "Known constraints" in page
    assert "The best point lies at the border of budget: a + b &lt;= 1." in page


def test_after_a_step_of_an_integer_the_real_parameters_return_into_the_region():
    bounds = {"i": Integer(1, 99), "r": (10.0, 200.0), "L": (10.0, 200.0)}
    space = Space.of(bounds, ["0.0193 * r <= i / 16", "r**2 * L + 4/3 * r**3 >= 412530"])
    domain = domain_of(space)
    at_both_borders = space.encode((15, 48.575129, 110.0676844))
    found = [domain.decode(unit) for unit in domain.neighbours(at_both_borders)]
    assert [values[0] for values in found] == [14, 16]
    assert found[0][1] == pytest.approx(14 / 16 / 0.0193, rel=1e-6)
    assert not any(space.violated(values) for values in found)
