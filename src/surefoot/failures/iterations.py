"""Iterations of the approximations in lock-step, and what they remember from one theta to the next.

Shapes    Every array of a state begins with the axes (R, S): R runs, S problems in each.
"""

from __future__ import annotations

from collections.abc import Callable

from surefoot.backend import Array, like, namespace, to_host
from surefoot.numerics.running import Part, running_parts

State = tuple[Array, ...]
Iterate = Callable[[State, State, bool], tuple[State, State, Array]]
"""(state, constants, whether it is the last) -> new state, what was computed at the old one, whether that was final.

Every array begins with the axes (R', S'). A problem whose old state is final keeps it."""


def settle(step: Iterate, state: State, constants: State, max_iter: int) -> tuple[State, State]:
    """Iterate every problem until its state is final; the state, and what `step` computed there.

    Finished problems leave the batch. At max_iter the state reached counts as final.
    """
    parts: list[Part] | None = None
    inner = [constants]
    outputs: State = ()
    running = None
    for i in range(max_iter):
        changed = False
        for part, values in zip([None] if parts is None else parts, inner, strict=True):
            here = state if part is None else tuple(s[part.rows, part.columns] for s in state)
            new, computed, done = step(here, values, i == max_iter - 1)
            finished = to_host(done)
            changed |= bool(finished.any())
            if part is None:
                state, outputs, running = new, computed, ~finished
                continue
            for whole, piece in zip((*state, *outputs), (*new, *computed), strict=True):
                whole[part.rows, part.columns] = piece
            assert running is not None
            running[to_host(part.rows), to_host(part.columns)] = ~finished
        assert running is not None
        if not running.any():
            break
        if changed:
            parts = running_parts(running, state[0])
            inner = [constants] if parts is None else [tuple(c[p.rows, p.columns] for c in constants) for p in parts]
    return state, outputs


class Recall:
    """The latest approximations of every run, so that the next one starts from the nearest of them in theta."""

    _SPARE = 6

    def __init__(self) -> None:
        self._theta: Array | None = None  # (R, slots, p)
        self._found: Array | None = None  # (R, slots, k, n)
        self._next: list[int] = []  # (R) the oldest slot of each run

    def nearest(self, theta: Array, runs: Array | None) -> Array | None:
        """A start (R', S', k, n) for every theta (R', S', p), None while nothing is known."""
        if self._theta is None or self._found is None:
            return None
        xp = namespace(theta)
        known, found = (self._theta, self._found) if runs is None else (self._theta[runs], self._found[runs])
        diff = theta[:, :, None, :] - known[:, None, :, :]
        best = xp.argmin(xp.sum(diff * diff, axis=-1), axis=-1)  # (R', S')
        return found[like(range(theta.shape[0]), theta)[:, None], best]

    def keep(self, theta: Array, found: Array, runs: Array | None) -> None:
        """Remember what was found at theta, in place of the oldest."""
        xp = namespace(theta)
        R, S, p = theta.shape
        if self._theta is None or self._found is None:
            n_slots = S + self._SPARE
            self._theta = xp.full((R, n_slots, p), xp.inf, dtype=theta.dtype, device=theta.device)
            self._found = xp.zeros((R, n_slots, *found.shape[2:]), dtype=theta.dtype, device=theta.device)
            self._next = [0] * R
        n_slots = self._theta.shape[1]
        numbers = list(range(R)) if runs is None else to_host(runs).tolist()
        slots = like([[(self._next[r] + i) % n_slots for i in range(S)] for r in numbers], theta)
        for r in numbers:
            self._next[r] = (self._next[r] + S) % n_slots
        rows = like(numbers, theta)[:, None]
        self._theta[rows, slots] = theta
        self._found[rows, slots] = found
