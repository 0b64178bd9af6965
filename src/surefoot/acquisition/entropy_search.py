"""Entropy search (Hennig & Schuler 2012): how much an evaluation is expected to tell of where the minimum lies.

ES(x) = H[x*] - E_y H[x* | y(x)], the mutual information of the arg-min and the evaluation. It depends on no base
measure: entropies of continuous x* need one, their expected difference does not.

Notation  x* is one of M representers (representers.py), p its probabilities. With t = (y - mu)/sd_y standard normal,
          c = q/sd_y, a = L^-1 c and gamma = 1/(1 + sqrt(1 - a.a)), the representers' values given y are draws of
              f | t = mean + L zeta + c (t - gamma a.zeta),   zeta standard normal,
          as L (1 - gamma a a') is a root of V - c c'. The same zeta serve every x and t: a point that tells nothing
          (c = 0) has ES = 0 exactly, and ES is smooth in x.
          t falls into one of K intervals with probabilities w_k. Every draw has a t in each, evenly spread over it:
          where y all but fixes x*, p changes within an interval, and single values of t would miss that.
          p_k = mean over draws of softmax(-f/tau), an arg-min softened by a small part of the minimum's uncertainty.
          ES = sum_k w_k sum_i p_ki log(p_ki / pbar_i), pbar = sum_k w_k p_k: at least 0.
Shapes    mu, sd (R, m), q (R, m, M), draws (R, M, S), intervals K.
"""

from __future__ import annotations

from surefoot.acquisition.representers import draws, representers
from surefoot.acquisition.score import JointPartials, JointScore, log_of
from surefoot.acquisition.step import Step
from surefoot.backend import Array, largest_temporary, like, namespace
from surefoot.numerics.designs import normals_by_interval

_TINY = 1e-300
N_REPRESENTERS = 64
N_DRAWS = 512
N_ROUGH = 64  # of them, for screening
SOFTNESS = 0.002  # of the distance between the quartiles of the minimum
EDGES = tuple(-2.5 + 0.5 * k for k in range(11))  # of the intervals of t; the outermost have no other end


def prepare_es(step: Step) -> JointScore:
    """Draw what ES needs."""
    joint = representers(step, N_REPRESENTERS)
    drawn = draws(joint, step, N_DRAWS)
    xp = namespace(drawn.values)
    least = xp.min(drawn.values, axis=2, keepdims=True)
    tau = SOFTNESS * _spread(least[..., 0]) + 1e-300  # (R,)
    scaled = xp.matrix_transpose(least - drawn.values) / tau[:, None, None]  # -f/tau but for what a draw has in common
    zeta = xp.matrix_transpose(drawn.zeta)
    rest = (drawn.L_inv, tau, step.surrogate.noise)
    rough = JointScore(es, joint, (scaled[..., :N_ROUGH], zeta[..., :N_ROUGH], *rest))
    return JointScore(es, joint, (scaled, zeta, *rest), rough)


def _spread(least: Array) -> Array:
    """(R,) between the quartiles of the minima (R, S): that of the likeliest place, whatever rare and deep ones do."""
    xp = namespace(least)
    ordered = xp.sort(least, axis=1)
    quarter = least.shape[1] // 4
    return ordered[:, 3 * quarter] - ordered[:, quarter]


def es(mu: Array, sd: Array, q: Array, parameters: tuple[Array, ...], partials: bool) -> JointPartials:
    """log ES and, where wanted, its partials; some points at a time."""
    xp = namespace(q)
    R, M, S = parameters[0].shape
    chunk = max(1, largest_temporary(q) // (R * S * M * (len(EDGES) + 1)))
    parts = [_es(sd[:, i : i + chunk], q[:, i : i + chunk], parameters, partials) for i in range(0, q.shape[1], chunk)]
    value, by_sd, by_q = (xp.concat([part[k] for part in parts], axis=1) for k in range(3))
    return log_of(value, xp.zeros_like(mu), by_sd, by_q)


def _es(sd: Array, q: Array, parameters: tuple[Array, ...], partials: bool) -> tuple[Array, Array, Array]:
    """ES and its partials in sd and q. The largest arrays, (R, m, K, M, S), have single precision: 1e-6 of ES."""
    scaled, zeta, L_inv, tau, noise = parameters
    xp = namespace(q)
    n_draws = scaled.shape[-1]
    sd_y = xp.sqrt(sd * sd + noise[:, None])
    c = q / sd_y[..., None]
    a = c @ xp.matrix_transpose(L_inv)
    root = xp.sqrt(1.0 - xp.minimum(xp.sum(a * a, axis=-1), 1.0 + 0.0 * sd))  # (R, m)
    gamma = 1.0 / (1.0 + root)
    along = a @ zeta  # a.zeta, (R, m, S)
    t, w = (like(part, q) for part in normals_by_interval(EDGES, n_draws))
    shift = xp.astype(t - (gamma[..., None] * along)[:, :, None, :], xp.float32)  # (R, m, K, S)
    slope = xp.astype(-c / tau[:, None, None], xp.float32)[:, :, None, :, None]
    soft = shift[:, :, :, None, :] * slope
    soft += xp.astype(scaled, xp.float32)[:, None, None]
    soft -= xp.max(soft, axis=3, keepdims=True)
    soft = xp.exp(soft)
    soft /= xp.sum(soft, axis=3, keepdims=True)
    p = xp.astype(xp.sum(soft, axis=-1), q.dtype) / n_draws  # (R, m, K, M)
    gain = w * (xp.log(p + _TINY) - xp.log(xp.sum(w * p, axis=2, keepdims=True) + _TINY))
    value = xp.sum(p * gain, axis=(2, 3))
    if not partials:
        return value, sd, q  # in the place of partials that nobody asked for
    # dES/dp = gain, as the derivative through pbar sums to nothing; d soft = -soft (df - mean of df)/tau
    gain = xp.astype(gain, xp.float32)[..., None]
    by_f = soft * (gain - xp.sum(soft * gain, axis=3, keepdims=True))  # of -f/tau, (R, m, K, M, S)
    by_slope = xp.sum((by_f @ shift[..., None])[..., 0], axis=2)
    by_along = -xp.sum(by_f * slope, axis=(2, 3))  # of gamma a.zeta, (R, m, S)
    by_slope, by_along = (xp.astype(by, q.dtype) / n_draws for by in (by_slope, by_along))
    by_gamma = xp.sum(by_along * along, axis=-1)
    by_a = gamma[..., None] * (by_along @ xp.matrix_transpose(zeta))
    by_a = by_a + (by_gamma * gamma * gamma / xp.maximum(root, 1e-3 + 0.0 * root))[..., None] * a
    by_c = by_a @ L_inv - by_slope / tau[:, None, None]
    return value, -xp.sum(by_c * q, axis=-1) * sd / sd_y**3, by_c / sd_y[..., None]
