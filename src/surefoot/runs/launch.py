"""Prepare this process and become the command: `python -I -S launch.py MEMORY_BYTES PARENT_PID COMMAND …`.

A file of its own, run by a bare interpreter (10 ms): what has to happen between fork and exec must not happen in a
program with threads. The command dies with the worker that started it (Linux), so that a killed worker leaves no
simulator behind whose evaluation is then done twice.
"""

import os
import signal
import sys

CANNOT_START = 125  # the exit status if there is no such command
MESSAGE = "surefoot: cannot start "


def main() -> None:
    """Limit the memory, tie the life to the parent's, exec."""
    memory, parent, command = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
    if sys.platform == "linux":
        import ctypes

        pr_set_pdeathsig = 1
        ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGKILL)
        if os.getppid() != parent:  # it died before the line above
            os._exit(1)
    if memory:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    try:
        os.execvp(command[0], command)
    except OSError as error:
        sys.stderr.write(f"{MESSAGE}{command[0]}: {error.strerror}\n")
        sys.stderr.flush()
        os._exit(CANNOT_START)


if __name__ == "__main__":
    main()
