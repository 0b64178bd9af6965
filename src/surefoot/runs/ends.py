"""What is written in one transaction: the end of a trial, a table of trials from elsewhere, attributes of the study.

The end of a trial is attributes, values, state, and the trial that is queued in its place. Optuna writes them one by
one. A process that dies in between, or two that end a trial at once, would leave a trial that counts and is queued
again. So this file uses Optuna's own steps within one of its sessions.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, cast

from optuna import create_trial
from optuna.distributions import distribution_to_json
from optuna.storages import RDBStorage
from optuna.storages._cached_storage import _CachedStorage
from optuna.storages._rdb import models
from optuna.storages._rdb.storage import _create_scoped_session
from optuna.study import Study
from optuna.trial import FrozenTrial, TrialState

from surefoot.integrations.optuna_outputs import CONSTRAINT
from surefoot.integrations.optuna_space import Distributions

Point = Mapping[str, Any]


def backend_of(study: Study) -> RDBStorage:
    """The database of a study, behind Optuna's cache."""
    return cast(_CachedStorage, study._storage)._backend


def waiting(point: Point, attributes: Mapping[str, Any]) -> FrozenTrial:
    """A trial to be queued, as `study.enqueue_trial` makes it."""
    fixed = {"fixed_params": dict(point)}
    return create_trial(state=TrialState.WAITING, system_attrs=fixed, user_attrs=dict(attributes))


@dataclass(frozen=True)
class Ending:
    """How a trial ends; without a value it has failed."""

    attributes: Mapping[str, Any]
    value: float | None = None
    point: Point = field(default_factory=dict)  # its parameters, if it may not have them yet
    distributions: Distributions = field(default_factory=dict)  # theirs

    @property
    def state(self) -> TrialState:
        """Of the trial."""
        return TrialState.FAIL if self.value is None else TrialState.COMPLETE


def is_system(key: str) -> bool:
    """Whether an attribute is one of Optuna's own."""
    return key.startswith(CONSTRAINT)


def end_trial(study: Study, trial_id: int, ending: Ending, queue: FrozenTrial | None = None) -> bool:
    """End a trial that has not ended, and queue the one that takes its place; False if it has: nothing is written."""
    backend = backend_of(study)
    with _create_scoped_session(backend.scoped_session) as session:
        # the study first: whoever creates a trial locks it, and two orders of locks would block each other
        models.StudyModel.find_or_raise_by_id(study._study_id, session, for_update=queue is not None)
        trial = models.TrialModel.find_or_raise_by_id(trial_id, session, for_update=True)
        if trial.state.is_finished():
            return False
        known = {row.param_name for row in trial.params}
        for name, given in ending.point.items():
            if name not in known:
                distribution = ending.distributions[name]
                internal = distribution.to_internal_repr(given)
                backend._set_trial_param_without_commit(session, trial_id, name, internal, distribution)
        for key, text in ending.attributes.items():
            kind = models.TrialSystemAttributeModel if is_system(key) else models.TrialUserAttributeModel
            backend._set_trial_attr_without_commit(session, kind, trial_id, key, text)
        if ending.value is not None:
            backend._set_trial_value_without_commit(session, trial, 0, ending.value)
        now = datetime.now()
        trial.datetime_start = trial.datetime_start or now
        trial.datetime_complete = now
        trial.state = ending.state
        if queue is not None:
            backend._get_prepared_new_trial(study._study_id, queue, session)
    return True


def take_over(study: Study, trial_id: int, key: str, was: Any, now: Any) -> bool:
    """Replace a system attribute of a running trial if it is what it was; whether it was we who did."""
    backend = backend_of(study)
    kind = models.TrialSystemAttributeModel
    with _create_scoped_session(backend.scoped_session) as session:
        trial = models.TrialModel.find_or_raise_by_id(trial_id, session, for_update=True)
        row = kind.find_by_trial_and_key(trial, key, session)
        if trial.state != TrialState.RUNNING or (None if row is None else json.loads(str(row.value_json))) != was:
            return False
        backend._set_trial_attr_without_commit(session, kind, trial_id, key, now)
    return True


