"""The OptunaHub package has what the hub asks for, and its example runs."""

import importlib.util
import sys
import types
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "contrib/optunahub/package/samplers/surefoot"


def load(name: str):
    spec = importlib.util.spec_from_file_location(f"hub_{name}", FOLDER / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_front_matter_is_complete():
    _, front, _ = (FOLDER / "README.md").read_text().split("---\n", 2)
    keys = [line.split(":")[0] for line in front.splitlines()]
    assert keys == ["author", "title", "description", "tags", "optuna_versions", "license"]


def test_the_licence_is_that_of_the_project():
    assert (FOLDER / "LICENSE").read_text() == (FOLDER.parents[4] / "LICENSE").read_text()


def test_the_example_finds_the_minimum(monkeypatch: pytest.MonkeyPatch):
    hub = types.SimpleNamespace(load_module=lambda name: load("__init__"))  # optunahub itself fetches from the network
    monkeypatch.setitem(sys.modules, "optunahub", hub)
    example = load("example")
    import optuna

    study = optuna.create_study(sampler=example.module.SurefootSampler(seed=1))
    study.optimize(example.module.guarded(example.objective), n_trials=40, catch=(Exception,))
    assert study.best_value < 1e-3
