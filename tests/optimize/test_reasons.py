"""Reasons that differ only in numbers are one."""

import pytest

from surefoot import minimize
from surefoot.errors import TooManyFailuresError
from surefoot.optimize.hopeless import stop_if_hopeless
from surefoot.optimize.reasons import grouped, leading, pattern_of, summary


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("stress 3.08e+07 > 3e7", "stress 3.11e+07 > 3e7"),
        ("residual -1.5", "residual 2"),
        ("at .5", "at 12."),
        ("cell c17 collapsed", "cell c9 collapsed"),
        ("1.5D+03 Pa", "2.25d-10 Pa"),
        ("<object at 0x7f3ab1>", "<object at 0x11>"),
        ("file run-003/out.txt", "file run-104/out.txt"),
        ("t=1,000", "t=2,000"),
    ],
)
def test_reasons_that_differ_in_numbers_are_of_one_kind(one: str, other: str) -> None:
    assert pattern_of(one) == pattern_of(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("no mesh", "no mash"),
        ("the value was nan", "the value was inf"),
        ("a - 1", "a + 1"),
        ("x 1", "x 1 2"),
        ("", " "),
    ],
)
def test_reasons_that_differ_in_words_are_not(one: str, other: str) -> None:
    assert pattern_of(one) != pattern_of(other)


def test_the_most_frequent_kind_comes_first_with_its_first_text_and_its_places() -> None:
    first, second = grouped(["no mesh", "stress 3.1", "stress 2", "stress 5e7"])
    assert (first.text, first.pattern, first.count, first.members) == ("stress 3.1", "stress #", 3, (1, 2, 3))
    assert (second.text, second.count, second.members) == ("no mesh", 1, (0,))


def test_kinds_of_equal_size_stand_in_the_order_they_were_seen() -> None:
    assert [group.text for group in grouped(["b 1", "a 1", "a 2", "b 2", "c"])] == ["b 1", "a 1", "c"]


def test_a_label_leaves_out_the_numbers_that_differ() -> None:
    reasons = [
        "exit status 139",
        "exit status 139",
        "stress 3e7 >\n 2 Pa",
        "stress 4e7 >\n 2 Pa",
        "stress 3e7 >\n 2 Pa",
    ]
    stress, status = grouped(reasons)
    assert (stress.label, status.label) == ("stress … > 2 Pa", "exit status 139")
    assert grouped([""])[0].label == "no reason given"


def test_kinds_beyond_the_most_are_one_group() -> None:
    groups = leading(["a", "b", "b", "c 1", "c 2", "d", "c 3"], 3)
    assert [(group.text, group.members) for group in groups] == [("c 1", (3, 4, 6)), ("b", (1, 2)), ("other", (0, 5))]
    assert [group.text for group in leading(["a", "b"], 2)] == ["a", "b"]


def test_no_reasons_make_no_groups() -> None:
    assert grouped([]) == []


@pytest.mark.parametrize("n", [50_000, pytest.param(1_000_000, marks=pytest.mark.slow)])
def test_very_many_different_reasons_are_grouped(n: int) -> None:
    groups = grouped(f"{'step' if i % 2 else 'stress'} {i * 0.1:.3f} at cell {i}" for i in range(n))
    expected = [("stress # at cell #", n // 2), ("step # at cell #", n // 2)]
    assert [(group.pattern, group.count) for group in groups] == expected


def test_very_many_kinds_of_reasons_stay_apart() -> None:
    words = ["".join(chr(97 + i // 26**k % 26) for k in range(4)) for i in range(50_000)]
    assert len(grouped(words)) == 50_000


def test_very_many_kinds_are_few_groups() -> None:
    words = ["".join(chr(97 + i // 26**k % 26) for k in range(4)) for i in range(50_000)]
    groups = leading(words, 5)
    assert len(groups) == 5
    assert groups[-1].count == 50_000 - 4


def test_very_long_reasons_are_compared_by_their_beginnings() -> None:
    texts = [f"error {i}: " + "trace 1.5 " * 100_000 for i in range(20)]
    (group,) = grouped(texts)
    assert group.count == 20
    assert len(group.pattern) < 1000
    assert len(summary(texts)) < 1000


@pytest.mark.parametrize("text", ["1" * 100_000, "1." * 50_000, "-" * 100_000, "1e" * 50_000, "0x" * 50_000])
def test_no_text_makes_the_search_for_numbers_slow(text: str) -> None:
    assert len(grouped([text] * 1000)) == 1


def test_the_message_of_too_many_failures_groups_the_reasons() -> None:
    def fun(x):
        raise ArithmeticError(f"stress {x[0]:.3e} > 3e7")

    with pytest.raises(TooManyFailuresError) as caught:
        minimize(fun, [(0.0, 1.0)], n_evals=9, max_failures=5)
    assert str(caught.value).count("stress") == 1
    assert "(5)" in str(caught.value)


def test_the_advice_fits_the_door() -> None:
    result = minimize(lambda x: float("nan"), [(0.0, 1.0)], n_evals=4, max_failures=None)
    with pytest.raises(TooManyFailuresError) as python:
        stop_if_hopeless(result, 3)
    with pytest.raises(TooManyFailuresError) as other:
        stop_if_hopeless(result, 3, "max_failures = 0 in the file")
    assert "x0" in str(python.value)
    assert "x0" not in str(other.value)
    assert str(other.value).endswith("try max_failures = 0 in the file")


def test_a_summary_names_no_number_that_only_some_say() -> None:
    reasons = [f"Newton diverged after {n} iterations" for n in (615, 58, 615)] + ["exit status 139"] * 2 + [""]
    assert summary(reasons) == "Newton diverged after … iterations (3); exit status 139 (2); no reason given (1)"
