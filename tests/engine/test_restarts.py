"""Runs that have settled in a minimum look for another one."""

import itertools
import math
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import surefoot
from surefoot import Evaluation, Integer, Optimizer, minimize
from surefoot.engine import choose, restarts
from surefoot.engine.batch import Batch
from surefoot.engine.lockstep import run_in_lockstep
from surefoot.engine.restarts import ALONE, BESIDE, IN_A_ROW, SAME, WINDOW, Phase, phase_of, phases_of, split
from surefoot.engine.suggest import suggest
from surefoot.engine.warmth import Warmth
from surefoot.gp.hyperparameters import FitState
from surefoot.optimize.notes import restart_note
from surefoot.optimize.settings import Settings
from surefoot.optimize.space import Space

BOX = [(0.0, 1.0)] * 2
N_INIT = 6
WRONG, RIGHT = (0.25, 0.3), (0.9, 0.1)


def pits(x: np.ndarray) -> np.ndarray:
    """A wide pit, and a narrow one that is deeper."""
    wide = -1.0 * np.exp(-((x - WRONG) ** 2).sum(axis=-1) / 0.08)
    return np.asarray(wide - 2.0 * np.exp(-((x - RIGHT) ** 2).sum(axis=-1) / 0.015))


def refined(n: int, place: tuple[float, ...] = WRONG, design: int = N_INIT, seed: int = 0) -> np.ndarray:
    """A design, then ever smaller steps towards a place: (n, 2)."""
    rng = np.random.default_rng(seed)
    steps = 10.0 ** -np.minimum(0.5 + 0.4 * np.arange(n - design), 8.0)
    near = np.asarray(place) + steps[:, None] * rng.choice([-0.5, 0.5], (n - design, 2))
    return np.clip(np.concatenate([rng.random((design, 2)), near]), 0.0, 1.0)


def bowl(X: np.ndarray, place: tuple[float, ...] = WRONG) -> np.ndarray:
    return ((X - place) ** 2).sum(axis=1)


def phase(X: np.ndarray, y: np.ndarray, ok: np.ndarray | None = None, first: int = N_INIT) -> Phase:
    ok = np.ones(len(y), bool) if ok is None else ok
    return phase_of(Batch(X[None], y[None], ok[None], np.zeros((1, 0, 2)), (0,)), 0, N_INIT, first)


def settled() -> np.ndarray:
    """The points of a run that has just settled."""
    X = refined(100)
    return X[: next(k for k in range(100) if phase(X[:k], bowl(X[:k])).number == 1)]


# --- phases


def test_a_run_that_still_improves_is_in_its_first_phase():
    X = refined(60)[:25]
    found = phase(X, bowl(X))
    assert (found.number, found.anew, len(found.columns)) == (0, False, 25)


def test_a_run_that_has_settled_begins_anew():
    X = settled()
    found = phase(X, bowl(X))
    assert found.anew
    assert (len(found.columns), found.asked) == (0, 0)


def test_noise_is_no_minimum_that_a_run_has_settled_in():
    X = refined(200)
    assert phase(X, bowl(X) + 1e-3 * np.random.default_rng(1).standard_normal(200)).number == 0


def test_noise_and_failures_at_random_are_no_border():
    X, rng = np.concatenate([refined(40), WRONG + 1e-3 * np.random.default_rng(2).standard_normal((400, 2))]), np.random
    ok = (np.arange(440) < N_INIT) | (rng.default_rng(3).random(440) < 0.5)
    y = np.where(ok, bowl(X) + 1e-2 * rng.default_rng(1).standard_normal(440), math.nan)
    assert phase(X, y, ok).number == 0


def test_evaluations_that_look_elsewhere_are_no_pile():
    X = np.concatenate([refined(12), np.random.default_rng(1).random((60, 2))])
    assert phase(X, bowl(X)).number == 0


def test_a_pile_that_others_have_made_before_the_first_model_is_no_phase():
    X = settled()
    assert phase(X, bowl(X), first=len(X)).number == 0
    assert phase(X, bowl(X), first=N_INIT).number == 1


