"""What SurefootSampler learns from, what it takes for pending, and that a restart changes nothing."""

import contextlib
import math
import pickle
import threading
import warnings

import numpy as np
import optuna
import pytest
from optuna.distributions import FloatDistribution, IntDistribution
from optuna.trial import TrialState

import surefoot
from surefoot.engine.suggest import suggest
from surefoot.errors import InvalidInputError, SurefootWarning, UnknownNameError
from surefoot.integrations.optuna import REASON, SurefootSampler, guarded, result_of
from surefoot.integrations.optuna_history import FORGOTTEN, SUGGESTION, VOID, common_space, fallbacks_of, runs_of
from surefoot.runs.storage import close_storage, open_storage

BRANIN = surefoot.problems.get("BRA")
SPACE = {"a": FloatDistribution(-5.0, 10.0), "b": FloatDistribution(0.0, 15.0)}


def branin(trial):
    return BRANIN([trial.suggest_float("a", -5, 10), trial.suggest_float("b", 0, 15)])


def crashing(trial):
    a = trial.suggest_float("a", -5, 10)
    b = trial.suggest_float("b", 0, 15)
    if a > 8:
        raise FloatingPointError("the mesh collapsed")
    return math.nan if b > 13 else BRANIN([a, b])


def optimize(study, objective, n):
    study.optimize(guarded(objective), n_trials=n, catch=(Exception,))
    return [tuple(t.params.values()) for t in study.trials]


@contextlib.contextmanager
def closed_at_the_end(path):
    storage = open_storage(path, create=True)
    yield storage
    close_storage(storage)


def runs(study, **options):
    trials = study.get_trials(deepcopy=False)
    return runs_of(trials, -1, SPACE, 1.0, options.get("learn_from_all", False))[1]


def test_the_points_are_those_of_minimize():
    study = optuna.create_study(sampler=SurefootSampler(SPACE, seed=3))
    points = optimize(study, crashing, 30)

    def fun(x):
        if x["a"] > 8:
            raise FloatingPointError("the mesh collapsed")
        return math.nan if x["b"] > 13 else BRANIN([x["a"], x["b"]])

    result = surefoot.minimize(fun, {"a": (-5, 10), "b": (0, 15)}, n_evals=30, seed=3)
    assert points == [tuple(x.values()) for x in result.x_iters]


def test_20_trials_are_10_a_restart_and_10_more(tmp_path):
    def sampler():
        return SurefootSampler(seed=1, n_init=5)

    whole = optimize(optuna.create_study(sampler=sampler()), crashing, 20)
    with closed_at_the_end(tmp_path / "study.db") as storage:
        optimize(optuna.create_study(storage=storage, study_name="s", sampler=sampler()), crashing, 10)
    with closed_at_the_end(tmp_path / "study.db") as storage:
        again = optuna.load_study(storage=storage, study_name="s", sampler=sampler())
        assert optimize(again, crashing, 10) == whole


@pytest.mark.parametrize("direction", ["minimize", "maximize"])
def test_it_finds_the_optimum(direction):
    sign = 1 if direction == "minimize" else -1
    study = optuna.create_study(direction=direction, sampler=SurefootSampler())
    study.optimize(lambda t: sign * branin(t), n_trials=50)
    assert sign * study.best_value == pytest.approx(BRANIN.f_star, abs=1e-3)


def test_it_learns_where_tagged_trials_fail():
    study = optuna.create_study(sampler=SurefootSampler(SPACE, seed=1))
    optimize(study, crashing, 40)
    low, high = result_of(study).success_probability([{"a": 9.5, "b": 5.0}, {"a": 0.0, "b": 5.0}])
    assert low < 0.3 < 0.7 < high


def test_a_fail_trial_without_a_reason_teaches_nothing():
    study = optuna.create_study(sampler=SurefootSampler(SPACE))
    study.tell(study.ask(SPACE), state=TrialState.FAIL)
    assert not runs(study).failed.any()
    assert runs(study, learn_from_all=True).failed.all()


