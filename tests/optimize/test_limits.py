"""Limits on outputs as texts: what they mean, and what is said where they mean nothing."""

import math

import numpy as np
import pytest

from surefoot.engine.spec import Limit
from surefoot.errors import InvalidInputError
from surefoot.optimize.limits import check_limits, check_returned, limits_of, parse_limit, spelled

INF = math.inf


@pytest.mark.parametrize(
    ("text", "limit"),
    [
        ("<= 250e6", Limit(-INF, 250e6)),
        (">=3", Limit(3.0, INF)),
        ("  <=  -.5 ", Limit(-INF, -0.5)),
        ("between -1e-3 and 1e-3", Limit(-1e-3, 1e-3)),
        ("= 5 within 0.5", Limit(4.5, 5.5)),
        (">= 0 margin 2", Limit(0.0, INF, 2.0)),
        ("between 0 and 1 margin .25", Limit(0.0, 1.0, 0.25)),
    ],
)
def test_a_text_says_a_limit(text, limit):
    assert parse_limit("stress", text) == limit


@pytest.mark.parametrize(
    "text",
    [
        "",
        "3",
        "< 3",
        "<= nan",
        "<= inf",
        "<= three",
        "between 1",
        "<= 3 and >= 1",
        "<= 3 MPa",
        "<= 1e400",
        None,
        3,
        [1],
    ],
)
def test_what_is_no_limit_is_refused_with_the_name_of_the_output(text):
    with pytest.raises(InvalidInputError, match=r"expected .*'stress'.*; got .*; try "):
        parse_limit("stress", text)


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("< 3", "<= 3"),
        ("≥ 3", ">= 3"),
        ("at most 3", "<= 3"),
        ("= 5", "= 5 within 0.005"),
        ("== 5", "= 5 within 0.005"),
        ("between 3 and 1", "between 1 and 3"),
        (250, "<= 250"),
        (10**400, "<= 250e6"),
        (math.inf, "<= 250e6"),
        ("<= 100 MPa", "'<= 100', a number in the unit that is returned"),
        ([0, 1e8], r"'between 0 and 1e\+08'"),
        ((0, "many"), "<= 250e6"),
    ],
)
def test_the_limit_that_was_meant_is_suggested(text, hint):
    with pytest.raises(InvalidInputError, match=f"try .*{hint}"):
        parse_limit("stress", text)


@pytest.mark.parametrize("text", ["between 3 and 1", "between 2 and 2", "= 3 within 0", "= 3 within -1"])
def test_a_limit_that_no_value_meets_is_refused(text):
    with pytest.raises(InvalidInputError, match="which none does"):
        parse_limit("stress", text)


@pytest.mark.parametrize("text", ["<= 3 margin -1", "between 0 and 1 margin 0.5", "= 1 within 0.1 margin 0.2"])
def test_a_margin_that_leaves_nothing_is_refused(text):
    with pytest.raises(InvalidInputError, match="margin"):
        parse_limit("stress", text)


@pytest.mark.parametrize("text", ["<= 0.1", ">= 1e-300", "between 0.1 and 0.3", "= 5 within 0.1", "<= 3 margin 0.1"])
def test_a_limit_can_be_written_and_read_again(text):
    limit = parse_limit("stress", text)
    assert parse_limit("stress", spelled(limit)) == limit


@pytest.mark.parametrize("given", [None, "<= 3", ["<= 3"], {3: "<= 3"}, {"": "<= 3"}])
def test_limits_that_are_no_dict_by_name_are_refused(given):
    with pytest.raises(InvalidInputError, match="expected"):
        check_limits(given)


def test_limits_keep_their_order():
    assert limits_of(check_limits({"b": "<= 1", "a": ">= 2"})) == (Limit(-INF, 1.0), Limit(2.0, INF))


def test_a_violation_is_how_far_a_value_lies_outside():
    values = np.asarray([-1.0, 0.0, 0.5, 1.0, 3.0, np.nan, np.inf])
    np.testing.assert_array_equal(Limit(0.0, 1.0).violation(values), [1.0, 0.0, 0.0, 0.0, 2.0, np.nan, np.inf])


def test_an_output_that_is_never_returned_is_named_with_the_one_that_was_meant():
    with pytest.raises(InvalidInputError, match=r"'strees'.*got 'mass', 'stress'; try outputs=\{'stress'"):
        check_returned({"strees": "<= 1.0"}, ["mass", "stress"])
