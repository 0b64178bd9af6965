"""What limits cost at the best point: multipliers against those known in closed form."""

import math

import numpy as np
import pytest

from surefoot import minimize
from surefoot.optimize.limits import parse_limit
from surefoot.optimize.notes import notes, unit_notes
from surefoot.optimize.sensitivity import AtLimit, sentence

BOUNDS = [(0.0, 1.0), (0.0, 1.0)]
RTOL = 1e-2  # slopes of a process between points 1e-4 apart: rounding decides the third digit


def slope(x):
    return {
        "sum": 10.0 + float(x[0] + x[1]),
        "disc": 1e6 * float((x[0] - 0.5) ** 2 + (x[1] - 0.5) ** 2),
        "idle": float(x[0]),
    }


@pytest.fixture(scope="module")
def found():
    return minimize(slope, BOUNDS, n_evals=30, n_init=8, outputs={"disc": "<= 0.25e6", "idle": "<= 0.9"})


def test_the_active_limit_is_told_and_the_idle_one_too(found):
    assert [at.active for at in found.limits] == ["upper", ""]


def test_the_multiplier_is_the_known_one(found):
    # the least sum is 11 - sqrt(2 r2), r2 = disc/1e6; its slope in disc at r2 = 1/4 is -1e-6 sqrt(2)
    assert found.limits[0].multiplier == pytest.approx(math.sqrt(2.0) * 1e-6, rel=RTOL)


def test_the_gain_of_one_per_cent_follows_from_it(found):
    assert found.limits[0].gain == pytest.approx(0.01 * 0.25 * math.sqrt(2.0) / found.fun, rel=RTOL)


def test_values_and_violations_are_those_of_the_best_point(found):
    disc, idle = found.limits
    assert (disc.value, disc.violation) == (found.outputs["disc"], 0.0)
    assert (idle.value, idle.violation) == (found.outputs["idle"], 0.0)


def test_printing_the_result_says_what_a_limit_costs(found):
    assert "disc is at its limit: 1 % more room would lower sum by 0.034 %" in repr(found)
    assert "feasible: True" in repr(found)


def test_a_lower_limit_and_a_bound_are_told_apart():
    def line(x):
        return {"cost": float(x[0] + 2.0 * x[1]), "load": float(3.0 * x[0] + 4.0 * x[1])}

    result = minimize(line, BOUNDS, n_evals=20, n_init=6, outputs={"load": ">= 2"})
    (at,) = result.limits  # at (2/3, 0): 1/3 of cost per unit of load
    assert at.active == "lower"
    assert at.multiplier == pytest.approx(1.0 / 3.0, rel=5e-3)


def test_a_limit_of_zero_has_a_cost_per_unit():
    def shifted(x):
        return {"sum": slope(x)["sum"], "disc": slope(x)["disc"] / 1e6 - 0.25}

    result = minimize(shifted, BOUNDS, n_evals=25, n_init=8, outputs={"disc": "<= 0"})
    assert math.isnan(result.limits[0].gain)
    assert "each unit of more room would lower sum by 1.4" in repr(result)


def test_where_nothing_is_within_it_is_said_by_how_much():
    result = minimize(slope, BOUNDS, n_evals=12, n_init=8, outputs={"disc": "<= -1"}, objective="sum")
    assert (
        "no evaluation is within all limits on outputs; at the point that is least outside, disc is" in notes(result)[0]
    )
    assert result.limits[0].violation > 0.0


def test_a_best_point_inside_all_limits_is_at_none():
    result = minimize(
        lambda x: {"f": float(np.sum((x - 0.5) ** 2)), "g": float(x[0])}, BOUNDS, n_evals=15, n_init=8,
        outputs={"g": "<= 0.9"},
    )  # fmt: skip
    assert result.limits[0].active == ""
    assert "at its limit" not in repr(result)


def test_without_limits_there_are_none():
    result = minimize(lambda x: float(x[0]), [(0, 1)], n_evals=4, n_init=4)
    assert result.limits == ()
    assert result.feasible


def test_the_probability_of_being_feasible_is_large_inside_and_small_outside():
    result = minimize(slope, BOUNDS, n_evals=14, n_init=14, outputs={"disc": "<= 0.25e6", "idle": "<= 0.9"})
    inside, outside = result.model.feasible_probability([(0.5, 0.5), (0.0, 0.0)])
    assert inside > 0.99
    assert outside < 0.01


@pytest.mark.parametrize(
    ("limit", "said"),
    [
        ("<= 250", "is at least 10^5 times as large as its limit <= 250.0: are the units the same?"),  # MPa, and Pa
        (">= 250", "is at least 10^5 times as large as"),
        ("between 100 and 250", "is at least 10^5 times as large as"),
        ("<= 250e15", "is at least 10^8 times smaller than"),
        (">= 5e11", "is at least 10^3 times smaller than"),
        ("<= 250e6", ""),
        ("<= 250e11", ""),  # loose, and kept
        (">= 0", ""),
    ],
)
def test_a_limit_that_is_orders_of_magnitude_away_from_every_value_asks_for_units(limit, said):
    def beam(x):
        return {"mass": float(x[0]), "stress": 1e8 + 3e8 * float(x[0])}

    result = minimize(beam, BOUNDS, n_evals=6, n_init=6, outputs={"stress": limit})
    (note,) = [note for note in notes(result) if "units" in note] or [""]
    assert said in note
    assert bool(said) == bool(note)
    assert (note in " ".join(repr(result).split())) or not note


def test_values_of_zero_and_values_that_are_missing_ask_for_no_units():
    result = minimize(lambda x: {"f": float(x[0]), "g": 0.0}, BOUNDS, n_evals=6, n_init=6, outputs={"g": "<= 1e9"})
    assert unit_notes(result) == []
    result = minimize(lambda x: {"f": float(x[0]), "g": math.nan}, BOUNDS, n_evals=6, n_init=6, outputs={"g": "<= 1e9"})
    assert unit_notes(result) == []


def test_a_limit_whose_room_gains_next_to_nothing_is_told_without_digits():
    found = minimize(lambda x: {"f": x["a"], "s": 1.0}, {"a": (0.5, 1.0)}, n_evals=2, outputs={"s": "<= 1"})
    at = AtLimit("s", parse_limit("s", "<= 1"), 1.0, 0.5, "upper", multiplier=1e-9)
    assert sentence(found, at) == "s is at its limit: 1 % more room would lower f by less than 0.001 %"