def test_a_phase_anew_sees_its_own_evaluations_without_those_beside_the_first_minimum():
    X = settled()
    begun = len(X)
    more = np.concatenate([X, [[0.9, 0.9], [0.25, 0.3 + 0.5 * BESIDE], [0.1, 0.9]]])
    found = phase(more, bowl(more))
    assert found.number == 1
    assert found.asked == 2
    assert found.columns.tolist() == [begun, begun + 2]


def test_a_phase_anew_ends_where_it_comes_to_the_first_minimum_again():
    X = settled()
    again = np.asarray(WRONG) + 1e-4 * np.arange(1, SAME + 1)[:, None]
    X = np.concatenate([X, np.random.default_rng(1).random((N_INIT, 2)), again])
    assert phase(X[:-1], bowl(X[:-1])).number == 1
    assert phase(X, bowl(X)).number == 2
    assert len(phase(X, bowl(X)).columns) == len(X)


def test_points_that_an_earlier_phase_has_asked_for_are_none_of_the_design():
    X = settled()
    under_way = np.concatenate([np.asarray(WRONG) + 1e-6 * np.arange(1, 17)[:, None], [[0.7, 0.7]]])
    batch = Batch(X[None], bowl(X)[None], np.ones((1, len(X)), bool), under_way[None], (0,))
    found = phase_of(batch, 0, N_INIT, N_INIT)
    assert (found.number, found.asked) == (1, 1)
    told = np.concatenate([X, under_way[:16]])
    assert (phase(told, bowl(told)).number, phase(told, bowl(told)).asked) == (1, 0)


@pytest.mark.parametrize(("elsewhere", "most"), [(1, N_INIT + SAME), (0, ALONE)])
def test_a_phase_anew_ends_where_its_design_is_to_be_had_beside_the_first_minimum_alone(elsewhere, most):
    X = settled()
    beside = np.asarray(WRONG) + 1e-4 * np.arange(1, most + 1)[:, None]
    X = np.concatenate([X, np.full((elsewhere, 2), 0.7), beside])
    assert phase(X[:-1], bowl(X[:-1])).number == 1
    assert phase(X, bowl(X)).number == 2


def test_phases_of_ten_thousand_evaluations_are_found_within_their_own_number_of_looks(monkeypatch):
    X, looks = settled(), []
    again = np.concatenate([np.random.default_rng(1).random((N_INIT, 2)), np.tile(WRONG, (40, 1))])
    X = np.concatenate([X, np.tile(again, (200, 1))])
    look = restarts._settled_at
    monkeypatch.setattr(restarts, "_settled_at", lambda *of: (looks.append(len(of[3])), look(*of))[1])
    found = phase(X, bowl(X))
    assert found.number > 100
    assert sum(looks) < 10 * len(X)  # evaluations that were looked at, all phases together


@pytest.mark.parametrize("seed", range(20))
def test_what_is_told_later_does_not_move_the_phases_before(seed):
    rng = np.random.default_rng(seed)
    X = np.clip(np.concatenate([rng.random((N_INIT, 2)), WRONG + 1e-3 * rng.standard_normal((60, 2))]), 0.0, 1.0)
    ok = rng.random(len(X)) < 0.3
    y = np.where(ok, bowl(X), math.nan)
    seen = [phase(X[:k], y[:k], ok[:k]).begun for k in range(N_INIT, len(X) + 1)]
    assert all(late[: len(early)] == early for early, late in itertools.pairwise(seen))


def test_a_phase_anew_in_which_nothing_succeeds_ends():
    X = settled()
    begun = len(X)
    X = np.concatenate([X, np.random.default_rng(1).random((N_INIT + WINDOW, 2))])
    ok = np.arange(len(X)) < begun
    assert phase(X[:-1], bowl(X[:-1]), ok[:-1]).number == 1
    assert phase(X, bowl(X), ok).number == 2