def test_failures_that_teach_nothing_are_said_once_and_lost_trials_are_none():
    study = optuna.create_study(sampler=SurefootSampler(SPACE, n_init=1))
    for _ in range(4):
        trial = study.ask(SPACE)
        trial.set_user_attr(VOID, "its worker was lost")
        study.tell(trial, state=TrialState.FAIL)
    for _ in range(3):
        study.tell(study.ask(SPACE), state=TrialState.FAIL)
    with pytest.warns(SurefootWarning, match="got 3 trials without one"):
        study.ask(SPACE)
    study.ask(SPACE)  # a second warning would be an error


def test_a_trial_that_was_never_evaluated_is_not_in_the_history():
    study = optuna.create_study(sampler=SurefootSampler(SPACE))
    trial = study.ask(SPACE)
    trial.set_user_attr(VOID, "interrupted")
    study.tell(trial, state=TrialState.FAIL)
    assert runs(study).X.shape[1] == 0
    assert result_of(study, settings=None).nfev == 0


def test_an_infinite_value_is_a_failure():
    study = optuna.create_study(sampler=SurefootSampler(SPACE))
    study.tell(study.ask(SPACE), math.inf)
    assert runs(study).failed.all()


def test_guarded_turns_infinities_into_failures_with_a_reason():
    study = optuna.create_study(sampler=SurefootSampler())
    study.optimize(guarded(lambda t: t.suggest_float("a", 0, 1) * math.inf), n_trials=1)
    assert study.trials[0].state == TrialState.FAIL
    assert study.trials[0].user_attrs[REASON] == "the value was inf"


@pytest.mark.parametrize(
    ("objective", "name", "message"),
    [
        (3, None, r"expected an objective, a function of a trial; got 3; try guarded\(objective\)"),
        (len, 3, r"expected the name of an output as text; got 3; try name='mass'"),
        (len, "", r"expected the name of an output as text; got ''; try name='mass'"),
    ],
)
def test_guarded_refuses_what_is_no_objective_or_no_name(objective, name, message):
    with pytest.raises(InvalidInputError, match=message):
        guarded(objective, name=name)


def test_guarded_leaves_transient_exceptions_untagged():
    def objective(trial):
        trial.suggest_float("a", -5, 10), trial.suggest_float("b", 0, 15)
        raise OSError("no route to host")

    study = optuna.create_study(sampler=SurefootSampler(SPACE))
    study.optimize(guarded(objective, transient=(OSError,)), n_trials=1, catch=(Exception,))
    assert not runs(study).failed.any()
    assert result_of(study).history.evaluations[0].status == "transient"


def test_a_pruned_trial_counts_as_no_better_than_typical():
    study = optuna.create_study(sampler=SurefootSampler(SPACE))
    for value in (1.0, 2.0, 30.0):
        study.tell(study.ask(SPACE), value)
    for reported in (-5.0, 7.0):
        trial = study.ask(SPACE)
        trial.report(reported, step=1)
        study.tell(trial, state=TrialState.PRUNED)
    assert result_of(study).func_vals.tolist() == [1.0, 2.0, 30.0, 2.0, 7.0]


def test_running_and_enqueued_trials_are_pending():
    study = optuna.create_study(sampler=SurefootSampler(SPACE))
    study.tell(study.ask(SPACE), 1.0)
    study.ask(SPACE)
    study.enqueue_trial({"a": 1.0, "b": 2.0})
    assert runs(study).pending.shape[1] == 2


def test_a_suggestion_is_published_before_its_parameters_are_set():
    study = optuna.create_study(sampler=SurefootSampler(SPACE))
    trial = study.ask()
    assert trial.relative_params.keys() == {"a", "b"}
    assert runs(study).pending.shape[1] == 1


