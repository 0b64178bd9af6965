"""Claims: the budget holds, lost workers are noticed, their points queued again once."""

import multiprocessing
import os
import time

import optuna
import pytest
from optuna.distributions import FloatDistribution
from optuna.trial import TrialState
from sqlalchemy import event

from surefoot.integrations.optuna import SurefootSampler
from surefoot.integrations.optuna_history import (
    OUTPUT,
    REASON,
    REPEATED,
    TRANSIENT,
    is_void,
    reason_of,
    trials_of,
    was_evaluated,
)
from surefoot.runs.claims import OWNER, RETRY, Claims
from surefoot.runs.ends import Ending, end_trial
from surefoot.runs.heart import Heart
from surefoot.runs.owners import myself
from surefoot.runs.storage import close_storage, open_storage

SPACE = {"a": FloatDistribution(0.0, 1.0)}


@pytest.fixture
def study(tmp_path):
    storage = open_storage(tmp_path / "s.db", create=True)
    yield optuna.create_study(storage=storage, study_name="s", sampler=SurefootSampler(SPACE))
    close_storage(storage)


def claims(study, n_evals=5, heartbeat_s=0.1, **me):
    return Claims(study, SPACE, n_evals, heartbeat_s, me={**myself(), **me})


def elsewhere(study, **options):
    """A worker on another machine."""
    return claims(study, machine="elsewhere", **options)


def states(study):
    return [t.state.name for t in study.get_trials(deepcopy=False)]


def test_a_claim_has_its_parameters_and_its_owner(study):
    trial = claims(study).claim()
    (stored,) = study.get_trials(deepcopy=False)
    assert stored.params == trial.params
    assert stored.system_attrs[OWNER]["pid"] == os.getpid()


def test_no_more_claims_than_the_budget(study):
    first, second = claims(study, 3), elsewhere(study, n_evals=3)
    assert [bool(c.claim()) for c in (first, second, first, second, first)] == [True, True, True, False, False]


def test_a_claim_beyond_the_budget_is_given_up_even_if_it_was_created(study, monkeypatch):
    monkeypatch.setattr("surefoot.runs.claims._RECENT_S", 60.0)
    one, other = claims(study, 1), elsewhere(study, n_evals=1)
    assert len(other.trials()) == 0  # which it will remember for a moment
    assert one.claim() is not None
    assert other.claim() is None
    assert is_void(study.get_trials(deepcopy=False)[1])


def _dies_holding_a_trial(study):
    claims(study).claim()
    os._exit(9)


def die(study):
    process = multiprocessing.get_context("fork").Process(target=_dies_holding_a_trial, args=(study,))
    process.start()
    process.join()


def test_the_trial_of_a_dead_process_of_this_machine_is_queued_again_at_once(study):
    die(study)
    worker = claims(study, n_evals=1)
    assert worker.recover() == ["trial 0 lost its worker; queued again"]
    again = worker.claim()
    assert again.number == 1
    assert again.params == study.get_trials(deepcopy=False)[0].params
    assert again.user_attrs[RETRY] == 0
    assert worker.claim() is None


def test_a_point_that_loses_its_worker_twice_is_not_tried_a_third_time(study):
    die(study)
    claims(study).recover()
    die(study)
    assert claims(study).recover() == ["trial 1 lost its worker a second time; not tried again"]
    last = study.get_trials(deepcopy=False)[-1]
    assert (last.state, is_void(last)) == (TrialState.FAIL, False)
    assert "its worker died" in last.user_attrs[TRANSIENT]


def test_a_silent_worker_elsewhere_is_given_up_after_a_while(study):
    elsewhere(study).claim()
    observer = claims(study, heartbeat_s=0.05)
    done: list[str] = []
    while not done:
        done = observer.recover()
        time.sleep(0.02)
    assert done == ["trial 0 lost its worker; queued again"]


def test_a_worker_elsewhere_that_shows_life_keeps_its_trial(study):
    other = elsewhere(study, heartbeat_s=0.05)
    other.claim()
    observer = claims(study, heartbeat_s=0.05)
    for _ in range(12):
        assert observer.recover() == []
        time.sleep(0.05)
        other.beat()


