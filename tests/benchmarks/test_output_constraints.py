"""Optimizers under limits on outputs, ranks on bbob-constrained, and problems with limits of all three kinds."""

import json
import math

import numpy as np
import pytest

from benchmarks.output_constraints import __main__ as command
from benchmarks.output_constraints import mixed, ranks, solvers
from benchmarks.output_constraints.problems import Evaluator, problem
from benchmarks.output_constraints.ranks import ranks_of
from surefoot.errors import UnknownNameError


@pytest.mark.peers
@pytest.mark.parametrize("name", ["BoTorch", "Optuna GP"])
@pytest.mark.filterwarnings("default")
def test_a_peer_spends_its_budget_and_finds_a_feasible_point(name):
    pytest.importorskip("torch")
    pytest.importorskip(solvers.SOLVERS[name][1])
    evaluate = Evaluator(problem("g24"), 23)
    solvers.solve(name, evaluate, 0)
    assert len(evaluate.values) == 23
    assert np.isfinite(evaluate.best(0.0)[-1])


@pytest.mark.peers
@pytest.mark.filterwarnings("default")
def test_botorch_looks_for_a_feasible_point_where_its_design_has_none():
    pytest.importorskip("botorch")
    evaluate = Evaluator(problem("speed reducer"), 34)
    solvers.solve("BoTorch", evaluate, 0)
    best = evaluate.best(0.0)
    assert np.isinf(best[29])
    assert np.isfinite(best[-1])


def test_zooms_come_nearer_and_a_run_without_leaves_them_to_others():
    def gap(solver, seed):
        evaluate = Evaluator(problem("Gramacy"), 40)
        solvers.solve(solver, evaluate, seed)
        return math.log10(evaluate.gaps(0.0)[-1] + 1e-13)

    without = [gap("surefoot, no zooms", seed) for seed in range(3)]
    assert np.median([gap("surefoot", seed) for seed in range(3)]) < np.median(without) - 0.7


def test_a_run_ends_when_its_processor_time_is_spent():
    evaluate = Evaluator(problem("g24"), 20, seconds=-1.0)
    solvers.solve("random", evaluate, 0)
    assert evaluate.values == []


def test_the_table_counts_the_runs_that_the_cap_ended(tmp_path):
    gaps = ["1e-01"] * command.BUDGET
    told = {"problem": "g24", "solver": "random", "seconds": 9.0, "cap": 8.0, "strict": gaps, "loose": gaps}
    for seed, evaluations in enumerate((30, command.BUDGET)):
        (tmp_path / f"{seed}.json").write_text(json.dumps({**told, "seed": seed, "evaluations": evaluations}))
    assert "| g24 | random | 2 | 1.0e-01 | 1.0e-01 | 2 | 0 | 0 | 0 | 1 | 9 |" in command.table(tmp_path)


def test_an_optimizer_that_is_not_installed_is_left_out_with_the_line_that_installs_it(monkeypatch, capsys):
    monkeypatch.setattr(solvers, "find_spec", lambda module: None if module == "botorch" else object())
    assert solvers.chosen(["BoTorch", "COBYLA restarts"]) == ["COBYLA, restarts"]
    assert "pip install torch botorch" in capsys.readouterr().out


def test_an_unknown_optimizer_is_refused():
    with pytest.raises(UnknownNameError, match="expected optimizers among"):
        solvers.chosen(["surfoot"])


def test_only_differences_above_a_hundredth_matter():
    first, second = np.asarray([1.0, 1.0, math.inf, 2.0]), np.asarray([1.005, 1.02, 3.0, math.inf])
    assert ranks.matters(first, second) == 2


def test_misses_are_named_with_their_size():
    best = np.asarray([[1.5, 1.0], [1.0, 1.00001], [2.0, math.inf]])
    text = ranks.sizes(["surefoot", "random"], ["f01 d2 i1", "f02 d2 i1", "f43 d2 i1"], best, "random")
    assert "| 2 | linear limits | 0 | 0 | 1 | 0 | 1: f01 0.5 |" in text
    assert "| 2 | oscillating, many minima | 1 | 0 | 0 | 0 | 0 |" in text


def test_the_table_of_ranks_says_which_cells_were_run(tmp_path):
    for solver, value in (("surefoot", 1.0), ("random", 2.0)):
        for d in (2, 3):
            told = {"problem": f"f01 d{d} i1", "d": d, "solver": solver, "best": [repr(value)] * 4}
            (tmp_path / f"{solver}{d}.json").write_text(json.dumps(told))
    text = ranks.table(tmp_path, [2, 4])
    assert "| 3 | 1 | 4 | 1 | 1 |" in text
    assert "## d = 2, 3" in text
    assert "| random | 2.00 | 2.0 | 100% | 1 | 0 | 1 | 1 | 0 |" in text


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
