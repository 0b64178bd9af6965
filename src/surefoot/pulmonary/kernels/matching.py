"""Terminal artery - structured tree - vein: the vessels' ends meet the tree's admittance.

Notation: per side (artery, vein; both end at their node N) the unknowns (A1, q1) at the new node and (Ag,
qg) at the ghost half point; h inner half point, o old node. H is the part of the convolution that is
already history, Y the matrix dt*y[0] that acts on the pressures being solved for.
  r1 = A1 - A_o - θ q_h + θ qg                                                  continuity
  r2 = q1 - q_o - θ R_h - dt/2 S_h + θ R(Ag, qg) - dt/2 S(Ag, qg)                momentum
  r3 = q1 - H - Y p(A1)                        (both sides' pressures)           tree at n+1
  r4 = (qg + q_h)/2 - H - Y p((Ag + A_h)/2)                                      tree at n+1/2, same H
S has one more term here, -(√A - √A0)² (df/dr0) r0'/ρ, zero unless the variant sets its end_slope.
Newton on all eight, as the 2014 program does: close to a fold of the equations the path of the iterates
decides whether a root is found, and with it where the original fails. Only the linear algebra is shortened:
r1, r4 and r2 give dA1, dqg, dq1 in terms of dAg, which leaves a 2 x 2 system. The iterates are those of the
8 x 8 solve up to rounding.
"""

import numpy as np

from surefoot.pulmonary.arrays import Floats
from surefoot.pulmonary.jit import inlined, njit
from surefoot.pulmonary.kernels.tubes import flux, flux_slopes, source, source_slopes

MAX_ITERATIONS = 500  # as the 2014 program
TOLERANCE = 1e-8  # of the summed residuals or updates, areas in cm², flows in units of 10 ml/s
FLOW_SCALE = 10.0


@inlined
def _pressure(A: float, A0: float, f: float) -> tuple[float, float]:
    """p and dp/dA of the wall law [NH18, Eq. 9]."""
    root = np.sqrt(A0 / A)
    return f * (1.0 - root), 0.5 * f * root / A


@inlined
def _side(
    A1: float, q1: float, Ag: float, qg: float, known: Floats, theta: float, dt: float, k1: float, k2: float
) -> tuple[float, float, float, float]:
    """r1, r2 of one side and the slopes of r2 in Ag and qg. known: see `matching`."""
    r1 = A1 - known[0] + theta * qg
    root = np.sqrt(Ag)
    stretch = root - known[10]
    r2 = (
        q1
        - known[1]
        + theta * flux(Ag, qg, known[4], known[5])
        - 0.5 * dt * (source(Ag, qg, known[6], known[7], k1, k2) - known[9] * stretch * stretch)
    )
    R_A, R_q = flux_slopes(Ag, qg, known[4])
    S_A, S_q = source_slopes(Ag, qg, known[6], k1, k2)
    S_A -= known[9] * stretch / root
    return r1, r2, theta * R_A - 0.5 * dt * S_A, theta * R_q - 0.5 * dt * S_q


