"""The paper's own search [NH18, section 4], kept faithful: it is part of what makes its policy explore.

10^4 uniform points, the best 10, Nelder-Mead from each until the relative tolerance on the value is 1e-3; the best end
point is proposed. Values are the raw ones, not logarithms: a relative tolerance means something else there, and where a
policy underflows to 0 (PI below u = -38) or saturates (PI = 1 above 8.3) the search is blind, as it was.
"""

from __future__ import annotations

from surefoot.acquisition.maximize import Proposals
from surefoot.acquisition.screening import top_candidates
from surefoot.acquisition.simplex_gpu import is_usable, minimize_on_gpu
from surefoot.acquisition.success import Target
from surefoot.backend import Array, like, namespace
from surefoot.numerics.nelder_mead import minimize_simplex

N_UNIFORM = 10_000
N_STARTS = 10
F_TOL = 1e-3


def maximize_as_the_paper(target: Target, uniform: Array) -> Proposals:
    """Maximize from the best 10 of the uniform points (R, 10^4, d)."""
    rows = like(range(uniform.shape[0]), uniform)[:, None]
    index, _ = top_candidates(target, uniform, N_STARTS)
    starts = uniform[rows, index]
    if is_usable(target, starts):
        x, f = minimize_on_gpu(target, starts, F_TOL)
    else:
        result = minimize_simplex(lambda x, runs: -target.select(runs).raw_values(x), starts, f_tol=F_TOL)
        x, f = result.x, result.f
    order = namespace(uniform).argsort(f, axis=1, stable=True)
    return Proposals(x=x[rows, order], value=-f[rows, order])
