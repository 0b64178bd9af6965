"""Settings: files, checks, and messages that say what to do."""

from dataclasses import FrozenInstanceError, replace
from pathlib import Path

import numpy as np
import pytest

from surefoot.errors import InvalidInputError, UnknownNameError
from surefoot.pulmonary import (
    NOMINAL,
    VARIANTS,
    Bed,
    Ejection,
    FlowTable,
    Fluid,
    Grid,
    Junction,
    Network,
    Settings,
    Tree,
    Variant,
    Vessel,
    simulate,
)


def write(folder: Path, text: str) -> Path:
    path = folder / "settings.toml"
    path.write_text(text)
    return path


def test_an_empty_file_gives_the_defaults(tmp_path: Path) -> None:
    assert Settings.from_toml(write(tmp_path, "")) == Settings()


def test_every_table_of_a_file_is_used(tmp_path: Path) -> None:
    text = """
        left_atrial_pressure_mmHg = 5.0
        [variant]
        name = "original"
        omega_scale = 1.0
        [inflow]
        mean_ml_s = 90.0
        [fluid]
        friction = "boundary-layer"
        [tree]
        short_arterioles = true
        [grid]
        steps_per_beat = 2048
    """
    found = Settings.from_toml(write(tmp_path, text))
    assert found == Settings(
        left_atrial_pressure_mmHg=5.0,
        variant=replace(VARIANTS["original"], name="custom", omega_scale=1.0),
        inflow=Ejection(mean_ml_s=90.0),
        fluid=Fluid(friction="boundary-layer"),
        tree=Tree(short_arterioles=True),
        grid=Grid(steps_per_beat=2048),
    )


def test_a_network_can_come_from_a_file(tmp_path: Path) -> None:
    text = """
        [network]
        inlet = "a"
        outlets = ["v"]
        junctions = []
        vessels = [
          { name = "a", length_cm = 3.0, radius_top_cm = 0.9, radius_bottom_cm = 0.8 },
          { name = "v", length_cm = 2.0, radius_top_cm = 0.9, radius_bottom_cm = 0.8 },
        ]
        beds = [{ artery = "a", vein = "v" }]
    """
    found = Settings.from_toml(write(tmp_path, text)).network
    assert found.names == ("a", "v")
    assert found.beds == (Bed("a", "v"),)


def test_an_inflow_can_come_from_a_csv_beside_the_file(tmp_path: Path) -> None:
    t = np.linspace(0.0, 0.8, 33)
    rows = [f"{a},{b}" for a, b in zip(t, 100 - 50 * np.cos(2 * np.pi * t / 0.8), strict=True)]
    (tmp_path / "flow.csv").write_text("\n".join(["t_s,q_ml_s", *rows]))
    inflow = Settings.from_toml(write(tmp_path, '[inflow]\ncsv = "flow.csv"')).inflow
    assert inflow.period_s == 0.8
    middle = np.array([0.0123, 0.4567])
    np.testing.assert_allclose(inflow.at(middle), 100 - 50 * np.cos(2 * np.pi * middle / 0.8), atol=0.01)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("colour = 1", "expected .*toml to have keys among .*; got 'colour'; try leaving it out"),
        ("[grid]\ncells = 3", r"expected \[grid\] to have keys among points_per_cm, steps_per_beat; got 'cells'"),
        ("[grid]\nsteps_per_beat = 1000", "power of two from 256 to 65536, got 1000; try 4096"),
        ("[grid]\npoints_per_cm = 0", "points_per_cm"),
        ("[fluid]\ndensity_g_cm3 = -1.0", "density_g_cm3 to be a finite number above zero, got -1.0"),
        ("[fluid]\ndensity_g_cm3 = 1" + "0" * 400, "density_g_cm3 to be a finite number above zero"),
        ('[fluid]\nfriction = "none"', "'constant' or 'boundary-layer', got 'none'"),
        ('[fluid]\ndensity_g_cm3 = "heavy"', "finite number above zero, got 'heavy'"),
        ("[tree]\nasymmetry = 2.0", "asymmetry <= 1"),
        ('[variant]\naccelerate = "no"', "accelerate true or false, got 'no'"),
        ('[tree]\nshort_arterioles = "yes"', "short_arterioles true or false"),
        ("[variant]\nbeats = 0", "beats to be a whole number"),
        ("[variant]\nacelerate = true", r"expected \[variant\] to have keys .*; got 'acelerate'; try accelerate$"),
        ("[inflow]\nupstroke_s = 0.9", "upstroke"),
        ('[inflow]\ncsv = "missing.csv"', "readable inflow file"),
        ("inflow = 3", "inflow to be a table"),
        ("[network]\nvessels = 3", "list of tables"),
        ("[[network.vessels]]\nname = 'a'", "complete network.vessels"),
        ("not toml", "TOML"),
    ],
)
def test_a_wrong_file_is_refused_with_the_reason(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        Settings.from_toml(write(tmp_path, text))


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="readable settings file"):
        Settings.from_toml(tmp_path / "none.toml")


