"""Hostile functions: deaths, hangs, helpers that stay, and what they do to their surroundings."""

from __future__ import annotations

import ctypes
import gc
import locale
import os
import re
import resource
import signal
import subprocess
import sys
import threading
import time
import warnings
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import numpy as np

from benchmarks.attacks.behaviours import ALL, ISOLATED, VALUE, hostile

# --- deaths


@hostile("failed", *ISOLATED)
def _segmentation_fault() -> None:
    _no_core()
    ctypes.string_at(0)


@hostile("failed", *ISOLATED)
def _abort() -> None:
    _no_core()
    os.abort()


@hostile("failed", *ISOLATED)
def _os_exit() -> None:
    os._exit(0)


@hostile("failed", "isolated")
def _sys_exit() -> None:
    sys.exit("bye")


@hostile("failed", "isolated")
def _kills_itself() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


@hostile("failed", "isolated")
def _kills_its_own_group() -> None:
    if os.getpgid(0) == os.getpid():  # never a group that it does not lead
        os.killpg(0, signal.SIGKILL)
    raise RuntimeError("not a group of its own")


@hostile("failed", "isolated")
def _stack_overflow_in_c() -> None:
    _no_core()
    resource.setrlimit(resource.RLIMIT_STACK, (2**20, 2**20))
    sys.setrecursionlimit(10**9)
    value: Any = []
    for _ in range(10**6):
        value = [value]
    repr(value)


@hostile("failed", "plain", "isolated")
def _deep_recursion() -> float:
    return _deep_recursion() + 1.0


@hostile("failed", "memory")
def _memory_bomb() -> float:
    return float(len(bytearray(3 * 2**29)))


@hostile("failed", "memory")
def _many_small_objects() -> float:
    kept = []
    while True:
        kept.append(bytearray(2**20))


# --- hangs


@hostile("failed", "timeout")
def _hangs() -> None:
    time.sleep(600.0)


@hostile("failed", "timeout")
def _ignores_sigterm() -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    time.sleep(600.0)


@hostile("failed", "timeout")
def _stops_itself() -> None:
    os.kill(os.getpid(), signal.SIGSTOP)


@hostile("failed", "timeout")
def _catastrophic_regular_expression() -> None:
    re.match(r"(a+)+$", "a" * 60 + "b")  # holds the interpreter's lock


@hostile("failed", "timeout")
def _hangs_in_a_setsid_child() -> None:
    subprocess.Popen(["sleep", "600"], start_new_session=True).wait()


@hostile("failed", "timeout")
def _hangs_beside_a_deaf_grandchild() -> None:
    subprocess.Popen(["/bin/sh", "-c", "trap '' TERM HUP INT; sleep 600"])
    time.sleep(600.0)


# --- helpers that stay


@hostile("value", "isolated", "timeout")
def _leaves_a_child() -> float:
    subprocess.Popen(["sleep", "600"])
    return VALUE


@hostile("value", "isolated", "timeout")
def _leaves_a_daemon() -> float:
    """Forks twice with a session of its own between: its parent is nobody that we know."""
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            time.sleep(600.0)
        os._exit(0)
    os.wait()
    return VALUE


@hostile("failed", "isolated", "timeout")
def _dies_while_a_fork_holds_its_pipe() -> None:
    if os.fork() == 0:
        time.sleep(600.0)
        os._exit(0)
    os._exit(3)


@hostile("failed", "isolated")
def _dies_beside_a_pool_of_its_own() -> None:
    ProcessPoolExecutor(2).submit(time.sleep, 600.0)
    time.sleep(0.5)
    os._exit(3)


@hostile("value", "isolated", "timeout")
def _uses_a_pool_of_its_own() -> float:
    with ProcessPoolExecutor(2) as pool:
        return sum(pool.map(abs, [VALUE, 0.0]))


@hostile("value", "isolated")
def _leaves_a_thread() -> float:
    threading.Thread(target=time.sleep, args=(600.0,), daemon=True).start()
    return VALUE


@hostile("failed", "timeout")
def _leaves_a_thread_that_is_waited_for() -> float:
    threading.Thread(target=time.sleep, args=(600.0,)).start()
    time.sleep(600.0)
    return VALUE


# --- descriptors, output, surroundings


@hostile("failed", "isolated", "timeout")
def _closes_all_descriptors() -> float:
    os.closerange(0, 4096)
    os._exit(1)


@hostile("value", "isolated")
def _closes_stdout() -> float:
    sys.stdout.close()
    os.close(1)
    return VALUE


@hostile("value", "plain", "isolated")
def _prints_a_hundred_megabytes() -> float:
    for _ in range(100):
        os.write(1, b"x" * 2**20)
    return VALUE


@hostile("value", *ALL)
def _changes_the_folder() -> float:
    os.chdir("/")
    return VALUE


@hostile("value", "isolated")
def _deletes_the_folder() -> float:
    os.mkdir("gone")
    os.chdir("gone")
    os.rmdir("../gone")
    return VALUE


@hostile("value", "plain", "isolated")
def _changes_the_locale() -> float:
    try:
        locale.setlocale(locale.LC_ALL, "C.UTF-8")
    except locale.Error:
        locale.setlocale(locale.LC_ALL, "C")
    return VALUE


@hostile("value", "plain", "isolated")
def _empties_the_environment() -> float:
    os.environ.clear()
    return VALUE


@hostile("value", "plain", "isolated")
def _turns_warnings_into_errors() -> float:
    warnings.simplefilter("error")
    np.seterr(all="raise")
    return VALUE


@hostile("value", "plain", "isolated")
def _seeds_and_collects() -> float:
    np.random.seed(0)  # as users do
    gc.disable()
    return VALUE


@hostile("value", "isolated")
def _ignores_its_children() -> float:
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    return VALUE


@hostile("value", "plain")
def _ignores_all_children_of_the_run() -> float:
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    return VALUE


def _no_core() -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
