"""Every example of the README and the docs runs as pasted; links lead somewhere; the pages are in plain English."""

import dataclasses
import re
import subprocess
import sys
from pathlib import Path

import pytest

import surefoot
from tools import style

ROOT = Path(__file__).parents[2]
PAGES = style.pages()
EXAMPLES = [
    pytest.param(code, id=f"{path.relative_to(ROOT)} {i}", marks=() if path.name == "README.md" else pytest.mark.docs)
    for path in PAGES
    for i, code in enumerate(re.findall(r"```python\n(.*?)```", path.read_text(), re.DOTALL))
]


@pytest.mark.parametrize("code", EXAMPLES)
def test_an_example_runs_as_pasted(code, tmp_path):
    command = [sys.executable, "-W", "error::RuntimeWarning", "-c", code]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr


def test_the_readme_has_an_example():
    assert "```python\n" in (ROOT / "README.md").read_text()


@pytest.mark.parametrize(
    "path", [*PAGES, ROOT / "results/README.md", ROOT / "CHANGELOG.md"], ids=lambda path: str(path.relative_to(ROOT))
)
def test_links_to_files_lead_somewhere(path):
    text = re.sub(r"```.*?```", "", path.read_text(), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", text):
        if "://" not in target:
            assert (path.parent / target).exists(), target


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_page_is_in_plain_english(path):
    assert list(style.faults(path, style.text_of(path))) == []


def test_the_check_of_the_style_finds_what_is_bad():
    bad = "# Page\n\nA number of things, all of them small and of the same colour. This was tried and dropped."
    found = [fault for _, fault in style.faults(ROOT / "docs/bad.md", f"{bad} {'word ' * 50}.\n\n{'x ' * 60}")]
    for what in ("no verb", "diary", "words in a sentence", "characters", "does not begin"):
        assert any(what in fault for fault in found), what


def test_paths_of_docs_that_the_code_names_are_there():
    named = {
        match
        for folder in ("src", "benchmarks", "tests", "tools", "examples")
        for path in (ROOT / folder).rglob("*.py")
        for match in re.findall(r"docs/[a-z/-]+\.md", path.read_text())
        if path != Path(__file__)
    }
    assert len(named) > 10
    assert [name for name in sorted(named) if not (ROOT / name).exists()] == []


def test_files_that_the_design_names_are_there():
    text = "".join((ROOT / "docs/contributing" / page).read_text() for page in ("design.md", "walks.md"))
    named = set(re.findall(r"`([a-z_]+/[a-z_/]+\.py)`", text))
    assert len(named) > 120
    places = [ROOT / "src" / "surefoot", ROOT]
    assert [name for name in sorted(named) if not any((place / name).exists() for place in places)] == []


def test_every_public_name_is_in_the_reference():
    text = (ROOT / "docs/reference/api.md").read_text()
    assert [name for name in surefoot.__all__ if f"surefoot.{name}" not in text] == []


def test_what_a_result_has_is_in_the_reference():
    text = (ROOT / "docs/reference/api.md").read_text()
    listed = set(re.search(r"surefoot\.Result\n +:members: ([\w,\s]+?)\n\.\.", text)[1].replace(",", " ").split())
    fields = {field.name for field in dataclasses.fields(surefoot.Result)}
    public = {name for name in vars(surefoot.Result) if not name.startswith("_")} - fields
    assert public - listed == {"batch", "keys"}  # of the engine, and of SciPy's way to look at a result


def test_every_page_is_in_a_table_of_contents():
    listed = set()
    for path in PAGES:
        for inside in re.findall(r"```\{toctree\}\n(.*?)```", path.read_text(), re.DOTALL):
            listed |= {(path.parent / line).resolve() for line in inside.split() if not line.startswith(":")}
    pages = [
        path for path in PAGES if path.suffix == ".md" and path not in (ROOT / "README.md", ROOT / "docs/index.md")
    ]
    assert [path for path in pages if path.with_suffix("") not in listed] == []