def at_border(n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A run that creeps to a border from inside; two of three evaluations there fail: points, values, successes."""
    X = refined(n)
    ok = (np.arange(n) < N_INIT) | (np.arange(n) % 3 == 0)
    return X, np.where(ok, np.abs(X[:, 0] - WRONG[0]) + 1e-3 * bowl(X), math.nan), ok


def test_beside_a_border_fewer_digits_are_asked_for():
    X, y, ok = at_border(40)
    assert phase(X, y, ok).anew
    free = np.abs(X[:, 0] - WRONG[0]) + 1e-3 * bowl(X)  # the same, at no price
    assert not phase(X, free).anew


def test_a_phase_that_comes_back_to_a_border_ends_with_five_failures_in_a_row():
    X, y, ok = at_border(40)
    end = next(k for k in range(10, 41) if phase(X[:k], y[:k], ok[:k]).anew)
    place = X[np.nanargmin(y[:end])]
    again = [place + 1e-3 * (k + 1) for k in range(SAME)]
    back = [place + 1e-5 * (k + 1) for k in range(IN_A_ROW)]
    X = np.concatenate([X[:end], np.random.default_rng(1).random((N_INIT, 2)), again, back])
    ok = np.concatenate([ok[:end], np.ones(N_INIT, bool), np.zeros(SAME + IN_A_ROW, bool)])
    y = np.concatenate([y[:end], np.ones(N_INIT), np.full(SAME + IN_A_ROW, math.nan)])
    n = len(y)
    assert phase(X[: n - IN_A_ROW], y[: n - IN_A_ROW], ok[: n - IN_A_ROW]).number == 2
    assert phase(X[: n - 1], y[: n - 1], ok[: n - 1]).number == 2
    assert phase(X, y, ok).number == 3


def test_values_near_the_largest_floats_do_no_harm():
    X = refined(60)
    with np.errstate(all="raise"):
        assert phase(X, 1e308 * (2.0 * bowl(X) - 1.0)).number >= 0


def test_a_split_batch_keeps_the_other_evaluations_as_labels_and_as_taken():
    X = refined(10)
    batch = Batch(X[None], bowl(X)[None], np.arange(10)[None] % 3 > 0, np.zeros((1, 0, 2)), (0,))
    own = split(batch, np.arange(6, 10)[None])
    assert own.X.shape == (1, 4, 2)
    assert own.earlier is not None
    assert own.n_labels == 10
    assert sorted(map(tuple, own.taken(0))) == sorted(map(tuple, X))


# --- runs


def points_of(run: surefoot.Result | Optimizer) -> np.ndarray:
    return np.asarray([e.x for e in run.history.evaluations], dtype=float)


def best_of(n: int, seed: int, **settings) -> float:
    return minimize(lambda x: float(pits(np.asarray(x))), BOX, n_evals=n, seed=seed, **settings).fun


@pytest.mark.slow
def test_runs_leave_the_wrong_pit():
    stuck = {
        restarts: [best_of(160, seed, restarts=restarts) > -1.5 for seed in range(1, 5)]
        for restarts in ("none", "settled")
    }
    assert sum(stuck["settled"]) < sum(stuck["none"])


def test_until_a_run_has_settled_its_points_are_those_of_a_run_without_restarts():
    with_, without = (
        points_of(minimize(lambda x: float(pits(np.asarray(x))), BOX, n_evals=30, restarts=restarts))
        for restarts in ("settled", "none")
    )
    assert np.array_equal(with_, without)


def test_a_run_that_is_saved_in_a_phase_anew_goes_on_as_if_it_had_not_been(tmp_path: Path):
    f = lambda x: float(pits(np.asarray(x)))  # noqa: E731
    whole = minimize(f, BOX, n_evals=90, seed=1)
    begun = next(k for k in range(20, 90) if _phase_after(whole, k).anew)
    half = minimize(f, BOX, n_evals=begun + 4, seed=1)
    half.save(tmp_path / "half.json")
    rest = minimize(f, BOX, n_evals=90, resume=tmp_path / "half.json")
    assert np.array_equal(points_of(rest), points_of(whole))


def _phase_after(result: surefoot.Result, k: int) -> Phase:
    X = points_of(result)[:k]
    y = pits(X)
    return phase_of(Batch(X[None], y[None], np.ones((1, k), bool), np.zeros((1, 0, 2)), (0,)), 0, N_INIT, N_INIT)


def test_a_run_has_the_same_points_alone_and_among_others_in_other_phases():
    space, spec = Space.of(BOX), Settings(n_init=N_INIT).spec

    def evaluate(units: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return pits(units), np.ones(len(units), bool)

    together = run_in_lockstep(space, evaluate, spec, 3, 70)
    batch = together.batch()
    phases = {phase_of(batch, r, N_INIT, N_INIT).number for r in range(3)}
    alone = run_in_lockstep(space, evaluate, spec, 1, 70)
    assert phases != {0}
    assert np.array_equal(alone.X[0], together.X[0])


@pytest.mark.parametrize("policy", ["alternate", "PI"])
def test_a_run_without_failures_has_the_same_points_beside_one_that_failed_before_its_phase_anew(policy):
    X = settled()
    more = np.random.default_rng(3).random((N_INIT + 3, 2))
    y, n = np.concatenate([bowl(X), bowl(more, (0.8, 0.8)) + 0.1]), len(X) + len(more)
    X = np.concatenate([X, more])
    ok = np.ones((2, n), bool)
    ok[1, 2] = False
    batch = Batch(np.stack([X, X]), np.where(ok, y, math.nan), ok, np.zeros((2, 0, 2)), (0, 1))
    space, spec = Space.of(BOX), Settings(n_init=N_INIT, policy=policy, restarts="settled").spec
    warmth = Warmth(begun=(N_INIT, N_INIT), phases=(0, 0))
    assert [p.number for p in phases_of(batch, spec, warmth.begun)] == [1, 1]
    together = suggest(space, batch, n, spec, warmth)
    alone = [suggest(space, batch.part(r), n, spec, warmth.part(r)) for r in np.arange(2)[:, None]]
    np.testing.assert_array_equal(together.x, np.concatenate([own.x for own in alone]))
    assert alone[0].warmth.failures is None
    assert together.warmth.part(np.asarray([0])).failures is None


def design_anew(fails) -> list[tuple[float, ...]]:
    """The first points of a phase anew, of a run that has settled at WRONG and failed at some points of its design."""
    X = settled()
    optimizer = Optimizer(BOX, n_init=N_INIT, seed=1)
    optimizer.tell(X[:N_INIT], bowl(X[:N_INIT]))
    elsewhere = np.random.default_rng(5).random((40, 2))  # before the model's first suggestion: not in a phase
    for x in elsewhere:
        optimizer.tell_failure(x, "wrong") if fails(x) else optimizer.tell(x, 1.0 + float(x[0]))
    optimizer.ask()
    optimizer.forget_pending()
    for x, y in zip(X[N_INIT:], bowl(X[N_INIT:]), strict=True):
        optimizer.tell(x, y)
    for x in X[-1] + 1e-9 * np.arange(60)[:, None]:  # as many as it takes to settle
        if optimizer_is_anew(optimizer):
            break
        optimizer.tell(x, float(bowl(x[None])[0]))
    points = []
    for _ in range(N_INIT):
        points.append(optimizer.ask())
        optimizer.tell(points[-1], 1.0)
    return points


def optimizer_is_anew(optimizer: Optimizer) -> bool:
    batch, spec = optimizer.result().batch, optimizer.settings.spec
    return restarts.phases_of(batch, spec, optimizer.history.warmth.begun or (46,))[0].anew


def test_a_design_anew_keeps_away_from_where_evaluations_failed_before():
    warned, unwarned = (np.asarray(design_anew(fails))[:, 0] for fails in (lambda x: x[0] > 0.4, lambda x: False))
    assert (unwarned > 0.45).sum() >= 3
    assert (warned > 0.45).sum() <= 1


def test_a_design_anew_does_not_gather_where_failures_are_at_random():
    rng = np.random.default_rng(4)
    points = np.asarray(design_anew(lambda x: rng.random() < 0.5))
    apart = np.sqrt(((points[:, None] - points) ** 2).sum(axis=2))
    assert apart[np.triu_indices(N_INIT, 1)].mean() > 0.35  # a Latin hypercube: 0.55


def test_a_result_says_when_its_run_began_anew():
    result = minimize(lambda x: float(pits(np.asarray(x))), BOX, n_evals=90, seed=1)
    begun = next(k for k in range(20, 90) if _phase_after(result, k).anew)
    told = rf"the run had settled after {begun}(, \d+)*( and \d+)? evaluations, and looked for another minimum: "
    assert re.search(f"{told}none was better", " ".join(repr(result).split()))
    history = replace(result.history, evaluations=(*result.history.evaluations, Evaluation(RIGHT, -2.0)))
    assert re.fullmatch(f"{told}found a better one", restart_note(replace(result, history=history)))


def test_a_result_says_nothing_where_its_run_has_not_settled():
    assert "settled" not in repr(minimize(lambda x: float(pits(np.asarray(x))), BOX, n_evals=25))


def test_points_of_a_finite_space_are_evaluated_once():
    optimizer = Optimizer([Integer(0, 100_000), Integer(0, 100_000)], n_init=N_INIT, seed=1)
    while len(optimizer.history.evaluations) < 110:
        x = optimizer.ask()
        optimizer.tell(x, float(((x[0] - 25_032) / 1e5) ** 2 + ((x[1] - 30_123) / 1e5) ** 2))
    assert phases_begun(optimizer)
    assert len(set(map(tuple, points_of(optimizer)))) == 110


def phases_begun(optimizer: Optimizer) -> tuple[int, ...]:
    result = optimizer.result()
    return restarts.phases_of(result.batch, result.settings.spec, optimizer.history.warmth.begun or (N_INIT,))[0].begun


@pytest.mark.parametrize("q", [8, 32])
def test_batches_go_on_in_a_phase_anew(q, monkeypatch):
    monkeypatch.setattr(choose, "HOPELESS", -math.inf)  # points far from all others would keep the run from settling
    optimizer = Optimizer([(0.0, 1.0)], seed=1)
    places = []
    while len(optimizer.history.evaluations) < 160:
        begun = phases_begun(optimizer) if optimizer.history.evaluations else ()
        points = optimizer.ask(q)
        places += points if len(begun) % 2 == 1 else []
        inner = np.asarray(points)[:, 0]
        optimizer.tell(points, -np.exp(-((inner - 0.25) ** 2) / 0.02) - 2.0 * np.exp(-((inner - 0.9) ** 2) / 0.002))
    assert len(np.unique(points_of(optimizer))) == 160
    far = np.abs(np.asarray(places) - optimizer.result().x).max(axis=1)
    assert (far > 0.1).sum() >= 4  # the design of a phase anew


def test_evaluations_without_restarts_are_no_phases_when_they_are_turned_on():
    f = lambda x: float(pits(np.asarray(x)))  # noqa: E731
    before = minimize(f, BOX, n_evals=90, seed=1, restarts="none")
    after = minimize(f, BOX, n_evals=91, seed=1, history=before.history)
    assert "settled" not in repr(after)


@pytest.mark.parametrize("known", [True, False])
def test_what_a_phase_with_a_model_of_its_own_has_found_is_forgotten_after_it(known):
    state = FitState(np.ones((2, 3)), np.ones((2, 3, 3)), (9, 9))
    warmth = Warmth(state if known else None, None, "", (1, 1), ("se", "se"), begun=(5, 5), phases=(0, 1))
    kept = warmth.in_phases((0, 2))
    assert kept.phases == (0, 2)
    if known:
        assert np.isfinite(kept.objective.theta[0]).all()
        assert np.isnan(kept.objective.theta[1]).all()
    alone = warmth.part(np.asarray([1]))
    assert alone.of_all.objective is None
    assert alone.of_all.kernels == ()
    assert Warmth.from_json(alone.to_json()).phases == (1,)


def test_the_model_of_a_result_is_that_of_all_evaluations_whatever_phase_its_run_is_in():
    result = minimize(lambda x: float(pits(np.asarray(x))), BOX, n_evals=90, seed=1)
    begun = next(k for k in range(20, 90) if _phase_after(result, k).anew)
    half = minimize(lambda x: float(pits(np.asarray(x))), BOX, n_evals=begun + N_INIT + 2, seed=1)
    assert half.history.warmth.phases == (1,)
    mu, sd = half.model.predict([half.x])
    assert abs(mu[0] - half.fun) < 1e-3
    assert sd[0] < 1e-3  # its own evaluations lie far from there
