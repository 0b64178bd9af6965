"""Problems of CEC 2006 with their limits hidden, and Gramacy's.

Liang et al. 2006, Problem definitions and evaluation criteria for the CEC 2006 special session. Shares are those that
succeed by the formulas.
g04       The version with 0.0006262 x1 x4 in u (f_star -30665.54); some papers have 0.00026 (f_star -31025.56). The
          share is 27.0 %, as others found too; CEC 2006 prints 52.1 %.
g24       Two quartic limits and x2 <= 4, as in CEC 2006. The share is 44.2 %; CEC 2006 prints 79.7 %.
g06, g07  Their boxes are smaller than published, where 0.007 % and less than 0.001 % succeed.
"""

from __future__ import annotations

import numpy as np

from surefoot.paper.studies.failures.record import Constrained, columns, limited

SOURCE = "Liang et al. 2006"
_G07_BEST = (
    2.1719963630, 2.3636829880, 8.7739257292, 5.0959844299, 0.9906547541, 1.4305739471, 1.3216441956, 9.8287257994,
    8.2800916375, 8.3759266298,
)  # fmt: skip
_G09_BEST = (
    2.33049935147, 1.95137236847, -0.47754139951, 4.36572624924, -0.62448695910, 1.03813099411, 1.59422667807,
)  # fmt: skip


def _g04(x: np.ndarray) -> np.ndarray:
    x1, _, x3, _, x5 = columns(x)
    return 5.3578547 * x3**2 + 0.8356891 * x1 * x5 + 37.293239 * x1 - 40792.141


def _g04_limits(x: np.ndarray) -> dict[str, np.ndarray]:
    x1, x2, x3, x4, x5 = columns(x)
    u = 85.334407 + 0.0056858 * x2 * x5 + 0.0006262 * x1 * x4 - 0.0022053 * x3 * x5
    v = 80.51249 + 0.0071317 * x2 * x5 + 0.0029955 * x1 * x2 + 0.0021813 * x3**2
    w = 9.300961 + 0.0047026 * x3 * x5 + 0.0012547 * x1 * x3 + 0.0019085 * x3 * x4
    return {
        "u too large": u - 92.0, "u negative": -u, "v too large": v - 110.0, "v too small": 90.0 - v,
        "w too large": w - 25.0, "w too small": 20.0 - w,
    }  # fmt: skip


def _g06(x: np.ndarray) -> np.ndarray:
    x1, x2 = columns(x)
    return (x1 - 10.0) ** 3 + (x2 - 20.0) ** 3


def _g06_limits(x: np.ndarray) -> dict[str, np.ndarray]:
    x1, x2 = columns(x)
    return {
        "inside the first circle": 100.0 - (x1 - 5.0) ** 2 - (x2 - 5.0) ** 2,
        "outside the second circle": (x1 - 6.0) ** 2 + (x2 - 5.0) ** 2 - 82.81,
    }


def _g07(x: np.ndarray) -> np.ndarray:
    x1, x2, x3, x4, x5, x6, x7, x8, x9, x10 = columns(x)
    coupled = x1**2 + x2**2 + x1 * x2 - 14.0 * x1 - 16.0 * x2
    first = (x3 - 10.0) ** 2 + 4.0 * (x4 - 5.0) ** 2 + (x5 - 3.0) ** 2 + 2.0 * (x6 - 1.0) ** 2
    second = 5.0 * x7**2 + 7.0 * (x8 - 11.0) ** 2 + 2.0 * (x9 - 10.0) ** 2 + (x10 - 7.0) ** 2
    return coupled + first + second + 45.0


def _g07_limits(x: np.ndarray) -> dict[str, np.ndarray]:
    x1, x2, x3, x4, x5, x6, x7, x8, x9, x10 = columns(x)
    return {
        "linear 1": -105.0 + 4.0 * x1 + 5.0 * x2 - 3.0 * x7 + 9.0 * x8,
        "linear 2": 10.0 * x1 - 8.0 * x2 - 17.0 * x7 + 2.0 * x8,
        "linear 3": -8.0 * x1 + 2.0 * x2 + 5.0 * x9 - 2.0 * x10 - 12.0,
        "quadratic 1": 3.0 * (x1 - 2.0) ** 2 + 4.0 * (x2 - 3.0) ** 2 + 2.0 * x3**2 - 7.0 * x4 - 120.0,
        "quadratic 2": 5.0 * x1**2 + 8.0 * x2 + (x3 - 6.0) ** 2 - 2.0 * x4 - 40.0,
        "quadratic 3": x1**2 + 2.0 * (x2 - 2.0) ** 2 - 2.0 * x1 * x2 + 14.0 * x5 - 6.0 * x6,
        "quadratic 4": 0.5 * (x1 - 8.0) ** 2 + 2.0 * (x2 - 4.0) ** 2 + 3.0 * x5**2 - x6 - 30.0,
        "quadratic 5": -3.0 * x1 + 6.0 * x2 + 12.0 * (x9 - 8.0) ** 2 - 7.0 * x10,
    }


