"""The point to build: its neighbourhood works too."""

import math
from dataclasses import dataclass, field, fields

import numpy as np
import pytest

from surefoot import Categorical, Evaluation, History, Integer, Optimizer, Real, minimize
from surefoot.errors import InvalidInputError
from surefoot.optimize.fitted import FittedModel
from surefoot.optimize.neighbourhood import Neighbourhood
from surefoot.optimize.result import Result
from surefoot.optimize.robust import Robust
from surefoot.optimize.space import Space


def bowl(x) -> float:
    """Better and better towards x0 = 0.5, where evaluations begin to fail."""
    if x[0] > 0.5:
        raise ArithmeticError("diverged")
    return float((x[0] - 0.8) ** 2 + (x[1] - 0.3) ** 2)


def result_of(space, points, value, fails=lambda x: False, **options) -> Result:
    """The result of evaluations at given points."""
    evaluations = tuple(
        Evaluation(tuple(x), math.nan, "failed", "no") if fails(x) else Evaluation(tuple(x), float(value(x)))
        for x in points
    )
    history = History(evaluations, direction="maximize" if options.get("maximize") else "minimize")
    return Optimizer(space, history=history, **({"failures": "ep"} | options)).result()


GRID = [(a / 7, b / 7) for a in range(8) for b in range(8)]
BESIDE = [(x0, b / 10) for x0 in (0.48, 0.495, 0.505, 0.52) for b in range(1, 10, 2)]


@pytest.fixture(scope="module")
def bordered() -> Result:
    return result_of([(0.0, 1.0)] * 2, [*GRID, *BESIDE, (0.499, 0.3)], bowl, fails=lambda x: x[0] > 0.5)


@pytest.mark.parametrize("within", ["2 %", "5%", {"x0": 0.05}, {"x0": 0.05, "x1": 0.2}])
def test_the_neighbourhood_of_the_point_to_build_succeeds(bordered: Result, within) -> None:
    found = bordered.robust(0.95, within)
    reach = within["x0"] if isinstance(within, dict) else float(within.rstrip(" %")) / 100
    assert found.probability >= 0.95
    assert found.x[0] + reach <= 0.5
    assert found.x[0] > 0.5 - reach - 0.05  # no farther away than it must be
    assert found.x[1] == pytest.approx(0.3, abs=0.05)


def test_the_predicted_value_is_that_of_the_function(bordered: Result) -> None:
    found = bordered.robust(within="5 %")
    assert found.mean == pytest.approx(bowl(found.x), abs=1e-3)
    assert found.probability <= bordered.success_probability([found.x])[0]


def test_a_wider_neighbourhood_costs_value(bordered: Result) -> None:
    means = [bordered.robust(within=within).mean for within in (None, "2 %", "5 %", "10 %")]
    assert means == sorted(means)


def test_the_same_result_gives_the_same_point(bordered: Result) -> None:
    assert repr(bordered.robust(within="2 %")) == repr(bordered.robust(within="2 %"))


def test_it_prints_plainly(bordered: Result) -> None:
    lines = repr(bordered.robust(within="2 %")).splitlines()
    assert [line[:11].strip() for line in lines if line[11:12] == ":"] == [
        "x",
        "mean",
        "sd",
        "probability",
        "number",
        "note",
    ]
    assert {f.name for f in fields(Robust)} == {"x", "mean", "sd", "probability", "number", "note"}


def test_an_evaluated_point_is_preferred_where_no_other_gains_anything() -> None:
    result = result_of([(0.0, 1.0)] * 2, GRID, lambda x: (x[0] - 3 / 7) ** 2 + (x[1] - 2 / 7) ** 2)
    found = result.robust(within="3 %")
    assert found.evaluated
    assert found.number == 3 * 8 + 2
    assert found.x == pytest.approx([3 / 7, 2 / 7])
    assert found.note == ""


@pytest.fixture(scope="module")
def limited() -> Result:
    """The value falls with x0, and so does the room below the limit of heat: x0 + x1 <= 1."""
    points = [(a / 6, b / 6) for a in range(7) for b in range(7)]
    outputs = [{"cost": 1.0 - x0 + x1**2, "heat": x0 + x1} for x0, x1 in points]
    optimizer = Optimizer([(0.0, 1.0)] * 2, objective="cost", outputs={"heat": "<= 0.75"}, seed=1)
    optimizer.tell(points, outputs)
    return optimizer.result()


@pytest.mark.parametrize("within", [None, "2 %", {"x0": 0.05}])
def test_the_point_to_build_is_within_the_limits_on_outputs(limited: Result, within) -> None:
    found = limited.robust(0.95, within)
    reach = 0.05 if isinstance(within, dict) else {None: 0.0, "2 %": 0.04}[within]
    assert sum(found.x) + reach <= 0.75 + 1e-3
    assert found.x[0] > 0.6