@njit
def matching(
    known: Floats,
    H: Floats,
    Y: Floats,
    f: float,
    theta: float,
    dt: float,
    k1: float,
    k2: float,
    guess: Floats,
) -> int:
    """Solve one tree in place: guess (2, 4) = (A1, q1, Ag, qg) per side. Returns the iterations used, -1 if
    none do.

    known (2, 11) per side: A_o + θ q_h; q_o + θ R_h + dt/2 S_h; A_h; q_h; a, b, e, d at the ghost; A0 at the
    node; (df/dr0) r0'/ρ and √A0 at the ghost. Y = dt * (y11[0], y12[0], y22[0]).
    """
    ka, kv = known[0], known[1]
    A1, q1, Ag, qg = guess[0, 0], guess[0, 1], guess[0, 2], guess[0, 3]
    B1, s1, Bg, sg = guess[1, 0], guess[1, 1], guess[1, 2], guess[1, 3]
    y11, y12, y22 = Y[0], Y[1], Y[2]
    for iteration in range(MAX_ITERATIONS):
        a1, a2, aA, aq = _side(A1, q1, Ag, qg, ka, theta, dt, k1, k2)
        v1, v2, vA, vq = _side(B1, s1, Bg, sg, kv, theta, dt, k1, k2)
        pa, dpa = _pressure(A1, ka[8], f)
        pv, dpv = _pressure(B1, kv[8], f)
        ha, dha = _pressure(0.5 * (Ag + ka[2]), ka[8], f)
        hv, dhv = _pressure(0.5 * (Bg + kv[2]), kv[8], f)
        a3 = q1 - H[0] - y11 * pa - y12 * pv
        v3 = s1 - H[1] - y12 * pa - y22 * pv
        a4 = 0.5 * (qg + ka[3]) - H[0] - y11 * ha - y12 * hv
        v4 = 0.5 * (sg + kv[3]) - H[1] - y12 * ha - y22 * hv
        areas = abs(a1) + abs(v1)
        flows = abs(a2) + abs(a3) + abs(a4) + abs(v2) + abs(v3) + abs(v4)
        size = areas + flows / FLOW_SCALE
        if size <= TOLERANCE:
            guess[0, 0], guess[0, 1], guess[0, 2], guess[0, 3] = A1, q1, Ag, qg
            guess[1, 0], guess[1, 1], guess[1, 2], guess[1, 3] = B1, s1, Bg, sg
            return iteration
        if not size < 1e300:
            return -1
        # r4:  dqg = ca + caa dAg + cav dBg,   dsg = cv + cva dAg + cvv dBg
        ca, caa, cav = -2.0 * a4, y11 * dha, y12 * dhv
        cv, cva, cvv = -2.0 * v4, y12 * dha, y22 * dhv
        # r3 with r1 (dA1 = -a1 - θ dqg) and r2 (dq1 = -a2 - aq dqg - aA dAg):
        #   (-aq + θ y11 p') dqg_a + θ y12 p'_v dqg_v - aA dAg = -a3 + a2 - y11 p' a1 - y12 p'_v v1
        gaa, gav = theta * y11 * dpa - aq, theta * y12 * dpv
        gva, gvv = theta * y12 * dpa, theta * y22 * dpv - vq
        rhs_a = a2 - a3 - y11 * dpa * a1 - y12 * dpv * v1 - gaa * ca - gav * cv
        rhs_v = v2 - v3 - y12 * dpa * a1 - y22 * dpv * v1 - gva * ca - gvv * cv
        maa = gaa * caa + gav * cva - aA
        mav = gaa * cav + gav * cvv
        mva = gva * caa + gvv * cva
        mvv = gva * cav + gvv * cvv - vA
        det = maa * mvv - mav * mva
        dAg = (rhs_a * mvv - rhs_v * mav) / det
        dBg = (rhs_v * maa - rhs_a * mva) / det
        dqg = ca + caa * dAg + cav * dBg
        dsg = cv + cva * dAg + cvv * dBg
        dA1, dq1 = -a1 - theta * dqg, -a2 - aq * dqg - aA * dAg
        dB1, ds1 = -v1 - theta * dsg, -v2 - vq * dsg - vA * dBg
        A1, q1, Ag, qg = A1 + dA1, q1 + dq1, Ag + dAg, qg + dqg
        B1, s1, Bg, sg = B1 + dB1, s1 + ds1, Bg + dBg, sg + dsg
        areas = abs(dA1) + abs(dAg) + abs(dB1) + abs(dBg)
        flows = abs(dq1) + abs(dqg) + abs(ds1) + abs(dsg)
        size = areas + flows / FLOW_SCALE
        if size <= TOLERANCE:
            guess[0, 0], guess[0, 1], guess[0, 2], guess[0, 3] = A1, q1, Ag, qg
            guess[1, 0], guess[1, 1], guess[1, 2], guess[1, 3] = B1, s1, Bg, sg
            return iteration + 1
        if not size < 1e300:  # NaN or infinite: a singular matrix, or an area below zero
            return -1
    return -1
