"""Several real `surefoot run` processes on one study, what is done to them, and what the study says afterwards."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.attacks.children import environment, kill_marked, orphans, run_bounded, tail
from benchmarks.attacks.ledger import WORKER, Fate, check, counted_rows, read_log, write_program
from benchmarks.attacks.tally import Finding

SUREFOOT = [sys.executable, "-m", "surefoot"]
HEARTBEAT_S = 0.5  # six of them are the patience of the other workers: 3 s
FINISH_S = 90.0  # a study that is left in peace ends within this
_STOP_S = 30.0  # a worker that was told to stop ends within this

PROBLEM = """\
name = {name}
n_evals = {n_evals}
n_init = 8
seed = {seed}
max_failures = 0
heartbeat_s = {heartbeat}
[parameters]
a = {{low = -5.0, high = 10.0}}
b = {{low = 0.0, high = 15.0}}
[objective]
command = {command}
"""


@dataclass
class Worker:
    """One `surefoot run`, and what was done to it."""

    number: int
    process: subprocess.Popen[bytes]
    log: Path
    fate: Fate = field(default_factory=Fate)
    stopped_by: signal.Signals | None = None
    is_paused: bool = False

    @property
    def alive(self) -> bool:
        """Whether it has not ended; what has not been asked cannot have given its number to another process."""
        return self.process.poll() is None

    def send(self, sig: signal.Signals) -> None:
        """Signal this process alone."""
        if not self.alive:
            return
        self.process.send_signal(sig)
        if sig == signal.SIGKILL:
            self.fate.killed = True
        elif sig == signal.SIGSTOP:
            self.fate.paused = self.is_paused = True
        elif sig == signal.SIGCONT:
            self.is_paused = False
        else:
            self.stopped_by = sig
            self.fate.told_to_stop = self.fate.told_to_stop or time.monotonic()

    def findings(self) -> list[Finding]:
        """What is wrong with how it ended."""
        said, code = tail(self.log), self.process.returncode
        if "Traceback (most recent call last)" in said:
            last = said.strip().splitlines()[-1][:160]
            if not (self.stopped_by == signal.SIGINT and last.startswith("KeyboardInterrupt")):
                return [Finding("raw", f"a worker ended in a traceback: {last}")]
        fine = {0, 2}  # 2: one of surefoot's errors, in one line
        if self.fate.killed:
            fine.add(-signal.SIGKILL)
        if self.stopped_by is not None:
            fine |= {130, -self.stopped_by}
        if code not in fine and not (self.stopped_by == signal.SIGINT and code == 1):
            return [Finding("raw", f"a worker ended with status {code}: {said.strip()[-160:]}")]
        return []


class Team:
    """Workers on one study, whose objective keeps a log of its own."""

    def __init__(
        self, folder: Path, mark: str, place: str, n_evals: int, seed: int, short_s: float, long_s: float
    ) -> None:
        folder.mkdir()
        self.folder, self.mark, self.n_evals = folder, mark, n_evals
        self.log = folder / "objective.log"
        self.place = place or str(folder / "study.db")
        self.name = folder.name
        self.workers: list[Worker] = []
        self.told: list[Finding] = []
        command = json.dumps(write_program(folder, self.log, short_s, long_s))
        text = PROBLEM.format(
            name=json.dumps(self.name), n_evals=n_evals, seed=seed, heartbeat=HEARTBEAT_S, command=command
        )
        (folder / "problem.toml").write_text(text)

    def start(self, more: Mapping[str, str] | None = None) -> Worker:
        """One more worker."""
        number = len(self.workers) + 1
        log = self.folder / f"worker-{number}.txt"
        with log.open("wb") as out:
            process = subprocess.Popen(
                [*SUREFOOT, "run", "problem.toml", "--storage", self.place],
                cwd=self.folder, env=environment(self.mark, {WORKER: str(number), **(more or {})}),
                stdin=subprocess.DEVNULL, stdout=out, stderr=out, start_new_session=True,
            )  # fmt: skip
        self.workers.append(Worker(number, process, log))
        return self.workers[-1]

    @property
    def live(self) -> list[Worker]:
        """Workers that have not ended."""
        return [worker for worker in self.workers if worker.alive]

    def started_evaluations(self) -> int:
        """How many the objective has begun."""
        return sum(line.what == "start" for line in read_log(self.log))

    def at_work(self) -> set[int]:
        """The numbers of the workers that have begun an evaluation; the others are still being born."""
        return {line.worker for line in read_log(self.log)}

    def wait_for_starts(self, n: int, limit_s: float = 60.0) -> bool:
        """Wait until so many evaluations have begun."""
        deadline = time.monotonic() + limit_s
        while self.started_evaluations() < n:
            if time.monotonic() > deadline or not self.live:
                return False
            time.sleep(0.1)
        return True

    def end_the_slow(self) -> None:
        """Workers that were told to stop and go on are a finding, and are killed."""
        for worker in self.live:
            told = worker.fate.told_to_stop
            if told is not None and not worker.is_paused and time.monotonic() - told > _STOP_S:
                self.told.append(Finding("hung", f"a worker went on for {_STOP_S:.0f} s after it was told to stop"))
                worker.send(signal.SIGKILL)

    def left_of(self, worker: Worker) -> list[Finding]:
        """What a killed worker left running."""
        return orphans(self.mark, {WORKER: str(worker.number)}, patience_s=0.0)

    def finish(self, limit_s: float = FINISH_S) -> None:
        """Leave the study in peace, with one fresh worker to help; all have to end."""
        for worker in self.live:
            if worker.is_paused:
                worker.send(signal.SIGCONT)
        self.start()
        deadline = time.monotonic() + limit_s
        while self.live and time.monotonic() < deadline:
            time.sleep(0.2)
        for worker in self.live:
            said = " / ".join(tail(worker.log).strip().splitlines()[-2:])
            self.told.append(Finding("hung", f"a worker did not end within {limit_s:.0f} s; it said {said[:200]}"))
            worker.send(signal.SIGKILL)

    def verdict(self) -> list[Finding]:
        """Everything that went wrong, when all workers have ended."""
        for worker in self.workers:
            worker.process.wait()
        found = [*self.told, *(finding for worker in self.workers for finding in worker.findings())]
        found += orphans(self.mark)
        rows, problem = self._export()
        if rows is None:
            return [*found, problem or Finding("lost", "the study cannot be read")]
        fates = {worker.number: worker.fate for worker in self.workers}
        return found + check(read_log(self.log), counted_rows(rows), self.n_evals, fates)

    def _export(self) -> tuple[list[dict[str, object]] | None, Finding | None]:
        target = self.folder / "trials.json"
        argv = [*SUREFOOT, "export", self.place, "--study", self.name, "-o", str(target)]
        ended = run_bounded(argv, f"{self.mark}-export", self.folder, 60.0)
        if ended.code is None:
            return None, Finding("hung", "surefoot export did not end")
        if ended.code != 0:
            kind = "raw" if "Traceback" in ended.said else "lost"
            return None, Finding(kind, f"the study cannot be exported: {ended.last_line}")
        return json.loads(target.read_text()), None

    def close(self) -> None:
        """Leave nothing running."""
        kill_marked(self.mark)
        for worker in self.workers:
            worker.process.wait()
