"""The catalogue against 50-digit arithmetic (tools/polish_optima.py)."""

import dataclasses
import importlib.util
import subprocess
import sys
from pathlib import Path

import mpmath as mp
import numpy as np
import pytest

from surefoot import problems

TOOL = Path(__file__).parents[3] / "tools" / "polish_optima.py"


@pytest.fixture(scope="module")
def tool():
    spec = importlib.util.spec_from_file_location("polish_optima", TOOL)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_catalogue_is_what_the_polishing_prints():
    done = subprocess.run([sys.executable, TOOL, "--check"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_check_reports_a_least_value_that_is_one_spacing_off(tool):
    camel = problems.get("CAM")
    wrong = dataclasses.replace(camel, f_star=float(np.nextafter(camel.f_star, 0.0)))
    assert [line.split(":")[0] for line in tool.differences([wrong])] == ["CAM"]


def test_the_check_reports_a_minimizer_that_is_one_spacing_off(tool):
    wave = problems.get("CSF")
    wrong = dataclasses.replace(wave, minimizers=((float(np.nextafter(wave.minimizers[0][0], 0.0)),),))
    assert "minimizers" in tool.differences([wrong])[0]


def test_a_check_that_finds_a_difference_ends_in_status_1(tool, monkeypatch):
    wrong = dataclasses.replace(problems.get("CSF"), f_star=-2.9)
    monkeypatch.setattr(tool.problems, "ALL", (wrong,))
    monkeypatch.setattr(sys, "argv", ["polish_optima.py", "--check"])
    assert tool.main() == 1


@pytest.mark.parametrize("problem", problems.ALL, ids=lambda p: p.abbreviation)
def test_the_function_agrees_with_the_literatures_form_in_mpmath(tool, problem):
    x = np.random.default_rng(2).uniform(problem.lower, problem.upper, size=(20, problem.d))
    with mp.workdps(40):
        exact, _ = tool.functions_and_starts()[problem.abbreviation]
        expected = [float(exact([mp.mpf(v) for v in row])) for row in x.tolist()]
    # The largest terms cancel to values of order 1 in SHU, BRA and GPR: hence an absolute part.
    np.testing.assert_allclose(problem(x), expected, rtol=1e-12, atol=1e-12)
