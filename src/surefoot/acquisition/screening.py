"""The k best of many candidates, exactly, without most of their variances.

Purpose   Where the score rises with sd, a candidate whose score at an upper bound of sd is below the k-th best known
          score is out. A surrogate that has cheap bounds (gp/bounds.py) brings them down round by round. Weights <= 1
          are computed for the survivors only, and so are scores that are dear themselves (MES). A score that is
          dearest (ES) has a rough form of itself, which leaves it eight times as many candidates as are wanted.
Shapes    candidates x (R, m, d); the results have k columns.
"""

from __future__ import annotations

from surefoot.acquisition.score import Score
from surefoot.acquisition.target import Target
from surefoot.backend import Array, largest_temporary, like, namespace, sorts_by_shape, to_host
from surefoot.gp.surrogate import Bounds

_FIRST_BLOCK, _BLOCK = 32, 256  # candidates whose weights are computed at once: at first, and at most
_PER_BEST = 8  # candidates that a rough score leaves, for each that is wanted
_LAZY_FROM = 48  # observations; below, all the variances cost less than the bookkeeping


def top_candidates(target: Target, x: Array, k: int) -> tuple[Array, Array]:
    """Indices (R, k) of the k best candidates in x (R, m, d), best first, and their values (R, k)."""
    xp = namespace(x)
    R, m, _ = x.shape
    n = target.surrogate.X.shape[1]
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
    if target.rough is not None and m > _PER_BEST * k:
        few, _ = top_candidates(target.rough, x, _PER_BEST * k)
        rows = like(range(R), x)[:, None]
        order, value = top_candidates(target, x[rows, few], k)
        return xp.take_along_axis(few, order, axis=1), value
    asks_moments = isinstance(target.score, Score)
    dear = asks_moments and target.of_moments.above is not None
    screened = asks_moments and (n >= _LAZY_FROM or dear) and target.policy.rises_with_sd != "unknown"
    bounds = target.surrogate.bounds(x) if screened else None
    if bounds is None:
        value = _no_nan(target.unweighted_at(x))
        value = _weighted(target, x, value, k, target.weight_bound(x))
        order = _best(value, k)
        return order, xp.take_along_axis(value, order, axis=1)
    return _lazy(target, x, k, bounds, dear)


def _best(values: Array, k: int) -> Array:
    """Columns of the k largest values of each row, largest first; ties by position."""
    return namespace(values).argsort(values, axis=1, descending=True, stable=True)[:, :k]


def _no_nan(values: Array) -> Array:
    xp = namespace(values)
    return xp.where(xp.isnan(values), -xp.inf, values)


def _weighted(target: Target, x: Array, value: Array, k: int, ceiling: Array | None) -> Array:
    """The values with their weights, which are dear and at most `ceiling`: the best first, until the k best are known.

    Candidates that cannot be among them get -inf.
    """
    xp = namespace(x)
    R, m = value.shape
    if not target.weights or R > 1 or m <= _FIRST_BLOCK:
        return _no_nan(target.weighted(value, x))
    most = value if ceiling is None else _no_nan(value + ceiling)
    order = _best(most, m)
    found = xp.full_like(value, -xp.inf)
    start, size = 0, _FIRST_BLOCK
    while start < m:
        some = order[0, start : start + size]
        if start > 0 and bool(xp.sort(found, axis=1)[0, -k] >= most[0, some[0]]):
            break
        found[0, some] = _no_nan(target.weighted(value[:, some], x[:, some]))[0]
        start, size = start + size, min(2 * size, _BLOCK)
    return found


def _lazy(target: Target, x: Array, k: int, left: Bounds, dear: bool) -> tuple[Array, Array]:
    xp = namespace(x)
    rows = like(range(x.shape[0]), x)[:, None]
    ceiling = target.weight_bound(x)

    def exact(mu: Array, sd: Array, index: Array) -> Array:
        value, _, _ = target.unweighted(mu, sd)
        return _weighted(target, x[rows, index], _no_nan(value), k, None if ceiling is None else ceiling[rows, index])

    threshold = None  # (R, 1) a lower bound of the k-th best value
    while not left.is_exact:
        left.tighten()
        if left.is_exact and not dear:
            break
        bound = _no_nan(target.bound(left.mu, left.sd))
        if not left.is_exact and target.policy.rises_with_sd == "above f_best":
            bound = xp.where(left.mu < target.f_best, xp.inf, bound)
        if ceiling is not None:
            bound = _no_nan(bound + ceiling[rows, left.index])
        if threshold is None:  # exact values of the most promising candidates
            lead = _best(bound, 3 * k)
            values = exact(*left.exact(lead), left.index[rows, lead])
            threshold = xp.sort(values, axis=1)[:, -k][:, None]
        n_left = max(k, int(to_host(xp.sum(bound >= threshold, axis=1)).max()))  # a rectangle that holds them
        if n_left < 0.8 * left.mu.shape[1]:
            left.keep(_best(bound, n_left))
    value = exact(left.mu, left.sd, left.index)
    order = _best(value, k)
    return xp.take_along_axis(left.index, order, axis=1), xp.take_along_axis(value, order, axis=1)
