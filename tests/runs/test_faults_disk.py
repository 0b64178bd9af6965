"""A disk that is full for a while: the run waits, nothing reported is lost, and it goes on."""

import contextlib
import os
import shutil
import subprocess
import time
from dataclasses import replace

import pytest

from surefoot.runs.storage import load_study, opened


@pytest.fixture
def small_disk(tmp_path):
    folder = tmp_path / "disk"
    folder.mkdir()
    if shutil.which("mount") is None or os.geteuid() != 0:
        pytest.skip("only root can mount a small tmpfs")
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", folder], capture_output=True, check=False)
    if done.returncode:
        pytest.skip(f"a tmpfs cannot be mounted here: {done.stderr.decode().strip()}")
    yield folder
    subprocess.run(["umount", "-l", folder], check=True)


def fill(path) -> None:
    with contextlib.suppress(OSError), path.open("ab", buffering=0) as file:
        while True:
            file.write(b"0" * 4096)


@pytest.mark.slow
def test_a_full_disk_is_waited_out(make_problem, small_disk, ledger, start_worker):
    problem = replace(make_problem(ledger.code(0.05), n_evals=20, n_init=8), folder=small_disk)
    worker = start_worker(problem)
    for n_ends in (4, 9):
        while len(ledger.ends()) < n_ends:
            time.sleep(0.02)
        filler = small_disk / "filler"
        fill(filler)
        time.sleep(1.0)
        assert worker.is_alive()
        filler.unlink()
        with opened(problem.default_storage) as storage:
            ledger.check(load_study(storage))
    worker.join(120)
    assert worker.exitcode == 0
    with opened(problem.default_storage) as storage:
        assert ledger.check(load_study(storage)) == 20
