"""The benchmark of the crash model: its regions, its scores, what is kept, and its report on a tiny run."""

import gzip

import numpy as np
import pytest

from benchmarks.crash_model import __main__ as command
from benchmarks.crash_model import cells, references, scoring
from benchmarks.crash_model.regions import REGIONS
from benchmarks.crash_model.report import Scored, faults
from surefoot.paper.studies.failures import study

BY_NAME = {region.name: region for region in REGIONS}
# shares that succeed, known in closed form or published (percent)
SHARES = {"half-space": 50.0, "diagonal of 5": 50.0, "step in one of 10": 70.0, "random 20 %": 80.0, "g12": 4.77,
          "rare failures: corner": 93.75, "x > 8 of 10": 80.0, "Townsend": 69.0, "Gramacy": 46.0, "g08": 0.856,
          "checker": 400.0 / 9.0}  # fmt: skip


def test_the_regions_are_in_two_halves_and_every_name_is_once():
    assert len(REGIONS) == len(BY_NAME) == 37
    assert [region.half for region in REGIONS].count("dev") == 17


@pytest.mark.parametrize("name", SHARES)
def test_the_share_that_succeeds_is_the_known_one(name):
    region, rng = BY_NAME[name], np.random.default_rng(0)
    kinds = region.kinds(rng.random((200_000, region.d)), rng)
    assert 100.0 * np.mean(kinds < 0) == pytest.approx(SHARES[name], rel=0.08, abs=0.5 if SHARES[name] > 1 else 0.1)


@pytest.mark.parametrize("region", REGIONS, ids=lambda region: region.name)
def test_a_region_has_both_kinds_of_points_and_its_first_cause_is_named(region):
    rng = np.random.default_rng(1)
    x = rng.random((20_000, region.d))
    kinds, struck = region.kinds(x, rng), np.stack(list(region.causes(x).values()))
    assert 0 < np.sum(kinds < 0) < len(x)
    by_structure = kinds < len(struck)
    for k in range(len(struck)):
        expected = struck[k] & ~struck[:k].any(axis=0)
        np.testing.assert_array_equal((kinds == k)[by_structure], expected[by_structure])


def test_scores_of_known_probabilities_are_as_by_hand():
    p = np.asarray([0.25, 0.75, 0.75, 0.75])
    failed = np.asarray([True, False, False, True])
    loss, brier, calibration, own = scoring._scores(p, failed, np.asarray([0.9, 0.2]), np.asarray([False, True]))
    assert loss == pytest.approx(-(3 * np.log(0.75) + np.log(0.25)) / 4)
    assert brier == pytest.approx((3 * 0.0625 + 0.5625) / 4)
    assert calibration == pytest.approx((0.25 + abs(2.25 - 2.0)) / 4)
    assert own == pytest.approx(0.85)


def test_the_base_rate_is_laplaces_rule_and_labels_of_one_kind_give_it_to_all():
    X, points = np.random.default_rng(0).random((8, 2)), np.zeros((3, 2))
    some = np.arange(8) < 2
    np.testing.assert_allclose(references.predict("base rate", X, some, points), 7 / 10)
    for name in references.REFERENCES:
        np.testing.assert_allclose(references.predict(name, X, np.ones(8, bool), points), 1 / 10)


@pytest.mark.parametrize("name", ["label-regression", "laplace", "ep", *references.REFERENCES])
def test_everybody_learns_half_of_a_square(name):
    region = next(r for r in REGIONS if r.name == "x > 8 of 10")
    scores = scoring.score(name, cells.of_region(region, 40, n_designs=2))
    assert scores.shape == (2, 4)
    base = scoring.score("base rate", cells.of_region(region, 40, n_designs=2))
    assert scores[:, 0].mean() <= base[:, 0].mean()


def test_designs_of_one_cell_are_fitted_together_as_alone():
    cell = cells.of_region(BY_NAME["g24"], 20, n_designs=3)
    points = cell.points[:, :50]
    together = scoring.by_model("ep", cell, points)
    alone = cells.of_region(BY_NAME["g24"], 20, n_designs=1)
    np.testing.assert_allclose(together[:1], scoring.by_model("ep", alone, points[:1]), rtol=1e-6)


