"""How near the best point lies to where evaluations fail, in numbers and in a sentence."""

import math

import numpy as np
import pytest

from surefoot import Categorical, Evaluation, History, Integer, Optimizer, Real, minimize
from surefoot.optimize.border import Along, Border, Crossing, NearestFailure
from surefoot.optimize.notes import border_note, notes
from surefoot.optimize.result import Result

SPACE = {"d_outer": (0.0, 2.0), "k": Real(1e-3, 1.0, log=True), "n": Integer(0, 10), "c": Categorical("xyz")}


def fails(x) -> bool:
    return x[0] > 1.4 or x[2] > 6 or x[3] == "y"


def result_of(value, failing=fails, space=SPACE, n: int = 120, **options) -> Result:
    rng = np.random.default_rng(5)
    bounds = Optimizer(space).space
    points = [bounds.decode(unit) for unit in bounds.from_uniform(rng.random((n, bounds.d)))]
    evaluations = tuple(
        Evaluation(x, math.nan, "failed", f"stress {x[0]:.3f}") if failing(x) else Evaluation(x, float(value(x)))
        for x in points
    )
    history = History(evaluations, direction="maximize" if options.get("maximize") else "minimize")
    return Optimizer(space, history=history, **({"failures": "ep"} | options)).result()


@pytest.fixture(scope="module")
def mixed() -> Result:
    return result_of(lambda x: (x[0] - 1.2) ** 2 + (x[2] - 4) ** 2 + (x[3] != "z"))


def test_the_border_lies_where_evaluations_begin_to_fail(mixed: Result) -> None:
    along = mixed.border.along["d_outer"]
    assert along.below is None
    assert along.above is not None
    assert along.above.value == pytest.approx(1.4, abs=0.15)
    assert along.above.distance == pytest.approx(along.above.value - mixed.x["d_outer"])
    assert along.above.share == pytest.approx(along.above.distance / 2.0)


def test_the_probability_crosses_one_half_there(mixed: Result) -> None:
    above = mixed.border.along["d_outer"].above
    assert above is not None
    beside = [{**mixed.x, "d_outer": above.value + step} for step in (-0.01, 0.0)]
    inside, outside = mixed.success_probability(beside)
    assert outside < 0.5 < inside
    assert mixed.border.probability == mixed.success_probability([mixed.x])[0]


def test_an_integer_has_its_border_at_a_whole_number(mixed: Result) -> None:
    above = mixed.border.along["n"].above
    assert above is not None
    assert above.value in (7, 8)
    assert above.distance == above.value - mixed.x["n"]


def test_choices_that_fail_are_named(mixed: Result) -> None:
    assert mixed.border.failing == {"c": ("y",)}


def test_a_parameter_that_does_not_matter_has_no_border(mixed: Result) -> None:
    assert mixed.border.along["k"] == Along()


def test_the_nearest_failure_is_the_one_whose_parameters_differ_least(mixed: Result) -> None:
    failure = mixed.border.failure
    assert failure is not None
    units = mixed.history.units(mixed.space)
    best = mixed.space.encode(mixed.space.validate(mixed.x))
    distances = np.where(mixed.history.ok, np.inf, np.abs(units - best).max(axis=1))
    assert failure.number == int(np.argmin(distances))
    assert failure.share == distances.min()
    assert failure.reason == mixed.history.evaluations[failure.number].reason


def test_numbers_are_those_of_the_trials() -> None:
    from surefoot.optimize.result import make_result

    found = result_of(lambda x: x[0], lambda x: x[0] > 0.8, [(0.0, 1.0)], 20)
    numbers = [3 * i + 7 for i in range(20)]
    again = make_result(found.space, found.history, found.settings, 1.0, "", numbers)
    assert again.border.failure is not None
    assert again.border.failure.number in numbers


def test_lost_evaluations_are_no_failures() -> None:
    evaluations = [Evaluation((x,), x) for x in (0.1, 0.5, 0.9)]
    lost = Evaluation((0.11,), math.nan, "transient", "worker lost")
    assert Optimizer([(0.0, 1.0)], history=History((*evaluations, lost))).result().border.failure is None


def test_it_prints_plainly(mixed: Result) -> None:
    lines = repr(mixed.border).splitlines()
    assert lines[0].startswith("P(success) ")
    assert [line.split(":")[0].strip() for line in lines[1:]] == ["d_outer", "k", "n", "c", "nearest failure"]
    assert "no border" in lines[2]


def test_when_nothing_failed_there_is_no_border_and_nothing_is_said() -> None:
    result = result_of(lambda x: x[0], lambda x: False)
    assert result.border.probability == 1.0
    assert result.border.nearest is None
    assert result.border.failure is None
    assert notes(result) == []
    assert "note" not in repr(result)


def test_when_all_failed_that_is_said_and_the_border_is_an_error(rejects) -> None:
    result = minimize(lambda x: math.nan, [(0.0, 1.0)], n_evals=4)
    assert notes(result) == ["nothing succeeded; most often: the value was nan (4)"]
    with rejects():
        _ = result.border


def test_a_best_point_at_a_bound_has_no_border_beyond_it() -> None:
    result = result_of(lambda x: x[0], lambda x: x[1] > 0.6, [(0.0, 1.0)] * 2, 40)
    evaluations = (*result.history.evaluations, Evaluation((0.0, 0.2), -1.0))
    border = Optimizer([(0.0, 1.0)] * 2, history=History(evaluations), failures="ep").result().border
    assert border.along["x0"] == Along()
    assert border.along["x1"].above is not None


