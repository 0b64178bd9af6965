"""The pulmonary studies at a tiny size: they run, resume, count failures and write what they say."""

import json

import numpy as np
import pytest

from surefoot.errors import MissingExtraError, UnknownNameError
from surefoot.inference.infer import Plan
from surefoot.paper.statistics import standard_error
from surefoot.paper.studies.pulmonary import coverage
from surefoot.paper.studies.pulmonary.figures import draw, draw_coverage, result_of
from surefoot.paper.studies.pulmonary.methods import METHODS, check_installed
from surefoot.paper.studies.pulmonary.reference import load_reference, reference_case, run_any
from surefoot.paper.studies.pulmonary.study import Case, Record, cases, load, patient, run_case
from surefoot.paper.studies.pulmonary.tables import PAPER, Group, groups_of, write_tables
from surefoot.pulmonary import PARAMETER_BOX

LOW, HIGH = np.asarray(PARAMETER_BOX).T


def run_of(loss):
    loss = np.asarray(loss, dtype=float)
    X = LOW + np.linspace(0.1, 0.9, len(loss))[:, None] * (HIGH - LOW)
    return Record(X, loss, np.where(np.isnan(loss), "matching", ""))


def test_a_fixed_realization_is_the_same_for_all_seeds_and_the_other_is_not():
    a, b, c, d = (patient("original", *which) for which in (("fixed", 0), ("fixed", 1), ("seed", 0), ("seed", 1)))
    np.testing.assert_array_equal(a.signals[0].value, b.signals[0].value)
    assert not np.array_equal(c.signals[0].value, d.signals[0].value)
    assert not np.array_equal(a.signals[0].value, c.signals[0].value)


@pytest.mark.parametrize("method", [name for name in METHODS if name != "GPSampler"])
def test_every_method_spends_its_budget_and_no_more(method, tmp_path):
    case = Case(method, "original", "fixed", 0, 4)
    run_case(case, tmp_path)
    run = load(case, tmp_path)
    assert run.X.shape == (4, 3)
    assert np.all((run.X >= LOW) & (run.X <= HIGH))
    assert np.array_equal(np.isnan(run.loss), run.kind != "")


def test_a_run_that_is_there_is_not_run_again(tmp_path):
    case = Case("random", "original", "fixed", 0, 2)
    (tmp_path / case.file_name).write_bytes(b"done before")
    assert run_case(case, tmp_path).read_bytes() == b"done before"


def test_methods_with_a_smaller_budget_of_their_own_keep_to_it():
    assert {case.n_evals for case in cases(["TPE"], ["original"], ["fixed"], 2, 500)} == {200}
    assert {case.n_evals for case in cases(["ScaledEI"], ["original"], ["fixed"], 2, 500)} == {500}


WRONG = [
    (["magic"], ["original"], ["fixed"]),
    (["EI"], ["new"], ["fixed"]),
    (["EI"], ["original"], ["loud"]),
]


@pytest.mark.parametrize("names", WRONG)
def test_an_unknown_name_is_refused(names):
    with pytest.raises(UnknownNameError, match=r"expected a .* among .*; got .*; try"):
        cases(*names, 2, 10)


def test_a_method_whose_package_is_missing_is_refused_before_anything_runs(monkeypatch):
    monkeypatch.setattr("surefoot.paper.studies.pulmonary.methods.find_spec", lambda name: None)
    check_installed(["ScaledEI", "random"])
    with pytest.raises(MissingExtraError, match=r"expected torch|expected optuna for the method GPSampler.*try pip"):
        check_installed(["GPSampler"])


def test_the_reference_spends_its_budget_and_is_read_back(tmp_path):
    run_any(reference_case("original", 8), tmp_path)
    found = load_reference(tmp_path, "original", 8)
    assert found["n_evals"] == 8
    assert found["loss"] > 2500
    assert load_reference(tmp_path, "published", 8) == {}


