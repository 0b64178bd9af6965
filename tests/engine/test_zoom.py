"""Zooms: with limits, one suggestion of three sees the neighbourhood of the best evaluation alone."""

import math
from dataclasses import replace

import numpy as np
import pytest

from surefoot import Categorical, Integer, Optimizer, Real, minimize
from surefoot.acquisition.weight import Weight
from surefoot.engine import zoom
from surefoot.engine.batch import Batch
from surefoot.engine.model import fit_model
from surefoot.engine.spec import Limit
from surefoot.engine.suggest import suggest
from surefoot.engine.warmth import Warmth
from surefoot.engine.zoom import EVERY, Box, seen_of, zoom_of, zooms
from surefoot.numerics.designs import generator
from surefoot.optimize.allowed import domain_of
from surefoot.optimize.settings import Settings
from surefoot.optimize.space import Space

LIMITS = {"disc": "<= 0.25"}
SPEC = Settings(n_init=6, outputs=LIMITS).spec
TURN = SPEC.n_init + 1  # of the zoom among EVERY steps
PLANE = Space.of([(0.0, 1.0)] * 2)


def disc(X: np.ndarray) -> np.ndarray:
    return ((X - 0.5) ** 2).sum(axis=-1)


def gathered(n: int = 24, D: int = 2, at: float = 0.3, width: float = 0.05, seed: int = 0) -> Batch:
    """A run of which half lies anywhere, and half beside one point."""
    rng = np.random.default_rng(seed)
    X = np.where(np.arange(n)[:, None] % 2 == 0, rng.random((n, D)), at + width * (rng.random((n, D)) - 0.5))[None]
    return Batch(X, X.sum(axis=2), np.ones((1, n), bool), np.zeros((1, 0, D)), (0,), outputs=disc(X[..., :2])[:, None])


def zoom_in(run: Batch, domain=PLANE) -> zoom.Zoom | None:
    return zoom_of(domain, run, fit_model(run, SPEC, Warmth(), (generator(0, 0, 9),)))


def test_the_box_lies_round_the_best_feasible_evaluation_and_holds_its_neighbours():
    run = gathered()
    found = zoom_in(run)
    feasible = disc(run.X[0]) <= 0.25
    best = run.X[0, np.argmin(np.where(feasible, run.y[0], np.inf))]
    assert np.abs(found.domain.into(best) - 0.5).max() < 1e-9
    inside = np.abs(found.batch.X[0] - 0.5).max(axis=1) <= 0.5
    assert found.batch.X.shape[1] == seen_of(2)
    assert inside.sum() >= zoom.OUT_TO * 3


def test_a_box_beside_a_bound_lies_within_it():
    run = gathered(at=0.02)
    X = np.clip(run.X, 0.0, 1.0)
    found = zoom_in(replace(run, X=X, y=X.sum(axis=2), outputs=np.zeros((1, 1, X.shape[1]))))
    corners = found.domain.out(np.asarray([[0.0, 0.0], [1.0, 1.0]]))
    assert corners.min() >= 0.0
    assert np.ptp(corners, axis=0) == pytest.approx(found.domain.size)


@pytest.mark.parametrize(
    "without",
    [
        lambda run: replace(run, outputs=run.outputs + 9.0),  # nothing feasible
        lambda run: replace(run, outputs=np.full_like(run.outputs, math.nan)),
        lambda run: replace(run, allowed=np.zeros_like(run.ok)),
        lambda run: replace(run, pending=np.full((1, 1, 2), 0.3)),
        lambda run: gathered(n=seen_of(2) - 1),  # too few
        lambda run: gathered(width=0.0),  # all on one spot
        lambda run: gathered(at=0.5, width=1.0),  # none near
    ],
)
def test_there_is_none(without):
    assert zoom_in(gathered()) is not None
    assert zoom_in(without(gathered())) is None


def test_it_takes_turns():
    assert [number for number in range(6, 24) if zooms(SPEC, number)] == list(range(TURN, 24, EVERY))


