"""What tests of real processes wait for."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest

PATIENCE_S = 60.0  # for what happens at once on an idle machine


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


def wait_until(holds: Callable[[], object]) -> bool:
    """Whether it came true."""
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        if holds():
            return True
        time.sleep(0.02)
    return False


@pytest.fixture
def eventually() -> Callable[[Callable[[], object]], bool]:
    return wait_until


@pytest.fixture
def all_end() -> Callable[[list[int]], bool]:
    """Whether all of these processes end."""
    return lambda pids: wait_until(lambda: not any(map(is_running, pids)))


@pytest.fixture
def pids_in() -> Callable[[Path, int], list[int]]:
    """The numbers that processes have written into a file, one a line, as soon as there are so many."""

    def pids(path: Path, count: int) -> list[int]:
        assert wait_until(lambda: path.exists() and path.read_text().count("\n") >= count), "they did not begin"
        return [int(line) for line in path.read_text().split()]

    return pids
