"""A supervised command: its end is passed on, and nothing that it started is left, however it ends."""

import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import surefoot
from surefoot.execute.processes import Processes, StoppedError, wait

ROOT = str(Path(surefoot.__file__).parent.parent)
PYTHON = [sys.executable, "-I", "-S", "-c"]
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="needs Linux's subreaper")

# a family: a child, one in a session of its own, one forked twice and orphaned; each writes down its number
FAMILY = """
import os, subprocess, sys, time
path = sys.argv[1]
def note():
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.write(file, f"{os.getpid()}\\n".encode())
    os.close(file)
def member(*, session=False, orphan=False):
    if os.fork() == 0:
        if session: os.setsid()
        if orphan and os.fork(): os._exit(0)
        note()
        time.sleep(600)
        os._exit(0)
member(); member(session=True); member(orphan=True); member(session=True, orphan=True)
note()
while open(path).read().count("\\n") < 5: time.sleep(0.01)
"""


@pytest.fixture
def processes():
    group = Processes()
    yield group
    group.stop_all()


@pytest.mark.parametrize("code", [0, 7, 125, 255])
def test_the_exit_status_is_passed_on(processes, code):
    running = processes.start([*PYTHON, f"import os; os._exit({code})"])
    assert wait(running, None)
    assert processes.stop(running) == code


@pytest.mark.parametrize("sig", ["SIGSEGV", "SIGKILL", "SIGTERM", "SIGABRT", "SIGINT", "SIGUSR1"])
def test_the_signal_that_killed_it_is_passed_on(processes, sig):
    number = int(getattr(signal, sig))
    running = processes.start(["sh", "-c", f"kill -{number} $$; sleep 60"])
    assert wait(running, None)
    assert processes.stop(running) == -number


@LINUX
def test_what_a_command_leaves_behind_ends_with_it(processes, tmp_path, all_end, pids_in):
    running = processes.start([*PYTHON, FAMILY, str(tmp_path / "pids")])
    assert wait(running, None)
    assert processes.stop(running) == 0
    assert all_end(pids_in(tmp_path / "pids", 5))


@LINUX
def test_what_a_command_started_is_stopped_with_it(processes, tmp_path, all_end, pids_in):
    running = processes.start([*PYTHON, FAMILY + "time.sleep(600)", str(tmp_path / "pids")])
    pids = pids_in(tmp_path / "pids", 5)
    assert not wait(running, 0.0)
    assert processes.stop(running) == -signal.SIGTERM
    assert all_end(pids)


@LINUX
def test_everything_is_killed_at_once_and_nothing_is_started_until_that_is_allowed(
    processes, tmp_path, all_end, pids_in
):
    running = processes.start([*PYTHON, FAMILY + "time.sleep(600)", str(tmp_path / "pids")])
    pids = pids_in(tmp_path / "pids", 5)
    processes.stop_all()
    assert wait(running, None)
    assert all_end(pids)
    with pytest.raises(StoppedError):
        processes.start(["true"])
    processes.allow()
    assert processes.stop(running) == -signal.SIGKILL
    running = processes.start(["true"])
    assert wait(running, None)
    assert processes.stop(running) == 0


@LINUX
@pytest.mark.parametrize("sig", [signal.SIGKILL, signal.SIGTERM])
def test_everything_ends_when_the_parent_dies(tmp_path, all_end, pids_in, sig):
    script = f"""
        import sys, threading, time
        sys.path.insert(0, {ROOT!r})
        from surefoot.execute.processes import Processes
        command = [sys.executable, "-I", "-S", "-c", {FAMILY + "time.sleep(600)"!r}, {str(tmp_path / "pids")!r}]
        thread = threading.Thread(target=lambda: Processes().start(["sh", "-c", '"$0" "$@"; true', *command]))
        thread.start()
        thread.join()  # the thread that started it is no more: that must not count as the parent's death
        time.sleep(600)
    """
    parent = subprocess.Popen([sys.executable, "-I", "-c", textwrap.dedent(script)])
    pids = pids_in(tmp_path / "pids", 5)
    parent.send_signal(sig)
    parent.wait()
    assert all_end(pids)


def test_a_command_is_asked_politely_first(processes, tmp_path, eventually):
    code = """
import signal, sys, time
def leave(*_):
    open(sys.argv[1] + "/left", "w").close()
    sys.exit(3)
signal.signal(signal.SIGTERM, leave)
open(sys.argv[1] + "/ready", "w").close()
time.sleep(600)
"""
    running = processes.start([*PYTHON, code, str(tmp_path)])
    assert eventually((tmp_path / "ready").exists)
    assert processes.stop(running) == 3
    assert (tmp_path / "left").exists()


def test_a_command_that_ignores_the_polite_signal_is_killed(processes, tmp_path, eventually):
    code = "import signal, sys, time; signal.signal(15, signal.SIG_IGN); open(sys.argv[1], 'w'); time.sleep(600)"
    running = processes.start([*PYTHON, code, str(tmp_path / "ready")])
    assert eventually((tmp_path / "ready").exists)
    assert processes.stop(running) == -signal.SIGKILL


@LINUX
def test_a_command_starts_as_from_a_shell(processes, tmp_path):
    """Without signals that Python ignores, without core dumps, without descriptors that are not its own."""
    with (tmp_path / "out").open("wb") as out:
        code = "grep SigIgn /proc/self/status; ulimit -S -c; ls /proc/self/fd | wc -l"
        running = processes.start(["sh", "-c", code], stdout=out)
        assert wait(running, None)
        assert processes.stop(running) == 0
    ignored, core, descriptors = (tmp_path / "out").read_text().split("\n")[:3]
    assert int(ignored.split()[1], 16) & (1 << (signal.SIGPIPE - 1)) == 0
    assert core == "0"
    assert int(descriptors) == 4  # the three of a program, and the folder that ls reads


@LINUX
def test_the_supervisor_holds_no_pipe_of_its_command(processes):
    reader, writer = os.pipe()
    running = processes.start([*PYTHON, f"import os, time; os.close({writer}); time.sleep(600)"], pass_fds=(writer,))
    os.close(writer)
    assert os.read(reader, 1) == b""  # comes while the command runs
    os.close(reader)
    assert processes.stop(running) == -signal.SIGTERM


def test_waiting_longer_than_poll_can(processes):
    running = processes.start(["true"])
    assert wait(running, 1e12)
    processes.stop(running)


def test_a_memory_limit_above_that_of_the_machine_leaves_the_lower_one():
    code = """
        import os, resource
        from surefoot.execute.supervise import limit_address_space
        resource.setrlimit(resource.RLIMIT_AS, (2**32, 2**32))
        if os.getuid() == 0: os.setuid(65534)  # root might raise it
        for asked in (2**33, 2**31):
            limit_address_space(asked)
            print(resource.getrlimit(resource.RLIMIT_AS)[0])
        """
    command = [sys.executable, "-c", f"import sys; sys.path.insert(0, {ROOT!r})\n" + textwrap.dedent(code)]
    found = subprocess.run(
        command, capture_output=True, text=True, check=True, env={**os.environ, "OMP_NUM_THREADS": "1"}
    )
    assert found.stdout.split() == [str(2**32), str(2**31)]
