"""Every failure is one of the named kinds, and says where, when and why."""

import pickle

import numpy as np
import pytest

from surefoot.errors import InvalidInputError, SurefootError
from surefoot.pulmonary import (
    NOMINAL,
    PARAMETER_BOX,
    Ejection,
    FailureKind,
    Grid,
    Settings,
    Simulation,
    SimulationFailure,
    simulate,
    simulate_many,
)
from surefoot.pulmonary.kernels.beat import COLLAPSED, NOT_FINITE
from surefoot.pulmonary.model import build_model, march_beat


def test_a_high_ratio_of_stiffnesses_fails_in_the_matching_within_the_first_steps() -> None:
    with pytest.raises(SimulationFailure) as caught:
        simulate(1.4e5, 1.0e5, 2.7, variant="original")
    assert caught.value.kind is FailureKind.MATCHING
    assert caught.value.vessel in {"RIA", "RTA", "LIA", "LTA"}
    assert 0.0 < (caught.value.time_s or 0.0) < 0.01


def test_a_message_says_what_was_expected_what_came_and_what_to_try() -> None:
    with pytest.raises(SimulationFailure, match=r"expected 6 beats, got a matching failure in .* s .*; lower f_S/f_L"):
        simulate(1.4e5, 1.0e5, 2.7, variant="original")


def test_steps_that_are_too_long_fail_as_cfl() -> None:
    with pytest.raises(SimulationFailure) as caught:
        simulate(*NOMINAL, settings=Settings(grid=Grid(4, 256)))
    assert caught.value.kind is FailureKind.CFL
    assert caught.value.time_s == pytest.approx(0.70 / 256)


def test_an_absurd_inflow_fails_with_a_named_kind() -> None:
    with pytest.raises(SimulationFailure) as caught:
        simulate(*NOMINAL, settings=Settings(inflow=Ejection(mean_ml_s=1e5)))
    assert caught.value.kind in set(FailureKind)


@pytest.mark.parametrize(("value", "status"), [(np.nan, NOT_FINITE), (np.inf, NOT_FINITE), (-1.0, COLLAPSED)])
def test_impossible_areas_stop_the_beat_before_the_next_step(value: float, status: int) -> None:
    model = build_model(*NOMINAL, Settings())
    state = model.start
    state.A[7] = value
    beat = march_beat(model, state, convolve=False)
    assert (beat.status, beat.slot, beat.step) == (status, 7, 1)


def test_a_failure_survives_pickling() -> None:
    failure = SimulationFailure(FailureKind.CFL, "MPA", 0.1, "because")
    assert pickle.loads(pickle.dumps(failure)) == failure


def test_a_failure_is_an_error_of_the_package() -> None:
    assert issubclass(SimulationFailure, SurefootError)


@pytest.mark.parametrize("vector", [(-1.0, 5e4, 2.76), (2.6e5, 0.0, 2.76), (2.6e5, 5e4, np.nan), (2.6e5, np.inf, 2.76)])
def test_unphysical_parameters_are_refused(vector: tuple[float, float, float]) -> None:
    with pytest.raises(InvalidInputError, match=r"expected .* finite number above zero, got .*; the paper has"):
        simulate(*vector)


def test_an_atrial_pressure_that_no_area_can_hold_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="left atrial pressure"):
        simulate(1e3, 5e4, 2.76)


def wide_box(count: int, seed: int) -> np.ndarray:
    """Random vectors of a box twice as wide in every direction; part of it is below zero."""
    low, high = np.array(PARAMETER_BOX).T
    middle, half = 0.5 * (low + high), 0.5 * (high - low)
    return np.random.default_rng(seed).uniform(middle - 2 * half, middle + 2 * half, size=(count, 3))


def check_outcomes(vectors: np.ndarray, variant: str) -> None:
    outcomes = simulate_many(vectors, variant=variant, n_workers=1)
    assert len(outcomes) == len(vectors)
    for outcome in outcomes:
        if isinstance(outcome, Simulation):
            assert np.all(np.isfinite(outcome.pressure_mmHg))
            assert np.all(np.isfinite(outcome.flow_ml_s))
        else:
            assert outcome.kind in set(FailureKind)


@pytest.mark.parametrize("variant", ["original", "published"])
def test_random_vectors_of_a_wide_box_end_in_a_finite_result_or_a_named_failure(variant: str) -> None:
    check_outcomes(wide_box(25, 11), variant)


@pytest.mark.slow
@pytest.mark.parametrize("variant", ["original", "published"])
def test_a_thousand_random_vectors_end_in_a_finite_result_or_a_named_failure(variant: str) -> None:
    check_outcomes(wide_box(1000, 12), variant)
