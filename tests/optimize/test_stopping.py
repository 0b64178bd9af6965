"""Runs that end before their budget does: a target, stagnation, failures, hours."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from surefoot import minimize
from surefoot.optimize import minimize as door

BOX = [(-1.0, 1.0), (-1.0, 1.0)]


def bowl(x):
    return (x[0] - 0.3) ** 2 + x[1] ** 2


def test_a_target_ends_a_run_as_soon_as_it_is_reached():
    result = minimize(bowl, BOX, n_evals=60, stop={"target": 1e-3})
    assert result.fun <= 1e-3
    assert result.nfev < 60
    assert min(result.func_vals[:-1]) > 1e-3
    assert result.message == f"stopped: evaluation {result.numbers[-1]} reached the target 0.001"


def test_a_target_has_the_users_sign():
    result = minimize(lambda x: -bowl(x), BOX, n_evals=60, maximize=True, stop={"target": -1e-3})
    assert -1e-3 <= result.fun <= 0.0
    assert result.nfev < 60


def test_a_value_outside_of_limits_is_no_target():
    def f(x):
        return {"y": bowl(x), "s": x[0]}

    result = minimize(f, BOX, n_evals=25, outputs={"s": "<= 0"}, objective="y", stop={"target": 0.089})
    assert result.nfev == 25
    assert result.fun >= 0.09


def test_stagnation_is_counted_from_the_best_value_and_after_the_design():
    result = minimize(lambda x: 1.0, BOX, n_evals=60, stop={"stagnation": 5})
    assert result.nfev == result.settings.n_init + 5
    assert result.message == "stopped: no better value in 5 evaluations"


def test_a_number_of_failures_ends_a_run():
    def f(x):
        if x[0] > 0:
            raise RuntimeError("no")
        return bowl(x)

    result = minimize(f, BOX, n_evals=60, stop={"failures": 2})
    assert result.n_failures == 2
    assert result.message == "stopped: 2 evaluations have failed"


def test_hours_end_a_run(monkeypatch):
    clock = iter(range(0, 10**6, 600))
    monkeypatch.setattr(door.time, "monotonic", lambda: float(next(clock)))
    assert minimize(bowl, BOX, n_evals=60, stop={"hours": 0.5}).message == "stopped: 0.5 hours are over"


def test_in_parallel_too():
    with ThreadPoolExecutor(2) as executor:
        result = minimize(bowl, BOX, n_evals=60, stop={"target": 1e-2}, executor=executor, n_workers=2)
    assert result.nfev < 60
    assert "reached the target" in result.message


@pytest.mark.parametrize(
    "stop",
    [
        *(5, {"targt": 1.0}, {"target": "low"}, {"stagnation": 0}, {"stagnation": 2.5}, {"failures": True}),
        *({"hours": -1}, {"gain": 0.05}, {"gain": {"more": 1}}, {"gain": {"probability": 5}}),
        *({"gain": {"more_than": "much"}}, {"gain": {"evaluations": 0}}),
    ],
)
def test_a_bad_stop_is_refused(stop, rejects):
    with rejects():
        minimize(bowl, BOX, stop=stop)


def test_a_budget_of_failures_steers_unless_that_is_turned_off():
    steered = minimize(bowl, BOX, n_evals=3, stop={"failures": 7})
    assert steered.settings.failure_budget == 7
    assert minimize(bowl, BOX, n_evals=3, stop={"failures": 7}, failure_budget=0).settings.failure_budget == 0
    assert minimize(bowl, BOX, n_evals=3, stop={"target": 7}).settings.failure_budget == 0


def test_a_run_with_a_budget_is_resumed_with_another_stop(tmp_path):
    minimize(bowl, BOX, n_evals=3, stop={"failures": 7}).save(tmp_path / "run.json")
    again = minimize(bowl, resume=tmp_path / "run.json", n_evals=4, stop={"failures": 9})
    assert (again.nfev, again.settings.failure_budget) == (4, 7)
