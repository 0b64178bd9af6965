"""The suite of mixed problems: its functions, its least values, and that each library here takes its parameters."""

import numpy as np
import pytest

from benchmarks.regret import __main__ as command
from benchmarks.regret import libraries, runner
from benchmarks.regret.mixed.problems import mixed_task
from benchmarks.regret.mixed.tables import GRIDS, interpolated, table
from benchmarks.regret.suites import SUITES

NAMES = SUITES["mixed"].problems


def points(task, n, seed=1):
    units = task.space.from_uniform(np.random.default_rng(seed).random((n, task.d)))
    return [np.asarray(task.code(list(task.space.decode(unit)))) for unit in units]


@pytest.mark.parametrize("name", NAMES)
def test_no_random_point_is_below_the_least_value(name):
    task = mixed_task(name)
    assert min(task.function(x) for x in points(task, 500)) >= task.f_star


@pytest.mark.parametrize("name", NAMES)
def test_the_floor_is_below_what_random_points_reach(name):
    task = mixed_task(name)
    assert 0.0 < task.floor < 0.1 * (min(task.function(x) for x in points(task, 100)) - task.f_star)


@pytest.mark.parametrize("name", list(GRIDS))
def test_a_table_is_met_at_its_nodes(name):
    rng = np.random.default_rng(0)
    for _ in range(20):
        node = [int(rng.integers(len(axis.levels))) for axis in GRIDS[name]]
        x = [i if axis.kind == "category" else axis.levels[i] for axis, i in zip(GRIDS[name], node, strict=True)]
        assert interpolated(name, np.asarray(x, dtype=float)) == pytest.approx(table(name)[tuple(node)], rel=1e-9)


def test_between_two_nodes_of_a_logarithmic_axis_lies_the_mean_at_their_geometric_mean():
    ends = [interpolated("svm", np.asarray([C, 1e-3, 2, 2, 1])) for C in (1.0, 10.0)]
    assert interpolated("svm", np.asarray([np.sqrt(10.0), 1e-3, 2, 2, 1])) == pytest.approx(np.mean(ends))


@pytest.mark.parametrize(
    ("name", "published"),
    [
        ("pressure vessel", 6059.714335),
        ("coil spring", 2.65856),
        ("concrete beam", 359.208),
        ("gear train", 2.7009e-12),
    ],
)
def test_published_designs_have_their_published_costs(name, published):
    assert mixed_task(name).f_star == pytest.approx(published, rel=1e-5)


def test_libraries_for_real_parameters_only_are_left_out():
    planned = runner.plan(["surefoot", "egobox", "random"], ["mixed"], n_seeds=1)
    assert {case.library for case in planned} == {"surefoot", "random"}


@pytest.mark.parametrize("library", ["surefoot", "optuna-tpe", "random"])
def test_a_library_evaluates_valid_points_from_its_own_start(tmp_path, library):
    for module in libraries.LIBRARIES[library].modules:
        pytest.importorskip(module)
    case = runner.Case(library, "mixed", "svm", 0, 14)
    runner.run_case(case, tmp_path)
    with np.load(tmp_path / case.file_name) as data:
        X = data["X"]
    assert X.shape == (14, 5)
    assert set(X[:, 3]) <= {0.0, 1.0, 2.0, 3.0}


def test_the_report_tells_the_problems_of_choice_from_those_of_judgement(tmp_path):
    chosen = ["--suite", "mixed", "--problem", "svm", "--problem", "forest", "--n", "12", "--seeds", "2"]
    command.main([*chosen, "--library", "surefoot", "--library", "random", "--out", str(tmp_path)])
    text = (tmp_path / "table.md").read_text()
    assert "| defaults chosen on | 1 |" in text
    assert "| judged on | 1 |" in text
