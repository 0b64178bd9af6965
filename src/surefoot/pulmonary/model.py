"""A network prepared for marching, and one beat of it as a function that returns new values."""

# ruff: noqa: N815 - units keep their case (mmHg), symbols the paper's (f_L)

from dataclasses import dataclass

import numpy as np

from surefoot.pulmonary.arrays import DYN_PER_MMHG, Floats, Ints
from surefoot.pulmonary.checks import positive, require
from surefoot.pulmonary.kernels.beat import OK, run_beat
from surefoot.pulmonary.kernels.convolution import kernel_spectra, near_taps, twiddles
from surefoot.pulmonary.kernels.records import Law, Mesh, Samples, State, TreeKernels
from surefoot.pulmonary.mesh import initial_state, law_of, mesh_of, pressure_mmHg
from surefoot.pulmonary.settings import SAMPLES_PER_BEAT, Settings
from surefoot.pulmonary.trees import Frequencies, admittance, time_kernels


@dataclass(frozen=True)
class Model:
    """All arrays one simulation needs; nothing in it changes while marching."""

    settings: Settings
    mesh: Mesh
    law: Law
    kernels: TreeKernels
    inflow_ml_s: Floats  # (steps + 1,) at the time levels of one beat
    probes: Ints  # (P,) slots that are sampled
    mid_rows: Ints  # (V,) which rows of the samples are the vessels' midpoints

    @property
    def start(self) -> State:
        """The state every simulation begins from."""
        return initial_state(self.settings, self.mesh)


@dataclass(frozen=True)
class BeatResult:
    """What one beat left: the state at its end and the samples, or why and where it stopped."""

    status: int
    slot: int  # of the trouble
    step: int  # steps done, the failing one included
    state: State
    pressure_mmHg: Floats  # (P, SAMPLES_PER_BEAT)
    flow_ml_s: Floats  # (P, SAMPLES_PER_BEAT)

    @property
    def ok(self) -> bool:
        """Whether the beat was completed."""
        return self.status == OK


def tree_kernels(settings: Settings, f_S: float, xi: float) -> Floats:
    """(trees, 3, steps) y11, y12 = y21, y22 of every bed, cm³/s per dyn/cm² per s."""
    period, steps = settings.inflow.period_s, settings.grid.steps_per_beat
    frequencies = Frequencies(settings.variant.omega_scale, period, steps)
    kernels = np.zeros((len(settings.network.beds), 3, steps))
    for row, bed in zip(kernels, settings.network.beds, strict=True):
        root = settings.network.vessel(bed.artery).radius_bottom_cm
        row[:] = time_kernels(admittance(root, f_S, xi, frequencies, settings.tree, settings.fluid), period)
    return kernels


def build_model(f_L: float, f_S: float, xi: float, settings: Settings, *, all_nodes: bool = False) -> Model:
    """Prepare a simulation; raises InvalidInputError for parameters no simulation could use."""
    positive("f_L", f_L, "the paper has 1.33e5 to 5.33e5 dyn/cm²")
    positive("f_S", f_S, "the paper has 2.66e4 to 1.066e5 dyn/cm²")
    positive("xi", xi, "the paper has 2.33 to 3")
    law = law_of(settings, f_L)
    atrium = settings.left_atrial_pressure_mmHg
    require(
        atrium * DYN_PER_MMHG < law.f,
        f"a left atrial pressure below the stiffness wall_factor*f_L = {law.f / DYN_PER_MMHG:.3g} mmHg",
        atrium,
        "raise f_L: no area gives a higher pressure",
    )
    mesh = mesh_of(settings, f_L)
    y = tree_kernels(settings, f_S, xi) * law.dt
    steps = settings.grid.steps_per_beat
    inflow = settings.inflow.at(settings.inflow.period_s / steps * np.arange(steps, dtype=np.float64))
    middles = mesh.first + (mesh.last - mesh.first) // 2  # node N//2
    return Model(
        settings=settings,
        mesh=mesh,
        law=law,
        kernels=TreeKernels(np.ascontiguousarray(y[..., 0]), near_taps(y), kernel_spectra(y), twiddles()),
        inflow_ml_s=np.append(inflow, inflow[0]),
        probes=np.arange(mesh.A0.size, dtype=np.int64) if all_nodes else middles,
        mid_rows=middles if all_nodes else np.arange(middles.size, dtype=np.int64),
    )


def march_beat(model: Model, state: State, *, convolve: bool) -> BeatResult:
    """One beat from a state; convolve is False in the very first beat, which has no history."""
    end = State(*(array.copy() for array in state))
    shape = (model.probes.size, SAMPLES_PER_BEAT)
    samples = Samples(model.probes, np.ones(shape), np.zeros(shape))
    status, slot, step = run_beat(model.mesh, model.law, model.kernels, model.inflow_ml_s, end, convolve, samples)
    pressure = pressure_mmHg(samples.A, model.mesh.A0[model.probes][:, None], model.law.f)
    return BeatResult(int(status), int(slot), int(step), end, pressure, samples.q)