def test_an_unknown_variant_is_refused_by_name() -> None:
    with pytest.raises(UnknownNameError, match="among published, original, got 'modern'"):
        simulate(*NOMINAL, variant="modern")


def test_the_two_variants_differ_in_the_two_constants() -> None:
    constants = {name: (v.wall_factor, v.omega_scale) for name, v in VARIANTS.items()}
    assert constants == {"published": (4 / 3, 1.0), "original": (1.0, 0.1)}


def test_one_constant_of_a_variant_can_be_changed_alone() -> None:
    changed = Settings().with_variant("original", wall_factor=4 / 3).variant
    assert (changed.wall_factor, changed.omega_scale, changed.beats) == (4 / 3, 0.1, 6)


def test_records_cannot_be_changed() -> None:
    with pytest.raises(FrozenInstanceError):
        Settings().grid.points_per_cm = 8  # type: ignore[misc]


A, V = Vessel("a", 3.0, 0.9, 0.8), Vessel("v", 2.0, 0.9, 0.8)


@pytest.mark.parametrize(
    ("network", "message"),
    [
        (lambda: Network((A, A), (), (), "a", ()), "unique"),
        (lambda: Network((A,), (), (), "x", (), ("a",)), "name vessels among"),
        (lambda: Network((A,), (), (), "a", ()), "bottom of every vessel to be connected exactly once"),
        (lambda: Network((A, V), (), (Bed("a", "v"),), "a", ()), "top of every vessel"),
        (lambda: Network((A, V), (Junction("a", ()),), (), "a", ("v",), ("v",)), "daughters"),
        (lambda: Vessel("a", -3.0, 0.9, 0.8), "length_cm of vessel a"),
    ],
)
def test_an_impossible_network_is_refused_with_the_reason(network: object, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        network()  # type: ignore[operator]


def test_a_bed_between_unequal_radii_is_refused() -> None:
    other = Vessel("v", 2.0, 0.9, 0.7)
    with pytest.raises(InvalidInputError, match="equal radii"):
        Settings(network=Network((A, other), (), (Bed("a", "v"),), "a", ("v",)))


def test_a_vessel_shorter_than_two_cells_is_refused() -> None:
    short = Vessel("a", 0.3, 0.9, 0.8)
    with pytest.raises(InvalidInputError, match="two cells"):
        Settings(network=Network((short,), (), (), "a", (), ("a",)))


def test_the_built_in_inflow_has_the_stated_mean_peak_and_stroke_volume() -> None:
    t = 0.70 * np.arange(70000) / 70000
    q = Ejection().at(t)
    assert q.mean() == pytest.approx(110.0, rel=1e-6)
    assert q.max() == pytest.approx(419.85, abs=0.01)
    assert t[q.argmax()] == pytest.approx(0.16)
    assert q.mean() * 0.70 == pytest.approx(77.0, rel=1e-6)


@pytest.mark.parametrize(
    ("times", "flows", "message"),
    [
        ((0.0, 0.1, 0.2), (1.0, 2.0, 1.0), "at least 4"),
        ((0.0, 0.2, 0.1, 0.3), (1.0, 2.0, 2.0, 1.0), "increasing"),
        ((0.1, 0.2, 0.3, 0.4), (1.0, 2.0, 2.0, 1.0), "first time to be 0"),
        ((0.0, 0.1, 0.2, 0.3), (1.0, 2.0, 2.0, 3.0), "one whole beat"),
        ((0.0, 0.1, 0.2, 0.3), (1.0, float("nan"), 2.0, 1.0), "finite"),
    ],
)
def test_a_flow_table_that_is_no_beat_is_refused(
    times: tuple[float, ...], flows: tuple[float, ...], message: str
) -> None:
    with pytest.raises(InvalidInputError, match=message):
        FlowTable(times, flows)


@pytest.mark.parametrize("text", ["time,flow\n0,1\n", "t_s,q_ml_s\n0,one\n", ""])
def test_a_csv_that_is_no_flow_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "flow.csv").write_text(text)
    with pytest.raises(InvalidInputError):
        FlowTable.from_csv(tmp_path / "flow.csv")


def test_negative_times_of_waves_are_refused_by_the_variant() -> None:
    with pytest.raises(InvalidInputError, match="omega_scale"):
        Variant(omega_scale=-1.0)
