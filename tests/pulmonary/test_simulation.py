"""What a simulation holds and how it is written to a file."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from surefoot.errors import InvalidInputError
from surefoot.pulmonary import NOMINAL, Simulation, simulate

Run = Callable[[str], Simulation]
ORDER = ("MPA", "RPA", "LPA", "RIA", "RTA", "LIA", "LTA", "RIV", "RSV", "LIV", "LSV")


def test_signals_are_eleven_by_256_in_the_stated_order(run: Run) -> None:
    found = run("published")
    assert found.vessels == ORDER
    assert found.pressure_mmHg.shape == found.flow_ml_s.shape == (11, 256)


def test_the_last_sample_is_the_end_of_the_beat(run: Run) -> None:
    assert run("published").time_s[[0, -1]] == pytest.approx([0.70 / 256, 0.70])


def test_midpoints_are_node_n_half_of_all_nodes(run: Run) -> None:
    found = run("published")
    for row, name in enumerate(found.vessels):
        nodes = found.nodes_of(name)
        assert np.array_equal(nodes.pressure_mmHg[(nodes.x_cm.size - 1) // 2], found.pressure_mmHg[row])


def test_asking_for_all_nodes_does_not_change_the_midpoints(run: Run) -> None:
    assert np.array_equal(simulate(*NOMINAL).pressure_mmHg, run("published").pressure_mmHg)


def test_nodes_are_refused_when_they_were_not_kept() -> None:
    with pytest.raises(InvalidInputError, match="all_nodes=True"):
        simulate(*NOMINAL, variant="original").nodes_of("MPA")


def test_summaries_are_extremes_and_means_of_the_signals(run: Run) -> None:
    found = run("published")
    summary = found.summaries[0]
    assert summary.name == "MPA"
    assert summary.systolic_mmHg == found.pressure_mmHg[0].max()
    assert summary.diastolic_mmHg == found.pressure_mmHg[0].min()
    assert summary.mean_flow_ml_s == pytest.approx(110.0, abs=0.1)


def test_blood_in_veins_flows_towards_the_left_atrium(run: Run) -> None:
    assert np.all(run("published").mean_flow_ml_s[7:] < 0.0)


def test_a_written_file_reads_back(run: Run, tmp_path: Path) -> None:
    found = run("original")
    found.to_csv(tmp_path / "run.csv")
    header = (tmp_path / "run.csv").read_text().splitlines()[0].split(",")
    table = np.genfromtxt(tmp_path / "run.csv", delimiter=",", skip_header=1)
    assert header[:3] == ["t_s", "p_MPA_mmHg", "q_MPA_mls"]
    np.testing.assert_allclose(table[:, 1::2].T, found.pressure_mmHg, rtol=1e-8)
    np.testing.assert_allclose(table[:, 2::2].T, found.flow_ml_s, rtol=1e-8)
