"""Every Python example of the README and the docs runs as pasted."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
EXAMPLES = [
    (f"{path.relative_to(ROOT)} {i}", code)
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    for i, code in enumerate(re.findall(r"```python\n(.*?)```", path.read_text(), re.DOTALL))
]


@pytest.mark.parametrize("code", [code for _, code in EXAMPLES], ids=[name for name, _ in EXAMPLES])
def test_an_example_runs_as_pasted(code, tmp_path):
    command = [sys.executable, "-W", "error::RuntimeWarning", "-c", code]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr


def test_the_readme_has_examples():
    assert sum(name.startswith("README") for name, _ in EXAMPLES) >= 2


@pytest.mark.parametrize(
    "path", [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")), ROOT / "results/README.md"]
)
def test_links_to_files_lead_somewhere(path):
    for target in re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", path.read_text()):
        if "://" not in target:
            assert (path.parent / target).exists(), target


def test_files_that_the_design_names_are_there():
    named = set(re.findall(r"`([a-z_]+/[a-z_/]+\.py)`", (ROOT / "docs/contributing/design.md").read_text()))
    assert len(named) > 40
    places = [ROOT / "src" / "surefoot", ROOT]
    assert [name for name in sorted(named) if not any((place / name).exists() for place in places)] == []