def test_two_workers_get_different_points():
    study = optuna.create_study(sampler=SurefootSampler(SPACE, n_init=5))
    study.optimize(branin, n_trials=12)
    points = [tuple(study.ask(SPACE).params.values()) for _ in range(6)]
    gaps = [np.abs(np.subtract(p, q)).max() for i, p in enumerate(points) for q in points[:i]]
    assert min(gaps) > 1e-6


def test_an_enqueued_trial_is_evaluated_as_given():
    study = optuna.create_study(sampler=SurefootSampler(SPACE))
    study.enqueue_trial({"a": 1.5, "b": 2.5})
    study.optimize(branin, n_trials=3)
    assert study.trials[0].params == {"a": 1.5, "b": 2.5}


def test_every_distribution_keeps_its_grid_and_type():
    def objective(trial):
        values = {
            "float": trial.suggest_float("float", -1, 1),
            "log": trial.suggest_float("log", 1e-5, 1, log=True),
            "step": trial.suggest_float("step", -1.0, 1.0, step=0.25),
            "int": trial.suggest_int("int", 1, 9),
            "int_step": trial.suggest_int("int_step", 1, 9, step=2),
            "int_log": trial.suggest_int("int_log", 1, 100, log=True),
            "choice": trial.suggest_categorical("choice", [None, True, 1, "x"]),
        }
        assert (values["step"] + 1.0) % 0.25 == 0.0
        assert values["int_step"] % 2 == 1
        return values["float"] ** 2 + values["step"] + values["int"] + (values["choice"] is None)

    study = optuna.create_study(sampler=SurefootSampler(n_init=5))
    study.optimize(objective, n_trials=25)
    assert result_of(study).nfev == 25


def test_a_study_in_which_everything_failed_goes_on_with_an_explicit_space():
    def hopeless(trial):
        branin(trial)
        raise ArithmeticError("diverged")

    study = optuna.create_study(sampler=SurefootSampler(SPACE, n_init=4))
    optimize(study, hopeless, 10)
    assert len({tuple(t.params.values()) for t in study.trials}) == 10
    assert not result_of(study).success


def test_the_common_space_of_failed_trials_is_used_when_all_failed():
    study = optuna.create_study(sampler=SurefootSampler())
    study.tell(study.ask(SPACE), state=TrialState.FAIL)
    assert common_space(study.trials) == SPACE


def test_a_trial_that_failed_early_takes_no_parameter_away():
    study = optuna.create_study(sampler=SurefootSampler())
    study.tell(study.ask(SPACE), 1.0)
    study.tell(study.ask({"a": SPACE["a"]}), state=TrialState.FAIL)
    assert common_space(study.trials) == SPACE


def test_a_conditional_space_falls_back_to_the_common_part():
    def objective(trial):
        a = trial.suggest_float("a", 0, 1)
        name = "low" if a < 0.5 else "high"
        return a + trial.suggest_float(name, 0, 1)

    study = optuna.create_study(sampler=SurefootSampler(n_init=3))
    study.optimize(objective, n_trials=15)
    assert set(study.trials[-1].system_attrs[SUGGESTION]["params"]) == {"a"}


def test_an_exhausted_space_is_said_once_and_ends_the_study():
    study = optuna.create_study(sampler=SurefootSampler())
    with pytest.warns(SurefootWarning, match="all 3 have been") as told:
        study.optimize(lambda t: t.suggest_int("a", 0, 2), n_trials=50)
    assert len(told) == 1
    assert len(study.trials) == 4
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert study.ask({"a": IntDistribution(0, 2)}).params["a"] in (0, 1, 2)  # asked for, it repeats a point


def test_an_exhausted_space_is_repeated_where_values_are_noisy():
    rng = np.random.default_rng(0)
    study = optuna.create_study(sampler=SurefootSampler(noise=1.0))
    study.optimize(lambda t: t.suggest_int("a", 0, 2) + rng.normal(), n_trials=9)
    assert len(study.trials) == 9


