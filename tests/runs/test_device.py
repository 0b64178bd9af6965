"""The device of a problem file: of whoever runs it, not of the study."""

import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from surefoot.cli.app import app
from surefoot.errors import InvalidInputError
from surefoot.runs.problem import read_problem
from surefoot.runs.storage import load_study, opened

PROBLEM = """
n_evals = 6
n_init = 4
device = "{device}"
[parameters]
x = {{low = -1.0, high = 2.0}}
[objective]
python = "sim.py:simulate"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "sim.py").write_text("def simulate(x):\n    return (x['x'] - 0.4) ** 2\n")
    return tmp_path


def written(folder: Path, device: str) -> Path:
    path = folder / "p.toml"
    path.write_text(PROBLEM.format(device=device))
    return path


def test_the_default_is_the_cpu(make_problem) -> None:
    assert make_problem().device == "cpu"


def test_the_device_is_read(folder: Path) -> None:
    assert read_problem(written(folder, "cuda:1")).device == "cuda:1"


def test_a_device_that_is_no_text_is_refused(make_problem) -> None:
    with pytest.raises(InvalidInputError, match="expected device as text"):
        make_problem(device=1)


def test_what_a_study_keeps_does_not_say_the_device(make_problem) -> None:
    assert make_problem(device="cuda").to_json() == make_problem().to_json()


def test_a_dry_run_without_pytorch_names_the_extra(folder: Path) -> None:
    code = (
        f"import sys; sys.modules['torch'] = None; sys.argv = ['surefoot', 'run', {str(written(folder, 'cuda'))!r}, "
        "'--dry-run']\nfrom surefoot.cli import main; main()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "pip install 'surefoot[torch]'" in " ".join(done.stderr.split())


def test_the_command_line_overrules_the_file(folder: Path) -> None:
    done = CliRunner().invoke(app, ["run", str(written(folder, "cuda")), "--device", "cpu"])
    assert done.exit_code == 0, done.output


@pytest.mark.torch
def test_a_study_begun_with_pytorch_goes_on_without(folder: Path) -> None:
    pytest.importorskip("torch")
    path = written(folder, "torch")
    runs = [CliRunner().invoke(app, ["run", str(path)])]
    path.write_text(path.read_text().replace("n_evals = 6", "n_evals = 9"))
    runs.append(CliRunner().invoke(app, ["run", str(path), "--device", "cpu"]))
    assert [done.exit_code for done in runs] == [0, 0]
    with opened(str(folder / "p.db")) as storage:
        assert len(load_study(storage, "p").trials) == 9
