"""`surefoot report` as a user starts it."""

import os
import subprocess
import sys
from pathlib import Path

import optuna
import pytest
from optuna.distributions import FloatDistribution
from optuna.trial import create_trial

from surefoot.inference.result import Inference
from surefoot.integrations.optuna_history import FALLBACK
from surefoot.runs.storage import close_storage, open_storage

pytest.importorskip("matplotlib")


def report(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "surefoot", "report", *arguments]
    return subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=False, env={**os.environ, "COLUMNS": "400"}
    )


def simulator(trial) -> float:
    a, b = trial.suggest_float("a", 0.0, 1.0), trial.suggest_float("b", 0.0, 1.0)
    if a > 0.6:
        raise ArithmeticError("diverged")
    return a + b


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """A folder with a study of eight trials, some of which failed."""
    from surefoot.integrations.optuna import SurefootSampler, guarded

    folder = tmp_path_factory.mktemp("studies")
    storage = open_storage(folder / "beam.db", create=True)
    study = optuna.create_study(storage=storage, study_name="beam", sampler=SurefootSampler(seed=1))
    study.optimize(guarded(simulator), n_trials=8, catch=(Exception,))
    close_storage(storage)
    return folder


def test_a_study_is_reported_under_its_name(folder: Path, read) -> None:
    done = report(folder, "beam.db")
    assert (done.returncode, done.stdout.strip()) == (0, "report: beam.html")
    reading = read((folder / "beam.html").read_text())
    assert reading.text("h1") == "beam"
    assert "ArithmeticError: diverged" in reading.text("td")


def test_random_points_of_a_study_that_looks_healthy_are_said_first(tmp_path: Path, read) -> None:
    storage = open_storage(tmp_path / "p.db", create=True)
    study = optuna.create_study(storage=storage, study_name="p")
    for i in range(4):
        attributes = {FALLBACK: "the matrix was not finite"} if i in (1, 2) else {}
        x = {"x": FloatDistribution(0.0, 1.0)}
        study.add_trial(create_trial(value=i / 4, params={"x": i / 4}, distributions=x, user_attrs=attributes))
    close_storage(storage)
    assert report(tmp_path, "p.db").returncode == 0
    warning = read((tmp_path / "p.html").read_text()).text("aside")
    assert warning.startswith("Warning. 2 evaluations are random points")
    assert "(evaluation 1: the matrix was not finite)" in warning
    command = [sys.executable, "-m", "surefoot", "show", "p.db"]
    shown = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    assert shown.count("the matrix was not finite") == 2


def test_the_report_goes_where_it_is_told(folder: Path, read) -> None:
    done = report(folder, "beam.db", "--study", "beam", "-o", "other.html", "--title", "A <title>")
    assert done.returncode == 0
    assert read((folder / "other.html").read_text()).text("h1") == "A <title>"


@pytest.mark.parametrize(
    "arguments",
    [("missing.db",), ("beam.db", "--study", "x"), ("beam.db", "-o", "no/such/folder.html"), ("missing.json",)],
    ids=["storage", "study", "place", "inference"],
)
@pytest.mark.slow
def test_what_is_missing_ends_with_status_2_and_one_line(folder: Path, arguments: tuple) -> None:
    done = report(folder, *arguments)
    assert done.returncode == 2
    assert done.stderr.startswith("error: expected ")
    assert "; try " in done.stderr
    assert "Traceback" not in done.stderr


def test_a_saved_inference_is_reported(small: Inference, tmp_path: Path, read) -> None:
    small.save(tmp_path / "patient.json")
    done = report(tmp_path, "patient.json")
    assert (done.returncode, done.stdout.strip()) == (0, "report: patient.html")
    assert "Pulmonary circulation" in read((tmp_path / "patient.html").read_text()).text("h1")
