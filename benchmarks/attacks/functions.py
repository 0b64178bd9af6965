"""Hostile Python functions for `minimize`: what they do where x[0] < 1/2, how they may be run, what has to come of it.

Modes    plain; isolated (isolate="process"); timeout; memory (memory_limit_mb); threads and pool (executors, isolated)
Expected failed: a failed evaluation with a reason; value: the number that was returned
"""

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
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

VALUE = 0.25  # what those return that return something
_ISOLATED = ("isolated", "threads")
_ALL = ("plain", "isolated", "pool")


@dataclass(frozen=True)
class Behaviour:
    """One hostile function."""

    act: Callable[[], Any]
    modes: tuple[str, ...]
    expected: str  # failed or value


BEHAVIOURS: dict[str, Behaviour] = {}


def _hostile(expected: str, *modes: str) -> Callable[[Callable[[], Any]], Callable[[], Any]]:
    def register(act: Callable[[], Any]) -> Callable[[], Any]:
        BEHAVIOURS[act.__name__.strip("_")] = Behaviour(act, modes, expected)
        return act

    return register


# --- deaths


@_hostile("failed", *_ISOLATED)
def _segmentation_fault() -> None:
    _no_core()
    ctypes.string_at(0)


@_hostile("failed", *_ISOLATED)
def _abort() -> None:
    _no_core()
    os.abort()


@_hostile("failed", *_ISOLATED)
def _os_exit() -> None:
    os._exit(0)


@_hostile("failed", "isolated")
def _sys_exit() -> None:
    sys.exit("bye")


@_hostile("failed", "isolated")
def _kills_itself() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


@_hostile("failed", "isolated")
def _kills_its_own_group() -> None:
    if os.getpgid(0) == os.getpid():  # never a group that it does not lead
        os.killpg(0, signal.SIGKILL)
    raise RuntimeError("not a group of its own")


@_hostile("failed", "isolated")
def _stack_overflow_in_c() -> None:
    _no_core()
    resource.setrlimit(resource.RLIMIT_STACK, (2**20, 2**20))
    sys.setrecursionlimit(10**9)
    value: Any = []
    for _ in range(10**6):
        value = [value]
    repr(value)


@_hostile("failed", "plain", "isolated")
def _deep_recursion() -> float:
    return _deep_recursion() + 1.0


@_hostile("failed", "memory")
def _memory_bomb() -> float:
    return float(len(bytearray(3 * 2**29)))


@_hostile("failed", "memory")
def _many_small_objects() -> float:
    kept = []
    while True:
        kept.append(bytearray(2**20))


# --- hangs


@_hostile("failed", "timeout")
def _hangs() -> None:
    time.sleep(600.0)


@_hostile("failed", "timeout")
def _ignores_sigterm() -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    time.sleep(600.0)


@_hostile("failed", "timeout")
def _stops_itself() -> None:
    os.kill(os.getpid(), signal.SIGSTOP)


@_hostile("failed", "timeout")
def _catastrophic_regular_expression() -> None:
    re.match(r"(a+)+$", "a" * 60 + "b")  # holds the interpreter's lock


@_hostile("failed", "timeout")
def _hangs_in_a_setsid_child() -> None:
    subprocess.Popen(["sleep", "600"], start_new_session=True).wait()


@_hostile("failed", "timeout")
def _hangs_beside_a_deaf_grandchild() -> None:
    subprocess.Popen(["/bin/sh", "-c", "trap '' TERM HUP INT; sleep 600"])
    time.sleep(600.0)


# --- helpers that stay


@_hostile("value", "isolated", "timeout")
def _leaves_a_child() -> float:
    subprocess.Popen(["sleep", "600"])
    return VALUE


@_hostile("value", "isolated", "timeout")
def _leaves_a_daemon() -> float:
    """Forks twice with a session of its own between: its parent is nobody that we know."""
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            time.sleep(600.0)
        os._exit(0)
    os.wait()
    return VALUE


@_hostile("failed", "isolated", "timeout")
def _dies_while_a_fork_holds_its_pipe() -> None:
    if os.fork() == 0:
        time.sleep(600.0)
        os._exit(0)
    os._exit(3)


@_hostile("failed", "isolated")
def _dies_beside_a_pool_of_its_own() -> None:
    ProcessPoolExecutor(2).submit(time.sleep, 600.0)
    time.sleep(0.5)
    os._exit(3)


@_hostile("value", "isolated", "timeout")
def _uses_a_pool_of_its_own() -> float:
    with ProcessPoolExecutor(2) as pool:
        return sum(pool.map(abs, [VALUE, 0.0]))


@_hostile("value", "isolated")
def _leaves_a_thread() -> float:
    threading.Thread(target=time.sleep, args=(600.0,), daemon=True).start()
    return VALUE


@_hostile("failed", "timeout")
def _leaves_a_thread_that_is_waited_for() -> float:
    threading.Thread(target=time.sleep, args=(600.0,)).start()
    time.sleep(600.0)
    return VALUE


# --- descriptors, output, surroundings


