"""Whether linear constraints can hold together, and which of them cannot: by (mixed-integer) linear programs.

Variables  Of a real parameter, logarithmic or not, its share of the range in the user's units; of an integer its
           distance from the lowest. Constraints that are curved or name a category are left out: what contradicts
           without them contradicts with them.
Room       The program maximizes t, the distance from all borders of inequalities in these variables: a point with
           t > 0 is well inside.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from surefoot.optimize.parameters import Integer, Real, Value
from surefoot.optimize.region import Region

_TIME_LIMIT_S = 10.0  # of one program
_GAP = 0.9  # any point with some room will do: among many integers the one with the most takes long
_INFEASIBLE = 2  # SciPy's status


@dataclass(frozen=True)
class Row:
    """slopes . variables + constant >= 0, or = 0."""

    number: int  # of the constraint
    slopes: np.ndarray  # (d,)
    constant: float
    equal: bool


def linear_rows(region: Region) -> list[Row]:
    """The comparisons that are linear in the variables."""
    space, rows = region.space, []
    variables = {}
    for i, (name, p) in enumerate(zip(space.names, space.parameters, strict=True)):
        if isinstance(p, Real):
            variables[name] = (i, float(p.low), float(p.high) - float(p.low))
        elif isinstance(p, Integer):
            low, high = (float(region.view(name, end)) for end in (p.low, p.high))
            variables[name] = (i, low, (high - low) / max(1, p.high - p.low))  # a grid has even steps, as integers have
    for number, c in enumerate(region.constraints):
        for link in () if c.comparison is None else c.comparison.links:
            affine = link.margin.affine(region.known)
            if affine is None or not all(name in variables for name in affine.slopes):
                continue
            slopes, constant = np.zeros(space.d), affine.constant
            for name, slope in affine.slopes.items():
                i, low, width = variables[name]
                slopes[i] = slope * width
                constant += slope * low
            length = float(np.abs(slopes).max()) or max(1.0, abs(constant))
            rows.append(Row(number, slopes / length, constant / length, link.kind == "equal"))
    return rows


def point_inside(region: Region, rows: Sequence[Row]) -> tuple[bool, tuple[Value, ...] | None]:
    """Whether the rows can hold together (True also if that is not known), and values well inside, if found."""
    from scipy.optimize import Bounds, LinearConstraint, milp  # slow to import, and needed with constraints only

    space = region.space
    d = space.d
    whole = np.asarray([isinstance(p, Integer) for p in space.parameters])
    top = np.asarray([float(p.high - p.low) if isinstance(p, Integer) else 1.0 for p in space.parameters])
    A = np.asarray([[*row.slopes, 0.0 if row.equal else -np.linalg.norm(row.slopes)] for row in rows])
    low = np.asarray([-row.constant for row in rows])
    high = np.asarray([-row.constant if row.equal else np.inf for row in rows])
    found = milp(
        np.asarray([*np.zeros(d), -1.0]),
        integrality=np.asarray([*whole, False]).astype(int),
        bounds=Bounds(np.zeros(d + 1), np.asarray([*top, 1.0])),
        constraints=LinearConstraint(A, low, high),
        options={"time_limit": _TIME_LIMIT_S, "mip_rel_gap": _GAP},
    )
    if found.x is None:
        return found.status != _INFEASIBLE, None
    values: list[Value] = []
    for p, v in zip(space.parameters, found.x, strict=False):
        if isinstance(p, Integer):
            values.append(p.low + min(p.high - p.low, max(0, round(v))))
        elif isinstance(p, Real):
            values.append(min(float(p.high), max(float(p.low), p.low + v * (p.high - p.low))))
        else:
            values.append(p.choices[0])
    return True, tuple(values)


def contradiction(region: Region, rows: Sequence[Row]) -> list[int]:
    """Numbers of constraints that contradict one another (or the bounds), none of which can be left out."""
    left = list(dict.fromkeys(row.number for row in rows))
    for number in list(left):
        without = [row for row in rows if row.number in left and row.number != number]
        if without and not point_inside(region, without)[0]:
            left.remove(number)
    return left
