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

# ruff: noqa: N815 - the symbols of the equations

from typing import NamedTuple

import numpy as np

from surefoot.pulmonary.jit import inlined, njit
from surefoot.pulmonary.kernels.records import Coefficients, Law
from surefoot.pulmonary.kernels.tubes import flux, flux_slopes, source, source_slopes

MAX_ITERATIONS = 500  # as the 2014 program
TOLERANCE = 1e-8  # of the summed residuals or updates, areas in cm², flows in units of 10 ml/s
FLOW_SCALE = 10.0


class Known(NamedTuple):
    """What a side has before its tree is solved."""

    A: float  # A_o + θ q_h
    q: float  # q_o + θ R_h + dt/2 S_h
    A_half: float  # A_h
    q_half: float  # q_h
    ghost: Coefficients
    A0: float  # at the node
    end_slope: float  # (df/dr0) r0'/ρ at the ghost
    root_A0: float  # √A0 at the ghost


class Side(NamedTuple):
    """The unknowns of a side, or their updates."""

    A1: float
    q1: float
    Ag: float
    qg: float


class Tree(NamedTuple):
    """The tree's equation: flow = H + Y p."""

    H_artery: float
    H_vein: float
    y11: float  # of Y, dt included
    y12: float
    y22: float


class Residuals(NamedTuple):
    """Of the equations of a side, with the slopes that Newton's method needs."""

    r1: float
    r2: float
    r3: float
    r4: float
    r2_A: float  # ∂r2/∂Ag
    r2_q: float  # ∂r2/∂qg
    p1_A: float  # dp/dA at A1
    ph_A: float  # dp/dA at (Ag + A_h)/2


@inlined
def _pressure(A: float, A0: float, f: float) -> tuple[float, float]:
    """p and dp/dA of the wall law [NH18, Eq. 9]."""
    root = np.sqrt(A0 / A)
    return f * (1.0 - root), 0.5 * f * root / A


@inlined
def _tube(x: Side, known: Known, law: Law) -> tuple[float, float, float, float]:
    """r1, r2 of one side and the slopes of r2 in Ag and qg."""
    theta, dt, c = law.theta, law.dt, known.ghost
    r1 = x.A1 - known.A + theta * x.qg
    root = np.sqrt(x.Ag)
    stretch = root - known.root_A0
    r2 = (
        x.q1
        - known.q
        + theta * flux(x.Ag, x.qg, c.a, c.b)
        - 0.5 * dt * (source(x.Ag, x.qg, c.e, c.d, law.k1, law.k2) - known.end_slope * stretch * stretch)
    )
    R_A, R_q = flux_slopes(x.Ag, x.qg, c.a)
    S_A, S_q = source_slopes(x.Ag, x.qg, c.e, law.k1, law.k2)
    S_A -= known.end_slope * stretch / root
    return r1, r2, theta * R_A - 0.5 * dt * S_A, theta * R_q - 0.5 * dt * S_q


@inlined
def _residuals(a: Side, v: Side, artery: Known, vein: Known, tree: Tree, law: Law) -> tuple[Residuals, Residuals]:
    """All eight equations, at a in the artery and v in the vein."""
    a1, a2, a2_A, a2_q = _tube(a, artery, law)
    v1, v2, v2_A, v2_q = _tube(v, vein, law)
    pa, pa_A = _pressure(a.A1, artery.A0, law.f)
    pv, pv_A = _pressure(v.A1, vein.A0, law.f)
    ha, ha_A = _pressure(0.5 * (a.Ag + artery.A_half), artery.A0, law.f)
    hv, hv_A = _pressure(0.5 * (v.Ag + vein.A_half), vein.A0, law.f)
    a3 = a.q1 - tree.H_artery - tree.y11 * pa - tree.y12 * pv
    v3 = v.q1 - tree.H_vein - tree.y12 * pa - tree.y22 * pv
    a4 = 0.5 * (a.qg + artery.q_half) - tree.H_artery - tree.y11 * ha - tree.y12 * hv
    v4 = 0.5 * (v.qg + vein.q_half) - tree.H_vein - tree.y12 * ha - tree.y22 * hv
    return Residuals(a1, a2, a3, a4, a2_A, a2_q, pa_A, ha_A), Residuals(v1, v2, v3, v4, v2_A, v2_q, pv_A, hv_A)


