"""A whole inference: from signals to an estimate with intervals."""

import json
from dataclasses import replace

import numpy as np
import pytest

from surefoot.calibration.notes import beyond_intervals
from surefoot.calibration.result import Interval
from surefoot.errors import InvalidInputError
from surefoot.inference.infer import Plan, infer
from surefoot.inference.plots import plot_posterior, save_plots
from surefoot.inference.result import NAMES, Inference
from surefoot.optimize.history import History

TINY = Plan(n_evals=5, n_init=4)


def test_the_truth_is_found_within_the_posterior_s_width(inferred):
    for interval, truth in zip(inferred.posterior.intervals, inferred.data.truth, strict=True):
        assert abs(interval.mean - truth) < 4 * interval.sd


def test_the_estimate_is_the_best_of_all_that_was_simulated(inferred):
    assert inferred.loss <= np.nanmin(inferred.loss_trace)
    assert inferred.loss == pytest.approx(inferred.data.n_values / 2, rel=0.3)


def test_the_fit_explains_the_data(inferred):
    assert [residual.name for residual in inferred.residuals] == list(inferred.data.names)
    for residual in inferred.residuals:
        assert residual.chi2_per_value < 1.8
    assert inferred.notes == ()


def test_evaluations_failures_and_settings_are_recorded(inferred):
    assert inferred.n_evals == 12
    assert sum(inferred.failures.values()) == inferred.n_failures
    assert inferred.settings["policy"] == "ScaledEI"
    assert inferred.model["variant"]["name"] == "original"
    assert {"surefoot", "numba", "emcee"} <= set(inferred.versions)


def test_progress_is_shown_during_the_posterior_too(inferred, shown):
    n = inferred.posterior.n_simulations
    assert "12/12" in shown.getvalue()
    assert f"{n}/{max(n, 53)} round {inferred.posterior.n_rounds}: error" in " ".join(shown.getvalue().split())


def test_a_result_survives_being_saved(inferred, tmp_path):
    inferred.save(tmp_path / "result.json")
    back = Inference.load(tmp_path / "result.json")
    assert back.estimate == inferred.estimate
    assert back.bounds == inferred.bounds
    assert [e.x for e in back.evaluations] == [e.x for e in inferred.evaluations]
    assert back.residuals == inferred.residuals
    assert back.posterior.intervals == inferred.posterior.intervals
    np.testing.assert_array_equal(back.posterior.samples, inferred.posterior.samples)
    np.testing.assert_array_equal(back.fit.get("q_MPA"), inferred.fit.get("q_MPA"))
    np.testing.assert_array_equal(back.data.get("p_MPA").value, inferred.data.get("p_MPA").value)


@pytest.mark.parametrize("text", ["{}", "not json", json.dumps({"format": "surefoot-history-1"})])
def test_a_file_that_is_no_result_is_refused(tmp_path, text):
    (tmp_path / "other.json").write_text(text)
    with pytest.raises(InvalidInputError, match=r"expected a file written by Inference.save"):
        Inference.load(tmp_path / "other.json")


def test_figures_are_drawn(inferred, tmp_path):
    paths = save_plots(inferred, tmp_path / "figures")
    assert [path.name for path in paths] == ["posterior.png", "fit.png", "trace.png"]
    assert all(path.stat().st_size > 10_000 for path in paths)


def test_without_a_posterior_there_is_none_and_no_picture_of_it(small_patient):
    found = infer(small_patient, plan=TINY, posterior=False)
    assert found.posterior is None
    with pytest.raises(InvalidInputError, match=r"expected an inference with a posterior"):
        plot_posterior(found)


def test_a_stopped_inference_goes_on_where_it_was(small_patient, tmp_path):
    path = tmp_path / "history.json"
    first = infer(small_patient, plan=TINY, posterior=False, history_path=path)
    assert len(History.load(path)) == 5
    more = infer(small_patient, plan=replace(TINY, n_evals=7), posterior=False, history_path=path)
    whole = infer(small_patient, plan=replace(TINY, n_evals=7), posterior=False)
    assert [e.x for e in more.evaluations[:5]] == [e.x for e in first.evaluations]
    assert [e.x for e in more.evaluations] == [e.x for e in whole.evaluations]


def test_evaluations_of_other_data_are_refused(small_patient, patient, tmp_path):
    path = tmp_path / "history.json"
    infer(small_patient, plan=TINY, posterior=False, history_path=path)
    with pytest.raises(InvalidInputError, match=r"expected the evaluations .* to belong to this data"):
        infer(patient, plan=TINY, posterior=False, history_path=path)


def test_two_workers_evaluate_as_many(small_patient):
    found = infer(small_patient, plan=replace(TINY, n_evals=8), posterior=False, n_workers=2)
    assert found.n_evals == 8


def test_residuals_larger_than_the_noise_are_reported(small_patient):
    sure = tuple(replace(signal, noise_sd=signal.noise_sd / 10) for signal in small_patient)
    found = infer(replace(small_patient, signals=sure), plan=TINY, posterior=False)
    assert any("the model does not explain this signal" in note for note in found.notes)


@pytest.mark.parametrize(("change", "message"), [({"level": 1.5}, "level"), ({"n_workers": 0}, "n_workers")])
def test_settings_that_make_no_sense_are_refused(small_patient, change, message):
    with pytest.raises(InvalidInputError, match=f"expected .*{message}.*got .*try"):
        infer(small_patient, plan=TINY, **change)


def test_the_names_are_those_of_the_bounds(inferred):
    assert NAMES == ("f_L", "f_S", "xi")
    assert len(inferred.bounds) == 3


def test_a_best_fit_outside_its_own_interval_is_said():
    inside = Interval("f_L", 3.2e5, 7e3, 3.2e5, 3.06e5, 3.3e5, 0.9, False)
    beside = Interval("f_S", 6e4, 1e3, 6e4, 5.9e4, 6.1e4, 0.9, False)
    far = Interval("xi", 2.6038, 0.0006, 2.6038, 2.6028, 2.6049, 0.9, False)
    notes = beyond_intervals((3.174e5, 6.15e4, 2.5971), (inside, beside, far))
    assert len(notes) == 1
    assert "xi" in notes[0]
    assert "2.5971" in notes[0]
