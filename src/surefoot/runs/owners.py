"""Who evaluates a trial: a process, and whether it is surely dead.

A process is told from a later one with its number by its start, in the kernel's ticks since this boot of this machine.
Seconds since the epoch, as psutil gives them, would not do: they move when the clock is set, and the living look dead.
"""

from __future__ import annotations

import os
import platform
from functools import cache
from pathlib import Path
from typing import Any

Owner = dict[str, Any]


@cache
def _machine() -> str:
    """This machine, or container: what has the same process numbers."""
    parts = [platform.node()]
    for path in ("/proc/sys/kernel/random/boot_id", "/proc/self/ns/pid"):
        try:
            parts.append(os.readlink(path) if path.endswith("pid") else Path(path).read_text(encoding="utf-8").strip())
        except OSError:
            parts.append("")
    return " ".join(parts)


def started(pid: int) -> str:
    """When the process started, in the kernel's ticks; empty if unknown. ProcessLookupError if it is dead."""
    if hasattr(os, "fork"):  # on Windows 0 is no question but Ctrl-C
        os.kill(pid, 0)
    fields = stat_of(pid)
    if not fields:
        return ""
    if fields[0] in "ZX":  # dead, but its parent has not asked yet
        raise ProcessLookupError(pid)
    return fields[19]


def stat_of(pid: int | str) -> list[str]:
    """What Linux tells of a process, its state first; nothing elsewhere, or if it has ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    except (OSError, IndexError):
        return []


def myself() -> Owner:
    """The owner of what this process claims."""
    return {"machine": _machine(), "pid": os.getpid(), "started": started(os.getpid()), "beat": 0}


def is_same(owner: Owner, me: Owner) -> bool:
    """Whether they are one process."""
    return all(owner.get(key) == me[key] for key in ("machine", "pid", "started"))


def surely_dead(owner: Owner) -> bool:
    """Whether the owner was a process of this machine that is no more."""
    if owner.get("machine") != _machine():
        return False
    try:
        return bool(started(int(owner["pid"])) != owner["started"])
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
