"""The commands of the start page and of the tutorial on executables work as pasted; so do the examples with decks."""

import os
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from surefoot.runs.problem import read_problem
from surefoot.runs.progress import ConsoleReporter
from surefoot.runs.running import run

ROOT = Path(__file__).parents[2]


def run_tour(commands: str, folder: Path, n_evals: int) -> str:
    """What the commands print, with the beam beside them."""
    shutil.copytree(ROOT / "examples/beam", folder / "examples/beam")
    problem = folder / "examples/beam/beam.toml"
    problem.write_text(problem.read_text().replace("n_evals = 40", f"n_evals = {n_evals}"))
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        ["sh", "-e", "-c", commands],
        cwd=folder,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def commands_of(page: str) -> str:
    """All commands of a page, in their order."""
    return "\n".join(re.findall(r"```sh\n(.*?)```", (ROOT / page).read_text(), re.DOTALL))


@pytest.mark.docs
def test_the_commands_of_the_start_page_work_as_pasted(tmp_path):
    shown = run_tour(commands_of("docs/start/index.md"), tmp_path, 40)
    assert "40 of 40 evaluations" in shown
    assert "segmentation fault" in shown
    assert "stiffeners" in shown  # what trial 3 printed
    best = float(re.findall(r"best value\s*│\s*([\d.]+)", shown)[0])
    assert 168.6 < best < 169.5
    assert len((tmp_path / "examples/beam/trials.csv").read_text().splitlines()) == 41
    assert (tmp_path / "examples/beam/beam.html").exists()


@pytest.mark.docs
def test_the_commands_of_the_tutorial_on_executables_work_as_pasted(tmp_path):
    shown = run_tour(commands_of("docs/tutorials/executable.md"), tmp_path, 40)
    assert "GEOM  1.00000E-01  5.00000E-03" in shown  # the rendered deck, of `check`
    assert "40 of 40 evaluations" in shown
    assert "no convergence after 60 sweeps" in shown
    heat = float(re.findall(r"heat\s*│\s*([\d.]+) \(limit", shown)[0])
    assert 2500 <= heat < 2510
    assert (tmp_path / "fins.html").exists()


def test_the_simulator_in_python_agrees_with_the_one_in_c(tmp_path):
    point = ["--width", "0.05", "--height", "0.2"]
    value = subprocess.run(
        [sys.executable, ROOT / "examples/beam/beam.py", *point], capture_output=True, check=True
    ).stdout
    crash = subprocess.run(
        [sys.executable, ROOT / "examples/beam/beam.py", "--width", "0.05", "--height", "0.06"],
        capture_output=True,
        check=False,
    )
    assert crash.returncode < 0
    compiler = shutil.which("cc")
    if compiler is not None:
        subprocess.run([compiler, "-o", tmp_path / "beam", ROOT / "examples/beam/beam.c"], check=True)
        assert subprocess.run([tmp_path / "beam", *point], capture_output=True, check=True).stdout == value


def run_problem(path: Path, n_evals: int):
    with ConsoleReporter(Console(quiet=True)) as reporter:
        return run(replace(read_problem(path), n_evals=n_evals), reporter=reporter)


@pytest.mark.docs
def test_the_solver_with_a_deck_runs_and_finds_light_fins(tmp_path):
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("needs a C compiler")
    shutil.copytree(ROOT / "examples/deck", tmp_path / "deck", ignore=shutil.ignore_patterns("*.db*", "*.runs", "fin"))
    subprocess.run([compiler, "-O1", "-o", tmp_path / "deck/fin", tmp_path / "deck/fin.c", "-lm"], check=True)
    result = run_problem(tmp_path / "deck/fin.toml", 25)
    assert result.fun < 10.0
    assert result.outputs["heat"] > 2400
    check = [sys.executable, "-m", "surefoot", "check", str(tmp_path / "deck/fin.toml"), "--at", "length=0.5"]
    shown = subprocess.run([*check, "--at", "thickness=0.0005"], capture_output=True, text=True, check=False)
    assert shown.returncode == 1
    assert "SIGABRT" in shown.stdout
    assert "GEOM  5.00000E-01 5.00000E-04" in shown.stdout


@pytest.mark.docs
def test_the_mesher_and_the_solver_run(tmp_path):
    shutil.copytree(ROOT / "examples/two_steps", tmp_path / "two", ignore=shutil.ignore_patterns("*.db*", "*.runs"))
    result = run_problem(tmp_path / "two/nozzle.toml", 14)
    assert result.fun > 0
    assert result.outputs["mach"] > 1.5
    reasons = [e.reason for e in result.history.evaluations if not e.ok]
    assert any(reason.startswith("mesher: ") for reason in reasons) or any("chokes" in reason for reason in reasons)


def test_the_package_runs(tmp_path):
    ignored = shutil.ignore_patterns("*.db*", "*.runs", "__pycache__")
    shutil.copytree(ROOT / "examples/package", tmp_path / "package", ignore=ignored)
    result = run_problem(tmp_path / "package/spring.toml", 12)
    assert result.feasible
    assert result.outputs["force"] <= 900.0
    assert all("DivergedError" in e.reason for e in result.history.evaluations if not e.ok)
