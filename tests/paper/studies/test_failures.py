"""The study of failure strategies: problems, statistics, and that it resumes."""

from dataclasses import replace

import numpy as np
import pytest

from surefoot.engine.batch import HOST
from surefoot.engine.lockstep import run_in_lockstep
from surefoot.errors import UnknownNameError
from surefoot.optimize.settings import Settings
from surefoot.optimize.space import Space
from surefoot.paper.statistics import holm, log10_regret, mann_whitney, wilcoxon
from surefoot.paper.studies.failures import paper_tables, report, study
from surefoot.paper.studies.failures.constrained import PAPER, get_constrained, groups
from surefoot.paper.studies.failures.figures import draw

each_problem = pytest.mark.parametrize("problem", [get_constrained(n) for n in groups()[PAPER]], ids=groups()[PAPER])


@each_problem
def test_no_allowed_point_lies_below_the_feasible_minimum(problem):
    low, high = np.asarray(problem.base.lower), np.asarray(problem.base.upper)
    x = low + np.random.default_rng(3).random((100_000, problem.base.d)) * (high - low)
    assert problem.base(x[~problem.fails(x)]).min() >= problem.f_star - 1e-9


@each_problem
def test_a_part_of_the_box_fails(problem):
    assert 0.03 < problem.share(20_000) < 0.9


def test_the_named_shares_are_the_measured_ones():
    for name in groups()[PAPER]:
        if name.endswith("%"):
            assert get_constrained(name).share() == pytest.approx(int(name.split()[-2]) / 100, abs=0.01)


def test_the_hidden_optimum_is_hidden():
    problem = get_constrained("CAM hidden optimum")
    assert problem.fails(np.asarray(problem.base.minimizers)).all()
    assert problem.f_star > problem.base.f_star + 0.1


def test_an_unknown_problem_is_named_in_the_error():
    with pytest.raises(UnknownNameError, match=r"expected.*got 'BRA'.*try"):
        get_constrained("BRA")


def test_runs_in_lockstep_share_the_design_of_all_strategies():
    problem = get_constrained("BRA discs")

    low, high = np.asarray(problem.base.lower), np.asarray(problem.base.upper)

    def evaluate(units):
        x = low + units * (high - low)
        return np.asarray(problem.base(x)), ~problem.fails(x)

    space = Space.of(problem.base.bounds)
    traces = [
        run_in_lockstep(space, evaluate, Settings(n_init=8, failures=f).spec, 3, 12, HOST) for f in ("ignore", "ep")
    ]
    np.testing.assert_array_equal(traces[0].X[:, :8], traces[1].X[:, :8])
    assert not np.array_equal(traces[0].X, traces[1].X)


@pytest.fixture(scope="module", name="done")
def _done(tmp_path_factory):
    folder = tmp_path_factory.mktemp("study")
    todo = list(study.cases(["HM3 half-space 50 %"], ("label-regression", "ignore"), ("EI",), 3, 34))
    assert len(list(study.run_study(todo, folder, 1))) == 2
    return todo, folder


def test_a_finished_combination_is_not_run_again(done):
    todo, folder = done
    path = folder / todo[0].file_name
    before = path.stat().st_mtime_ns
    list(study.run_study(todo, folder, 1))
    assert path.stat().st_mtime_ns == before


def test_an_unfinished_combination_leaves_no_file_under_its_name(done):
    _, folder = done
    assert not list(folder.glob("*.tmp"))


def test_the_tables_have_a_cell_for_each_combination(done):
    todo, folder = done
    text = paper_tables.write_tables(paper_tables.summarize(todo, folder), folder)
    assert text.count("/") >= 2
    assert "HM3 half-space 50 %" in (folder / "table.csv").read_text()


def test_the_figures_are_drawn(done, tmp_path):
    todo, folder = done
    paths = draw(todo, paper_tables.summarize(todo, folder), folder, tmp_path)
    assert [p.name for p in paths] == ["comparison.png", "reliability.png"]
    assert all(p.stat().st_size > 10_000 for p in paths)


def test_reliability_counts_every_held_out_point(done):
    todo, folder = done
    _, _, counts = paper_tables.reliability(todo, folder, "label-regression")
    assert counts.sum() == 3 * study.N_HELD_OUT


def test_the_problems_of_a_group_are_taken_by_its_name_and_an_unknown_one_is_named():
    assert report.problems_of([PAPER], []) == list(groups()[PAPER])
    assert report.problems_of([], ["spring"]) == ["spring"]
    assert len(report.problems_of([], [])) == sum(map(len, groups().values()))
    with pytest.raises(UnknownNameError, match=r"expected a group among paper, limits; got 'papers'; try"):
        report.problems_of(["papers"], [])


def test_holm_corrects_as_by_hand():
    p = np.asarray([0.01, np.nan, 0.04, 0.03])
    np.testing.assert_allclose(holm(p), [0.03, np.nan, 0.06, 0.06])


def test_the_signed_rank_test_of_equal_samples_finds_nothing():
    a = np.arange(8.0)
    assert wilcoxon(a, a) == 1.0


def test_the_signed_rank_test_finds_a_clear_shift():
    a = np.arange(20.0)
    assert wilcoxon(a, a + 1.0 + 0.01 * a) < 1e-4


def test_a_run_without_a_success_has_the_largest_regret():
    assert log10_regret(np.asarray([np.inf, 1.0]), 0.0).tolist() == [3.0, 0.0]


def test_ten_runs_that_are_all_better_have_the_least_p_of_independent_samples():
    a = np.arange(10.0)
    assert mann_whitney(a, a + 100.5) == pytest.approx(2.0 / 184_756)  # 2 of 20 over 10 arrangements
    assert mann_whitney(a, a) == 1.0
    assert mann_whitney(np.ones(5), np.ones(5)) == 1.0


def test_combinations_of_an_earlier_table_stay_where_their_files_are_gone(done, tmp_path):
    todo, folder = done
    whole = paper_tables.summarize(todo, folder)
    paper_tables.write_tables(whole, tmp_path)
    again = paper_tables.summarize(todo[:1], folder, tmp_path / "runs.csv")
    assert [row.strategy for row in again] == ["label-regression", "ignore"]
    np.testing.assert_allclose(again[1].regret, whole[1].regret, atol=1e-4)


def test_where_no_problem_has_structure_there_is_no_reliability_to_draw(done, tmp_path):
    todo, folder = done
    rows = paper_tables.summarize(todo, folder)
    random = [replace(case, problem="HM3 random 50 %") for case in todo]
    assert [p.name for p in draw(random, rows, folder, tmp_path)] == ["comparison.png"]
