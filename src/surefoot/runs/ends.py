"""The end of a trial in one transaction: attributes, values, state, and the trial that is queued in its place.

Optuna writes them one by one. A process that dies in between, or two that end a trial at once, would leave a trial that
counts and is queued again. So this file uses Optuna's own steps within one of its sessions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from optuna import create_trial
from optuna.storages import RDBStorage
from optuna.storages._rdb import models
from optuna.storages._rdb.storage import _create_scoped_session
from optuna.study import Study
from optuna.trial import FrozenTrial, TrialState

from surefoot.integrations.optuna_space import Distributions

Point = Mapping[str, Any]


def _backend(study: Study) -> RDBStorage:
    return study._storage._backend  # type: ignore[attr-defined,no-any-return]  # behind Optuna's cache


def waiting(point: Point, attributes: Mapping[str, Any]) -> FrozenTrial:
    """A trial to be queued, as `study.enqueue_trial` makes it."""
    fixed = {"fixed_params": dict(point)}
    return create_trial(state=TrialState.WAITING, system_attrs=fixed, user_attrs=dict(attributes))


@dataclass(frozen=True)
class End:
    """How a trial ended."""

    state: TrialState
    attributes: Mapping[str, Any]
    value: float | None = None


@dataclass(frozen=True)
class Place:
    """The point of a trial."""

    point: Point
    distributions: Distributions


def end_trial(
    study: Study, trial_id: int, end: End, *, place: Place | None = None, queue: FrozenTrial | None = None
) -> bool:
    """End a trial that has not ended; False if it has, and then nothing is written.

    place  its parameters, if it may not have them yet
    queue  the trial that takes its place
    """
    backend = _backend(study)
    with _create_scoped_session(backend.scoped_session) as session:
        # the study first: whoever creates a trial locks it, and two orders of locks would block each other
        models.StudyModel.find_or_raise_by_id(study._study_id, session, for_update=queue is not None)
        trial = models.TrialModel.find_or_raise_by_id(trial_id, session, for_update=True)
        if trial.state.is_finished():
            return False
        known = {row.param_name for row in trial.params}
        for name, given in place.point.items() if place is not None else ():
            if place is not None and name not in known:
                distribution = place.distributions[name]
                internal = distribution.to_internal_repr(given)
                backend._set_trial_param_without_commit(session, trial_id, name, internal, distribution)
        for key, text in end.attributes.items():
            backend._set_trial_attr_without_commit(session, models.TrialUserAttributeModel, trial_id, key, text)
        if end.value is not None:
            backend._set_trial_value_without_commit(session, trial, 0, end.value)
        now = datetime.now()
        trial.datetime_start = trial.datetime_start or now
        trial.datetime_complete = now
        trial.state = end.state
        if queue is not None:
            backend._get_prepared_new_trial(study._study_id, queue, session)
    return True


def add_ended(study: Study, end: End, place: Place) -> None:
    """A trial of its own for a result whose trial ended before."""
    template = create_trial(
        state=end.state,
        value=end.value,
        params=dict(place.point),
        distributions=dict(place.distributions),
        user_attrs=dict(end.attributes),
    )
    study._storage.create_new_trial(study._study_id, template_trial=template)
