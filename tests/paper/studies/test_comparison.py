"""The comparison of solvers: what is counted, how misses are reported, and that it resumes."""

import csv

import numpy as np
import pytest

from surefoot.errors import UnknownNameError
from surefoot.paper.resumable import run_cases
from surefoot.paper.solvers.registry import get_solver
from surefoot.paper.studies.comparison import study
from surefoot.paper.studies.comparison.figures import draw

SOLVERS = ("ScaledEI", "multi start", "pattern search", "simulated annealing")


def row(solver, n, hit, problem="CSF"):
    n, hit = np.asarray(n, dtype=float), np.asarray(hit, dtype=bool)
    distance = np.where(hit, -6.5, -2.0)
    return study.Row(problem, get_solver(solver), 300, n, hit, np.ones(len(n)), distance, seconds=1.0)


@pytest.fixture(scope="module", name="done")
def _done(tmp_path_factory):
    folder = tmp_path_factory.mktemp("comparison")
    todo = list(study.cases(["csf"], SOLVERS, 3, -4.0, budget=150, model_budget=60))
    assert len(list(run_cases(study.run_case, todo, folder, 1))) == 12
    return todo, folder


def test_solvers_that_fit_a_model_get_the_smaller_budget():
    budgets = {case.solver: case.budget for case in study.cases([], SOLVERS, 2, -6.0, 1000, 100)}
    assert budgets == {"ScaledEI": 100, "multi start": 1000, "pattern search": 1000, "simulated annealing": 1000}


def test_the_default_is_every_solver_on_csf():
    todo = list(study.cases([], [], 2, -6.0, 1000, 100))
    assert {case.problem for case in todo} == {"CSF"}
    assert set(study.PAPER) <= {case.solver for case in todo}


def test_an_unknown_problem_is_named_in_the_error():
    with pytest.raises(UnknownNameError, match="CSX"):
        list(study.cases(["CSX"], [], 2, -6.0, 1000, 100))


def test_every_run_has_a_file_of_its_own(done):
    todo, folder = done
    assert len({case.file_name for case in todo}) == len(list(folder.glob("*.npz"))) == 12


def test_a_finished_run_is_not_made_again(done):
    todo, folder = done
    before = [path.stat().st_mtime_ns for path in sorted(folder.glob("*.npz"))]
    list(run_cases(study.run_case, todo, folder, 1))
    assert [path.stat().st_mtime_ns for path in sorted(folder.glob("*.npz"))] == before


def test_two_processes_make_the_same_runs(done, tmp_path):
    todo, folder = done
    todo = [case for case in todo if case.solver != "ScaledEI"]
    list(run_cases(study.run_case, todo, tmp_path, 2))
    for case in todo:
        with np.load(tmp_path / case.file_name) as a, np.load(folder / case.file_name) as b:
            np.testing.assert_array_equal(a["trace"], b["trace"])


def test_the_mean_leaves_misses_out_and_the_expected_running_time_does_not():
    r = row("ScaledEI", [20, 40, 300], [True, True, False])
    assert (r.mean, r.expected_running_time) == (30.0, 180.0)


def test_a_solver_that_never_arrives_has_no_mean_and_no_end():
    r = row("ScaledEI", [300, 300], [False, False])
    assert np.isnan(r.mean)
    assert r.expected_running_time == np.inf
    assert "never reaches the target" in study.verdict([r])[0]


def test_the_verdict_names_what_costs_less():
    rows = [row("EI", [10, 11], [True, True]), row("ScaledEI", [20, 21], [True, True])]
    assert "yes, of the paper's solvers; EI 10" in study.verdict(rows)[0]
    rows = [row("multi start", [10, 11], [True, True]), row("ScaledEI", [20, 21], [True, True])]
    assert study.verdict(rows)[0].startswith("CSF: no, multi start 10")


def test_the_verdict_says_yes_when_it_is():
    rows = [row("ScaledEI", [20, 21], [True, True]), row("multi start", [30, 31], [True, True])]
    assert study.verdict(rows)[0].startswith("CSF: yes, of all. ScaledEI: 20.")


def test_the_verdict_admits_what_is_not_significant():
    rows = [row("ScaledEI", [20, 21], [True, True]), row("multi start", [30, 31], [True, True])]
    assert "Not significantly fewer than multi start" in study.verdict(rows)[0]
    rows = [row("ScaledEI", range(20, 35), [True] * 15), row("multi start", range(40, 55), [True] * 15)]
    assert study.verdict(rows) == ["CSF: yes, of all. ScaledEI: 27."]


def test_a_miss_ranks_last_in_the_test():
    hits = row("ScaledEI", range(20, 35), [True] * 15)
    misses = row("multi start", [10] * 15, [False] * 15)
    assert study.p_values([hits, misses])["multi start"] < 1e-4


def test_rows_are_in_the_order_of_their_cost(done):
    costs = [r.expected_running_time for r in study.summarize(*done)]
    assert costs == sorted(costs)


def test_the_tables_hold_every_run_and_the_settings(done, tmp_path):
    text = study.write_tables(study.summarize(*done), -4.0, tmp_path)
    with (tmp_path / "runs.csv").open() as file:
        assert len(list(csv.DictReader(file))) == 12
    assert "minimize, L-BFGS-B" in text
    assert (tmp_path / "table.md").read_text(encoding="utf-8") == text


def test_rows_of_the_figure_are_read_back_from_the_tables(done, tmp_path):
    rows = study.summarize(*done)
    study.write_tables(rows, -4.0, tmp_path)
    for a, b in zip(rows, study.recorded(tmp_path), strict=True):
        assert (a.problem, a.solver, a.budget) == (b.problem, b.solver, b.budget)
        np.testing.assert_array_equal(a.n, b.n)
        np.testing.assert_array_equal(a.hit, b.hit)


def test_without_tables_there_is_nothing_to_draw_again(tmp_path):
    assert study.recorded(tmp_path) == []


def test_bars_are_drawn_for_hits_and_misses(tmp_path):
    rows = [
        row("ScaledEI", [20, 40, 300], [True, True, False]),
        row("multi start", [30, 31, 32], [True] * 3),
        row("genetic algorithm", [300] * 3, [False] * 3),
        row("ScaledEI", [300] * 3, [False] * 3, problem="BRA"),
    ]
    path = draw(rows, -6.0, tmp_path / "comparison.png")
    assert path.stat().st_size > 5_000
