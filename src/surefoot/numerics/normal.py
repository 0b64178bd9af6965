"""The improvement's moments as functions of u alone, stable from u = -1e4 to 1e8.

Notation  u = (f_best - mu)/sd;  Phi, phi standard normal cdf, pdf
          A(u) = u Phi + phi              so that EI = sd A                            [NH18, Eq. 4]
          B(u) = (u^2 + 1) Phi + u phi    so that E[I^2] = sd^2 B                      [NH18, Eq. 5]
          V(u) = B - A^2                  so that ScaledEI = A / sqrt(V)               [NH18, Eq. 6]
          A' = Phi,  B' = 2 A
Shapes    elementwise on arrays of any shape. Every `log_*` returns (value, derivative in u).

Left tail. With J_n(t) = int_t^inf (s - t)^n / n! phi(s) ds and t = -u: J_0 = Phi(u), J_1 = A(u), J_2 = B(u)/2,
J_-1 = phi. Integration by parts gives n J_n = J_(n-2) - t J_(n-1), hence the ratios rho_n = J_n / J_(n-1)
satisfy rho_n = 1 / (t + (n + 1) rho_(n+1)): a continued fraction with positive terms only, which loses no
digits, where the textbook forms cancel (B has relative error 1e-7 at u = -37).
Right tail. V = 1 - B(-u) - 2 u A(-u) - A(-u)^2: the small terms are subtracted from 1, not from u^2.
"""

from __future__ import annotations

import math

from surefoot.backend import Array, clip, log_ndtr, namespace, ndtr

_TAIL = -6.0  # below it the ratios; above, the textbook forms lose at most a factor 750 (relative error 1e-12)
_DEPTH = 16  # levels of the continued fraction: relative error 2e-14 at t = 6, less beyond
_LOG_SQRT_2PI = 0.5 * math.log(2.0 * math.pi)


def _pdf(u: Array) -> Array:
    return namespace(u).exp(-0.5 * u * u - _LOG_SQRT_2PI)


def tail_ratios(t: Array) -> tuple[Array, Array, Array]:
    """rho_0 = Phi/phi, rho_1 = A/Phi, rho_2 = B/(2A), all at u = -t, for t >= 6."""
    xp = namespace(t)
    rho = 2.0 / (t + xp.sqrt(t * t + 4.0 * (_DEPTH + 1)))  # the fixed point of one level closes the fraction
    for n in range(_DEPTH - 1, 2, -1):
        rho = 1.0 / (t + (n + 1) * rho)
    rho_2 = 1.0 / (t + 3.0 * rho)
    rho_1 = 1.0 / (t + 2.0 * rho_2)
    rho_0 = 1.0 / (t + rho_1)
    return rho_0, rho_1, rho_2


def _split(u: Array) -> tuple[Array, Array | None, tuple[Array, Array, Array] | None]:
    """u clipped to the body, where it lies in the tail (None: nowhere), and the tail's ratios."""
    xp = namespace(u)
    in_tail = u < _TAIL
    if not bool(xp.any(in_tail)):
        return u, None, None
    t = xp.where(in_tail, -u, -_TAIL)
    return xp.where(in_tail, _TAIL, u), in_tail, tail_ratios(t)


def log_pi(u: Array) -> tuple[Array, Array]:
    """log Phi(u) and its derivative phi/Phi [NH18, Eq. 3]."""
    body, in_tail, ratios = _split(u)
    slope = _pdf(body) / ndtr(body)
    if in_tail is not None and ratios is not None:
        slope = namespace(u).where(in_tail, 1.0 / ratios[0], slope)
    return log_ndtr(u), slope


def log_a(u: Array) -> tuple[Array, Array]:
    """log A(u) and its derivative Phi/A; log EI = log sd + log A [NH18, Eq. 4]."""
    xp = namespace(u)
    body, in_tail, ratios = _split(u)
    Phi = ndtr(body)
    A = body * Phi + _pdf(body)
    value, slope = xp.log(A), Phi / A
    if in_tail is not None and ratios is not None:
        rho_0, rho_1, _ = ratios
        # u*u first would overflow nothing here; -u^2/2 carries the magnitude, the ratios carry the digits
        tail = xp.log(rho_0 * rho_1) - 0.5 * u * u - _LOG_SQRT_2PI
        value = xp.where(in_tail, tail, value)
        slope = xp.where(in_tail, 1.0 / rho_1, slope)
    return value, slope


