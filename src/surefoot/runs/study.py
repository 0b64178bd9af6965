"""The study of a problem: made or found again, how far it is, and whether its objective is still the same."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

import optuna
from optuna.storages import RDBStorage
from optuna.study import Study
from optuna.trial import FrozenTrial, TrialState

from surefoot.errors import InvalidInputError
from surefoot.integrations.optuna_history import (
    FORGOTTEN,
    STUDY,
    WAS,
    fallbacks_of,
    is_outside,
    is_void,
    reason_of,
    trials_of,
)
from surefoot.runs.claims import RunSampler
from surefoot.runs.contents import digests_of, files_of
from surefoot.runs.ends import change_attributes
from surefoot.runs.judge import Judge
from surefoot.runs.problem import Problem
from surefoot.runs.versions import changed_parameters

CHANGES = "surefoot:changes"  # user attribute of a study: when its objective changed, after which trial, and what

_MOST_CHANGES = 50
_MOST_REASONS = 3  # of the last failures


class Reporter(Protocol):
    """Who is told how it goes."""

    def progress(self, counts: Counts) -> None:
        """The state after something ended."""

    def note(self, text: str) -> None:
        """Something a person wants to know."""

    def saved(self, study: Study) -> None:
        """Ends have been reported and are on the disk."""


@dataclass(frozen=True)
class Counts:
    """How far a study is."""

    n_evals: int
    finished: int
    failed: int
    running: int
    best: float | None  # within the limits on outputs and the known constraints
    forgotten: int = 0  # trials that the user took out
    fallbacks: int = 0  # evaluations at random points because the engine failed
    outside: int = 0  # evaluations that parameters changed since do not have
    queued: int = 0  # points that wait to be evaluated
    reasons: tuple[str, ...] = ()  # of the last failures, the latest last


def open_study(problem: Problem, storage: RDBStorage, note: Callable[[str], None] = lambda text: None) -> Study:
    """The problem's study, made if it is not there; an error if it is one of another problem."""
    settings = dict(problem.to_json()["settings"])
    sampler = RunSampler(problem.parameters, constraints=problem.constraints or None, device=problem.device, **settings)
    study = optuna.create_study(
        storage=storage, study_name=problem.name, direction=problem.direction, sampler=sampler, load_if_exists=True
    )
    check_same_problem(study, problem)
    note_changes(study, problem, note)
    return study


def note_changes(study: Study, problem: Problem, note: Callable[[str], None]) -> None:
    """Say what has changed since the study's last run, or since this one began, and keep it with the study."""
    moved, changes = changed_parameters(study, problem), changes_of(study, problem)
    if moved:
        note(f"the parameters have changed since this study was begun: {'; '.join(moved)}")
    if changes:
        finished = counts_of(study, problem.n_evals).finished
        note(f"the objective has changed since this study was begun: {'; '.join(changes)}")
        if finished:
            note(
                f"the {finished} evaluations so far count and are learned from; "
                f"surefoot forget takes out those that should not be"
            )
    n_trials = len(study.get_trials(deepcopy=False))
    entry = {"when": datetime.now().isoformat(timespec="seconds"), "trials": n_trials, "changes": moved + changes}

    def change(attributes: dict[str, Any]) -> dict[str, Any]:
        before, now = attributes.get(STUDY) or {}, _about(problem)
        if moved or WAS in before:
            now[WAS] = {**before.get(WAS, {}), **problem.was}
        told = {CHANGES: [*(attributes.get(CHANGES) or []), entry][-_MOST_CHANGES:]} if entry["changes"] else {}
        return told if before == now else {**told, STUDY: now}

    change_attributes(study, change)  # both at once: otherwise a run that is killed now would tell it twice


def _about(problem: Problem) -> dict[str, Any]:
    """What the study keeps of the problem."""
    table = problem.evaluator.to_json()
    here = str(problem.folder)  # a folder that was moved, or is mounted elsewhere, is no change
    table["command"] = [argument.replace(here, "{here}") for argument in table.get("command") or []]
    # a value may be a secret: only whether it changes is kept
    hidden = {k: hashlib.sha256(str(v).encode()).hexdigest()[:16] for k, v in (table.get("environment") or {}).items()}
    contents = digests_of(files_of(problem.evaluator, problem.folder))
    return {**problem.to_json(), "objective_table": {**table, "environment": hidden, "contents": contents}}


