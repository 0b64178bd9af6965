"""Parameters that an objective asks for only sometimes."""

import warnings

import numpy as np
import optuna
import pytest
from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

from surefoot.integrations.optuna import SurefootSampler, guarded
from surefoot.integrations.optuna_branches import Branches, all_parameters, branches_of, conditions_of
from surefoot.integrations.optuna_history import SUGGESTION, published, result_of, runs_of
from surefoot.integrations.optuna_space import engine_space
from surefoot.optimize.parameters import Categorical, Integer, Real

optuna.logging.set_verbosity(optuna.logging.ERROR)

SPACE = {
    "kind": CategoricalDistribution(["explicit", "implicit", "spectral"]),
    "x": FloatDistribution(-2.0, 2.0),
    "cfl": FloatDistribution(0.0, 1.0),
    "pre": CategoricalDistribution(["none", "ilu"]),
    "fill": IntDistribution(0, 10),
}


def solver(trial):
    kind, x = trial.suggest_categorical("kind", SPACE["kind"].choices), trial.suggest_float("x", -2, 2)
    if kind == "explicit":
        return x**2 + 1.0 + (trial.suggest_float("cfl", 0, 1) - 0.4) ** 2
    if kind == "implicit" and trial.suggest_categorical("pre", SPACE["pre"].choices) == "ilu":
        return x**2 + 0.1 * (trial.suggest_int("fill", 0, 10) - 6) ** 2
    return x**2 + (0.9 if kind == "implicit" else 2.0)


def layers(trial):
    return sum(trial.suggest_float(f"w{i}", 0, 1) for i in range(trial.suggest_int("n", 1, 4)))


def studied(objective, n_trials, sampler=None, **options):
    study = optuna.create_study(sampler=sampler or optuna.samplers.RandomSampler(seed=1))
    study.optimize(objective, n_trials=n_trials, **options)
    return study


def told(*points, values=None):
    """A study with complete trials at these points."""
    study = optuna.create_study()
    for i, point in enumerate(points):
        distributions = {name: SPACE[name] for name in point}
        value = 1.0 if values is None else values[i]
        study.add_trial(optuna.create_trial(params=point, distributions=distributions, value=value))
    return study


def asked_for(condition, decider, values):
    return condition.rule(decider)(np.asarray([decider.encode(value) for value in values])).tolist()


def test_what_decides_is_learned_from_the_trials():
    study = studied(solver, 40)
    assert all_parameters(study.trials) == SPACE
    rules = {c.name: (c.decider, sorted(v for v, asked in c.asked.items() if asked)) for c in
             conditions_of(study.trials, SPACE)}  # fmt: skip
    assert rules == {"cfl": ("kind", [0]), "pre": ("kind", [1]), "fill": ("pre", [1])}


def test_as_many_parameters_as_an_integer_says_are_understood_and_unseen_numbers_do_as_their_neighbours():
    study = studied(layers, 30)
    rules = conditions_of([t for t in study.trials if t.params["n"] != 3], all_parameters(study.trials))
    by_name = {c.name: c for c in rules}
    assert asked_for(by_name["w1"], Integer(1, 4), [1, 2, 3, 4]) == [False, True, True, True]
    assert asked_for(by_name["w3"], Integer(1, 4), [1, 2, 3, 4]) == [False, False, False, True]


def test_a_value_that_no_trial_had_asks_for_everything():
    study = told({"kind": "explicit", "x": 0.0, "cfl": 0.5}, {"kind": "implicit", "x": 0.0, "pre": "none"})
    rules = {c.name: c for c in conditions_of(study.trials, SPACE)}
    kinds = Categorical(range(3))
    assert asked_for(rules["cfl"], kinds, [0, 1, 2]) == [True, False, True]
    assert asked_for(rules["pre"], kinds, [0, 1, 2]) == [False, True, True]


def test_a_real_number_decides_where_there_is_one_value_beyond_which_a_parameter_is_asked_for():
    def objective(trial):
        x = trial.suggest_float("x", 0.1, 10, log=True)
        return x if x < 3 else trial.suggest_float("y", 0, 1)

    study = studied(objective, 60)
    (rule,) = conditions_of(study.trials, all_parameters(study.trials))
    assert asked_for(rule, Real(0.1, 10, log=True), [0.1, 2.0, 4.0, 10.0]) == [False, False, True, True]


def test_what_no_single_parameter_decides_stays_random():
    def objective(trial):
        x = trial.suggest_float("x", 0, 1)
        return x if 0.3 < x < 0.7 else trial.suggest_float("y", 0, 1)

    study = studied(objective, 30)
    assert list(all_parameters(study.trials)) == ["x"]
    assert branches_of(study.trials, all_parameters(study.trials)) is None
    few = studied(lambda trial: trial.suggest_float("x", 0, 1) + (trial.number and trial.suggest_float("y", 0, 1)), 3)
    assert list(all_parameters(few.trials)) == ["x"]  # one trial without it tells nothing


def test_parameters_whose_distributions_changed_are_left_out():
    study = told({"kind": "explicit", "x": 0.0, "cfl": 0.5}, {"kind": "spectral", "x": 0.0})
    other = {**SPACE, "cfl": FloatDistribution(0.0, 2.0)}
    point = {"kind": "explicit", "x": 0.0, "cfl": 1.5}
    study.add_trial(optuna.create_trial(params=point, distributions={n: other[n] for n in point}, value=1.0))
    assert list(all_parameters(study.trials)) == ["kind", "x"]


