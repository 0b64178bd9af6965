"""One beat of the whole network: the time loop, with a status code instead of exceptions.

Per step: stability test, Lax-Wendroff in all vessels, then inlet, outlets, blind ends, junctions, trees.
Boundary conditions read old nodes and half points only, so their order, and that of the vessels, does not
matter.
"""

import numpy as np

from surefoot.pulmonary.arrays import Floats
from surefoot.pulmonary.jit import inlined, njit
from surefoot.pulmonary.kernels.beds import begin_past, join_bed, remember, tree_equation
from surefoot.pulmonary.kernels.convolution import B, Past, block_spectrum, far_sums
from surefoot.pulmonary.kernels.ends import free_ends
from surefoot.pulmonary.kernels.junctions import junction
from surefoot.pulmonary.kernels.records import Law, Mesh, Samples, State, Stencil, TreeKernels
from surefoot.pulmonary.kernels.tubes import count_stable, lax_wendroff

OK, CFL, MATCHING, JUNCTION, NOT_FINITE, COLLAPSED = range(6)


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


@inlined
def _stencil(A: Floats, q: Floats) -> Stencil:
    """Room for one step from the nodes A, q, which are the stencil's own old ones."""
    n = A.size
    R, S, R_half, S_half = np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(n)
    return Stencil(A, q, R, S, np.ones(n), np.zeros(n), R_half, S_half, A.copy(), q.copy())


@inlined
def _look_back(block: int, kernels: TreeKernels, past: Past) -> None:
    """At the beginning of a block: what earlier blocks contribute to it."""
    for t in range(kernels.now.shape[0]):
        far_sums(block, t, kernels.spectra[t], kernels.transform, past)


@inlined
def _close_block(block: int, kernels: TreeKernels, history: Floats, past: Past) -> None:
    """At the end of a block: its spectra, for those to come."""
    for t in range(kernels.now.shape[0]):
        p = history[t, :, block * B : (block + 1) * B]
        block_spectrum(p[0], p[1], kernels.transform, past.work, past.spectra[t, block])


@inlined
def _renew(flow: Stencil) -> None:
    """The new nodes become the old ones."""
    for i in range(flow.A.size):
        flow.A[i] = flow.A_new[i]
    for i in range(flow.q.size):
        flow.q[i] = flow.q_new[i]


@inlined
def _sample(column: int, flow: Stencil, samples: Samples) -> None:
    for row in range(samples.probes.size):
        i = samples.probes[row]
        samples.A[row, column], samples.q[row, column] = flow.A[i], flow.q[i]


@njit
def run_beat(
    mesh: Mesh, law: Law, kernels: TreeKernels, inflow: Floats, state: State, convolve: bool, samples: Samples
) -> tuple[int, int, int]:
    """March `state` (in place) over one beat of inflow.size - 1 steps.

    convolve False: the very first beat, which has no history. Returns (status, slot of the trouble, step).
    """
    flow = _stencil(state.A, state.q)
    past = begin_past(state.history, kernels.transform)
    steps = inflow.size - 1
    stride = steps // samples.A.shape[1]
    for step in range(steps):
        if count_stable(flow.A, flow.q, mesh.node[0], law.theta) != flow.A.size:
            status, slot = _diagnose(flow.A, flow.q, mesh.node[0], law.theta)
            if status != OK:
                return status, slot, step + 1
        if convolve and step % B == 0:
            _look_back(step // B, kernels, past)
        lax_wendroff(mesh, law, flow)
        free_ends(inflow[step], inflow[step + 1], mesh, law, flow)
        for j in range(mesh.junctions.shape[0]):
            if not junction(j, mesh, law, flow):
                return JUNCTION, mesh.junctions[j, 0], step + 1
        for t in range(mesh.trees.shape[0]):
            tree = tree_equation(t, step, convolve, kernels, state.history, past)
            if not join_bed(t, tree, convolve, mesh, law, state, flow):
                return MATCHING, mesh.last[mesh.trees[t, 0]], step + 1
            remember(t, step, mesh, law, flow, state.history)
        if step % B == B - 1:
            _close_block(step // B, kernels, state.history, past)
        _renew(flow)
        if (step + 1) % stride == 0:
            _sample((step + 1) // stride - 1, flow, samples)
    status, slot = _diagnose(flow.A, flow.q, mesh.node[0], law.theta)
    if status in (NOT_FINITE, COLLAPSED):  # the step limit is the next beat's affair
        return status, slot, steps
    return OK, 0, steps
