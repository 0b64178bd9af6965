"""Max-value entropy search (Wang & Jegelka 2017), for minimization [NH18, section 2.2].

Notation  f* = min f, unknown; S samples of it;  gamma = (mu - f*)/sd
          MES = mean over samples of h(gamma),  h = gamma phi / (2 Phi) - log Phi
          h' = -(r/2)(1 + gamma^2 + gamma r) with r = phi/Phi
Samples   MES-G: the minimum over many points, taken as independent, has P(f* > z) = prod Phi((mu_i - z)/sd_i); a
          Gumbel law is fitted to its quartiles. MES-R: minima of functions drawn from the posterior
          (random Fourier features conditioned on the data by Matheron's rule).
Shapes    mu, sd (R, m); f_star (R, S); values in log space (R, m).
"""

from __future__ import annotations

import math

from surefoot.acquisition.improvement import Partials
from surefoot.backend import Array, log_ndtr, namespace
from surefoot.numerics.normal import tail_ratios

N_SAMPLES = 100  # [NH18, section 4]
_FAR = 6.0  # |gamma| above which h is computed from the tail ratios
_LOG_SQRT_2PI = 0.5 * math.log(2.0 * math.pi)


def _log_h(gamma: Array) -> tuple[Array, Array]:
    """log h(gamma) and its derivative, without underflow for large gamma; each range computed where it is needed."""
    xp = namespace(gamma)
    far, below = gamma > _FAR, gamma < -_FAR
    near = ~(far | below)
    value, slope = xp.empty_like(gamma), xp.empty_like(gamma)
    g = gamma[near]
    log_Phi = log_ndtr(g)
    r = xp.exp(-0.5 * g * g - _LOG_SQRT_2PI - log_Phi)
    h = 0.5 * g * r - log_Phi
    value[near], slope[near] = xp.log(h), -0.5 * r * (1.0 + g * (g + r)) / h
    # -log Phi = Q (1 + Q/2 + ...), Q = phi rho_0 <= 1e-9: h = phi (gamma/2 + rho_0), relative error below 1e-9
    g = gamma[far]
    factor = 0.5 * g + tail_ratios(g)[0]
    value[far], slope[far] = xp.log(factor) - 0.5 * g * g - _LOG_SQRT_2PI, -0.5 * (1.0 + g * g) / factor
    t = -gamma[below]  # in terms of the tail ratios nothing cancels
    rho_0, rho_1, rho_2 = tail_ratios(t)
    h = _LOG_SQRT_2PI - xp.log(rho_0) - 0.5 * t * rho_1
    value[below], slope[below] = xp.log(h), -rho_1 * rho_2 / rho_0 / h
    return value, slope


def log_mes(mu: Array, sd: Array, f_star: Array) -> Partials:
    """log of the information gained about f* by evaluating at a point with these moments."""
    xp = namespace(mu)
    gamma = (mu[..., None] - f_star[:, None, :]) / sd[..., None]  # (R, m, S)
    log_h, slope = _log_h(gamma)
    top = xp.max(log_h, axis=-1, keepdims=True)
    weights = xp.exp(log_h - top)
    total = xp.sum(weights, axis=-1)
    value = xp.squeeze(top, axis=-1) + xp.log(total / f_star.shape[-1])
    share = weights * slope / total[..., None]
    d_gamma = xp.sum(share, axis=-1)
    return value, d_gamma / sd, -xp.sum(share * gamma, axis=-1) / sd


def sample_minimum_gumbel(mu: Array, sd: Array, f_best: Array, uniforms: Array) -> Array:
    """Samples of f* (R, S) by MES-G, from the moments (R, m) at many points and host draws (R, S) in (0, 1)."""
    xp = namespace(mu)
    # Quartiles of y = -f*: P(y < z) = prod Phi((z + mu_i)/sd_i), increasing in z; all three by one bisection.
    log_levels = xp.log(xp.asarray([[0.25, 0.5, 0.75]], dtype=mu.dtype, device=mu.device))  # (1, 3)
    low = xp.broadcast_to(-f_best, (mu.shape[0], 3))  # at least the best value is reached already ...
    high = xp.max(-mu + 5.0 * sd, axis=1, keepdims=True) + 1e-9
    high = xp.maximum(xp.broadcast_to(high, low.shape), low + 1e-9)  # ... and not much beyond mean - 5 sd
    spread = 10.0 * xp.max(sd, axis=1, keepdims=True)
    low = low - spread  # where the product is surely below 1/4, or as far as matters
    for _ in range(45):
        middle = 0.5 * (low + high)
        log_p = xp.sum(log_ndtr((middle[:, None, :] + mu[..., None]) / sd[..., None]), axis=1)
        below = log_p < log_levels
        low, high = xp.where(below, middle, low), xp.where(below, high, middle)
    y1, y2, y3 = (0.5 * (low + high)[:, i : i + 1] for i in range(3))
    b = (y3 - y1) / math.log(math.log(4.0) / math.log(4.0 / 3.0))
    a = y2 + b * math.log(math.log(2.0))
    samples = -(a - b * xp.log(-xp.log(uniforms)))
    return xp.minimum(samples, f_best)  # the minimum is no higher than what was seen


def sample_minimum(paths: Array, f_best: Array) -> Array:
    """Samples of f* (R, S) by MES-R: minima of functions drawn from the posterior, (R, m, S) at many points."""
    xp = namespace(paths)
    return xp.minimum(xp.min(paths, axis=1), f_best)
