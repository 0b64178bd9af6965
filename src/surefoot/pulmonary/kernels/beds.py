"""The beds of a step: what each tree remembers, the solution at its ends, and what is remembered of that.

Notation: side 0 the artery, side 1 the vein; H and Y as in `matching`, blocks as in `convolution`.
"""

import numpy as np

from surefoot.pulmonary.arrays import Floats
from surefoot.pulmonary.jit import inlined, njit
from surefoot.pulmonary.kernels.convolution import B, Past, W, block_spectrum, near_sums
from surefoot.pulmonary.kernels.matching import Known, Side, Tree, matching
from surefoot.pulmonary.kernels.records import Coefficients, Law, Mesh, State, Stencil, Transform, TreeKernels


@njit
def begin_past(history: Floats, transform: Transform) -> Past:
    """The spectra of the beat before, whose pressures are the history (trees, 2, Nt)."""
    trees, _, steps = history.shape
    spectra = np.zeros((trees, steps // B, 2, 2, W))
    past = Past(spectra, np.zeros((trees, 2, B)), np.empty((2, 2 * B)), np.empty((4, W)))
    for t in range(trees):
        for i in range(steps // B):
            p = history[t, :, i * B : (i + 1) * B]
            block_spectrum(p[0], p[1], transform, past.work, spectra[t, i])
    return past


@inlined
def tree_equation(t: int, step: int, convolve: bool, kernels: TreeKernels, history: Floats, past: Past) -> Tree:
    """Flow = H + Y p of tree t at this step; H is zero in the very first beat, which looks back on nothing."""
    j = step % B
    begin = step - j
    seen = j if convolve else 0
    p_a, p_v = history[t, 0, begin : begin + B], history[t, 1, begin : begin + B]
    near_a, near_v = near_sums(seen, p_a, p_v, kernels.near[t])
    y = kernels.now[t]
    return Tree(past.far[t, 0, j] + near_a, past.far[t, 1, j] + near_v, y[0], y[1], y[2])


@inlined
def _known(i: int, end: Floats, mesh: Mesh, law: Law, flow: Stencil) -> Known:
    """Of the side whose node N is in slot i; end: its row of mesh.tree_ends."""
    A_half, q_half = flow.A_half[i - 1], flow.q_half[i - 1]
    c = mesh.half[:, i]
    return Known(
        flow.A[i] + law.theta * q_half,
        flow.q[i] + law.theta * flow.R_half[i - 1] + 0.5 * law.dt * flow.S_half[i - 1],
        A_half,
        q_half,
        Coefficients(c[0], c[1], c[2], c[3]),
        mesh.A0[i],
        end[0],
        end[1],
    )


@inlined
def _guess(i: int, ghost: Floats, convolve: bool, flow: Stencil) -> Side:
    """Start values as the 2014 program: its iterates decide where it fails."""
    old = Side(flow.A[i], flow.q[i], ghost[0], ghost[1])
    first = Side(flow.A_half[i - 1], flow.q_half[i - 1], flow.A[i], flow.q[i])
    return old if convolve else first


@inlined
def _write(i: int, x: Side, ghost: Floats, flow: Stencil) -> None:
    """The new node of a side, and its ghost."""
    flow.A_new[i], flow.q_new[i] = x.A1, x.q1
    ghost[0], ghost[1] = x.Ag, x.qg


@inlined
def join_bed(t: int, tree: Tree, convolve: bool, mesh: Mesh, law: Law, state: State, flow: Stencil) -> bool:
    """Write the new nodes at both ends of tree t. False: no root found, and what is written means nothing."""
    i, j = mesh.last[mesh.trees[t, 0]], mesh.last[mesh.trees[t, 1]]
    ends, ghosts = mesh.tree_ends[t], state.ghosts[t]
    iterations, artery, vein = matching(
        _guess(i, ghosts[0], convolve, flow),
        _guess(j, ghosts[1], convolve, flow),
        _known(i, ends[0], mesh, law, flow),
        _known(j, ends[1], mesh, law, flow),
        tree,
        law,
    )
    _write(i, artery, ghosts[0], flow)
    _write(j, vein, ghosts[1], flow)
    return iterations >= 0


@inlined
def remember(t: int, step: int, mesh: Mesh, law: Law, flow: Stencil, history: Floats) -> None:
    """The new pressures at both ends of tree t [NH18, Eq. 9]."""
    for side in range(2):
        i = mesh.last[mesh.trees[t, side]]
        history[t, side, step] = law.f * (1.0 - np.sqrt(mesh.A0[i] / flow.A_new[i]))
