"""The objective's own log against what a study says: nothing lost, nothing counted twice.

The objective appends one line of JSON, in one write, when an evaluation starts and when it ends. A line cannot be
forgotten or torn by whatever happens to the worker that started it.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from benchmarks.attacks.tally import Finding

WORKER = "SUREFOOT_ATTACK_WORKER"  # environment: which worker an evaluation belongs to
_SLOW_TO_STOP_S = 3.0  # a worker told to stop may begin no evaluation later than this
Point = tuple[float, ...]

PROGRAM = """\
import json, os, sys, time
a, b = float(sys.argv[1]), float(sys.argv[2])
run, worker = "%d-%d" % (os.getpid(), time.monotonic_ns()), int(os.environ.get("SUREFOOT_ATTACK_WORKER", "0"))
def log(what, value=None):
    line = json.dumps([what, run, worker, [a, b], value, time.monotonic()]) + "\\n"
    file = os.open({path!r}, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.write(file, line.encode())
    os.close(file)
log("start")
share = (a * 7919.0 + b * 104729.0) % 1.0
time.sleep({short} if share < 0.6 else {long})
value = (a - 3.0) ** 2 + (b - 2.0) ** 2
if a > 8.0:
    log("end")
    sys.exit("the mesh collapsed")
log("end", value)
print(repr(value))
"""


def write_program(folder: Path, log: Path, short_s: float, long_s: float) -> list[str]:
    """The objective, behind a shell as many simulators are; the command for a problem file."""
    program = folder / "simulator.py"
    program.write_text(PROGRAM.format(path=str(log), short=short_s, long=long_s))
    return ["/bin/sh", "-c", f'"{sys.executable}" -I -S "{program}" "$@"; exit $?', "wrapper", "{a}", "{b}"]


@dataclass(frozen=True)
class Line:
    """One line of the objective's log."""

    what: str  # start or end
    run: str  # one evaluation, unique
    worker: int
    point: Point
    value: float | None  # of an end; None: it failed
    at: float  # by the machine's monotonic clock


@dataclass(frozen=True)
class Counted:
    """A trial of the study that counts."""

    point: Point
    status: str  # ok, failed or transient
    value: float | None


@dataclass
class Fate:
    """What was done to a worker."""

    killed: bool = False
    paused: bool = False
    told_to_stop: float | None = None  # when, by the monotonic clock

    @property
    def disturbed(self) -> bool:
        """Whether its evaluations may rightly be repeated by others."""
        return self.killed or self.paused or self.told_to_stop is not None


def read_log(path: Path) -> list[Line]:
    """The objective's log."""
    if not path.exists():
        return []
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    return [Line(what, run, worker, tuple(point), value, at) for what, run, worker, point, value, at in rows]


def counted_rows(rows: Sequence[Mapping[str, object]]) -> list[Counted]:
    """The rows of `surefoot export` that count."""
    return [
        Counted((float(str(row["a"])), float(str(row["b"]))), str(row["status"]),
                None if row["status"] != "ok" else float(str(row["value"])))
        for row in rows
        if row["status"] in ("ok", "failed", "transient")
    ]  # fmt: skip


def check(lines: Sequence[Line], counted: Sequence[Counted], n_evals: int, fates: Mapping[int, Fate]) -> list[Finding]:
    """Everything that the study has wrong, measured by the objective's log."""
    found = []
    if len(counted) < n_evals:
        found.append(Finding("lost", f"{len(counted)} evaluations at the end of a budget of {n_evals}"))
    if len(counted) > n_evals:
        found.append(Finding("twice", f"{len(counted)} evaluations with a budget of {n_evals}"))
    at_point: dict[Point, list[Counted]] = defaultdict(list)
    for trial in counted:
        at_point[trial.point].append(trial)
    found += [
        Finding("twice", f"{point} counts {len(trials)} times")
        for point, trials in at_point.items() if len(trials) > 1
    ]  # fmt: skip
    ends: dict[Point, list[Line]] = defaultdict(list)
    for line in lines:
        if line.what == "end":
            ends[line.point].append(line)
    for point, logged in ends.items():
        found += _lost(point, logged, at_point.get(point, []), fates)
    found += [
        Finding("lost", f"{point} is {trial.status} in the study, and the objective never ended there")
        for point, trials in at_point.items() for trial in trials if point not in ends and trial.status != "transient"
    ]  # fmt: skip
    return found + _repeated(lines, fates) + _late(lines, fates)


def _lost(point: Point, ends: Sequence[Line], trials: Sequence[Counted], fates: Mapping[int, Fate]) -> list[Finding]:
    """An end that the objective logged and the study does not have; a killed worker's may be a transient failure."""
    if not trials:
        return [Finding("lost", f"{point} ended and is not in the study")]
    trial, value = trials[0], ends[0].value
    if trial.status == "transient":
        alive = [end for end in ends if not fates.get(end.worker, Fate()).killed]
        return [Finding("lost", f"{point} ended well and counts as transient")] if alive else []
    if trial.value != value:
        return [Finding("lost", f"{point} has {trial.value} in the study; the objective said {value}")]
    return []


def _repeated(lines: Sequence[Line], fates: Mapping[int, Fate]) -> list[Finding]:
    """Evaluations of a point that went on beside another one, or followed one that had ended undisturbed."""
    found = []
    starts: dict[Point, list[Line]] = defaultdict(list)
    ended = {line.run: line for line in lines if line.what == "end"}
    for line in lines:
        if line.what == "start":
            starts[line.point].append(line)
    for point, runs in starts.items():
        for first, second in pairwise(sorted(runs, key=lambda line: line.at)):
            end, fate = ended.get(first.run), fates.get(first.worker, Fate())
            if end is None:
                continue
            if end.at > second.at and not fate.paused:
                left = " by a simulator that outlived its worker" if fate.killed else ""
                found.append(Finding("twice", f"{point} was evaluated twice at the same time{left}"))
            elif end.at <= second.at and not fate.disturbed:
                found.append(Finding("twice", f"{point} was evaluated again although its worker lived"))
    return found


def _late(lines: Sequence[Line], fates: Mapping[int, Fate]) -> list[Finding]:
    found = []
    for line in lines:
        told = fates.get(line.worker, Fate()).told_to_stop
        if line.what == "start" and told is not None and line.at - told > _SLOW_TO_STOP_S:
            found.append(
                Finding("hung", f"an evaluation began {line.at - told:.1f} s after its worker was told to stop")
            )
    return found
