r"""Fluxes and sources of the large vessels and the two-step Lax-Wendroff scheme.

The stencil. Nodes carry U = (A, q) at times n and n+1; half points lie between them at time n+1/2. All
vessels lie end to end in flat arrays; vessel v owns slots first[v] .. last[v], and slot i holds node i and
half point i+1/2:

    time n+1    o           o           o   . . .   o           o
                         \     |     /
    time n+1/2  g     x           x         . . .         x           g
                   /     \     /
    time n      o           o           o   . . .   o           o
    node        0           1           2          N-1          N
    slot      first                                           last
    half point -1/2  1/2         3/2                   N-1/2       N+1/2

x: computed here (step 1); g: ghost half points, found by the boundary conditions (ends, junctions, matching).
The last slot of a vessel holds the geometry of its lower ghost; its half values mix two vessels and nobody
reads them. The same goes for step 2 at both ends, which the boundary conditions overwrite.

Balance laws [NH18, Eq. 8] in conservation form, with B and G such that B_x - G = (A/ρ) p_x:
    A_t + q_x = 0,   q_t + (q²/A + B)_x = F + G.
Wall law [NH18, Eq. 9]: p = f(1 - sqrt(A0/A)), f = wall_factor * f_L. With s = sqrt(A) each point needs only
    R = q²/A + a s + b,                 a = (f/ρ) sqrt(A0),     b = -(f/ρ) A0
    S = e s + d - (k1 + k2 s) q/A,      e = (f/ρ) 2 sqrt(π) r0', d = -(f/ρ) 2π r0 r0'
k1, k2: friction, a constant multiple of π ν q/A or the boundary-layer law 2π ν r q/(δ A).
Each loop writes one array and reads few: more would stop the compiler from proving that they do not overlap.
"""

import numpy as np

from surefoot.pulmonary.arrays import Floats
from surefoot.pulmonary.jit import inlined, njit
from surefoot.pulmonary.kernels.records import Law, Mesh, Stencil


@inlined
def flux(A: float, q: float, a: float, b: float) -> float:
    """Momentum flux R at one point."""
    return float(q * q / A + a * np.sqrt(A) + b)


@inlined
def source(A: float, q: float, e: float, d: float, k1: float, k2: float) -> float:
    """Momentum source S = F + G at one point."""
    s = np.sqrt(A)
    return float(e * s + d - (k1 + k2 * s) * q / A)


@inlined
def flux_slopes(A: float, q: float, a: float) -> tuple[float, float]:
    """(∂R/∂A, ∂R/∂q)."""
    u = q / A
    return 0.5 * a / np.sqrt(A) - u * u, 2.0 * u


@inlined
def source_slopes(A: float, q: float, e: float, k1: float, k2: float) -> tuple[float, float]:
    """(∂S/∂A, ∂S/∂q)."""
    s = np.sqrt(A)
    u = q / A
    return 0.5 * e / s + (k1 + 0.5 * k2 * s) * u / A, -(k1 + k2 * s) / A


@njit
def fluxes(A: Floats, q: Floats, a: Floats, b: Floats, out: Floats) -> None:
    """R at every slot."""
    for i in range(A.size):
        out[i] = flux(A[i], q[i], a[i], b[i])


@njit
def sources(A: Floats, q: Floats, e: Floats, d: Floats, k1: float, k2: float, out: Floats) -> None:
    """S at every slot."""
    for i in range(A.size):
        out[i] = source(A[i], q[i], e[i], d[i], k1, k2)


@njit
def half_area(A: Floats, q: Floats, theta: float, out: Floats) -> None:
    """Step 1, A: the half point i+1/2 from nodes i and i+1; theta = dt/dx."""
    for i in range(A.size - 1):
        out[i] = 0.5 * (A[i] + A[i + 1]) - 0.5 * theta * (q[i + 1] - q[i])


@njit
def half_flow(q: Floats, R: Floats, S: Floats, theta: float, dt: float, out: Floats) -> None:
    """Step 1, q."""
    for i in range(q.size - 1):
        out[i] = 0.5 * (q[i] + q[i + 1]) - 0.5 * theta * (R[i + 1] - R[i]) + 0.25 * dt * (S[i + 1] + S[i])


@njit
def full_area(A: Floats, q_half: Floats, theta: float, out: Floats) -> None:
    """Step 2, A: node i from the half points i-1/2 and i+1/2."""
    for i in range(1, A.size - 1):
        out[i] = A[i] - theta * (q_half[i] - q_half[i - 1])


@njit
def full_flow(q: Floats, R_half: Floats, S_half: Floats, theta: float, dt: float, out: Floats) -> None:
    """Step 2, q."""
    for i in range(1, q.size - 1):
        out[i] = q[i] - theta * (R_half[i] - R_half[i - 1]) + 0.5 * dt * (S_half[i] + S_half[i - 1])


@njit
def count_stable(A: Floats, q: Floats, a: Floats, theta: float) -> int:
    """How many nodes satisfy dt (|u| + c) <= dx. NaN and A <= 0 (its root is NaN) compare false."""
    good = 0
    for i in range(A.size):
        slack = 1.0 - theta * abs(q[i]) / A[i]
        courant2 = theta * theta * 0.5 * a[i] / np.sqrt(A[i])  # (c dt/dx)², c² = a/(2 sqrt(A))
        good += (slack >= 0.0) & (courant2 <= slack * slack) & (A[i] < 1e300)
    return good


@inlined
def lax_wendroff(mesh: Mesh, law: Law, flow: Stencil) -> None:
    """Both steps, in all vessels."""
    theta, dt, k1, k2 = law.theta, law.dt, law.k1, law.k2
    node, half = mesh.node, mesh.half
    fluxes(flow.A, flow.q, node[0], node[1], flow.R)
    sources(flow.A, flow.q, node[2], node[3], k1, k2, flow.S)
    half_area(flow.A, flow.q, theta, flow.A_half)
    half_flow(flow.q, flow.R, flow.S, theta, dt, flow.q_half)
    fluxes(flow.A_half, flow.q_half, half[0], half[1], flow.R_half)
    sources(flow.A_half, flow.q_half, half[2], half[3], k1, k2, flow.S_half)
    full_area(flow.A, flow.q_half, theta, flow.A_new)
    full_flow(flow.q, flow.R_half, flow.S_half, theta, dt, flow.q_new)
