"""The pulmonary report: what is known, how well, against what, and on whose word."""

import dataclasses
import math
import re
from pathlib import Path

import numpy as np
import pytest

from surefoot.inference.result import Inference
from surefoot.pulmonary import NOMINAL
from surefoot.reports.pulmonary import write_report
from surefoot.reports.pulmonary.document import report
from surefoot.reports.pulmonary.words import (
    FAILURES,
    INDICATORS,
    REFERENCE_MPA_MMHG,
    SOURCES,
    VESSELS,
    compared,
    correlation_words,
    interval_of,
    pressure_words,
    shown,
)

pytest.importorskip("matplotlib")


@pytest.fixture(scope="module")
def page(inference: Inference) -> str:
    return report(inference)


def moved(inference: Inference, factor: float) -> Inference:
    """The same with all intervals and the estimate moved away from the reference."""
    posterior = inference.posterior
    intervals = tuple(
        dataclasses.replace(i, low=factor * i.low, high=factor * i.high, mean=factor * i.mean)
        for i in posterior.intervals
    )
    return dataclasses.replace(inference, posterior=dataclasses.replace(posterior, intervals=intervals))


def test_it_says_first_that_it_is_no_medical_device(page: str, read) -> None:
    assert read(page).text("aside").startswith("Research software, not a medical device")


def test_the_three_indicators_are_shown_with_their_intervals(inference: Inference, page: str, read) -> None:
    facts = read(page).text("dd") + read(page).text("small")
    for indicator in INDICATORS:
        interval = interval_of(inference, indicator)
        for value in shown(inference, indicator, interval.median, interval.low, interval.high):
            assert value in facts


def test_what_stands_beside_an_interval_lies_in_it_wherever_the_best_fit_is(small: Inference, read) -> None:
    outside = tuple(interval.high + interval.sd for interval in small.posterior.intervals)
    reading = read(report(dataclasses.replace(small, estimate=outside)))
    for value, remark in zip(reading.text("dd").split(" interval ")[:-1], small.posterior.intervals, strict=True):
        number = float(re.findall(r"[\d.]+", value)[-2 if "%" in value else -1])
        factor = next(i.factor for i in INDICATORS if i.name == remark.name)
        assert remark.low <= number * factor <= remark.high
    for indicator, best in zip(INDICATORS, outside, strict=True):
        assert shown(small, indicator, best)[0] in reading.text("td")  # the best fit is in the table, named so
    assert "best fit" in reading.text("th")


def test_stiffness_is_shown_in_kpa(inference: Inference) -> None:
    assert shown(inference, INDICATORS[0], 2.612e5) == ["26.12"]


def test_without_a_posterior_no_interval_is_pretended(small: Inference, read) -> None:
    text = read(report(dataclasses.replace(small, posterior=None))).text()
    assert "no interval was computed" in text
    assert "nothing is known of the uncertainty" in text


@pytest.mark.parametrize(
    ("factor", "words"),
    [(1.0, ["not distinguishable"] * 3), (1.1, ["above: stiffer large", "above: stiffer small", "above: a denser"])],
)
def test_an_indicator_is_compared_with_the_reference(inference: Inference, factor: float, words: list) -> None:
    told = [compared(moved(inference, factor), indicator) for indicator in INDICATORS]
    assert all(found.startswith(word) for found, word in zip(told, words, strict=True))


def test_a_low_exponent_is_called_rarefaction(inference: Inference) -> None:
    assert "rarefaction" in compared(moved(inference, 0.9), INDICATORS[2])


def test_the_reference_is_not_called_normal(page: str, read) -> None:
    assert "No normal range of these three indicators has been measured" in read(page).text("aside")


def test_the_pressure_at_the_reference_is_what_the_report_says(beat) -> None:
    assert round(float(beat.get("p_MPA").mean()), 1) == REFERENCE_MPA_MMHG


@pytest.mark.parametrize(
    ("scale", "verdict"),
    [
        (1.0, "as in healthy people, and not above 20 mmHg"),
        (19.1 / REFERENCE_MPA_MMHG, "not above 20 mmHg, the limit of pulmonary hypertension, but higher than in most"),
        (2.0, "above 20 mmHg, the limit beyond which pulmonary hypertension is defined"),
        (0.3, "lower than in healthy people"),
    ],
)
def test_the_mean_pressure_is_compared_with_healthy_people(inference: Inference, scale: float, verdict: str) -> None:
    fit = dataclasses.replace(inference.fit, pressure_mmHg=scale * inference.fit.pressure_mmHg)
    assert verdict in pressure_words(dataclasses.replace(inference, fit=fit))


def test_a_pressure_that_was_not_measured_is_called_predicted(inference: Inference) -> None:
    data = inference.data.select(["q_MPA"])
    assert "predicted by the model, not measured" in pressure_words(dataclasses.replace(inference, data=data))


def test_every_source_that_is_cited_is_listed_and_the_other_way_round(page: str, read) -> None:
    assert {int(n) for n in re.findall(r"\[(\d)\]", read(page).text())} == set(range(1, len(SOURCES) + 1))


def test_every_measured_signal_is_drawn_with_its_fit(inference: Inference, page: str, read) -> None:
    titles = read(page).text("title")
    assert titles.count("Pressure in the") == titles.count("Flow in the") == 11


def test_a_subset_of_signals_is_reported(inference: Inference, read) -> None:
    names = ("p_MPA", "p_LIA")
    residuals = tuple(r for r in inference.residuals if r.name in names)
    some = dataclasses.replace(inference, data=inference.data.select(names), residuals=residuals)
    reading = read(report(some))
    assert reading.text("title").count("Pressure in the") == 2
    assert "No flow was measured." in reading.text()


