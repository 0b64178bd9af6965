"""What the core alone can do, and which extra is named where it is not enough.

Packages are hidden from a fresh interpreter: `import` then fails as if they were not installed.
"""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

PYPROJECT = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]
STUDIES = ("optuna", "sqlalchemy", "alembic")
ALL = (*STUDIES, "typer", "rich", "matplotlib", "jinja2", "markupsafe", "pydantic")


def run(code: str, *hidden: str) -> subprocess.CompletedProcess[str]:
    hide = f"import sys; sys.modules.update(dict.fromkeys({hidden!r}))\n"
    return subprocess.run([sys.executable, "-c", hide + code], capture_output=True, text=True, check=False)


def command(*arguments: str, hidden: tuple[str, ...]) -> subprocess.CompletedProcess[str]:
    return run(f"sys.argv = {['surefoot', *arguments]!r}\nfrom surefoot.cli import main; main()", *hidden)


def test_the_core_needs_only_numpy_scipy_and_what_is_tiny() -> None:
    names = {requirement.split(">")[0] for requirement in PYPROJECT["dependencies"]}
    assert names <= {"numpy", "scipy", "array-api-compat", "threadpoolctl", "cloudpickle"}


def test_all_holds_what_studies_need() -> None:
    extras = PYPROJECT["optional-dependencies"]
    assert "run" in extras["all"][0].split("[")[1].rstrip("]").split(",")


def test_every_extra_that_the_start_page_and_errors_name_exists() -> None:
    root = Path(__file__).parents[1]
    start = (root / "docs/start/index.md").read_text()
    texts = [start, (root / "README.md").read_text(), *(path.read_text() for path in (root / "src").rglob("*.py"))]
    named = {
        name
        for text in texts
        for group in re.findall(r"(?:surefoot|'\.)\[([a-z,]+)\]'", text)
        for name in group.split(",")
    }
    extras = start[start.index("| extra |") :]
    table = re.findall(r"^\| (`[a-z]+`(?:, `[a-z]+`)*) \|", extras, re.MULTILINE)
    named |= {name.strip("` ") for row in table for name in row.split(",")}
    assert {"run", "plots", "cli", "dashboard", "torch"} <= named
    assert named <= set(PYPROJECT["optional-dependencies"])


def test_minimize_needs_no_extra_and_still_shows_how_far_it_is() -> None:
    done = run(
        "import surefoot\nprint(surefoot.minimize(lambda x: x[0] ** 2, [(-1, 1)], n_evals=12, progress=True).nfev)",
        *ALL,
    )
    assert (done.returncode, done.stdout) == (0, "12\n"), done.stderr
    assert "evaluations 12/12  best " in done.stderr


@pytest.mark.parametrize("name", ["run", "list", "show", "export", "forget", "report", "dashboard"])
def test_a_command_on_studies_asks_for_the_extra_run(name: str) -> None:
    done = command(name, "p.toml", *(["0"] if name == "forget" else []), hidden=STUDIES)
    assert done.returncode == 2
    assert done.stderr.startswith("error: expected Optuna")
    assert "pip install 'surefoot[run]'" in " ".join(done.stderr.split())


@pytest.mark.parametrize("hidden", ["matplotlib", "jinja2", "markupsafe"])
def test_a_report_asks_for_the_extra_plots(hidden: str, tmp_path: Path) -> None:
    code = "import surefoot\nfrom surefoot import *\nresult = minimize(lambda x: x[0] ** 2, [(-1, 1)], n_evals=3)\n"
    code += f"try:\n    write_report(result, {str(tmp_path / 'r.html')!r})"
    done = run(f"{code}\nexcept surefoot.errors.MissingExtraError as error:\n    print(error)", hidden)
    assert "try pip install 'surefoot[plots]'" in done.stdout, done.stderr


def test_the_sampler_asks_for_the_extra_run() -> None:
    code = "from surefoot.errors import MissingExtraError\ntry:\n    import surefoot.integrations.optuna"
    done = run(f"{code}\nexcept MissingExtraError as error:\n    print(error)", *STUDIES)
    assert "surefoot[run]" in done.stdout, done.stderr


def test_the_command_line_asks_for_what_it_is_made_of() -> None:
    done = command("problems", hidden=("typer", "rich"))
    assert (done.returncode, done.stdout) == (2, "")
    assert "try pip install 'surefoot[run]'" in done.stderr
    assert "Traceback" not in done.stderr


def test_commands_without_studies_need_no_optuna() -> None:
    done = command("problems", hidden=STUDIES)
    assert done.returncode == 0, done.stderr
    assert "Branin" in done.stdout


def test_the_posterior_asks_for_its_extra_before_the_first_simulation() -> None:
    code = (
        "from surefoot.calibration import Signal, calibrate\n"
        "from surefoot.errors import MissingExtraError\n"
        "calls = []\n"
        "def line(x): calls.append(x); return [x[0]]\n"
        "def fit(**asked): return calibrate(line, [(0, 1)], Signal('s', [1.0], 0.1), n_evals=3, **asked)\n"
        "try: fit()\n"
        "except MissingExtraError as error: print(error, len(calls))\n"
        "print(fit(posterior=False).n_evals)"
    )
    done = run(code, "emcee")
    assert "try pip install 'surefoot[calibration]' 0\n3\n" in done.stdout, done.stderr
