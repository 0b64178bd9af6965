"""Known constraints in an Optuna study: every parameter that the sampler chooses keeps to them."""

import optuna
import pytest
from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

from surefoot.errors import InvalidInputError, SurefootWarning
from surefoot.integrations import optuna as module
from surefoot.integrations.optuna import SurefootSampler, guarded

SPACE = {
    "a": FloatDistribution(0.0, 1.0),
    "b": FloatDistribution(0.0, 1.0, step=0.05),
    "n": IntDistribution(0, 100, step=10),
    "k": CategoricalDistribution([1, 2, "x"]),
    "twice": FloatDistribution(2.0, 2.0),
}
CONSTRAINTS = ["a + b <= 0.5", "n * twice <= 40 * b", lambda x: x["k"] != "x"]


def holds(x):
    return x["a"] + x["b"] <= 0.5 and x["n"] * 2.0 <= 40 * x["b"] and x["k"] != "x"


def objective(trial):
    x = {name: trial._suggest(name, d) for name, d in SPACE.items()}
    return (x["a"] - 0.4) ** 2 + (x["b"] - 0.4) ** 2 + x["n"] / 100


def study_with(**more):
    return optuna.create_study(sampler=SurefootSampler(SPACE, n_init=4, constraints=CONSTRAINTS, **more))


def test_no_trial_violates_a_constraint_on_grids_choices_and_constants():
    study = study_with()
    study.optimize(objective, n_trials=10)
    assert all(holds(t.params) for t in study.trials)


def test_a_point_that_is_enqueued_in_part_is_completed_within_the_constraints():
    study = study_with()
    study.enqueue_trial({"a": 0.45})
    study.optimize(objective, n_trials=1)
    assert study.trials[0].params["a"] == 0.45
    assert holds(study.trials[0].params)


def test_a_point_that_is_enqueued_whole_is_evaluated_and_teaches_no_failure():
    study = study_with()
    study.enqueue_trial({"a": 0.9, "b": 0.9, "n": 0, "k": 1, "twice": 2.0})
    study.optimize(guarded(lambda trial: float("nan") if objective(trial) > 0.4 else 1.0), n_trials=7)
    assert not holds(study.trials[0].params)
    assert all(holds(t.params) for t in study.trials[1:])


def test_where_no_suggestion_can_be_made_the_random_point_is_allowed(monkeypatch):
    def broken(*_, **__):
        raise RuntimeError("a defect")

    monkeypatch.setattr(module, "suggest", broken)
    study = study_with()
    with pytest.warns(SurefootWarning, match="a random point"):
        study.optimize(objective, n_trials=5)
    assert all(holds(t.params) for t in study.trials)


def test_parameters_asked_for_one_by_one_are_those_of_one_allowed_point():
    sampler = SurefootSampler(SPACE, constraints=CONSTRAINTS)
    study = optuna.create_study(sampler=sampler)
    for _ in range(5):
        trial = study._storage.get_trial(study.ask()._trial_id)
        drawn = {name: sampler.sample_independent(study, trial, name, d) for name, d in SPACE.items()}
        assert holds(drawn)


def test_constraints_need_the_search_space():
    with pytest.raises(InvalidInputError, match="search_space"):
        SurefootSampler(constraints=["a <= 1"])


def test_constraints_that_allow_nothing_are_refused_at_once():
    with pytest.raises(InvalidInputError, match=r"a >= 0\.9"):
        SurefootSampler(SPACE, constraints=["a >= 0.9", "a + b <= 0.5"])
