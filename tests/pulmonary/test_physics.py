"""Facts any correct solver of these equations must show, whatever the parameters."""

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from surefoot.pulmonary import (
    NOMINAL,
    Bed,
    FlowTable,
    Fluid,
    Grid,
    Junction,
    Network,
    Settings,
    Simulation,
    Vessel,
    simulate,
)
from surefoot.pulmonary.kernels.records import State
from surefoot.pulmonary.mesh import pressure_mmHg
from surefoot.pulmonary.model import build_model, march_beat
from surefoot.pulmonary.trees import Frequencies, admittance

F_L, F_S, XI = NOMINAL
Run = Callable[[str], Simulation]


def still(period_s: float) -> FlowTable:
    """No inflow at all."""
    return FlowTable(tuple(np.linspace(0.0, period_s, 5)), (0.0,) * 5)


def single_tube(vessel: Vessel) -> Network:
    """One vessel with a blind end."""
    return Network((vessel,), (), (), inlet=vessel.name, outlets=(), blind_ends=(vessel.name,))


def pulse_after(points_per_cm: int, steps: int, tube: Vessel, height: float) -> tuple[np.ndarray, np.ndarray]:
    """(pressure, flow) along the tube after 0.01 s, from a smooth bump of pressure at rest."""
    settings = Settings(
        network=single_tube(tube),
        inflow=still(0.01),
        fluid=Fluid(friction_coefficient=0.0 if height < 1.0 else 50.0),
        grid=Grid(points_per_cm, steps),
    )
    model = build_model(F_L, F_S, XI, settings)
    x = np.arange(tube.cells(points_per_cm) + 1) / points_per_cm
    bump = height * 1333.22 * np.exp(-(((x - 0.5 * tube.length_cm) / 1.0) ** 2))
    A = model.mesh.A0 / (1.0 - bump / model.law.f) ** 2
    start = State(A, np.zeros(A.size), model.start.ghosts, model.start.history)
    beat = march_beat(model, start, convolve=False)
    assert beat.ok
    return pressure_mmHg(beat.state.A, model.mesh.A0, model.law.f), beat.state.q


def test_errors_of_a_smooth_pulse_fall_with_the_second_power_of_the_grid() -> None:
    tube = Vessel("tube", 16.0, 1.0, 0.8)
    coarse, mid, fine = (pulse_after(4 * k, 256 * k, tube, 20.0) for k in (4, 8, 16))
    for component in (0, 1):
        first = np.linalg.norm(coarse[component] - mid[component][::2])
        second = np.linalg.norm(mid[component][::2] - fine[component][::4])
        assert math.log2(first / second) == pytest.approx(2.0, abs=0.05)


def test_a_small_pulse_travels_at_the_theoretical_wave_speed() -> None:
    tube = Vessel("tube", 20.0, 1.0, 1.0)
    pressure, _flow = pulse_after(16, 1024, tube, 0.01)
    x = np.arange(pressure.size) / 16
    right = np.where(x > 10.0, pressure, 0.0)
    speed = (np.sum(x * right) / np.sum(right) - 10.0) / 0.01
    rho = Fluid().density_g_cm3
    assert speed == pytest.approx(math.sqrt(4 / 3 * F_L / (2 * rho)), rel=2e-3)


def still_settings(points_per_cm: int) -> Settings:
    tube = Vessel("tube", 8.0, 1.2, 0.6)
    return Settings(network=single_tube(tube), inflow=still(0.7), grid=Grid(points_per_cm, 4096), initial_flow_ml_s=0.0)


def test_an_unstressed_tapered_vessel_at_rest_stays_still() -> None:
    model = build_model(F_L, F_S, XI, still_settings(4))
    beat = march_beat(model, model.start, convolve=False)
    # Not zero: the mean of two nodes' areas is not the area between them. Healthy flows are 100 ml/s.
    assert np.max(np.abs(beat.flow_ml_s)) < 1e-3
    np.testing.assert_allclose(beat.state.A, model.mesh.A0, rtol=1e-3)


def test_a_tapered_vessel_under_pressure_stays_still_to_second_order() -> None:
    flows = []
    for points_per_cm in (4, 8):
        model = build_model(F_L, F_S, XI, still_settings(points_per_cm))
        A = model.mesh.A0 / (1.0 - 20 * 1333.22 / model.law.f) ** 2
        start = State(A, np.zeros(A.size), model.start.ghosts, model.start.history)
        flows.append(np.max(np.abs(march_beat(model, start, convolve=False).flow_ml_s)))
    assert flows[0] < 0.3
    assert flows[0] / flows[1] > 3.0


