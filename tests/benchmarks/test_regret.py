"""The regret benchmark: its numbers, its report on a tiny run, and that a killed one goes on."""

import csv
import json
import os
import shutil
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from benchmarks.regret import __main__ as command
from benchmarks.regret import adapters, libraries, runner, spreadsheets
from benchmarks.regret.figures import TARGETS, reached
from benchmarks.regret.scores import against_best, paired_tests, ranks, worse_than_best
from benchmarks.regret.suites import BBOB_GROUPS, SUITES, Objective, bbob_function, bbob_group, make_task, part_of
from surefoot import Optimizer, minimize, problems
from surefoot.errors import InvalidInputError, UnknownNameError
from surefoot.paper.studies.failures.peers import random

ROOT = Path(__file__).parents[2]
TINY = ["--suite", "paper", "--problem", "BRA", "--problem", "CSF", "--n", "24"]


def options(out, *more):
    names = ["--library", "surefoot", "--library", "random"]
    return [*TINY, *names, "--seeds", "2", "--out", str(out), *more]


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    out = tmp_path_factory.mktemp("regret")
    code = command.main(options(out, "--library", "surefoot:policy=EI"))
    noise_and_failures = ["--suite", "noise", "--suite", "failures", "--problem", "BRA 10 %", "--problem", "BRA discs"]
    command.main([*noise_and_failures, "--n", "24", "--library", "random", "--library", "surefoot", "--seeds", "2",
                  "--out", str(out)])  # fmt: skip
    return out, code


# --- names


def test_a_constant_has_another_value_for_one_run_only():
    from surefoot.gp import hyperparameters

    assert libraries.parse("surefoot:gp.hyperparameters.COLD_CALLS=7,warp=none")[1] == {
        "gp.hyperparameters.COLD_CALLS": 7.0,
        "warp": "none",
    }
    before = hyperparameters.COLD_CALLS
    with adapters.constants({"gp.hyperparameters.COLD_CALLS": 7.0}):
        during = hyperparameters.COLD_CALLS
    after = hyperparameters.COLD_CALLS
    assert during == 7
    assert isinstance(during, int)
    assert after == before


@pytest.mark.parametrize("path", ["gp.regression.NO_SUCH", "no_such.module.X"])
def test_an_unknown_constant_is_refused(path):
    with pytest.raises(UnknownNameError, match="MIN_LAM"):
        libraries.parse(f"surefoot:{path}=1")


def test_a_variant_is_surefoot_with_those_settings():
    assert libraries.parse("surefoot:policy=EI,noise=0") == ("surefoot", {"policy": "EI", "noise": 0.0})
    assert libraries.parse("egobox") == ("egobox", {})
    assert libraries.parse("turbo:q=8") == ("turbo", {"q": 8.0})


@pytest.mark.parametrize(
    "name", ["turbo:side=1", "botorch:q", "surefoot:policy", "surefoot:n_init=3", "egobox:seed=1", "surefoot:polcy=EI"]
)
def test_a_variant_that_cannot_be_run_is_refused(name):
    with pytest.raises(InvalidInputError):
        libraries.parse(name)


def test_an_unknown_library_is_refused():
    with pytest.raises(UnknownNameError, match="egobox"):
        libraries.parse("egoboks")


# --- suites


def test_distances_on_the_papers_functions_are_those_of_the_record():
    for problem in problems.ALL:
        task = make_task("paper", problem.abbreviation, 0)
        values = problem.f_star + np.asarray([0.0, 1e-9, 0.3])
        np.testing.assert_array_equal(task.log10_distance(values), problem.log10_distance(values))


def test_a_problem_and_a_seed_have_one_design_in_the_box():
    task = make_task("paper", "HM6", 0)
    np.testing.assert_array_equal(task.design(3), make_task("paper", "HM6", 3).design(3))
    low, high = np.asarray(task.bounds).T
    assert task.design(3).shape == (60, 6)
    assert np.all((task.design(3) >= low) & (task.design(3) <= high))
    assert not np.array_equal(task.design(3), task.design(4))


def test_noise_is_the_same_for_all_libraries_and_of_the_stated_size():
    task = make_task("noise", "BRA 10 %", 0)
    a, b = Objective(task, 5), Objective(task, 5)
    xs = np.random.default_rng(0).uniform(0.0, 5.0, (2000, 2))
    gaps = [a(x) - a.true[-1] for x in xs]
    assert [b(x) - b.true[-1] for x in xs[::-1]] == pytest.approx(gaps)
    f = problems.get("BRA")
    low, high = np.asarray(f.lower), np.asarray(f.upper)
    spread = np.std(f(low + np.random.default_rng(1).random((100_000, 2)) * (high - low)))
    assert np.std(gaps) == pytest.approx(0.1 * spread, rel=0.06)


