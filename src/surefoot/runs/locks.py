"""Which process holds a SQLite file's lock, as Linux tells it."""

from __future__ import annotations

import os
from pathlib import Path

from surefoot.errors import InvalidInputError
from surefoot.runs.address import parse_url


def lock_holder(place: str) -> str:
    """ ", held by process 17, which is stopped"; empty if nobody knows."""
    try:
        url = parse_url(place)
        log = f"{url.database}-shm"  # where writers in WAL mode take their locks
        inode = os.stat(log).st_ino
        lines = [line.split() for line in Path("/proc/locks").read_text().splitlines()]
    except (OSError, InvalidInputError):
        return ""
    for fields in lines:  # 12: POSIX ADVISORY WRITE 17 08:01:1234 120 120
        fields = [field for field in fields if field != "->"]
        if len(fields) >= 6 and fields[3] == "WRITE" and fields[5].endswith(f":{inode}"):
            return f", held by process {fields[4]}{_state(fields[4])}"
    return ""


def _state(pid: str) -> str:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except (OSError, IndexError):
        return ""
    return ", which is stopped" if state in "Tt" else ""
