"""Storages that do not answer for longer than six heartbeats while evaluations run and end."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.attacks.arena import N_WORKERS, Arena
from benchmarks.attacks.children import environment, orphans, run_bounded
from benchmarks.attacks.tally import Finding, Tally
from benchmarks.attacks.team import FINISH_S, HEARTBEAT_S, SUREFOOT, Team

OUTAGE_S = 10 * HEARTBEAT_S  # a silent worker is given up after six
LONG_LOCK_S = 70.0  # longer than SQLite's own patience
_READ_S = 20.0  # a reader that waits for the writer is not worth waiting for

HOLDER = """\
import sqlite3, sys, time
connection = sqlite3.connect(sys.argv[1], timeout=60, isolation_level=None)
connection.execute("BEGIN EXCLUSIVE")
open(sys.argv[2], "w").close()
time.sleep(3600)
"""


def attack(arena: Arena, tally: Tally, seconds: float) -> None:
    """Every kind of outage once, and again until the time is over."""
    kinds = [_paused, _crashed] if arena.server else [_locked, _deleted]
    deadline, round_ = time.monotonic() + seconds, 0
    while round_ < len(kinds) or time.monotonic() < deadline - 25.0:
        _one(arena, tally, f"outages-{round_}", kinds[round_ % len(kinds)])
        round_ += 1


def attack_with_a_long_lock(arena: Arena, tally: Tally) -> None:
    """A lock that outlasts SQLite's own patience of a minute."""
    _one(arena, tally, "long-lock", _locked_for_long)


def _one(arena: Arena, tally: Tally, name: str, outage: Callable[[Arena, Team], list[Finding]]) -> None:
    """One outage while four evaluations are under way that end in it or right after it."""
    team = arena.team(name, n_evals=2 * N_WORKERS, short_s=1.2 * OUTAGE_S, long_s=1.2 * OUTAGE_S)
    try:
        for _ in range(N_WORKERS):
            team.start()
        begun = [] if team.wait_for_starts(N_WORKERS) else [Finding("hung", "four workers did not begin to evaluate")]
        tally.add(1, [*begun, *outage(arena, team)])
    finally:
        team.close()


def _settled(team: Team) -> list[Finding]:
    team.finish()
    return team.verdict()


def _away(leave: Callable[[], None], come_back: Callable[[], None], team: Team) -> list[Finding]:
    leave()
    try:
        time.sleep(OUTAGE_S)
    finally:
        come_back()
    return _settled(team)


def _paused(arena: Arena, team: Team) -> list[Finding]:
    assert arena.server is not None
    return _away(arena.server.pause, arena.server.resume, team)


def _crashed(arena: Arena, team: Team) -> list[Finding]:
    assert arena.server is not None
    return _away(arena.server.crash, arena.server.start, team)


@contextlib.contextmanager
def _lock(team: Team) -> Iterator[None]:
    """An exclusive lock on the database, held by a process that has nothing to do with surefoot."""
    sign = team.folder / "locked"
    process = subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", HOLDER, team.place, str(sign)], env=environment(f"{team.mark}-lock")
    )
    try:
        while not sign.exists() and process.poll() is None:
            time.sleep(0.05)
        yield
    finally:
        process.kill()
        process.wait()
        sign.unlink(missing_ok=True)


def _locked(arena: Arena, team: Team) -> list[Finding]:
    found = []
    with _lock(team):
        start = time.monotonic()
        ended = run_bounded([*SUREFOOT, "show", team.place], f"{team.mark}-show", team.folder, _READ_S)
        if ended.code is None:
            found.append(Finding("hung", "surefoot show waited for a writer"))
        elif ended.code != 0:
            found.append(Finding("raw", f"surefoot show behind a writer: {ended.last_line}"))
        time.sleep(max(0.0, OUTAGE_S - (time.monotonic() - start)))
    return found + _settled(team)


def _locked_for_long(arena: Arena, team: Team) -> list[Finding]:
    with _lock(team):
        team.start()  # a worker that begins behind the lock
        time.sleep(LONG_LOCK_S)
    return _settled(team)


def _deleted(arena: Arena, team: Team) -> list[Finding]:
    """The database is deleted: the workers must say so, and not end as if all were well."""
    for suffix in ("", "-wal", "-shm"):
        Path(f"{team.place}{suffix}").unlink(missing_ok=True)
    deadline = time.monotonic() + FINISH_S
    while team.live and time.monotonic() < deadline:
        time.sleep(0.2)
    found = [Finding("hung", "a worker whose database was deleted went on for ever") for _ in team.live]
    fine = [worker for worker in team.workers if worker.process.poll() == 0]
    if fine and not Path(team.place).exists():
        found.append(Finding("lost", f"{len(fine)} workers ended well without a database"))
    return [*found, *(f for worker in team.workers if not worker.alive for f in worker.findings()), *orphans(team.mark)]
