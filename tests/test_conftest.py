"""A skipped test fails CI; what `make test` leaves out exists."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.parametrize("workers", ["0", "2"])
@pytest.mark.parametrize(("ci", "status"), [("true", 1), ("", 0)])
def test_a_skipped_test_fails_in_ci_only(ci: str, status: int, workers: str, tmp_path: Path) -> None:
    for name in ("conftest.py", "thorough.txt"):
        shutil.copy(Path(__file__).with_name(name), tmp_path)
    (tmp_path / "test_one.py").write_text(
        "import pytest\ndef test_fine(): pass\ndef test_skipped(): pytest.skip('no such thing here')\n"
    )
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-n",
        workers,
        "-c",
        os.devnull,
        "--rootdir",
        str(tmp_path),
        str(tmp_path),
    ]
    done = subprocess.run(command, env={**os.environ, "CI": ci}, capture_output=True, text=True, check=False)
    assert done.returncode == status, done.stdout
    assert ("test_skipped (Skipped: no such thing here)" in done.stdout) == bool(status)


def test_every_line_of_thorough_txt_names_a_test_that_exists():
    root = Path(__file__).parents[1]
    for line in (root / "tests/thorough.txt").read_text().split("\n"):
        path, _, name = line.partition("::")
        assert (root / path).exists(), line
        assert not name or f"def {name.partition('[')[0]}" in (root / path).read_text(), line
