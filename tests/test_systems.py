"""What is left of surefoot on a system that has no fork, no signals but two, and no limits of resources: on Windows.

Such a system is played by a fresh interpreter from which the modules and names are taken that only POSIX has. Packages
of others are imported before: on the real system they have other ways.
"""

import subprocess
import sys
from pathlib import Path

import pytest

PLAY_WINDOWS = """
import concurrent.futures.process, ctypes, http.server, multiprocessing.connection, multiprocessing.popen_spawn_posix
import pathlib, select, shutil, signal, socket, sqlite3, subprocess, tempfile, uuid, os, sys
import array_api_compat.numpy, cloudpickle, numpy.random, numpy.testing, threadpoolctl
import scipy.linalg.lapack, scipy.optimize, scipy.special, scipy.stats
for others in {others!r}:
    __import__(others)
sys.modules.update(dict.fromkeys(("fcntl", "resource", "pwd", "grp", "termios", "pty", "tty", "_posixsubprocess")))
gone = {{
    os: "fork forkpty killpg setsid setpgid getpgid getpgrp getuid geteuid wait wait3 wait4 waitid WNOHANG O_NONBLOCK "
        "O_CLOEXEC O_DIRECTORY O_NOFOLLOW pidfd_open fchmod fchown chown sysconf nice sched_getaffinity mkfifo uname "
        "statvfs posix_spawn set_blocking",
    signal: "SIGKILL SIGALRM SIGCHLD SIGPIPE SIGXFSZ SIGHUP SIGQUIT SIGUSR1 SIGUSR2 SIGSTOP SIGCONT SIGTSTP setitimer "
            "alarm ITIMER_REAL pthread_sigmask sigwait",
    select: "poll POLLIN epoll",
}}
for module, names in gone.items():
    for name in names.split():
        vars(module).pop(name, None)
sys.platform = "win32"
"""


def play(code: str, others: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    whole = PLAY_WINDOWS.format(others=others) + code
    return subprocess.run([sys.executable, "-c", whole], capture_output=True, text=True, check=False)


def test_the_player_takes_away_what_it_says() -> None:
    done = play("print(hasattr(os, 'fork'), hasattr(signal, 'SIGKILL'))\nimport resource")
    assert done.stdout == "False False\n"
    assert "ModuleNotFoundError: import of resource halted" in done.stderr


def test_minimize_learns_from_crashes_without_posix(tmp_path: Path) -> None:
    code = f"""
import surefoot
def simulator(x):
    if x[0] > 1:
        raise FloatingPointError("the mesh collapsed")
    return (x[0] - 0.5) ** 2 + x[1] ** 2
result = surefoot.minimize(simulator, [(-2, 2), (-2, 2)], n_evals=15, seed=1)
result.save({str(tmp_path / "run.json")!r})
again = surefoot.minimize(simulator, resume={str(tmp_path / "run.json")!r}, n_evals=18)
print(result.nfev, result.n_failures > 0, again.nfev, again.fun < 0.1)
"""
    done = play(code)
    assert done.stdout == "15 True 18 True\n", done.stderr


def test_threads_evaluate_without_posix() -> None:
    code = """
from concurrent.futures import ThreadPoolExecutor
import surefoot
with ThreadPoolExecutor(2) as executor:
    print(surefoot.minimize(lambda x: x[0] ** 2, [(-2, 2)], n_evals=8, seed=1, executor=executor).nfev)
"""
    done = play(code)
    assert done.stdout == "8\n", done.stderr


@pytest.mark.parametrize("asked", ["isolate='process'", "timeout=5.0", "memory_limit_mb=500.0"])
def test_what_needs_processes_is_refused_in_words_before_the_first_evaluation(asked: str) -> None:
    code = f"""
import surefoot
calls = []
try:
    surefoot.minimize(calls.append, [(-2, 2)], n_evals=5, {asked})
except surefoot.errors.InvalidInputError as error:
    print(error, len(calls))
"""
    done = play(code)
    assert done.stdout.startswith("expected Linux or macOS for isolate, timeout and memory_limit_mb; got win32"), (
        done.stderr
    )
    assert done.stdout.endswith(" 0\n")


PROBLEM = """
name = "p"
n_evals = 4
[parameters]
x = {low = 0.0, high = 1.0}
[objective]
command = ['PYTHON', "-c", "print({x})"]
""".replace("PYTHON", sys.executable)


def play_command(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    code = f"os.chdir({str(folder)!r})\nsys.argv = ['surefoot', *{arguments!r}]\nfrom surefoot.cli import main; main()"
    return play(code, others=("optuna", "optuna.storages", "sqlalchemy.dialects.sqlite", "typer", "rich.console"))


@pytest.mark.parametrize("arguments", [["run"], ["check", "--run"]])
def test_commands_that_evaluate_refuse_in_words(arguments: list[str], tmp_path: Path) -> None:
    (tmp_path / "p.toml").write_text(PROBLEM)
    done = play_command(tmp_path, *arguments, "p.toml")
    assert done.returncode == 2
    assert "expected Linux or macOS for evaluations of a problem file; got win32" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "p.runs").exists()


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("study")
    (folder / "p.toml").write_text(PROBLEM)
    command = [sys.executable, "-c", "from surefoot.cli import main; main()", "run", "p.toml"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    return folder


@pytest.mark.parametrize(
    "arguments", [["list", "p.db"], ["show", "p.toml"], ["show", "p.toml", "--trial", "0"], ["export", "p.toml"]]
)
def test_commands_that_read_studies_need_no_posix(arguments: list[str], study: Path) -> None:
    done = play_command(study, *arguments)
    assert done.returncode == 0, done.stderr
    assert done.stdout


def test_macos_refuses_the_limit_that_it_would_not_keep() -> None:
    code = """
import sys
import numpy.testing
import surefoot
sys.platform = "darwin"
try:
    surefoot.minimize(lambda x: x[0], [(-2, 2)], n_evals=5, memory_limit_mb=500.0)
except surefoot.errors.InvalidInputError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.startswith("expected Linux for memory_limit_mb; got 500 on macOS"), done.stderr
