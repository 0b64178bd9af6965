"""`surefoot pulmonary synthesize` and `infer` as a user starts them."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

from surefoot.cli.app import app
from surefoot.errors import InvalidInputError, MissingExtraError
from surefoot.inference.data_file import read_signals
from surefoot.inference.result import Inference

SUREFOOT = str(Path(sys.executable).parent / "surefoot")


def run(*arguments, **options):
    return CliRunner().invoke(app, [str(a) for a in arguments], catch_exceptions=False, **options)


@pytest.fixture(name="data")
def _data(tmp_path):
    path = tmp_path / "patient.csv"
    done = run("pulmonary", "synthesize", path, "--signals", "p_MPA,q_MPA", "--samples", 48, "--seed", 3)
    assert done.exit_code == 0
    return path


def test_synthetic_data_can_be_read_back(data):
    found = read_signals(data)
    assert found.names == ("p_MPA", "q_MPA")
    assert found.truth == (2.6e5, 5.0e4, 2.76)


def test_truth_and_noise_levels_can_be_hidden(tmp_path):
    run("pulmonary", "synthesize", tmp_path / "p.csv", "--hide-truth", "--hide-noise", "--signals", "p_MPA")
    text = (tmp_path / "p.csv").read_text()
    assert "sd_" not in text
    assert "xi" not in text


def test_parameters_that_fail_end_with_status_1(tmp_path):
    done = run("pulmonary", "synthesize", tmp_path / "p.csv", "--f-L", 1.4e5, "--f-S", 1e5, "--xi", 2.7)
    assert done.exit_code == 1
    assert not (tmp_path / "p.csv").exists()


def test_a_short_inference_prints_truth_and_estimate_and_saves_itself(data):
    done = run("pulmonary", "infer", data, "--n-evals", 3, "--no-posterior", "--workers", 1)
    assert done.exit_code == 0
    assert "not a medical device" in done.stdout
    assert "260,000" in done.stdout
    assert Inference.load(data.with_suffix(".inference.json")).n_evals == 3
    assert not data.with_suffix(".inference.history.json").exists()


def test_wrong_data_end_in_one_sentence(data):
    data.write_text(data.read_text().replace("p_MPA_mmHg", "p_MPA_dyn_cm2"))
    with pytest.raises(InvalidInputError, match="expected a mean pressure"):
        run("pulmonary", "infer", data, "--n-evals", 3)


@pytest.mark.parametrize("option", ["--report", "--plots"])
def test_what_cannot_be_drawn_is_said_before_the_simulations(data, monkeypatch, option):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtraError, match=r"try pip install 'surefoot\[plots\]'"):
        run("pulmonary", "infer", data, "--n-evals", 2, "--no-posterior", option, data.with_suffix(".out"))
    assert list(data.parent.iterdir()) == [data]


def test_a_study_that_could_not_be_drawn_is_refused_before_it_runs(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    for study in ("failures", "comparison", "pulmonary", "coverage", "benchmark"):
        with pytest.raises(MissingExtraError, match=r"surefoot\[plots\]"):
            run("study", study, "--out", tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_an_inference_that_is_stopped_loses_no_finished_simulation(data, how):
    command = [SUREFOOT, "pulmonary", "infer", str(data), "--n-evals", "500", "--no-posterior", "--workers", "1"]
    history = data.with_suffix(".inference.history.json")
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        deadline = time.monotonic() + 120
        while not history.exists() and time.monotonic() < deadline:
            time.sleep(0.1)
        process.send_signal(how)
        _, errors = process.communicate(timeout=60)
    assert process.returncode == (130 if how == signal.SIGINT else -9)
    if how == signal.SIGINT:
        assert "the same command goes on" in errors
    done = run("pulmonary", "infer", data, "--n-evals", 3, "--no-posterior", "--workers", 1)
    assert "going on from" in done.stdout


def test_the_studies_are_listed():
    done = run("study", "--help")
    assert "pulmonary" in done.stdout
    assert "coverage" in done.stdout


def test_a_tiny_study_of_failures_writes_tables_and_figures_and_can_repeat_them_without_runs(tmp_path):
    options = ["--problem", "Gramacy", "--problem", "BRA discs", "--policy", "EI", "--strategy", "ignore", "--strategy",
               "random", "--seeds", 2, "--n", 24, "--workers", 1, "--out", tmp_path]  # fmt: skip
    done = run("study", "failures", *options)
    assert "| Gramacy |" in done.output
    assert "| BRA discs | EI |" in done.output
    for name in ("table.md", "comparison.png", "limits.md", "limits.csv", "limits.png"):
        (tmp_path / name).unlink()
    assert run("study", "failures", *options, "--only-tables").output.count("figure:") == 2
    assert (tmp_path / "limits.md").exists()


def test_a_tiny_study_writes_tables_and_figures(tmp_path):
    done = run(
        "study", "pulmonary", "--out", tmp_path, "--method", "ScaledEI", "--method", "random", "--seeds", 2, "--n", 3,
        "--reference", 4, "--workers", 1,
    )  # fmt: skip
    assert done.exit_code == 0
    assert {"tables.md", "runs.csv", "trace.png", "comparison-original.png"} <= {p.name for p in tmp_path.iterdir()}
