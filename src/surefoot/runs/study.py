"""The study of a problem: made or found again, and how far it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import optuna
from optuna.storages import RDBStorage
from optuna.study import Study
from optuna.trial import TrialState

from surefoot.errors import InvalidInputError, SpaceExhaustedError
from surefoot.integrations.optuna import SurefootSampler
from surefoot.integrations.optuna_history import STUDY, is_void
from surefoot.runs.problem import Problem


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
    best: float | None


class _RunSampler(SurefootSampler):
    """In a run an exhausted space is the end, not a reason for random points."""

    def _cannot_suggest(self, error: Exception) -> None:
        if isinstance(error, SpaceExhaustedError):
            raise error
        super()._cannot_suggest(error)


def open_study(problem: Problem, storage: RDBStorage) -> Study:
    """The problem's study, made if it is not there; an error if it is one of another problem."""
    settings = dict(problem.to_json()["settings"])
    sampler = _RunSampler(problem.parameters, **settings)
    study = optuna.create_study(
        storage=storage, study_name=problem.name, direction=problem.direction, sampler=sampler, load_if_exists=True
    )
    about: dict[str, Any] | None = study.user_attrs.get(STUDY)
    if about is None and study.get_trials(deepcopy=False):
        raise InvalidInputError(
            f"expected a study made by surefoot run; {problem.name!r} in this storage is another's; try another name"
        )
    if about is not None:
        before, now = about["parameters"], problem.to_json()["parameters"]
        if before != now or study.direction.name.lower() != problem.direction:
            changed = sorted({*before, *now} - {k for k in before if before.get(k) == now.get(k)}) or ["direction"]
            raise InvalidInputError(
                f"expected the parameters and direction that study {problem.name!r} was begun with; "
                f"got others for {', '.join(changed)}; try another name in the problem file"
            )
    if about != problem.to_json():
        study.set_user_attr(STUDY, problem.to_json())
    return study


def counts_of(study: Study, n_evals: int) -> Counts:
    """How far it is, all workers together."""
    trials = [t for t in study.get_trials(deepcopy=False) if not is_void(t)]
    finished = [t for t in trials if t.state.is_finished()]
    values = [t.value for t in finished if t.state == TrialState.COMPLETE and t.value is not None]
    best = None if not values else (max if study.direction.name == "MAXIMIZE" else min)(values)
    running = sum(t.state == TrialState.RUNNING for t in trials)
    return Counts(n_evals, len(finished), len(finished) - len(values), running, best)
