"""The structured trees of small vessels: from (f_S, ξ) to time-domain admittance kernels, remembered in
memory.

Notation: α, β the daughters' radius ratios, γ = (β/α)², Y(ω) the 2 x 2 admittance between the tree's
arterial and venous roots, y its inverse transform over one beat. Radius relation [NH18, Eq. 7].
"""

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from surefoot.pulmonary.arrays import Floats
from surefoot.pulmonary.checks import require
from surefoot.pulmonary.kernels.admittance import C, Vessels, tree_admittance, tree_conductance
from surefoot.pulmonary.settings import Fluid, Tree

MAX_STEPS = 2000  # along one chain of daughters; the paper's box needs 67


class Frequencies(NamedTuple):
    """ω = scale 2πk/T, k = 0 .. steps/2."""

    scale: float
    period_s: float
    steps: int


def radius_ratios(xi: float, asymmetry: float) -> tuple[float, float]:
    """(α, β) with r_p^ξ = r_d1^ξ + r_d2^ξ  [NH18, Eq. 7]."""
    alpha = (1.0 + asymmetry ** (0.5 * xi)) ** (-1.0 / xi)
    return alpha, alpha * math.sqrt(asymmetry)


def _vessels(root_radius_cm: float, xi: float, tree: Tree) -> Vessels:
    """With their lengths."""
    alpha, beta = radius_ratios(xi, tree.asymmetry)
    span = math.log(root_radius_cm / tree.minimum_radius_cm)
    longest = span / -math.log(alpha) if alpha < 1.0 else math.inf
    require(
        longest <= MAX_STEPS,
        f"a tree of at most {MAX_STEPS} generations",
        {"xi": xi, "asymmetry": tree.asymmetry, "generations": longest},
        "lower xi (the paper has 2.33 to 3) or raise minimum_radius_cm",
    )
    n = np.arange(max(0, math.ceil(longest)) + 2)
    steps_m = max(0, math.ceil(span / -math.log(beta))) + 2
    radius = root_radius_cm * alpha**n * (beta ** np.arange(steps_m))[:, None]
    thin = np.sum(radius >= tree.minimum_radius_cm, axis=1)  # first n that is terminal, per row
    rows = int(np.argmax(thin == 0)) + 1  # the first row without an internal vessel is the last one needed
    # A row must reach its own first terminal vessel and every internal vessel of the row above.
    last_n = np.array([max(thin[m], thin[m - 1] - 1 if m else 0) for m in range(rows)], dtype=np.int64)
    radius = np.ascontiguousarray(radius[:rows, : int(last_n.max()) + 1])
    artery = tree.artery_length_factor * radius**tree.artery_length_exponent
    if tree.short_arterioles:
        artery = np.where(radius < tree.minimum_radius_cm, 1.88 * radius**0.47, artery)
    vein = tree.vein_length_factor * radius**tree.vein_length_exponent
    return Vessels(radius, artery, vein, last_n, tree.minimum_radius_cm)


def conductance(root_radius_cm: float, xi: float, tree: Tree, fluid: Fluid) -> float:
    """Steady flow through a tree per pressure difference, cm³/s per dyn/cm²; half a millisecond.

    It steps where a vessel crosses the minimum radius: the number of vessels is whole, ξ is not.
    """
    return float(tree_conductance(_vessels(root_radius_cm, xi, tree), fluid.viscosity_g_cm_s))


@lru_cache(maxsize=64)
def admittance(
    root_radius_cm: float, f_S: float, xi: float, frequencies: Frequencies, tree: Tree, fluid: Fluid
) -> np.ndarray[tuple[int, int], np.dtype[np.complex128]]:
    """(3, steps/2 + 1) Y11, Y12 = Y21, Y22 at the frequencies; cm³/s per dyn/cm²; read-only."""
    lengths = _vessels(root_radius_cm, xi, tree)
    rho = fluid.density_g_cm3
    c0 = math.sqrt(2.0 * f_S / (3.0 * rho))  # sqrt(A/(Cρ)) with C = 3A/(2 f_S)
    K = frequencies.steps // 2
    k = np.arange(1, math.ceil(K / C) * C + 1, dtype=np.float64)
    omega = frequencies.scale * 2.0 * math.pi / frequencies.period_s * k
    delays = lengths._replace(artery=lengths.artery / c0, vein=lengths.vein / c0)
    parts = tree_admittance(omega, delays, c0, rho, fluid.kinematic_viscosity_cm2_s)[:, :K]
    G = float(tree_conductance(lengths, fluid.viscosity_g_cm_s))
    Y = np.empty((3, K + 1), dtype=np.complex128)
    Y[:, 0] = G, -G, G
    Y[:, 1:] = parts[0::2] + 1j * parts[1::2]
    Y.setflags(write=False)
    return Y


def time_kernels(Y: np.ndarray[tuple[int, int], np.dtype[np.complex128]], period_s: float) -> Floats:
    """(3, steps) y11, y12 = y21, y22 in cm³/s per dyn/cm² per s, whatever ω's scale on the true time grid."""
    steps = 2 * (Y.shape[-1] - 1)
    return np.asarray(np.fft.irfft(Y, n=steps, axis=-1) * (steps / period_s), dtype=np.float64)
