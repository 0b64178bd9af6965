"""Checks of what people write into files."""

import math

import pytest

from surefoot.errors import InvalidInputError, UnknownNameError
from surefoot.expect import expect, is_count, is_number, known_keys

KEYS = ("timeout_s", "n_retries", "command")


def test_what_holds_is_passed() -> None:
    expect(True, "anything", None, "nothing")
    known_keys("[objective]", {"command": 1, "timeout_s": 2}, KEYS)


def test_what_does_not_hold_is_told_in_three_parts() -> None:
    with pytest.raises(InvalidInputError, match=r"^expected a list; got 3; try x = \[\]$"):
        expect(False, "a list", 3, "x = []")


@pytest.mark.parametrize(
    ("key", "attempt"),
    [("timeout", "timeout_s"), ("Retries", "n_retries"), ("xyz", "leaving it out"), ("c" * 10**6, "leaving it out")],
)
def test_a_misspelt_key_gets_the_nearest_one(key: str, attempt: str) -> None:
    with pytest.raises(UnknownNameError, match=rf"(?s)^expected \[objective\] to have keys .*; try {attempt}$"):
        known_keys("[objective]", {key: 1}, KEYS)


@pytest.mark.parametrize("value", [1, 1.5, -(10**300)])
def test_numbers(value) -> None:
    assert is_number(value)


@pytest.mark.parametrize("value", [True, math.nan, math.inf, "1", None, 10**400])
def test_what_is_no_finite_number(value) -> None:
    assert not is_number(value)


def test_a_count_is_an_integer_and_no_truth_value() -> None:
    assert is_count(2, 2)
    assert not any(is_count(value, 1) for value in (0, True, 1.0, "1"))