def test_a_live_process_of_this_machine_keeps_its_trial(study):
    claims(study).claim()
    other = claims(study, pid=os.getppid(), started=_started_of(os.getppid()))
    assert other.recover() == []


def _started_of(pid):
    from surefoot.runs.owners import started

    return started(pid)


def test_two_observers_queue_a_lost_trial_once(study):
    die(study)
    observers = [claims(study), claims(study)]
    assert [len(o.recover()) for o in observers] == [1, 0]
    assert states(study) == ["FAIL", "WAITING"]


def test_what_a_run_on_a_cluster_may_take_over_is_not_queued_again(study):
    observer = claims(study)
    assert observer.adopt() == []
    die(study)  # after the observer has looked, and before it gives anything up
    assert observer.recover(leave=True) == []
    assert [t.number for t in observer.adopt()] == [0]
    assert states(study) == ["RUNNING"]


def test_a_dead_worker_that_had_no_point_yet_is_given_up_on_a_cluster_too(study):
    trial = optuna.create_trial(state=TrialState.RUNNING, system_attrs={OWNER: {**myself(), "started": "before"}})
    study._storage.create_new_trial(study._study_id, template_trial=trial)
    observer = claims(study)
    assert observer.adopt() == []
    assert observer.recover(leave=True) == ["trial 0 lost its worker"]


def test_a_suggestion_waits_for_those_before_it(study):
    before = optuna.create_trial(state=TrialState.RUNNING, system_attrs={OWNER: {**myself(), "machine": "elsewhere"}})
    study._storage.create_new_trial(study._study_id, template_trial=before)
    start = time.monotonic()
    worker = claims(study, heartbeat_s=0.1)
    assert worker.claim() is not None  # the other one never publishes a point, and is given up
    assert time.monotonic() - start > 0.5


def test_a_trial_that_was_created_by_a_call_that_failed_is_found(study):
    worker = claims(study, n_evals=1)
    worker.claim()
    worker.held.clear()
    assert worker.recover() == ["trial 0 lost its worker; queued again"]


def test_release_gives_the_point_to_the_next(study):
    worker = claims(study, n_evals=1)
    trial = worker.claim()
    worker.release(trial.number, "interrupted", again=True)
    assert worker.claim().params == trial.params


OUTCOME = {OUTPUT: {"duration_s": 1.0}}


def given_up(study, worker):
    """A trial that `worker` claimed and that an observer gave up, and the observer."""
    trial = worker.claim()
    observer = claims(study, n_evals=worker.n_evals, heartbeat_s=0.02)
    while not observer.recover():
        time.sleep(0.01)
    return trial, observer


def evaluated(study):
    return {t.number: t.value for t in trials_of(study) if was_evaluated(t)}


def test_the_silence_of_others_is_not_counted_while_the_observer_cannot_read(study):
    other = elsewhere(study, heartbeat_s=0.1)
    other.claim()
    observer = claims(study, heartbeat_s=0.1)
    assert observer.recover() == []
    time.sleep(1.0)  # an outage for both: ten heartbeats
    assert observer.recover() == []  # the first look after it
    other.beat()
    assert observer.recover() == []
    assert states(study) == ["RUNNING"]


def test_a_late_result_ends_the_trial_that_waits_in_its_place(study):
    late = elsewhere(study, n_evals=1)
    trial, _ = given_up(study, late)
    assert "counts as trial 1" in late.end(trial.number, trial.params, 7.0, OUTCOME)
    assert evaluated(study) == {1: 7.0}
    assert states(study) == ["FAIL", "COMPLETE"]
    assert trials_of(study)[1].params == trial.params
    assert claims(study, n_evals=1).claim() is None


def test_a_late_result_ends_the_trial_that_is_evaluated_again_and_the_second_result_is_kept(study):
    late = elsewhere(study, n_evals=1)
    trial, observer = given_up(study, late)
    again = observer.claim()
    assert again.params == trial.params
    late.end(trial.number, trial.params, 7.0, OUTCOME)
    note = observer.end(again.number, again.params, 8.0, {OUTPUT: {"duration_s": 2.0}})
    assert "kept, not counted" in note
    assert evaluated(study) == {1: 7.0}
    last = trials_of(study)[-1]
    assert (last.value, last.params, last.user_attrs[REPEATED]) == (8.0, trial.params, 1)


