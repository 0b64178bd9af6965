"""The last match of a regular expression in a file, or none in time: an expression that backtracks for ever is killed.

The process that looks is this file, run by a bare interpreter: `python -I -S match.py EXPRESSION FILE FIRST SECONDS`.
"""

from __future__ import annotations

import os
import re
import signal
import sys

_NO_MATCH = 3  # the exit status
_MOST_CHARACTERS = 1000  # of a match: a number has less


def last_match(expression: str, path: str | os.PathLike[str], first_byte: int, limit_s: float) -> str:
    """Of its group, if it has one, else of all of it; ValueError says why there is none."""
    import subprocess

    command = [sys.executable, "-I", "-S", os.path.abspath(__file__), expression, os.fspath(path)]
    command += [str(first_byte), str(limit_s)]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    if done.returncode == -signal.SIGALRM:
        raise ValueError(f"no value: {expression!r} had not been matched against stdout after {limit_s:g} s")
    if done.returncode == _NO_MATCH:
        raise ValueError(f"no value: nothing in stdout matches {expression!r}")
    if done.returncode:
        raise ValueError(f"no value: {expression!r} could not be matched against stdout (status {done.returncode})")
    return done.stdout.decode(errors="replace")


def main() -> None:
    """Print the group, if there is one, else the whole match."""
    signal.setitimer(signal.ITIMER_REAL, float(sys.argv[4]))  # the end, whatever the expression does
    with open(sys.argv[2], "rb") as file:
        file.seek(int(sys.argv[3]))
        text = file.read().decode(errors="replace")
    last = None
    for match in re.finditer(sys.argv[1], text):
        last = match
    if last is None:
        sys.exit(_NO_MATCH)
    found = last.group(last.re.groups) or ""
    sys.stdout.buffer.write(found[:_MOST_CHARACTERS].encode(errors="replace"))


if __name__ == "__main__":
    main()
