"""Junctions and tree matching solve the full sets of equations they were reduced from."""

import math
from dataclasses import dataclass

import numba
import numpy as np
import pytest
from scipy.optimize import root

from surefoot.pulmonary.kernels.junctions import junction
from surefoot.pulmonary.kernels.matching import Known, Side, Tree, matching
from surefoot.pulmonary.kernels.records import Coefficients, Law, Mesh, Stencil

F, THETA, DT, K1 = 2.6e5, 7e-4, 1.7e-4, 7.3
LAW = Law(F, THETA, DT, K1, 0.0)
RHO = 1.055
END = (5e3, math.sqrt(math.pi) * 0.549)  # (df/dr0) r0'/ρ and sqrt(A0) at the ghost


def coefficients(r0: float, slope: float) -> np.ndarray:
    f = F / RHO
    return np.array(
        [
            f * math.sqrt(math.pi) * r0,
            -f * math.pi * r0**2,
            f * 2 * math.sqrt(math.pi) * slope,
            -f * 2 * math.pi * r0 * slope,
        ]
    )


def flux(A: float, q: float, c: np.ndarray) -> float:
    return q * q / A + c[0] * math.sqrt(A) + c[1]


def source(A: float, q: float, c: np.ndarray) -> float:
    return c[2] * math.sqrt(A) + c[3] - K1 * q / A


def pressure(A: float, A0: float) -> float:
    return F * (1.0 - math.sqrt(A0 / A))


def test_matching_solves_all_eight_equations() -> None:
    A0 = math.pi * 0.55**2
    c = coefficients(0.549, -0.02)
    A_o, q_o, A_h, q_h = 1.06 * A0, 20.0, 1.061 * A0, 20.5
    h = coefficients(0.551, -0.02)
    Y, H = np.array([5e-3, 1e-6, 5e-3]), np.array([-40.0, -35.0])
    sides = [
        Known(
            A_o + THETA * s * q_h,
            s * q_o + THETA * flux(A_h, q_h, h) + 0.5 * DT * source(A_h, s * q_h, h),
            A_h,
            s * q_h,
            Coefficients(*c),
            A0,
            *END,
        )
        for s in (1.0, -1.0)
    ]
    tree = Tree(*H, *Y)
    iterations, artery, vein = matching(Side(A_o, q_o, A_o, q_o), Side(A_o, -q_o, A_o, -q_o), *sides, tree, LAW)
    assert iterations >= 0
    found = np.array([artery, vein])

    def residuals(x: np.ndarray) -> list[float]:
        (A1, q1, Ag, qg), (B1, s1, Bg, sg) = x.reshape(2, 4)
        out = []
        for k, (a1, f1, ag, fg) in zip(sides, ((A1, q1, Ag, qg), (B1, s1, Bg, sg)), strict=True):
            out.append(a1 - k.A + THETA * fg)
            out.append(
                (
                    f1
                    - k.q
                    + THETA * flux(ag, fg, c)
                    - 0.5 * DT * (source(ag, fg, c) - END[0] * (math.sqrt(ag) - END[1]) ** 2)
                )
                / 10.0
            )
        pa, pv = pressure(A1, A0), pressure(B1, A0)
        ha, hv = pressure(0.5 * (Ag + A_h), A0), pressure(0.5 * (Bg + A_h), A0)
        out.append((q1 - H[0] - Y[0] * pa - Y[1] * pv) / 10.0)
        out.append((s1 - H[1] - Y[1] * pa - Y[2] * pv) / 10.0)
        out.append((0.5 * (qg + q_h) - H[0] - Y[0] * ha - Y[1] * hv) / 10.0)
        out.append((0.5 * (sg - q_h) - H[1] - Y[1] * ha - Y[2] * hv) / 10.0)
        return out

    assert np.sum(np.abs(residuals(found.ravel()))) < 1e-7
    oracle = root(residuals, found.ravel(), tol=1e-13)
    np.testing.assert_allclose(found.ravel(), oracle.x, rtol=1e-6)


def test_matching_reports_equations_without_a_root() -> None:
    A0 = math.pi * 0.5**2
    c = coefficients(0.5, 0.0)
    known = Known(1e-3, 500.0, A0, 400.0, Coefficients(*c), A0, *END)
    guess = Side(A0, 10.0, A0, 10.0)
    assert matching(guess, guess, known, known, Tree(0.0, 0.0, 5e-3, 0.0, 5e-3), LAW)[0] < 0


@numba.njit
def join(mesh: Mesh, law: Law, flow: Stencil) -> bool:
    return junction(0, mesh, law, flow)


@dataclass(frozen=True)
class Fork:
    """A parent and two daughters of two cells each, in some transient state."""

    mesh: Mesh
    flow: Stencil

    def join(self) -> bool:
        """One step of their junction."""
        return bool(join(self.mesh, LAW, self.flow))


def make_fork() -> Fork:
    rng = np.random.default_rng(5)
    radii = (1.1, 0.8, 0.6)
    node = np.concatenate([np.tile(coefficients(r, -0.01)[:, None], 3) for r in radii], axis=1)
    A0 = -node[1] * RHO / F
    q = np.repeat([60.0, 40.0, 20.0], 3) + rng.normal(size=9)
    A = A0 * (1.08 + 0.002 * rng.normal(size=9))
    A_half, q_half = A * 1.001, q + 0.3
    ends, none = np.array([[2, 3, 6]]), np.zeros(0, dtype=np.int64)
    mesh = Mesh(
        first=np.array([0, 3, 6]),
        last=np.array([2, 5, 8]),
        A0=A0,
        node=node,
        half=node,
        top_ghost=np.ascontiguousarray(node[:, ::3]),
        branches=np.array([3]),
        junctions=ends,
        junction_ghosts=np.ascontiguousarray(node.T[ends]),
        trees=none.reshape(0, 2),
        inlet=0,
        outlets=none,
        blind=none,
        outlet_area=np.zeros(0),
        tree_ends=np.zeros((0, 2, 2)),
    )
    R_half, S_half = (
        np.array([law(a, f, c) for a, f, c in zip(A_half, q_half, node.T, strict=True)]) for law in (flux, source)
    )
    return Fork(mesh, Stencil(A, q, R_half, S_half, A_half, q_half, R_half, S_half, A.copy(), q.copy()))


def test_a_junction_conserves_flow_and_equals_pressures() -> None:
    fork = make_fork()
    assert fork.join()
    A_new, q_new = fork.flow.A_new, fork.flow.q_new
    assert q_new[2] == pytest.approx(q_new[3] + q_new[6], abs=1e-9)
    p = [pressure(A_new[i], fork.mesh.A0[i]) for i in (2, 3, 6)]
    assert p == pytest.approx([p[0]] * 3, abs=1e-6)


def test_a_junction_conserves_volume_at_the_half_step() -> None:
    fork = make_fork()
    fork.join()
    flow = fork.flow
    # continuity gives the ghost flow; its mean with the inner half point is the flow through the junction
    through = []
    for end, inner, sign in ((2, 1, 1.0), (3, 3, -1.0), (6, 6, -1.0)):
        ghost = flow.q_half[inner] - sign * (flow.A_new[end] - flow.A[end]) / THETA
        through.append(0.5 * (ghost + flow.q_half[inner]))
    assert through[0] == pytest.approx(through[1] + through[2], abs=1e-9)


def test_a_junction_in_an_impossible_state_is_reported() -> None:
    fork = make_fork()
    fork.flow.A_half[:] = np.nan
    assert not fork.join()
