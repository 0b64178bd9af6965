"""A run alone is the same run in a batch of 50: on NumPy bit by bit, whatever kernels BLAS has for the processor."""

import math
from dataclasses import replace

import numpy as np
import pytest

from surefoot.acquisition.improvement import log_ei, log_pi, log_scaled_ei
from surefoot.engine.batch import Batch
from surefoot.engine.suggest import initial_design, suggest
from surefoot.engine.warmth import Warmth
from surefoot.gp.kernels import get_kernel
from surefoot.gp.likelihood import make_data, negative_log_likelihood
from surefoot.gp.posterior import condition
from surefoot.optimize.parameters import Categorical, Integer
from surefoot.optimize.settings import Settings
from surefoot.optimize.space import Space

pytestmark = pytest.mark.bits

R = 50
COMPARED = (0, 17, 31, 49)


def compare(family, settings: Settings, **options) -> None:
    together = family.loop(list(range(R)), settings, **options)
    for run in COMPARED:
        alone = family.loop([run], settings, **options)
        np.testing.assert_array_equal(alone[0], together[run])


@pytest.mark.parametrize("policy", ["EI", "ScaledEI", "alternate", "LCB", "PI", "MN", "RND"])
def test_ten_steps_alone_are_ten_steps_in_a_batch_of_50(policy: str, family) -> None:
    compare(family, Settings(seed=3, n_init=family.n_init, policy=policy))


@pytest.mark.parametrize(
    "settings", [{"kernel": "matern52"}, {"kernel": "matern52-sums"}, {"noise": 0}, {"noise": 0.1}], ids=str
)
def test_ten_steps_alone_are_ten_steps_in_a_batch_with_other_settings(settings: dict, family) -> None:
    compare(family, Settings(seed=3, n_init=family.n_init, **settings))


def test_steps_of_the_papers_search_alone_are_steps_in_a_batch(family) -> None:
    compare(family, Settings(seed=3, n_init=family.n_init, policy="ScaledEI", search="paper"), steps=4)


@pytest.mark.parametrize("n", [60, 140])  # from 48 screening skips variances, from 128 products use the triangle
def test_steps_on_longer_histories_alone_are_steps_in_a_batch(n: int, family) -> None:
    settings = Settings(seed=3, n_init=family.n_init)
    X = np.random.default_rng(5).random((4, n, 2))
    warmth = Warmth()
    for number in (n, n + 1):
        together = suggest(family.space, family.make_runs(X, list(range(4))), number, settings.spec, warmth)
        for r in (0, 3):
            alone = suggest(family.space, family.make_runs(X[[r]], [r]), number, settings.spec, family.cut(warmth, r))
            np.testing.assert_array_equal(alone.x[0], together.x[r])
        X = np.concatenate([X, together.x[:, None]], axis=1)
        warmth = together.warmth


def sums_and_valleys(X: np.ndarray) -> np.ndarray:
    """A sum over inputs for the even runs, a curved valley for the odd ones."""
    valley = (X[..., 1] - X[..., 0] ** 2) ** 2 + 0.1 * X[..., 0]
    return np.where(np.arange(len(X))[:, None] % 2, valley, np.sum(np.abs(X - 0.4), axis=-1))


@pytest.mark.parametrize(
    "sizes",
    [(60, 61, 76), pytest.param((201, 252), marks=pytest.mark.thorough)],
    ids=["few", "more than a cold search takes"],
)
def test_runs_of_which_some_are_sums_alone_are_runs_in_a_batch(sizes: tuple[int, ...]) -> None:
    space, settings = Space.of([(0.0, 1.0)] * 2), Settings(seed=3, n_init=14)
    X = np.random.default_rng(5).random((3, max(sizes), 2))
    warmth, of_runs = Warmth(), [Warmth()] * 3

    def step(n: int, runs: list[int], warmth: Warmth):
        pending, ok = np.zeros((len(runs), 0, 2)), np.ones((len(runs), n), bool)
        return suggest(
            space, Batch(X[runs, :n], sums_and_valleys(X)[runs, :n], ok, pending, tuple(runs)), n, settings.spec, warmth
        )

    for n in sizes:  # the last one is cold again, and has a state
        together = step(n, [0, 1, 2], warmth)
        assert [kernel == "matern52-sums" for kernel in together.warmth.kernels] == [True, False, True]
        for r in range(3):
            alone = step(n, [r], of_runs[r])
            np.testing.assert_array_equal(alone.x[0], together.x[r])
            np.testing.assert_array_equal(alone.warmth.objective.theta[0], together.warmth.objective.theta[r])
            of_runs[r] = alone.warmth
        warmth = together.warmth


