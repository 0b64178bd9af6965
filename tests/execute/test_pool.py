import os
import signal
import subprocess
import sys

from surefoot.execute.pool import worker_pool

PARENT = """
import os, sys, time
from surefoot.execute.pool import worker_pool
if __name__ == "__main__":
    with worker_pool(2) as pool:
        print(*{pool.submit(os.getpid).result() for _ in range(50)}, flush=True)
        time.sleep(60)
"""


def test_workers_end_when_their_parent_is_killed(tmp_path, all_end):
    script = tmp_path / "parent.py"
    script.write_text(PARENT)
    parent = subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, text=True)
    workers = [int(pid) for pid in parent.stdout.readline().split()]
    assert workers
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    parent.stdout.close()
    assert all_end(workers)


def test_workers_outlive_an_interrupt():
    with worker_pool(1) as pool:
        pid = pool.submit(os.getpid).result()
        os.kill(pid, signal.SIGINT)
        assert pool.submit(os.getpid).result() == pid
