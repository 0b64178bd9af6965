"""The probability that more evaluations gain: what it means, where it is told, and that it ends runs that ask."""

import numpy as np
import pytest

from surefoot import Categorical, Integer, Optimizer, Real, minimize
from surefoot.optimize.gain import Gain, calibrated, checked_gain

BOX = [(-1.0, 1.0), (-1.0, 1.0)]


def bowl(x):
    return 1.0 + (x[0] - 0.3) ** 2 + x[1] ** 2


@pytest.fixture(scope="module")
def early():
    return minimize(bowl, BOX, n_evals=6, n_init=5)


@pytest.fixture(scope="module")
def late():
    return minimize(bowl, BOX, n_evals=40)


def test_little_is_left_when_a_run_has_converged(early, late):
    assert late.gain().probability < 0.05
    assert early.gain("0.1 %").probability > 0.5 > late.gain("0.1 %").probability


def test_an_outlook_is_printed_as_a_sentence(early):
    assert repr(early.outlook) == f"<outlook after 6 evaluations: {early.gain()}>"
    failed = minimize(lambda x: float("nan"), BOX, n_evals=1).outlook
    assert repr(failed) == "<outlook after 1 evaluation: what may be gained is not known>"


def test_a_larger_gain_is_less_likely(early):
    p = [early.gain(more).probability for more in (0.0, "0.1 %", "1 %", "10 %")]
    assert p == sorted(p, reverse=True)
    assert p[0] > p[-1]


def test_more_evaluations_are_likelier_to_gain():
    def rugged(x):
        return bowl(x) + 0.3 * np.cos(9.0 * x[0]) * np.cos(9.0 * x[1])

    result = minimize(rugged, BOX, n_evals=15)
    assert result.gain("3 %", 50).probability > result.gain("3 %", 1).probability


def test_a_gain_that_no_function_has_is_less_likely_in_fewer_evaluations_and_impossible_far_beyond_all_values(late):
    floor = late.gain(1.0, 20).probability
    assert 0.0 < late.gain(1.0, 1).probability < 0.1 * floor
    assert late.gain(1.0, 40).probability == floor  # no more than what was measured
    assert late.gain(1e9, 20).probability < 1e-12
    assert late.gain(1e300, 20).probability == 0.0


def test_where_all_values_are_equal_nothing_tells_how_much_may_be_gained():
    result = minimize(lambda x: 1.0, BOX, n_evals=12)
    assert result.gain(1e9, 20).probability == result.gain("1 %", 20).probability > 0.0


def test_per_cent_are_of_the_best_value(early):
    assert early.gain(0.01 * early.fun).probability == early.gain("1 %").probability


def test_the_same_history_gives_the_same_number(early):
    assert minimize(bowl, BOX, n_evals=6, n_init=5).gain() == early.gain()


def test_a_maximization_has_the_outlook_of_the_minimization(early):
    result = minimize(lambda x: -bowl(x), BOX, n_evals=6, n_init=5, maximize=True)
    assert result.gain().probability == early.gain().probability


def test_it_says_what_it_means(late):
    assert str(Gain(0.04, "1 %", 20)) == "the probability that 20 more evaluations gain more than 1 % is 0.04"
    assert str(Gain(0.994, 0.5, 5)) == "the probability that 5 more evaluations gain more than 0.5 is more than 0.99"
    assert str(Gain(0.004, "1 %", 20)).endswith("is less than 0.01")
    assert str(late.gain()) in repr(late)


def test_nothing_is_told_of_a_design_alone():
    assert "outlook" not in repr(minimize(bowl, BOX, n_evals=5, n_init=5))


def test_without_a_feasible_success_there_is_nothing_to_gain_on():
    optimizer = Optimizer(BOX)
    optimizer.tell_failure([0.0, 0.0], "no")
    assert optimizer.result().gain() is None
    outside = minimize(lambda x: {"y": bowl(x), "s": 1.0}, BOX, n_evals=9, objective="y", outputs={"s": "<= 0"})
    assert outside.gain() is None


def test_what_would_fail_or_violate_limits_is_no_gain():
    inside = [(0.1 * i, 0.1 * j) for i in range(1, 10) for j in (-6, 0, 6)]
    outside = [(-x, y) for x, y in inside]

    def outlook(fails=(), limited=False, **settings):
        optimizer = Optimizer(BOX, objective="y", **settings)
        for x, y in (*inside, *(outside if limited else ())):
            optimizer.tell([x, y], {"y": x + 2.0, "s": x})
        for point in fails:
            optimizer.tell_failure(list(point), "left")
        return optimizer.result().outlook.share(0.5, 20)

    assert outlook() > 0.9  # the slope goes on where nobody looked
    assert outlook(fails=outside) < 0.1
    assert outlook(limited=True, outputs={"s": ">= 0"}) < 0.1


@pytest.mark.parametrize(
    "settings",
    [{"noise": 0.1}, {"search": "paper"}, {"policy": "MES"}, {"failures": "ignore"}, {"constraints": ["x0 <= x1"]}],
)
def test_it_is_a_probability_whatever_the_settings(settings):
    gain = minimize(bowl, BOX, n_evals=9, **settings).gain()
    assert 0.0 < gain.probability < 1.0


def test_mixed_spaces_have_an_outlook_too():
    space = {"a": Real(1e-3, 1.0, log=True), "n": Integer(1, 4), "c": Categorical(["x", "y"])}
    result = minimize(lambda p: p["a"] + p["n"] + (p["c"] == "x") + 1.0, space, n_evals=25)
    assert result.gain("10 %").probability < 0.2


def test_the_calibration_rises_with_the_share_falls_with_evaluations_and_is_never_sure():
    assert 0.0 < calibrated(0.0, 50.0) < calibrated(0.0, 5.0) < calibrated(0.5, 5.0) < calibrated(1.0, 5.0) < 1.0


@pytest.mark.parametrize("more_than", ["one", "1", "1 % %", -1.0, float("nan"), True, None, []])
def test_other_gains_are_refused(more_than, rejects):
    with rejects():
        checked_gain(more_than)


def test_a_run_stops_when_a_gain_is_unlikely():
    result = minimize(bowl, BOX, n_evals=60, stop={"gain": {"more_than": "1 %", "probability": 0.1}})
    assert result.nfev < 60
    assert result.message == f"stopped: {result.gain()}"
    assert result.gain().probability <= 0.1
    assert result.fun < 1.01


def test_a_run_that_may_gain_goes_on():
    result = minimize(lambda x: float(np.sin(40.0 * x[0]) * np.cos(37.0 * x[1])), BOX, n_evals=16, stop={"gain": {}})
    assert result.nfev == 16


def test_nothing_is_left_where_every_point_has_been_evaluated():
    space = {"c": Categorical(["x", "yy", "zzz"]), "n": Integer(1, 4)}
    result = minimize(lambda x: len(x["c"]) + x["n"] % 2, space, n_evals=20)
    assert result.nfev == 12
    assert result.gain().probability == 0.0
