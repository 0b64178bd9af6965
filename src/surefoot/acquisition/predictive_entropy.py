"""Predictive entropy search (Hernández-Lobato et al. 2014): ES seen from the other side.

PES(x) = H[y(x)] - E_x* H[y(x) | x*], the same mutual information as ES in the form whose entropies are of y, a number.
Entropies are relative to y's own units on both sides, so no base measure is left in the difference.

Notation  Draws of the representers' values, f = mean + L zeta, fall into groups by their arg-min i, with shares p_i.
          Given the representers f(x) is normal with mean mu + a.zeta, a = L^-1 q, and variance sd^2 - a.a. So given
          x* = i
              var_i = sd^2 - a' D_i a,    D_i = 1 - cov(zeta | i),
              PES = sum_i p_i/2 log((sd^2 + noise) / (var_i + noise)),
          with y given x* taken as normal, as the authors take it.
Why draws Conditioning by expectation propagation, as the authors do, counts constraints that say nearly the same as
          often as they come: representers side by side make var_i too small, and can move the maximum.
Few draws A group of fewer than LEAST joins the others. log of a variance from k degrees of freedom is too small by 1/k
          on average: cov is scaled up by that.
Shapes    mu, sd (R, m), q (R, m, M), zeta (R, S, M), D (R, M, M, M): a group for each representer.
"""

from __future__ import annotations

from surefoot.acquisition.representers import Draws, draws, representers
from surefoot.acquisition.score import JointPartials, JointScore, log_of
from surefoot.acquisition.step import Step
from surefoot.backend import Array, empty, largest_temporary, like, namespace, to_host

N_REPRESENTERS = 96
N_DRAWS = 16384
LEAST = 4


def prepare_pes(step: Step) -> JointScore:
    """Draw what PES needs."""
    joint = representers(step, N_REPRESENTERS)
    drawn = draws(joint, step, N_DRAWS)
    shares, reductions = _groups(drawn)
    return JointScore(pes, joint, (shares, reductions, drawn.L_inv, step.surrogate.noise))


def _groups(drawn: Draws) -> tuple[Array, Array]:
    """The share p (R, M) of each arg-min among the draws, and D (R, M, M, M)."""
    zeta = drawn.zeta
    xp = namespace(zeta)
    R, S, M = zeta.shape
    star = xp.argmin(drawn.values, axis=2)  # (R, S)
    hits = xp.sum(xp.astype(star[:, :, None] == like(range(M), zeta), zeta.dtype), axis=1)  # (R, M)
    rest = xp.argmin(hits, axis=1)[:, None]  # groups that are too small join the smallest
    star = xp.where(xp.take_along_axis(hits, star, axis=1) < LEAST, rest, star)
    order = xp.argsort(star, axis=1, stable=True)
    counts = to_host(xp.sum(xp.astype(star[:, :, None] == like(range(M), zeta), zeta.dtype), axis=1)).astype(int)
    eye = xp.eye(M, dtype=zeta.dtype, device=zeta.device)
    D = empty((R, M, M, M), zeta)
    for r in range(R):
        ordered, start = zeta[r, order[r]], 0
        for i, n in enumerate(counts[r].tolist()):
            some, start = ordered[start : start + n], start + n
            if n < 2:
                D[r, i] = 0.0 * eye
                continue
            centred = some - xp.mean(some, axis=0)
            D[r, i] = eye - (xp.matrix_transpose(centred) @ centred) * (n / (n - 1.0) ** 2)
    return like(counts / S, zeta), D


def pes(mu: Array, sd: Array, q: Array, parameters: tuple[Array, ...], partials: bool) -> JointPartials:
    """log PES and its partials; some points at a time."""
    xp = namespace(q)
    R, _, M = q.shape
    chunk = max(1, largest_temporary(q) // (R * M * M))
    parts = [_pes(sd[:, i : i + chunk], q[:, i : i + chunk], parameters) for i in range(0, q.shape[1], chunk)]
    value, by_sd, by_q = (xp.concat([part[k] for part in parts], axis=1) for k in range(3))
    return log_of(value, xp.zeros_like(mu), by_sd, by_q)


def _pes(sd: Array, q: Array, parameters: tuple[Array, ...]) -> tuple[Array, Array, Array]:
    shares, reductions, L_inv, noise = parameters
    xp = namespace(q)
    a = q @ xp.matrix_transpose(L_inv)  # (R, m, M)
    reduced = a[:, None] @ reductions  # D_i a, (R, G, m, M)
    variance = sd * sd
    noise, weights = noise[:, None], shares[..., None]
    least = 1e-12 * variance[:, None] + noise[:, None]
    left = variance[:, None] - xp.sum(reduced * a[:, None], axis=-1) + noise[:, None]  # var_i + noise, (R, G, m)
    left = xp.maximum(left, least)
    value = 0.5 * xp.sum(weights * (xp.log(variance + noise)[:, None] - xp.log(left)), axis=1)
    by_sd = sd * xp.sum(weights * (1.0 / (variance + noise)[:, None] - 1.0 / left), axis=1)
    by_a = xp.sum((weights / left)[..., None] * reduced, axis=1)
    return value, by_sd, by_a @ L_inv
