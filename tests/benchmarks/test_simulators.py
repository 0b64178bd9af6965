"""The benchmark on simulators, on their emulators: its runs, that it goes on, its tables from stored runs."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from benchmarks.simulators import __main__ as command
from benchmarks.simulators import problems, runner
from benchmarks.simulators.pairs import counts, pairs_table
from benchmarks.simulators.runs import SimulatorRuns, bests, gathered
from surefoot.engine.suggest import initial_design
from surefoot.errors import InvalidInputError, UnknownNameError
from surefoot.optimize.settings import Settings
from surefoot.paper.solvers.counter import Stopped

ROOT = Path(__file__).parents[2]
STORED = ROOT / "results" / "simulators"
NAMES = ["default", "label-regression", "paper", "default:min_success=0.5", "random"]


def options(out, *more):
    return ["--emulated", "--problems", "frame,mapk", "--strategies", ",".join(NAMES), "--seeds", "2", "--n", "8",
            "--n-init", "5", "--out", str(out), *more]  # fmt: skip


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    out = tmp_path_factory.mktemp("simulators")
    assert command.main(options(out)) == 0
    return out


def test_every_case_has_a_run_of_all_its_evaluations(done):
    records = runner.load(done)
    assert len(records) == 2 * 2 * len(NAMES)
    for record in records.values():
        assert record["error"] == ""
        assert len(record["values"]) == len(record["kinds"]) == 8
        assert [y is None for y in record["values"]] == [kind >= 0 for kind in record["kinds"]]
        assert max(record["kinds"], default=-1) < len(record["reasons"]) or not record["reasons"]
        assert record["cpu_s"] >= 0.0


def test_all_strategies_start_from_the_design_of_the_default(done):
    by_case = {(c.problem, c.strategy, c.seed): r["values"] for c, r in runner.load(done).items()}
    for problem in ("frame", "mapk"):
        for seed in (0, 1):
            assert len({tuple(by_case[problem, name, seed][:5]) for name in NAMES}) == 1
            assert len({tuple(by_case[problem, name, seed]) for name in NAMES}) > 1


def test_a_design_of_another_optimizer_is_that_of_surefoot():
    import surefoot

    space = problems.space_of("reactor")
    design = initial_design(space, Settings.of(seed=3, n_init=5).spec, 0)
    asked = [list(surefoot.Optimizer(space, seed=3, n_init=5).ask().values())]
    np.testing.assert_allclose([space.encode(x) for x in asked], design[:1], atol=1e-12)


def test_tables_name_every_strategy_and_the_figure_is_drawn(done):
    text = (done / "table.md").read_text()
    assert "on emulators" in text
    assert all(f"| {name} |" in text for name in NAMES if name != "default")
    assert (done / "simulators.png").stat().st_size > 5_000


def test_tables_are_made_again_from_packed_runs(done, tmp_path):
    (tmp_path / runner.PACKED).write_bytes((done / runner.PACKED).read_bytes())
    assert command.main(["--tables", str(tmp_path)]) == 0
    assert (tmp_path / "table.md").read_text() == (done / "table.md").read_text()
    assert (tmp_path / runner.PACKED).read_bytes() == (done / runner.PACKED).read_bytes()


def test_a_run_that_is_there_is_not_made_again(done, tmp_path, monkeypatch):
    (tmp_path / runner.PACKED).write_bytes((done / runner.PACKED).read_bytes())
    monkeypatch.setattr(runner, "run_case", lambda case, folder: pytest.fail(f"{case} again"))
    assert command.main(options(tmp_path)) == 0


@pytest.mark.slow
def test_a_killed_benchmark_goes_on_where_it_was(tmp_path):
    words = [sys.executable, "-m", "benchmarks.simulators", *options(tmp_path, "--n", "20")]
    environment = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"}
    with subprocess.Popen(words, cwd=ROOT, env=environment, stderr=subprocess.DEVNULL) as killed:
        while len(list((tmp_path / "raw").glob("*.json"))) < 3:
            assert killed.poll() is None
            time.sleep(0.02)
        killed.kill()
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "raw").glob("*.json")}
    assert command.main(options(tmp_path, "--n", "20")) == 0
    assert len(runner.load(tmp_path)) == 2 * 2 * len(NAMES)
    assert {path: path.stat().st_mtime_ns for path in before} == before


def test_the_same_case_has_the_same_values_again(done, tmp_path):
    case = runner.Case("frame", "default", 1, 8, 5, emulated=True)
    runner.run_case(case, tmp_path)
    assert json.loads((tmp_path / case.file_name).read_text())["values"] == runner.load(done)[case]["values"]


def test_a_recorder_evaluates_no_more_than_it_was_told_to():
    recorder = problems.Recorder(lambda number, x: (float(number), ""), problems.space_of("frame"), 2)
    assert [recorder(np.full(6, 0.5)), recorder(np.full(6, 2.0))] == [0.0, 1.0]
    with pytest.raises(Stopped):
        recorder(np.full(6, 0.5))


def test_the_best_known_value_is_of_the_example_unless_a_run_is_better():
    record = {"values": [None, 1800.0], "n": 2}
    example = problems.best_of_search("frame")
    assert bests({runner.Case("frame", "ep", 4, 2, 1): record})["frame"].value == example
    better = bests({runner.Case("frame", "ep", 4, 2, 1): record | {"values": [example - 1.0, None]}})["frame"]
    assert (better.value, better.found_by) == (example - 1.0, "ep, seed 4")


def _runs(strategy, best, failed, problem="frame", n_seeds=8):
    values = {seed: np.concatenate([np.full(failed, np.nan), np.full(10 - failed, best)]) for seed in range(n_seeds)}
    return SimulatorRuns(problem, strategy, 0, values, best_known=1.0)


def test_pairs_are_counted_over_problems_and_the_seeds_that_both_have():
    runs = [
        _runs("default", 2.0, 3),
        _runs("ep", 3.0, 3),
        _runs("default", 2.0, 3, "mapk"),
        _runs("ep", 1.5, 5, "mapk", 2),
    ]
    regret, failed = counts(runs)
    assert (regret.less, regret.equal, regret.more) == (8, 0, 2)
    assert (failed.less, failed.equal, failed.more) == (2, 8, 0)
    assert regret.p == pytest.approx(2 * 56 / 1024 * 2)  # P(at most 2 of 10), two-sided, of two tests
    assert "| ep | 10 | 8 / 0 / 2 | 0.2 | 2 / 8 / 0 | 0.5 |" in pairs_table(runs)


def test_regret_is_relative_and_no_finer_than_six_digits():
    assert _runs("default", 1.1, 3, n_seeds=1).regret(10, [0]) == pytest.approx([-1.0])
    assert _runs("default", 1.0, 3, n_seeds=1).regret(10, [0]).tolist() == [-5.0]


def test_slow_strategies_come_last_and_seeds_one_after_another():
    names = ["smac", "ep", "default"] if _has_smac() else ["ep", "default"]
    cases = runner.plan(["frame", "mapk"], names, n_seeds=2, n=8, slow_seeds=1, emulated=True)
    order = [(c.strategy, c.seed) for c in cases if c.problem == "frame"]
    assert order[:4] == [("default", 0), ("ep", 0), ("default", 1), ("ep", 1)]
    assert order[4:] == ([("smac", 0)] if _has_smac() else [])


def test_a_design_is_that_of_the_default_unless_told():
    for told, expected in ((None, 14), (9, 9)):
        (case,) = runner.plan(["frame"], ["random"], n_seeds=1, n=100, slow_seeds=1, n_init=told)
        assert case.n_init == expected


def test_runs_of_different_designs_are_not_compared(done, tmp_path, capsys):
    (tmp_path / runner.PACKED).write_bytes((done / runner.PACKED).read_bytes())
    assert command.main(options(tmp_path, "--n-init", "6", "--strategies", "random")) == 1
    assert "try another --out" in capsys.readouterr().out


def _has_smac():
    from importlib.util import find_spec

    return find_spec("smac") is not None


@pytest.mark.parametrize("words", [["--problems", "fram"], ["--strategies", "defalt"], ["--strategies", "random:a=1"]])
def test_a_name_that_is_unknown_is_refused_before_anything_runs(words, tmp_path):
    with pytest.raises(UnknownNameError, match="try"):
        command.main([*options(tmp_path), *words])


def test_an_unknown_setting_of_a_strategy_is_refused():
    with pytest.raises(InvalidInputError, match="min_success"):
        runner.settings_of("default:min_succes=0.5")


def test_settings_of_a_strategy_may_be_several():
    both = command.names_in("default:min_success=0.5,policy=EI,random")
    assert both == ["default:min_success=0.5,policy=EI", "random"]


@pytest.mark.skipif(not (STORED / runner.PACKED).exists(), reason="no stored runs")
def test_the_tables_in_the_repository_are_those_of_the_stored_runs(tmp_path):
    (tmp_path / runner.PACKED).write_bytes((STORED / runner.PACKED).read_bytes())
    assert command.main(["--tables", str(tmp_path)]) == 0
    assert (tmp_path / "table.md").read_text() == (STORED / "table.md").read_text()
    assert (STORED / runner.PACKED).stat().st_size < 1_000_000
    assert all(not case.emulated for case in runner.load(STORED))
    assert {r.problem for r in gathered(runner.load(STORED))} >= {
        "mapk",
        "colpitts",
        "battery-spme",
        "frame",
        "reactor",
    }