def _g08(x: np.ndarray) -> np.ndarray:
    x1, x2 = columns(x)
    with np.errstate(all="ignore"):  # 0 / 0 at the origin, which fails
        return -(np.sin(2.0 * np.pi * x1) ** 3) * np.sin(2.0 * np.pi * x2) / (x1**3 * (x1 + x2))


def _g08_limits(x: np.ndarray) -> dict[str, np.ndarray]:
    x1, x2 = columns(x)
    return {"below the parabola": x1**2 - x2 + 1.0, "left of the parabola": 1.0 - x1 + (x2 - 4.0) ** 2}


def _g09(x: np.ndarray) -> np.ndarray:
    x1, x2, x3, x4, x5, x6, x7 = columns(x)
    first = (x1 - 10.0) ** 2 + 5.0 * (x2 - 12.0) ** 2 + x3**4 + 3.0 * (x4 - 11.0) ** 2 + 10.0 * x5**6
    return first + 7.0 * x6**2 + x7**4 - 4.0 * x6 * x7 - 10.0 * x6 - 8.0 * x7


def _g09_limits(x: np.ndarray) -> dict[str, np.ndarray]:
    x1, x2, x3, x4, x5, x6, x7 = columns(x)
    return {
        "quartic": 2.0 * x1**2 + 3.0 * x2**4 + x3 + 4.0 * x4**2 + 5.0 * x5 - 127.0,
        "quadratic 1": 7.0 * x1 + 3.0 * x2 + 10.0 * x3**2 + x4 - x5 - 282.0,
        "quadratic 2": 23.0 * x1 + x2**2 + 6.0 * x6**2 - 8.0 * x7 - 196.0,
        "quadratic 3": 4.0 * x1**2 + x2**2 - 3.0 * x1 * x2 + 2.0 * x3**2 + 5.0 * x6 - 11.0 * x7,
    }


def _minus_sum(x: np.ndarray) -> np.ndarray:
    return np.asarray(-np.sum(x, axis=-1))


def _g24_limits(x: np.ndarray) -> dict[str, np.ndarray]:
    x1, x2 = columns(x)
    return {
        "quartic 1": -2.0 * x1**4 + 8.0 * x1**3 - 8.0 * x1**2 + x2 - 2.0,
        "quartic 2": -4.0 * x1**4 + 32.0 * x1**3 - 88.0 * x1**2 + 96.0 * x1 + x2 - 36.0,
    }


def _sum(x: np.ndarray) -> np.ndarray:
    return np.asarray(np.sum(x, axis=-1))


def _gramacy_limits(x: np.ndarray) -> dict[str, np.ndarray]:
    x1, x2 = columns(x)
    return {
        "wave": 1.5 - x1 - 2.0 * x2 - 0.5 * np.sin(2.0 * np.pi * (x1**2 - 2.0 * x2)),
        "disc": x1**2 + x2**2 - 1.5,
    }


def problems() -> list[Constrained]:
    """All of them."""
    g04_box = ((78.0, 102.0), (33.0, 45.0), (27.0, 45.0), (27.0, 45.0), (27.0, 45.0))
    g07_box = [(b - 2.0, min(b + 2.0, 10.0)) for b in np.round(_G07_BEST, 6).tolist()]
    return [
        limited(
            "g04", _g04, g04_box, _g04_limits, (78.0, 33.0, 29.9952560, 45.0, 36.7758129), -30665.538671783, SOURCE
        ),
        limited(
            "g06", _g06, ((13.0, 16.0), (0.0, 6.0)), _g06_limits,
            (14.095, 0.8429607892), -6961.81387558015, f"{SOURCE}; a smaller box",
        ),
        limited("g07", _g07, g07_box, _g07_limits, _G07_BEST, 24.30620906818, f"{SOURCE}; a smaller box"),
        limited(
            "g08", _g08, ((0.0, 10.0), (0.0, 10.0)), _g08_limits,
            (1.2279713526, 4.2453733661), -0.0958250414180359, SOURCE,
        ),
        limited("g09", _g09, ((-10.0, 10.0),) * 7, _g09_limits, _G09_BEST, 680.630057374402, SOURCE),
        limited(
            "g24", _minus_sum, ((0.0, 3.0), (0.0, 4.0)), _g24_limits,
            (2.3295201975, 3.1784930741), -5.50801327159536, SOURCE,
        ),
        limited(
            "Gramacy", _sum, ((0.0, 1.0), (0.0, 1.0)), _gramacy_limits,
            (0.1951226885, 0.4046653635), 0.599788052008, "Gramacy et al. 2016",
        ),
    ]  # fmt: skip
