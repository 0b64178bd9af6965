"""What the language of expressions takes, and how it refuses the rest."""

import math

import pytest

from surefoot.errors import InvalidInputError, UnknownNameError
from surefoot.formulas import parse_comparison, parse_formula

NAMES = ("a", "b", "wall thickness", "d_inner", "d_outer")
POINT = {"a": 2.0, "b": 3.0, "wall thickness": 0.5, "d_inner": 1.0, "d_outer": 4.0}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1 + 2 * 3", 7.0),
        ("(1 + 2) * 3", 9.0),
        ("8 - 4 - 2", 2.0),
        ("8 / 4 / 2", 1.0),
        ("2 ** 3 ** 2", 512.0),
        ("2 ^ 3", 8.0),
        ("-a ** 2", -4.0),
        ("2 ** -1", 0.5),
        ("--a", 2.0),
        (".5 + 1.e1 + 2.5E-1", 10.75),
        ("max(a, b, 7) - min(a, b)", 5.0),
        ("sqrt(16) + abs(-2)", 6.0),
        ("cos(pi) + log(e)", 0.0),
        ("hypot(3, 4)", 5.0),
        ("atan2(1, 1) * 4", math.pi),
        ("'wall thickness' * 2", 1.0),
        ('"wall thickness" + `a`', 2.5),
        (" a\n+\tb ", 5.0),
    ],
)
def test_an_expression_has_the_value_of_arithmetic(text, value):
    assert parse_formula(text, NAMES).at(POINT) == pytest.approx(value, rel=1e-15)


def test_a_parameter_hides_a_constant_of_its_name():
    assert parse_formula("e + 0", ["e"]).at({"e": 5.0}) == 5.0


def test_a_parameter_may_have_the_name_of_a_function():
    assert parse_formula("min + min(min, 1)", ["min"]).at({"min": 3.0}) == 4.0


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("a <= b", ["weak"]),
        ("a < b", ["strict"]),
        ("a >= b", ["weak"]),
        ("a > b", ["strict"]),
        ("a == b", ["equal"]),
        ("0 <= a - b < 1", ["weak", "strict"]),
    ],
)
def test_comparisons_and_chains_of_them(text, kinds):
    assert [link.kind for link in parse_comparison(text, NAMES).links] == kinds


@pytest.mark.parametrize("text", ["a <= b", "b >= a", "1 < a < b < 4", "d_inner + 0.001 <= d_outer"])
def test_margins_are_positive_where_the_comparison_holds(text):
    assert all(link.margin.at(POINT) > 0.0 for link in parse_comparison(text, NAMES).links)


@pytest.mark.parametrize(
    ("text", "said", "column"),
    [
        ("a + * b <= 1", "a number, a name or", 4),
        ("a + (b <= 1", "an operator or '\\)'", 7),
        ("(a + b", "closing it", 0),
        ("a + b)", "got '\\)'", 5),
        ("a <=", "got the end", 4),
        ("2 a <= 1", "try 2 \\* a", 2),
        ("a <= 1 and b <= 1", "two constraints", 7),
        ("a = 1", "== for an equality", 2),
        ("a != 1", "== for an equality", 2),
        ("a + b", "a comparison", 5),
        ("a <= 1e999", "a float can hold", 5),
        ("9**9**9 >= a", "a float can hold", 6),
        ("sqrt(a, b) <= 1", "1 arguments of sqrt", 0),
        ("a[0] <= 1", "got '\\['", 1),
        ("a; b <= 1", "got ';'", 1),
        ("'a <= 1", "a number, a name", 0),
        ("a <= 1\x00", "got '", 6),
        ("", "got the end", 0),
    ],
)
def test_bad_text_is_refused_with_a_caret_at_its_place(text, said, column):
    with pytest.raises(InvalidInputError, match=said) as caught:
        parse_comparison(text, NAMES)
    assert str(caught.value).splitlines()[-1].index("^") == column + 4


def test_an_unknown_name_is_refused_with_the_one_that_was_meant():
    with pytest.raises(UnknownNameError, match=r"got 'd_iner' at position 1 .*try d_inner"):
        parse_comparison("d_iner <= d_outer", NAMES)


def test_an_unknown_function_is_refused_with_the_one_that_was_meant():
    with pytest.raises(UnknownNameError, match="try sqrt"):
        parse_comparison("sqr(a) <= 1", NAMES)


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os').system('true') <= 1",
        "(" * 10**6 + "a" + ")" * 10**6 + " <= 1",
        "(" * 900 + "a" + ")" * 900 + " <= 1",
        "a" + "**a" * 900 + " <= 1",
        "a" * 10**7,
        "a + " * 10**6,
        "9" * 9000 + " <= a",
        "a.__class__ <= 1",
        "lambda: 0",
        "[0] * 10**9",
        "a <= 1\n import os",
        "min(" * 500 + "a",
    ],
    ids=lambda text: text[:20],
)
def test_hostile_text_is_refused(text):
    with pytest.raises(InvalidInputError) as caught:
        parse_comparison(text, NAMES)
    assert len(str(caught.value)) < 1000


@pytest.mark.parametrize("given", [None, 3, ["a <= b"], b"a <= b", object()])
def test_what_is_no_text_is_refused(given):
    with pytest.raises(InvalidInputError, match="as text"):
        parse_comparison(given, NAMES)


def test_long_chains_of_signs_and_sums_are_fine():
    assert parse_formula("-" * 1000 + "a" + "+ a" * 300, NAMES).at(POINT) == 602.0