@pytest.mark.parametrize("problem", SUITES["failures"].problems)
def test_about_a_fifth_of_the_box_fails(problem):
    task = make_task("failures", problem, 0)
    low, high = np.asarray(task.bounds).T
    points = low + np.random.default_rng(0).random((2000, task.d)) * (high - low)
    assert 0.08 < np.mean([np.isnan(task.function(x)) for x in points]) < 0.33


def test_every_bbob_function_is_in_one_group():
    assert sorted(i for group in BBOB_GROUPS.values() for i in group) == list(range(1, 25))
    assert bbob_group("f08 d5") == "moderate conditioning d5"


def test_bbob_functions_take_their_least_value_at_their_minimizer():
    pytest.importorskip("cocoex")
    for problem in SUITES["bbob"].problems:
        for instance in SUITES["bbob"].seeds:
            function, task = bbob_function(problem, instance), make_task("bbob", problem, instance)
            x = np.asarray(function.best_parameter())
            assert task.function(x) == pytest.approx(task.f_star, abs=1e-12)
            assert task.f_star == pytest.approx(round(task.f_star, 2), abs=1e-12)  # BBOB draws it with two decimals
            assert np.all(np.abs(x) <= 5.0)
            points = np.random.default_rng(instance).uniform(-5.0, 5.0, (50, task.d))
            assert min(map(task.function, points)) > task.f_star


@pytest.mark.parametrize(
    ("problem", "x"),
    [("Ackley d20", 0.0), ("Levy d20", 1.0), ("Rosenbrock d50", 1.0), ("Styblinski-Tang d50", -2.9035340276896057)],
)
def test_functions_of_many_inputs_are_least_at_their_minimizer(problem, x):
    task = make_task("many-inputs", problem, 1)
    assert task.function(np.full(task.d, x)) == pytest.approx(task.f_star, abs=1e-9)
    low, high = np.asarray(task.bounds).T
    points = low + np.random.default_rng(0).random((200, task.d)) * (high - low)
    near = x + 1e-3 * np.random.default_rng(1).standard_normal((200, task.d))
    assert min(map(task.function, [*points, *near])) > task.f_star


def test_hartman_in_a_hundred_inputs_depends_on_six_of_them():
    task = make_task("many-inputs", "HM6 d100", 1)
    x = np.random.default_rng(0).random(100)
    assert task.d == 100
    assert task.function(x) == problems.get("HM6")(x[:6])


@pytest.mark.parametrize("q", ["1", "4"])
def test_without_a_design_surefoot_begins_as_by_default(q):
    f = Objective(make_task("many-inputs", "Ackley d20", 1), 1)
    adapters.surefoot(f, np.empty((0, 20)), 28, 1, q=q)
    assert f.X[0].tolist() == Optimizer(f.bounds, seed=1).ask()
    assert len(f.y) == 28


def test_a_variant_can_ask_for_several_points_at_once():
    task = make_task("paper", "BRA", 0)
    seen = Objective(task, 0)
    libraries.adapter_of("surefoot:q=8")(seen, task.design(0), 30, 0)
    assert len(seen.y) == 30
    assert len(np.unique(seen.X, axis=0)) == 30


# --- numbers


def test_the_best_peer_and_where_it_is_significantly_better_are_found():
    noise = np.random.default_rng(0).normal(0.0, 0.1, (3, 15))
    table = {
        "lost": {"surefoot": dict(enumerate(noise[0])), "egobox": dict(enumerate(noise[1] - 1.0)),
                 "random": dict(enumerate(noise[2] + 1.0))},
        "won": {"surefoot": dict(enumerate(noise[0])), "egobox": dict(enumerate(noise[1] + 1.0)),
                "random": dict(enumerate(noise[2] + 2.0))},
        "level": {"surefoot": dict(enumerate(noise[0])), "egobox": dict(enumerate(noise[0]))},
    }  # fmt: skip
    found = paired_tests(table, ["surefoot", "egobox", "random"])
    assert {t.problem: t.library for t in against_best(found)} == dict.fromkeys(table, "egobox")
    assert [t.problem for t in worse_than_best(found)] == ["lost"]
    labels = {(t.problem, t.library): t.label("p_w_holm") for t in found}
    assert labels == {("lost", "egobox"): -1, ("won", "egobox"): 1, ("level", "egobox"): 0,
                      ("lost", "random"): 1, ("won", "random"): 1}  # fmt: skip
    assert all(t.p_t <= t.p_t_holm for t in found)


def test_only_seeds_that_both_have_are_paired():
    table = {"p": {"surefoot": {0: 1.0, 1: 2.0, 2: 9.0}, "random": {0: 2.0, 1: 3.5}}}
    (test,) = paired_tests(table, ["surefoot", "random"])
    assert (test.n_pairs, test.ours, test.theirs) == (2, 1.5, 2.75)


