"""The problems with hidden constraints, by name, in two groups.

"paper"   nine, made from the paper's functions, with regions of known shape.
"limits"  engineering design and CEC 2006 with their own objectives, and four made to fail in ways that those do not.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np

from surefoot.errors import UnknownNameError
from surefoot.paper.problems import Problem, get
from surefoot.paper.studies.failures import cec2006, engineering, made
from surefoot.paper.studies.failures.record import Constrained, Excess, sample

PAPER, LIMITS = "paper", "limits"


def _discs(centres: Sequence[tuple[float, ...]], radius: float) -> Excess:
    def excess(x: np.ndarray) -> dict[str, np.ndarray]:
        gaps = [np.linalg.norm(x - np.asarray(centre), axis=-1) for centre in centres]
        return {"disc": radius - np.min(gaps, axis=0)}

    return excess


def _half_space(base: Problem, share: float) -> Excess:
    """A plane that cuts off this share of the unit cube, on the side away from the minimizer."""
    low, high = np.asarray(base.lower), np.asarray(base.upper)
    best = (np.asarray(base.minimizers[0]) - low) / (high - low)
    normal = np.where(best < 0.5, 1.0, -1.0) * np.linspace(1.0, 0.5, base.d)
    cut = np.quantile(((sample(base, 200_000) - low) / (high - low)) @ normal, 1.0 - share)
    return lambda x: {"half-space": ((x - low) / (high - low)) @ normal - cut}


def _valley(width: float) -> Excess:
    return lambda x: {"off the valley": np.abs(x[..., 1] - x[..., 0] ** 2) - width}


def _of_paper() -> list[Constrained]:
    bra, cam, hm3, ros = get("BRA"), get("CAM"), get("HM3"), get("ROS")
    holes = [bra.minimizers[1], bra.minimizers[2], (0.0, 6.5), (7.0, 9.0)]  # one of three minima is left
    return [
        Constrained("BRA discs", bra, _discs(holes, 2.2)),
        *(Constrained(f"HM3 half-space {round(100 * s)} %", hm3, _half_space(hm3, s)) for s in (0.1, 0.3, 0.5, 0.8)),
        Constrained("ROS valley", ros, _valley(3.0)),
        Constrained("CAM hidden optimum", cam, _discs(list(cam.minimizers), 0.4)),
        Constrained("BRA random 20 %", bra, made.at_random(0.2), structured=False),
        Constrained("HM3 random 50 %", hm3, made.at_random(0.5), structured=False),
    ]


@cache
def groups() -> dict[str, tuple[str, ...]]:
    """Names of the problems of each group."""
    limits = [*engineering.problems(), *cec2006.problems(), *made.problems()]
    return {PAPER: tuple(p.name for p in _of_paper()), LIMITS: tuple(p.name for p in limits)}


@cache
def catalogue() -> dict[str, Constrained]:
    """All problems with hidden constraints, by name."""
    found = [*_of_paper(), *engineering.problems(), *cec2006.problems(), *made.problems()]
    return {problem.name: problem for problem in found}


def get_constrained(name: str) -> Constrained:
    """The problem of that name."""
    if name not in catalogue():
        names = ", ".join(map(repr, catalogue()))
        raise UnknownNameError(f"expected a problem among {names}; got {name!r}; try 'BRA discs'")
    return catalogue()[name]


def group_of(name: str) -> str:
    """The group of a problem."""
    return next(group for group, names in groups().items() if get_constrained(name).name in names)
