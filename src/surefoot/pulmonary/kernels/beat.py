"""One beat of the whole network: the time loop, with a status code instead of exceptions.

Per step: stability test, Lax-Wendroff in all vessels, then inlet, outlets, blind ends, junctions, trees.
Boundary conditions read old nodes and half points only, so their order, and that of the vessels, does not
matter.
"""

from typing import NamedTuple

import numpy as np

from surefoot.pulmonary.arrays import Floats, Ints
from surefoot.pulmonary.jit import njit
from surefoot.pulmonary.kernels.convolution import B, W, block_spectrum, far_sums, near_sums
from surefoot.pulmonary.kernels.ends import blind_end, inflow_end, pressure_end
from surefoot.pulmonary.kernels.junctions import junction
from surefoot.pulmonary.kernels.matching import matching
from surefoot.pulmonary.kernels.tubes import (
    count_stable,
    fluxes,
    full_area,
    full_flow,
    half_area,
    half_flow,
    sources,
)

OK, CFL, MATCHING, JUNCTION, NOT_FINITE, COLLAPSED = range(6)


class Mesh(NamedTuple):
    """The network as flat arrays; slots as drawn in `kernels.tubes`. Rows of (4, .): a, b, e, d."""

    first: Ints  # (V,) slot of node 0 of each vessel
    last: Ints  # (V,) slot of its node N
    A0: Floats  # (n,) unstressed areas at the nodes, cm²
    node: Floats  # (4, n) coefficients at the nodes
    half: Floats  # (4, n) coefficients at the half points, lower ghosts included
    top_ghost: Floats  # (4, V) coefficients at the upper ghosts, -1/2
    junctions: Ints  # (J, 1 + most daughters) parent and daughters, padded with -1
    trees: Ints  # (trees, 2) artery, vein
    inlet: int
    outlets: Ints  # vessels whose top is at the left atrium
    blind: Ints  # vessels whose bottom is closed
    outlet_area: Floats  # (outlets,) area at the left atrial pressure
    tree_ends: Floats  # (trees, 2, 2) (df/dr0) r0'/ρ and sqrt(A0) at the ghosts of artery and vein


class Law(NamedTuple):
    """Numbers common to all points."""

    f: float  # wall factor times f_L, dyn/cm²
    theta: float  # dt/dx, s/cm
    dt: float  # s
    k1: float  # friction, constant multiple of q/A, cm²/s
    k2: float  # friction, multiple of q/sqrt(A), cm/s


class TreeKernels(NamedTuple):
    """The trees' admittance kernels as the time loop wants them, dt included."""

    now: Floats  # (trees, 3) tap 0 of y11, y12 = y21, y22
    near: Floats  # (trees, 3, B)
    spectra: Floats  # (trees, 3, 2, D, W)
    cos: Floats
    sin: Floats
    reverse: Ints


class State(NamedTuple):
    """Everything one beat hands to the next."""

    A: Floats  # (n,) areas at the nodes, cm²
    q: Floats  # (n,) flows, ml/s
    ghosts: Floats  # (trees, 2, 2) last (A, q) at the ghosts of artery and vein: Newton's next guess
    history: Floats  # (trees, 2, Nt) pressures at both ends over the beat, dyn/cm²


@njit
def _diagnose(A: Floats, q: Floats, a: Floats, theta: float) -> tuple[int, int]:
    """(status, slot) of the worst trouble: NaN before collapse before a violated step limit."""
    for i in range(A.size):
        if not (np.isfinite(A[i]) and np.isfinite(q[i])):
            return NOT_FINITE, i
    for i in range(A.size):
        if A[i] <= 0.0:
            return COLLAPSED, i
    worst, slot = 0.0, 0
    for i in range(A.size):
        courant = theta * (abs(q[i]) / A[i] + np.sqrt(0.5 * a[i] / np.sqrt(A[i])))
        if courant > worst:
            worst, slot = courant, i
    return (CFL if worst > 1.0 else OK), slot


