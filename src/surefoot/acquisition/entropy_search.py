"""Entropy search (Hennig & Schuler 2012): how much an evaluation is expected to tell of where the minimum lies.

ES(x) = H[x*] - E_y H[x* | y(x)], the mutual information of the arg-min and the evaluation. It depends on no base
measure: entropies of continuous x* need one, their expected difference does not.

Notation  x* is one of M representers (representers.py). S functions drawn there, mean + L zeta, have their arg-min i(s)
          once and for all, whatever x. With t = (y - mu)/sd_y standard normal, c = q/sd_y and a = L^-1 c, the draw s
          expects t_s = a.zeta_s, and what the representers leave open has the variance 1 - a.a, noise included. So
              P(x* = i, t <= e) = 1/S sum over i(s) = i of Phi((e - t_s)/sqrt(1 - a.a)).
          K intervals of t make a table p_ik; its mutual information is ES. A point that tells nothing
          (c = 0) has 0. In the place of Phi stands the cubic 3 z^2 - 2 z^3 with its variance, 20 times cheaper; y is
          read with an error of BLUR, so that ES is smooth in x.
Bias      A table of S draws tells too much, by about (M - 1)(K - 1)/2S, which is not the same everywhere. Tables of
          S/2 draws tell too much twice that: ES = 2 I(all) - the mean of I(first half) and I(second half).
Shapes    mu, sd (R, m), q and a (R, m, M), zeta and groups (R, M, S), edges e (K - 1,), tables (R, m, K, M).
"""

from __future__ import annotations

import math

from surefoot.acquisition.representers import draws, representers
from surefoot.acquisition.score import JointPartials, JointScore, log_of
from surefoot.acquisition.step import Step
from surefoot.backend import Array, clip, largest_temporary, like, namespace

N_REPRESENTERS = 96
N_DRAWS = 16384
N_ROUGH = 1024  # of them, for screening
EDGES = tuple(-2.5 + 5.0 * k / 22 for k in range(23))  # of the intervals of t; the outermost have no other end
BLUR = 0.06  # of the evaluation's standard deviation
_CUBIC = math.sqrt(20.0)  # the cubic's width in standard deviations
_TINY = 1e-9  # draws: an empty cell of a table, but for rounding


def prepare_es(step: Step) -> JointScore:
    """Draw what ES needs."""
    joint = representers(step, N_REPRESENTERS)
    drawn = draws(joint, step, N_DRAWS, even=True)
    xp = namespace(drawn.values)
    star = xp.argmin(drawn.values, axis=2)  # (R, S)
    groups = xp.astype(star[:, None, :] == like(range(N_REPRESENTERS), star)[:, None], xp.float32)
    zeta = xp.astype(xp.matrix_transpose(drawn.zeta), xp.float32)
    rest = (drawn.L_inv, step.surrogate.noise)
    rough = JointScore(es, joint, (zeta[..., :N_ROUGH], groups[..., :N_ROUGH], *rest))
    return JointScore(es, joint, (zeta, groups, *rest), rough)


def es(mu: Array, sd: Array, q: Array, parameters: tuple[Array, ...], partials: bool) -> JointPartials:
    """log ES and, where wanted, its partials; some points at a time."""
    xp = namespace(q)
    R, _, S = parameters[0].shape
    chunk = max(1, largest_temporary(q) // (4 * R * S * len(EDGES)))
    parts = [_es(sd[:, i : i + chunk], q[:, i : i + chunk], parameters, partials) for i in range(0, q.shape[1], chunk)]
    value, by_sd, by_q = (xp.concat([part[k] for part in parts], axis=1) for k in range(3))
    return log_of(value, xp.zeros_like(mu), by_sd, by_q)


def _es(sd: Array, q: Array, parameters: tuple[Array, ...], partials: bool) -> tuple[Array, Array, Array]:
    """ES and its partials in sd and q. The largest arrays, (R, m, K, S), have single precision."""
    zeta, groups, L_inv, noise = parameters
    xp = namespace(q)
    R, m, _ = q.shape
    half = zeta.shape[-1] // 2
    halves = slice(half), slice(half, None)
    sd_y = xp.sqrt(sd * sd + noise[:, None])
    a = (q / sd_y[..., None]) @ xp.matrix_transpose(L_inv)
    left = 1.0 - xp.sum(a * a, axis=-1)
    width = _CUBIC * xp.sqrt(xp.where(left > 0.0, left, 0.0) + BLUR**2)  # (R, m)
    edges = xp.astype(like(EDGES, q), xp.float32)[:, None]
    narrow = xp.astype(width, xp.float32)[..., None, None]
    t = xp.astype(a, xp.float32) @ zeta  # (R, m, S)
    z = clip((edges - t[:, :, None, :]) / narrow + 0.5, 0.0, 1.0)  # (R, m, K - 1, S)
    below = xp.reshape(z * z * (3.0 - 2.0 * z), (R, -1, 2 * half))
    tables = [_table(below[..., part], groups[..., part], m) for part in halves]
    told = [_information(table) for table in (tables[0] + tables[1], *tables)]
    value = 2.0 * told[0][0] - 0.5 * (told[1][0] + told[2][0])
    if not partials:
        return value, sd, q  # in the place of partials that nobody asked for
    by_below = []
    for (_, gain), part in zip(told[1:], halves, strict=True):
        gain = (2.0 * told[0][1] - gain) / (2.0 * half)
        by_edge = xp.reshape(xp.astype(gain[:, :, :-1] - gain[:, :, 1:], xp.float32), (R, -1, gain.shape[-1]))
        by_below.append(xp.reshape(by_edge @ groups[..., part], (R, m, -1, half)))
    by_z = xp.concat(by_below, axis=-1) * (6.0 * z * (1.0 - z))
    by_t = -xp.sum(by_z, axis=2) / narrow[..., 0]  # (R, m, S)
    by_width = -xp.astype(xp.sum(by_z * (z - 0.5), axis=(2, 3)), q.dtype) / width
    by_a = xp.astype(by_t @ xp.matrix_transpose(zeta), q.dtype)
    by_a = by_a - (xp.where(left > 0.0, by_width, 0.0) * _CUBIC**2 / width)[..., None] * a
    by_c = by_a @ L_inv
    return value, -xp.sum(by_c * q, axis=-1) * sd / sd_y**3, by_c / sd_y[..., None]


def _table(below: Array, groups: Array, m: int) -> Array:
    """(R, m, K, M) draws by interval and arg-min, from how much of each (R, m (K - 1), S) lies below every edge."""
    xp = namespace(below)
    R, M, _ = groups.shape
    under = xp.astype(below @ xp.matrix_transpose(groups), xp.float64)
    under = xp.reshape(under, (R, m, -1, M))
    every = xp.astype(xp.sum(groups, axis=-1), xp.float64)[:, None, None, :] + 0.0 * under[:, :, :1]
    cells = xp.concat([under, every], axis=2) - xp.concat([0.0 * every, under], axis=2)
    return xp.where(cells > _TINY, cells, _TINY)


def _information(table: Array) -> tuple[Array, Array]:
    """Nats (R, m) between interval and arg-min, and the logarithms (R, m, K, M) whose mean that is.

    They are its derivative in the cells too: what comes through the sums over intervals is nothing.
    """
    xp = namespace(table)
    total = xp.sum(table, axis=(2, 3), keepdims=True)
    each = xp.sum(table, axis=2, keepdims=True) * xp.sum(table, axis=3, keepdims=True)
    gain = xp.log(table * total / each)
    return xp.sum(table * gain, axis=(2, 3)) / total[..., 0, 0], gain
