"""The k best of many candidates, exactly, without most of their variances.

Purpose   The mean of a candidate costs O(n), its variance O(n^2): at n = 1000 the variances of a few thousand candidates
          cost more than the whole refit. But 1 - sum of v_i^2 over the first rows of v = L^-1 k(x) is the variance
          given the first observations only, an upper bound that falls to the variance as rows are added. Where the
          score rises with sd, a candidate whose score at the bound is below the k-th best known score is out.
          The first observations are the space-filling design, so the bound is good early.
Shapes    candidates x (R, m, d); the result has K columns.
"""

from __future__ import annotations

from surefoot.acquisition.registry import Policy, Score
from surefoot.backend import Array, like, namespace, to_host
from surefoot.gp.posterior import MIN_VARIANCE, Posterior, cross_correlations, moments, quick_mean

_LAZY_FROM = 48  # observations; below, all the variances cost less than the bookkeeping
_CHUNK = 1 << 24  # elements of the largest intermediate array: 128 MB


def top_candidates(
    post: Posterior, policy: Policy, score: Score, f_best: Array, x: Array, k: int
) -> tuple[Array, Array]:
    """Indices (R, k) of the k best candidates in x (R, m, d), best first, and their scores (R, k)."""
    xp = namespace(x)
    R, m, _ = x.shape
    n = post.X.shape[1]
    k = min(k, m)
    chunk = max(1, _CHUNK // (R * n))
    if m > chunk:  # bounded memory: the best of each chunk, then the best of those
        parts = [
            (start, top_candidates(post, policy, score, f_best, x[:, start : start + chunk], k))
            for start in range(0, m, chunk)
        ]
        indices = xp.concat([index + start for start, (index, _) in parts], axis=1)
        values = xp.concat([value for _, (_, value) in parts], axis=1)
        order = _best(values, k)
        return xp.take_along_axis(indices, order, axis=1), xp.take_along_axis(values, order, axis=1)
    if n < _LAZY_FROM or policy.rises_with_sd == "unknown":
        value, _, _ = score(*moments(post, x))
        value = xp.where(xp.isnan(value), -xp.inf, value)
        order = _best(value, k)
        return order, xp.take_along_axis(value, order, axis=1)
    return _lazy(post, policy, score, f_best, x, k)


def _best(values: Array, k: int) -> Array:
    """Columns of the k largest values of each row, largest first; ties by position."""
    return namespace(values).argsort(values, axis=1, descending=True, stable=True)[:, :k]


def _lazy(
    post: Posterior, policy: Policy, score: Score, f_best: Array, x: Array, k: int
) -> tuple[Array, Array]:
    xp = namespace(x)
    R, m, _ = x.shape
    n = post.X.shape[1]
    K = cross_correlations(post, x)  # (R, m, n)
    mu = quick_mean(post, K)
    index = xp.broadcast_to(like(range(m), x)[None], (R, m))
    explained = xp.zeros_like(mu)  # sum of v_i^2 over the rows done
    scale = post.s2[:, None]

    def bound(mu: Array, explained: Array) -> Array:
        sd = xp.sqrt(scale * xp.clip(1.0 - explained, MIN_VARIANCE, None))
        value, _, _ = score(mu, sd)
        value = xp.where(xp.isnan(value), -xp.inf, value)
        if policy.rises_with_sd == "above f_best":
            value = xp.where(mu < f_best, xp.inf, value)
        return value

    threshold = xp.full((R, 1), -xp.inf, dtype=mu.dtype, device=mu.device)
    start, width = 0, 32
    while True:
        stop = min(n, start + width)
        v = post.L_inv[:, start:stop, :stop] @ xp.matrix_transpose(K[:, :, :stop])  # (R, rows, m)
        explained = explained + xp.sum(v * v, axis=1)
        start, width = stop, 2 * width
        if start == n:
            break
        upper = bound(mu, explained)
        if width == 64:  # after the first block: exact scores of the most promising give the threshold
            lead = _best(upper, 3 * k)
            rows = like(range(R), x)[:, None]
            lead_v = xp.matrix_transpose(post.L_inv @ xp.matrix_transpose(K[rows, lead]))
            sd = xp.sqrt(scale * xp.clip(1.0 - xp.sum(lead_v * lead_v, axis=2), MIN_VARIANCE, None))
            value, _, _ = score(mu[rows, lead], sd)
            value = xp.where(xp.isnan(value), -xp.inf, value)
            threshold = xp.sort(value, axis=1)[:, -k][:, None]
        n_left = int(to_host(xp.sum(upper >= threshold, axis=1)).max())  # the rectangle that holds all
        n_left = max(n_left, k)
        if n_left < 0.8 * mu.shape[1]:
            keep = _best(upper, n_left)
            rows = like(range(R), x)[:, None]
            index, mu, explained, K = index[rows, keep], mu[rows, keep], explained[rows, keep], K[rows, keep]
    sd = xp.sqrt(scale * xp.clip(1.0 - explained, MIN_VARIANCE, None))
    value, _, _ = score(mu, sd)
    value = xp.where(xp.isnan(value), -xp.inf, value)
    order = _best(value, k)
    return xp.take_along_axis(index, order, axis=1), xp.take_along_axis(value, order, axis=1)
