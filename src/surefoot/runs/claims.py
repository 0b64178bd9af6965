"""Who evaluates which trial: claims that never exceed the budget, heartbeats, lost workers.

Budget  Trial numbers are given out one by one by the storage. A trial may be evaluated if fewer than n_evals trials
        with lower numbers count, and a trial that counts no more (VOID) never counts again; so at no time can more than
        n_evals count, however many processes claim at once, and no lock is needed.
Order   Before a suggestion is made, all trials with lower numbers must have published theirs: numbers are tickets. So
        every suggestion sees all points under way, and no two workers get the same one.
Life    A trial under way carries its owner (machine, process, start of the process) and a count that the owner raises
        every heartbeat_s. An owner on this machine is dead when its process is; one elsewhere when the count has not
        moved for PATIENCE heartbeats by the observer's own clock: clocks are never compared. (Optuna's heartbeat
        works inside study.optimize only, and needs the database's clock.)
Lost    The trial of a dead owner becomes VOID, and its point is queued again: once. Lost a second time it is a
        transient failure, which counts and teaches nothing: perhaps the point itself kills workers.
"""

from __future__ import annotations

import os
import platform
import time
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import optuna
from optuna.exceptions import UpdateFinishedTrialError
from optuna.study import Study
from optuna.trial import FrozenTrial, Trial, TrialState

from surefoot.integrations.optuna_history import TRANSIENT, VOID, is_void, point_of, published
from surefoot.integrations.optuna_space import Distributions, engine_space, from_engine

OWNER = "surefoot:owner"  # system attribute of a trial: who evaluates it
RETRY = "surefoot:retry_of"  # user attribute: the number of the lost trial that it repeats
PATIENCE = 6  # heartbeats without a sign of life
_TURN_POLL_S = 0.02


@cache
def _machine() -> str:
    """This machine, or container: what has the same process numbers."""
    parts = [platform.node()]
    for path in ("/proc/sys/kernel/random/boot_id", "/proc/self/ns/pid"):
        try:
            parts.append(os.readlink(path) if path.endswith("pid") else Path(path).read_text().strip())
        except OSError:
            parts.append("")
    return " ".join(parts)


def _started(pid: int) -> str:
    """When the process started, in the kernel's ticks; empty if unknown. ProcessLookupError if there is none."""
    os.kill(pid, 0)
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[19]
    except (OSError, IndexError):
        return ""


def myself() -> dict[str, Any]:
    """The owner of what this process claims."""
    return {"machine": _machine(), "pid": os.getpid(), "started": _started(os.getpid()), "beat": 0}


def _is_me(owner: dict[str, Any], me: dict[str, Any]) -> bool:
    return all(owner.get(key) == me[key] for key in ("machine", "pid", "started"))


def _surely_dead(owner: dict[str, Any]) -> bool:
    """Whether the owner was a process of this machine that is no more."""
    if owner.get("machine") != _machine():
        return False
    try:
        return bool(_started(int(owner["pid"])) != owner["started"])
    except ProcessLookupError:
        return True
    except PermissionError:
        return False