FORK = Network(
    vessels=(Vessel("trunk", 4.0, 1.2, 1.1), Vessel("a", 3.0, 0.9, 0.8), Vessel("b", 2.5, 0.7, 0.6)),
    junctions=(Junction("trunk", ("a", "b")),),
    beds=(),
    inlet="trunk",
    outlets=(),
    blind_ends=("a", "b"),
)


def test_a_closed_network_keeps_exactly_the_volume_that_flows_in() -> None:
    ramp = FlowTable(tuple(np.linspace(0.0, 0.1, 9)), (0.0, 3.0, 8.0, 14.0, 20.0, 14.0, 8.0, 3.0, 0.0))
    settings = Settings(network=FORK, inflow=ramp, grid=Grid(4, 1024), initial_flow_ml_s=0.0)
    model = build_model(F_L, F_S, XI, settings)
    beat = march_beat(model, model.start, convolve=False)
    weights = np.full(model.mesh.A0.size, 0.25)
    weights[model.mesh.first] = weights[model.mesh.last] = 0.125
    gained = weights @ (beat.state.A - model.mesh.A0)
    steps = model.inflow_ml_s
    assert gained == pytest.approx(model.law.dt * np.sum(0.5 * (steps[1:] + steps[:-1])), rel=1e-10)


def test_over_a_periodic_beat_every_vessel_regains_its_volume(run: Run) -> None:
    # The samples are t = T/256 .. T; periodic means that the last sample continues into the first.
    for vessel in run("published").nodes or ():
        jump = np.abs(vessel.pressure_mmHg[:, 0] - vessel.pressure_mmHg[:, -1])
        step = np.max(np.abs(np.diff(vessel.pressure_mmHg, axis=1)))
        assert np.all(jump <= step)


def flow_lost(points_per_cm: int, steps: int) -> float:
    settings = Settings(grid=Grid(points_per_cm, steps))
    means = dict(zip(settings.network.names, simulate(*NOMINAL, settings=settings).mean_flow_ml_s, strict=True))
    return means["MPA"] + sum(means[name] for name in settings.network.outlets)


def test_what_flows_in_flows_out_over_a_beat_up_to_second_order() -> None:
    coarse, fine = flow_lost(4, 4096), flow_lost(8, 4096)
    assert abs(coarse) < 0.015 * 110.0
    assert abs(fine) < 0.4 * abs(coarse)


def twin_network() -> Network:
    return Network(
        vessels=(
            Vessel("trunk", 4.0, 1.2, 1.1),
            Vessel("left", 3.0, 0.8, 0.7),
            Vessel("right", 3.0, 0.8, 0.7),
            Vessel("left vein", 2.0, 0.75, 0.7),
            Vessel("right vein", 2.0, 0.75, 0.7),
        ),
        junctions=(Junction("trunk", ("left", "right")),),
        beds=(Bed("left", "left vein"), Bed("right", "right vein")),
        inlet="trunk",
        outlets=("left vein", "right vein"),
    )


def test_a_symmetric_network_stays_symmetric() -> None:
    found = simulate(5e5, F_S, XI, settings=Settings(network=twin_network()), variant="original")
    for left, right in ((1, 2), (3, 4)):
        np.testing.assert_allclose(found.pressure_mmHg[left], found.pressure_mmHg[right], rtol=0, atol=1e-9)
        np.testing.assert_allclose(found.flow_ml_s[left], found.flow_ml_s[right], rtol=0, atol=1e-8)


def test_the_order_of_vessels_and_connections_does_not_matter(run: Run) -> None:
    network = Settings().network
    shuffled = replace(
        network,
        vessels=tuple(np.random.default_rng(3).permutation(np.array(network.vessels, dtype=object))),
        junctions=tuple(replace(j, daughters=j.daughters[::-1]) for j in network.junctions[::-1]),
        beds=network.beds[::-1],
        outlets=network.outlets[::-1],
    )
    found = simulate(*NOMINAL, settings=Settings(network=shuffled), variant="original")
    order = [found.vessels.index(name) for name in network.names]
    np.testing.assert_allclose(found.pressure_mmHg[order], run("original").pressure_mmHg, rtol=0, atol=1e-8)


