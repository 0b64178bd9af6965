"""The simulators themselves, where they are installed: what the tables say is what they do."""

import importlib.util
import shutil
import subprocess
import sys

import numpy as np
import pytest

from examples.simulators.emulated import HERE, NAMES, read_table
from examples.simulators.make_table import row_of
from surefoot.optimize.reasons import grouped, pattern_of
from surefoot.runs import evaluation
from surefoot.runs.problem import read_problem

pytestmark = pytest.mark.simulators
PACKAGES = {
    "mapk": "roadrunner",
    "battery": "pybamm",
    "battery-spme": "pybamm",
    "frame": "openseespy",
    "reactor": "cantera",
}


@pytest.fixture(params=NAMES)
def name(request):
    """A simulator that is here."""
    package = PACKAGES.get(request.param)
    if package and importlib.util.find_spec(package) is None:
        pytest.skip(f"needs the package {package}: pip install '.[simulators]'")
    if not package and shutil.which("ngspice") is None:
        pytest.skip("needs ngspice: apt-get install ngspice")
    return request.param


@pytest.fixture
def problem(name, tmp_path):
    """Its problem in a folder of our own."""
    folder, file, _ = NAMES[name]
    shutil.copytree(HERE / folder, tmp_path / folder)
    yield read_problem(tmp_path / folder / file)
    evaluation.close()


def deepest(table, places):
    """The row among these that is farthest from all of the other kind: what no rounding turns."""
    others = table.units[table.ok != table.ok[places[0]]]
    distances = [np.linalg.norm(others - table.units[i], axis=1).min() for i in places]
    return table.rows[places[int(np.argmax(distances))]]


def test_a_dry_run_finds_the_model(name, problem):
    file = problem.folder / NAMES[name][1]
    command = [sys.executable, "-m", "surefoot", "run", str(file), "--dry-run"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "objective " in done.stdout or "command " in done.stdout


def test_a_good_point_has_the_value_of_the_table(name, problem):
    table = read_table(name)
    row = deepest(table, np.flatnonzero(table.ok))
    found = row_of(problem, 0, {key: float(row[key]) for key in table.parameters})
    assert found["status"] == "ok", found["reason"]
    assert [found[key] for key in table.outputs] == pytest.approx([float(row[key]) for key in table.outputs], rel=1e-3)


def test_a_bad_point_fails_with_the_reason_of_the_table(name, problem):
    table = read_table(name)
    failed = np.flatnonzero(~table.ok)
    most = grouped(table.rows[i]["reason"] for i in failed)[0]
    row = deepest(table, failed[list(most.members)])
    found = row_of(problem, 0, {key: float(row[key]) for key in table.parameters})
    assert (found["status"], pattern_of(found["reason"])) == ("failed", pattern_of(row["reason"]))
    if row.get("progress"):
        assert found["progress"] == pytest.approx(float(row["progress"]), abs=0.02)