@pytest.mark.parametrize(
    "settings", [{"outputs": {}}, {"noise": 0.1}, {"failures": "impute"}, {"search": "paper"}], ids=str
)
def test_other_searches_have_none(settings):
    assert not zooms(Settings(**{"n_init": 6, "outputs": LIMITS, **settings}).spec, TURN)


def test_what_is_under_way_elsewhere_does_not_matter():
    run = replace(gathered(), pending=np.full((1, 1, 2), 0.9))
    assert zoom_in(run).batch.pending.shape == (1, 0, 2)


def test_held_inputs_stay_and_other_choices_are_not_seen():
    space = Space.of({"k": Integer(0, 3), "x": Real(0, 1), "m": Categorical(["a", "b"]), "y": Real(0, 1)})
    rng = np.random.default_rng(1)
    units = space.snap(np.where(space.free, 0.4 + 0.05 * rng.random((60, space.n_inputs)), 0.0))
    units[30:, ~space.free] = space.from_uniform(rng.random((30, 4)))[:, ~space.free]
    y = units.sum(axis=1)
    run = Batch(units[None], y[None], np.ones((1, 60), bool), np.zeros((1, 0, units.shape[1])), (0,))
    run = replace(run, outputs=np.zeros((1, 1, 60)))
    found = zoom_in(run, space)
    best = units[np.argmin(y)]
    back = found.domain.out(found.batch.X[0])
    assert found.domain.d == 2
    np.testing.assert_array_equal(back[:, ~space.free], np.tile(best[~space.free], (len(back), 1)))


def test_p_success_and_its_slopes_are_those_of_the_domain():
    class Bump:
        rates = np.ones((1, 3))

        def log_p(self, x):
            return -((x * np.asarray([1.0, 2.0, 3.0])).sum(axis=-1) ** 2)

        def log_p_and_gradient(self, x):
            w = np.asarray([1.0, 2.0, 3.0])
            return self.log_p(x), -2.0 * (x * w).sum(axis=-1)[..., None] * w

        def select(self, runs):
            return self

    space = Space.of({"k": Integer(0, 3), "x": Real(0, 1), "y": Real(0, 1)})
    box = Box(space, np.asarray([0.2, 0.5, 0.5]), np.asarray([1, 2]), np.asarray([0.4, 0.45]), 0.1)
    seen = zoom.Zoom(box, gathered()).success(Weight(Bump()))
    x, h = np.asarray([[[0.3, 0.8]]]), 1e-6
    value, slope = seen.values_and_gradients(x)
    assert value == pytest.approx(-((0.2 + 2.0 * 0.43 + 3.0 * 0.53) ** 2))
    for i in range(2):
        step = h * np.eye(2)[i]
        assert slope[0, 0, i] == pytest.approx(((seen.values(x + step) - seen.values(x - step)) / (2.0 * h)).item())


@pytest.mark.parametrize("constraints", [["x0 + x1 >= 0.7"], ["x0 == 2*x1 - 0.3"]])
def test_known_constraints_hold(constraints):
    domain = domain_of(Space.of([(0.0, 1.0)] * 2, constraints))
    run = gathered()
    X = domain.snap(run.X[0])[None]
    run = replace(run, X=X, y=np.abs(X - 0.3).sum(axis=2), outputs=disc(X)[:, None])
    found = zoom_in(run, domain)
    inside = found.domain.out(found.domain.from_uniform(np.random.default_rng(2).random((50, 2))))
    assert domain.region.allowed(inside).all()
    margins, slopes = found.domain.region.margins(np.asarray([0.4, 0.6]))
    stepped, _ = found.domain.region.margins(np.asarray([0.4 + 1e-6, 0.6]))
    assert (stepped - margins) / 1e-6 == pytest.approx(slopes[:, 0], abs=1e-6)


@pytest.mark.parametrize("constraints", [["x0 + x1 >= 0.7"], ["x0 == 2*x1 - 0.3"]])
def test_no_suggestion_violates_them(constraints):
    optimizer = Optimizer([(0.0, 1.0)] * 2, constraints=constraints, outputs={"disc": "<= 0.25"}, n_init=6)
    for _ in range(40):
        x = optimizer.ask()
        assert not Space.of([(0.0, 1.0)] * 2, constraints).violated(x)
        optimizer.tell(x, {"sum": x[0] + 2.0 * x[1], "disc": float(disc(np.asarray(x)))})


