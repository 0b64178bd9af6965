"""Who evaluates which trial: claims that never exceed the budget, heartbeats, lost workers, late results.

Budget  Trial numbers are given out one by one by the storage. A trial may be evaluated if fewer than n_evals trials
        with lower numbers count, and a trial that counts no more (VOID) never counts again; so at no time are more than
        n_evals that count begun, however many processes claim at once, and no lock is needed.
Order   Before a suggestion is made, all trials with lower numbers must have published theirs: numbers are tickets. So
        every suggestion sees all points under way, and no two workers get the same one.
Life    A trial under way carries its owner (machine, process, start of the process) and a count that the owner raises
        every heartbeat_s. An owner on this machine is dead when its process is; one elsewhere, or one that was stopped,
        when the count has not moved for PATIENCE heartbeats by the observer's own clock: clocks are never compared.
        Only time counts in which the observer could read: after a gap (an outage, a pause of its own) every clock
        starts anew. (Optuna's heartbeat works inside study.optimize only, and needs the database's clock.)
Lost    The trial of a dead owner becomes VOID, and its point is queued again, in one transaction (ends.py): once. Lost
        a second time it is a transient failure, which counts and teaches nothing: perhaps the point kills workers.
        Jobs of a cluster outlive their owner: a run on the cluster takes such trials over as they are (`adopt`).
Late    An owner that was given up may live, and its evaluation end after all. Its result ends the trial that has taken
        the place of its own (AGAIN leads there), be it waiting or under way elsewhere: no more is begun than the budget
        allows, and the point counts once. Where that trial has ended, the result becomes a trial of its own: REPEATED,
        kept but not counted, if the point has its result; otherwise it counts, INSTEAD of the transient failure.
"""

from __future__ import annotations

import math
import time
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import optuna
from optuna.exceptions import UpdateFinishedTrialError
from optuna.study import Study
from optuna.trial import FrozenTrial, Trial, TrialState

from surefoot.errors import DeviceMemoryError, SpaceExhaustedError, SuggestionError, encodable
from surefoot.integrations.optuna import SurefootSampler
from surefoot.integrations.optuna_history import (
    AGAIN,
    INSTEAD,
    OUTPUT,
    REPEATED,
    TRANSIENT,
    VOID,
    is_taken_out,
    is_void,
    point_of,
    published,
    trials_of,
    was_evaluated,
)
from surefoot.integrations.optuna_space import Distributions, engine_space, from_engine
from surefoot.runs.ends import Ending, add_ended, end_trial, take_over, waiting
from surefoot.runs.owners import Owner, is_same, myself, surely_dead
from surefoot.runs.storage import reading

OWNER = "surefoot:owner"  # system attribute of a trial: who evaluates it
RETRY = "surefoot:retry_of"  # user attribute: the number of the lost trial that it repeats
LATE = "surefoot:late_from"  # user attribute: the number of the given-up trial whose result this is
PATIENCE = 6  # heartbeats without a sign of life
_GAP = 3  # heartbeats without a successful look, after which silence is counted anew
_TURN_POLL_S = 0.02
_RECENT_S = 0.1


class RunSampler(SurefootSampler):
    """In a run an engine that fails is an error, not a reason for random points; trials are not read twice."""

    snapshot: list[FrozenTrial] | None = None

    def _trials(self, study: Study) -> list[FrozenTrial]:
        return self.snapshot if self.snapshot is not None else super()._trials(study)

    def _cannot_suggest(self, study: Study, trial: FrozenTrial, error: Exception) -> None:
        if isinstance(error, (SpaceExhaustedError, DeviceMemoryError)):
            raise error
        where = traceback.extract_tb(error.__traceback__)[-1]
        raise SuggestionError(
            f"expected a suggestion for trial {trial.number}; got {type(error).__name__}: {error} "
            f"({where.filename}:{where.lineno}), a defect of surefoot; every evaluation is kept; "
            'try reporting this with the database, and policy = "RND" or another kernel to go on'
        ) from error


