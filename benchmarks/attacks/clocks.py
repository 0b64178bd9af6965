"""Clocks that jump by hours and years under some of the workers while they work."""

from __future__ import annotations

import random
import shutil
import subprocess
import time
from pathlib import Path

from benchmarks.attacks import children
from benchmarks.attacks.arena import N_WORKERS, Arena
from benchmarks.attacks.tally import Tally

_JUMPS_S = (0.0, -59.0, 3600.0, -3600.0, 86400.0, -86400.0, 3e7, -3e7, 3e8, -3e8)

# libfaketime would do, but Python's time.sleep fails under it: it does not know clock_nanosleep of the monotonic clock.
SHIM = """\
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
static long ahead(void) {
    char text[32] = {0};
    int file = open(getenv("SUREFOOT_ATTACK_CLOCK"), O_RDONLY);
    if (file < 0) return 0;
    if (read(file, text, sizeof text - 1) < 0) text[0] = 0;
    close(file);
    return atol(text);
}
int clock_gettime(clockid_t clock, struct timespec *now) {
    int failed = syscall(SYS_clock_gettime, clock, now);
    if (!failed && clock == CLOCK_REALTIME) now->tv_sec += ahead();
    return failed;
}
int gettimeofday(struct timeval *restrict now, void *restrict zone) {
    int failed = syscall(SYS_gettimeofday, now, zone);
    if (!failed && now) now->tv_sec += ahead();
    return failed;
}
time_t time(time_t *out) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (out) *out = now.tv_sec;
    return now.tv_sec;
}
"""

SITE = """\
import os, time
_time = time.time
def _moved():
    try:
        with open(os.environ["SUREFOOT_ATTACK_CLOCK"]) as file:
            return _time() + float(file.read() or 0.0)
    except (OSError, ValueError):
        return _time()
time.time = _moved
"""


class Clock:
    """A wall clock that can be moved from outside; the monotonic one goes on, as it does on a real machine."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / "clock"
        self.jump(0.0)
        self.environment = {"SUREFOOT_ATTACK_CLOCK": str(self._file)}
        compiler, source, library = shutil.which("cc"), folder / "clock.c", folder / "clock.so"
        if compiler is not None:
            source.write_text(SHIM)
            subprocess.run([compiler, "-shared", "-fPIC", "-o", library, source], check=True, timeout=60)
            self.environment["LD_PRELOAD"] = str(library)
            self.how = "by a preloaded library, for everything in the process"
        else:
            site = folder / "site"
            site.mkdir()
            (site / "sitecustomize.py").write_text(SITE)
            self.environment[children.SITE] = str(site)
            self.how = "by a patched time.time alone, as there is no C compiler"

    def jump(self, to_s: float) -> None:
        """Move it, in one step that no reader sees half."""
        fresh = self._file.with_suffix(".new")
        fresh.write_text(f"{to_s:.0f}\n")
        fresh.replace(self._file)


def attack(arena: Arena, tally: Tally, seconds: float) -> None:
    """Half of the workers have a clock that jumps; study after study until the time is over."""
    deadline, round_ = time.monotonic() + seconds, 0
    while round_ == 0 or time.monotonic() < deadline - 10.0:
        rng = random.Random(f"{arena.seed}-clocks-{round_}")
        team = arena.team(f"clocks-{round_}", n_evals=16)
        clock = Clock(team.folder)
        tally.notes[:] = [f"clocks are moved {clock.how}"]
        n_jumps = 0
        try:
            for i in range(N_WORKERS):
                team.start(clock.environment if i % 2 else None)
            while time.monotonic() < deadline and len(team.live) == N_WORKERS:
                time.sleep(rng.uniform(0.2, 1.0))
                clock.jump(rng.choice(_JUMPS_S))
                n_jumps += 1
            team.finish()
            tally.add(n_jumps, team.verdict())
        finally:
            team.close()
        round_ += 1
