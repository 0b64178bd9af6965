"""Problems of engineering design whose limits are hidden: a design that violates one fails, and names the first.

The formulas are those of the references in `source`; f_star was found again by SLSQP from many starts (tests). Numbers
of teeth, coils and sheet gauges are continuous. Each limit is a ratio minus one, so that limits compare.
"""

from __future__ import annotations

import numpy as np

from surefoot.paper.studies.failures.record import Constrained, columns, limited


def _vessel_cost(x: np.ndarray) -> np.ndarray:
    shell, head, radius, length = columns(x)
    return (
        0.6224 * shell * radius * length
        + 1.7781 * head * radius**2
        + 3.1661 * shell**2 * length
        + 19.84 * shell**2 * radius
    )


def _vessel_limits(x: np.ndarray) -> dict[str, np.ndarray]:
    shell, head, radius, length = columns(x)
    volume = np.pi * radius**2 * length + 4.0 / 3.0 * np.pi * radius**3
    return {
        "shell too thin": 0.0193 * radius / shell - 1.0,
        "head too thin": 0.00954 * radius / head - 1.0,
        "volume too small": 1.0 - volume / 1_296_000.0,
        "too long": length / 240.0 - 1.0,
    }


def _spring_weight(x: np.ndarray) -> np.ndarray:
    wire, coil, n = columns(x)
    return (n + 2.0) * coil * wire**2


def _spring_limits(x: np.ndarray) -> dict[str, np.ndarray]:
    wire, coil, n = columns(x)
    bending = (4.0 * coil**2 - wire * coil) / (12566.0 * wire**3 * (coil - wire))
    return {
        "deflection": 1.0 - coil**3 * n / (71785.0 * wire**4),
        "shear stress": bending + 1.0 / (5108.0 * wire**2) - 1.0,
        "surge frequency": 1.0 - 140.45 * wire / (coil**2 * n),
        "outer diameter": (wire + coil) / 1.5 - 1.0,
    }


def _beam_cost(x: np.ndarray) -> np.ndarray:
    weld, length, depth, width = columns(x)
    return 1.10471 * weld**2 * length + 0.04811 * depth * width * (14.0 + length)


def _beam_limits(x: np.ndarray) -> dict[str, np.ndarray]:
    weld, length, depth, width = columns(x)
    load, span, young, shear = 6000.0, 14.0, 30e6, 12e6
    arm = np.sqrt((length**2 + (weld + depth) ** 2) / 4.0)
    polar = 2.0 * np.sqrt(2.0) * weld * length * (length**2 / 12.0 + (weld + depth) ** 2 / 4.0)
    direct = load / (np.sqrt(2.0) * weld * length)
    torsion = load * (span + length / 2.0) * arm / polar
    tau = np.sqrt(direct**2 + direct * torsion * length / arm + torsion**2)
    slender = 1.0 - depth / (4.0 * span) * np.sqrt(young / shear)
    buckling = 4.013 * young * depth * width**3 / (6.0 * span**2) * slender
    return {
        "shear stress": tau / 13600.0 - 1.0,
        "bending stress": 6.0 * load * span / (width * depth**2) / 30000.0 - 1.0,
        "weld wider than the bar": weld / width - 1.0,
        "side cost": (0.10471 * weld**2 + 0.04811 * depth * width * (14.0 + length)) / 5.0 - 1.0,
        "deflection": 4.0 * load * span**3 / (young * depth**3 * width) / 0.25 - 1.0,
        "buckling": 1.0 - buckling / load,
    }


def _reducer_weight(x: np.ndarray) -> np.ndarray:
    face, module, teeth, length1, length2, shaft1, shaft2 = columns(x)
    return (
        0.7854 * face * module**2 * (3.3333 * teeth**2 + 14.9334 * teeth - 43.0934)
        - 1.508 * face * (shaft1**2 + shaft2**2)
        + 7.4777 * (shaft1**3 + shaft2**3)
        + 0.7854 * (length1 * shaft1**2 + length2 * shaft2**2)
    )