@dataclass
class Claims:
    """The claims of this process on the trials of a study. The heart's thread calls `beat` and `watch`."""

    study: Study
    parameters: Distributions
    n_evals: int
    heartbeat_s: float
    me: Owner = field(default_factory=myself)
    held: dict[int, int] = field(default_factory=dict)  # numbers of the trials under way here: their ids
    _latest: list[FrozenTrial] = field(default_factory=list)
    _fresh: bool = False  # whether _latest is as we left the storage
    _read_at: float = -math.inf
    _seen: dict[int, tuple[Any, float]] = field(default_factory=dict)  # id: (last sign of life, when by our clock)

    def trials(self) -> list[FrozenTrial]:
        """All trials of the study, as they are in the storage now."""
        with reading():
            trials = trials_of(self.study)
        now = time.monotonic()
        if now - self._read_at > _GAP * self.heartbeat_s:
            self._seen.clear()
        self._latest, self._read_at, self._fresh = trials, now, True
        return trials

    def _recent_trials(self) -> list[FrozenTrial]:
        """As they were a moment ago: enough to decide what to try, for what is taken is checked again."""
        return self._latest if self._fresh and time.monotonic() - self._read_at < _RECENT_S else self.trials()

    def claim(self, stop: Callable[[], bool] = lambda: False) -> Trial | None:
        """A trial to evaluate, with its parameters; None if the budget is used up or under way, or `stop` says so."""
        trials = self._recent_trials()  # a read costs several queries
        trial = self._take_waiting(trials) or self._create(trials)
        if trial is None:
            return None
        try:
            now = self._await_turn(trial.number, stop)
            if now is None:
                self.release(trial.number, "interrupted before it began", again=True)
                return None
            if not self._may(now, trial.number):
                self.release(trial.number, "surplus: others had claimed the rest of the budget")
                return None
            if isinstance(self.study.sampler, RunSampler):
                self.study.sampler.snapshot = now
            for name, distribution in self.parameters.items():
                trial._suggest(name, distribution)
        except (DeviceMemoryError, SpaceExhaustedError, SuggestionError) as error:
            self.release(trial.number, "surplus: the space is exhausted" if isinstance(error, SpaceExhaustedError)
                         else "not evaluated: no suggestion could be made")  # fmt: skip
            raise
        except UpdateFinishedTrialError:  # we were silent for too long, and others gave it up
            self.held.pop(trial.number, None)
            return None
        except Exception:  # the connection broke, say; `recover` will find the trial
            self.held.pop(trial.number, None)
            raise
        return trial

    def _may(self, trials: list[FrozenTrial], number: int) -> bool:
        return sum(t.number < number and not is_void(t) for t in trials) < self.n_evals

    def _take_waiting(self, trials: list[FrozenTrial]) -> Trial | None:
        for found in trials:
            if found.state != TrialState.WAITING or is_taken_out(found) or not self._may(trials, found.number):
                continue
            try:
                if self.study._storage.set_trial_state_values(found._trial_id, state=TrialState.RUNNING):
                    self.held[found.number] = found._trial_id
                    self._show_life(found._trial_id)
                    trial = Trial(self.study, found._trial_id)
                    trial._fixed_params = found.system_attrs.get("fixed_params") or {}  # as parameters are today
                    return trial
            except UpdateFinishedTrialError:
                self.held.pop(found.number, None)
        return None

    def _create(self, trials: list[FrozenTrial]) -> Trial | None:
        if sum(not is_void(t) for t in trials) >= self.n_evals:
            return None
        # created with its owner in one transaction: a process killed now leaves no trial that nobody owns
        template = optuna.create_trial(state=TrialState.RUNNING, system_attrs={OWNER: self.me})
        trial = Trial(self.study, self.study._storage.create_new_trial(self.study._study_id, template_trial=template))
        self.held[trial.number] = trial._trial_id
        return trial

    def _await_turn(self, number: int, stop: Callable[[], bool]) -> list[FrozenTrial] | None:
        """Wait until all trials before have a point; all trials then, or None if told to stop."""
        while not stop():
            trials = self.trials()
            before = [
                t for t in trials if t.number < number and t.state == TrialState.RUNNING and not self._has_point(t)
            ]
            if all(t.number in self.held or self._is_lost(t) for t in before):
                return trials
            time.sleep(_TURN_POLL_S)
        return None

    def _has_point(self, trial: FrozenTrial) -> bool:
        known = {*trial.params, *published(trial), *(trial.system_attrs.get("fixed_params") or {})}
        return self.parameters.keys() <= known

    # --- ends

    def end(self, number: int, point: Mapping[str, Any], value: float | None, attributes: Mapping[str, Any]) -> str:
        """Report a result (a failure: no value); what became of it, for people, if its trial had been given up."""
        ending = Ending(attributes, value, point, self.parameters)
        trial_id = self.held.pop(number, None)
        self._fresh = False
        try:
            if trial_id is not None and end_trial(self.study, trial_id, ending):
                return ""
        except Exception:
            if trial_id is not None:
                self.held[number] = trial_id
            raise
        return self._end_late(number, ending)

    def _end_late(self, number: int, ending: Ending) -> str:
        told = ending.attributes
        while True:
            trials = {t.number: t for t in self.trials()}
            ours = [t for t in trials.values() if number in (t.number, t.user_attrs.get(LATE))]
            if any(t.state.is_finished() and t.user_attrs.get(OUTPUT) == told[OUTPUT] for t in ours):
                return ""  # reported before a connection broke
            heir = _heir(trials, number)
            if heir is None or heir.state.is_finished():
                break
            late = ending if heir.number == number else replace(ending, attributes={**told, LATE: number})
            if end_trial(self.study, heir._trial_id, late):
                return f"trial {number} had been given up; its result came after all and counts as trial {heir.number}"
        has_result = heir is not None and was_evaluated(heir) and TRANSIENT not in heir.user_attrs
        mark = {} if heir is None or is_void(heir) else {REPEATED if has_result else INSTEAD: heir.number}
        add_ended(self.study, replace(ending, attributes={**told, LATE: number, **mark}))
        counted = "kept, not counted: the point has been evaluated again" if has_result else "counts as another trial"
        return f"trial {number} had been given up; its result came after all and is {counted}"

    def release(self, number: int, why: str, *, again: bool = False) -> None:
        """Give a trial back unevaluated, if it is ours still; `again`: queue its point for whoever comes next."""
        trial_id = self.held.get(number)
        if trial_id is not None:
            self._void(self.study._storage.get_trial(trial_id), why, again)
        self.held.pop(number, None)

    def _void(self, trial: FrozenTrial, why: str, again: bool, attributes: dict[str, Any] | None = None) -> bool:
        """Whether it was we who ended it."""
        self._fresh = False
        point = self._point(trial) if again else None
        queue = None
        if point is not None:
            kept = {RETRY: trial.user_attrs[RETRY]} if RETRY in trial.user_attrs else {}
            queue = waiting(point, {**kept, **(attributes or {}), AGAIN: trial.number})
        return end_trial(self.study, trial._trial_id, Ending({VOID: encodable(why)}), queue)

    def _point(self, trial: FrozenTrial) -> dict[str, Any] | None:
        space = engine_space(self.parameters)
        values = point_of(trial, self.parameters, space)
        if values is None:
            return None
        return {name: from_engine(d, v) for (name, d), v in zip(self.parameters.items(), values, strict=True)}

    # --- life

    def _show_life(self, trial_id: int) -> None:
        self.study._storage.set_trial_system_attr(trial_id, OWNER, self.me)

    def beat(self) -> None:
        """Show that this process lives, for every trial it holds."""
        self.me = {**self.me, "beat": self.me["beat"] + 1}
        for number, trial_id in list(self.held.items()):
            try:
                self._show_life(trial_id)
            except UpdateFinishedTrialError:  # it has just ended, or was given up by others while we were silent
                self.held.pop(number, None)

    def watch(self) -> None:
        """Look for signs of life of the others."""
        for trial in self.trials():
            if trial.state == TrialState.RUNNING and trial.number not in self.held:
                self._is_lost(trial)

    def _is_lost(self, trial: FrozenTrial) -> bool:
        owner = trial.system_attrs.get(OWNER)
        if owner is not None and is_same(owner, self.me):
            return trial.number not in self.held  # created by a call that then failed
        if owner is not None and surely_dead(owner):
            return True
        now = time.monotonic()
        sign, since = self._seen.get(trial._trial_id, (None, math.inf))
        if since == math.inf or sign != owner:
            self._seen[trial._trial_id] = (owner, now)
            return False
        return now - since > PATIENCE * self.heartbeat_s

    def _has_begun(self, trial: FrozenTrial) -> bool:
        """Whether it may have been evaluated; else its point cannot have killed its worker."""
        return self.parameters.keys() <= trial.params.keys()

    def adopt(self) -> list[FrozenTrial]:
        """Take over the trials of dead workers whose evaluations go on without them, in jobs of a cluster."""
        taken = []
        for trial in self.trials():
            if trial.state != TrialState.RUNNING or trial.number in self.held:
                continue
            if not self._has_begun(trial) or not self._is_lost(trial):
                continue
            if take_over(self.study, trial._trial_id, OWNER, trial.system_attrs.get(OWNER), self.me):
                self.held[trial.number] = trial._trial_id
                taken.append(trial)
        return taken

    def recover(self, *, leave: bool = False) -> list[str]:
        """Give up the trials of dead workers, and queue their points again, once; what was done, for people.

        `leave`: not those that `adopt` may take over, whose worker may have died since it looked.
        """
        done = []
        for trial in self.trials():
            if trial.state != TrialState.RUNNING or trial.number in self.held or not self._is_lost(trial):
                continue
            began = self._has_begun(trial)
            if began and leave:
                continue
            if began and RETRY in trial.user_attrs:
                why = f"lost: its worker died, as that of trial {trial.user_attrs[RETRY]} at the same point"
                if end_trial(self.study, trial._trial_id, Ending({TRANSIENT: why})):
                    done.append(f"trial {trial.number} lost its worker a second time; not tried again")
                continue
            retry = {RETRY: trial.number} if began else None
            if self._void(trial, "lost: its worker died", again=True, attributes=retry):
                again = "; queued again" if self._point(trial) is not None else ""  # it may not have had a point yet
                done.append(f"trial {trial.number} lost its worker{again}")
        return done


def _heir(trials: Mapping[int, FrozenTrial], number: int) -> FrozenTrial | None:
    """The trial that stands for the point of trial `number` now: itself, or the last that took its place."""
    heirs = {t.user_attrs[AGAIN]: t.number for t in trials.values() if AGAIN in t.user_attrs}
    while number in heirs:
        number = heirs[number]
    return trials.get(number)
