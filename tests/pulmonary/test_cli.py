"""The command line: what it prints, writes and returns."""

import csv
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from surefoot.cli.app import app, main
from surefoot.errors import InvalidInputError, MissingExtraError, UnknownNameError

FAILING = ["--f-L", "1.4e5", "--f-S", "1e5", "--xi", "2.7", "--variant", "original"]


def call(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["pulmonary", *arguments])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, result.output


def test_simulate_prints_a_row_for_every_vessel() -> None:
    code, output = call("simulate", "--variant", "original")
    assert code == 0
    for name in ("MPA", "RPA", "LPA", "RIA", "RTA", "LIA", "LTA", "RIV", "RSV", "LIV", "LSV"):
        assert name in output
    assert "6 beats" in output


def test_simulate_writes_waveforms_and_a_figure(tmp_path: Path) -> None:
    code, _ = call("simulate", "--out", str(tmp_path / "run.csv"), "--plot", str(tmp_path / "run.png"))
    assert code == 0
    assert len((tmp_path / "run.csv").read_text().splitlines()) == 257
    assert (tmp_path / "run.png").read_bytes().startswith(b"\x89PNG")


def test_a_failed_simulation_ends_with_status_one_and_its_kind() -> None:
    code, output = call("simulate", *FAILING)
    assert code == 1
    assert "matching" in output


def test_simulate_reads_a_settings_file(tmp_path: Path) -> None:
    path = tmp_path / "s.toml"
    path.write_text('[variant]\nname = "original"\nbeats = 2\n')
    _, output = call("simulate", "--settings", str(path))
    assert "2 beats" in output


def test_failures_prints_and_writes_one_outcome_per_grid_point(tmp_path: Path) -> None:
    arguments = ("--x", "f_L=1.4e5:4e5", "--y", "xi=2.5:2.9", "--points", "2")
    code, output = call("failures", *arguments, "--out", str(tmp_path / "m.csv"), "--plot", str(tmp_path / "m.png"))
    assert code == 0
    assert "2 of 4 failed" in output
    with (tmp_path / "m.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["kind"] for row in rows] == ["matching", "", "matching", ""]
    assert (tmp_path / "m.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (("--x", "mass"), UnknownNameError),
        (("--x", "xi", "--y", "xi"), InvalidInputError),
        (("--x", "f_L=5:1"), InvalidInputError),
        (("--x", "f_L=a:b"), InvalidInputError),
    ],
)
def test_failures_refuses_axes_that_make_no_sense(arguments: tuple[str, ...], error: type[Exception]) -> None:
    with pytest.raises(error, match=r"expected .*, got .*; "):
        call("failures", *arguments)


def test_an_input_error_is_one_line_and_status_two(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["surefoot", "pulmonary", "simulate", "--f-L", "-3"])
    with pytest.raises(SystemExit) as caught:
        main()
    assert caught.value.code == 2
    assert "error: expected f_L" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["simulate", "failures"])
def test_help_gives_an_example(command: str) -> None:
    _, output = call(command, "--help")
    assert f"surefoot pulmonary {command}" in output


def test_without_matplotlib_a_figure_names_the_extra(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtraError, match=r"surefoot\[plots\]"):
        call("simulate", "--variant", "original", "--plot", str(tmp_path / "run.png"))
