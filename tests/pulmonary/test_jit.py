"""Compiled code on disk is never older than any of the sources it was made from."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import surefoot
from surefoot.pulmonary.jit import SOURCES
from surefoot.pulmonary.kernels.beat import run_beat


def test_the_cache_stamp_of_a_kernel_covers_all_kernels() -> None:
    assert SOURCES in run_beat._cache._cache_file._source_stamp  # type: ignore[attr-defined]


def test_changing_a_constant_of_one_kernel_recompiles_those_that_call_it(tmp_path: Path) -> None:
    package = tmp_path / "surefoot"
    shutil.copytree(Path(surefoot.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    code = (
        "import numpy as np; "
        "from surefoot.pulmonary.kernels.tubes import fluxes; out = np.zeros(1); one = np.ones(1); "
        "fluxes(one, one, one, one, out); print(out[0])"
    )
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}

    def run() -> float:
        done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
        return float(done.stdout)

    assert run() == 3.0
    ends = package / "pulmonary" / "kernels" / "ends.py"
    stamps = {path: path.stat().st_mtime_ns for path in package.rglob("*.nbi")}
    ends.write_text(ends.read_text() + "\n# changed\n")
    assert run() == 3.0
    assert any(path.stat().st_mtime_ns != stamp for path, stamp in stamps.items())
