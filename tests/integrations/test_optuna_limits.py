"""Limits on outputs in Optuna studies: of surefoot's own, of a constraints_func, and as Optuna shows them."""

import optuna
import pytest

from surefoot.errors import InvalidInputError, SurefootWarning
from surefoot.integrations.optuna import SurefootSampler, guarded, result_of

SPACE = {name: optuna.distributions.FloatDistribution(0.0, 1.0) for name in ("a", "b")}
LIMITS = {"disc": "<= 0.25"}
BEST = 1.0 - 0.5**0.5


def slope(trial):
    a, b = trial.suggest_float("a", 0.0, 1.0), trial.suggest_float("b", 0.0, 1.0)
    return {"sum": a + b, "disc": (a - 0.5) ** 2 + (b - 0.5) ** 2}


@pytest.fixture(scope="module")
def study():
    found = optuna.create_study(sampler=SurefootSampler(SPACE, n_init=8, outputs=LIMITS))
    found.optimize(guarded(slope, name="sum"), n_trials=28)
    return found


def test_an_optimum_on_a_limit_is_found(study):
    assert study.best_value == pytest.approx(BEST, rel=1e-5)


def test_optunas_best_trial_is_within_the_limits(study):
    assert study.best_trial.constraints["disc"] <= 0.0
    assert study.best_value > min(t.value for t in study.trials)


def test_the_result_knows_the_limits_that_the_caller_names(study):
    from surefoot.optimize.settings import Settings

    result = result_of(study, settings=Settings(n_init=8, outputs=LIMITS))
    assert result_of(study).x == result.x  # the study knows its limits
    assert result.feasible
    assert result.fun == study.best_value


def test_the_values_of_a_constraints_func_are_limits():
    def objective(trial):
        found = slope(trial)
        trial.set_user_attr("disc", found["disc"])
        return found["sum"]

    sampler = SurefootSampler(SPACE, n_init=8, constraints_func=lambda trial: (trial.user_attrs["disc"] - 0.25,))
    study = optuna.create_study(sampler=sampler)
    study.optimize(objective, n_trials=28)
    assert study.best_value == pytest.approx(BEST, rel=1e-5)
    assert result_of(study).fun == study.best_value


def test_constraints_that_the_objective_sets_are_limits_too():
    def objective(trial):
        found = slope(trial)
        trial.set_constraint("disc", found["disc"] - 0.25)
        return found["sum"]

    study = optuna.create_study(sampler=SurefootSampler(SPACE, n_init=8))
    study.optimize(objective, n_trials=28)
    assert study.best_value == pytest.approx(BEST, rel=1e-5)


def test_a_study_that_is_continued_makes_the_same_suggestions(study):
    again = optuna.create_study(sampler=SurefootSampler(SPACE, n_init=8, outputs=LIMITS))
    for _ in range(4):
        again.sampler = SurefootSampler(SPACE, n_init=8, outputs=LIMITS)
        again.optimize(guarded(slope, name="sum"), n_trials=4)
    assert [t.params for t in again.trials] == [t.params for t in study.trials[:16]]


def test_a_constraints_func_that_is_none_is_refused():
    with pytest.raises(InvalidInputError, match="constraints_func"):
        SurefootSampler(SPACE, constraints_func=3)


def test_a_limited_output_that_never_comes_is_said_once():
    study = optuna.create_study(sampler=SurefootSampler(outputs={"stres": "<= 1"}))
    with pytest.warns(SurefootWarning, match=r"expected an output 'stres'.*try outputs=\{'stress': …\}") as said:
        study.optimize(guarded(lambda t: {"cost": t.suggest_float("x", 0, 1), "stress": 0.5}, name="cost"), n_trials=3)
    assert len(said) == 1


def test_outputs_and_a_constraints_func_are_refused():
    with pytest.raises(InvalidInputError, match="expected outputs or constraints_func; got both"):
        SurefootSampler(outputs={"stress": "<= 1"}, constraints_func=lambda trial: [0.0])
