"""What importing surefoot costs, and what it offers."""

import json
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

import surefoot


@cache
def modules_after(statement: str) -> set[str]:
    """The modules that a fresh interpreter has loaded after the statement."""
    code = f"{statement}\nimport sys, json; print(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout.splitlines()[-1]))


@pytest.mark.parametrize(
    "module", ["torch", "numba", "matplotlib", "scipy.stats", "rich", "typer", "sklearn", "optuna", "jinja2"]
)
@pytest.mark.parametrize(
    "statement",
    [
        "import surefoot",
        "from surefoot import Optimizer, minimize",
        "import surefoot; surefoot.minimize(lambda x: x[0], [(0, 1)], n_evals=12)",
    ],
    ids=["package", "names", "run"],
)
def test_the_default_path_does_not_import(statement: str, module: str) -> None:
    assert module not in modules_after(statement)


def test_importing_the_package_does_not_import_numpy() -> None:
    assert "numpy" not in modules_after("import surefoot")


@pytest.mark.parametrize("module", ["numpy", "optuna", "sqlalchemy", "distributed", "plotly", "jinja2"])
def test_the_command_line_imports_heavy_parts_when_it_uses_them(module: str) -> None:
    assert module not in modules_after("import surefoot.cli.app")


@pytest.mark.parametrize("name", surefoot.__all__)
def test_every_public_name_resolves(name: str) -> None:
    assert getattr(surefoot, name) is not None


@pytest.mark.parametrize("name", ["problems", "pulmonary"])
def test_subpackages_resolve(name: str) -> None:
    assert getattr(surefoot, name).__name__ == f"surefoot.{name}"


def test_public_names_are_listed() -> None:
    assert set(surefoot.__all__) <= set(dir(surefoot))


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="maximise"):
        _ = surefoot.maximise


def test_the_package_is_typed() -> None:
    assert (Path(surefoot.__file__).parent / "py.typed").exists()


def test_the_version_to_cite_is_that_of_the_package() -> None:
    cited = (Path(__file__).parents[1] / "CITATION.cff").read_text()
    assert f"\nversion: {surefoot.__version__}\n" in cited


def test_the_version_is_that_of_the_distribution() -> None:
    from importlib.metadata import version

    assert surefoot.__version__ == version("surefoot")