@njit
def run_beat(
    mesh: Mesh,
    law: Law,
    kernels: TreeKernels,
    inflow: Floats,
    state: State,
    convolve: bool,
    probes: Ints,
    sample_A: Floats,
    sample_q: Floats,
) -> tuple[int, int, int]:
    """March `state` (in place) over one beat of inflow.size - 1 steps; samples (probes, S) at equal times.

    convolve False: the very first beat, which has no history. Returns (status, slot or tree, step).
    """
    f, theta, dt, k1, k2 = law
    A, q, ghosts, history = state
    n = A.size
    steps = inflow.size - 1
    stride = steps // sample_A.shape[1]
    trees = mesh.trees.shape[0]
    a, b, e, d = mesh.node[0], mesh.node[1], mesh.node[2], mesh.node[3]
    ah, bh, eh, dh = mesh.half[0], mesh.half[1], mesh.half[2], mesh.half[3]
    R, S = np.zeros(n), np.zeros(n)
    A_half, q_half = np.ones(n), np.zeros(n)
    R_half, S_half = np.zeros(n), np.zeros(n)
    A_new, q_new = A.copy(), q.copy()
    known = np.empty((2, 11))
    guess = np.empty((2, 4))
    H = np.zeros(2)
    far = np.zeros((trees, 2, B))
    work, acc = np.empty((2, 2 * B)), np.empty((4, W))
    Z = np.zeros((trees, steps // B, 2, 2, W))
    for t in range(trees):
        for i in range(steps // B):
            block_spectrum(
                history[t, 0, i * B : (i + 1) * B],
                history[t, 1, i * B : (i + 1) * B],
                kernels.cos,
                kernels.sin,
                kernels.reverse,
                work,
                Z[t, i],
            )
    for step in range(steps):
        if count_stable(A, q, a, theta) != n:
            status, slot = _diagnose(A, q, a, theta)
            if status != OK:
                return status, slot, step + 1
        in_block = step % B
        if in_block == 0 and convolve:
            for t in range(trees):
                far_sums(
                    step // B,
                    Z[t],
                    kernels.spectra[t],
                    kernels.cos,
                    kernels.sin,
                    kernels.reverse,
                    work,
                    acc,
                    far[t],
                )
        fluxes(A, q, a, b, R)
        sources(A, q, e, d, k1, k2, S)
        half_area(A, q, theta, A_half)
        half_flow(q, R, S, theta, dt, q_half)
        fluxes(A_half, q_half, ah, bh, R_half)
        sources(A_half, q_half, eh, dh, k1, k2, S_half)
        full_area(A, q_half, theta, A_new)
        full_flow(q, R_half, S_half, theta, dt, q_new)

        i = mesh.first[mesh.inlet]
        A_new[i], q_new[i] = inflow_end(A[i], q_half[i], inflow[step], inflow[step + 1], theta)
        for o in range(mesh.outlets.size):
            v = mesh.outlets[o]
            i = mesh.first[v]
            A_new[i], q_new[i] = pressure_end(
                mesh.outlet_area[o],
                A[i],
                q[i],
                A_half[i],
                q_half[i],
                R_half[i],
                S_half[i],
                mesh.top_ghost[:, v],
                k1,
                k2,
                theta,
                dt,
            )
        for o in range(mesh.blind.size):
            i = mesh.last[mesh.blind[o]]
            A_new[i], q_new[i] = blind_end(A[i], q_half[i - 1], theta)
        for j in range(mesh.junctions.shape[0]):
            found = junction(
                mesh.junctions[j],
                mesh.first,
                mesh.last,
                A,
                q,
                A_half,
                q_half,
                R_half,
                S_half,
                mesh.A0,
                mesh.half,
                mesh.top_ghost,
                k1,
                k2,
                theta,
                dt,
                A_new,
                q_new,
            )
            if not found:
                return JUNCTION, mesh.last[mesh.junctions[j, 0]], step + 1
        block = step - in_block
        for t in range(trees):
            for side in range(2):
                i = mesh.last[mesh.trees[t, side]]
                known[side, 0] = A[i] + theta * q_half[i - 1]
                known[side, 1] = q[i] + theta * R_half[i - 1] + 0.5 * dt * S_half[i - 1]
                known[side, 2], known[side, 3] = A_half[i - 1], q_half[i - 1]
                known[side, 4], known[side, 5] = ah[i], bh[i]
                known[side, 6], known[side, 7] = eh[i], dh[i]
                known[side, 8] = mesh.A0[i]
                known[side, 9], known[side, 10] = mesh.tree_ends[t, side, 0], mesh.tree_ends[t, side, 1]
                if convolve:  # start values as the 2014 program: its iterates decide where it fails
                    guess[side, 0], guess[side, 1] = A[i], q[i]
                    guess[side, 2], guess[side, 3] = ghosts[t, side, 0], ghosts[t, side, 1]
                else:
                    guess[side, 0], guess[side, 1] = A_half[i - 1], q_half[i - 1]
                    guess[side, 2], guess[side, 3] = A[i], q[i]
            p_a = history[t, 0, block : block + B]
            p_v = history[t, 1, block : block + B]
            if convolve:
                near_a, near_v = near_sums(in_block, p_a, p_v, kernels.near[t])
                H[0], H[1] = far[t, 0, in_block] + near_a, far[t, 1, in_block] + near_v
            if matching(known, H, kernels.now[t], f, theta, dt, k1, k2, guess) < 0:
                return MATCHING, mesh.last[mesh.trees[t, 0]], step + 1
            for side in range(2):
                i = mesh.last[mesh.trees[t, side]]
                A_new[i], q_new[i] = guess[side, 0], guess[side, 1]
                ghosts[t, side, 0], ghosts[t, side, 1] = guess[side, 2], guess[side, 3]
                history[t, side, step] = f * (1.0 - np.sqrt(mesh.A0[i] / A_new[i]))
            if in_block == B - 1:
                block_spectrum(p_a, p_v, kernels.cos, kernels.sin, kernels.reverse, work, Z[t, step // B])
        for i in range(n):
            A[i] = A_new[i]
        for i in range(n):
            q[i] = q_new[i]
        if (step + 1) % stride == 0:
            sample = (step + 1) // stride - 1
            for j in range(probes.size):
                sample_A[j, sample], sample_q[j, sample] = A[probes[j]], q[probes[j]]
    status, slot = _diagnose(A, q, a, theta)
    if status in (NOT_FINITE, COLLAPSED):  # the step limit is the next beat's affair
        return status, slot, steps
    return OK, 0, steps
