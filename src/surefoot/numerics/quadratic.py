"""The least value of a convex quadratic inside half-spaces: a primal active-set method for few variables.

Problem   min g's + s'Bs/2 over s with A s >= b, from a start that meets all of it. A box is half-spaces too.
Method    [Nocedal & Wright, Numerical Optimization, Algorithm 16.3]: along the way every point is inside, so
          that a search that is stopped early still has a step. A half-space that stops a step is independent of those
          that it moves along: the equations always have one solution.
Guess     Problems that follow one another mostly touch the same half-spaces. Those that the last one touched are tried
          first, then what their equations point to; who satisfies the conditions of optimality is the answer.
Shapes    g, s (d,); B (d, d) positive definite; A (k, d), b (k,), -inf where there is no limit; multipliers (k,).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg.lapack import dgesv

_TINY = 1e-13  # of the sizes that meet in a product: what is less is rounding
_NEARLY = 1e-10  # of b: how well equations must be met
_MOST_GUESSES = 6


@dataclass(frozen=True)
class Least:
    """Where the least value is."""

    s: np.ndarray
    multipliers: np.ndarray  # all >= 0
    active: np.ndarray  # places of the half-spaces that it touches


def minimize_quadratic(
    B: np.ndarray, g: np.ndarray, A: np.ndarray, b: np.ndarray, start: np.ndarray, guess: Sequence[int] = ()
) -> Least:
    """The step s and the multipliers of the half-spaces; `guess`: places of those that s may touch."""
    found = _touching(B, g, A, b, np.asarray(guess, dtype=int))
    if found is not None:
        return found
    sizes = np.abs(A).sum(axis=1)
    s, active = start, np.zeros(0, dtype=int)
    multipliers = np.zeros(len(b))
    for _ in range(10 + 4 * len(b)):
        step, own, solved = _along(B, g + B @ s, A[active], np.zeros(len(active)))
        if not solved:  # half-spaces that are one to rounding
            break
        slope = A @ step
        slope[active] = 0.0
        stops = np.flatnonzero(slope < -_TINY * sizes * np.abs(step).max())
        lengths = np.maximum(A[stops] @ s - b[stops], 0.0) / -slope[stops]
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
    return Least(s, multipliers, active)


def _touching(B: np.ndarray, g: np.ndarray, A: np.ndarray, b: np.ndarray, active: np.ndarray) -> Least | None:
    """The least value on these half-spaces, or on few others; None if it is not found so.

    Those that hold it back are left, and those that it would pass are added: all, or if that is too many the worst.
    """
    active = active[b[active] > -np.inf]
    for _ in range(_MOST_GUESSES):
        if len(active) > len(g):
            return None
        s, own, solved = _along(B, g, A[active], b[active])
        if not solved:
            return None
        room = A @ s - b
        missed, room[active] = room[active], 0.0  # rounding, unless the equations are nearly singular
        if not (np.abs(missed) <= _NEARLY * (1.0 + np.abs(b[active]))).all():
            return None
        added, holding = (room < 0.0).nonzero()[0], own < 0.0
        if not (len(added) or holding.any()):
            multipliers = np.zeros(len(b))
            multipliers[active] = own
            return Least(s, multipliers, active)
        kept = active[~holding]
        if len(added) > len(g) - len(kept):
            added = added[[room[added].argmin()]]
        active = np.concatenate([kept, added])
    return None


def _along(B: np.ndarray, gradient: np.ndarray, A: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray, bool]:
    """The step to the least value with A step = b, the multipliers of A's rows, and whether there is one such step."""
    d, k = len(gradient), len(A)
    equations = np.zeros((d + k, d + k))
    equations[:d, :d], equations[:d, d:], equations[d:, :d] = B, A.T, A
    _, _, solution, info = dgesv(equations, np.concatenate([-gradient, b]))
    return solution[:d], -solution[d:], info == 0
