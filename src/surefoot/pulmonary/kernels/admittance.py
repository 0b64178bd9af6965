"""Admittances of a two-sided structured tree, all frequencies, every distinct vessel once.

Purpose: Y(ω) seen from the two ends of   artery - (two smaller trees in parallel) - vein.

    n steps by α and m steps by β lead to a vessel of radius r = α^n β^m r_root, whatever their order, so the
    2^depth vessels are only about 300 distinct ones. Row m of the triangle below needs row m+1 and itself:

        m=0   (0,0) (1,0) (2,0) . . . . (N,0)      each internal vessel (n,m) has daughters
        m=1   (0,1) (1,1) . . . (N-1,1)            (n+1,m) to its right and (n,m+1) below;
        ...   .                                    a vessel thinner than r_min has none
        m=M   (0,M) .

Notation: w Womersley number, S = sqrt(1 - F_J), c0 the inviscid wave speed, κ = ωl/(c0 S), E = exp(-iκ), g
the characteristic admittance. A tube is Y11 = Y22 = g(1+E²)/(1-E²), Y12 = Y21 = -2gE/(1-E²): the usual -ig
cot κ and ig/sin κ, written with the decaying exponential so that nothing overflows.
Frequencies go through in chunks of C; the scratch array is one flat buffer cut in pieces of C, because
constant distances inside one buffer are what lets the compiler prove that the loop may use vector
instructions.
"""

import math
from typing import NamedTuple

import numpy as np

from surefoot.pulmonary.arrays import Floats, Ints
from surefoot.pulmonary.jit import inlined, njit

C = 64  # frequencies per chunk
_S, _X, _CUR = 0, 2, 8  # pieces of the scratch: S (re, im), daughters together (6), this vessel's tree (6)
_PIECES = 14

_TWO_PI_HI = 6.28125  # 2π in two parts: k * _TWO_PI_HI is exact for k < 2^40
_TWO_PI_LO = 0.0019353071795864769
_INV_TWO_PI = 1.0 / (2.0 * math.pi)
_SQRT2 = math.sqrt(2.0)
_MAX_DECAY = 40.0  # exp(-40) = 4e-18 is nothing beside 1


@inlined
def _decay(y: float) -> float:
    """exp(-y) for 0 <= y <= 40: Taylor at y/64, squared six times; relative error below 1e-13."""
    z = -y * 0.015625
    p = 1.0 + z * (1.0 / 14.0)
    p = 1.0 + z * (1.0 / 13.0) * p
    p = 1.0 + z * (1.0 / 12.0) * p
    p = 1.0 + z * (1.0 / 11.0) * p
    p = 1.0 + z * (1.0 / 10.0) * p
    p = 1.0 + z * (1.0 / 9.0) * p
    p = 1.0 + z * (1.0 / 8.0) * p
    p = 1.0 + z * (1.0 / 7.0) * p
    p = 1.0 + z * (1.0 / 6.0) * p
    p = 1.0 + z * (1.0 / 5.0) * p
    p = 1.0 + z * (1.0 / 4.0) * p
    p = 1.0 + z * (1.0 / 3.0) * p
    p = 1.0 + z * (1.0 / 2.0) * p
    p = 1.0 + z * p
    p = p * p
    p = p * p
    p = p * p
    p = p * p
    p = p * p
    return p * p


@inlined
def _turn(x: float) -> tuple[float, float]:
    """(cos x, sin x) for 0 <= x < 1e6: Taylor at a quarter of the reduced angle; absolute error below 1e-15
    + 1e-16 x.

    Written out instead of math.cos because a call would keep the loop over frequencies scalar.
    """
    k = np.floor(x * _INV_TWO_PI + 0.5)
    t = ((x - k * _TWO_PI_HI) - k * _TWO_PI_LO) * 0.25  # |t| <= π/4
    z = t * t
    s = 1.0 - z * (1.0 / 272.0)
    s = 1.0 - z * (1.0 / 210.0) * s
    s = 1.0 - z * (1.0 / 156.0) * s
    s = 1.0 - z * (1.0 / 110.0) * s
    s = 1.0 - z * (1.0 / 72.0) * s
    s = 1.0 - z * (1.0 / 42.0) * s
    s = 1.0 - z * (1.0 / 20.0) * s
    s = t * (1.0 - z * (1.0 / 6.0) * s)
    c = 1.0 - z * (1.0 / 240.0)
    c = 1.0 - z * (1.0 / 182.0) * c
    c = 1.0 - z * (1.0 / 132.0) * c
    c = 1.0 - z * (1.0 / 90.0) * c
    c = 1.0 - z * (1.0 / 56.0) * c
    c = 1.0 - z * (1.0 / 30.0) * c
    c = 1.0 - z * (1.0 / 12.0) * c
    c = 1.0 - z * 0.5 * c
    s2 = 2.0 * s * c
    c2 = 1.0 - 2.0 * s * s
    return 1.0 - 2.0 * s2 * s2, 2.0 * s2 * c2


