"""Ranks on bbob-constrained."""

import math

import numpy as np

from benchmarks.output_constraints.ranks import ranks_of


def test_the_best_feasible_value_has_rank_one():
    np.testing.assert_array_equal(ranks_of(np.asarray([[3.0, 1.0, 2.0]])), [[3.0, 1.0, 2.0]])


def test_equal_values_share_their_rank():
    np.testing.assert_array_equal(ranks_of(np.asarray([[1.0, 1.0 + 1e-12, 2.0]])), [[1.5, 1.5, 3.0]])


def test_who_found_nothing_feasible_comes_last():
    np.testing.assert_array_equal(ranks_of(np.asarray([[math.inf, 5.0, math.inf]])), [[2.5, 1.0, 2.5]])