def test_its_probability_is_that_of_being_within_the_limits_too(limited: Result) -> None:
    at = limited.space.encode(limited.space.validate([0.8, 0.1]))[None]
    assert Neighbourhood.of(limited.space, None).least(limited, at)[0] < 0.01
    assert limited.success_probability([[0.8, 0.1]])[0] == 1.0


def test_where_no_point_is_within_the_limits_the_note_says_so() -> None:
    optimizer = Optimizer([(0.0, 1.0)], objective="cost", outputs={"heat": "<= -1"}, seed=1)
    optimizer.tell([(a / 6,) for a in range(7)], [{"cost": 1.0, "heat": a / 6} for a in range(7)])
    assert "P(success within all limits) of 0.95 was not reached" in optimizer.result().robust().note


def test_where_no_neighbourhood_works_the_point_itself_does() -> None:
    """A band of 0.02 in x0 + x1, and parts that are off by 0.1."""
    optimizer = Optimizer([(0.0, 1.0)] * 2, objective="cost", outputs={"heat": "between 0.99 and 1.01"}, seed=1)
    points = [(a / 6, b / 6) for a in range(7) for b in range(7)]
    optimizer.tell(points, [{"cost": a + 2 * b, "heat": a + b} for a, b in points])
    found = optimizer.result().robust(0.95, within="10 %")
    assert found.probability < 0.01
    assert sum(found.x) == pytest.approx(1.0, abs=0.01)


def test_without_failures_every_point_is_sure() -> None:
    found = minimize(lambda x: (x[0] - 0.3) ** 2, [(0.0, 1.0)], n_evals=12).robust(0.999, within="10 %")
    assert found.probability == 1.0
    assert found.x[0] == pytest.approx(0.3, abs=0.02)


def test_where_nothing_is_sure_enough_the_surest_point_is_returned_and_the_note_says_so() -> None:
    result = result_of([(0.0, 1.0)] * 2, GRID, lambda x: x[0], lambda x: round(7 * x[0] + 7 * x[1]) % 2 == 0)
    found = result.robust(0.999, within="20 %")
    assert found.probability < 0.999
    assert f"P(success) of 0.999 was not reached: {found.probability:.3g} is the most" in found.note


def test_when_all_failed_the_error_says_what_to_try(rejects) -> None:
    with rejects():
        minimize(lambda x: math.nan, [(0.0, 1.0)], n_evals=4).robust()


def test_a_maximization_looks_for_large_values() -> None:
    result = result_of([(0.0, 1.0)] * 2, GRID, lambda x: x[0] - (x[1] - 0.5) ** 2, lambda x: x[0] > 0.6, maximize=True)
    found = result.robust(0.9, within={"x0": 0.05})
    assert 0.35 < found.x[0] < 0.6
    assert found.mean > 0.3


def test_where_failures_are_ignored_the_note_says_that_p_is_not_known() -> None:
    result = result_of([(0.0, 1.0)] * 2, GRID, lambda x: -x[0], lambda x: x[0] > 0.6, failures="ignore")
    assert "was not learned" in result.robust().note


def test_an_evaluated_failure_inside_the_neighbourhood_counts() -> None:
    points = [(i / 200,) for i in range(0, 201, 2)]
    result = result_of([(0.0, 1.0)], points, lambda x: x[0], lambda x: 0.489 < x[0] < 0.511)
    least = Neighbourhood.of(result.space, {"x0": 0.3}).least(result, np.asarray([[0.3], [0.7], [0.1]]))
    failed = result.success_probability([[0.49], [0.5], [0.51]])
    assert (least[:2] <= failed.min()).all()
    assert least[2] > 0.9


# --- kinds of parameters

MIXED = {"a": (0.0, 1.0), "n": Integer(0, 10), "c": Categorical("xyz"), "k": Real(1e-3, 1.0, log=True)}


@pytest.fixture(scope="module")
def mixed() -> Result:
    rng = np.random.default_rng(3)
    points = [
        (rng.random(), int(rng.integers(0, 11)), "xyz"[rng.integers(3)], 10 ** -(3 * rng.random())) for _ in range(90)
    ]

    def fails(x) -> bool:
        return x[1] > 6 or x[2] == "y"

    return result_of(MIXED, points, lambda x: (x[0] - 0.4) ** 2 - x[1] / 10, fails)


@pytest.mark.parametrize("within", [None, "10 %", {"n": 1}, {"a": 0.1, "k": 0.05}])
def test_a_mixed_space_gives_a_point_of_the_space_that_works(mixed: Result, within) -> None:
    found = mixed.robust(0.9, within)
    assert mixed.space.validate(found.x)
    assert found.x["c"] != "y"
    assert found.x["n"] + (1 if within in ("10 %", {"n": 1}) else 0) <= 6
    assert found.probability >= 0.9


def test_an_integer_moves_in_whole_steps_and_a_category_not_at_all(mixed: Result) -> None:
    near, unit = Neighbourhood.of(mixed.space, "10 %"), mixed.space.encode((0.5, 4, "z", 0.1))
    low, high = (mixed.space.decode(end[0]) for end in near.ends(unit[None]))
    assert (low[1], high[1]) == (3, 5)
    assert (low[2], high[2]) == ("z", "z")
    assert low[0] == pytest.approx(0.4)