@pytest.mark.parametrize("d", [1, 10])
def test_any_number_of_parameters_will_do(d: int) -> None:
    result = result_of(lambda x: -x[0], lambda x: x[0] > 0.7, [(0.0, 1.0)] * d, 60)
    name, crossing = result.border.nearest or ("", None)
    assert name == "x0"
    assert crossing is not None
    assert crossing.value == pytest.approx(0.7, abs=0.1)


def test_a_plane_that_is_a_little_askew_is_no_border_of_what_does_not_matter() -> None:
    def value(x) -> float:
        return (x[0] - 0.7) ** 2 + (x[1] - 0.5) ** 2 + (x[2] - 0.3) ** 2

    def f(x) -> float:
        if x[0] > x[1]:
            raise ValueError("no wall left")
        return value(x)

    along = minimize(f, [(0.0, 1.0)] * 3, n_evals=40).border.along
    assert along["x0"].above is not None
    assert along["x1"].below is not None
    assert along["x2"] == Along()


def test_where_the_best_point_itself_is_expected_to_fail_there_is_no_border_to_leave() -> None:
    rng = np.random.default_rng(0)
    lost = set(np.flatnonzero(rng.random(60) < 0.8).tolist()) - {0}
    evaluations = tuple(
        Evaluation((0.5,), math.nan, "failed", "licence lost") if k in lost else Evaluation((0.5,), 1.0 + k)
        for k in range(60)
    )
    border = Optimizer([(0.0, 1.0)], history=History(evaluations)).result().border
    assert border.probability < 0.5
    assert border.nearest is None
    assert "expects failures" in border_note(border)


def test_a_maximization_has_its_border_around_its_best_point() -> None:
    result = result_of(lambda x: x[0], lambda x: x[0] > 0.7, [(0.0, 1.0)], 40, maximize=True)
    assert result.x[0] > 0.6
    assert result.border.nearest is not None
    assert result.border.nearest[1].share < 0.1


def test_where_failures_are_not_learned_only_the_nearest_one_is_known() -> None:
    result = result_of(lambda x: x[0], lambda x: x[0] > 0.7, [(0.0, 1.0)], 40, failures="ignore")
    assert result.border.nearest is None
    assert result.border.failure is not None
    assert notes(result) == []


# --- the sentence


def border(probability: float, share: float | None, failure: float = 0.2) -> Border:
    crossing = None if share is None else Crossing(1.5, 2.0 * share, share)
    return Border(None, probability, {"d_outer": Along(None, crossing)}, {}, NearestFailure(7, failure, "no"))


def test_a_near_border_is_told_in_units_and_per_cent() -> None:
    sure, near = "P(success) is 0.93 at the best point", "0.0247 above its d_outer (1.2 % of the range)"
    assert border_note(border(0.931, 0.01234)) == f"{sure}, and evaluations begin to fail {near}"


def test_a_far_border_is_not_told() -> None:
    assert border_note(border(0.99, 0.3)) == ""
    assert border_note(border(0.99, None)) == ""


def test_a_best_point_that_may_fail_is_told() -> None:
    assert border_note(border(0.7, 0.3)) == "P(success) is 0.70 at the best point"


def test_a_best_point_on_the_wrong_side_is_told_with_the_nearest_failure() -> None:
    said = border_note(border(0.25, 0.0, 0.00011))
    assert said.startswith("the best point lies where the model expects failures: P(success) is 0.25 there")
    assert said.endswith("the nearest failure is 0.011 % of the ranges away")


def test_the_printed_result_has_every_note() -> None:
    def simulator(x) -> float:
        if x[0] > 0.5:
            raise ArithmeticError("diverged")
        return (x[0] - 0.49) ** 2

    result = minimize(simulator, [(0.0, 1.0)], n_evals=20, failures="ep")
    (note,) = notes(result)
    assert f"note: {note}" in " ".join(repr(result).split())
    assert note in result._repr_html_()


def test_notes_stand_below_one_another() -> None:
    evaluations = [Evaluation((i / 20,), i / 20.0, duration_s=35.0) for i in range(1, 21)]
    failed = [Evaluation((i / 1000,), math.nan, "failed", "no", 0.2) for i in range(20)]
    result = Optimizer([(0.0, 1.0)], history=History((*evaluations, *failed)), failures="ep").result()
    lines = repr(result).splitlines()
    assert lines[-3].startswith("       note: ")
    assert lines[-2].startswith("               ")  # the first one goes on
    assert lines[-1] == "             failures take 200 ms, successes 35 s (medians)"


def test_printing_does_not_wait_for_a_large_model() -> None:
    evaluations = [Evaluation((i / 1000,), math.nan, "failed", "no") if i > 700 else Evaluation((i / 1000,), -float(i))
                   for i in range(1001)]  # fmt: skip
    result = Optimizer([(0.0, 1.0)], history=History(tuple(evaluations))).result()
    assert "note" not in repr(result)
    assert "model" not in vars(result)


def test_where_nothing_has_failed_no_borders_are_listed() -> None:
    result = minimize(lambda x: x[0], [(0.0, 1.0)], n_evals=4)
    assert repr(result.border) == "P(success) 1 at the best point: nothing has failed"