def test_a_junction_with_one_daughter_is_no_obstacle() -> None:
    whole = single_tube(Vessel("tube", 8.0, 1.0, 1.0))
    cut = Network(
        (Vessel("upper", 3.0, 1.0, 1.0), Vessel("lower", 5.0, 1.0, 1.0)),
        (Junction("upper", ("lower",)),),
        (),
        inlet="upper",
        outlets=(),
        blind_ends=("lower",),
    )
    ends = []
    for network in (whole, cut):
        wave = FlowTable((0.0, 0.005, 0.01, 0.015, 0.02), (0.0, 20.0, 0.0, 20.0, 0.0))
        settings = Settings(network=network, inflow=wave, grid=Grid(8, 1024), initial_flow_ml_s=0.0)
        model = build_model(F_L, F_S, XI, settings)
        beat = march_beat(model, model.start, convolve=False)
        ends.append(pressure_mmHg(beat.state.A, model.mesh.A0, model.law.f)[-20:])
    np.testing.assert_allclose(ends[0], ends[1], atol=0.02 * np.max(np.abs(ends[0])))


@pytest.mark.parametrize("variant", ["original", "published"])
def test_halving_grid_and_step_changes_midpoint_pressures_by_less_than_a_tenth_mmhg(run: Run, variant: str) -> None:
    fine = simulate(*NOMINAL, variant=variant, settings=Settings(grid=Grid(8, 8192)), all_nodes=True)
    for name in fine.vessels:
        coarse = run(variant).nodes_of(name)
        mid = (coarse.x_cm.size - 1) // 2
        change = coarse.pressure_mmHg[mid] - fine.nodes_of(name).pressure_mmHg[2 * mid]  # the same place
        assert np.max(np.abs(change)) < 0.1


def test_half_the_steps_change_pressures_by_less_than_a_tenth_mmhg(run: Run) -> None:
    half = simulate(*NOMINAL, variant="original", settings=Settings(grid=Grid(4, 2048)))
    assert np.max(np.abs(half.pressure_mmHg - run("original").pressure_mmHg)) < 0.1


def conductances() -> dict[str, float]:
    settings = Settings()
    return {
        bed.artery: float(
            admittance(
                settings.network.vessel(bed.artery).radius_bottom_cm,
                F_S,
                XI,
                Frequencies(1.0, 0.70, 4096),
                settings.tree,
                settings.fluid,
            )[0, 0].real
        )
        for bed in settings.network.beds
    }


def test_mean_flow_into_each_tree_is_its_conductance_times_the_mean_pressure_drop(run: Run) -> None:
    found, Y0 = run("published"), conductances()
    for bed in Settings().network.beds:
        artery, vein = found.nodes_of(bed.artery), found.nodes_of(bed.vein)
        drop = (artery.pressure_mmHg[-1].mean() - vein.pressure_mmHg[-1].mean()) * 1333.22
        assert artery.flow_ml_s[-1].mean() == pytest.approx(Y0[bed.artery] * drop, rel=1e-3)


def test_under_steady_inflow_the_pressure_drop_is_that_of_all_trees_in_parallel() -> None:
    steady = FlowTable((0.0, 0.2, 0.4, 0.7), (110.0,) * 4)
    found = simulate(*NOMINAL, settings=Settings(inflow=steady))
    names = list(found.vessels)
    flows = np.array([found.mean_flow_ml_s[names.index(name)] for name in conductances()])
    arteries = np.array([found.mean_pressure_mmHg[names.index(name)] for name in conductances()])
    dissipated = np.sum(flows * (arteries - 2.0)) / 110.0  # flow-weighted drop, power over flow
    assert dissipated == pytest.approx(110.0 / sum(conductances().values()) / 1333.22, rel=0.03)
    assert np.max(np.ptp(found.pressure_mmHg, axis=1)) < 0.01


def test_stiffer_small_vessels_raise_the_pulse_pressure() -> None:
    soft, stiff = (simulate(4e5, f_S, 2.76).summaries[0] for f_S in (4e4, 8e4))
    assert stiff.systolic_mmHg - stiff.diastolic_mmHg > soft.systolic_mmHg - soft.diastolic_mmHg


def test_rarefied_trees_raise_the_mean_pressure() -> None:
    assert simulate(4e5, 5e4, 2.4).mean_pressure_mmHg[0] > simulate(4e5, 5e4, 2.9).mean_pressure_mmHg[0] + 10.0


def test_the_printed_friction_law_changes_pressures_by_less_than_half_a_mmhg(run: Run) -> None:
    printed = simulate(*NOMINAL, variant="original", settings=Settings(fluid=Fluid(friction="boundary-layer")))
    change = np.max(np.abs(printed.pressure_mmHg - run("original").pressure_mmHg))
    assert 0.1 < change < 0.5
