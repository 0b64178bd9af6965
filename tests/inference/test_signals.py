"""Measured signals: what is accepted, what is refused and in which words."""

import numpy as np
import pytest

from surefoot.errors import InvalidInputError
from surefoot.inference.noise import estimate_noise_sd
from surefoot.inference.signals import make_signal, signal_names

T = 0.7
TIMES = T / 64 * np.arange(64)
PRESSURE = 15.0 + 8.0 * np.sin(2 * np.pi * TIMES / T) + 0.5 * np.random.default_rng(0).standard_normal(64)


def test_there_are_22_names():
    assert len(signal_names()) == 22
    assert {"p_MPA", "q_MPA", "p_LSV", "q_LSV"} <= set(signal_names())


def test_a_gap_is_left_out_and_noted():
    values = PRESSURE.copy()
    values[10:14] = np.nan
    signal, notes = make_signal("p_MPA", TIMES, values, T)
    assert signal.value.size == 60
    assert notes == ["p_MPA: 4 of 64 values missing, left out"]


def test_several_beats_are_folded_into_one():
    times, values = np.concatenate([TIMES, TIMES + T]), np.concatenate([PRESSURE, PRESSURE])
    signal, _ = make_signal("p_MPA", times, values, T)
    assert signal.time_s.max() < T
    np.testing.assert_allclose(signal.value[::2], PRESSURE)


def test_a_given_noise_level_is_kept_and_a_missing_one_is_estimated():
    given, _ = make_signal("p_MPA", TIMES, PRESSURE, T, 0.7)
    estimated, _ = make_signal("p_MPA", TIMES, PRESSURE, T)
    assert (given.noise_sd, given.noise_from) == (0.7, "given")
    assert estimated.noise_from == "estimated"
    assert estimated.noise_sd == pytest.approx(0.5, rel=0.25)


@pytest.mark.parametrize("sd", [0.0, -1.0, float("nan")])
def test_an_impossible_noise_level_is_refused(sd):
    with pytest.raises(InvalidInputError, match=r"expected a noise standard deviation above 0 for p_MPA; got .*; try"):
        make_signal("p_MPA", TIMES, PRESSURE, T, sd)


def test_a_constant_signal_is_refused():
    with pytest.raises(InvalidInputError, match=r"expected p_MPA to vary.*constant 15.*try without"):
        make_signal("p_MPA", TIMES, np.full(64, 15.0), T)


def test_an_unknown_name_is_refused():
    with pytest.raises(InvalidInputError, match=r"expected a signal among .*got 'p_AORTA'; try"):
        make_signal("p_AORTA", TIMES, PRESSURE, T)


def test_too_few_values_are_refused():
    with pytest.raises(InvalidInputError, match=r"expected at least 4 values of p_MPA; got 3"):
        make_signal("p_MPA", TIMES[:3], PRESSURE[:3], T, 1.0)


def test_too_few_values_to_estimate_the_noise_need_a_level():
    with pytest.raises(InvalidInputError, match=r"expected the noise level of p_MPA.*try a column sd_p_MPA"):
        make_signal("p_MPA", TIMES[::4], PRESSURE[::4], T)


@pytest.mark.parametrize(("factor", "unit"), [(133.322, "Pa"), (1333.22, "dyn_cm2"), (0.133322, "kPa")])
def test_pressure_in_another_unit_is_recognized(factor, unit):
    with pytest.raises(InvalidInputError, match=rf"try naming the column p_MPA_{unit}: the values look like {unit}"):
        make_signal("p_MPA", TIMES, factor * PRESSURE, T)


def test_flow_in_litres_per_minute_is_recognized():
    with pytest.raises(InvalidInputError, match=r"try naming the column q_RTA_l_min"):
        make_signal("q_RTA", TIMES, 0.06 * PRESSURE, T)


def test_venous_flow_with_the_opposite_sign_is_refused():
    with pytest.raises(InvalidInputError, match=r"expected a negative mean flow .*q_LIV; got .*try the opposite sign"):
        make_signal("q_LIV", TIMES, 60.0 + PRESSURE, T)


def test_backward_flow_in_an_artery_is_refused():
    with pytest.raises(
        InvalidInputError, match=r"expected a positive mean flow for q_MPA; got .*try the opposite sign"
    ):
        make_signal("q_MPA", TIMES, -100.0 - PRESSURE, T)


@pytest.mark.parametrize("n", [48, 256])
def test_the_estimated_noise_level_is_right_on_average(n):
    rng, times = np.random.default_rng(1), T / n * np.arange(n)
    clean = 15 + 6 * np.sin(2 * np.pi * times / T) + 3 * np.cos(6 * np.pi * times / T) + np.sin(14 * np.pi * times / T)
    found = [estimate_noise_sd(times, clean + 0.8 * rng.standard_normal(n), T) for _ in range(60)]
    assert np.mean(found) == pytest.approx(0.8, rel=0.05)


def test_the_estimated_noise_levels_of_a_patient_are_near_the_true_ones(patient):
    for signal in patient:
        assert estimate_noise_sd(signal.time_s, signal.value, T) == pytest.approx(signal.noise_sd, rel=0.2)


def test_the_signal_to_noise_ratio_is_as_asked(patient):
    assert patient.get("p_MPA").snr_db == pytest.approx(10.0, abs=0.7)


def test_signals_can_be_selected_by_name(patient):
    assert patient.select(["q_MPA", "p_MPA"]).names == ("p_MPA", "q_MPA")
    with pytest.raises(InvalidInputError, match=r"got p_XYZ"):
        patient.select(["p_XYZ"])
