"""Print the last match of a regular expression: `python -I -S match.py EXPRESSION FILE FIRST_BYTE SECONDS`.

A process of its own, run by a bare interpreter: an expression that backtracks for ever can only be killed.
"""

import re
import signal
import sys

NO_MATCH = 3  # the exit status
_MOST_CHARACTERS = 1000  # of a match: a number has less


def main() -> None:
    """The group, if there is one, else the whole match."""
    signal.setitimer(signal.ITIMER_REAL, float(sys.argv[4]))  # the end, whatever the expression does
    with open(sys.argv[2], "rb") as file:
        file.seek(int(sys.argv[3]))
        text = file.read().decode(errors="replace")
    last = None
    for match in re.finditer(sys.argv[1], text):
        last = match
    if last is None:
        sys.exit(NO_MATCH)
    found = last.group(last.re.groups) or ""
    sys.stdout.buffer.write(found[:_MOST_CHARACTERS].encode(errors="replace"))


if __name__ == "__main__":
    main()