def test_the_best_and_the_failures_of_a_run_are_counted():
    run = run_of([5.0, np.nan, 3.0, 4.0])
    np.testing.assert_array_equal(run.trace, [5.0, 5.0, 3.0, 3.0])
    np.testing.assert_array_equal(run.best(2), run.X[0])
    np.testing.assert_array_equal(run.best(4), run.X[2])
    assert run.failed(4) == 1


def test_tables_and_figures_are_written_from_the_runs(tmp_path):
    raw = tmp_path / "raw"
    rng = np.random.default_rng(0)
    runs = tuple(run_of(np.where(rng.random(120) < 0.1, np.nan, 2800 + rng.random(120))) for _ in range(3))
    groups = [Group(method, "original", "fixed", runs, 2799.0) for method in ("ScaledEI", "ignore")]
    text = write_tables(groups, tmp_path)
    assert "| original | fixed | 100 |" in text
    assert f"{PAPER[100][1][0]:.0f}" in text
    assert METHODS["ignore"].label in text
    lines = (tmp_path / "runs.csv").read_text().splitlines()
    assert lines[0] == "method,variant,noise,seed,n,f_L,f_S,xi,loss,failed"
    assert len(lines) == 1 + 2 * 3 * 2
    names = {path.name for path in draw(groups, tmp_path)}
    assert names == {"trace.png", "comparison-original.png", "success-original.png"}
    assert groups_of([], raw) == []


def test_a_run_becomes_a_result_with_its_failures_learned():
    result = result_of(run_of([5.0, np.nan, 3.0, 4.0, np.nan]))
    assert (result.nfev, result.n_failures) == (5, 2)
    assert result.fun == pytest.approx(np.sqrt(3.0))


def test_a_patient_of_the_coverage_study_is_reproducible_and_runs():
    a, b = coverage.random_patient("original", 3), coverage.random_patient("original", 3)
    assert a.truth == b.truth
    assert a.truth != coverage.random_patient("original", 4).truth
    assert {s.noise_from for s in coverage.without_noise_levels(a)} == {"estimated"}


def test_coverage_counts_the_truths_inside_central_intervals(tmp_path):
    cases_ = coverage.coverage_cases(["published"], ["given"], 4, 30)
    for case, rank in zip(cases_, (0.5, 0.04, 0.96, 0.2), strict=True):
        document = {"truth": [3e5, 5e4, 2.7], "estimate": [3.1e5, 5e4, 2.7], "rank": [rank] * 3, "sd": [1e4, 1e3, 1e-3],
                    "emulator_error": 0.01, "converged": True}  # fmt: skip
        (tmp_path / case.file_name).write_text(json.dumps(document))
    rows = coverage.summarize_coverage(cases_, tmp_path)
    assert rows[0].covered(0.9)[:, 0].tolist() == [True, False, False, True]
    text = coverage.write_coverage(rows, tmp_path)
    assert "| published | given | all | 4 | " in text
    drawn = draw_coverage(rows, tmp_path / "coverage.png").read_bytes()
    assert len(drawn) > 5000
    again = coverage.recorded_coverage(tmp_path)  # from coverage.csv alone
    np.testing.assert_allclose(again[0].error, rows[0].error, rtol=1e-5)
    np.testing.assert_allclose(again[0].sd, rows[0].sd)
    assert draw_coverage(again, tmp_path / "again.png").read_bytes() == drawn


@pytest.mark.slow
def test_one_patient_of_the_coverage_study_is_inferred(tmp_path):
    path = coverage.run_coverage(coverage.CoverageCase("original", "given", 0, 40), tmp_path)
    found = json.loads(path.read_text())
    assert found["converged"]
    assert all(0.0 <= rank <= 1.0 for rank in found["rank"])


def test_an_unknown_noise_level_is_refused():
    with pytest.raises(UnknownNameError, match=r"expected a noise level among given, estimated; got 'guessed'"):
        coverage.coverage_cases(["published"], ["guessed"], 2, 30)


def test_the_plan_of_the_studies_is_the_default_one():
    assert Plan().n_init == 30


def test_the_standard_error_is_that_of_the_mean():
    assert standard_error(np.array([1.0, 2.0, 3.0])) == pytest.approx(1.0 / np.sqrt(3.0))
