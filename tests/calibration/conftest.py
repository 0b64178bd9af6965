"""Two calibrations of other simulators than the lungs, made once."""

import pytest

from surefoot.calibration import calibrate
from tests.calibration._simulators import (
    NOISE,
    OSCILLATOR,
    OSCILLATOR_TRUTH,
    POPULATION,
    POPULATION_TRUTH,
    measured,
    oscillator,
    population,
)


@pytest.fixture(scope="session")
def two():
    """An oscillator's two parameters."""
    data = measured(oscillator, OSCILLATOR_TRUTH, {"position": 0.05})
    return calibrate(oscillator, OSCILLATOR, data, n_evals=30, level=0.99)


@pytest.fixture(scope="session")
def five():
    """Five parameters of predators and prey, from two signals."""
    data = measured(population, POPULATION_TRUTH, NOISE)
    return calibrate(population, POPULATION, data, n_evals=70, level=0.99)
