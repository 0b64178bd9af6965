"""Waveforms of an independent program at the nominal parameters, and its map of failures."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from surefoot.pulmonary import NOMINAL, VARIANTS, Simulation, SimulationFailure, simulate

Run = Callable[[str], Simulation]
Reference = Callable[[str], tuple[np.ndarray, np.ndarray]]
Verdicts = list[tuple[dict[str, str], Simulation | None]]


def test_the_original_variant_agrees_with_reference_a(run: Run, reference: Reference) -> None:
    pressure, flow = reference("A")
    assert np.max(np.abs(run("original").pressure_mmHg - pressure)) < 0.05
    assert np.max(np.abs(run("original").flow_ml_s - flow)) < 0.5


def test_the_original_variant_with_the_printed_wall_agrees_with_reference_b(reference: Reference) -> None:
    pressure, flow = reference("B")
    found = simulate(*NOMINAL, variant="original", wall_factor=4 / 3)
    assert np.max(np.abs(found.pressure_mmHg - pressure)) < 0.05
    assert np.max(np.abs(found.flow_ml_s - flow)) < 0.5


def test_the_published_variant_agrees_with_reference_c(run: Run, reference: Reference) -> None:
    pressure, _flow = reference("C")
    assert np.max(np.abs(run("published").pressure_mmHg - pressure)) < 0.3


@pytest.mark.parametrize(("name", "wall_factor"), [("A", 1.0), ("B", 4 / 3)])
def test_the_references_slope_at_tree_ends_explains_what_difference_remains(
    name: str, wall_factor: float, reference: Reference
) -> None:
    variant = replace(VARIANTS["original"], wall_factor=wall_factor, end_slope_dyn_cm3=-2.6e5)
    pressure, flow = reference(name)
    found = simulate(*NOMINAL, variant=variant)
    assert np.max(np.abs(found.pressure_mmHg - pressure)) < 0.002
    assert np.max(np.abs(found.flow_ml_s - flow)) < 0.02


@pytest.fixture(scope="module")
def verdicts(failure_map: list[dict[str, str]]) -> Verdicts:
    outcomes = []
    for row in failure_map:
        try:
            found = simulate(float(row["fL"]), float(row["fS"]), float(row["xi"]), variant="original")
        except SimulationFailure:
            found = None
        outcomes.append((row, found))
    return outcomes


def test_at_least_36_of_40_points_have_the_reference_verdict(verdicts: Verdicts) -> None:
    assert sum((found is not None) == (row["rc"] == "0") for row, found in verdicts) >= 36


def test_mean_pressures_of_the_points_that_run_agree_within_half_a_percent(verdicts: Verdicts) -> None:
    for row, found in verdicts:
        if found is not None and row["rc"] == "0":
            assert found.mean_pressure_mmHg[0] == pytest.approx(float(row["MPAmid_pmean"]), rel=0.005)
