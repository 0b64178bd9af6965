"""The public door: one parameter vector in, one Simulation out, or a SimulationFailure that says why."""

from typing import TypedDict, Unpack

import numpy as np

from surefoot.pulmonary.failures import FailureKind, SimulationFailure
from surefoot.pulmonary.kernels.beat import CFL, COLLAPSED, JUNCTION, MATCHING, NOT_FINITE
from surefoot.pulmonary.model import Model, build_model
from surefoot.pulmonary.periodic import Cycle, OnBeat, fixed_beats, until_periodic
from surefoot.pulmonary.settings import SAMPLES_PER_BEAT, Settings, Variant
from surefoot.pulmonary.simulation import Simulation, Status, VesselNodes

_KINDS = {
    CFL: (
        FailureKind.CFL,
        "waves outran the grid, dt (|u| + c) > dx",
        "raise steps_per_beat; stiffen the vessels",
    ),
    MATCHING: (
        FailureKind.MATCHING,
        "no state joins the artery, its tree of small vessels and its vein",
        "lower f_S/f_L: the trees' waves come close to the artery's own speed",
    ),
    JUNCTION: (FailureKind.JUNCTION, "no state joins the vessel and its branches", "refine the grid"),
    NOT_FINITE: (FailureKind.NOT_FINITE, "a value was not finite", "lower the inflow; stiffen the vessels"),
    COLLAPSED: (FailureKind.COLLAPSED, "the area fell to zero", "lower the inflow; stiffen the vessels"),
}


class Constants(TypedDict, total=False):
    """Of the variant, to be changed alone; see `Settings.with_variant`."""

    wall_factor: float | None
    omega_scale: float | None


def _failure(model: Model, cycle: Cycle) -> SimulationFailure:
    """Name the trouble of a beat that stopped."""
    settings = model.settings
    beat = cycle.beat
    kind, what, remedy = _KINDS[beat.status]
    vessel = settings.network.names[int(np.searchsorted(model.mesh.last, beat.slot))]
    beats = cycle.n_beats - 1 + beat.step / settings.grid.steps_per_beat
    time_s = beats * settings.inflow.period_s
    message = (
        f"expected {settings.variant.beats or 'periodic'} beats, got a {kind} failure in {vessel} "
        f"at {time_s:.4f} s (beat {cycle.n_beats}): {what}; {remedy}"
    )
    return SimulationFailure(kind, vessel, time_s, message)


def _not_periodic(model: Model, cycle: Cycle) -> SimulationFailure:
    variant = model.settings.variant
    message = (
        f"expected beats that agree within {variant.periodicity_mmHg:g} mmHg "
        f"after at most {variant.max_beats}, got a change of "
        f"{cycle.periodicity_mmHg:.3g} mmHg; raise max_beats"
    )
    return SimulationFailure(FailureKind.NOT_PERIODIC, None, cycle.n_beats * model.settings.inflow.period_s, message)


def _all_nodes(model: Model, cycle: Cycle) -> tuple[VesselNodes, ...]:
    dx = 1.0 / model.settings.grid.points_per_cm
    return tuple(
        VesselNodes(
            name,
            dx * np.arange(last - first + 1),
            cycle.beat.pressure_mmHg[first : last + 1],
            cycle.beat.flow_ml_s[first : last + 1],
        )
        for name, first, last in zip(model.settings.network.names, model.mesh.first, model.mesh.last, strict=True)
    )


def simulate(
    f_L: float,
    f_S: float,
    xi: float,
    *,
    variant: str | Variant | None = None,
    settings: Settings | None = None,
    all_nodes: bool = False,
    on_beat: OnBeat | None = None,
    **constants: Unpack[Constants],
) -> Simulation:
    """Simulate the pulmonary circulation and return the last beat.

    f_L, f_S: stiffness of large and small vessels (dyn/cm²); xi: radius exponent of the trees [NH18, Eq. 7].
    variant: "published" (default) or "original", or a Variant; None takes that of the settings.
    on_beat: called with (beats done, change in mmHg) after every beat.
    constants: wall_factor, omega_scale: change one constant of the variant.

    Raises SimulationFailure if there is no result, InvalidInputError if the question makes no sense.
    """
    chosen = (settings or Settings()).with_variant(variant, **constants)
    model = build_model(f_L, f_S, xi, chosen, all_nodes=all_nodes)
    beats = chosen.variant.beats
    cycle = until_periodic(model, on_beat) if beats is None else fixed_beats(model, beats, on_beat)
    if not cycle.beat.ok:
        raise _failure(model, cycle)
    periodic = cycle.periodicity_mmHg < chosen.variant.periodicity_mmHg
    if beats is None and not periodic:
        raise _not_periodic(model, cycle)
    period = chosen.inflow.period_s
    return Simulation(
        f_L=f_L,
        f_S=f_S,
        xi=xi,
        vessels=chosen.network.names,
        time_s=period / SAMPLES_PER_BEAT * np.arange(1, SAMPLES_PER_BEAT + 1, dtype=np.float64),
        pressure_mmHg=cycle.beat.pressure_mmHg[model.mid_rows],
        flow_ml_s=cycle.beat.flow_ml_s[model.mid_rows],
        n_beats=cycle.n_beats,
        periodicity_mmHg=cycle.periodicity_mmHg,
        status=Status.PERIODIC if periodic else Status.COMPLETED,
        variant=chosen.variant.name,
        nodes=_all_nodes(model, cycle) if all_nodes else None,
    )
