"""Free ends of vessels: inflow at the top, pressure at the top, a blind end at the bottom.

Each ghost half point is mirrored so that the mean of ghost and inner half point is the prescribed value at
n+1/2. All functions return the new end node (A, q); they read old values and half points only, so their
order is free.
"""

from surefoot.pulmonary.arrays import Floats
from surefoot.pulmonary.jit import njit
from surefoot.pulmonary.kernels.tubes import flux, source


@njit
def inflow_end(A_old: float, q_half: float, inflow_old: float, inflow_new: float, theta: float) -> tuple[float, float]:
    """Flow given at node 0 of the first artery."""
    q_ghost = inflow_old + inflow_new - q_half
    return A_old - theta * (q_half - q_ghost), inflow_new


@njit
def pressure_end(
    A_new: float,
    A_old: float,
    q_old: float,
    A_half: float,
    q_half: float,
    R_half: float,
    S_half: float,
    ghost: Floats,
    k1: float,
    k2: float,
    theta: float,
    dt: float,
) -> tuple[float, float]:
    """Pressure given at node 0 (veins at the left atrium); A_new is the area at that constant pressure.

    ghost: (a, b, e, d) at -1/2.
    """
    A_ghost = 2.0 * A_new - A_half
    q_ghost = q_half + (A_new - A_old) / theta
    R_ghost = flux(A_ghost, q_ghost, ghost[0], ghost[1])
    S_ghost = source(A_ghost, q_ghost, ghost[2], ghost[3], k1, k2)
    return A_new, q_old - theta * (R_half - R_ghost) + 0.5 * dt * (S_half + S_ghost)


@njit
def blind_end(A_old: float, q_half: float, theta: float) -> tuple[float, float]:
    """No flow through node N: the inflow end with zero flow, mirrored."""
    return A_old + 2.0 * theta * q_half, 0.0