@pytest.mark.slow
@pytest.mark.parametrize("policy", ["MES", "MES-R"])
def test_ten_steps_of_entropy_search_alone_are_ten_steps_in_a_batch(policy: str, family) -> None:
    compare(family, Settings(seed=3, n_init=family.n_init, policy=policy))


@pytest.mark.parametrize("failures", ["experts", "label-regression", "laplace", "ep", "impute", "ignore"])
def test_steps_with_unequal_numbers_of_failures_alone_are_steps_in_a_batch(failures: str, family) -> None:
    compare(family, Settings(seed=3, n_init=family.n_init, failures=failures), steps=6, failing=True)


@pytest.mark.parametrize("settings", [{"policy": "LCB"}, {"policy": "EI", "search": "paper"}, {"noise": 0.1}], ids=str)
def test_steps_with_failures_and_other_settings_alone_are_steps_in_a_batch(settings: dict, family) -> None:
    compare(family, Settings(seed=3, n_init=family.n_init, **settings), steps=3, failing=True)


def test_a_run_that_fails_for_the_first_time_begins_its_map_as_it_does_alone(family) -> None:
    settings = Settings(seed=3, n_init=family.n_init)
    together = family.loop([0, 40], settings, steps=8, failing=True)  # the strip of run 40 is narrow and found late
    n_failed = [int(family.failed(X, np.asarray([run])).sum()) for X, run in zip(together, (0, 40), strict=True)]
    assert n_failed[0] > n_failed[1]
    for r, run in enumerate((0, 40)):
        np.testing.assert_array_equal(family.loop([run], settings, steps=8, failing=True)[0], together[r])


def test_runs_of_which_some_evaluations_were_lost_propose_in_a_batch_what_they_propose_alone(family) -> None:
    settings = Settings(seed=3, n_init=family.n_init)
    X = np.random.default_rng(5).random((4, 14, 2))
    runs = family.make_runs(X, list(range(4)), failing=True)
    seen = np.ones((4, 14), dtype=bool)
    seen[1, 3] = seen[2, 3:5] = False
    lost = replace(runs, ok=runs.ok & seen, seen=seen)
    together = suggest(family.space, lost, 14, settings.spec, Warmth())
    for r in range(4):
        alone = suggest(family.space, lost.part(np.asarray([r])), 14, settings.spec, Warmth())
        np.testing.assert_array_equal(alone.x[0], together.x[r])


@pytest.mark.parametrize("failing", [False, True])
def test_policies_side_by_side_propose_what_each_proposes_in_a_batch_of_its_own(failing: bool, family) -> None:
    settings = Settings(seed=3, n_init=family.n_init)
    X = np.random.default_rng(5).random((8, 12, 2))
    runs = family.make_runs(X, list(range(8)), failing=failing)
    names = ("EI", "EI", "RND", "ScaledEI", "ScaledEI", "LCB", "MN", "MN")
    mixed = suggest(family.space, replace(runs, policies=names), 12, settings.spec, Warmth())
    for name in set(names):
        same = suggest(family.space, runs, 12, replace(settings.spec, policy=name), Warmth())
        rows = [r for r, other in enumerate(names) if other == name]
        np.testing.assert_array_equal(mixed.x[rows], same.x[rows])


def test_a_run_that_asks_no_model_draws_the_same_beside_runs_that_have_only_failed(family) -> None:
    settings = Settings(seed=3, n_init=family.n_init)
    X = np.random.default_rng(5).random((2, 12, 2))
    nothing = Batch(X, np.full((2, 12), math.nan), np.zeros((2, 12), bool), np.zeros((2, 0, 2)), (0, 1))
    mixed = suggest(family.space, replace(nothing, policies=("RND", "EI")), 12, settings.spec, Warmth())
    for r, policy in enumerate(("RND", "EI")):
        spec = replace(settings.spec, policy=policy)
        alone = suggest(family.space, nothing.part(np.asarray([r])), 12, spec, Warmth())
        np.testing.assert_array_equal(alone.x[0], mixed.x[r])


