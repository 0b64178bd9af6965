"""What a study's trials become as a result."""

import optuna
import pytest
from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.trial import TrialState

from surefoot.errors import InvalidInputError
from surefoot.integrations.optuna import SurefootSampler, guarded, result_of

SPACE = {"a": FloatDistribution(-5.0, 10.0), "b": FloatDistribution(0.0, 15.0)}


def test_a_result_learns_from_the_failures_that_the_sampler_learned_from():
    study = optuna.create_study(sampler=SurefootSampler(SPACE, learn_from_all_failures=True))
    for a in (0.0, 9.0):
        study.enqueue_trial({"a": a, "b": 5.0})
        trial = study.ask(SPACE)
        study.tell(trial, None if a else 1.0, state=TrialState.FAIL if a else None)
    assert [e.status for e in result_of(study).history.evaluations] == ["ok", "failed"]


def test_a_result_shows_steps_and_choices_as_the_user_wrote_them():
    space = {
        "step": FloatDistribution(0.0, 1.0, step=0.5),
        "odd": IntDistribution(1, 9, step=2),
        "choice": CategoricalDistribution(["x", "y"]),
    }
    study = optuna.create_study(direction="maximize", sampler=SurefootSampler(space))
    study.enqueue_trial({"step": 0.5, "odd": 3, "choice": "y"})
    study.optimize(lambda t: sum(isinstance(t._suggest(n, d), str) for n, d in space.items()), n_trials=1)
    result = result_of(study)
    assert result.x == {"step": 0.5, "odd": 3, "choice": "y"}
    assert (result.fun, result.sign) == (1.0, -1.0)


def test_a_study_without_trials_has_no_result_yet():
    with pytest.raises(InvalidInputError, match="at least one finished trial"):
        result_of(optuna.create_study())


@pytest.mark.parametrize("about", [3, {"parameters": 3}, {"parameters": {"a": "no JSON"}}, {"settings": [1]}], ids=str)
def test_a_study_whose_attributes_are_damaged_is_read_from_its_trials(about) -> None:
    study = optuna.create_study()
    study.set_user_attr("surefoot:study", about)
    distribution = optuna.distributions.FloatDistribution(0.0, 1.0)
    for output in ({"duration_s": 2.0}, {"duration_s": "long"}, 3):
        trial = optuna.create_trial(
            params={"a": 0.5}, distributions={"a": distribution}, value=1.0, user_attrs={"surefoot:output": output}
        )
        study.add_trial(trial)
    result = result_of(study)
    assert result.nfev == 3
    assert result.history.evaluations[0].duration_s == 2.0


def crashes_before_it_asks_for_all(trial: optuna.Trial) -> float:
    x = trial.suggest_float("x", 0.0, 1.0)
    if x > 0.4:
        raise ValueError("crashed")
    y = trial.suggest_float("y", 0.0, 1.0)
    return -x + (y - 0.5) ** 2


@pytest.mark.parametrize("space", [None, {"x": FloatDistribution(0.0, 1.0), "y": FloatDistribution(0.0, 1.0)}])
def test_a_failure_before_all_parameters_were_asked_for_counts_and_is_learned(space):
    study = optuna.create_study(sampler=SurefootSampler(space, seed=7))
    study.optimize(guarded(crashes_before_it_asks_for_all), n_trials=20, catch=(Exception,))
    failed = [t for t in study.trials if t.state == TrialState.FAIL]
    result = result_of(study)
    assert (result.nfev, result.n_failures) == (20, len(failed))
    assert len(failed) > 3
    assert [(row["number"], row["x"]) for row in result.table() if row["status"] == "failed"] == [
        (t.number, t.params["x"]) for t in failed
    ]
    assert result.success_probability([{"x": 0.9, "y": 0.2}])[0] < 0.3
    assert result.robust(p=0.9, within="5 %").x["x"] < 0.4


def test_what_a_failure_did_not_ask_for_and_nobody_suggested_is_in_the_middle():
    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=1))
    study.optimize(guarded(crashes_before_it_asks_for_all), n_trials=12, catch=(Exception,))
    points = {e.x[0]: e for e in result_of(study).history.evaluations}
    for trial in study.trials:
        expected = ("ok", trial.params["y"]) if "y" in trial.params else ("failed", 0.5)
        assert (points[trial.params["x"]].status, points[trial.params["x"]].x[1]) == expected


def test_failures_that_had_asked_for_nothing_are_left_out_and_said():
    def objective(trial: optuna.Trial) -> float:
        if trial.number % 3 == 0:
            raise OSError("no licence")
        return trial.suggest_float("x", 0.0, 1.0)

    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=1))
    study.optimize(guarded(objective), n_trials=6, catch=(Exception,))
    result = result_of(study)
    assert result.nfev == 4
    assert "left out, as they failed before they asked for any of these parameters: 2 trials" in result.message
