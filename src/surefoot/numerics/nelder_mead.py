"""Nelder-Mead on many problems at once, in lock-step, over the unit cube.

Purpose   The local solver of the paper's own search [NH18, section 4]: ten starts for each of R runs.
Method    The standard simplex moves (reflect 1, expand 2, contract 1/2, shrink 1/2); trial points are projected on the
          cube, or where it is walled count as infinite outside. One iteration is one call of `fun` with the four
          possible trial points of every simplex: the decisions are those of the sequential method, in fewer and
          fatter steps. Shrinks take a second call.
Stopping  worst - best <= f_tol |best| + slack, a relative and an absolute tolerance on the value; or a simplex smaller
          than x_tol, where only rounding is left: beside the incumbent u is known to a few digits, and a simplex that
          waits for three of them to agree there goes on until its vertices are neighbouring floats.
Shapes    starts and sides of the first simplex (R, S, d), simplex (R, S, d + 1, d), values (R, S, d + 1).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from surefoot.backend import Array, clip, namespace, to_host
from surefoot.numerics.running import running_parts

Values = Callable[[Array, "Array | None"], Array]
"""(x (R', m, d), indices of the R' runs or None for all) -> f (R', m), to be minimized."""

FIRST_SIZE = 0.05  # of a side; fminsearch uses 5 % of each coordinate
X_TOL = 1e-8  # of a side: closer points are not told apart by the optimizer either (Settings.min_distance)


@dataclass(frozen=True)
class Rules:
    """When a simplex ends, and what it finds outside the cube."""

    f_tol: float  # relative, on the value
    x_tol: float = X_TOL
    max_moves: int | None = None  # None: fminsearch's limit
    walled: bool = False  # outside the cube values are infinite; otherwise points are projected on it

    def most_moves(self, d: int) -> int:
        """Moves of a simplex of d + 1 vertices, at most."""
        return 200 * d if self.max_moves is None else self.max_moves


@dataclass(frozen=True)
class SimplexResult:
    """The best vertex of every simplex."""

    x: Array  # (R, S, d)
    f: Array  # (R, S)
    converged: Array  # (R, S)
    n_calls: int


def _evaluate(fun: Values, points: Array, runs: Array | None, walled: bool) -> Array:
    """f at points (R', S', k, d), as (R', S', k)."""
    xp = namespace(points)
    R, S, k, d = points.shape
    f = xp.reshape(fun(xp.reshape(points, (R, S * k, d)), runs), (R, S, k))
    if walled:
        f = xp.where(xp.all((points >= 0.0) & (points <= 1.0), axis=-1), f, xp.inf)
    return xp.where(xp.isnan(f), xp.inf, f)


def equal_sides(x0: Array) -> Array:
    """Sides (R, S, d) of first simplices at x0 that are equally long, and point inward at the upper face."""
    xp = namespace(x0)
    return xp.where(x0 + FIRST_SIZE > 1.0, -FIRST_SIZE, xp.full_like(x0, FIRST_SIZE))


def sides_of_coordinates(x0: Array, origin: Array) -> Array:
    """Sides (R, S, d) of first simplices as fminsearch makes them, where the variables' own zero lies at `origin`.

    5 % of every coordinate, counted from the origin (R, 1, d), with its sign; 0.00025 exactly at the origin, where only
    integers and categories can lie: of a side of the cube, not in their own units.
    """
    xp = namespace(x0)
    own = x0 - origin
    return xp.where(own == 0.0, 0.00025, FIRST_SIZE * own)


def minimize_simplex(
    fun: Values, x0: Array, rules: Rules, *, slack: Array | float = 0.0, sides: Array | None = None
) -> SimplexResult:
    """Minimize from every x0 (R, S, d), slack (R, 1); see the head of the file."""
    xp = namespace(x0)
    R, S, d = x0.shape
    f_tol = rules.f_tol
    sides = equal_sides(x0) if sides is None else sides
    corners = x0[..., None, :] + sides[..., None, :] * xp.eye(d, dtype=x0.dtype, device=x0.device)  # (R, S, d, d)
    simplex = xp.concat([x0[..., None, :], corners], axis=2)
    f = _evaluate(fun, simplex, None, rules.walled)
    n_calls = 1
    for _ in range(rules.most_moves(d)):
        order = xp.argsort(f, axis=-1, stable=True)
        f = xp.take_along_axis(f, order, axis=-1)
        simplex = xp.take_along_axis(simplex, xp.broadcast_to(order[..., None], simplex.shape), axis=2)
        size = xp.max(xp.abs(simplex[..., 1:, :] - simplex[..., :1, :]), axis=(-2, -1))
        done = _is_flat(f[..., 0], f[..., -1], f_tol, slack) | (size <= rules.x_tol)
        running = to_host(~done)
        if not running.any():
            break
        parts = running_parts(running, x0)
        # Finished simplices that fill a rectangle are moved along, but stay as they are.
        if parts is None:
            moved, f_moved, calls = _move(fun, simplex, f, None, rules.walled)
            simplex = xp.where(done[..., None, None], simplex, moved)
            f = xp.where(done[..., None], f, f_moved)
            n_calls += calls
            continue
        simplex, f = xp.asarray(simplex, copy=True), xp.asarray(f, copy=True)
        for part in parts:
            at = (part.rows, part.columns)
            moved, f_moved, calls = _move(fun, simplex[at], f[at], part.runs, rules.walled)
            simplex[at] = xp.where(done[at][..., None, None], simplex[at], moved)
            f[at] = xp.where(done[at][..., None], f[at], f_moved)
            n_calls += calls
    best = xp.argmin(f, axis=-1)[..., None]
    x = xp.take_along_axis(simplex, xp.broadcast_to(best[..., None], (R, S, 1, d)), axis=2)[:, :, 0]
    f_best = xp.take_along_axis(f, best, axis=-1)[..., 0]
    return SimplexResult(x, f_best, _is_flat(f_best, xp.max(f, axis=-1), f_tol, slack), n_calls)


def _is_flat(f_best: Array, f_worst: Array, f_tol: float, slack: Array | float) -> Array:
    """Whether a simplex has converged; one without any finite value has nothing to follow either."""
    xp = namespace(f_best)
    spread = f_worst - xp.where(xp.isfinite(f_best), f_best, 0.0)
    return ~xp.isfinite(f_best) | (spread <= f_tol * xp.abs(f_best) + slack)


def _move(fun: Values, simplex: Array, f: Array, runs: Array | None, walled: bool) -> tuple[Array, Array, int]:
    """One Nelder-Mead move of every sorted simplex."""
    xp = namespace(simplex)
    worst = simplex[..., -1:, :]
    centre = xp.mean(simplex[..., :-1, :], axis=-2, keepdims=True)
    factors = xp.asarray([1.0, 2.0, 0.5, -0.5], dtype=f.dtype, device=f.device)[:, None]
    trials = centre + factors * (centre - worst)  # reflect, expand, contract out, contract in
    trials = trials if walled else clip(trials, 0.0, 1.0)
    f_trial = _evaluate(fun, trials, runs, walled)
    f_r, f_e, f_out, f_in = (f_trial[..., i] for i in range(4))
    f_best, f_second, f_worst = f[..., 0], f[..., -2], f[..., -1]

    expand = (f_r < f_best) & (f_e < f_r)
    reflect = (f_r < f_second) & ~expand
    outside = ~expand & ~reflect & (f_r < f_worst) & (f_out <= f_r)
    inside = ~expand & ~reflect & (f_r >= f_worst) & (f_in < f_worst)
    shrink = ~(expand | reflect | outside | inside)
    choice = xp.where(expand, 1, xp.where(reflect, 0, xp.where(outside, 2, 3)))
    point = xp.take_along_axis(trials, xp.broadcast_to(choice[..., None, None], worst.shape), axis=2)
    value = xp.take_along_axis(f_trial, choice[..., None], axis=2)
    new_simplex = xp.concat([simplex[..., :-1, :], point], axis=2)
    new_f = xp.concat([f[..., :-1], value], axis=2)
    if not bool(xp.any(shrink)):
        return new_simplex, new_f, 1
    smaller = 0.5 * (simplex + simplex[..., :1, :])
    f_smaller = xp.concat([f[..., :1], _evaluate(fun, smaller[..., 1:, :], runs, walled)], axis=2)
    return (
        xp.where(shrink[..., None, None], smaller, new_simplex),
        xp.where(shrink[..., None], f_smaller, new_f),
        2,
    )
