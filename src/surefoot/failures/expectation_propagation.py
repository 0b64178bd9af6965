"""Gaussian process classification by expectation propagation [RW06, sections 3.6 and 5.5.2], all sites at once.

Notation  site i: exp(nu f - tau f^2 / 2), root = sqrt tau, target = nu / root;   a = root B^-1 target, mu = K a
          b = diag B^-1 = 1 - tau sigma^2 (sigma^2 the marginal variance), so that no cavity divides by a difference:
          cavity   v = sigma^2 / b,  m = (mu - sigma^2 nu) / b
          tilted   u = h m / sqrt(1 + v), rho = phi(u)/Phi(u), x = rho (rho + u) in (0, 1):
                   tau <- x / (1 + v (1 - x)),   nu <- tau m + h rho sqrt(1 + v) / (1 + v (1 - x)),   0 < tau <= 1
          fixed point: a = h rho / sqrt(1 + v) and tau b = x / (1 + v)
          log Z = sum log Phi(u) - sum log b / 2 - log|B| / 2 + sum b m (tau m - nu) / 2     [RW06, Eq. 3.65, collected]
Method    The update of all sites at once, damped, oscillates where labels are separable and s2 is large (100 sweeps and
          more). Anderson's acceleration over the last few sweeps, in (root, target), takes 10 to 25, and from a nearby
          start 4 to 8. Where that would go against the update, or the residual doubled, the step is a plain one.
Floor     tau >= FLOOR / s2, the site's mean being matched: then sigma^2 = (1 - b) / tau needs no product of matrices.
          It changes log Z by at most about FLOOR per point.
Shapes    as in classification.py.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

from surefoot.backend import Array, clip, namespace
from surefoot.failures.classification import (
    Evaluation,
    classifier,
    factorize_sites,
    latent_prior,
    matvec,
    nll_gradient,
    posterior,
    solve,
)
from surefoot.failures.iterations import State, settle
from surefoot.gp.kernels import Kernel
from surefoot.gp.likelihood import Data
from surefoot.gp.posterior import Posterior
from surefoot.numerics.normal import log_pi

# At 1e3 the probit's unit noise is 3 % of the latent sd: labels are all but deterministic and the likelihood is flat.
# The held-out log loss differs by 10 % at most for a bound of 100, by 2 % for 1e4 (docs/understanding/classifiers.md).
MAX_S2 = 1e3
FLOOR = 1e-10
FIT_TOL, FINAL_TOL = 1e-6, 1e-10  # of the fixed point's residual; log Z is stationary there, its error the square
MAX_ITER = 80
_DEPTH = 5  # sweeps that Anderson's acceleration combines
_DAMPING = 0.8
_RIDGE = 1e-12


@dataclass(frozen=True)
class Sweep:
    """What one sweep over all sites finds; arrays (R, S, n) unless said otherwise."""

    root: Array  # new sites
    target: Array
    a: Array  # K^-1 mu under the old ones
    mu: Array
    residual: Array  # (R, S) distance of the old sites from the fixed point
    log_z: Array  # (R, S)
    L_inv: Array  # (R, S, n, n)


def _cavity(
    root: Array, target: Array, mu: Array, b: Array, seen: Array, s2: Array | None
) -> tuple[Array, Array, Array]:
    """v, m and sqrt(1 + v) of every site; s2: a bound of the variance."""
    xp = namespace(root)
    sigma2 = clip((1.0 - b) / xp.where(seen > 0.0, root * root, 1.0), 1e-300, None)
    sigma2 = sigma2 if s2 is None else xp.minimum(sigma2, s2)
    v, m = sigma2 / b, (mu - sigma2 * (root * target)) / b
    return v, m, xp.sqrt(1.0 + v)


def sweep(root: Array, target: Array, K: Array, h: Array) -> Sweep:
    """New sites from the cavities of the old."""
    xp = namespace(root)
    seen = h * h
    s2 = xp.max(xp.linalg.diagonal(K), axis=-1, keepdims=True)
    L_inv, half_log_det = factorize_sites(K, root)
    tau, nu = root * root, root * target
    b = xp.sum(L_inv * L_inv, axis=-2)
    a = root * solve(L_inv, target)
    mu = matvec(K, a)
    v, m, scale = _cavity(root, target, mu, b, seen, s2)
    u = h * m / scale
    log_p, rho = log_pi(u)
    x = clip(rho * (rho + u), 0.0, 1.0)
    log_z = xp.sum(seen * (log_p - 0.5 * xp.log(b) + 0.5 * b * m * (tau * m - nu)), axis=-1) - half_log_det
    slope = h * rho / scale  # d log Z_i / dm
    off = xp.maximum(xp.abs(slope - a), xp.abs(x / (scale * scale) - tau * b))
    spread = 1.0 + v * (1.0 - x)
    tau_tilted = x / spread
    tau_new = xp.maximum(tau_tilted, FLOOR / s2)
    nu_new = tau_tilted * m + h * rho * scale / spread + (tau_new - tau_tilted) * (m + v * slope)
    root_new = seen * xp.sqrt(tau_new)
    return Sweep(root_new, seen * nu_new / xp.sqrt(tau_new), a, mu, xp.max(seen * off, axis=-1), log_z, L_inv)


def _step(state: State, constants: State, last: bool, tol: float) -> tuple[State, State, Array]:
    """One sweep, and the next sites by Anderson's acceleration."""
    sites, old_sites, old_move, d_sites, d_move, best, age = state
    K, h = constants
    xp = namespace(sites)
    R, S, _, n = sites.shape
    found = sweep(sites[:, :, 0], sites[:, :, 1], K, h)
    done = xp.ones_like(age > 0) if last else found.residual <= tol
    move = xp.stack([found.root, found.target], axis=2) - sites  # (R, S, 2, n)
    grew = found.residual > 2.0 * best
    # The history moves on by one; a problem whose residual grew forgets its own.
    keep = ((age > 0) & ~grew)[..., None, None]
    flat = (R, S, 1, 2 * n)
    d_sites = xp.concat([xp.reshape(sites - old_sites, flat), d_sites[:, :, :-1]], axis=2)
    d_move = xp.concat([xp.reshape(move - old_move, flat), d_move[:, :, :-1]], axis=2)
    d_sites, d_move = xp.where(keep, d_sites, 0.0), xp.where(keep, d_move, 0.0)
    # Least squares for the combination of earlier moves that cancels this one; empty columns get weight 0.
    gram = d_move @ xp.matrix_transpose(d_move)  # (R, S, depth, depth)
    trace = xp.sum(xp.linalg.diagonal(gram), axis=-1)
    ridge = xp.where(trace > 0.0, _RIDGE * trace, 1.0)[..., None, None]
    gram = gram + ridge * xp.eye(_DEPTH, dtype=gram.dtype, device=gram.device)
    column = xp.reshape(move, (R, S, 2 * n, 1))
    weights = xp.matrix_transpose(xp.linalg.solve(gram, d_move @ column))  # (R, S, 1, depth)
    damping = xp.where(age > 0, xp.where(grew, 0.5, _DAMPING), 1.0)[..., None, None]
    plain = damping * xp.reshape(move, flat)
    bent = plain - weights @ d_sites - damping * (weights @ d_move)
    # Where the moves still grow, the secant leads back to where they are least: a step against the move is not taken.
    forward = xp.sum(bent * plain, axis=-1, keepdims=True) > 0.0
    ahead = sites + xp.reshape(xp.where(forward, bent, plain), (R, S, 2, n))
    least = h * h * xp.sqrt(FLOOR / xp.max(xp.linalg.diagonal(K), axis=-1, keepdims=True))
    ahead = xp.stack([xp.minimum(xp.maximum(ahead[:, :, 0], least), h * h), ahead[:, :, 1]], axis=2)
    new_sites = xp.where(done[..., None, None], sites, ahead)
    best = xp.where(grew, found.residual, xp.minimum(best, found.residual))
    new = (new_sites, sites, move, d_sites, d_move, best, age + 1)
    return new, (found.L_inv, found.a, found.mu, found.log_z, found.residual), done