@inlined
def _sqrt_low(w: float) -> tuple[float, float]:
    """S for w <= 2: sqrt(w⁴/48 + i w²/8), principal root."""
    x = w * w * w * w / 48.0
    y = w * w * 0.125
    re = np.sqrt(0.5 * (np.sqrt(x * x + y * y) + x))
    return re, 0.5 * y / re


@inlined
def _sqrt_high(w: float) -> tuple[float, float]:
    """S for w > 3: sqrt(1 - (2/(√i w))(1 + 1/(2w))), principal root; Re S² > 0 from w = 2 on."""
    t = _SQRT2 / w * (1.0 + 0.5 / w)
    x = 1.0 - t
    re = np.sqrt(0.5 * (np.sqrt(x * x + t * t) + x))
    return re, 0.5 * t / re


@njit
def _womersley(r: float, root_omega_over_nu: Floats, scratch: Floats) -> None:
    """S of one radius over a chunk. w grows with frequency, so its three ranges are ranges of i."""
    low = 0
    while low < C and r * root_omega_over_nu[low] <= 2.0:
        low += 1
    high = low
    while high < C and r * root_omega_over_nu[high] <= 3.0:
        high += 1
    for i in range(low):
        re, im = _sqrt_low(r * root_omega_over_nu[i])
        scratch[i] = re
        scratch[C + i] = im
    for i in range(low, high):  # blend of the two roots
        w = r * root_omega_over_nu[i]
        re_l, im_l = _sqrt_low(w)
        re_h, im_h = _sqrt_high(w)
        scratch[i] = (3.0 - w) * re_l + (w - 2.0) * re_h
        scratch[C + i] = (3.0 - w) * im_l + (w - 2.0) * im_h
    for i in range(high, C):
        re, im = _sqrt_high(r * root_omega_over_nu[i])
        scratch[i] = re
        scratch[C + i] = im


@inlined
def _tube(gr: float, gi: float, x: float, y: float) -> tuple[float, float, float, float]:
    """Y11 and Y12 (re, im each) of a tube with κ = x - iy and characteristic admittance g."""
    amplitude = _decay(min(y, _MAX_DECAY))
    c, s = _turn(x)
    er, ei = amplitude * c, -amplitude * s  # E = exp(-iκ)
    qr, qi = er * er - ei * ei, 2.0 * er * ei  # E²
    dr, di = 1.0 - qr, -qi
    inv = 1.0 / (dr * dr + di * di)
    hr, hi = (gr * dr + gi * di) * inv, (gi * dr - gr * di) * inv  # g/(1-E²)
    return (
        hr * (1.0 + qr) - hi * qi,
        hr * qi + hi * (1.0 + qr),
        -2.0 * (hr * er - hi * ei),
        -2.0 * (hr * ei + hi * er),
    )


@njit
def _terminal(g0: float, tau_a: float, tau_v: float, omega: Floats, scratch: Floats) -> None:
    """A vessel thinner than r_min: its artery and its vein in series. τ = l/c0 is the inviscid delay."""
    for i in range(C):
        sr, si = scratch[i], scratch[C + i]
        inv = omega[i] / (sr * sr + si * si)
        kr, ki = sr * inv, si * inv  # ω/S = kr - i ki
        ar, ai, br, bi = _tube(g0 * sr, g0 * si, tau_a * kr, tau_a * ki)
        vr, vi, ur, ui = _tube(g0 * sr, g0 * si, tau_v * kr, tau_v * ki)
        dr, di = ar + vr, ai + vi
        inv = 1.0 / (dr * dr + di * di)
        tr, ti = dr * inv, -di * inv
        pr, pi = br * tr - bi * ti, br * ti + bi * tr  # a12/D
        wr, wi = ur * tr - ui * ti, ur * ti + ui * tr  # v12/D
        scratch[_CUR * C + i] = ar - (br * pr - bi * pi)
        scratch[(_CUR + 1) * C + i] = ai - (br * pi + bi * pr)
        scratch[(_CUR + 2) * C + i] = -(pr * ur - pi * ui)
        scratch[(_CUR + 3) * C + i] = -(pr * ui + pi * ur)
        scratch[(_CUR + 4) * C + i] = vr - (ur * wr - ui * wi)
        scratch[(_CUR + 5) * C + i] = vi - (ur * wi + ui * wr)


