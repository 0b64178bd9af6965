"""Named outputs in Optuna studies of one's own."""

import math

import optuna
import pytest
from optuna.trial import TrialState

from surefoot import Failed
from surefoot.errors import InvalidInputError, SurefootWarning
from surefoot.integrations.optuna import REASON, SurefootSampler, guarded, result_of
from surefoot.integrations.optuna_outputs import OUTPUTS
from surefoot.runs.tables import trial_rows


def beam(trial):
    a = trial.suggest_float("a", -1.0, 1.0)
    if a > 0.5:
        raise Failed("diverged", outputs={"stress": 3.0}, progress=0.25)
    return {"mass": a * a, "stress": math.nan if a < -0.5 else math.inf if a < 0 else 2.0 * a}


def test_a_guarded_objective_may_return_outputs() -> None:
    study = optuna.create_study(sampler=SurefootSampler(n_init=8))
    study.optimize(guarded(beam, name="mass"), n_trials=12, catch=(Exception,))
    history = result_of(study).history
    history.check()
    assert history.outputs == ("mass", "stress")
    assert {e.status for e in history.evaluations} == {"ok", "failed"}
    for e in history.evaluations:
        (a,) = e.x
        if e.ok:
            assert e.outputs["mass"] == a * a
            expected = math.nan if a < -0.5 else math.inf if a < 0 else 2.0 * a
            assert e.outputs["stress"] == pytest.approx(expected, nan_ok=True)
        else:
            assert (e.reason, e.outputs, e.progress) == ("diverged", {"stress": 3.0}, 0.25)


def test_outputs_change_no_suggestion() -> None:
    def points(objective, **name):
        study = optuna.create_study(sampler=SurefootSampler(n_init=6))
        study.optimize(guarded(objective, **name), n_trials=12, catch=(Exception,))
        return [t.params for t in study.trials]

    def alone(trial):
        found = beam(trial)
        return found["mass"]

    assert points(beam, name="mass") == points(alone)


@pytest.mark.parametrize(
    "written", [3, [], {}, {"outputs": 3}, {"outputs": {"a": "b", "": 1.0}}, {"objective": 3, "progress": "half"}]
)
def test_what_anybody_else_has_written_there_is_nothing(written: object) -> None:
    study = optuna.create_study()
    trial = study.ask()
    trial.suggest_float("a", 0.0, 1.0)
    trial.set_user_attr(OUTPUTS, written)
    study.tell(trial, 1.0)
    history = result_of(study).history
    history.check()
    assert history.evaluations[0].outputs == {"value": 1.0}
    assert "output.a" not in trial_rows(study)[0]


def test_outputs_can_be_set_by_hand() -> None:
    study = optuna.create_study()
    for state in (TrialState.COMPLETE, TrialState.FAIL):
        trial = study.ask()
        trial.suggest_float("a", 0.0, 1.0)
        trial.set_user_attr(OUTPUTS, {"outputs": {"stress": 2.0}})
        if state == TrialState.FAIL:
            trial.set_user_attr(REASON, "diverged")
        study.tell(trial, 1.0 if state == TrialState.COMPLETE else None, state=state)
    assert [row["stress"] for row in trial_rows(study)] == [2.0, 2.0]
    assert result_of(study).history.output("stress").tolist() == [2.0, 2.0]


def test_a_dict_without_the_objective_is_a_failure_that_lists_the_names() -> None:
    study = optuna.create_study()
    study.optimize(
        guarded(lambda trial: {"a": trial.suggest_float("x", 0, 1), "b": 1.0}), n_trials=1, catch=(Exception,)
    )
    assert "got a, b; try 'a' as the objective" in study.trials[0].user_attrs[REASON]


def test_a_parameter_named_like_a_column_is_kept_apart() -> None:
    study = optuna.create_study()
    study.optimize(lambda trial: trial.suggest_float("status", 2.0, 3.0), n_trials=1)
    (row,) = trial_rows(study)
    assert row["status"] == "ok"
    assert row["parameter.status"] == row["value"]


def test_a_study_whose_objective_has_a_misspelled_name_is_stopped_with_the_one_that_was_meant():
    def both(trial):
        return {"mass": trial.suggest_float("x", 0.0, 1.0), "stress": 1.0}

    study = optuna.create_study(sampler=SurefootSampler(seed=0))
    with pytest.warns(SurefootWarning, match="the study is stopped: .*mass"):
        study.optimize(guarded(both, name="mas"), n_trials=20, catch=(Exception,))
    assert len(study.trials) < 10


def test_trials_asked_for_one_by_one_are_told_too():
    study = optuna.create_study(sampler=SurefootSampler(seed=0))
    objective = guarded(lambda trial: {"mass": 1.0, "stress": 1.0}, name="mas")
    for trial in [study.ask()]:
        with pytest.raises(InvalidInputError, match="mas"):
            objective(trial)
    with pytest.warns(SurefootWarning, match="the study is stopped"), pytest.raises(InvalidInputError):
        objective(study.ask())