@dataclass(frozen=True)
class Sites:
    """The fixed point."""

    root: Array  # (R, S, n)
    target: Array  # (R, S, n)
    a: Array  # (R, S, n)
    mu: Array  # (R, S, n)
    L_inv: Array  # (R, S, n, n)
    log_z: Array  # (R, S)
    residual: Array  # (R, S)

    def left_out(self, h: Array) -> Array:
        """log P(label | all the others) of every label h (R, S, n): what its cavity says."""
        b = namespace(h).sum(self.L_inv * self.L_inv, axis=-2)
        _, m, scale = _cavity(self.root, self.target, self.mu, b, h * h, None)
        return log_pi(h * m / scale)[0]


def find_sites(K: Array, labels: Array, start: Array | None, tol: float) -> Sites:
    """Sites of every problem with the prior covariance K and labels (R, n); not settled: those after the last sweep."""
    xp = namespace(K)
    R, S, n, _ = K.shape
    h = xp.broadcast_to(labels[:, None, :], (R, S, n))
    kwargs = {"dtype": h.dtype, "device": h.device}
    least = h * h * xp.sqrt(FLOOR / xp.max(xp.linalg.diagonal(K), axis=-1, keepdims=True))
    if start is None:
        sites = xp.stack([least, xp.zeros_like(least)], axis=2)
    else:
        sites = xp.stack([xp.maximum(start[:, :, 0], least), start[:, :, 1]], axis=2)
    history = xp.zeros((R, S, _DEPTH, 2 * n), **kwargs)
    best = xp.full((R, S), xp.inf, **kwargs)
    age = xp.zeros((R, S), dtype=xp.int64, device=h.device)
    state = (sites, sites, sites, history, history, best, age)
    (sites, *_), (L_inv, a, mu, log_z, residual) = settle(functools.partial(_step, tol=tol), state, (K, h), MAX_ITER)
    return Sites(sites[:, :, 0], sites[:, :, 1], a, mu, L_inv, log_z, residual)


