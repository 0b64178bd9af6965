"""Ranks on bbob-constrained, and problems with limits of all three kinds."""

import json
import math

import numpy as np
import pytest

from benchmarks.output_constraints import mixed
from benchmarks.output_constraints.problems import problem
from benchmarks.output_constraints.ranks import ranks_of


def test_the_best_feasible_value_has_rank_one():
    np.testing.assert_array_equal(ranks_of(np.asarray([[3.0, 1.0, 2.0]])), [[3.0, 1.0, 2.0]])


def test_equal_values_share_their_rank():
    np.testing.assert_array_equal(ranks_of(np.asarray([[1.0, 1.0 + 1e-12, 2.0]])), [[1.5, 1.5, 3.0]])


def test_who_found_nothing_feasible_comes_last():
    np.testing.assert_array_equal(ranks_of(np.asarray([[math.inf, 5.0, math.inf]])), [[2.5, 1.0, 2.5]])


@pytest.mark.parametrize("name", mixed.names())
def test_every_limit_is_known_hidden_or_reported(name):
    of = problem(name)
    own = mixed.kinds(of)
    assert sorted([own.known, own.hidden, *own.reported]) == list(range(len(of.causes)))


def test_a_tiny_run_with_all_three_kinds_never_violates_the_known_one(tmp_path):
    mixed.run_case("three-bar truss", "mixed", 0, tmp_path, budget=12)
    (path,) = tmp_path.glob("*.json")
    told = json.loads(path.read_text())
    assert told["known violated"] == 0
    assert len(told["gaps"]) == 12


def test_a_case_that_is_there_is_passed_over(tmp_path):
    mixed.run_case("three-bar truss", "random", 0, tmp_path, budget=5)
    before = {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    mixed.run_case("three-bar truss", "random", 0, tmp_path, budget=5)
    assert before == {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()}


def test_its_table_has_a_row_for_every_way_that_was_run(tmp_path):
    mixed.run_case("g09", "random", 0, tmp_path)
    assert "| g09 | random | 1 |" in mixed.table(tmp_path)
