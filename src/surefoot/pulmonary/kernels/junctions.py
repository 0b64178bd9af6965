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

from surefoot.pulmonary.arrays import Floats, Ints
from surefoot.pulmonary.jit import njit
from surefoot.pulmonary.kernels.tubes import flux, flux_slopes, source, source_slopes

MAX_ITERATIONS = 40  # as the 2014 program
TOLERANCE = 1e-12  # in units of 10 ml/s, the flow scale of the 2014 program
FLOW_SCALE = 10.0


@njit
def junction(
    vessels: Ints,
    first: Ints,
    last: Ints,
    A: Floats,
    q: Floats,
    A_half: Floats,
    q_half: Floats,
    R_half: Floats,
    S_half: Floats,
    A0: Floats,
    half: Floats,
    top_ghost: Floats,
    k1: float,
    k2: float,
    theta: float,
    dt: float,
    A_new: Floats,
    q_new: Floats,
) -> bool:
    """Write the new nodes of one junction; vessels = (parent, daughters, -1 ...). False: no root found."""
    stretched = 0.0
    unstressed = 0.0
    constant = 0.0
    old = 0.0
    for j in range(vessels.size):
        v = vessels[j]
        if v < 0:
            break
        sign = 1.0 if j == 0 else -1.0
        end = last[v] if j == 0 else first[v]
        inner = end - 1 if j == 0 else end
        stretched += A[end] + 2.0 * sign * theta * q_half[inner]
        unstressed += A0[end]
        constant += sign * q[end] + theta * R_half[inner] + sign * 0.5 * dt * S_half[inner]
        old += A[end]
    s_new = stretched / unstressed
    s_mid = 0.5 * (s_new + old / unstressed)
    converged = False
    for _ in range(MAX_ITERATIONS):
        residual = constant
        slope = 0.0
        for j in range(vessels.size):
            v = vessels[j]
            if v < 0:
                break
            sign = 1.0 if j == 0 else -1.0
            end = last[v] if j == 0 else first[v]
            inner = end - 1 if j == 0 else end
            c = half[:, end] if j == 0 else top_ghost[:, v]
            A_g = 2.0 * s_mid * A0[end] - A_half[inner]
            q_g = q_half[inner] + sign * (A[end] - s_new * A0[end]) / theta
            residual -= theta * flux(A_g, q_g, c[0], c[1]) - sign * 0.5 * dt * source(A_g, q_g, c[2], c[3], k1, k2)
            R_A, _R_q = flux_slopes(A_g, q_g, c[0])
            S_A, _S_q = source_slopes(A_g, q_g, c[2], k1, k2)
            slope -= 2.0 * A0[end] * (theta * R_A - sign * 0.5 * dt * S_A)
        if abs(residual) <= TOLERANCE * FLOW_SCALE:
            converged = True
            break
        update = residual / slope
        s_mid -= update
        if abs(update) <= TOLERANCE:
            converged = True
            break
        if not abs(update) < 1e300:  # NaN or infinite: no later iteration can mend it
            break
    if not (converged and s_new > 0.0):
        return False
    for j in range(vessels.size):
        v = vessels[j]
        if v < 0:
            break
        sign = 1.0 if j == 0 else -1.0
        end = last[v] if j == 0 else first[v]
        inner = end - 1 if j == 0 else end
        c = half[:, end] if j == 0 else top_ghost[:, v]
        A_g = 2.0 * s_mid * A0[end] - A_half[inner]
        q_g = q_half[inner] + sign * (A[end] - s_new * A0[end]) / theta
        A_new[end] = s_new * A0[end]
        q_new[end] = (
            q[end]
            + sign * theta * (R_half[inner] - flux(A_g, q_g, c[0], c[1]))
            + 0.5 * dt * (S_half[inner] + source(A_g, q_g, c[2], c[3], k1, k2))
        )
    return True
