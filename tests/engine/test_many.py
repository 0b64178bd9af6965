"""Histories of more evaluations than a process holds."""

import numpy as np
import pytest

from surefoot import Optimizer, minimize, problems
from surefoot.engine.batch import Batch
from surefoot.engine.many import PER_PROPOSAL, held, left_out_near
from surefoot.engine.suggest import suggest
from surefoot.engine.warmth import Warmth
from surefoot.errors import InvalidInputError
from surefoot.optimize.settings import Settings
from surefoot.optimize.space import Space

BRANIN = problems.get("BRA")


def batch_of(X: np.ndarray, y: np.ndarray, ok: np.ndarray | None = None) -> Batch:
    """Runs of given points."""
    ok = np.ones(y.shape, bool) if ok is None else ok
    return Batch(X, y, ok, np.zeros((len(X), 0, X.shape[2])), tuple(range(len(X))))


def scattered(n: int = 300, d: int = 3, runs: int = 1) -> Batch:
    """Uniform points of a bowl."""
    X = np.random.default_rng(0).random((runs, n, d))
    return batch_of(X, ((X - 0.3) ** 2).sum(axis=2))


def told(X: np.ndarray, f=BRANIN, **settings) -> Optimizer:
    """An optimizer that knows f at given points of the unit square, and failed where f is NaN."""
    optimizer = Optimizer(f.bounds, **settings)
    low, high = np.asarray(f.bounds).T
    for x in low + X * (high - low):
        optimizer.tell(x, float(f(x)))
    return optimizer


# --- which evaluations are held


def test_a_history_that_fits_is_held_whole():
    batch = scattered(100)
    assert held(batch, batch.y, None, 100) is None


def test_as_many_are_held_as_asked_for_each_once_in_their_order():
    batch = scattered()
    rows = held(batch, batch.y, None, 80)
    assert rows is not None
    assert rows.shape == (1, 80)
    assert (np.diff(rows[0]) > 0).all()


def test_the_best_and_their_neighbours_are_held():
    batch = scattered()
    rows = held(batch, batch.y, None, 80)
    order = np.argsort(batch.y[0])
    assert set(order[:20]) <= set(rows[0])
    distance = ((batch.X[0] - batch.X[0, order[0]]) ** 2).sum(axis=1)
    assert set(np.argsort(distance)[:20]) <= set(rows[0])


@pytest.mark.parametrize("most", [1, 2, 3, 5])
def test_the_best_is_held_however_few_are(most):
    batch = scattered()
    rows = held(batch, batch.y, None, most)
    assert rows.shape == (1, most)
    assert np.argmin(batch.y[0]) in rows[0]


def test_distances_count_in_length_scales():
    batch = scattered()
    rows = held(batch, batch.y, np.array([[1.0, 0.0, 0.0]]), 80)  # one input matters
    best = batch.X[0, np.argmin(batch.y[0]), 0]
    assert set(np.argsort(np.abs(batch.X[0, :, 0] - best))[:20]) <= set(rows[0])


def test_what_is_left_out_is_never_far_from_what_is_held():
    batch = scattered(1000, 2)
    rows = held(batch, batch.y, None, 100)[0]
    gap = np.sqrt(((batch.X[0][:, None] - batch.X[0, rows]) ** 2).sum(axis=2)).min(axis=1)
    assert gap.max() < 0.15  # 50 points alone, on a square grid, leave 0.1


def test_failures_are_not_held_where_there_are_enough_successes():
    batch = scattered()
    ok = batch.X[:, :, 0] > 0.3
    rows = held(batch_of(batch.X, batch.y, ok), batch.y, None, 80)
    assert ok[0, rows[0]].all()


def test_a_run_with_fewer_successes_beside_others_is_filled_with_failures():
    batch = scattered(runs=2)
    ok = np.ones((2, 300), bool)
    ok[1, 50:] = False
    rows = held(batch_of(batch.X, batch.y, ok), batch.y, None, 80)
    assert set(range(50)) <= set(rows[1])
    assert rows.shape == (2, 80)


def test_thousands_of_equal_points_are_held_without_complaint():
    batch = batch_of(np.full((1, 500, 2), 0.5), np.zeros((1, 500)))
    rows = held(batch, batch.y, None, 60)
    assert len(set(rows[0])) == 60


def test_a_part_of_a_batch_has_the_values_of_its_points():
    batch = scattered()
    part = batch.of_evaluations(np.array([[3, 5]]))
    np.testing.assert_array_equal(part.X, batch.X[:, [3, 5]])
    np.testing.assert_array_equal(part.y, batch.y[:, [3, 5]])


# --- looking closer