def changes_of(study: Study, problem: Problem) -> list[str]:
    """What has changed in the objective since the study's last run, for people."""
    before: dict[str, Any] = study.user_attrs.get(STUDY) or {}
    now = _about(problem)
    old, new = before.get("objective_table"), now["objective_table"]
    if old is None:  # a study of an earlier version
        was = before.get("objective", now["objective"])
        return [] if was == now["objective"] else [f"it was {was!r}, it is {now['objective']!r}"]
    was, is_now = (about.get("constraints") or {} for about in (before, now))
    changes = [] if was == is_now else [f"constraints were {_told(was)}, are {_told(is_now)}"]
    was, is_now = ((about.get("settings") or {}).get("outputs") or {} for about in (before, now))
    changes += [] if was == is_now else [f"limits on outputs were {_told(was)}, are {_told(is_now)}"]
    for key in [key for key in old if key in new and old[key] != new[key]]:  # other versions have other keys
        if key == "contents":  # what came or went is told as a change of the command, of copy or of link
            names = sorted(k for k in old[key].keys() & new[key].keys() if old[key][k] != new[key][k])
            changes += [f"other contents of {', '.join(names)}"] if names else []
        elif key in ("environment", "files", "results"):
            names = sorted(k for k in {**old[key], **new[key]} if old[key].get(k) != new[key].get(k))
            changes.append(f"{key}: {', '.join(names)}")
        else:
            changes.append(f"{key} was {_shown(old[key])}, is {_shown(new[key])}")
    return changes


def _told(constraints: dict[str, str]) -> str:
    return ", ".join(constraints.values()) or "none"


def _shown(value: Any) -> str:
    return " ".join(map(str, value)) if isinstance(value, list) else "none" if value in (None, "") else str(value)


def check_same_problem(study: Study, problem: Problem) -> None:
    """Raise if the study is somebody else's, or was begun with the other direction."""
    # its trials first: another run may begin it between the two looks, and writes what it is about before any trial
    begun = bool(study.get_trials(deepcopy=False))
    about: dict[str, Any] | None = study.user_attrs.get(STUDY)
    if about is None and begun:
        raise InvalidInputError(
            f"expected a study made by surefoot run; {problem.name!r} in this storage is another's; try another name"
        )
    if about is not None and study.direction.name.lower() != problem.direction:
        raise InvalidInputError(
            f"expected the direction that study {problem.name!r} was begun with; got {problem.direction!r}; "
            "try another name in the problem file"
        )


def _last_failed(finished: Sequence[FrozenTrial]) -> list[FrozenTrial]:
    """The trials that failed last, by when they ended."""
    failed = [t for t in finished if t.state == TrialState.FAIL and t.datetime_complete is not None]
    return sorted(failed, key=lambda t: (t.datetime_complete or datetime.min, t.number))[-_MOST_REASONS:]


def counts_of(study: Study, n_evals: int, trials: Sequence[FrozenTrial] | None = None) -> Counts:
    """How far it is, all workers together; `trials` if they have just been read (by `trials_of`)."""
    found = trials_of(study) if trials is None else trials
    counted = [t for t in found if not is_void(t)]
    finished = [t for t in counted if t.state.is_finished()]
    complete = [(t, t.value) for t in finished if t.state == TrialState.COMPLETE and t.value is not None]
    judge = Judge(study)
    values = [value for t, value in complete if judge.is_within(t)]
    return Counts(
        n_evals=n_evals,
        finished=len(finished),
        failed=len(finished) - len(complete),
        running=sum(t.state == TrialState.RUNNING for t in counted),
        best=None if not values else (max if study.direction.name == "MAXIMIZE" else min)(values),
        forgotten=sum(FORGOTTEN in t.user_attrs for t in found),
        fallbacks=len(fallbacks_of(counted)),
        queued=sum(t.state == TrialState.WAITING for t in counted),
        outside=sum(is_outside(t) and t.state.is_finished() for t in found),
        reasons=tuple(f"trial {t.number}: {reason_of(t)}" for t in _last_failed(finished)),
    )


def told_if_used_up(counts: Counts) -> str:
    """A study that has its evaluations begins none, not even of points that were added: how to go on, for people."""
    n, n_evals = counts.finished, counts.n_evals
    if n < n_evals:
        return ""
    more = f", and {n - n_evals} more" if n > n_evals else ""
    waiting = f", {counts.queued} queued point{'s wait' if counts.queued > 1 else ' waits'}" if counts.queued else ""
    return (
        f"all {n_evals} evaluations are there{more}{waiting}: none is begun; "
        f"try n_evals = {n + (counts.queued or 10)} in the problem file to go on"
    )