def test_the_order_of_runs_in_a_batch_does_not_matter(family) -> None:
    settings = Settings(seed=3, n_init=family.n_init)
    forwards, backwards = (family.loop(order, settings, steps=4) for order in ([0, 1, 2, 3], [3, 2, 1, 0]))
    np.testing.assert_array_equal(forwards, backwards[::-1])


@pytest.mark.parametrize("failing", [False, True])
def test_runs_in_a_mixed_space_propose_in_a_batch_what_they_propose_alone(failing: bool, family) -> None:
    space = Space.of({"a": (0.0, 1.0), "n": Integer(0, 9), "c": Categorical(["x", "y", "z"])})
    settings = Settings(seed=3, n_init=6)
    X = np.stack([initial_design(space, settings.spec, run) for run in range(4)])
    warmth = Warmth()
    for number in range(6, 12):
        y = (X[..., 0] - 0.3) ** 2 + 0.1 * X[..., 1] + X[..., 2]
        ok = X[..., 0] + 0.3 * X[..., 3] < 0.9 if failing else np.ones(y.shape, dtype=bool)
        runs = Batch(X, np.where(ok, y, math.nan), ok, np.zeros((4, 0, X.shape[-1])), tuple(range(4)))
        together = suggest(space, runs, number, settings.spec, warmth)
        for r in range(4):
            alone = suggest(space, runs.part(np.asarray([r])), number, settings.spec, family.cut(warmth, r))
            np.testing.assert_array_equal(alone.x[0], together.x[r])
        X = np.concatenate([X, together.x[:, None]], axis=1)
        warmth = together.warmth
    assert not failing or len(set((~ok).sum(axis=1).tolist())) > 1  # the numbers of failures are unequal


# --- the parts, bit by bit


@pytest.fixture(name="parts")
def _parts(family):
    rng = np.random.default_rng(1)
    X = rng.random((R, 20, 2))
    runs = family.make_runs(X, list(range(R)), failing=True)
    y = np.where(runs.ok, runs.y, 0.0)
    theta = np.log(np.concatenate([rng.uniform(0.1, 1.0, (R, 3, 2)), rng.uniform(1e-8, 1e-4, (R, 3, 1))], axis=-1))
    return X, y, runs.ok, theta, rng.random((R, 40, 2))


@pytest.mark.parametrize("kernel", ["se", "matern52", "matern52-sums"])
def test_the_likelihood_alone_is_the_likelihood_in_a_batch(kernel: str, parts) -> None:
    X, y, _, theta, _ = parts
    nll, gradient = negative_log_likelihood(theta, make_data(X, y), get_kernel(kernel))
    for r in COMPARED:
        one = slice(r, r + 1)
        alone = negative_log_likelihood(theta[one], make_data(X[one], y[one]), get_kernel(kernel))
        np.testing.assert_array_equal(alone[0], nll[one])
        np.testing.assert_array_equal(alone[1], gradient[one])


