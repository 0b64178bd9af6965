"""Where one vessel splits into others: flow is conserved, static pressure is continuous.

Notation: k = 0 the parent (its lower end N), k >= 1 the daughters (their upper ends 0); g ghost half point,
h inner half point, 1 the new node, o the old node; θ = dt/dx; sign σ = +1 for the parent, -1 for daughters.

The 2014 program solves 6 unknowns per vessel (18 for two daughters) by Newton. The same equations reduce,
because all large vessels share one stiffness f, so that equal pressure means equal stretch A/A0 in all of
them:
  at n+1    A1_k = s1 A0_k. Continuity A1 = A_o + σθ(q_h - q_g) gives q_g; conservation at n+1/2,
            Σ σ(q_g + q_h) = 0, is then linear in s1:   s1 = Σ (A_o + 2σθ q_h) / Σ A0.
  at n+1/2  (A_g + A_h)/2 = s½ A0 gives A_g; conservation at n+1, Σ σ q1 = 0, is one equation in s½:
            Σ σ[q_o + σθ R_h + dt/2 S_h] - Σ [θ R(A_g, q_g) - σ dt/2 S(A_g, q_g)] = 0, solved by Newton.
"""

from typing import NamedTuple

from surefoot.pulmonary.jit import inlined
from surefoot.pulmonary.kernels.records import Coefficients, Law, Mesh, Stencil
from surefoot.pulmonary.kernels.tubes import flux, flux_slopes, source, source_slopes

MAX_ITERATIONS = 40  # as the 2014 program
TOLERANCE = 1e-12  # in units of 10 ml/s, the flow scale of the 2014 program
FLOW_SCALE = 10.0


class Branch(NamedTuple):
    """One vessel at its junction."""

    sign: float  # σ
    slot: int  # of the node at the junction
    inner: int  # slot of the inner half point
    A0: float
    ghost: Coefficients


class Stretch(NamedTuple):
    """A/A0, the same in all branches, and what Newton's equation needs beside it."""

    new: float  # s1
    mid: float  # s½
    constant: float  # the part of the equation that does not depend on s½


@inlined
def _branch(j: int, k: int, mesh: Mesh) -> Branch:
    """Branch k of junction j, the parent being k = 0."""
    i, c = mesh.junctions[j, k], mesh.junction_ghosts[j, k]
    A0, ghost = mesh.A0[i], Coefficients(c[0], c[1], c[2], c[3])
    return Branch(1.0, i, i - 1, A0, ghost) if k == 0 else Branch(-1.0, i, i, A0, ghost)


@inlined
def _ghost(branch: Branch, s: Stretch, theta: float, flow: Stencil) -> tuple[float, float]:
    """(A_g, q_g)."""
    A_g = 2.0 * s.mid * branch.A0 - flow.A_half[branch.inner]
    q_g = flow.q_half[branch.inner] + branch.sign * (flow.A[branch.slot] - s.new * branch.A0) / theta
    return A_g, q_g


@inlined
def _first_stretch(j: int, mesh: Mesh, law: Law, flow: Stencil) -> Stretch:
    """s1, which is final, and a first guess of s½."""
    stretched, unstressed, constant, old = 0.0, 0.0, 0.0, 0.0
    for k in range(mesh.branches[j]):
        branch = _branch(j, k, mesh)
        sign, i, inner = branch.sign, branch.slot, branch.inner
        stretched += flow.A[i] + 2.0 * sign * law.theta * flow.q_half[inner]
        unstressed += branch.A0
        constant += sign * flow.q[i] + law.theta * flow.R_half[inner] + sign * 0.5 * law.dt * flow.S_half[inner]
        old += flow.A[i]
    new = stretched / unstressed
    return Stretch(new, 0.5 * (new + old / unstressed), constant)


@inlined
def _surplus(j: int, s: Stretch, mesh: Mesh, law: Law, flow: Stencil) -> tuple[float, float]:
    """Σ σ q1, which shall be zero, and its slope in s½."""
    surplus, slope = s.constant, 0.0
    for k in range(mesh.branches[j]):
        branch = _branch(j, k, mesh)
        sign, c = branch.sign, branch.ghost
        A_g, q_g = _ghost(branch, s, law.theta, flow)
        S = source(A_g, q_g, c.e, c.d, law.k1, law.k2)
        surplus -= law.theta * flux(A_g, q_g, c.a, c.b) - sign * 0.5 * law.dt * S
        R_A, _R_q = flux_slopes(A_g, q_g, c.a)
        S_A, _S_q = source_slopes(A_g, q_g, c.e, law.k1, law.k2)
        slope -= 2.0 * branch.A0 * (law.theta * R_A - sign * 0.5 * law.dt * S_A)
    return surplus, slope


@inlined
def _write(j: int, s: Stretch, mesh: Mesh, law: Law, flow: Stencil) -> None:
    """The new nodes."""
    for k in range(mesh.branches[j]):
        branch = _branch(j, k, mesh)
        sign, i, inner, c = branch.sign, branch.slot, branch.inner, branch.ghost
        A_g, q_g = _ghost(branch, s, law.theta, flow)
        S = source(A_g, q_g, c.e, c.d, law.k1, law.k2)
        flow.A_new[i] = s.new * branch.A0
        flow.q_new[i] = (
            flow.q[i]
            + sign * law.theta * (flow.R_half[inner] - flux(A_g, q_g, c.a, c.b))
            + 0.5 * law.dt * (flow.S_half[inner] + S)
        )


@inlined
def _solve(j: int, s: Stretch, mesh: Mesh, law: Law, flow: Stencil) -> tuple[bool, Stretch]:
    """Newton's method for s½; False where it finds no root."""
    converged, update, iteration = False, 0.0, 0
    # an update that is NaN or infinite is the last: no later iteration can mend it
    while iteration < MAX_ITERATIONS and not converged and abs(update) < 1e300:
        surplus, slope = _surplus(j, s, mesh, law, flow)
        converged = abs(surplus) <= TOLERANCE * FLOW_SCALE
        if not converged:
            update = surplus / slope
            s = Stretch(s.new, s.mid - update, s.constant)
            converged = abs(update) <= TOLERANCE
        iteration += 1
    return converged, s


@inlined
def junction(j: int, mesh: Mesh, law: Law, flow: Stencil) -> bool:
    """Write the new nodes of junction j. False: no root found, and what is written means nothing."""
    found, s = _solve(j, _first_stretch(j, mesh, law, flow), mesh, law, flow)
    _write(j, s, mesh, law, flow)
    return found and s.new > 0.0