def test_a_variant_is_ranked_in_surefoots_place():
    table = {"p": {"surefoot": {0: 2.0}, "surefoot:policy=EI": {0: 0.0}, "egobox": {0: 1.0}, "random": {0: 3.0}}}
    found = ranks(table, list(table["p"]))
    assert {name: r.tolist() for name, r in found.items()} == {
        "surefoot": [2.0], "surefoot:policy=EI": [1.0], "egobox": [1.0], "random": [3.0]
    }  # fmt: skip


def test_targets_reached_grow_to_all_of_them():
    share = reached(np.asarray([2.0, 1.0, -3.5, -8.0]), 5)
    assert share[0] == 0.0
    assert share[1] == pytest.approx(1 / len(TARGETS))
    assert share[3] == share[4] == 1.0


# --- a tiny run


def test_a_tiny_run_writes_its_report(done):
    out, code = done
    assert code == 0
    text = (out / "table.md").read_text()
    for words in ("significantly worse than the best peer", "## paper", "## noise", "## failures", "surefoot:policy=EI",
                  "Ranks at n = 24", "Failed evaluations after the design", f"surefoot {libraries.version('surefoot')}",
                  "--suite paper"):  # fmt: skip
        assert words in text
    for name in ("ecdf.png", "ranks.png", "tests.csv"):
        assert (out / name).stat().st_size > 0


def test_runs_whose_files_are_gone_stay_in_the_report(done, tmp_path):
    out, _ = done
    for name in ("table.md", "summary.csv"):
        shutil.copy(out / name, tmp_path)
    assert command.main(["--report", "--out", str(tmp_path)]) == 0
    assert (tmp_path / "table.md").read_text() == (out / "table.md").read_text()
    assert (tmp_path / "summary.csv").read_text() == (out / "summary.csv").read_text()
    assert (tmp_path / "ranks.png").stat().st_size > 0
    assert not (tmp_path / "ecdf.png").exists()


def test_runs_made_anew_take_the_place_of_stored_ones_and_of_all_that_older_code_of_surefoot_gave(done, tmp_path):
    out, _ = done
    shutil.copy(out / "summary.csv", tmp_path)
    raw = tmp_path / "raw"
    raw.mkdir()
    for library in ("surefoot", "random"):
        shutil.copy(out / "raw" / runner.Case(library, "paper", "BRA", 1, 24).file_name, raw)
    runs = spreadsheets.joined(runner.load(raw), tmp_path)
    n_of = Counter((run.case.library, run.case.suite, run.is_stored) for run in runs)
    assert n_of["surefoot", "paper", False] == n_of["random", "paper", False] == 1
    assert n_of["surefoot", "paper", True] == n_of["surefoot:policy=EI", "paper", True] == 0
    assert n_of["surefoot", "noise", True] > 0
    assert n_of["random", "paper", True] > 1
    assert sum(run.case == runner.Case("random", "paper", "BRA", 1, 24) for run in runs) == 1


def test_stored_runs_of_other_libraries_are_not_made_again(done, tmp_path):
    out, _ = done
    for name in ("table.md", "summary.csv"):
        shutil.copy(out / name, tmp_path)
    words = [*TINY, "--library", "random", "--library", "surefoot", "--out", str(tmp_path), "--seeds"]
    assert command.main([*words, "3"]) == 0
    made = {path.name for path in (tmp_path / "raw").glob("*.npz")}
    cases = [runner.Case("random", "paper", name, 2, 24) for name in ("BRA", "CSF")]
    cases += [runner.Case("surefoot", "paper", name, seed, 24) for name in ("BRA", "CSF") for seed in range(3)]
    assert made == {case.file_name for case in cases}
    text = (tmp_path / "table.md").read_text()
    assert "| random | 24 | 6 |" in text
    assert "| surefoot | 24 | 6 |" in text


