"""The least value of a convex quadratic inside half-spaces and a box: a primal active-set method for few variables.

Problem   min g's + s'Bs/2 over s with A s >= b and lower <= s <= upper, from a start that meets all of it.
Method    [Nocedal & Wright, Numerical Optimization, Algorithm 16.3]: along the way every point is inside, so
          that a search that is stopped early still has a step. A half-space that stops a step is independent of those
          that it moves along: the equations always have one solution.
Shapes    g, s (d,); B (d, d) positive definite; A (k, d), b (k,); multipliers (k,) of the half-spaces, without the box.
"""

from __future__ import annotations

import numpy as np

_TINY = 1e-13  # of the sizes that meet in a product: what is less is rounding


def minimize_quadratic(
    B: np.ndarray,
    g: np.ndarray,
    A: np.ndarray,
    b: np.ndarray,
    lower: np.ndarray,
    upper: np.ndarray,
    start: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """The step s and the multipliers of the half-spaces, all >= 0."""
    d, k = len(g), len(b)
    rows = np.concatenate([A, np.eye(d), -np.eye(d)])
    at_least = np.concatenate([b, lower, -upper])
    sizes = np.abs(rows).sum(axis=1)
    s, active = start, np.zeros(0, dtype=int)
    multipliers = np.zeros(len(rows))
    for _ in range(10 + 4 * (d + k)):
        try:
            step, own = _along(B, g + B @ s, rows[active])
        except np.linalg.LinAlgError:  # half-spaces that are one to rounding
            break
        slope = rows @ step
        slope[active] = 0.0
        stops = np.flatnonzero(slope < -_TINY * sizes * np.abs(step).max())
        lengths = np.maximum(rows[stops] @ s - at_least[stops], 0.0) / -slope[stops]
        first = int(np.argmin(lengths)) if len(stops) else -1
        if first >= 0 and lengths[first] < 1.0:
            s = s + lengths[first] * step
            active = np.append(active, stops[first])
            continue
        s = s + step
        if not (own < 0.0).any():
            multipliers[active] = own
            break
        active = np.delete(active, int(np.argmin(own)))
    return np.clip(s, lower, upper), multipliers[:k]


def _along(B: np.ndarray, gradient: np.ndarray, A: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The step to the least value with A step = 0, and the multipliers of A's rows."""
    d, k = len(gradient), len(A)
    equations = np.zeros((d + k, d + k))
    equations[:d, :d], equations[:d, d:], equations[d:, :d] = B, A.T, A
    solution = np.linalg.solve(equations, np.concatenate([-gradient, np.zeros(k)]))
    return solution[:d], -solution[d:]