@_hostile("failed", "isolated", "timeout")
def _closes_all_descriptors() -> float:
    os.closerange(0, 4096)
    os._exit(1)


@_hostile("value", "isolated")
def _closes_stdout() -> float:
    sys.stdout.close()
    os.close(1)
    return VALUE


@_hostile("value", "plain", "isolated")
def _prints_a_hundred_megabytes() -> float:
    for _ in range(100):
        os.write(1, b"x" * 2**20)
    return VALUE


@_hostile("value", *_ALL)
def _changes_the_folder() -> float:
    os.chdir("/")
    return VALUE


@_hostile("value", "isolated")
def _deletes_the_folder() -> float:
    os.mkdir("gone")
    os.chdir("gone")
    os.rmdir("../gone")
    return VALUE


@_hostile("value", "plain", "isolated")
def _changes_the_locale() -> float:
    try:
        locale.setlocale(locale.LC_ALL, "C.UTF-8")
    except locale.Error:
        locale.setlocale(locale.LC_ALL, "C")
    return VALUE


@_hostile("value", "plain", "isolated")
def _empties_the_environment() -> float:
    os.environ.clear()
    return VALUE


@_hostile("value", "plain", "isolated")
def _turns_warnings_into_errors() -> float:
    warnings.simplefilter("error")
    np.seterr(all="raise")
    return VALUE


@_hostile("value", "plain", "isolated")
def _seeds_and_collects() -> float:
    np.random.seed(0)  # as users do
    gc.disable()
    return VALUE


@_hostile("value", "isolated")
def _ignores_its_children() -> float:
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    return VALUE


@_hostile("value", "plain")
def _ignores_all_children_of_the_run() -> float:
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    return VALUE


def _no_core() -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


# --- exceptions


class _SilentError(Exception):
    def __str__(self) -> str:
        raise ValueError("no words")


class _WordlessError(Exception):
    def __str__(self) -> Any:
        return 42


class _Rare(BaseException):
    """Not an Exception."""


class _UnpicklableError(Exception):
    def __init__(self, a: int, b: int) -> None:
        super().__init__("two arguments")
        self.lock = threading.Lock()


@_hostile("failed", *_ALL)
def _raises_what_cannot_be_printed() -> None:
    raise _SilentError


@_hostile("failed", *_ALL)
def _raises_what_prints_a_number() -> None:
    raise _WordlessError


@_hostile("failed", "isolated")
def _raises_no_exception() -> None:
    raise _Rare("rare")


@_hostile("failed", *_ALL)
def _raises_what_cannot_be_sent() -> None:
    raise _UnpicklableError(1, 2)


@_hostile("failed", *_ALL)
def _raises_a_lone_surrogate() -> None:
    raise ValueError("\ud800\0\x1b[31m")


@_hostile("failed", *_ALL)
def _raises_a_megabyte() -> None:
    raise ValueError("x" * 2**20)


@_hostile("failed", "plain", "isolated")
def _raises_a_group() -> None:
    raise ExceptionGroup("many", [ValueError(str(i)) for i in range(50)])


@_hostile("failed", "plain", "isolated")
def _raises_a_generators_end() -> None:
    raise StopIteration  # the callback's way to stop must not be the function's


# --- values


class _BadArray:
    def __array__(self, *_: Any, **__: Any) -> Any:
        raise RuntimeError("no array")


class _BadFloat:
    def __float__(self) -> float:
        raise RuntimeError("no float")


class _BadAll:
    def __getattribute__(self, name: str) -> Any:
        raise RuntimeError(f"no {name}")


class _BadRepr:
    def __repr__(self) -> str:
        raise RuntimeError("no words")


_VALUES: dict[str, tuple[str, Any]] = {
    "nan": ("failed", float("nan")),
    "minus_infinity": ("failed", float("-inf")),
    "complex": ("failed", 1 + 2j),
    "text": ("failed", "0.25"),
    "none": ("failed", None),
    "truth": ("failed", True),
    "a_huge_integer": ("failed", 10**400),
    "ragged": ("failed", [[1.0], [1.0, 2.0]]),
    "several": ("failed", [0.1, 0.2]),
    "itself": ("failed", _BadAll),
    "a_date": ("failed", np.datetime64("2020-01-01")),
    "a_masked_value": ("failed", np.ma.masked),
    "bad_array": ("failed", _BadArray()),
    "bad_float": ("failed", _BadFloat()),
    "bad_repr": ("failed", _BadRepr()),
    "one_element": ("value", np.asarray([[VALUE]])),
    "half_precision": ("value", np.float16(VALUE)),
}


def _returning(value: Any) -> Callable[[], Any]:
    return lambda: value


for _name, (_expected, _value) in _VALUES.items():
    BEHAVIOURS[f"returns_{_name}"] = Behaviour(_returning(_value), ("plain", "isolated"), _expected)


def _returns_a_decimal() -> Any:
    return Decimal(1) / Fraction(4).denominator


BEHAVIOURS["returns_a_decimal"] = Behaviour(_returns_a_decimal, ("plain", "isolated"), "either")
