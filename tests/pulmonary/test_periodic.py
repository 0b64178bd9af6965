"""Acceleration reaches the state that plain stepping reaches, and says how periodic it is."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from surefoot.pulmonary import (
    NOMINAL,
    FailureKind,
    Settings,
    Simulation,
    SimulationFailure,
    Status,
    Variant,
    simulate,
)

Run = Callable[[str], Simulation]
PLAIN = replace(Variant(), accelerate=False, max_beats=300, target_mmHg=3e-4)


@pytest.mark.parametrize("vector", [NOMINAL, (5.0e5, 3.0e4, 2.40), (2.0e5, 3.0e4, 2.95)])
def test_the_accelerated_state_is_that_of_long_plain_stepping(vector: tuple[float, float, float]) -> None:
    plain = simulate(*vector, variant=PLAIN)
    fast = simulate(*vector)
    assert fast.n_beats < plain.n_beats
    assert np.max(np.abs(fast.pressure_mmHg - plain.pressure_mmHg)) < 0.01


def test_the_published_variant_is_periodic_within_a_tenth_mmhg(run: Run) -> None:
    found = run("published")
    assert found.status is Status.PERIODIC
    assert found.periodicity_mmHg < 0.1


def test_the_original_variant_simulates_six_beats(run: Run) -> None:
    assert run("original").n_beats == 6


def test_the_original_variant_is_reported_but_not_required_to_be_periodic() -> None:
    found = simulate(4.86397e5, 3.22401e4, 2.46289, variant="original")
    assert found.status is Status.COMPLETED
    assert found.periodicity_mmHg == pytest.approx(0.196, abs=0.02)  # the reference's figure for this point


def test_too_few_beats_are_a_failure_with_that_name() -> None:
    with pytest.raises(SimulationFailure, match="raise max_beats") as caught:
        simulate(*NOMINAL, variant=replace(Variant(), max_beats=3))
    assert caught.value.kind is FailureKind.NOT_PERIODIC
    assert caught.value.time_s == pytest.approx(3 * 0.70)


def test_progress_is_reported_after_every_beat() -> None:
    beats: list[int] = []
    found = simulate(*NOMINAL, on_beat=lambda n, _change: beats.append(n))
    assert beats == list(range(1, found.n_beats + 1))


def test_two_runs_of_one_vector_are_identical(run: Run) -> None:
    again = simulate(*NOMINAL, settings=Settings())
    assert np.array_equal(again.pressure_mmHg, run("published").pressure_mmHg)
