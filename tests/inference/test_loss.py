"""The loss, reading a simulation off at measured times, and synthetic data."""

from dataclasses import replace

import numpy as np
import pytest

from surefoot.calibration.loss import Loss
from surefoot.errors import InvalidInputError, UnknownNameError
from surefoot.inference.lungs import Lungs, reader, root_loss, settings_for, waveforms
from surefoot.inference.synthesize import synthesize
from surefoot.pulmonary import FlowTable, Settings, SimulationFailure, simulate

T = 0.7
GRID = T / 256 * np.arange(1, 257)


@pytest.fixture(scope="module")
def beat():
    return waveforms(simulate(3.0e5, 5.0e4, 2.7))


def loss_of(data, beat, name="likelihood"):
    loss = Loss(data.signals, name)
    return loss(loss.predicted(Lungs(data, Settings()).shown(beat)))


def test_at_the_simulated_times_the_samples_themselves_are_read(beat):
    np.testing.assert_allclose(reader(GRID, T) @ beat.get("q_MPA"), beat.get("q_MPA"), rtol=0, atol=1e-9)


def test_between_them_a_smooth_wave_is_read_with_fourth_order_accuracy():
    times = np.random.default_rng(0).random(50) * T
    wave = np.sin(4 * np.pi * GRID / T)
    np.testing.assert_allclose(reader(times, T) @ wave, np.sin(4 * np.pi * times / T), atol=1e-6)


def test_the_likelihood_loss_is_half_the_sum_of_squared_residuals_over_the_noise(beat, patient):
    total = 0.0
    for signal in patient:
        wave = np.roll(beat.get(signal.name), 1)  # the data begin at t = 0, which is the beat's last sample
        total += 0.5 * float(np.sum(((signal.value - wave) / signal.noise_sd) ** 2))
    assert loss_of(patient, beat) == pytest.approx(total, rel=1e-9)


def test_the_l2_loss_is_the_paper_s_sum_of_squares(beat, patient):
    total = sum(float(np.sum((s.value - np.roll(beat.get(s.name), 1)) ** 2)) for s in patient)
    assert loss_of(patient, beat, "l2") == pytest.approx(total, rel=1e-9)


def test_the_mean_loss_compares_cycle_means(beat, patient):
    total = 0.0
    for s in patient:
        total += 0.5 * 256 * float(np.mean(s.value) - np.mean(beat.get(s.name))) ** 2 / s.noise_sd**2
    assert loss_of(patient, beat, "mean") == pytest.approx(total, rel=1e-6)


def test_at_the_truth_the_loss_is_half_the_number_of_values_and_noise_explains_it(beat, patient):
    n = patient.n_values
    assert abs(loss_of(patient, beat) - n / 2) < 4 * np.sqrt(n / 2)
    loss = Loss(patient.signals)
    for residual in loss.residuals(loss.predicted(Lungs(patient, Settings()).shown(beat))):
        assert residual.chi2_per_value == pytest.approx(1.0, abs=0.4)


def test_a_subset_of_the_signals_is_a_part_of_the_loss(beat, patient):
    parts = [loss_of(patient.select([name]), beat) for name in patient.names]
    assert sum(parts) == pytest.approx(loss_of(patient, beat))


def test_an_unknown_loss_is_refused(patient):
    with pytest.raises(UnknownNameError, match=r"expected a loss among likelihood, l2, mean; got 'l1'"):
        Loss(patient.signals, "l1")


def test_signals_of_a_vessel_the_simulator_has_not_are_refused(patient):
    other = replace(patient, signals=(replace(patient.signals[0], vessel="AORTA"),))
    with pytest.raises(InvalidInputError, match=r"got p_AORTA"):
        settings_for(other, Settings())


def test_the_same_seed_makes_the_same_patient_whichever_signals_are_kept(patient):
    again = synthesize((3.0e5, 5.0e4, 2.7), seed=1, names=("q_LSV",))
    np.testing.assert_array_equal(again.get("q_LSV").value, patient.get("q_LSV").value)


def test_noise_is_never_below_the_instruments_resolution(patient):
    assert patient.get("p_RIV").noise_sd == 0.1
    strict = synthesize((3.0e5, 5.0e4, 2.7), seed=1, resolution=(0.0, 0.0))
    assert strict.get("p_RIV").noise_sd < 0.01


@pytest.mark.parametrize(
    ("change", "message"),
    [({"names": ("p_XYZ",)}, "got 'p_XYZ'"), ({"snr_db": np.nan}, "finite SNR"), ({"n_samples": 2}, "at least 4")],
)
def test_a_patient_that_cannot_be_made_is_refused(change, message):
    with pytest.raises(InvalidInputError, match=message):
        synthesize((3.0e5, 5.0e4, 2.7), **change)


def test_data_at_another_sampling_rate_fit_the_truth_as_well(beat):
    few = synthesize((3.0e5, 5.0e4, 2.7), seed=2, n_samples=100)
    assert loss_of(few, beat) == pytest.approx(few.n_values / 2, rel=0.1)


def test_an_inflow_is_stretched_to_the_patient_s_beat_and_its_mean_kept(patient):
    slow, notes = settings_for(replace(patient, period_s=0.9), Settings())
    t = np.linspace(0.0, 0.9, 2000, endpoint=False)
    assert slow.inflow.period_s == 0.9
    assert slow.inflow.at(t).mean() == pytest.approx(110.0, rel=1e-3)
    assert "stretched" in notes[0]
    table = FlowTable((0.0, 0.2, 0.5, 0.7), (0.0, 300.0, 50.0, 0.0))
    assert settings_for(replace(patient, period_s=0.9), Settings(inflow=table))[0].inflow.period_s == 0.9


def test_what_is_minimized_is_the_root_of_the_loss(beat, patient):
    root = root_loss(patient, Settings())
    assert root([3.0e5, 5.0e4, 2.7]) ** 2 == pytest.approx(loss_of(patient, beat))
    assert root({"f_L": 3.0e5, "f_S": 5.0e4, "xi": 2.7}) == root((3.0e5, 5.0e4, 2.7))


def test_a_failed_simulation_says_its_kind_first(patient):
    with pytest.raises(SimulationFailure, match=r"^matching: expected"):
        root_loss(patient, Settings())([1.4e5, 1.0e5, 2.7])
