"""The `surefoot` command as a user starts it."""

import subprocess
import sys
from pathlib import Path

import pytest

import surefoot

COMMANDS = {
    "script": [str(Path(sys.executable).parent / "surefoot")],
    "module": [sys.executable, "-m", "surefoot"],
}


def run(command: list[str], *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*command, *arguments], capture_output=True, text=True, check=False)


@pytest.fixture(params=COMMANDS, name="command")
def _command(request: pytest.FixtureRequest) -> list[str]:
    return COMMANDS[request.param]


def test_the_version_is_printed(command: list[str]) -> None:
    done = run(command, "--version")
    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, f"surefoot {surefoot.__version__}", "")


def test_help_names_the_subcommands(command: list[str]) -> None:
    done = run(command, "--help")
    assert done.returncode == 0
    assert "problems" in done.stdout


def test_an_unknown_subcommand_ends_with_status_2_and_no_traceback(command: list[str]) -> None:
    done = run(command, "optimise")
    assert done.returncode == 2
    assert "optimise" in done.stderr
    assert "Traceback" not in done.stderr


def test_without_a_subcommand_help_is_printed(command: list[str]) -> None:
    done = run(command)
    assert "problems" in done.stdout + done.stderr


def test_a_benchmark_that_could_have_no_tables_is_refused_before_it_runs(tmp_path) -> None:
    done = run(COMMANDS["module"], "study", "benchmark", "--policy", "EI", "--out", str(tmp_path))
    assert done.returncode == 2
    assert "expected ScaledEI among the policies" in done.stderr
    assert list(tmp_path.iterdir()) == []
