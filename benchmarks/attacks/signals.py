"""SIGKILL, SIGTERM, SIGINT, SIGSTOP and SIGCONT at random moments to four workers of one study."""

from __future__ import annotations

import random
import signal
import time

from benchmarks.attacks.arena import N_WORKERS, Arena
from benchmarks.attacks.tally import Tally
from benchmarks.attacks.team import HEARTBEAT_S, Team, Worker

_LEFT_AFTER_S = 1.5  # how long after a kill its simulator is looked for
_MOST_S = 25.0  # of signals to one study


def attack(arena: Arena, tally: Tally, seconds: float) -> None:
    """Study after study until the time is over."""
    deadline, round_ = time.monotonic() + seconds, 0
    while round_ == 0 or time.monotonic() < deadline - 10.0:
        team = arena.team(f"signals-{round_}", n_evals=30, long_s=4.0)
        try:
            disturbance = Disturbance(team, random.Random(f"{arena.seed}-signals-{round_}"))
            disturbance.run(min(deadline, time.monotonic() + _MOST_S))
            team.finish()
            tally.add(disturbance.n_sent, team.verdict())
        finally:
            team.close()
        round_ += 1


class Disturbance:
    """What is done to one team."""

    def __init__(self, team: Team, rng: random.Random) -> None:
        self.n_sent = 0
        self._team = team
        self._rng = rng
        self._killed: list[tuple[Worker, float]] = []  # and when to look for what it left
        self._asleep: list[tuple[Worker, float]] = []  # and when to wake it

    def run(self, deadline: float) -> None:
        """Signal after signal until the study is done or the time is over."""
        for _ in range(N_WORKERS):
            self._team.start()
        self._team.wait_for_starts(1)
        while time.monotonic() < deadline:
            time.sleep(self._rng.uniform(0.1, 0.8))
            self._look_after()
            if any(worker.process.returncode == 0 for worker in self._team.workers if not worker.alive):
                return  # the budget is used up
            targets = [w for w in self._team.live if not w.is_paused and w.stopped_by is None]
            if len(targets) < N_WORKERS:
                self._team.start()
            if targets:
                self._hit(targets)

    def _hit(self, targets: list[Worker]) -> None:
        """Mostly those that have begun to evaluate: to kill only newborn workers would be an easy life for a study."""
        at_work = self._team.at_work()
        busy = [worker for worker in targets if worker.number in at_work]
        among = targets if self._rng.random() < 0.15 else busy
        if among:
            self._signal(self._rng.choice(among))

    def _signal(self, worker: Worker) -> None:
        kinds = [signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGSTOP]
        sig = self._rng.choices(kinds, weights=[3, 1, 1, 5])[0]
        worker.send(sig)
        self.n_sent += 1
        if sig == signal.SIGKILL:
            self._killed.append((worker, time.monotonic() + _LEFT_AFTER_S))
        if sig == signal.SIGSTOP:  # half of them for longer than the others' patience
            self._asleep.append((worker, time.monotonic() + self._rng.uniform(0.2, 12 * HEARTBEAT_S)))

    def _look_after(self) -> None:
        now = time.monotonic()
        for worker, at in list(self._asleep):
            if at <= now:
                worker.send(signal.SIGCONT)
                self.n_sent += 1
                self._asleep.remove((worker, at))
        for worker, at in list(self._killed):
            if at <= now:
                self._team.told += self._team.left_of(worker)
                self._killed.remove((worker, at))
        self._team.end_the_slow()