def test_a_tolerance_in_units_is_one_on_a_logarithmic_scale_too(mixed: Result) -> None:
    near, unit = Neighbourhood.of(mixed.space, {"k": 0.05}), mixed.space.encode((0.5, 4, "z", 0.1))
    low, high = (mixed.space.decode(end[0]) for end in near.ends(unit[None]))
    assert (low[3], high[3]) == (pytest.approx(0.05), pytest.approx(0.15))
    assert (low[0], high[0]) == (0.5, 0.5)


def test_a_neighbourhood_ends_at_the_bounds(mixed: Result) -> None:
    near, unit = Neighbourhood.of(mixed.space, {"a": 0.3, "k": 5.0}), mixed.space.encode((0.9, 4, "z", 0.1))
    low, high = (mixed.space.decode(end[0]) for end in near.ends(unit[None]))
    assert (low[0], high[0]) == (pytest.approx(0.6), 1.0)
    assert (low[3], high[3]) == (pytest.approx(1e-3), pytest.approx(1.0))


def test_a_space_of_choices_alone_has_a_point_to_build() -> None:
    choices = [(c,) for c in "abcdef"]
    result = result_of([Categorical("abcdef")], choices, lambda x: ord(x[0]), lambda x: x[0] == "a")
    assert result.robust(0.5, within="5 %").x == ["b"]


def test_one_parameter_will_do() -> None:
    points = [(i / 20,) for i in range(21)]
    result = result_of([(0.0, 1.0)], points, lambda x: -x[0], lambda x: x[0] > 0.72)
    assert 0.5 < result.robust(0.9, within={"x0": 0.05}).x[0] <= 0.7


def test_a_neighbourhood_that_holds_its_worst_point_in_a_corner_is_seen_in_ten_dimensions() -> None:
    rng = np.random.default_rng(0)
    points = rng.random((150, 10))
    result = result_of([(0.0, 1.0)] * 10, points, lambda x: sum(x), lambda x: sum(x) > 5.0)
    near = Neighbourhood.of(result.space, "5 %")
    (corner,) = result.success_probability([[0.53] * 10])
    assert near.least(result, np.full((1, 10), 0.48))[0] <= corner + 1e-9


@dataclass(frozen=True)
class CountingModel(FittedModel):
    """A model that knows how often it was asked."""

    asked: list[int] = field(default_factory=list)

    def success_at(self, units: np.ndarray) -> np.ndarray:
        self.asked.append(len(units))
        return super().success_at(units)


@pytest.mark.slow
def test_the_work_is_bounded_with_many_evaluations_and_parameters() -> None:
    rng = np.random.default_rng(0)
    points = rng.random((300, 10))
    result = result_of([(0.0, 1.0)] * 10, points, lambda x: sum(x), lambda x: x[0] + x[1] < 0.6)
    counting = CountingModel(result.space, result.model.fitted, 1.0)
    result.__dict__["model"] = counting
    for within in ("2 %", "30 %"):
        counting.asked.clear()
        result.robust(0.99, within)
        assert sum(counting.asked) < 80_000


# --- what is asked for


@pytest.mark.parametrize(
    "within",
    [0.02, 2, "2", "2 percent", "-1 %", "101 %", "%", "nan %", [0.1, 0.1], True, {"x7": 0.1}, {"x0": -0.1},
     {"x0": "2 %"}, {"x0": math.nan}, {"x0": math.inf}, {0: 0.1}],
    ids=str,
)  # fmt: skip
def test_another_form_of_a_neighbourhood_is_rejected_with_a_three_part_message(
    bordered: Result, within, rejects
) -> None:
    with rejects():
        bordered.robust(within=within)


def test_a_category_has_no_tolerance(mixed: Result, rejects) -> None:
    with rejects():
        mixed.robust(within={"c": 1})


@pytest.mark.parametrize("p", [-0.1, 1.0, 95, "95 %", math.nan, None])
def test_a_probability_is_a_number_below_one(bordered: Result, p, rejects) -> None:
    with rejects():
        bordered.robust(p)


def test_a_neighbourhood_of_nothing_is_the_point_alone() -> None:
    space = Space.of([(0.0, 1.0)] * 3)
    assert Neighbourhood.of(space, {}).moving == Neighbourhood.of(space, "0 %").moving == []
    with pytest.raises(InvalidInputError):
        Neighbourhood.of(space, "0.0.1 %")


def test_where_nothing_is_within_all_limits_it_is_the_evaluation_least_outside():
    def far(x):
        return {"cost": float(x[0]), "load": 2.0 + float(x[1])}

    result = minimize(far, [(-1.0, 1.0)] * 2, n_evals=12, outputs={"load": "<= 0.5"})
    found = result.robust(0.9)
    assert list(found.x) == list(result.x)
    assert found.probability < 0.5
    assert "at the evaluation least outside" in found.note
