"""Run a command and leave nothing of it behind: `python -I -S supervise.py MEMORY_BYTES PARENT_PID COMMAND …`.

A file of its own, run by a bare interpreter (10 ms): what has to happen between fork and exec must not happen in a
program with threads. On Linux this process stays and watches. Whatever the command starts, in the background, in
another session, forked twice, becomes its child when it is orphaned. When the command ends, when SIGTERM comes or when
the parent dies, all of it is ended, and the exit status, or the signal, is passed on. Elsewhere this process becomes
the command. Processes of another user cannot be ended, nor those that a daemon starts (containers, batch jobs).
"""

from __future__ import annotations

import os
import select
import signal
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing alone would take as long to import as all the rest
    from collections.abc import Collection
    from typing import NoReturn

CANNOT_START = 125  # the exit status if there is no such command
MESSAGE = "surefoot: cannot start "
GRACE_S = 0.5  # between the polite signal and the final one
KILL_S = 5.0  # then what still lives cannot be killed
LINUX = sys.platform == "linux"
_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36
_LOOK_S = 0.2  # between looks at the parent, on kernels that cannot tell


def _prctl(option: int, value: int) -> None:
    if LINUX:
        try:
            import ctypes
        except ImportError:  # a Python without it: less is caught
            return
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def adopt_orphans() -> None:
    """Become the parent of every descendant whose own parent dies (Linux)."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def die_with(parent: int) -> None:
    """Be killed when the parent, a process with one thread, dies (Linux)."""
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it died before the line above
        os._exit(1)


def no_core_dumps() -> None:
    """A hundred crashes must not fill the disk; the hard limit stays, for a program that wants its cores."""
    import resource

    hard = resource.getrlimit(resource.RLIMIT_CORE)[1]
    resource.setrlimit(resource.RLIMIT_CORE, (0, hard))


def descendants(root: int, spared: Collection[int] = ()) -> list[int]:
    """The processes below this one, without those of `spared` and what is below them."""
    children: dict[int, list[int]] = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat", "rb") as file:
                parent = int(file.read().rpartition(b")")[2].split()[1])
        except OSError:  # it has ended
            continue
        children.setdefault(parent, []).append(int(name))
    found = [pid for pid in children.get(root, []) if pid not in spared]
    for pid in found:  # grows
        found += children.get(pid, [])
    return found


def _signal(pid: int, sig: signal.Signals) -> bool:
    """Whether it could be sent, or there is nobody (any more) to send it to; a negative pid is a group."""
    try:
        os.kill(pid, sig)
    except ProcessLookupError:
        return True
    except PermissionError:  # another user's
        return False
    return True


def reap(ended: dict[int, int]) -> bool:
    """Collect the children that have ended, with their statuses; whether there are others."""
    try:
        while True:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                return True
            ended[pid] = status
    except ChildProcessError:
        return False


def end_descendants(group: int, ended: dict[int, int], grace_s: float = 0.0, spared: Collection[int] = ()) -> None:
    """End all processes below this one (not on Linux: the group), politely if there is grace, then for good."""
    start = time.monotonic()
    told: set[int] = set()
    while reap(ended):
        left = descendants(os.getpid(), spared) if LINUX else [-group]
        elapsed = time.monotonic() - start
        if not left or elapsed > grace_s + KILL_S:
            return
        final = elapsed >= grace_s
        sent = [_signal(pid, signal.SIGKILL if final else signal.SIGTERM) for pid in left if final or pid not in told]
        told.update(left)
        if final and not any(sent):
            return
        time.sleep(0.005)
    if not LINUX:
        _signal(-group, signal.SIGKILL)


def kill_tree(root: int) -> None:
    """Kill a supervising process and everything below it, from outside, at once."""
    deadline = time.monotonic() + KILL_S
    while LINUX and time.monotonic() < deadline:
        # orphans stay below as long as the root lives: first they, then it
        sent = [_signal(pid, signal.SIGKILL) for pid in descendants(root)]
        if not any(sent):
            break
        time.sleep(0.002)
    _signal(-root, signal.SIGKILL)


class Alarm:
    """A descriptor that becomes readable when one of the signals comes, in a process with one thread."""

    def __init__(self, *signals: signal.Signals) -> None:
        self.descriptor, self.writer = os.pipe()
        os.set_blocking(self.descriptor, False)
        os.set_blocking(self.writer, False)
        signal.set_wakeup_fd(self.writer, warn_on_full_buffer=False)
        self._signals = signals
        for sig in signals:
            signal.signal(sig, lambda *_: None)

    def came(self) -> bytes:
        """The numbers of the signals that came."""
        try:
            return os.read(self.descriptor, 1024)
        except BlockingIOError:
            return b""

    def off(self) -> None:
        """In a child: as if there had never been one."""
        signal.set_wakeup_fd(-1)
        for sig in self._signals:
            signal.signal(sig, signal.SIG_DFL)
        os.close(self.descriptor)
        os.close(self.writer)


def limit_address_space(n_bytes: int) -> None:
    """Let this process have no more memory than that; a lower limit, of a batch system say, stays."""
    import resource

    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    if hard == resource.RLIM_INFINITY or n_bytes < hard:
        resource.setrlimit(resource.RLIMIT_AS, (n_bytes, n_bytes))


def _become(command: list[str], memory: int) -> NoReturn:
    for sig in (signal.SIGPIPE, signal.SIGXFSZ):  # Python ignores them, and a new program would inherit that
        signal.signal(sig, signal.SIG_DFL)
    no_core_dumps()
    if memory:
        limit_address_space(memory)
    try:
        os.execvp(command[0], command)
    except OSError as error:
        os.write(2, f"{MESSAGE}{command[0]}: {error.strerror}\n".encode(errors="replace"))
    os._exit(CANNOT_START)


def _leave(status: int) -> NoReturn:
    """End as the command did."""
    if os.WIFSIGNALED(status):
        sig = os.WTERMSIG(status)
        no_core_dumps()
        if sig != signal.SIGKILL:  # which cannot be set, and need not be
            signal.signal(sig, signal.SIG_DFL)
        os.kill(os.getpid(), sig)
        os._exit(128 + sig)
    os._exit(os.WEXITSTATUS(status))


def _watch(parent: int) -> int | None:
    """A descriptor that becomes readable when the parent dies; thread by thread PR_SET_PDEATHSIG would be wrong."""
    try:
        return os.pidfd_open(parent)
    except OSError:  # a kernel before 5.3
        return None


def _let_go(kept: Collection[int]) -> None:
    """Close what was meant for the command: its pipes must break when it dies."""
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(null, descriptor)
    first = 3
    for descriptor in sorted(kept):
        os.closerange(first, descriptor)
        first = descriptor + 1
    os.closerange(first, 1 + max(map(int, os.listdir("/proc/self/fd"))))


def _supervise(command: list[str], memory: int, parent: int) -> NoReturn:
    adopt_orphans()
    parent_end = _watch(parent)
    if os.getppid() != parent:
        os._exit(1)
    alarm = Alarm(signal.SIGCHLD, signal.SIGTERM, signal.SIGINT)
    me = os.getpid()
    child = os.fork()
    if child == 0:
        alarm.off()
        os.setsid()
        die_with(me)
        _become(command, memory)
    _let_go([alarm.descriptor, alarm.writer, *([] if parent_end is None else [parent_end])])
    poll = select.poll()
    poll.register(alarm.descriptor, select.POLLIN)
    if parent_end is not None:
        poll.register(parent_end, select.POLLIN)
    ended: dict[int, int] = {}
    while child not in ended:
        ready = {descriptor for descriptor, _ in poll.poll(None if parent_end is not None else _LOOK_S * 1000)}
        if parent_end in ready or os.getppid() != parent:
            break
        if signal.SIGTERM in alarm.came():
            end_descendants(child, ended, GRACE_S)
            break
        reap(ended)
    end_descendants(child, ended)
    _leave(ended.get(child, signal.SIGKILL))


def main() -> None:
    """Start the command and stay with it, or become it."""
    memory, parent, command = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
    if LINUX:
        _supervise(command, memory, parent)
    _become(command, memory)


if __name__ == "__main__":
    main()