def test_a_late_result_of_a_point_that_has_its_result_is_kept_and_not_counted(study):
    late = elsewhere(study, n_evals=1)
    trial, observer = given_up(study, late)
    again = observer.claim()
    assert observer.end(again.number, again.params, 7.0, OUTCOME) == ""
    late.end(trial.number, trial.params, None, {OUTPUT: {"duration_s": 2.0}, REASON: "diverged"})
    assert evaluated(study) == {1: 7.0}
    assert trials_of(study)[-1].user_attrs[REASON] == "diverged"


def test_a_late_result_counts_if_its_point_was_lost_for_good(study):
    late = elsewhere(study, n_evals=1)
    trial, _ = given_up(study, late)
    end_trial(study, trials_of(study)[1]._trial_id, Ending({TRANSIENT: "lost again"}))
    late.end(trial.number, trial.params, 7.0, OUTCOME)
    assert evaluated(study) == {2: 7.0}  # and the transient failure counts no more
    assert "came late" in reason_of(trials_of(study)[1])


def test_a_late_result_that_is_reported_twice_counts_once(study):
    late = elsewhere(study, n_evals=1)
    trial, _ = given_up(study, late)
    late.end(trial.number, trial.params, 7.0, OUTCOME)
    assert late.end(trial.number, trial.params, 7.0, OUTCOME) == ""  # the answer to the first report was lost
    assert len(trials_of(study)) == 2


def test_a_trial_that_was_given_up_can_be_released(study):
    late = elsewhere(study, n_evals=1)
    trial, _ = given_up(study, late)
    late.beat()
    assert late.held == {}
    late.release(trial.number, "not evaluated: no space left", again=True)
    assert states(study) == ["FAIL", "WAITING"]


def test_a_worker_that_waits_for_its_turn_can_be_stopped(study):
    before = optuna.create_trial(state=TrialState.RUNNING, system_attrs={OWNER: {**myself(), "machine": "elsewhere"}})
    study._storage.create_new_trial(study._study_id, template_trial=before)
    asked = []
    worker = claims(study, heartbeat_s=1000.0)
    assert worker.claim(lambda: bool(asked.append(1)) or len(asked) > 3) is None
    assert states(study) == ["RUNNING", "FAIL"]
    assert worker.held == {}


def _dies_at_the_end_of_a_trial(study, when):
    worker = claims(study)
    trial = worker.claim()
    connection = study._storage._backend.engine
    statements = []

    @event.listens_for(connection, "before_cursor_execute")
    def count(*_):
        statements.append(1)
        if len(statements) == when:
            os._exit(9)

    worker.end(trial.number, trial.params, None, {OUTPUT: {"duration_s": 1.0}, REASON: "diverged"})
    os._exit(0)


def test_a_worker_killed_at_any_statement_of_an_end_leaves_a_trial_that_counts_or_is_queued_again(study):
    storage = study._storage._backend
    for when in range(1, 30):
        study = optuna.create_study(storage=storage, study_name=f"{when}", sampler=SurefootSampler(SPACE))
        context = multiprocessing.get_context("fork")
        process = context.Process(target=_dies_at_the_end_of_a_trial, args=(study, when))
        process.start()
        process.join()
        claims(study).recover()
        waiting = sum(t.state == TrialState.WAITING for t in trials_of(study))
        assert len(evaluated(study)) + waiting == 1
        if process.exitcode == 0:
            return
    raise AssertionError("an end of more than 30 statements")


def test_the_heart_beats_while_the_main_thread_is_busy(study):
    worker, observer = elsewhere(study, heartbeat_s=0.1), claims(study, heartbeat_s=0.5)
    worker.claim()
    with Heart(worker):
        beats = set()
        while len(beats) < 5:
            beats.add(trials_of(study)[0].system_attrs[OWNER]["beat"])
            assert observer.recover() == []
            time.sleep(0.02)