def test_the_nearest_that_were_left_out_join_first():
    batch = scattered(1000, 2)
    rows = np.arange(100)[None]
    proposal = batch.X[:, 500:501] + 1e-6
    near = left_out_near(batch, rows, proposal, np.ones((1, 2)))
    assert near is not None
    assert near.shape == (1, PER_PROPOSAL)
    distance = ((batch.X[0, 100:] - proposal[0, 0]) ** 2).sum(axis=1)
    assert set(near[0]) == set(100 + np.argsort(distance)[:PER_PROPOSAL])


def test_every_proposal_has_its_nearest_among_them():
    batch = scattered(1000, 2)
    rows = np.arange(100)[None]
    proposals = batch.X[:, [500, 600, 700]] + 1e-6
    near = left_out_near(batch, rows, proposals, np.ones((1, 2)))
    assert {500, 600, 700} <= set(near[0])


def test_nothing_joins_where_the_best_proposal_is_nearest_to_what_is_held():
    batch = scattered(1000, 2)
    rows = np.arange(100)[None]
    assert left_out_near(batch, rows, batch.X[:, 50:51] + 1e-6, np.ones((1, 2))) is None


# --- whole runs


def test_until_there_are_more_evaluations_than_it_holds_a_run_is_the_exact_one():
    runs = [minimize(BRANIN, BRANIN.bounds, n_evals=31, max_points=most) for most in (30, 10**6)]
    a, b = (run.batch.X for run in runs)
    np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("name", ["BRA", "HM3"])
def test_a_run_that_holds_a_third_of_its_evaluations_still_converges(name):
    f = problems.get(name)
    result = minimize(f, f.bounds, n_evals=90, max_points=30)
    assert result.fun - f.f_star < 1e-4


def test_the_next_point_of_a_stored_run_is_that_of_one_that_went_on(tmp_path):
    X = np.random.default_rng(1).random((60, 2))
    optimizer = told(X, max_points=40)
    for _ in range(3):
        x = optimizer.ask()
        optimizer.tell(x, float(BRANIN(x)))
    optimizer.save(tmp_path / "run.json")
    np.testing.assert_array_equal(Optimizer.load(tmp_path / "run.json").ask(), optimizer.ask())


def test_a_suggestion_keeps_away_from_an_evaluation_that_was_left_out():
    rng = np.random.default_rng(2)
    X = rng.random((400, 2))
    optimizer = told(X, max_points=40, policy="EI")
    low, high = np.asarray(BRANIN.bounds).T
    for _ in range(5):
        x = (np.asarray(optimizer.ask()) - low) / (high - low)
        away_from_minima = min(np.abs(x - (np.asarray(m) - low) / (high - low)).max() for m in BRANIN.minimizers)
        gap = np.sqrt(((X - x) ** 2).sum(axis=1)).min()
        assert away_from_minima < 0.05 or gap > 0.01
        optimizer.tell(low + x * (high - low), float(BRANIN(low + x * (high - low))))


def test_failures_of_a_long_history_are_learned_from():
    X = np.random.default_rng(3).random((120, 2))
    low, high = np.asarray(BRANIN.bounds).T
    optimizer = Optimizer(BRANIN.bounds, max_points=40)
    for u in X:
        x = low + u * (high - low)
        optimizer.tell(x, float(BRANIN(x)) if u[0] > 0.3 else float("nan"))
    failed = 0
    for _ in range(10):
        x = np.asarray(optimizer.ask())
        fails = (x[0] - low[0]) / (high[0] - low[0]) <= 0.3
        failed += fails
        optimizer.tell(x, float("nan") if fails else float(BRANIN(x)))
    assert failed <= 2


def test_limits_on_outputs_hold_in_a_long_history():
    def f(x):
        return {"value": float(BRANIN(x)), "load": float(x[0] + x[1])}

    result = minimize(f, BRANIN.bounds, n_evals=45, max_points=20, outputs={"load": "<= 4"})
    assert result.feasible
    assert result.x[0] + result.x[1] <= 4.0


def test_a_batch_of_long_runs_gives_each_what_it_gets_alone():
    batch = scattered(120, 2, runs=2)
    spec, space = Settings(n_init=5, max_points=50).spec, Space.of([(0.0, 1.0)] * 2)
    both = suggest(space, batch, 120, spec, Warmth()).x
    for r in range(2):
        alone = suggest(space, batch.part(np.asarray([r])), 120, spec, Warmth()).x
        np.testing.assert_array_equal(both[r], alone[0])


def test_a_history_of_others_is_fitted_as_well_from_a_hundred_of_them():
    f = problems.get("HM3")
    X = np.random.default_rng(4).random((400, 3))
    optimizer = told(X, f, seed=0)
    values = []
    for _ in range(12):
        x = optimizer.ask()
        values.append(float(f(x)))
        optimizer.tell(x, values[-1])
    assert min(values) - f.f_star < 1e-3


def test_a_negative_number_of_points_is_refused():
    with pytest.raises(InvalidInputError, match=r"max_points"):
        Optimizer(BRANIN.bounds, max_points=-1)
