"""The formulas of the 12 test functions, vectorised over points.

Notation: x is an array of shape (..., d); x1, x2 are its coordinates; every function returns shape (...).
None of them writes to x. BRA, GPR and RAS are written in a form that does not cancel at the minimum; the form
in the literature is in the comment, and the tests compare the two.

Sources:
[NH18]  Noè & Husmeier (2018): names, order, and the definition of CSF in Sec. 4.
[DS78]  Dixon & Szegő (1978), The global optimization problem: an introduction, Towards Global Optimisation 2:
        BRA, GPR, CAM, HM3, HM6, SH5, SH7, SH10 and their constants.
[JPS93] Jones, Perttunen & Stuckman (1993), Lipschitzian optimization without the Lipschitz constant, JOTA 79:
        the set with its domains, SHU included.
[HN99]  Huyer & Neumaier (1999), Global optimization by multilevel coordinate search, J. Global Optim. 14:
        the same set; the constants below agree with the test functions published with it.
"""

import numpy as np

from surefoot.paper.problems.record import Array

# Hartman [DS78]: weights c, inverse squared widths A, centres P, one row for each of the four wells.
_HARTMAN_C = np.array([1.0, 1.2, 3.0, 3.2])  # (4,)
_HARTMAN_3_A = np.array([[3.0, 10.0, 30.0], [0.1, 10.0, 35.0], [3.0, 10.0, 30.0], [0.1, 10.0, 35.0]])  # (4, 3)
# 0.03815 as in [HN99]; some collections cut it to 0.0381, which raises f_star by 2.4e-6.
_HARTMAN_3_P = np.array(
    [[0.3689, 0.1170, 0.2673], [0.4699, 0.4387, 0.7470], [0.1091, 0.8732, 0.5547], [0.03815, 0.5743, 0.8828]]
)  # (4, 3)
_HARTMAN_6_A = np.array(
    [
        [10.0, 3.0, 17.0, 3.5, 1.7, 8.0],
        [0.05, 10.0, 17.0, 0.1, 8.0, 14.0],
        [3.0, 3.5, 1.7, 10.0, 17.0, 8.0],
        [17.0, 8.0, 0.05, 10.0, 0.1, 14.0],
    ]
)  # (4, 6)
_HARTMAN_6_P = np.array(
    [
        [0.1312, 0.1696, 0.5569, 0.0124, 0.8283, 0.5886],
        [0.2329, 0.4135, 0.8307, 0.3736, 0.1004, 0.9991],
        [0.2348, 0.1451, 0.3522, 0.2883, 0.3047, 0.6650],
        [0.4047, 0.8828, 0.8732, 0.5743, 0.1091, 0.0381],
    ]
)  # (4, 6)

# Shekel [DS78]: centres and widths of the ten wells; SH5 and SH7 use the first five and seven.
# The seventh centre is (5, 5, 3, 3) as in [HN99]; some collections have (5, 3, 5, 3).
_SHEKEL_CENTRES = np.array(
    [
        [4.0, 4.0, 4.0, 4.0],
        [1.0, 1.0, 1.0, 1.0],
        [8.0, 8.0, 8.0, 8.0],
        [6.0, 6.0, 6.0, 6.0],
        [3.0, 7.0, 3.0, 7.0],
        [2.0, 9.0, 2.0, 9.0],
        [5.0, 5.0, 3.0, 3.0],
        [8.0, 1.0, 8.0, 1.0],
        [6.0, 2.0, 6.0, 2.0],
        [7.0, 3.6, 7.0, 3.6],
    ]
)  # (10, 4)
_SHEKEL_WIDTHS = np.array([0.1, 0.2, 0.2, 0.4, 0.4, 0.6, 0.3, 0.7, 0.5, 0.5])  # (10,)

_SHUBERT_J = np.arange(1.0, 6.0)  # (5,) the orders of the five cosines [JPS93]


def cosine_sine(x: Array) -> Array:
    """CSF: one input, many unequal valleys [NH18, Sec. 4]."""
    x1 = x[..., 0]
    return np.cos(5.0 * x1) + 2.0 * np.sin(x1)


def rosenbrock(x: Array) -> Array:
    """ROS: a curved, nearly flat valley [Rosenbrock 1960, Comput. J. 3]."""
    x1, x2 = x[..., 0], x[..., 1]
    return 100.0 * (x2 - x1**2) ** 2 + (1.0 - x1) ** 2


