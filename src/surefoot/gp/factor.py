"""The linear algebra of a Gaussian process: a symmetric positive definite C = L L', kept as L^-1.

Whoever knows a structure of C (sparse, low rank, local) writes another class with these methods: moments and their
gradients ask for nothing else. L^-1 rather than L: to apply it is a product on any device.
Shapes    C (..., n, n); v = L^-1 k for k (..., n, m); w (..., n).
"""

from __future__ import annotations

from dataclasses import dataclass

from surefoot import backend
from surefoot.backend import Array, namespace


@dataclass(frozen=True)
class Factor:
    """Dense factors, one for each of the leading axes."""

    L_inv: Array  # (..., n, n)
    ok: Array  # (...) False where C was not positive definite

    def whiten(self, k: Array) -> Array:
        """L^-1 k."""
        return backend.triangular_matmul(self.L_inv, k)

    def whiten_rows(self, k: Array, start: int, stop: int) -> Array:
        """Rows start to stop of L^-1 k, which need the first `stop` rows of k only."""
        return self.L_inv[..., start:stop, :stop] @ k[..., :stop, :]

    def solve_whitened(self, w: Array) -> Array:
        """L^-T w, that is C^-1 r where w = L^-1 r."""
        xp = namespace(w)
        return xp.squeeze(xp.matrix_transpose(self.L_inv) @ w[..., None], axis=-1)

    def solve_rows(self, v: Array) -> Array:
        """(C^-1 k)' (..., m, n) for v = L^-1 k."""
        return namespace(v).matrix_transpose(v) @ self.L_inv

    def extend(self, v: Array, corner: Factor) -> Factor:
        """The factor after more points: v = L^-1 k(new), `corner` that of what v leaves unexplained among them."""
        xp = namespace(v)
        below = -(corner.L_inv @ self.solve_rows(v))
        below = xp.where(corner.ok[..., None, None], below, 0.0)  # where it failed those points count as far away
        right = xp.concat([self.L_inv, xp.zeros_like(v)], axis=-1)
        L_inv = xp.concat([right, xp.concat([below, corner.L_inv], axis=-1)], axis=-2)
        return Factor(L_inv, self.ok)

    def select(self, runs: Array | slice) -> Factor:
        """The factors of some runs, along the first axis."""
        return Factor(self.L_inv[runs], self.ok[runs])


def factorize(C: Array) -> tuple[Factor, Array]:
    """Factors of C, which is destroyed, and log|L| = log|C| / 2; of the identity where C is not positive definite."""
    xp = namespace(C)
    L, ok = backend.cholesky(C)
    half_log_det = xp.sum(xp.log(xp.linalg.diagonal(L)), axis=-1)
    return Factor(backend.triangular_inverse(L), ok), half_log_det
