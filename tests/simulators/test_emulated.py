"""Emulated simulators: the same each time, between the points of the table, without surefoot."""

import subprocess
import sys

import numpy as np
import pytest

from examples.simulators.emulated import HERE, NAMES, EmulatedError, load


def answers(name, n=40):
    """What an emulated simulator says at random points."""
    emulated = load(name)
    said = []
    for unit in np.random.default_rng(7).random((n, len(emulated.table.parameters))):
        x = {
            key: p["low"] * (p["high"] / p["low"]) ** u if p.get("log") else p["low"] + u * (p["high"] - p["low"])
            for u, (key, p) in zip(unit, emulated.table.parameters.items(), strict=True)
        }
        try:
            said.append(emulated(x))
        except EmulatedError as error:
            said.append((error.reason, error.progress if error.progress == error.progress else None))
    return said


@pytest.mark.parametrize("name", NAMES)
def test_an_emulated_simulator_fails_and_succeeds_and_repeats_itself(name):
    said = answers(name)
    assert said == answers(name)
    succeeded = [one for one in said if isinstance(one, dict)]
    assert 0 < len(succeeded) < len(said)
    assert all(np.isfinite(list(one.values())).all() for one in succeeded)


def test_a_collapse_tells_how_far_the_frame_was_pushed():
    progress = [one[1] for one in answers("frame") if isinstance(one, tuple)]
    assert all(0.0 <= share < 1.0 for share in progress)
    assert len(set(progress)) > 3


def test_emulated_simulators_need_nothing_of_surefoot():
    code = "import sys; sys.modules['surefoot'] = None; from emulated import load; print(len(load('mapk').table.rows))"
    done = subprocess.run([sys.executable, "-c", code], cwd=HERE, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "2000\n"), done.stderr