def approximate(
    theta: Array, data: Data, kernel: Kernel, start: Array | None = None, gradient: bool = True
) -> Evaluation:
    """-log Z_EP (R, S) and its gradient [RW06, Algorithm 5.2]; `start`: sites (R, S, 2, n) of a nearby theta."""
    xp = namespace(theta)
    prior = latent_prior(theta, data, kernel)
    sites = find_sites(prior.K, data.y, start, FIT_TOL)
    nll = xp.where(xp.isfinite(sites.log_z), -sites.log_z, xp.inf)
    found = xp.stack([sites.root, sites.target], axis=2)
    if not gradient:
        return Evaluation(nll, xp.zeros_like(theta), found)
    grad = nll_gradient(prior, data, sites.root, sites.L_inv, sites.a, sites.mu, None)
    return Evaluation(nll, xp.where(xp.isfinite(nll)[..., None], grad, 0.0), found)


def condition(data: Data, theta: Array, kernel: Kernel, start: Array | None = None) -> Posterior:
    """The latent posterior of every run given its hyperparameters theta (R, p) [RW06, Algorithm 3.6]."""
    prior = latent_prior(theta[:, None], data, kernel)
    sites = find_sites(prior.K, data.y, start, FINAL_TOL)
    return posterior(data, theta, kernel, sites.root[:, 0], sites.target[:, 0], sites.L_inv[:, 0])


failure_model = classifier(approximate, condition, MAX_S2)
