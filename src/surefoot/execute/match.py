"""Matches of a regular expression in a file, or none in time: an expression that backtracks for ever is killed.

The process that looks is this file, run by a bare interpreter:
`python -I -S match.py EXPRESSION FILE FIRST SECONDS TAKE`, where TAKE is last, first, all or a number.
"""

from __future__ import annotations

import os
import re
import signal
import sys

_NO_MATCH, _TOO_MANY = 3, 4  # exit statuses
_MOST_CHARACTERS = 1000  # of a match, and of its line: a number has less
_MOST_MATCHES = 10**6
_BETWEEN, _END = "\x1f", "\x1e"  # a match and its line; one and the next


def find(
    expression: str, path: str | os.PathLike[str], first_byte: int, limit_s: float, take: int | str = "last"
) -> list[tuple[str, str]]:
    """Matches and the lines in which they begin: the group of each, if there is one, else all of it.

    take: "last", "first", "all", or the number of one, from 1 on or from -1 back. ValueError says why there is none.
    """
    import subprocess

    command = [sys.executable, "-I", "-S", os.path.abspath(__file__), expression, os.fspath(path)]
    command += [str(first_byte), str(limit_s), str(take)]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    name = os.path.basename(path)
    where = "stdout" if name == "stdout.txt" else name
    if done.returncode == -signal.SIGALRM:
        raise ValueError(f"'{expression}' had not been matched against {where} after {limit_s:g} s")
    if done.returncode == _NO_MATCH:
        which = "" if isinstance(take, str) else f" {abs(take)} times" if abs(take) > 1 else ""
        raise ValueError(f"nothing in {where} matches '{expression}'{which}")
    if done.returncode == _TOO_MANY:
        raise ValueError(f"'{expression}' matches more than {_MOST_MATCHES} times in {where}")
    if done.returncode:
        raise ValueError(f"'{expression}' could not be matched against {where} (status {done.returncode})")
    found = done.stdout.decode(errors="replace").split(_END)[:-1]
    return [(match, line) for match, _, line in (one.partition(_BETWEEN) for one in found)]


def main() -> None:
    """Print the matches that are asked for."""
    signal.setitimer(signal.ITIMER_REAL, float(sys.argv[4]))  # the end, whatever the expression does
    with open(sys.argv[2], "rb") as file:
        file.seek(int(sys.argv[3]))
        text = file.read().decode(errors="replace")
    take = sys.argv[5]
    found: list[re.Match[str]] = []
    for match in re.finditer(sys.argv[1], text):
        if take == "last":
            found.clear()
        found.append(match)
        if take == "first":
            break
        if len(found) > _MOST_MATCHES:
            sys.exit(_TOO_MANY)
    if take not in ("last", "first", "all"):
        place = int(take)
        found = found[place - 1 : place] if place > 0 else found[place:][:1] if len(found) >= -place else []
    if not found:
        sys.exit(_NO_MATCH)
    for match in found:
        start = text.rfind("\n", 0, match.start()) + 1
        end = text.find("\n", match.start())
        line = text[start : end if end >= 0 else len(text)][:_MOST_CHARACTERS]
        group = (match.group(match.re.groups) or "")[:_MOST_CHARACTERS]
        told = [part.replace(_END, " ").replace(_BETWEEN, " ") for part in (group, line)]
        sys.stdout.buffer.write((_BETWEEN.join(told) + _END).encode(errors="replace"))


if __name__ == "__main__":
    main()