@inlined
def _update(a: Residuals, v: Residuals, tree: Tree, theta: float) -> tuple[Side, Side]:
    """Newton's step in both sides; letters a, v in names of two: row and column of the 2 x 2 system."""
    y11, y12, y22 = tree.y11, tree.y12, tree.y22
    # r4:  dqg_a = ca + caa dAg_a + cav dAg_v,   dqg_v = cv + cva dAg_a + cvv dAg_v
    ca, caa, cav = -2.0 * a.r4, y11 * a.ph_A, y12 * v.ph_A
    cv, cva, cvv = -2.0 * v.r4, y12 * a.ph_A, y22 * v.ph_A
    # r3 with r1 (dA1 = -r1 - θ dqg) and r2 (dq1 = -r2 - r2_q dqg - r2_A dAg), in the artery:
    #   (-r2_q + θ y11 p') dqg_a + θ y12 p'_v dqg_v - r2_A dAg_a = -r3 + r2 - y11 p' r1 - y12 p'_v r1_v
    gaa, gav = theta * y11 * a.p1_A - a.r2_q, theta * y12 * v.p1_A
    gva, gvv = theta * y12 * a.p1_A, theta * y22 * v.p1_A - v.r2_q
    rhs_a = a.r2 - a.r3 - y11 * a.p1_A * a.r1 - y12 * v.p1_A * v.r1 - gaa * ca - gav * cv
    rhs_v = v.r2 - v.r3 - y12 * a.p1_A * a.r1 - y22 * v.p1_A * v.r1 - gva * ca - gvv * cv
    maa, mav = gaa * caa + gav * cva - a.r2_A, gaa * cav + gav * cvv
    mva, mvv = gva * caa + gvv * cva, gva * cav + gvv * cvv - v.r2_A
    det = maa * mvv - mav * mva
    dAg_a = (rhs_a * mvv - rhs_v * mav) / det
    dAg_v = (rhs_v * maa - rhs_a * mva) / det
    dqg_a = ca + caa * dAg_a + cav * dAg_v
    dqg_v = cv + cva * dAg_a + cvv * dAg_v
    return (
        Side(-a.r1 - theta * dqg_a, -a.r2 - a.r2_q * dqg_a - a.r2_A * dAg_a, dAg_a, dqg_a),
        Side(-v.r1 - theta * dqg_v, -v.r2 - v.r2_q * dqg_v - v.r2_A * dAg_v, dAg_v, dqg_v),
    )


@inlined
def _size_of_residuals(a: Residuals, v: Residuals) -> float:
    flows = abs(a.r2) + abs(a.r3) + abs(a.r4) + abs(v.r2) + abs(v.r3) + abs(v.r4)
    return abs(a.r1) + abs(v.r1) + flows / FLOW_SCALE


@inlined
def _size_of_update(da: Side, dv: Side) -> float:
    flows = abs(da.q1) + abs(da.qg) + abs(dv.q1) + abs(dv.qg)
    return abs(da.A1) + abs(da.Ag) + abs(dv.A1) + abs(dv.Ag) + flows / FLOW_SCALE


@inlined
def _moved(x: Side, dx: Side) -> Side:
    return Side(x.A1 + dx.A1, x.q1 + dx.q1, x.Ag + dx.Ag, x.qg + dx.qg)


@njit
def matching(a: Side, v: Side, artery: Known, vein: Known, tree: Tree, law: Law) -> tuple[int, Side, Side]:
    """Solve one tree from the guesses a, v. Returns the iterations used, -1 if none do, and the sides."""
    for iteration in range(MAX_ITERATIONS):
        ra, rv = _residuals(a, v, artery, vein, tree, law)
        size = _size_of_residuals(ra, rv)
        if size <= TOLERANCE:
            return iteration, a, v
        if not size < 1e300:
            return -1, a, v
        da, dv = _update(ra, rv, tree, law.theta)
        a, v = _moved(a, da), _moved(v, dv)
        size = _size_of_update(da, dv)
        if size <= TOLERANCE:
            return iteration + 1, a, v
        if not size < 1e300:  # NaN or infinite: a singular matrix, or an area below zero
            return -1, a, v
    return -1, a, v
