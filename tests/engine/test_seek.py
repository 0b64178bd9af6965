"""Runs in which everything fails at first, and what makes a failure dear."""

import numpy as np
import pytest

from surefoot import Failed, Optimizer, minimize
from surefoot.acquisition.weight import Weight
from surefoot.engine.lockstep import run_in_lockstep
from surefoot.errors import UnknownNameError
from surefoot.optimize.settings import Settings
from surefoot.optimize.space import Space

CUBE = Space.of([(0.0, 1.0)] * 4)


def narrow(x):
    """Succeeds in 1 % of the cube; four reasons, each in a region of its own."""
    return np.select(
        [x[..., 0] > 0.3, x[..., 1] < 0.7, x[..., 2] > 0.33, x[..., 3] < 0.67],
        [0, 1, 2, 3],
        default=-1,
    )


def first_success(n_runs, n, *, kinds=True, **settings):
    spec = Settings.of(seed=0, n_init=20, **settings).spec

    def evaluate(x):
        found = narrow(x)
        return (x.sum(axis=-1), found < 0, found) if kinds else (x.sum(axis=-1), found < 0)

    ok = run_in_lockstep(CUBE, evaluate, spec, n_runs, n).ok
    return np.where(ok.any(axis=1), ok.argmax(axis=1), n)


@pytest.mark.slow
def test_reasons_lead_to_the_first_success():
    # at random one needs ln 2 / 0.0098 = 71 evaluations in the median
    assert np.median(first_success(6, 45)) < 36


def test_without_kinds_a_search_goes_on_and_never_repeats_itself():
    spec = Settings.of(seed=0, n_init=5).spec
    trace = run_in_lockstep(CUBE, lambda x: (x[..., 0], np.zeros(len(x), bool)), spec, 2, 20)
    assert len(np.unique(trace.X.reshape(-1, 4), axis=0)) == 40


def test_after_a_success_no_long_row_of_failures():
    rng = np.random.default_rng(0)
    optimizer = Optimizer([(0.0, 1.0)] * 4, n_init=1, seed=0)
    for x in rng.random((30, 4)):
        if narrow(x) >= 0:
            optimizer.tell_failure(x, f"check {narrow(x)}")
    optimizer.tell(np.array([0.15, 0.85, 0.15, 0.85]), 1.0)
    row = most = 0
    for _ in range(20):
        x = np.asarray(optimizer.ask())
        if narrow(x) >= 0:
            optimizer.tell_failure(x, f"check {narrow(x)}")
            row += 1
        else:
            optimizer.tell(x, float(x.sum()))
            row = 0
        most = max(most, row)
    assert most <= 6


def test_numbers_in_reasons_make_no_kinds():
    def simulator(x):
        if x[0] > 0.5:
            raise Failed(f"stress {1e7 * x[0]:.3e} > 5e6")
        return float(x[0])

    result = minimize(simulator, [(0, 1), (0, 1)], n_evals=15, n_init=10, seed=1)
    assert set(result.history.kinds.tolist()) == {-1, 0}


# --- cost="time" ----------------------------------------------------------------------------------------------


WEIGHTS = [
    Weight(None, 0.7, smooth=smooth, cost=cost, trust=trust, sparing=sparing)  # type: ignore[arg-type]
    for smooth in (False, True)
    for cost in (0.01, 1.0, 20.0)
    for trust in (None, np.array([[0.03]]), np.array([[0.6]]), np.array([[1.0]]))
    for sparing in (None, np.array([[0.3]]), np.array([[1.0]]))
]


@pytest.mark.parametrize("weight", WEIGHTS)
def test_slopes_of_weights_are_those_of_differences(weight):
    log_p = np.log(np.array([[0.001, 0.05, 0.3, 0.6, 0.8, 0.99]]))
    _, slope = weight._cautious(log_p)
    differences = (weight._cautious(log_p + 1e-7)[0] - weight._cautious(log_p - 1e-7)[0]) / 2e-7
    np.testing.assert_allclose(slope, differences, rtol=1e-4, atol=1e-7)


@pytest.mark.parametrize("weight", WEIGHTS)
def test_a_weight_rises_with_p_and_a_sure_success_costs_nothing(weight):
    value, _ = weight._cautious(np.log(np.linspace(0.001, 1.0, 200))[None])
    assert (np.diff(value[0]) > 0.0).all()
    assert value[0, -1] == pytest.approx(0.0, abs=1e-12)


def test_cheap_failures_are_risked_and_dear_ones_avoided():
    def weights(cost):
        weight = Weight(of=None, least=0.7, smooth=True, cost=cost)  # type: ignore[arg-type]
        return weight._cautious(np.log(np.array([[0.4, 0.95]])))[0][0]

    cheap, plain, dear = (np.diff(weights(cost))[0] for cost in (0.01, 1.0, 20.0))  # what P = 0.95 is worth over 0.4
    assert cheap < plain < dear


def test_time_is_asked_for_by_name_and_counts_only_then():
    def asked(cost, seconds):
        optimizer = Optimizer([(0.0, 1.0)] * 2, n_init=1, seed=0, cost=cost)
        for x in np.random.default_rng(0).random((30, 2)):
            if x[0] > 0.4:
                optimizer.tell_failure(x, "too far", duration_s=seconds)
            else:
                optimizer.tell(x, float(-x[0]), duration_s=1.0)
        return optimizer.ask()

    assert asked("evaluations", 0.01) == asked("evaluations", 100.0)
    assert asked("time", 0.01) != asked("time", 100.0)
    assert asked("time", 0.01)[0] > asked("time", 100.0)[0]


def test_an_unknown_cost_is_refused():
    with pytest.raises(UnknownNameError, match="expected a cost, one of 'evaluations', 'time'; got 'money'"):
        Settings(cost="money")
