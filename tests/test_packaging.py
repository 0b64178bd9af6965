"""What stands in several files of the packaging is the same in all of them."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
EXTRAS = PYPROJECT["project"]["optional-dependencies"]


def in_recipe(part: str) -> set[str]:
    text = (ROOT / "packaging" / "conda" / "meta.yaml").read_text()
    block = re.search(rf"^  {part}:\n((?:    - .*\n)+)", text, re.MULTILINE)
    assert block is not None, part
    return {line.strip("- ").replace(" ", "") for line in block.group(1).splitlines()}


def test_the_recipe_asks_for_what_the_package_asks_for() -> None:
    asked = {*PYPROJECT["project"]["dependencies"], f"python{PYPROJECT['project']['requires-python']}"}
    assert in_recipe("run") == asked


def test_the_recipe_constrains_what_extras_ask_for() -> None:
    extras = {line for name in ("cli", "run", "plots", "calibration", "pulmonary") for line in EXTRAS[name]}
    named = {line.replace("matplotlib>", "matplotlib-base>") for line in extras if not line.startswith("surefoot[")}
    assert in_recipe("run_constrained") == named


def test_the_changelog_begins_with_this_version() -> None:
    import surefoot

    first = re.search(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert first is not None
    assert first.group(1) == surefoot.__version__


def test_groups_include_only_groups_that_exist() -> None:
    groups = PYPROJECT["dependency-groups"]
    included = {part["include-group"] for group in groups.values() for part in group if isinstance(part, dict)}
    assert included <= set(groups)
    assert {"dev", "docs", "bench"} <= set(groups)


@pytest.mark.parametrize("name", ["tests", "docs", "publish"])
def test_workflows_call_only_what_is_there(name: str) -> None:
    text = (ROOT / ".github" / "workflows" / f"{name}.yml").read_text()
    called = re.findall(r"(?:tools|tests|\.ci)/[\w./]+", text)
    assert [path for path in called if not (ROOT / path).exists()] == []