def test_the_network_is_drawn_with_all_its_vessels(page: str, read) -> None:
    assert all(f"{name} " in read(page).text("text") for name in VESSELS)


def test_a_good_fit_is_called_good(page: str, read) -> None:
    assert "explains the measurements to within their noise" in read(page).text()


def test_a_poor_fit_is_called_poor(small: Inference, read) -> None:
    residuals = tuple(dataclasses.replace(r, chi2_per_value=1.4) for r in small.residuals)
    text = read(report(dataclasses.replace(small, residuals=residuals))).text()
    assert "does not explain the measurements to within their noise, so the intervals are too narrow" in text


def test_indicators_that_cannot_be_told_apart_are_named(inference: Inference) -> None:
    close = np.array([[1.0, 0.95, 0.0], [0.95, 1.0, 0.0], [0.0, 0.0, 1.0]])
    posterior = dataclasses.replace(inference.posterior, correlation=close)
    words = correlation_words(dataclasses.replace(inference, posterior=posterior))
    assert words.startswith("f<sub>L</sub> and f<sub>S</sub> are hard to tell apart (correlation 0.95)")


def test_sampling_that_did_not_settle_is_a_warning(small: Inference, read) -> None:
    rough = dataclasses.replace(small, posterior=dataclasses.replace(small.posterior, converged=False))
    assert "take the intervals as rough" in read(report(rough)).text("aside")


def test_an_estimate_outside_its_interval_is_pointed_out(small: Inference, read) -> None:
    estimate = (*small.estimate[:2], small.posterior.intervals[2].low - 1e-6)
    text = read(report(dataclasses.replace(small, estimate=estimate))).text("aside")
    assert "outside the interval of the branching exponent" in text


def test_an_interval_that_ends_at_a_bound_is_pointed_out(small: Inference, read) -> None:
    posterior = small.posterior
    first = dataclasses.replace(posterior.intervals[0], at_bound=True)
    bound = dataclasses.replace(posterior, intervals=(first, *posterior.intervals[1:]))
    assert "touches the end of the range" in read(report(dataclasses.replace(small, posterior=bound))).text()


def test_the_truth_of_synthetic_data_is_shown_and_only_then(small: Inference, page: str, read) -> None:
    assert "the truth is known" in read(page).text("caption")
    patient = dataclasses.replace(small, data=dataclasses.replace(small.data, truth=None))
    text = read(report(patient)).text()
    assert "truth" not in text
    assert "ynthetic" not in text
    assert "simulated" not in text.split("In short")[0]


def test_what_the_waveforms_are_is_said(small: Inference, read) -> None:
    assert "Inferred from 2 simulated waveforms (patient <7>.csv), pressure and flow in 1 vessel" in read(
        report(small)
    ).text("p")
    data = dataclasses.replace(small.data, truth=None, source="ward.csv").select(["p_MPA"])
    patient = dataclasses.replace(small, data=data, residuals=small.residuals[:1])
    assert "Inferred from 1 measured waveform (ward.csv), pressure in 1 vessel" in read(report(patient)).text("p")


def test_arteries_are_called_as_anatomy_calls_them() -> None:
    assert (VESSELS["RIA"], VESSELS["LIA"]) == ("right interlobar artery", "left interlobar artery")


def test_failed_simulations_are_counted_and_mapped(inference: Inference, page: str, read) -> None:
    reading = read(page)
    assert f"{inference.n_failures} of the {inference.n_evals} simulations of the search failed" in reading.text()
    assert FAILURES["matching"] in reading.text("td")
    assert "probability of success over Large-vessel stiffness (kPa) and Branching exponent" in reading.text("title")


def test_no_failed_simulation_is_said(small: Inference, read) -> None:
    fine = dataclasses.replace(small, evaluations=tuple(e for e in small.evaluations if e.ok))
    assert "of the search failed." in read(report(fine)).text()


def test_every_kind_of_failure_has_words() -> None:
    from surefoot.pulmonary import FailureKind

    assert set(FAILURES) == {str(kind) for kind in FailureKind}


def test_notes_of_the_inference_are_passed_on(small: Inference, read) -> None:
    data = dataclasses.replace(small.data, notes=("p_MPA: 3 of 256 values missing, left out",))
    noted = dataclasses.replace(small, data=data, notes=("the estimate lies <on> a bound",))
    text = read(report(noted)).text("aside")
    assert "the estimate lies <on> a bound" in text
    assert "3 of 256 values missing" in text


def test_the_name_of_the_file_is_escaped(page: str) -> None:
    assert "patient &lt;7&gt;.csv" in page
    assert "patient <7>" not in page


def test_ids_are_unique(page: str, read) -> None:
    ids = read(page).ids
    assert len(ids) == len(set(ids))


def test_a_saved_inference_gives_the_same_report(small: Inference, tmp_path: Path) -> None:
    small.save(tmp_path / "inference.json")
    again = Inference.load(tmp_path / "inference.json")
    pages = [re.sub("written [^<]*", "", write_report(i, tmp_path / "r.html").read_text()) for i in (small, again)]
    assert pages[0] == pages[1]


def test_a_page_is_small_enough_to_send(page: str) -> None:
    assert len(page) < 1_500_000


def test_the_nominal_values_are_the_reference(page: str, inference: Inference, read) -> None:
    cells = read(page).text("td")
    for indicator, value in zip(INDICATORS, NOMINAL, strict=True):
        assert shown(inference, indicator, value)[0] in cells
    assert math.isclose(NOMINAL[0] / INDICATORS[0].factor, 26.0)
