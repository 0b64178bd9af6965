"""Run tests with other versions: `python tools/versions.py oldest|newest [pytest's arguments]`.

oldest  the lowest versions that pyproject.toml allows, on this Python
newest  the newest versions that can be had, on the newest Python that is found beside this one

Each has an environment of its own under build/, made anew.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
EXTRAS = "run,plots,pulmonary,postgres,parquet"
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def lowest_versions(extras: str = "") -> list[str]:
    """What holds every requirement of the package and of extras at its lowest version: 'numpy==2.0.*'."""
    project = PYPROJECT["project"]
    names = filter(None, extras.split(","))
    lines = [*project["dependencies"], *(r for extra in names for r in project["optional-dependencies"][extra])]
    pins = []
    for line in lines:
        found = re.fullmatch(r"([A-Za-z0-9_.-]+)(?:\[.*\])?>=([0-9.]+)", line)
        if found:
            name, version = found.groups()
            pins.append(f"{name}=={version}" + ("" if version.count(".") > 1 else ".*"))
    return pins


def newest_python() -> str:
    """The newest interpreter from this version on, by name on the PATH or in pyenv's folder."""
    minor = sys.version_info.minor
    for candidate in range(minor + 8, minor, -1):
        folders = sorted(Path.home().glob(f".pyenv/versions/3.{candidate}.*/bin/python3"), reverse=True)
        found = next((str(p) for p in folders), None) or shutil.which(f"python3.{candidate}")
        if found and subprocess.run([found, "-m", "venv", "--help"], capture_output=True, check=False).returncode == 0:
            return found
    return sys.executable


def fresh_environment(name: str, interpreter: str) -> str:
    """The Python of an empty virtual environment below build/."""
    place = ROOT / "build" / f"venv-{name}"
    shutil.rmtree(place, ignore_errors=True)
    subprocess.run([interpreter, "-m", "venv", str(place)], check=True)
    return str(place / ("Scripts/python.exe" if os.name == "nt" else "bin/python"))


def install(python: str, *requirements: str) -> None:
    """Install into the environment of that Python."""
    command = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*command, *requirements], check=True)


def main() -> int:
    """Make the environment, run the tests there."""
    which, arguments = sys.argv[1], sys.argv[2:]
    if which not in ("oldest", "newest"):
        raise SystemExit(f"expected oldest or newest; got {which!r}; try python tools/versions.py oldest")
    python = fresh_environment(which, sys.executable if which == "oldest" else newest_python())
    pins = lowest_versions(EXTRAS) if which == "oldest" else []
    install(python, "-e", f"{ROOT}[{EXTRAS}]", *PYPROJECT["dependency-groups"]["test"], *pins)
    shown = subprocess.run([python, "-c", SHOW], check=True, capture_output=True, text=True).stdout.strip()
    print(f"--- {which}: {shown}", flush=True)
    # not as in CI, where a skipped test has failed: some need packages of other extras, and run with those elsewhere
    environment = {name: value for name, value in os.environ.items() if name != "CI"}
    return subprocess.run([python, "-m", "pytest", *arguments], cwd=ROOT, env=environment, check=False).returncode


SHOW = """
import sys
from importlib.metadata import version
names = ("numpy", "scipy", "array-api-compat", "threadpoolctl", "optuna", "numba")
print("Python", sys.version.split()[0], *(f"{name} {version(name)}" for name in names))
"""

if __name__ == "__main__":
    sys.exit(main())
