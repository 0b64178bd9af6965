"""The structured trees: admittances, conductances, time kernels."""

import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest

from surefoot.errors import InvalidInputError
from surefoot.pulmonary import NOMINAL, Fluid, Settings, Tree, simulate
from surefoot.pulmonary.arrays import DYN_PER_MMHG
from surefoot.pulmonary.kernels.admittance import _decay, _turn
from surefoot.pulmonary.model import tree_kernels
from surefoot.pulmonary.trees import Frequencies, _vessels, admittance, radius_ratios, time_kernels

F_L, F_S, XI = NOMINAL
ROOTS = {"RIA": 0.55, "RTA": 0.46, "LIA": 0.90, "LTA": 0.58}


def called(part: Callable[[float], Any]) -> Callable[[float], Any]:
    """A part of compiled functions, as one that Python can call."""
    return numba.njit(lambda x: part(x))


def nominal(root: float, scale: float = 1.0, steps: int = 4096) -> np.ndarray:
    return admittance(root, F_S, XI, Frequencies(scale, 0.70, steps), Tree(), Fluid())


@pytest.mark.parametrize("scale", [0.1, 1.0])
def test_time_kernels_agree_with_the_reference_to_1e_8(scale: float, data: Path) -> None:
    stored = np.load(data / "kernels_nominal_taps.npz")
    y = tree_kernels(Settings().with_variant(omega_scale=scale), F_S, XI)[..., stored["taps"]]
    expected = stored[f"omega_scale_{scale:g}"]
    for row, (i, j) in zip((0, 1, 1, 2), ((0, 0), (0, 1), (1, 0), (1, 1)), strict=True):
        largest = np.abs(expected[:, i, j]).max(axis=-1, keepdims=True)
        assert np.all(np.abs(y[:, row] - expected[:, i, j]) <= 1e-8 * largest)


@pytest.mark.parametrize(("vessel", "resistance"), [("RIA", 0.6357), ("RTA", 1.0127), ("LIA", 0.1736), ("LTA", 0.5531)])
def test_the_resistance_of_each_tree_is_the_tabulated_one(vessel: str, resistance: float) -> None:
    assert 1.0 / nominal(ROOTS[vessel])[0, 0].real / DYN_PER_MMHG == pytest.approx(resistance, abs=6e-5)


@pytest.mark.parametrize(
    ("scale", "Y11", "Y12"),
    [
        (0.1, 8.43677e-3 + 1.012264e-2j, -2.63921e-3 + 4.52761e-3j),
        (1.0, 1.103922e-2 + 1.5259e-4j, 3.006e-5 + 6.563e-5j),
    ],
)
def test_the_first_harmonic_of_the_largest_tree_is_the_tabulated_one(scale: float, Y11: complex, Y12: complex) -> None:
    Y = nominal(0.90, scale)
    assert abs(Y[0, 1] - Y11) < 1e-7
    assert abs(Y[1, 1] - Y12) < 1e-7


@pytest.mark.parametrize(
    ("xi", "alpha", "beta"),
    [(2.76, 0.911310, 0.583523), (2.33, 0.878059, 0.562232), (3.0, 0.925237, 0.592441)],
)
def test_radius_ratios_obey_the_radius_relation(xi: float, alpha: float, beta: float) -> None:
    a, b = radius_ratios(xi, 0.41)
    assert (a, b) == (pytest.approx(alpha, abs=5e-7), pytest.approx(beta, abs=5e-7))
    assert a**xi + b**xi == pytest.approx(1.0, abs=1e-14)


