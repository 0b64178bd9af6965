"""From the records of the settings to the flat arrays of the compiled kernels."""

# ruff: noqa: N802 - units keep their case (mmHg), symbols the paper's (f_L)

import math

import numpy as np

from surefoot.pulmonary.arrays import DYN_PER_MMHG, Floats
from surefoot.pulmonary.geometry import Vessel
from surefoot.pulmonary.kernels.records import Law, Mesh, State
from surefoot.pulmonary.settings import Settings


def _coefficients(vessel: Vessel, x_over_L: Floats, L_cm: float, f_over_rho: float) -> Floats:
    """(4, points): a, b, e, d of `kernels.tubes` along the exponential taper, ghosts included."""
    rate = math.log(vessel.radius_bottom_cm / vessel.radius_top_cm)
    r0 = vessel.radius_top_cm * np.exp(rate * x_over_L)
    slope = rate / L_cm * r0  # dr0/dx
    return np.array(
        [
            f_over_rho * math.sqrt(math.pi) * r0,
            -f_over_rho * math.pi * r0 * r0,
            f_over_rho * 2.0 * math.sqrt(math.pi) * slope,
            -f_over_rho * 2.0 * math.pi * r0 * slope,
        ]
    )


def law_of(settings: Settings, f_L: float) -> Law:
    """The numbers common to all points."""
    grid = settings.grid
    dt = settings.inflow.period_s / grid.steps_per_beat
    k1, k2 = settings.fluid.friction_terms(settings.inflow.period_s)
    return Law(f=settings.variant.wall_factor * f_L, theta=dt * grid.points_per_cm, dt=dt, k1=k1, k2=k2)


def mesh_of(settings: Settings, f_L: float) -> Mesh:
    """Flat geometry of the network for one stiffness."""
    network = settings.network
    ppc = settings.grid.points_per_cm
    f = settings.variant.wall_factor * f_L
    f_over_rho = f / settings.fluid.density_g_cm3
    node, half, ghost, sizes = [], [], [], []
    for vessel in network.vessels:
        N = vessel.cells(ppc)
        i = np.arange(N + 1, dtype=np.float64)
        node.append(_coefficients(vessel, i / N, N / ppc, f_over_rho))
        half.append(_coefficients(vessel, (i + 0.5) / N, N / ppc, f_over_rho))
        ghost.append(_coefficients(vessel, np.array([-0.5 / N]), N / ppc, f_over_rho))
        sizes.append(N + 1)
    last = np.cumsum(sizes) - 1
    first = last - np.array(sizes) + 1
    nodes = np.concatenate(node, axis=1)
    A0 = -nodes[1] / f_over_rho
    index = {name: i for i, name in enumerate(network.names)}
    halves, tops = np.concatenate(half, axis=1), np.concatenate(ghost, axis=1)
    branches = np.array([1 + len(j.daughters) for j in network.junctions], dtype=np.int64)
    junctions = np.zeros((len(branches), max(branches, default=0)), dtype=np.int64)
    junction_ghosts = np.zeros((*junctions.shape, 4))
    for j, (n, junction) in enumerate(zip(branches, network.junctions, strict=True)):
        end, daughters = last[index[junction.parent]], [index[name] for name in junction.daughters]
        junctions[j, :n] = end, *first[daughters]
        junction_ghosts[j, :n] = halves[:, end], *tops[:, daughters].T
    outlets = np.array([index[name] for name in network.outlets], dtype=np.int64)
    P = settings.left_atrial_pressure_mmHg * DYN_PER_MMHG
    trees = np.array([(index[b.artery], index[b.vein]) for b in network.beds], dtype=np.int64).reshape(-1, 2)
    ghosts = halves[:, last[trees]]  # (4, trees, 2)
    slope_over_rho = ghosts[2] / (2.0 * math.sqrt(math.pi) * f)  # r0'/ρ, from e
    root_A0 = ghosts[0] / f_over_rho  # from a
    return Mesh(
        first=first.astype(np.int64),
        last=last.astype(np.int64),
        A0=A0,
        node=nodes,
        half=halves,
        top_ghost=tops,
        branches=branches,
        junctions=junctions,
        junction_ghosts=junction_ghosts,
        trees=trees,
        inlet=index[network.inlet],
        outlets=outlets,
        blind=np.array([index[name] for name in network.blind_ends], dtype=np.int64),
        outlet_area=A0[first[outlets]] / (1.0 - P / f) ** 2,  # inverse wall law [NH18, Eq. 9]
        tree_ends=np.stack([settings.variant.end_slope_dyn_cm3 * slope_over_rho, root_A0], axis=-1),
    )


def initial_state(settings: Settings, mesh: Mesh) -> State:
    """Unstressed areas, one flow everywhere, no history: the 2014 program's start."""
    n, trees = mesh.A0.size, mesh.trees.shape[0]
    return State(
        A=mesh.A0.copy(),
        q=np.full(n, settings.initial_flow_ml_s),
        ghosts=np.zeros((trees, 2, 2)),
        history=np.zeros((trees, 2, settings.grid.steps_per_beat)),
    )


def pressure_mmHg(A: Floats, A0: Floats, f: float) -> Floats:
    """Wall law [NH18, Eq. 9]."""
    return np.asarray(f * (1.0 - np.sqrt(A0 / A)) / DYN_PER_MMHG, dtype=np.float64)