def test_a_reference_is_computed_once(tmp_path, monkeypatch):
    cell = cells.of_region(BY_NAME["valley"], 20, n_designs=2)
    first = scoring.Kept(tmp_path).score("logistic", cell)
    monkeypatch.setattr(scoring, "score", lambda *_: pytest.fail("computed again"))
    np.testing.assert_allclose(scoring.Kept(tmp_path).score("logistic", cell), first, rtol=1e-3)


def test_the_kept_references_are_those_of_the_present_regions():
    kept = scoring.Kept(command.ROOT / "results/crash_model/references")
    keys = {cells.of_region(BY_NAME[name], n).key for name in ("g24", "atoms", "random 20 %") for n in cells.SIZES}
    for name in set(references.REFERENCES) - {references.BASE_RATE}:
        assert keys <= set(kept._read(name))


def test_a_table_of_a_simulator_is_read_on_the_scales_of_its_problem_file(tmp_path):
    (tmp_path / "pump").mkdir()
    (tmp_path / "pump/problem.toml").write_text(
        "[parameters]\na = {low = 0.0, high = 2.0}\nb = {low = 1.0, high = 100.0, log = true}\n"
    )
    rows = ["a,b,flow,status,reason", "1.0,10.0,3.5,ok,", "0.0,1.0,,failed,stress 3 > 2"]
    rows += ["2.0,100.0,,failed,stress 4 > 2", "1.0,1.0,,failed,no mesh", "1.0,1.0,,transient,lost"]
    (tmp_path / "pump/table.csv.gz").write_bytes(gzip.compress("\n".join(rows).encode()))
    X, kinds = cells.read_table(tmp_path / "pump/table.csv.gz")
    np.testing.assert_allclose(X, [[0.5, 0.5], [0.0, 0.0], [1.0, 1.0], [0.5, 0.0]])
    assert kinds.tolist() == [-1, 0, 0, 1]  # reasons that differ in numbers only are one
    (cell,) = cells.of_tables(tmp_path, [3], 2)
    assert (cell.group, cell.problem, cell.X.shape, cell.points.shape) == ("simulators", "pump", (2, 3, 2), (2, 1, 2))


def test_labels_are_taken_from_runs_of_the_study(tmp_path):
    study.run_case(study.Case("three-bar truss", "random", "", 1, 45, 0), tmp_path)
    (cell,) = cells.of_runs(tmp_path, "random", 10)
    assert (cell.group, cell.problem, cell.n) == ("along runs", "three-bar truss", 40)
    assert cell.X.shape == (1, 40, 2)
    assert 0.7 < cell.fails.mean() < 0.85
    assert not list(cells.of_runs(tmp_path, "default", 10))


def test_faults_are_cells_above_the_base_rate_or_far_above_the_best():
    losses = {"base rate": 0.5, "forest": 0.3, "logistic": 0.4, "sklearn gpc": 0.4}
    scored = []
    for problem, own in (("good", 0.32), ("far", 0.34), ("worse", 0.6)):
        for name, loss in {**losses, "ep": own}.items():
            scored.append(Scored(name, "dev", problem, 20, np.full((3, 4), loss)))
    found = faults(scored, "ep")
    assert [(f.scored.problem, f.above_base) for f in found] == [("worse", True), ("far", False)]
    assert found[1].ratio == pytest.approx(0.34 / 0.3)


def test_a_tiny_run_prints_and_writes_the_report(tmp_path, capsys):
    options = ["--problem", "g24", "--n", "20", "--designs", "2", "--tables", str(tmp_path), "--out", str(tmp_path)]
    assert command.main(["ep", *options]) == 0
    printed = capsys.readouterr().out
    assert "## dev: 1 problems" in printed
    assert "| g24 | 20 |" in printed
    assert (tmp_path / "report.md").read_text().strip() == printed.strip()
    assert command.main(["epp", *options]) == 2
    assert "expected a failure model among" in capsys.readouterr().err


def test_a_missing_scikit_learn_is_named_before_anything_is_fitted(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(command, "find_spec", lambda name: None)
    assert command.main(["ep", "--out", str(tmp_path / "out")]) == 2
    assert "expected scikit-learn" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