def _reducer_limits(x: np.ndarray) -> dict[str, np.ndarray]:
    face, module, teeth, length1, length2, shaft1, shaft2 = columns(x)
    moment1 = np.sqrt((745.0 * length1 / (module * teeth)) ** 2 + 16.9e6)
    moment2 = np.sqrt((745.0 * length2 / (module * teeth)) ** 2 + 157.5e6)
    return {
        "tooth bending": 27.0 / (face * module**2 * teeth) - 1.0,
        "tooth contact": 397.5 / (face * module**2 * teeth**2) - 1.0,
        "shaft 1 deflection": 1.93 * length1**3 / (module * teeth * shaft1**4) - 1.0,
        "shaft 2 deflection": 1.93 * length2**3 / (module * teeth * shaft2**4) - 1.0,
        "shaft 1 stress": moment1 / (110.0 * shaft1**3) - 1.0,
        "shaft 2 stress": moment2 / (85.0 * shaft2**3) - 1.0,
        "gear diameter": module * teeth / 40.0 - 1.0,
        "face too narrow": 5.0 * module / face - 1.0,
        "face too wide": face / (12.0 * module) - 1.0,
        "shaft 1 length": (1.5 * shaft1 + 1.9) / length1 - 1.0,
        "shaft 2 length": (1.1 * shaft2 + 1.9) / length2 - 1.0,
    }


def _truss_volume(x: np.ndarray) -> np.ndarray:
    outer, middle = columns(x)
    return np.asarray(100.0 * (2.0 * np.sqrt(2.0) * outer + middle))


def _truss_limits(x: np.ndarray) -> dict[str, np.ndarray]:
    """Load and allowed stress are both 2 and cancel."""
    outer, middle = columns(x)
    root = np.sqrt(2.0)
    both = root * outer**2 + 2.0 * outer * middle
    return {
        "bar 1 yields": (root * outer + middle) / both - 1.0,
        "bar 2 yields": middle / both - 1.0,
        "bar 3 yields": 1.0 / (outer + root * middle) - 1.0,
    }


_CANTILEVER = np.asarray([61.0, 37.0, 19.0, 7.0, 1.0])


def _cantilever_weight(x: np.ndarray) -> np.ndarray:
    return np.asarray(0.0624 * np.sum(x, axis=-1))


def cantilever_limits(x: np.ndarray) -> dict[str, np.ndarray]:
    """The deflection of the tip; its least weight is known in closed form."""
    return {"deflection": np.sum(_CANTILEVER / np.asarray(x) ** 3, axis=-1) - 1.0}


def _cantilever_best() -> tuple[float, ...]:
    """Stationary where 3 a / x^4 is the same for all five, and the limit is met."""
    fourth = _CANTILEVER**0.25
    return tuple((fourth * np.sum(fourth) ** (1.0 / 3.0)).tolist())


def problems() -> list[Constrained]:
    """All of them."""
    sheet = (0.0625, 6.1875)
    vessel_best = (0.7781686413751, 0.3846491626279, 40.3196187240986, 200.0)
    reducer_box = ((2.6, 3.6), (0.7, 0.8), (17.0, 28.0), (7.3, 8.3), (7.8, 8.3), (2.9, 3.9), (5.0, 5.5))
    cantilever_best = _cantilever_best()
    return [
        limited(
            "pressure vessel", _vessel_cost, (sheet, sheet, (10.0, 200.0), (10.0, 200.0)), _vessel_limits,
            vessel_best, 5885.33277361640, "Kannan and Kramer 1994; continuous",
        ),
        limited(
            "spring", _spring_weight, ((0.05, 2.0), (0.25, 1.3), (2.0, 15.0)), _spring_limits,
            (0.0516890604, 0.3567177227, 11.2889667546), 0.01266523278832, "Arora 1989",
        ),
        limited(
            "welded beam", _beam_cost, ((0.125, 2.0), (0.1, 10.0), (0.1, 10.0), (0.1, 2.0)), _beam_limits,
            (0.2057296398, 3.4704886656, 9.0366239104, 0.2057296398), 1.7248523085974,
            "Ragsdell and Phillips 1976; box of Coello 2000",
        ),
        limited(
            "speed reducer", _reducer_weight, reducer_box, _reducer_limits,
            (3.5, 0.7, 17.0, 7.3, 7.8, 3.3502146661, 5.2866832298), 2996.3481649685, "Golinski 1970",
        ),
        limited(
            "three-bar truss", _truss_volume, ((0.0, 1.0), (0.0, 1.0)), _truss_limits,
            (0.7886751346, 0.4082482905), 263.8958433764684, "Nowacki 1974",
        ),
        limited(
            "cantilever", _cantilever_weight, ((2.0, 9.0),) * 5, cantilever_limits,
            cantilever_best, float(_cantilever_weight(np.asarray(cantilever_best))), "Svanberg 1987; a smaller box",
        ),
    ]  # fmt: skip