def log_scaled_ei(u: Array) -> tuple[Array, Array]:
    """log(A / sqrt(B - A^2)) and its derivative (B Phi - A^2) / (A V) [NH18, Eq. 6].

    Strictly increasing in u, as log Phi(u) is: ScaledEI and PI rank all points alike.
    """
    xp = namespace(u)
    body, in_tail, ratios = _split(u)
    t = xp.abs(body)
    phi, Q = _pdf(body), ndtr(-t)
    a = phi - t * Q  # A(-|u|)
    b = (t * t + 1.0) * Q - t * phi  # B(-|u|)
    right = body > 0.0
    A = xp.where(right, t + a, a)
    V = xp.where(right, 1.0 - b - 2.0 * t * a, b) - a * a
    # B Phi - A^2, for u > 0 with the powers of u cancelled by hand
    numerator = xp.where(right, 1.0 - b - Q * (t * t + 1.0 - b) - 2.0 * t * a, b * Q) - a * a
    value, slope = xp.log(A) - 0.5 * xp.log(V), numerator / (A * V)
    if in_tail is not None and ratios is not None:
        rho_0, rho_1, rho_2 = ratios
        log_A = xp.log(rho_0 * rho_1) - 0.5 * u * u - _LOG_SQRT_2PI
        A_tail = xp.exp(log_A)  # underflows to 0 where it no longer matters beside 2 rho_2
        excess = 2.0 * rho_2 - A_tail  # V / A
        value = xp.where(in_tail, 0.5 * (log_A - xp.log(excess)), value)
        slope = xp.where(in_tail, (2.0 * rho_2 / rho_1 - 1.0) / excess, slope)
    return value, slope


def A(u: Array) -> Array:  # noqa: N802 - the symbol of the paper's derivation
    """u Phi(u) + phi(u): the expected improvement for sd = 1."""
    return namespace(u).exp(log_a(u)[0])


def B(u: Array) -> Array:  # noqa: N802
    """(u^2 + 1) Phi(u) + u phi(u): the second moment of the improvement for sd = 1."""
    xp = namespace(u)
    body, in_tail, ratios = _split(u)
    value = (body * body + 1.0) * ndtr(body) + body * _pdf(body)
    if in_tail is not None and ratios is not None:
        rho_0, rho_1, rho_2 = ratios
        tail = xp.exp(-0.5 * u * u - _LOG_SQRT_2PI) * rho_0 * rho_1 * 2.0 * rho_2
        value = xp.where(in_tail, tail, value)
    return value


_FAR = 1e8  # standard deviations; whatever lies beyond is as far
_NARROW = 1e-5  # width, times the distance from the middle where that exceeds 1: relative error of P (width)^2/24


def log_interval(a: Array, b: Array) -> tuple[Array, Array, Array]:
    """log(Phi(b) - Phi(a)) for a < b, which may be infinite, and its derivatives in a and b.

    Mirrored to the left tail, where Phi keeps its digits; an interval in which phi is flat is its width times phi.
    """
    xp = namespace(a)
    a, b = clip(a, -_FAR, _FAR), clip(b, -_FAR, _FAR)
    mirrored = a + b > 0.0
    left, right = xp.where(mirrored, -b, a), xp.where(mirrored, -a, b)
    (log_l, slope_l), (log_r, slope_r) = log_pi(left), log_pi(right)
    gap = xp.minimum(log_l - log_r, xp.full_like(log_l, -1e-300))  # never quite 0: that is the narrow case
    share = -xp.expm1(gap)  # of Phi(right) that is inside
    value, by_l, by_r = log_r + xp.log(share), -slope_l * xp.exp(gap) / share, slope_r / share
    middle, width = 0.5 * (left + right), xp.maximum(right - left, xp.full_like(left, 1e-300))
    narrow = width * xp.maximum(xp.abs(middle), xp.ones_like(middle)) < _NARROW
    value = xp.where(narrow, -0.5 * middle * middle - _LOG_SQRT_2PI + xp.log(width), value)
    by_l = xp.where(narrow, -0.5 * middle - 1.0 / width, by_l)
    by_r = xp.where(narrow, -0.5 * middle + 1.0 / width, by_r)
    return value, xp.where(mirrored, -by_r, by_l), xp.where(mirrored, -by_l, by_r)
