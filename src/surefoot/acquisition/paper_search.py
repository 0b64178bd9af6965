"""The paper's own search [NH18, section 4], kept faithful: it is part of what makes its policy explore.

10^4 uniform points, the best 10, Nelder-Mead from each until the relative tolerance on the value is 1e-3; the best end
point is proposed. Values are the raw ones, not logarithms: a relative tolerance means something else there, and where a
policy underflows to 0 (PI below u = -38) or saturates (PI = 1 above 8.3) the search is blind, as it was.

The text leaves room for three readings (docs/evidence/agreement.md says which the paper's labels favour):
RELATIVE  what it says, with fminsearch's limits on all else, and points projected on the box.
ABSOLUTE  1e-3 in the user's units of y. ScaledEI, a pure number near 1, then wins over EI where it does in the paper:
          EI is soon far below 1e-3 and not searched at all.
BAYESOPT  10^4, 10 and 1e-3 are the constants of MATLAB's bayesopt. That program ends each search after ten iterations,
          has no tolerance on x, takes points outside the box as infinite, and its simplices are fminsearch's: 5 % of
          every coordinate in the variables' own units.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from surefoot.acquisition.maximize import Proposals
from surefoot.acquisition.raw import RawTarget
from surefoot.acquisition.screening import top_candidates
from surefoot.acquisition.simplex_gpu import Start, is_usable, minimize_on_gpu
from surefoot.backend import Array, like, namespace
from surefoot.numerics.nelder_mead import Rules, equal_sides, minimize_simplex, sides_of_coordinates

N_UNIFORM = 10_000
N_STARTS = 10
TOLERANCE = 1e-3


@dataclass(frozen=True)
class Reading:
    """What the paper's text leaves open."""

    rules: Rules
    slack: float = 0.0  # tolerance in units of y
    own_units: bool = False  # simplices grow with the coordinates in the variables' own units


RELATIVE = Reading(Rules(f_tol=TOLERANCE))
ABSOLUTE = Reading(Rules(f_tol=0.0), slack=TOLERANCE)
# fminsearch counts the first simplex as its first iteration: ten of them are nine moves
BAYESOPT = Reading(Rules(f_tol=TOLERANCE, x_tol=0.0, max_moves=9, walled=True), own_units=True)


def maximize_as_the_paper(
    targets: Sequence[RawTarget], uniform: Sequence[Array], reading: Reading = RELATIVE
) -> list[Proposals]:
    """Maximize each target from the best 10 of its uniform points (R, 10^4, d)."""
    starts = []
    for raw, points in zip(targets, uniform, strict=True):
        rows = like(range(points.shape[0]), points)[:, None]
        x0 = points[rows, top_candidates(raw.target, points, N_STARTS)[0]]
        sides = sides_of_coordinates(x0, raw.origin) if reading.own_units else equal_sides(x0)
        starts.append(Start(raw, x0, sides, reading.slack * raw.slack()))
    by_block = [start for start in starts if is_usable(start.raw.target, start.x)]  # in one launch
    carried = iter(minimize_on_gpu(by_block, reading.rules) if by_block else ())
    proposals = []
    for start in starts:
        x, f = next(carried) if any(start is one for one in by_block) else _in_lockstep(start, reading.rules)
        rows = like(range(f.shape[0]), f)[:, None]
        order = namespace(f).argsort(f, axis=1, stable=True)
        proposals.append(Proposals(x=x[rows, order], value=-f[rows, order]))
    return proposals


def _in_lockstep(start: Start, rules: Rules) -> tuple[Array, Array]:
    def negated(x: Array, runs: Array | None) -> Array:
        return -start.raw.select(runs).values(x)

    result = minimize_simplex(negated, start.x, rules, slack=start.slack, sides=start.sides)
    return result.x, result.f
