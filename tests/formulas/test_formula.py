"""Values, gradients and what is affine."""

import math

import numpy as np
import pytest

from surefoot.formulas import parse_formula
from surefoot.formulas.formula import FUNCTIONS

NAMES = ("a", "b", "c")
RNG = np.random.default_rng(1)
POINTS = {name: RNG.uniform(0.2, 0.8, 50) for name in NAMES}
EXPRESSIONS = [
    "a + 2 * b - c / a",
    "a ** b + 3 ** c + a ** 2",
    "-(a - b) ** 2 / (1 + c)",
    *(f"{name}(a * b + c / 4)" for name, (n, _) in FUNCTIONS.items() if n == 1),
    "min(a, b, c) * max(a, 2 * b)",
    "hypot(a, b) + atan2(a - 1, b)",
    "5",
]


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_many_points_at_once_have_the_values_of_each(text):
    formula = parse_formula(text, NAMES)
    alone = [formula.at({name: POINTS[name][i] for name in NAMES}) for i in range(50)]
    np.testing.assert_allclose(formula.values(POINTS), alone, rtol=1e-14)


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_gradients_are_those_of_central_differences(text):
    formula = parse_formula(text, NAMES)
    values, gradients = formula.values_and_gradients(POINTS, NAMES)
    np.testing.assert_allclose(values, formula.values(POINTS), rtol=1e-14)
    for i, name in enumerate(NAMES):
        up, down = ({**POINTS, name: POINTS[name] + h} for h in (1e-6, -1e-6))
        difference = (formula.values(up) - formula.values(down)) / 2e-6
        np.testing.assert_allclose(gradients[:, i], difference, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("text", ["sqrt(a - 5)", "1 / (a - a)", "log(-a)", "(-a) ** 0.5", "exp(1000 * a) - exp(999)"])
def test_what_has_no_value_is_not_a_number_and_no_exception(text):
    formula = parse_formula(text, NAMES)
    assert not math.isfinite(formula.at({"a": 1.0, "b": 1.0, "c": 1.0}))
    assert not np.isfinite(formula.values({name: np.ones(3) for name in NAMES})).any()


@pytest.mark.parametrize(
    ("text", "slopes", "constant"),
    [
        ("a + 2 * b - 3", {"a": 1.0, "b": 2.0}, -3.0),
        ("(a - b) / 4 + b / 4", {"a": 0.25}, 0.0),
        ("-(a + sqrt(4) * c)", {"a": -1.0, "c": -2.0}, 0.0),
        ("a ** 1 * 2 ** 3", {"a": 8.0}, 0.0),
        ("0 * a + 1", {}, 1.0),
    ],
)
def test_an_affine_expression_is_recognized(text, slopes, constant):
    found = parse_formula(text, NAMES).affine()
    assert (dict(found.slopes), found.constant) == (slopes, constant)


@pytest.mark.parametrize("text", ["a * b", "a ** 2", "1 / a", "sqrt(a)", "max(a, b)", "2 ** a"])
def test_a_curved_expression_is_not_affine(text):
    assert parse_formula(text, NAMES).affine() is None


def test_a_known_value_can_make_an_expression_affine():
    assert parse_formula("a * b + c", NAMES).affine({"b": 3.0}).slopes == {"a": 3.0, "c": 1.0}
