"""A skipped test fails CI."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.parametrize("workers", ["0", "2"])
@pytest.mark.parametrize(("ci", "status"), [("true", 1), ("", 0)])
def test_a_skipped_test_fails_in_ci_only(ci: str, status: int, workers: str, tmp_path: Path) -> None:
    shutil.copy(Path(__file__).with_name("conftest.py"), tmp_path)
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
