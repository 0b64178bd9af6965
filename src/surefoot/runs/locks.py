"""Which process holds a SQLite file's lock, as Linux tells it."""

from __future__ import annotations

import os
from pathlib import Path

from surefoot.errors import InvalidInputError
from surefoot.runs.address import parse_url
from surefoot.runs.owners import stat_of


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
            stopped = stat_of(fields[4])[:1] in (["T"], ["t"])
            return f", held by process {fields[4]}{', which is stopped' if stopped else ''}"
    return ""
