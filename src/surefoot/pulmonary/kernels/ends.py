"""Free ends of vessels: inflow at the top, pressure at the top, a blind end at the bottom.

Each ghost half point is mirrored so that the mean of ghost and inner half point is the prescribed value at
n+1/2. All functions return the new end node (A, q); they read old values and half points only, so their
order is free.
"""

from surefoot.pulmonary.jit import inlined, njit
from surefoot.pulmonary.kernels.records import Coefficients, Law, Mesh, Stencil
from surefoot.pulmonary.kernels.tubes import flux, source


@njit
def inflow_end(A_old: float, q_half: float, inflow_old: float, inflow_new: float, theta: float) -> tuple[float, float]:
    """Flow given at node 0 of the first artery."""
    q_ghost = inflow_old + inflow_new - q_half
    return A_old - theta * (q_half - q_ghost), inflow_new


@inlined
def pressure_end(slot: int, A_new: float, ghost: Coefficients, law: Law, flow: Stencil) -> tuple[float, float]:
    """Pressure given at node 0, `slot` (veins at the left atrium); A_new is the area at that constant pressure.

    ghost: coefficients at -1/2.
    """
    q_half = flow.q_half[slot]
    A_ghost = 2.0 * A_new - flow.A_half[slot]
    q_ghost = q_half + (A_new - flow.A[slot]) / law.theta
    R_ghost = flux(A_ghost, q_ghost, ghost.a, ghost.b)
    S_ghost = source(A_ghost, q_ghost, ghost.e, ghost.d, law.k1, law.k2)
    gain = 0.5 * law.dt * (flow.S_half[slot] + S_ghost)
    return A_new, flow.q[slot] - law.theta * (flow.R_half[slot] - R_ghost) + gain


@njit
def blind_end(A_old: float, q_half: float, theta: float) -> tuple[float, float]:
    """No flow through node N: the inflow end with zero flow, mirrored."""
    return A_old + 2.0 * theta * q_half, 0.0


@inlined
def free_ends(inflow_old: float, inflow_new: float, mesh: Mesh, law: Law, flow: Stencil) -> None:
    """Write the new nodes of all free ends."""
    i = mesh.first[mesh.inlet]
    flow.A_new[i], flow.q_new[i] = inflow_end(flow.A[i], flow.q_half[i], inflow_old, inflow_new, law.theta)
    for o in range(mesh.outlets.size):
        v = mesh.outlets[o]
        i, c = mesh.first[v], mesh.top_ghost[:, v]
        ghost = Coefficients(c[0], c[1], c[2], c[3])
        flow.A_new[i], flow.q_new[i] = pressure_end(i, mesh.outlet_area[o], ghost, law, flow)
    for o in range(mesh.blind.size):
        i = mesh.last[mesh.blind[o]]
        flow.A_new[i], flow.q_new[i] = blind_end(flow.A[i], flow.q_half[i - 1], law.theta)