def set_once(study: Study, key: str, value: str) -> str:
    """A user attribute of the study that is never changed: what it is, or is from now on."""
    kind = models.StudyUserAttributeModel
    with _create_scoped_session(backend_of(study).scoped_session) as session:
        row = models.StudyModel.find_or_raise_by_id(study._study_id, session, for_update=True)
        known = kind.find_by_study_and_key(row, key, session)
        if known is not None:
            return str(json.loads(str(known.value_json)))
        session.add(kind(study_id=study._study_id, key=key, value_json=json.dumps(value)))
    return value


def add_ended(study: Study, ending: Ending) -> None:
    """A trial of its own for a result whose trial ended before."""
    template = create_trial(
        state=ending.state,
        value=ending.value,
        params=dict(ending.point),
        distributions=dict(ending.distributions),
        user_attrs={key: told for key, told in ending.attributes.items() if not is_system(key)},
        system_attrs={key: told for key, told in ending.attributes.items() if is_system(key)},
    )
    study._storage.create_new_trial(study._study_id, template_trial=template)


def add_together(study: Study, templates: Sequence[FrozenTrial], n_known: int) -> bool:
    """Add trials, all or none; False if the study has other trials than the n_known that were looked at before."""
    with _create_scoped_session(backend_of(study).scoped_session) as session:
        models.StudyModel.find_or_raise_by_id(study._study_id, session, for_update=True)
        trials = session.query(models.TrialModel).filter(models.TrialModel.study_id == study._study_id)
        if trials.count() != n_known:
            return False
        # rows of all at once: Optuna's own step takes 15 ms for each trial, while every worker waits
        rows = [
            models.TrialModel(
                study_id=study._study_id,
                number=number,
                state=template.state,
                datetime_start=template.datetime_start,
                datetime_complete=template.datetime_complete,
            )
            for number, template in enumerate(templates, n_known)
        ]
        session.add_all(rows)
        session.flush()
        for row, template in zip(rows, templates, strict=True):
            session.add_all(_parts_of(template, int(row.trial_id)))
    return True


def _parts_of(template: FrozenTrial, trial_id: int) -> Iterator[models.BaseModel]:
    """What a trial has in other tables than that of trials."""
    for name, value in template.params.items():
        d = template.distributions[name]
        told = {"param_value": d.to_internal_repr(value), "distribution_json": distribution_to_json(d)}
        yield models.TrialParamModel(trial_id=trial_id, param_name=name, **told)
    if template.value is not None:
        stored, kind = models.TrialValueModel.value_to_stored_repr(template.value)
        yield models.TrialValueModel(trial_id=trial_id, objective=0, value=stored, value_type=kind)
    for key, told in template.user_attrs.items():
        yield models.TrialUserAttributeModel(trial_id=trial_id, key=key, value_json=json.dumps(told))
    for key, told in template.system_attrs.items():
        yield models.TrialSystemAttributeModel(trial_id=trial_id, key=key, value_json=json.dumps(told))


def change_attributes(study: Study, change: Callable[[dict[str, Any]], Mapping[str, Any]]) -> None:
    """Write user attributes of the study that depend on what they are; `change` gets all, returns those to write."""
    kind = models.StudyUserAttributeModel
    with _create_scoped_session(backend_of(study).scoped_session) as session:
        row = models.StudyModel.find_or_raise_by_id(study._study_id, session, for_update=True)
        known = {str(one.key): one for one in kind.where_study_id(study._study_id, session)}
        for key, value in change({key: json.loads(str(one.value_json)) for key, one in known.items()}).items():
            if key in known:
                known[key].value_json = json.dumps(value)
            else:
                session.add(kind(study_id=row.study_id, key=key, value_json=json.dumps(value)))