@pytest.mark.bits
def test_a_zoom_in_a_batch_is_that_of_the_run_alone():
    runs = [gathered(seed=seed) for seed in (1, 2, 3)]
    runs[1] = replace(runs[1], outputs=runs[1].outputs + 9.0)  # nothing feasible: it has none
    batch = replace(
        runs[0],
        **{
            name: np.concatenate([getattr(run, name) for run in runs])
            for name in ("X", "y", "ok", "pending", "outputs")
        },
        run_ids=(0, 1, 2),
    )
    spec = replace(SPEC, limits=(Limit(-math.inf, 0.25),))
    together = suggest(PLANE, batch, TURN, spec, Warmth())
    for r in range(3):
        alone = suggest(PLANE, batch.part(np.asarray([r])), TURN, spec, Warmth())
        np.testing.assert_array_equal(alone.x[0], together.x[r])


def test_beside_failures_it_keeps_to_what_works():
    def fails(x):
        if x[0] < x[1] - 0.1:
            raise ArithmeticError("diverged")
        return {"sum": x[0] + x[1], "disc": float(disc(np.asarray(x)))}

    found = minimize(fails, [(0.0, 1.0)] * 2, n_evals=40, outputs=LIMITS)
    assert found.fun == pytest.approx(1.0 - math.sqrt(0.5), rel=1e-6)
    assert found.n_failures <= 15


def noise_of_the_sum(run: Batch) -> Batch:
    return replace(run, y=run.y + 0.3 * np.random.default_rng(3).standard_normal(run.y.shape))


def noise_of_the_disc(run: Batch) -> Batch:
    return replace(run, outputs=run.outputs + 0.1 * np.random.default_rng(3).standard_normal(run.outputs.shape))


@pytest.mark.parametrize("settings", [{"policy": "EI"}, {"policy": "LCB"}, {"policy": "RND"}], ids=str)
def test_other_policies_have_none(settings, monkeypatch):
    spec = Settings(n_init=6, outputs=LIMITS, **settings).spec
    x = suggest(PLANE, gathered(), TURN, spec, Warmth()).x
    monkeypatch.setattr(zoom, "SEEN", 10**9)
    np.testing.assert_array_equal(suggest(PLANE, gathered(), TURN, spec, Warmth()).x, x)


def test_points_keep_the_distance_that_is_asked_for():
    settings = {"n_evals": 45, "outputs": LIMITS, "min_distance": 0.01}
    found = minimize(lambda x: {"sum": x[0] + x[1], "disc": float(disc(x))}, [(0.0, 1.0)] * 2, **settings)
    X = np.asarray([e.x for e in found.history.evaluations])
    apart = np.abs(X[:, None] - X).max(axis=2)
    assert apart[np.triu_indices(45, 1)].min() > 0.01


def test_points_of_a_batch_differ_where_inputs_are_computed_from_others():
    optimizer = Optimizer([(0.0, 1.0)] * 3, constraints=["x0 + x1 + x2 == 1"], outputs={"disc": "<= 0.5"}, n_init=6)
    for _ in range(40):
        x = optimizer.ask()
        optimizer.tell(x, {"sum": x[0] + 2.0 * x[1], "disc": float(disc(np.asarray(x)))})
    X = np.asarray(optimizer.ask(8))
    assert np.abs(X[:, None] - X).max(axis=2)[np.triu_indices(8, 1)].min() > 0.0


@pytest.mark.parametrize("noise", [noise_of_the_sum, noise_of_the_disc])
def test_where_a_model_sees_noise_all_evaluations_are_asked(noise, monkeypatch):
    run = gathered()
    noisy = noise(run)

    def point(batch: Batch) -> np.ndarray:
        return suggest(PLANE, batch, TURN, SPEC, Warmth()).x[0]

    near = [point(run), point(noisy)]
    monkeypatch.setattr(zoom, "SEEN", 10**9)
    assert not np.array_equal(near[0], point(run))
    np.testing.assert_array_equal(near[1], point(noisy))
