"""The k best of many candidates, exactly, without most of their variances.

Purpose   The mean of a candidate costs O(n), its variance O(n^2): at n = 1000 the variances of some thousand candidates
          cost more than the whole refit. But 1 - sum of v_i^2 over the first rows of v = L^-1 k(x) is the variance
          given the first observations only, an upper bound that falls to the variance as rows are added. Where the
          score rises with sd, a candidate whose score at the bound is below the k-th best known score is out.
          The first observations are the space-filling design, so the bound is good early. P(success) <= 1 is
          computed for the survivors only, and so are scores that are dear themselves (MES).
Shapes    candidates x (R, m, d); the results have k columns.
"""

from __future__ import annotations

from surefoot.acquisition.success import Target
from surefoot.backend import Array, clip, largest_temporary, like, namespace, sorts_by_shape, to_host
from surefoot.gp.posterior import MIN_VARIANCE, cross_correlations, quick_mean

_LAZY_FROM = 48  # observations; below, all the variances cost less than the bookkeeping
_FIRST_ROWS = 32  # of v in the first bound; doubled each round


def top_candidates(target: Target, x: Array, k: int) -> tuple[Array, Array]:
    """Indices (R, k) of the k best candidates in x (R, m, d), best first, and their values (R, k)."""
    xp = namespace(x)
    R, m, _ = x.shape
    n = target.post.X.shape[1]
    k = min(k, m)
    if R > 1 and sorts_by_shape(x):  # how many candidates survive a bound is each run's own affair
        alone = [top_candidates(target.select(like([r], x)), x[r : r + 1], k) for r in range(R)]
        return xp.concat([index for index, _ in alone]), xp.concat([value for _, value in alone])
    chunk = max(4 * k, largest_temporary(x) // (R * n))
    if m > chunk:  # bounded memory: the best of each chunk, then the best of those
        parts = [(start, top_candidates(target, x[:, start : start + chunk], k)) for start in range(0, m, chunk)]
        indices = xp.concat([index + start for start, (index, _) in parts], axis=1)
        values = xp.concat([value for _, (_, value) in parts], axis=1)
        order = _best(values, k)
        return xp.take_along_axis(indices, order, axis=1), xp.take_along_axis(values, order, axis=1)
    dear = target.score.above is not None
    if (n < _LAZY_FROM and not dear) or target.policy.rises_with_sd == "unknown":
        value = _no_nan(target.values(x))
        order = _best(value, k)
        return order, xp.take_along_axis(value, order, axis=1)
    return _lazy(target, x, k, dear)


def _best(values: Array, k: int) -> Array:
    """Columns of the k largest values of each row, largest first; ties by position."""
    return namespace(values).argsort(values, axis=1, descending=True, stable=True)[:, :k]


def _no_nan(values: Array) -> Array:
    xp = namespace(values)
    return xp.where(xp.isnan(values), -xp.inf, values)


def _lazy(target: Target, x: Array, k: int, dear: bool) -> tuple[Array, Array]:
    xp = namespace(x)
    post = target.post
    R, m, _ = x.shape
    n = post.X.shape[1]
    rows = like(range(R), x)[:, None]
    K = cross_correlations(post, x)  # (R, m, n)
    mu = quick_mean(post, K)
    index = xp.broadcast_to(like(range(m), x)[None], (R, m))
    explained = xp.zeros_like(mu)  # sum of v_i^2 over the rows done

    def sd_of(explained: Array) -> Array:
        return xp.sqrt(post.s2[:, None] * clip(1.0 - explained, MIN_VARIANCE, None))

    def exact(mu: Array, explained: Array, index: Array) -> Array:
        value, _, _ = target.unweighted(mu, sd_of(explained))
        return _no_nan(value if target.success is None else value + target.log_success(x[rows, index]))

    threshold = None  # (R, 1) a lower bound of the k-th best value
    start, width = 0, _FIRST_ROWS
    while start < n:
        stop = min(n, start + width)
        v = post.L_inv[:, start:stop, :stop] @ xp.matrix_transpose(K[:, :, :stop])  # (R, stop - start, m)
        explained = explained + xp.sum(v * v, axis=1)
        start, width = stop, 2 * width
        if start == n and not dear:
            break
        bound = _no_nan(target.bound(mu, sd_of(explained)))
        if start < n and target.policy.rises_with_sd == "above f_best":
            bound = xp.where(mu < target.f_best, xp.inf, bound)
        if threshold is None:  # exact values of the most promising candidates
            lead = _best(bound, 3 * k)
            lead_v = post.L_inv @ xp.matrix_transpose(K[rows, lead])
            values = exact(mu[rows, lead], xp.sum(lead_v * lead_v, axis=1), index[rows, lead])
            threshold = xp.sort(values, axis=1)[:, -k][:, None]
        n_left = max(k, int(to_host(xp.sum(bound >= threshold, axis=1)).max()))  # a rectangle that holds them
        if n_left < 0.8 * mu.shape[1]:
            keep = _best(bound, n_left)
            index, mu, explained, K = index[rows, keep], mu[rows, keep], explained[rows, keep], K[rows, keep]
    value = exact(mu, explained, index)
    order = _best(value, k)
    return xp.take_along_axis(index, order, axis=1), xp.take_along_axis(value, order, axis=1)