@pytest.mark.parametrize("kernel", ["se", "matern52", "matern52-sums"])
def test_the_likelihood_of_one_start_is_its_likelihood_among_several(kernel: str, parts) -> None:
    X, y, _, theta, _ = parts
    data = make_data(X, y)
    nll, gradient = negative_log_likelihood(theta, data, get_kernel(kernel))
    alone = negative_log_likelihood(theta[:, :1], data, get_kernel(kernel))
    np.testing.assert_allclose(alone[0], nll[:, :1], rtol=1e-8)
    np.testing.assert_allclose(alone[1], gradient[:, :1], rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("kernel", ["se", "matern52", "matern52-sums"])
def test_the_posterior_alone_is_the_posterior_in_a_batch(kernel: str, parts) -> None:
    X, y, _, theta, x = parts
    together = condition(make_data(X, y), theta[:, 0], get_kernel(kernel)).moments_and_gradients(x)
    for r in COMPARED:
        one = slice(r, r + 1)
        post = condition(make_data(X[one], y[one]), theta[one, 0], get_kernel(kernel))
        for a, b in zip(post.moments_and_gradients(x[one]), together, strict=True):
            np.testing.assert_array_equal(a, b[one])


@pytest.mark.parametrize("kernel", ["se", "matern52", "matern52-sums"])
def test_a_masked_likelihood_is_the_likelihood_without_those_rows(kernel: str, parts) -> None:
    X, y, ok, theta, _ = parts
    masked = negative_log_likelihood(theta, make_data(X, y, ok.astype(float)), get_kernel(kernel))
    assert len(set(ok.sum(axis=1).tolist())) > 3  # the numbers of failures are unequal
    for r in range(R):
        one, rows = slice(r, r + 1), ok[r]
        left_out = negative_log_likelihood(theta[one], make_data(X[one, rows], y[one, rows]), get_kernel(kernel))
        np.testing.assert_allclose(left_out[0], masked[0][one], rtol=1e-8)
        np.testing.assert_allclose(left_out[1], masked[1][one], rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("kernel", ["se", "matern52", "matern52-sums"])
def test_a_masked_posterior_is_the_posterior_without_those_rows(kernel: str, parts) -> None:
    X, y, ok, theta, x = parts
    post = condition(make_data(X, y, ok.astype(float)), theta[:, 0], get_kernel(kernel))
    masked = post.moments_and_gradients(x)
    for r in range(R):
        one, rows = slice(r, r + 1), ok[r]
        post = condition(make_data(X[one, rows], y[one, rows]), theta[one, 0], get_kernel(kernel))
        for a, b in zip(post.moments_and_gradients(x[one]), masked, strict=True):
            np.testing.assert_allclose(a, b[one], rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("score", [log_pi, log_ei, log_scaled_ei])
def test_a_policy_alone_is_the_policy_in_a_batch(score) -> None:
    rng = np.random.default_rng(2)
    mu, sd, f_best = rng.standard_normal((R, 30)), 10.0 ** rng.uniform(-6, 0, (R, 30)), rng.standard_normal((R, 1))
    together = score(mu, sd, f_best)
    for r in COMPARED:
        one = slice(r, r + 1)
        for a, b in zip(score(mu[one], sd[one], f_best[one]), together, strict=True):
            np.testing.assert_array_equal(a, b[one])


# --- padding


def test_padding_rows_change_nothing(family) -> None:
    settings = Settings(seed=3, n_init=family.n_init)
    rng = np.random.default_rng(3)
    runs = family.make_runs(rng.random((2, 15, 2)), [4, 9])
    padded = Batch(
        np.concatenate([runs.X, rng.random((2, 3, 2))], axis=1),
        np.concatenate([runs.y, np.full((2, 3), math.nan)], axis=1),
        np.concatenate([runs.ok, np.zeros((2, 3), dtype=bool)], axis=1),
        runs.pending,
        runs.run_ids,
        seen=np.concatenate([runs.ok, np.zeros((2, 3), dtype=bool)], axis=1),
    )
    plain, other = (suggest(family.space, r, 15, settings.spec, Warmth()) for r in (runs, padded))
    # another matrix size is another rounding, and a fit ends at a predicted gain of 1e-6
    np.testing.assert_allclose(plain.x, other.x, rtol=0.0, atol=1e-4)


def test_a_run_without_any_success_does_not_disturb_the_others(family) -> None:
    settings = Settings(seed=3, n_init=family.n_init)
    X = np.random.default_rng(4).random((3, 12, 2))
    runs = family.make_runs(X, [0, 1, 2])
    ok = runs.ok.copy()
    ok[1] = False
    mixed = Batch(X, np.where(ok, runs.y, math.nan), ok, runs.pending, runs.run_ids)
    together = suggest(family.space, mixed, 12, settings.spec, Warmth())
    assert np.isfinite(together.x).all()
    assert together.status[1] == "random"
    for r in (0, 2):
        alone = Batch(X[[r]], runs.y[[r]], runs.ok[[r]], runs.pending[[r]], (r,))
        np.testing.assert_array_equal(suggest(family.space, alone, 12, settings.spec, Warmth()).x[0], together.x[r])