@njit
def _internal(g0: float, tau_a: float, tau_v: float, omega: Floats, scratch: Floats) -> None:
    """series(series(artery, X), vein) with X the two daughters' trees in parallel (pieces _X)."""
    for i in range(C):
        sr, si = scratch[i], scratch[C + i]
        inv = omega[i] / (sr * sr + si * si)
        kr, ki = sr * inv, si * inv
        ar, ai, br, bi = _tube(g0 * sr, g0 * si, tau_a * kr, tau_a * ki)
        vr, vi, ur, ui = _tube(g0 * sr, g0 * si, tau_v * kr, tau_v * ki)
        xr, xi = scratch[_X * C + i], scratch[(_X + 1) * C + i]
        yr, yi = scratch[(_X + 2) * C + i], scratch[(_X + 3) * C + i]
        zr, zi = scratch[(_X + 4) * C + i], scratch[(_X + 5) * C + i]
        # artery then X
        dr, di = ar + xr, ai + xi
        inv = 1.0 / (dr * dr + di * di)
        tr, ti = dr * inv, -di * inv
        pr, pi = br * tr - bi * ti, br * ti + bi * tr  # a12/D
        qr, qi = yr * tr - yi * ti, yr * ti + yi * tr  # x12/D
        s11r, s11i = ar - (br * pr - bi * pi), ai - (br * pi + bi * pr)
        s12r, s12i = -(pr * yr - pi * yi), -(pr * yi + pi * yr)
        s22r, s22i = zr - (yr * qr - yi * qi), zi - (yr * qi + yi * qr)
        # then the vein
        dr, di = s22r + vr, s22i + vi
        inv = 1.0 / (dr * dr + di * di)
        tr, ti = dr * inv, -di * inv
        pr, pi = s12r * tr - s12i * ti, s12r * ti + s12i * tr
        qr, qi = ur * tr - ui * ti, ur * ti + ui * tr
        scratch[_CUR * C + i] = s11r - (s12r * pr - s12i * pi)
        scratch[(_CUR + 1) * C + i] = s11i - (s12r * pi + s12i * pr)
        scratch[(_CUR + 2) * C + i] = -(pr * ur - pi * ui)
        scratch[(_CUR + 3) * C + i] = -(pr * ui + pi * ur)
        scratch[(_CUR + 4) * C + i] = vr - (ur * qr - ui * qi)
        scratch[(_CUR + 5) * C + i] = vi - (ur * qi + ui * qr)


class Vessels(NamedTuple):
    """The distinct vessels of one tree: (M+1, N+1) tables over (m, n)."""

    radius: Floats  # cm
    artery: Floats  # length in cm, or delay τ in s
    vein: Floats
    last_n: Ints  # (M+1,) row m is needed for n = 0 .. last_n[m]
    r_min: float  # cm; a thinner vessel has no daughters


@njit
def tree_admittance(omega: Floats, delays: Vessels, c0: float, rho: float, nu: float) -> Floats:
    """(6, K): re and im of Y11, Y12 = Y21, Y22 of the root at K = (multiple of C) positive frequencies."""
    radius, tau_a, tau_v, last_n, r_min = delays
    K = omega.size
    M = last_n.size - 1
    out = np.empty((6, K))
    scratch = np.empty(_PIECES * C)
    below = np.empty(((np.max(last_n) + 1), 6 * C))  # row m+1, later overwritten by row m
    for start in range(0, K, C):
        w = omega[start : start + C]
        root = np.sqrt(w / nu)
        for m in range(M, -1, -1):
            for n in range(last_n[m], -1, -1):
                r = radius[m, n]
                _womersley(r, root, scratch)
                g0 = math.pi * r * r / (rho * c0)  # sqrt(CA/ρ) = A/(ρ c0)
                if r < r_min:
                    _terminal(g0, tau_a[m, n], tau_v[m, n], w, scratch)
                else:
                    row = below[n]  # (n, m+1); the scratch still holds (n+1, m)
                    for i in range(6 * C):
                        scratch[_X * C + i] = scratch[_CUR * C + i] + row[i]
                    _internal(g0, tau_a[m, n], tau_v[m, n], w, scratch)
                store = below[n]
                for i in range(6 * C):
                    store[i] = scratch[_CUR * C + i]
        for j in range(6):
            for i in range(C):
                out[j, start + i] = scratch[(_CUR + j) * C + i]
    return out


@njit
def tree_conductance(lengths: Vessels, mu: float) -> float:
    """Y11(0) = -Y12(0) = Y22(0): Poiseuille tubes in series and parallel."""
    radius, length_a, length_v, last_n, r_min = lengths
    below = np.zeros(np.max(last_n) + 1)
    current = 0.0
    for m in range(last_n.size - 1, -1, -1):
        for n in range(last_n[m], -1, -1):
            r = radius[m, n]
            resistance = 8.0 * mu * (length_a[m, n] + length_v[m, n]) / (math.pi * r**4)
            if r >= r_min:
                resistance += 1.0 / (current + below[n])
            current = 1.0 / resistance
            below[n] = current
    return current