def branin(x: Array) -> Array:
    """BRA: three equal minima [DS78]."""
    x1, x2 = x[..., 0], x[..., 1]
    t = 1.0 / (8.0 * np.pi)
    valley = x2 - 5.1 / (4.0 * np.pi**2) * x1**2 + 5.0 / np.pi * x1 - 6.0
    # [DS78]: valley² + 10 (1 - t) cos x1 + 10. With 1 + cos x1 = 2 cos²(x1/2) both squares vanish at the
    # minima and 10 t, the least value, stands alone: no cancellation of terms near 10.
    return valley**2 + 20.0 * (1.0 - t) * np.cos(0.5 * x1) ** 2 + 10.0 * t


def goldstein_price(x: Array) -> Array:
    """GPR: a polynomial of degree eight that spans six orders of magnitude [DS78]."""
    x1, from_minimum = x[..., 0], x[..., 1] + 1.0
    w = x1 + from_minimum
    v = 2.0 * x1 - 3.0 * from_minimum
    # [DS78], with w = x1 + x2 + 1 and 2 x1 - 3 x2 = v + 3:
    #   (1 + w² (19 - 14 x1 + 3 x1² - 14 x2 + 6 x1 x2 + 3 x2²))
    #   (30 + (v + 3)² (18 - 32 x1 + 12 x1² + 48 x2 - 36 x1 x2 + 27 x2²)).
    # Collected in w and v both inner quadratics are positive (20² < 4 * 3 * 36), so the least value is 1 * 3,
    # at w = v = 0 only. The form of [DS78] cancels there: its rounding errors go 1e-13 below the minimum.
    return (1.0 + w**2 * (36.0 - 20.0 * w + 3.0 * w**2)) * (3.0 + v**2 * (36.0 + 20.0 * v + 3.0 * v**2))


def six_hump_camel(x: Array) -> Array:
    """CAM: six minima in pairs symmetric about the origin [DS78]."""
    x1, x2 = x[..., 0], x[..., 1]
    return (4.0 - 2.1 * x1**2 + x1**4 / 3.0) * x1**2 + x1 * x2 + (-4.0 + 4.0 * x2**2) * x2**2


def shubert(x: Array) -> Array:
    """SHU: the product of one sum of cosines in each input [JPS93]."""
    angles = (_SHUBERT_J + 1.0) * x[..., None] + _SHUBERT_J  # (..., 2, 5)
    return np.asarray(np.prod(np.sum(_SHUBERT_J * np.cos(angles), axis=-1), axis=-1))


def hartman_3(x: Array) -> Array:
    """HM3: four overlapping Gaussian wells in the unit cube [DS78]."""
    return _hartman(x, _HARTMAN_3_A, _HARTMAN_3_P)


def hartman_6(x: Array) -> Array:
    """HM6: four overlapping Gaussian wells in six inputs [DS78]."""
    return _hartman(x, _HARTMAN_6_A, _HARTMAN_6_P)


def _hartman(x: Array, A: Array, P: Array) -> Array:
    exponents = np.sum(A * (x[..., None, :] - P) ** 2, axis=-1)  # (..., 4)
    return np.asarray(-np.sum(_HARTMAN_C * np.exp(-exponents), axis=-1))


def shekel_5(x: Array) -> Array:
    """SH5: five narrow wells in a plain [DS78]."""
    return _shekel(x, 5)


def shekel_7(x: Array) -> Array:
    """SH7: seven narrow wells in a plain [DS78]."""
    return _shekel(x, 7)


def shekel_10(x: Array) -> Array:
    """SH10: ten narrow wells in a plain [DS78]."""
    return _shekel(x, 10)


def _shekel(x: Array, n_wells: int) -> Array:
    squares = np.sum((x[..., None, :] - _SHEKEL_CENTRES[:n_wells]) ** 2, axis=-1)  # (..., n_wells)
    return np.asarray(-np.sum(1.0 / (squares + _SHEKEL_WIDTHS[:n_wells]), axis=-1))


def rastrigin(x: Array) -> Array:
    """RAS: a paraboloid with a cosine ripple in every input [Rastrigin 1974; Törn & Žilinskas 1989]."""
    # In the literature: 10 d + Σ (x² - 10 cos 2πx). With 1 - cos 2πx = 2 sin² πx no terms cancel near the
    # minimum, where that form rounds to multiples of 1.4e-14.
    return np.asarray(np.sum(x**2 + 20.0 * np.sin(np.pi * x) ** 2, axis=-1))