def test_the_summary_has_every_run_and_its_distance(done):
    out, _ = done
    with (out / "summary.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 12 + 8
    case = runner.Case("random", "paper", "BRA", 1, 24)
    with np.load(out / "raw" / case.file_name) as data:
        best = problems.get("BRA").log10_distance(np.min(problems.get("BRA")(data["X"])))
        assert len(data["y"]) == len(data["seconds"]) == 24
        np.testing.assert_array_equal(data["X"][:20], make_task("paper", "BRA", 1).design(1))
    (row,) = [r for r in rows if (r["library"], r["suite"], r["problem"], r["seed"]) == ("random", "paper", "BRA", "1")]
    assert float(row["log10_best"]) == pytest.approx(best, abs=1e-4)


def test_libraries_start_from_the_same_points(done):
    out, _ = done
    for suite, problem in (("paper", "CSF"), ("noise", "BRA 10 %"), ("failures", "BRA discs")):
        design = make_task(suite, problem, 0).design(0)
        for library in ("surefoot", "random"):
            with np.load(out / "raw" / runner.Case(library, suite, problem, 0, 24).file_name) as data:
                np.testing.assert_allclose(data["X"][: len(design)], design, rtol=1e-12)


def test_with_few_evaluations_libraries_start_as_they_do_by_default(tmp_path):
    words = ["--suite", "small", "--problem", "BRA", "--problem", "Ackley*", "--n", "20", "--seeds", "2"]
    peers = ["--library", "surefoot", "--library", "optuna-tpe"]
    assert command.main([*words, *peers, "--out", str(tmp_path)]) == 0
    assert command.main([*words[:-1], "1", "--library", "random", "--out", str(tmp_path)]) == 0
    text = (tmp_path / "table.md").read_text()
    assert "Mean ranks by parts of the suite" in text
    assert "| further | 1 |" in text
    assert "Ranks at n = 20, 3 libraries, on the seeds that all of them have:" in text
    assert "Ranks at n = 20, 2 libraries, on the seeds that all of them have:" in text
    with np.load(tmp_path / "raw" / runner.Case("surefoot", "small", "BRA", 1, 20).file_name) as data:
        own = minimize(problems.get("BRA"), problems.get("BRA").bounds, n_evals=20, seed=1)
        np.testing.assert_array_equal(data["X"], [list(e.x) for e in own.history.evaluations])


def test_a_seed_of_a_bbob_function_in_the_small_suite_is_its_instance():
    pytest.importorskip("cocoex")
    x = np.full(3, 0.3)
    assert make_task("small", "f08 d3", 4).function(x) == bbob_function("f08 d3", 4)(x)
    assert part_of("f08 d3") == "BBOB, d = 3"


def test_an_error_of_a_library_is_kept_reported_and_run_again_only_on_demand(tmp_path, monkeypatch):
    def broken(f, design, n, seed):
        random(f, design[:3], 3, seed)
        raise ArithmeticError("singular matrix")

    monkeypatch.setitem(libraries.LIBRARIES, "random", libraries.Library(broken, ()))
    alone = [*TINY[:4], "--n", "24", "--seeds", "1", "--library", "random", "--out", str(tmp_path)]
    command.main(alone)
    (path,) = (tmp_path / "raw").glob("*.npz")
    with np.load(path) as data:
        assert json.loads(str(data["meta"]))["error"] == "ArithmeticError: singular matrix"
        assert len(data["X"]) == 3
    assert "ArithmeticError: singular matrix" in (tmp_path / "table.md").read_text()
    monkeypatch.undo()
    command.main(alone)
    assert "Errors: 1 runs" in (tmp_path / "table.md").read_text()
    command.main([*alone, "--retry"])
    assert "Errors: 0 runs" in (tmp_path / "table.md").read_text()


def test_an_unknown_problem_is_refused_with_those_there_are():
    with pytest.raises(UnknownNameError, match="'f08-d5'; try one of 'f01 d2'"):
        runner.plan(["random"], ["bbob"], problems=["f08-d5"])


def test_slow_libraries_run_on_few_seeds_and_a_run_is_longer_than_its_design():
    cases = runner.plan(["botorch", "random"], ["paper", "noise"])
    slow = [case for case in cases if case.library == "botorch"]
    assert {case.suite for case in slow} == {"paper"}
    assert {(case.seed, case.n) for case in slow} == {(seed, 100) for seed in range(5)}
    assert "RAS" not in {case.problem for case in slow}  # its design has 100 points
    assert sum(case.library == "random" for case in cases) == 15 * 12 + 15 * 12


@pytest.mark.slow
def test_a_killed_benchmark_goes_on(tmp_path):
    words = [*options(tmp_path, "--workers", "2"), "--seeds", "6"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    process = subprocess.Popen([sys.executable, "-m", "benchmarks.regret", *words], cwd=ROOT, env=environment)
    try:
        until = time.monotonic() + 60.0
        while len(list((tmp_path / "raw").glob("*.npz"))) < 3 and time.monotonic() < until:
            time.sleep(0.02)
    finally:
        process.kill()
        process.wait()
    time.sleep(0.2)  # until its workers have seen it
    before = {path.name: path.stat().st_mtime_ns for path in (tmp_path / "raw").glob("*.npz")}
    assert 3 <= len(before) < 24
    assert command.main([*options(tmp_path), "--seeds", "6"]) == 0
    after = {path.name: path.stat().st_mtime_ns for path in (tmp_path / "raw").glob("*.npz")}
    assert len(after) == 24
    assert before.items() <= after.items()
