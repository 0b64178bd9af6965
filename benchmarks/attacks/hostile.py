"""Hostile functions, each in a process with a hard limit, and what came of them against what has to come."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.attacks import functions, functions_values  # noqa: F401 - they register their behaviours
from benchmarks.attacks.behaviours import BEHAVIOURS, Behaviour
from benchmarks.attacks.case import N_EVALS
from benchmarks.attacks.children import described, marked, orphans, run_bounded, started
from benchmarks.attacks.scenarios import SCENARIOS
from benchmarks.attacks.tally import Finding, Tally

LIMIT_S = 45.0  # a case takes a few seconds; this is a hang
AT_A_TIME = max(2, os.cpu_count() or 2)
Case = tuple[str, Callable[[Path, str], list[Finding]]]


def run_all(cases: Sequence[Case], folder: Path, mark: str, seed: int, tally: Tally, seconds: float) -> None:
    """The cases in random order, a few at a time, as many as the time allows."""
    order = random.Random(f"{seed}-{tally.attack}").sample(list(cases), len(cases))
    deadline = time.monotonic() + seconds

    def one(case: Case) -> None:
        if time.monotonic() > deadline:
            return
        name, attempt = case
        place = folder / name.replace(" ", "-")
        place.mkdir(parents=True)
        try:
            found = attempt(place, f"{mark}-{place.name}")
        except Exception as error:
            found = [Finding("raw", f"the attack itself broke: {type(error).__name__}: {error}")]
        tally.add(1, [replace(finding, case=name) for finding in found])

    with ThreadPoolExecutor(AT_A_TIME) as threads:
        list(threads.map(one, order))
    if tally.tried < len(cases):
        tally.notes.append(f"{tally.tried} of {len(cases)} cases within the time")


def function_cases() -> list[Case]:
    """Every behaviour in every mode that it is meant for."""
    return [
        (f"{name} {mode}", lambda folder, mark, n=name, b=behaviour, m=mode: _function(n, b, m, folder, mark))
        for name, behaviour in BEHAVIOURS.items() for mode in behaviour.modes
    ]  # fmt: skip


def _function(name: str, behaviour: Behaviour, mode: str, folder: Path, mark: str) -> list[Finding]:
    argv = [sys.executable, "-m", "benchmarks.attacks.case", name, mode, str(folder)]
    ended = run_bounded(argv, mark, folder, LIMIT_S)
    left = orphans(mark)
    if ended.code is None:
        return [Finding("hung", f"no end after {LIMIT_S:.0f} s"), *left]
    outcome = read_outcome(folder)
    if outcome is None:
        return [Finding("raw", f"the script died with status {ended.code}: {ended.last_line}"), *left]
    return [*judge(outcome, read_ends(folder), behaviour.expected), *left]


def read_outcome(folder: Path) -> dict[str, Any] | None:
    """What the case wrote; None if it did not get so far."""
    path = folder / "outcome.json"
    return json.loads(path.read_text()) if path.exists() else None


def read_ends(folder: Path) -> dict[tuple[float, ...], float]:
    """The values that the function returned, by its own log."""
    log = folder / "objective.log"
    rows = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
    return {tuple(point): value for what, point, value in rows if what == "end"}


def judge(outcome: dict[str, Any], ends: dict[tuple[float, ...], float], expected: str) -> list[Finding]:
    """What is wrong with an outcome: raw errors, results lost or doubled, hostile points that are not as expected."""
    found = []
    if outcome["error"] and not outcome["own"]:
        found.append(Finding("raw", outcome["error"][:200]))
    found += lost_and_doubled(outcome["rows"], ends)
    if outcome["error"]:
        return found if found else [Finding("raw", f"the run was given up: {outcome['error'][:200]}")]
    if len(outcome["rows"]) != N_EVALS:
        found.append(Finding("lost", f"{len(outcome['rows'])} of {N_EVALS} evaluations"))
    for x, _, status, reason, _ in outcome["rows"]:
        wanted = "ok" if x[0] >= 0.5 or expected == "value" else "failed"
        if (expected != "either" or x[0] >= 0.5) and status != wanted:
            found.append(Finding("raw", f"expected {wanted} where x[0] = {x[0]:.2f}; got {status}: {reason[:100]}"))
        elif status == "failed" and not reason.strip():
            found.append(Finding("raw", "a failure without a reason"))
    return found


def lost_and_doubled(rows: Sequence[Sequence[Any]], ends: dict[tuple[float, ...], float]) -> list[Finding]:
    """Values that the function returned and the result does not have, or has twice."""
    values: dict[tuple[float, ...], list[Any]] = {}
    for x, y, *_ in rows:
        values.setdefault(tuple(x), []).append(y)
    found = [Finding("twice", f"{x} counts {len(ys)} times") for x, ys in values.items() if len(ys) > 1]
    return found + [
        Finding("lost", f"{x} returned {value} and has {values.get(x, ['nothing'])[0]}")
        for x, value in ends.items() if value not in values.get(x, [])
    ]  # fmt: skip


def scenario_cases() -> list[Case]:
    """What happens around a run, and signals to a script whose evaluations are isolated."""
    played = [(name, lambda folder, mark, n=name: _scenario(n, folder, mark)) for name in SCENARIOS]
    signalled = [
        (f"a script gets {sig.name}", lambda folder, mark, s=sig: _signalled(s, folder, mark))
        for sig in (signal.SIGTERM, signal.SIGKILL, signal.SIGINT, signal.SIGHUP)
    ]  # fmt: skip
    return [*played, *signalled]


def _scenario(name: str, folder: Path, mark: str) -> list[Finding]:
    argv = [sys.executable, "-m", "benchmarks.attacks.scenarios", name, str(folder)]
    more = {"OPENBLAS_NUM_THREADS": "2", "OMP_NUM_THREADS": "2"} if "blas" in name else None
    ended = run_bounded(argv, mark, folder, LIMIT_S, more)
    left = orphans(mark)
    if ended.code is None:
        return [Finding("hung", f"no end after {LIMIT_S:.0f} s"), *left]
    path = folder / "outcome.json"
    if not path.exists():
        return [Finding("raw", f"the script died with status {ended.code}: {ended.last_line}"), *left]
    return [*(Finding(kind, what) for kind, what in json.loads(path.read_text())), *left]


def _signalled(sig: signal.Signals, folder: Path, mark: str) -> list[Finding]:
    """A script that is ended from outside leaves no isolated evaluation behind."""
    argv = [sys.executable, "-m", "benchmarks.attacks.case", "hangs_in_a_setsid_child", "isolated", str(folder)]
    with started(argv, mark, folder, folder / "said.txt") as process:
        deadline = time.monotonic() + LIMIT_S
        while time.monotonic() < deadline and not _sleeps(mark):
            time.sleep(0.1)
        process.send_signal(sig)
        try:
            process.wait(LIMIT_S)
        except subprocess.TimeoutExpired:
            return [Finding("hung", f"{sig.name} did not end the script"), *orphans(mark)]
    return orphans(mark)


def _sleeps(mark: str) -> bool:
    """Whether the evaluation is where it hangs."""
    return any(described(pid).startswith("sleep") for pid in marked(mark))