def test_a_random_point_in_place_of_a_suggestion_is_counted_and_shown(monkeypatch):
    study = optuna.create_study(sampler=SurefootSampler(SPACE, n_init=2))
    study.optimize(branin, n_trials=3)

    def broken(*_):
        raise ArithmeticError("a defect of the engine")

    monkeypatch.setattr("surefoot.integrations.optuna.suggest", broken)
    with pytest.warns(SurefootWarning, match="a random point instead of a suggestion: ArithmeticError: a defect"):
        study.optimize(branin, n_trials=2)
    assert fallbacks_of(study.trials).keys() == {3, 4}
    assert "2 at random points" in result_of(study).message


def test_threads_that_ask_at_the_same_time_see_each_others_points(monkeypatch):
    study = optuna.create_study(sampler=SurefootSampler(SPACE, n_init=5))
    study.optimize(branin, n_trials=7)
    together, seen = threading.Barrier(4), []

    def recorded(space, runs, *rest):
        seen.append(runs.pending.shape[1])
        return suggest(space, runs, *rest)

    def ask():
        trial = study.ask()
        together.wait()
        branin(trial)

    monkeypatch.setattr("surefoot.integrations.optuna.suggest", recorded)
    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == [0, 1, 2, 3]


def test_threads_of_optimize_evaluate_no_point_twice():
    study = optuna.create_study(sampler=SurefootSampler(SPACE, n_init=2))
    study.optimize(branin, n_trials=20, n_jobs=4)
    assert len({tuple(t.params.values()) for t in study.trials}) == 20


def test_a_sampler_can_be_pickled_and_copied():
    again = pickle.loads(pickle.dumps(SurefootSampler(SPACE, seed=4)))
    study, other = (optuna.create_study(sampler=s) for s in (again, SurefootSampler(SPACE, seed=4)))
    assert optimize(study, branin, 3) == optimize(other, branin, 3)


def test_forgotten_trials_teach_nothing_and_the_design_begins_anew():
    study = optuna.create_study(sampler=SurefootSampler(SPACE, n_init=4))
    points = optimize(study, lambda t: branin(t) / 0, 5)
    study.set_user_attr(FORGOTTEN, [0, 1, 2, 3, 4])
    assert not result_of(study).nfev
    assert optimize(study, branin, 4)[5:] == points[:4]


@pytest.mark.parametrize("text", ["\ud800", "a\0b"])
def test_a_reason_that_cannot_be_encoded_is_escaped(text):
    def objective(trial):
        branin(trial)
        raise ValueError(text)

    study = optuna.create_study(sampler=SurefootSampler(SPACE))
    optimize(study, objective, 1)
    reason = study.trials[0].user_attrs[REASON]
    assert reason.encode()
    assert "\0" not in reason


def test_damaged_attributes_do_not_stop_a_study():
    study = optuna.create_study(sampler=SurefootSampler(SPACE, n_init=3))
    study.optimize(branin, n_trials=6)
    storage, last = study._storage, study.ask(SPACE)
    storage.set_trial_system_attr(last._trial_id, SUGGESTION, {"nonsense": 1})
    study.tell(last, 5.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        study.optimize(branin, n_trials=3)


def test_several_objectives_are_refused():
    study = optuna.create_study(directions=["minimize", "minimize"], sampler=SurefootSampler())
    with pytest.raises(InvalidInputError, match="one objective; got 2"):
        study.optimize(lambda t: (t.suggest_float("a", 0, 1), 0.0), n_trials=1)


@pytest.mark.parametrize(
    "settings", [{"policy": "EI"}, {"failures": "ep"}, {"kernel": "matern52"}, {"search": "paper"}]
)
def test_settings_are_those_of_minimize(settings):
    study = optuna.create_study(sampler=SurefootSampler(SPACE, n_init=4, **settings))
    optimize(study, crashing, 8)
    assert len(study.trials) == 8


def test_unknown_settings_are_errors():
    with pytest.raises(UnknownNameError, match="policy"):
        SurefootSampler(policy="nonsense")
    with pytest.raises(InvalidInputError, match="got polcy"):
        SurefootSampler(polcy="EI")
