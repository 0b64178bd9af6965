"""The paper's own search [NH18, section 4], kept faithful: it is part of what makes its policy explore.

10^4 uniform points, the best 10, Nelder-Mead from each until the relative tolerance on the value is 1e-3; the best end
point is proposed. Values are the raw ones, not logarithms: a relative tolerance means something else there, and where a
policy underflows to 0 (PI below u = -38) or saturates (PI = 1 above 8.3) the search is blind, as it was.
"""

from __future__ import annotations

from surefoot.acquisition.maximize import Proposals
from surefoot.acquisition.registry import Policy, Score
from surefoot.acquisition.screening import top_candidates
from surefoot.backend import Array, like, namespace
from surefoot.gp.posterior import Posterior, moments, select_runs
from surefoot.numerics.nelder_mead import minimize_simplex

N_UNIFORM = 10_000
N_STARTS = 10
F_TOL = 1e-3


def maximize_as_the_paper(
    post: Posterior, policy: Policy, score: Score, f_best: Array, uniform: Array
) -> Proposals:
    """Maximize from the best 10 of the uniform points (R, 10^4, d)."""
    xp = namespace(uniform)
    R = uniform.shape[0]
    rows = like(range(R), uniform)[:, None]
    index, _ = top_candidates(post, policy, score, f_best, uniform, N_STARTS)

    def minus_raw(x: Array, runs: Array | None) -> Array:
        value, _, _ = score.select(runs)(*moments(select_runs(post, runs), x))
        return -xp.exp(value) if policy.is_log else -value

    result = minimize_simplex(minus_raw, uniform[rows, index], f_tol=F_TOL)
    order = xp.argsort(result.f, axis=1, stable=True)
    return Proposals(x=result.x[rows, order], value=-result.f[rows, order])
