import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from surefoot.processes import worker_pool

PARENT = """
import os, sys, time
from surefoot.processes import worker_pool
if __name__ == "__main__":
    with worker_pool(2) as pool:
        print(*{pool.submit(os.getpid).result() for _ in range(50)}, flush=True)
        time.sleep(60)
"""


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


def test_workers_end_when_their_parent_is_killed(tmp_path):
    script = tmp_path / "parent.py"
    script.write_text(PARENT)
    parent = subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, text=True)
    workers = [int(pid) for pid in parent.stdout.readline().split()]
    assert workers
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    parent.stdout.close()
    deadline = time.monotonic() + 30.0
    while any(map(is_running, workers)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(map(is_running, workers))


def test_workers_outlive_an_interrupt():
    with worker_pool(1) as pool:
        pid = pool.submit(os.getpid).result()
        os.kill(pid, signal.SIGINT)
        assert pool.submit(os.getpid).result() == pid
