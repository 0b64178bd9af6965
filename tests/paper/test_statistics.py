"""Tests of means, labels and their agreement, against SciPy."""

import math

import numpy as np
import pytest
from scipy import stats

from surefoot.errors import InvalidInputError, UnknownNameError
from surefoot.paper.labels.comparisons import Comparison, agreement, compare, labels, totals
from surefoot.paper.statistics import benjamini_hochberg, cohen_kappa, holm, paired_t, wilson


@pytest.mark.parametrize("m", [2, 5, 15])
def test_the_paired_t_test_is_that_of_scipy(m):
    a, b = np.random.default_rng(m).standard_normal((2, m))
    assert paired_t(a, b + 0.5) == pytest.approx(stats.ttest_rel(a, b + 0.5).pvalue, rel=1e-12)


def test_equal_samples_do_not_differ():
    assert paired_t(np.arange(5.0), np.arange(5.0)) == 1.0


def test_a_constant_difference_is_certain():
    assert paired_t(np.arange(5.0), np.arange(5.0) + 1.0) == 0.0


@pytest.mark.parametrize("values", [np.zeros(1), np.asarray([0.0, np.nan, 1.0])], ids=["one pair", "NaN"])
def test_what_cannot_be_tested_is_an_error(values):
    with pytest.raises(InvalidInputError, match=r"expected.*got.*try"):
        paired_t(values, np.zeros(len(values)))


def test_benjamini_hochberg_is_that_of_scipy():
    p = np.random.default_rng(0).random(40) ** 3
    np.testing.assert_allclose(benjamini_hochberg(p), stats.false_discovery_control(p), rtol=1e-12)


def test_entries_that_are_not_tests_do_not_count():
    p = np.asarray([0.01, np.nan, 0.04])
    np.testing.assert_allclose(benjamini_hochberg(p), [0.02, np.nan, 0.04])


def test_holm_is_stricter_than_benjamini_hochberg():
    p = np.random.default_rng(1).random(40) ** 3
    assert np.all(holm(p) >= benjamini_hochberg(p))


@pytest.mark.parametrize(("k", "n"), [(0, 10), (3, 10), (175, 216), (10, 10)])
def test_the_interval_of_wilson_is_that_of_scipy(k, n):
    expected = stats.binomtest(k, n).proportion_ci(method="wilson")
    np.testing.assert_allclose(wilson(k, n), expected, rtol=1e-12, atol=1e-15)


@pytest.fixture(name="distances")
def _distances():
    """Five seeds, three evaluations: ScaledEI is nearer than A, farther than B and as near as C after the third."""
    rng = np.random.default_rng(5)
    mine = rng.standard_normal((5, 3))
    noise = 0.01 * rng.standard_normal((3, 5, 3))
    found = {("BRA", "ScaledEI"): mine}
    for policy, shift, e in zip("ABC", (1.0, -1.0, 0.0), noise, strict=True):
        found["BRA", policy] = mine + shift * np.asarray([0.0, 0.0, 1.0]) + e
    return found


def test_labels_have_the_sign_of_the_paper(distances):
    assert labels(compare(distances, 3)) == {("BRA", "A"): 1, ("BRA", "B"): -1, ("BRA", "C"): 0}


def test_the_test_is_made_after_n_evaluations(distances):
    assert set(labels(compare(distances, 2)).values()) == {0}


def test_more_evaluations_than_there_are_is_an_error(distances):
    with pytest.raises(InvalidInputError, match=r"at least 4 evaluations.*got shape \(5, 3\).*try"):
        compare(distances, 4)


def test_policies_with_other_seeds_cannot_be_paired(distances):
    distances["BRA", "A"] = distances["BRA", "A"][:4]
    with pytest.raises(InvalidInputError, match="expected 5 seeds"):
        compare(distances, 3)


def test_a_problem_without_our_policy_is_an_error(distances):
    with pytest.raises(InvalidInputError, match="expected distances of EI on BRA"):
        compare(distances, 3, ours="EI")


def test_a_correction_makes_labels_fewer():
    comparisons = {("BRA", str(i)): Comparison(-1.0, 0.04) for i in range(3)}
    comparisons["BRA", "clear"] = Comparison(1.0, 1e-6)
    assert sum(map(abs, labels(comparisons).values())) == 4
    assert labels(comparisons, "holm") == {**dict.fromkeys(comparisons, 0), ("BRA", "clear"): -1}


def test_an_unknown_correction_is_named_in_the_error():
    with pytest.raises(UnknownNameError, match=r"expected.*got 'bonferroni'.*try holm"):
        labels({}, "bonferroni")


def test_totals_are_shares_of_the_problems():
    found = {("BRA", "EI"): 1, ("CAM", "EI"): 0, ("HM3", "EI"): 0, ("ROS", "EI"): -1}
    assert totals(found) == {("same", "EI"): 0.5, ("better", "EI"): 0.25, ("worse", "EI"): 0.25}


def test_agreement_counts_the_cells_that_both_tables_have():
    found = agreement(
        {("a", "EI"): 1, ("b", "EI"): 0, ("c", "EI"): 1}, {("a", "EI"): 1, ("b", "EI"): 1, ("d", "EI"): 0}
    )
    assert (found.equal, found.n, found.share) == (1, 2, 0.5)


def test_tables_without_a_common_cell_do_not_compare():
    with pytest.raises(InvalidInputError, match=r"expected.*got none.*try"):
        agreement({("a", "EI"): 1}, {("b", "EI"): 1})


def test_kappa_is_the_textbooks():
    a = [0] * 45 + [0] * 15 + [1] * 25 + [1] * 15  # Fleiss et al.: 45, 15, 25 and 15 of 100
    b = [0] * 45 + [1] * 15 + [0] * 25 + [1] * 15
    assert cohen_kappa(a, b) == pytest.approx((0.60 - 0.54) / 0.46)


def test_a_guess_that_never_changes_agrees_by_chance_alone():
    assert cohen_kappa([0] * 10, [0] * 7 + [1] * 3) == 0.0
    assert math.isnan(cohen_kappa([0] * 10, [0] * 10))


def test_kappa_leaves_out_random_search_and_counts_what_is_found():
    theirs = {("a", "RND"): 1, ("b", "RND"): 1, ("a", "EI"): 1, ("b", "EI"): 0, ("a", "PI"): -1, ("b", "PI"): 0}
    ours = theirs | {("a", "PI"): 1}
    found = agreement(ours, theirs)
    assert (found.equal, found.n_significant, found.n_found) == (5, 2, 1)
    assert found.kappa == pytest.approx(cohen_kappa([1, 0, 1, 0], [1, 0, -1, 0]))
