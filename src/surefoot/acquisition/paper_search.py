"""The paper's own search [NH18, section 4], kept faithful: it is part of what makes its policy explore.

10^4 uniform points, the best 10, Nelder-Mead from each until the relative tolerance on the value is 1e-3; the best end
point is proposed. Values are the raw ones, not logarithms: a relative tolerance means something else there, and where a
policy underflows to 0 (PI below u = -38) or saturates (PI = 1 above 8.3) the search is blind, as it was.

The paper's text says "relative". With an absolute tolerance of 1e-3 in the user's units of y, ScaledEI, a pure number
near 1, wins over EI where it does in the paper: EI is soon far below 1e-3 and then not searched at all
(docs/benchmark.md). Both are here: `absolute` is the second.
"""

from __future__ import annotations

from collections.abc import Sequence

from surefoot.acquisition.maximize import Proposals
from surefoot.acquisition.raw import RawTarget
from surefoot.acquisition.screening import top_candidates
from surefoot.acquisition.simplex_gpu import is_usable, minimize_on_gpu
from surefoot.backend import Array, like, namespace
from surefoot.numerics.nelder_mead import minimize_simplex

N_UNIFORM = 10_000
N_STARTS = 10
TOLERANCE = 1e-3


def maximize_as_the_paper(
    targets: Sequence[RawTarget], uniform: Sequence[Array], *, absolute: bool = False
) -> list[Proposals]:
    """Maximize each target from the best 10 of its uniform points (R, 10^4, d)."""
    f_tol = 0.0 if absolute else TOLERANCE
    slacks = [(TOLERANCE if absolute else 0.0) * target.slack() for target in targets]
    starts = []
    for raw, points in zip(targets, uniform, strict=True):
        rows = like(range(points.shape[0]), points)[:, None]
        starts.append(points[rows, top_candidates(raw.target, points, N_STARTS)[0]])
    if all(is_usable(raw.target, x0) for raw, x0 in zip(targets, starts, strict=True)):
        found = minimize_on_gpu(targets, starts, f_tol, slacks)
    else:
        found = [_in_lockstep(*search, f_tol) for search in zip(targets, starts, slacks, strict=True)]
    proposals = []
    for x, f in found:
        rows = like(range(f.shape[0]), f)[:, None]
        order = namespace(f).argsort(f, axis=1, stable=True)
        proposals.append(Proposals(x=x[rows, order], value=-f[rows, order]))
    return proposals


def _in_lockstep(raw: RawTarget, starts: Array, slack: Array, f_tol: float) -> tuple[Array, Array]:
    def negated(x: Array, runs: Array | None) -> Array:
        return -raw.select(runs).values(x)

    result = minimize_simplex(negated, starts, f_tol=f_tol, slack=slack)
    return result.x, result.f