def plain_recursion(r: float, omega: float, xi: float, tree: Tree, fluid: Fluid) -> np.ndarray:
    """The tree as its definition says: no memory, no shared vessels, sines and cosines."""
    rho, nu = fluid.density_g_cm3, fluid.kinematic_viscosity_cm2_s
    area, w = math.pi * r * r, r * math.sqrt(omega / nu)
    compliance = 1.5 * area / F_S
    low = np.sqrt(1j * w**2 / 8 + w**4 / 48)
    high = np.sqrt(1 - 2 / (np.sqrt(1j) * w) * (1 + 1 / (2 * w)))
    S = low if w <= 2 else high if w > 3 else (3 - w) * low + (w - 2) * high
    g, c = np.sqrt(compliance * area / rho) * S, np.sqrt(area / (compliance * rho)) * S

    def tube(length: float) -> np.ndarray:
        kappa = omega * length / c
        return 1j * g / np.sin(kappa) * np.array([[-np.cos(kappa), 1.0], [1.0, -np.cos(kappa)]])

    def series(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        E = a[1, 1] + b[0, 0]
        off = -a[0, 1] * b[0, 1] / E
        return np.array([[a[0, 0] - a[0, 1] ** 2 / E, off], [off, b[1, 1] - b[0, 1] ** 2 / E]])

    artery = tube(tree.artery_length_factor * r**tree.artery_length_exponent)
    vein = tube(tree.vein_length_factor * r**tree.vein_length_exponent)
    if r < tree.minimum_radius_cm:
        return series(artery, vein)
    alpha, beta = radius_ratios(xi, tree.asymmetry)
    inner = plain_recursion(alpha * r, omega, xi, tree, fluid) + plain_recursion(beta * r, omega, xi, tree, fluid)
    return series(series(artery, inner), vein)


@pytest.mark.parametrize("k", [1, 7, 60])
@pytest.mark.parametrize("asymmetry", [0.41, 1.0])
def test_sharing_equal_vessels_gives_the_plain_recursion(k: int, asymmetry: float) -> None:
    tree, fluid = Tree(minimum_radius_cm=0.2, asymmetry=asymmetry), Fluid()
    Y = admittance(0.90, F_S, 2.5, Frequencies(1.0, 0.70, 256), tree, fluid)
    expected = plain_recursion(0.90, 2 * math.pi * k / 0.70, 2.5, tree, fluid)
    found = np.array([Y[0, k], Y[1, k], Y[2, k]])
    np.testing.assert_allclose(found, expected[[0, 0, 1], [0, 1, 1]], rtol=1e-11)


def test_a_root_thinner_than_the_minimum_is_one_artery_and_one_vein() -> None:
    assert _vessels(0.004, 2.76, Tree()).last_n.tolist() == [0]


@pytest.mark.parametrize(("root", "count"), [(0.55, 1582029), (0.46, 946573), (0.90, 6389753), (0.58, 1892809)])
def test_the_number_of_vessels_per_side_is_the_tabulated_one(root: float, count: int) -> None:
    radius = _vessels(root, XI, Tree()).radius
    numbers = np.zeros(radius.shape)
    for m in range(radius.shape[0] - 1, -1, -1):
        for n in range(radius.shape[1] - 1, -1, -1):
            numbers[m, n] = 1.0
            if radius[m, n] >= 0.005:
                numbers[m, n] += numbers[m, n + 1] + numbers[m + 1, n]
    assert int(numbers[0, 0]) == count


def test_the_sum_of_a_kernel_is_the_conductance() -> None:
    Y = nominal(0.55)
    assert time_kernels(Y, 0.70).sum(axis=-1) * 0.70 / 4096 == pytest.approx(Y[:, 0].real, rel=1e-9)


def test_low_frequencies_approach_the_conductance() -> None:
    slow = nominal(0.55, 1e-6)
    np.testing.assert_allclose(slow[:, 1].real, slow[:, 0].real, rtol=1e-4)


def test_the_trees_are_not_computed_again_when_only_f_l_changes() -> None:
    simulate(2.6e5, 4.9e4, 2.75, variant="original")
    misses = admittance.cache_info().misses
    simulate(3.6e5, 4.9e4, 2.75, variant="original")
    assert admittance.cache_info().misses == misses


def test_the_older_length_law_of_arterioles_raises_the_resistance() -> None:
    older = admittance(0.55, F_S, XI, Frequencies(1.0, 0.70, 256), replace(Tree(), short_arterioles=True), Fluid())
    assert older[0, 0].real < nominal(0.55)[0, 0].real


def test_a_tree_that_hardly_shrinks_is_refused_instead_of_filling_the_memory() -> None:
    with pytest.raises(InvalidInputError, match="generations"):
        _vessels(0.9, 60.0, Tree(asymmetry=1.0, minimum_radius_cm=1e-16))


def test_the_written_out_exponential_is_accurate_over_its_range() -> None:
    y = np.linspace(0.0, 40.0, 4001)
    found = np.array(list(map(called(_decay), y)))
    assert np.max(np.abs(found / np.exp(-y) - 1.0)) < 2e-13


def test_the_written_out_cosine_and_sine_are_accurate_over_their_range() -> None:
    x = np.concatenate([np.linspace(0.0, 10.0, 2001), np.linspace(1e3, 1e4, 2001)])
    c, s = np.array(list(map(called(_turn), x))).T
    assert np.max(np.abs(c - np.cos(x)) / (1e-15 + 1e-16 * x)) < 5.0
    assert np.max(np.abs(s - np.sin(x)) / (1e-15 + 1e-16 * x)) < 5.0