@pytest.fixture(scope="module")
def domain():
    return Branches(engine_space(SPACE), conditions_of(studied(solver, 40).trials, SPACE))


def test_points_that_differ_in_what_is_not_asked_for_are_one_point(domain):
    units = domain.snap(np.random.default_rng(0).random((500, domain.n_inputs)))
    points = [dict(zip(SPACE, domain.decode(unit), strict=True)) for unit in units]
    rest = dict(zip(SPACE, domain.decode(domain.snap(np.full((1, domain.n_inputs), 0.5))[0]), strict=True))
    for point in points:
        asked = {"kind", "x"} | {0: {"cfl"}, 1: {"pre"}, 2: set()}[point["kind"]]
        asked |= {"fill"} if "pre" in asked and point["pre"] == 1 else set()
        assert all(point[name] == rest[name] for name in SPACE if name not in asked)
    assert np.array_equal(domain.snap(units), units)
    assert len({point["fill"] for point in points}) == 11


def test_a_design_and_all_neighbours_are_valid_points(domain):
    drawn = domain.from_uniform(np.random.default_rng(1).random((50, domain.d)))
    for unit in drawn:
        around = domain.neighbours(unit)
        assert np.array_equal(domain.snap(around), around)
        assert (around != unit).any(axis=1).all()


def test_a_finite_space_has_as_many_points_as_can_be_told_apart():
    def finite(trial):
        a = trial.suggest_categorical("a", [False, True])
        return trial.suggest_int("b", 1, 3) if a else 0.5

    with warnings.catch_warnings(record=True):
        warnings.simplefilter("always")
        study = studied(finite, 50, SurefootSampler(seed=3))
    assert {tuple(t.params.values()) for t in study.trials} == {(False,), (True, 1), (True, 2), (True, 3)}
    assert len(study.trials) < 12


def test_the_model_is_told_every_trial_at_its_own_point():
    study = studied(solver, 30)
    space = all_parameters(study.trials)
    _, runs = runs_of(study.trials, -1, space, 1.0, False, branches_of(study.trials, space))
    assert runs.X.shape[1] == 30
    _, without = runs_of(study.trials, -1, space, 1.0, False)
    assert without.X.shape[1] < 10  # those that happen to have all parameters


def test_a_running_trial_is_pending_where_it_was_suggested_and_a_failed_one_teaches():
    def fails(trial):
        value = solver(trial)
        if trial.params["x"] > 1.0:
            raise FloatingPointError("diverged")
        return value

    study = studied(guarded(fails), 25, SurefootSampler(seed=2), catch=(Exception,))
    assert sum(t.state.name == "FAIL" for t in study.trials) > 0
    study.ask({name: SPACE[name] for name in ("kind", "x")})
    pending = study.trials[-1]
    assert set(published(pending)) == set(all_parameters(study.trials))
    assert SUGGESTION in pending.system_attrs
    space = all_parameters(study.trials)
    _, runs = runs_of(study.trials, -1, space, 1.0, False, branches_of(study.trials, space))
    assert runs.X.shape[1] == 25
    assert int(np.sum(runs.failed)) == sum(t.state.name == "FAIL" for t in study.trials)


def test_most_runs_find_the_best_branch_and_its_own_parameters():
    found = [studied(solver, 40, SurefootSampler(seed=seed)) for seed in range(4)]
    good = [s for s in found if s.best_value < 1e-2 and s.best_params["fill"] == 6]
    assert len(good) >= 2  # a run may stay in the branch that looked best first
    assert all(s.best_value < 1.0 + 1e-3 for s in found)  # and refines it then


def test_an_interrupted_study_goes_on_with_the_same_points(tmp_path):
    url = f"sqlite:///{tmp_path}/study.db"
    whole = studied(solver, 16, SurefootSampler(seed=4))
    for _ in range(2):
        study = optuna.create_study(storage=url, study_name="s", sampler=SurefootSampler(seed=4), load_if_exists=True)
        study.optimize(solver, n_trials=8)
    assert [t.params for t in study.trials] == [t.params for t in whole.trials]


def test_trials_outside_of_todays_space_say_nothing():
    study = told(
        {"kind": "explicit", "x": 0.0, "cfl": 0.5}, {"kind": "implicit", "x": 0.0}, {"kind": "explicit", "x": 1.0}
    )
    assert conditions_of(study.trials, SPACE) == []
    (rule,) = conditions_of(study.trials, {**SPACE, "x": FloatDistribution(-0.5, 0.5)})
    assert rule.asked == {0: True, 1: False}


def test_a_result_names_the_parameters_that_it_lacks():
    result = result_of(studied(solver, 20, optuna.samplers.RandomSampler(seed=1)))
    assert set(result.x) == {"kind", "x"}
    assert set(result.message.split("alike: ")[1].split(", ")) == {"cfl", "pre", "fill"}


def test_a_result_that_has_all_parameters_names_none():
    result = result_of(studied(lambda trial: trial.suggest_float("x", 0, 1), 3, optuna.samplers.RandomSampler(seed=1)))
    assert result.message.endswith(": 3 evaluations")
