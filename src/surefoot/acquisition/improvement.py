"""Policies built on the improvement I = max(f_best - f(x), 0): PI, EI and ScaledEI, all in log space.

Notation  u = (f_best - mu)/sd [NH18, section 2.2]
Shapes    mu, sd (R, m), f_best (R, 1); each function returns (log value, its partials in mu and in sd), (R, m).
"""

from __future__ import annotations

from surefoot.backend import Array, namespace
from surefoot.numerics import normal

Partials = tuple[Array, Array, Array]


def log_pi(mu: Array, sd: Array, f_best: Array) -> Partials:
    """log of the probability of improvement, Phi(u) [NH18, Eq. 3]."""
    u = (f_best - mu) / sd
    value, slope = normal.log_pi(u)
    return value, -slope / sd, -u * slope / sd


def log_ei(mu: Array, sd: Array, f_best: Array) -> Partials:
    """log of the expected improvement, sd A(u) [NH18, Eq. 4]."""
    u = (f_best - mu) / sd
    value, slope = normal.log_a(u)
    return value + namespace(sd).log(sd), -slope / sd, (1.0 - u * slope) / sd


def log_scaled_ei(mu: Array, sd: Array, f_best: Array) -> Partials:
    """log of the expected improvement over its standard deviation [NH18, Eq. 6].

    A function of u alone, and increasing: it ranks points exactly as PI does (docs/understanding/scaled-ei.md).
    """
    u = (f_best - mu) / sd
    value, slope = normal.log_scaled_ei(u)
    return value, -slope / sd, -u * slope / sd
