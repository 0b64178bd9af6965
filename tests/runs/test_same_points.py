"""A run that is stopped or killed at any evaluation goes on with the points of one that was not, bit by bit."""

import multiprocessing
import os

import optuna
import pytest
from optuna.distributions import FloatDistribution

from surefoot.integrations.optuna import SurefootSampler
from surefoot.integrations.optuna_history import is_taken_out, is_void, was_evaluated
from surefoot.runs.claims import Claims
from surefoot.runs.storage import close_storage, open_storage

SPACE = {"a": FloatDistribution(-2.0, 2.0), "b": FloatDistribution(-1.0, 3.0)}
N = 14
N_INIT = 6


class Killed(SurefootSampler):
    """Its process is killed while it makes a suggestion."""

    def _suggest(self, *of):
        os._exit(9)


def value(a: float, b: float) -> float:
    return 100.0 * (b - a * a) ** 2 + (1.0 - a) ** 2


def evaluate(claims: Claims) -> None:
    trial = claims.claim()
    claims.end(trial.number, trial.params, value(**trial.params), {})


def die_while_suggesting(study) -> None:
    def die():
        study.sampler = Killed(SPACE, n_init=N_INIT)
        Claims(study, SPACE, N, 0.1).claim()

    process = multiprocessing.get_context("fork").Process(target=die)
    process.start()
    process.join()
    assert process.exitcode == 9


def stop_while_evaluating(study) -> None:
    claims = Claims(study, SPACE, N, 0.1)
    claims.release(claims.claim().number, "interrupted", again=True)


def die_while_evaluating(study) -> None:
    def die():
        Claims(study, SPACE, N, 0.1).claim()
        os._exit(9)

    process = multiprocessing.get_context("fork").Process(target=die)
    process.start()
    process.join()


def points(folder, stop=None, stops=()) -> list[dict]:
    storage = open_storage(folder / "s.db", create=True)
    study = optuna.create_study(storage=storage, study_name="s", sampler=SurefootSampler(SPACE, n_init=N_INIT))
    for k in range(N):
        for _ in range(stops.count(k)):
            stop(study)
        claims = Claims(study, SPACE, N, 0.1)
        claims.recover()
        evaluate(claims)
    trials = study.get_trials(deepcopy=False)
    close_storage(storage)
    assert len(trials) == N + len(stops)
    assert sum(is_void(t) for t in trials) == len(stops)
    return [t.params for t in trials if was_evaluated(t) and not is_taken_out(t)]


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    return points(tmp_path_factory.mktemp("undisturbed"))


@pytest.mark.bits
@pytest.mark.parametrize("stop", [die_while_suggesting, stop_while_evaluating, die_while_evaluating])
@pytest.mark.parametrize("stops", [(2,), (9,), (10,), (11,), (8, 11)], ids=str)
def test_a_run_that_was_stopped_goes_on_with_the_same_points(stop, stops, undisturbed, tmp_path):
    assert points(tmp_path, stop, stops) == undisturbed


@pytest.mark.bits
def test_a_point_that_was_stopped_twice_is_followed_by_the_same_points(undisturbed, tmp_path):
    assert points(tmp_path, stop_while_evaluating, (10, 10)) == undisturbed
