"""Reference data and nominal simulations shared by the tests."""

import csv
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from surefoot.pulmonary import NOMINAL, Simulation, simulate


@pytest.fixture(scope="session")
def data() -> Path:
    """Where the reference data lie."""
    return Path(__file__).parent / "data"


@pytest.fixture(scope="session")
def reference(data: Path) -> Callable[[str], tuple[np.ndarray, np.ndarray]]:
    """(pressure, flow), each (11, 256), of a reference run at the nominal parameters."""

    def read(name: str) -> tuple[np.ndarray, np.ndarray]:
        table = np.genfromtxt(data / f"nominal_{name}.csv", delimiter=",", skip_header=1)
        return table[:, 1::2].T, table[:, 2::2].T

    return read


@pytest.fixture(scope="session")
def failure_map(data: Path) -> list[dict[str, str]]:
    """40 points of the paper's box and the reference's verdict on each."""
    with (data / "failure_map_A.csv").open(newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="session")
def run() -> Callable[[str], Simulation]:
    """Nominal simulations with all nodes, each computed once."""
    known: dict[str, Simulation] = {}

    def get(variant: str) -> Simulation:
        if variant not in known:
            known[variant] = simulate(*NOMINAL, variant=variant, all_nodes=True)
        return known[variant]

    return get
