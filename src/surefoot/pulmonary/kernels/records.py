"""What the kernels hand to one another, by name. Compiled, a record is its fields: names cost nothing."""

from typing import NamedTuple

from surefoot.pulmonary.arrays import Floats, Ints


class Mesh(NamedTuple):
    """The network as flat arrays; slots as drawn in `kernels.tubes`. Rows of (4, .): a, b, e, d."""

    first: Ints  # (V,) slot of node 0 of each vessel
    last: Ints  # (V,) slot of its node N
    A0: Floats  # (n,) unstressed areas at the nodes, cm²
    node: Floats  # (4, n) coefficients at the nodes
    half: Floats  # (4, n) coefficients at the half points, lower ghosts included
    top_ghost: Floats  # (4, V) coefficients at the upper ghosts, -1/2
    branches: Ints  # (J,) vessels that meet at each junction
    junctions: Ints  # (J, most branches) slots of the nodes that meet, the parent's first
    junction_ghosts: Floats  # (J, most branches, 4) coefficients at their ghosts
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


class Coefficients(NamedTuple):
    """Of flux and source at one point; see `kernels.tubes`."""

    a: float
    b: float
    e: float
    d: float


class Transform(NamedTuple):
    """Tables of a transform of length 2B."""

    cos: Floats  # (B,) of 2πk/2B
    sin: Floats  # (B,) of -2πk/2B
    reverse: Ints  # (2B,) bit reversal


class TreeKernels(NamedTuple):
    """The trees' admittance kernels as the time loop wants them, dt included."""

    now: Floats  # (trees, 3) tap 0 of y11, y12 = y21, y22
    near: Floats  # (trees, 3, B)
    spectra: Floats  # (trees, 3, 2, D, W)
    transform: Transform


class State(NamedTuple):
    """Everything one beat hands to the next."""

    A: Floats  # (n,) areas at the nodes, cm²
    q: Floats  # (n,) flows, ml/s
    ghosts: Floats  # (trees, 2, 2) last (A, q) at the ghosts of artery and vein: Newton's next guess
    history: Floats  # (trees, 2, Nt) pressures at both ends over the beat, dyn/cm²


class Stencil(NamedTuple):
    """The flow while one step is made; (n,) each, slots as drawn in `kernels.tubes`."""

    A: Floats  # old nodes
    q: Floats
    R: Floats
    S: Floats
    A_half: Floats  # half points
    q_half: Floats
    R_half: Floats
    S_half: Floats
    A_new: Floats  # new nodes
    q_new: Floats


class Samples(NamedTuple):
    """What is kept of a beat, at equal times."""

    probes: Ints  # (P,) slots
    A: Floats  # (P, times)
    q: Floats  # (P, times)