@dataclass
class Claims:
    """The claims of this process on the trials of a study."""

    study: Study
    parameters: Distributions
    n_evals: int
    heartbeat_s: float
    me: dict[str, Any] = field(default_factory=myself)
    held: dict[int, int] = field(default_factory=dict)  # numbers of the trials under way here: their ids
    _last_beat: float = field(default_factory=time.monotonic)
    _seen: dict[int, tuple[Any, float]] = field(default_factory=dict)  # id: (last sign of life, when by our clock)

    def trials(self, *states: TrialState) -> list[FrozenTrial]:
        """Trials of the study, as they are in the storage now."""
        return self.study.get_trials(deepcopy=False, states=states or None)

    def claim(self) -> Trial | None:
        """A trial to evaluate, with its parameters; None if the budget is used up or under way."""
        trials = self.trials()  # a read costs several queries: there are two for a claim, and the sampler's own
        trial = self._take_waiting(trials) or self._create(trials)
        if trial is None:
            return None
        try:
            if not self._comes_to_turn(trial.number):
                self.release(trial.number, "surplus: others had claimed the rest of the budget")
                return None
            for name, distribution in self.parameters.items():
                trial._suggest(name, distribution)
        except optuna.exceptions.StorageInternalError:  # the connection broke; `recover` will find the trial
            self.held.pop(trial.number, None)
            raise
        return trial

    def _may(self, trials: list[FrozenTrial], number: int) -> bool:
        return sum(t.number < number and not is_void(t) for t in trials) < self.n_evals

    def _take_waiting(self, trials: list[FrozenTrial]) -> Trial | None:
        for waiting in trials:
            if waiting.state != TrialState.WAITING or not self._may(trials, waiting.number):
                continue
            try:
                if self.study._storage.set_trial_state_values(waiting._trial_id, state=TrialState.RUNNING):
                    self.held[waiting.number] = waiting._trial_id
                    self._beat(waiting._trial_id)
                    return Trial(self.study, waiting._trial_id)
            except UpdateFinishedTrialError:
                continue
        return None

    def _create(self, trials: list[FrozenTrial]) -> Trial | None:
        if sum(not is_void(t) for t in trials) >= self.n_evals:
            return None
        # created with its owner in one transaction: a process killed now leaves no trial that nobody owns
        template = optuna.create_trial(state=TrialState.RUNNING, system_attrs={OWNER: self.me})
        trial = Trial(self.study, self.study._storage.create_new_trial(self.study._study_id, template_trial=template))
        self.held[trial.number] = trial._trial_id
        return trial

    def _comes_to_turn(self, number: int) -> bool:
        """Wait until all trials before have a point; whether the budget allows this one."""
        while True:
            trials = self.trials()
            if not self._may(trials, number):
                return False
            before = [
                t for t in trials if t.number < number and t.state == TrialState.RUNNING and not self._has_point(t)
            ]
            if all(t.number in self.held or self._is_lost(t) for t in before):
                return True
            self.beat_if_due()
            time.sleep(_TURN_POLL_S)

    def _has_point(self, trial: FrozenTrial) -> bool:
        known = {*trial.params, *published(trial), *(trial.system_attrs.get("fixed_params") or {})}
        return self.parameters.keys() <= known

    # --- ends

    def told(self, number: int) -> None:
        """The trial has ended."""
        self.held.pop(number, None)

    def release(self, number: int, why: str, *, again: bool = False) -> None:
        """Give a trial back unevaluated; `again`: queue its point for whoever comes next."""
        self._void(self.study._storage.get_trial(self.held[number]), why, again)
        self.told(number)

    def _void(self, trial: FrozenTrial, why: str, again: bool) -> bool:
        storage = self.study._storage
        try:
            storage.set_trial_user_attr(trial._trial_id, VOID, why)
            storage.set_trial_state_values(trial._trial_id, state=TrialState.FAIL)
        except UpdateFinishedTrialError:  # it ended after all, or another process was faster
            return False
        point = self._point(trial)
        if again and point is not None:
            retry = {RETRY: trial.user_attrs[RETRY]} if RETRY in trial.user_attrs else {}
            self.study.enqueue_trial(point, user_attrs=retry)
        return True

    def _point(self, trial: FrozenTrial) -> dict[str, Any] | None:
        space = engine_space(self.parameters)
        values = point_of(trial, self.parameters, space)
        if values is None:
            return None
        return {name: from_engine(d, v) for (name, d), v in zip(self.parameters.items(), values, strict=True)}

    # --- life

    def _beat(self, trial_id: int) -> None:
        self.study._storage.set_trial_system_attr(trial_id, OWNER, self.me)

    def beat_if_due(self) -> bool:
        """Show that this process lives, for every trial it holds, if the last time was a heartbeat ago."""
        if time.monotonic() - self._last_beat < self.heartbeat_s:
            return False
        self._last_beat = time.monotonic()
        self.me = {**self.me, "beat": self.me["beat"] + 1}
        for number, trial_id in list(self.held.items()):
            try:
                self._beat(trial_id)
            except UpdateFinishedTrialError:  # given up by others while we were silent
                self.held.pop(number, None)
        return True

    def _is_lost(self, trial: FrozenTrial) -> bool:
        owner = trial.system_attrs.get(OWNER)
        if owner is not None and _is_me(owner, self.me):
            return trial.number not in self.held  # created by a call that then failed
        if owner is not None and _surely_dead(owner):
            return True
        sign, since = self._seen.get(trial._trial_id, (None, 0.0))
        if trial._trial_id not in self._seen or sign != owner:
            self._seen[trial._trial_id] = (owner, time.monotonic())
            return False
        return time.monotonic() - since > PATIENCE * self.heartbeat_s

    def recover(self) -> list[str]:
        """Give up the trials of dead workers, and queue their points again, once; what was done, for people."""
        done = []
        for trial in self.trials(TrialState.RUNNING):
            if trial.number in self.held or not self._is_lost(trial):
                continue
            if RETRY in trial.user_attrs:
                if self._fail_for_good(trial):
                    done.append(f"trial {trial.number} lost its worker a second time; not tried again")
            elif self._void(trial, "lost: its worker died", again=False):
                point = self._point(trial)
                if point is not None:
                    self.study.enqueue_trial(point, user_attrs={RETRY: trial.number})
                done.append(f"trial {trial.number} lost its worker" + ("; queued again" if point is not None else ""))
        return done

    def _fail_for_good(self, trial: FrozenTrial) -> bool:
        storage = self.study._storage
        why = f"lost: its worker died, as that of trial {trial.user_attrs[RETRY]} at the same point"
        try:
            storage.set_trial_user_attr(trial._trial_id, TRANSIENT, why)
            storage.set_trial_state_values(trial._trial_id, state=TrialState.FAIL)
        except UpdateFinishedTrialError:
            return False
        return True
