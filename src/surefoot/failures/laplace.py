"""Gaussian process classification by Laplace's approximation [RW06, sections 3.4 and 5.5.1].

Notation  u = h f, rho = phi(u)/Phi(u):   log p = sum log Phi(u),   d log p/df = h rho,   W = rho (rho + u)
          mode   f = K a with a = h rho: Newton's method, f <- K a, a = b - W^1/2 B^-1 W^1/2 K b, b = W f + h rho
          log q  = -a.f/2 + log p(h | f) - log|B|/2
Notes     Sites of the approximation at the mode: tau = W, nu = W f + h rho; so root = sqrt W and
          target = root f + h sqrt(rho / (rho + u)), which stays finite where W underflows (u > 38).
Shapes    as in classification.py.
"""

from __future__ import annotations

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

TOL = 1e-8  # largest relative change of f in the Newton step that is no longer made; the one after would be its square
# With s2 grows the distance from the mode of f, which is nearer 0, to its mean, and P becomes too cautious. The
# likelihood of separable labels asks for s2 = 1e3 all the same; the held-out log loss at n = 50 is then 1.0 to 1.6
# times that with the bound 10, the best or nearly so of those tried, from 3 to 1e4 (docs/understanding/classifiers.md).
MAX_S2 = 10.0
MAX_ITER = 30
_MAX_HALVINGS = 12


def _likelihood(f: Array, h: Array) -> tuple[Array, Array, Array]:
    """log Phi(u), rho = phi/Phi and rho + u (all 0 where h = 0)."""
    u = h * f
    log_p, rho = log_pi(u)
    seen = h * h
    return seen * log_p, seen * rho, seen * clip(rho + u, 1e-12, None)  # rho + u > 0; below, rounding


def _objective(a: Array, g: Array, h: Array) -> Array:
    """log p(h | f) - a.f/2, (R, S): what Newton's method maximizes."""
    xp = namespace(a)
    log_p, _, _ = _likelihood(g, h)
    return xp.sum(log_p - 0.5 * a * g, axis=-1)


def _newton(state: State, constants: State, last: bool) -> tuple[State, State, Array]:
    """One Newton step for a, halved until the objective does not fall."""
    xp = namespace(state[0])
    a, g = state
    K, h = constants
    log_p, rho, excess = _likelihood(g, h)
    W = rho * excess
    root = xp.sqrt(W)
    L_inv, half_log_det = factorize_sites(K, root)
    b = W * g + h * rho
    da = b - root * solve(L_inv, root * matvec(K, b)) - a
    dg = matvec(K, da)
    done = xp.max(xp.abs(dg), axis=-1) <= TOL * (1.0 + xp.max(xp.abs(g), axis=-1))
    if last:
        done = xp.ones_like(done)
    before = xp.sum(log_p - 0.5 * a * g, axis=-1)
    slack = 1e-12 * (1.0 + xp.abs(before))
    step = xp.where(done, 0.0, 1.0)
    for _ in range(_MAX_HALVINGS):
        after = _objective(a + step[..., None] * da, g + step[..., None] * dg, h)
        worse = after < before - slack
        if not bool(xp.any(worse)):
            break
        step = xp.where(worse, 0.5 * step, step)
    return (a + step[..., None] * da, g + step[..., None] * dg), (L_inv, half_log_det), done


def _mode(K: Array, data: Data, start: Array | None) -> tuple[Array, Array, Array, Array]:
    """a and g = K a at the mode (R, S, n), and there L^-1 and log|L|."""
    xp = namespace(K)
    R, S, n, _ = K.shape
    h = xp.broadcast_to(data.y[:, None, :], (R, S, n))
    a = xp.zeros((R, S, n), dtype=K.dtype, device=K.device) if start is None else start[:, :, 0]
    (a, g), (L_inv, half_log_det) = settle(_newton, (a, matvec(K, a)), (K, h), MAX_ITER)
    return a, g, L_inv, half_log_det


def approximate(
    theta: Array, data: Data, kernel: Kernel, start: Array | None = None, gradient: bool = True
) -> Evaluation:
    """-log q (R, S) and its gradient [RW06, Algorithm 5.1]; `start`: a (R, S, 1, n) of a nearby theta."""
    xp = namespace(theta)
    prior = latent_prior(theta, data, kernel)
    a, g, L_inv, half_log_det = _mode(prior.K, data, start)
    h = data.y[:, None, :]
    nll = half_log_det - _objective(a, g, h)
    nll = xp.where(xp.isfinite(nll), nll, xp.inf)
    if not gradient:
        return Evaluation(nll, xp.zeros_like(theta), a[:, :, None])
    u = h * g
    _, rho, excess = _likelihood(g, h)
    root = xp.sqrt(rho * excess)
    # d log q/df_i = Sigma_ii (d^3 log p/df_i^3) / 2 with Sigma_ii W_i = 1 - (B^-1)_ii, and (d^3 log p/df^3) / W is
    # h (2 rho + u - 1 / (rho + u)): no difference of small numbers where W is small.
    explained = 1.0 - xp.sum(L_inv * L_inv, axis=-2)
    e = 0.5 * explained * h * (2.0 * rho + u - 1.0 / xp.where(excess > 0.0, excess, 1.0))
    q = e - root * solve(L_inv, root * matvec(prior.K, e))  # e' df = e' (I + K W)^-1 dK a
    grad = nll_gradient(prior, data, root, L_inv, a, g, q)
    return Evaluation(nll, xp.where(xp.isfinite(nll)[..., None], grad, 0.0), a[:, :, None])


def condition(data: Data, theta: Array, kernel: Kernel, start: Array | None = None) -> Posterior:
    """The latent posterior of every run given its hyperparameters theta (R, p) [RW06, Algorithm 3.2]."""
    xp = namespace(theta)
    prior = latent_prior(theta[:, None], data, kernel)
    _, g, L_inv, _ = _mode(prior.K, data, start)
    _, rho, excess = _likelihood(g, data.y[:, None, :])
    root = xp.sqrt(rho * excess)
    target = root * g + data.y[:, None, :] * xp.sqrt(rho / xp.where(excess > 0.0, excess, 1.0))
    return posterior(data, theta, kernel, root[:, 0], target[:, 0], L_inv[:, 0])


failure_model = classifier(approximate, condition, MAX_S2)
