"""`kernel="auto"`: the likeliest kernel, for every run by itself."""

from dataclasses import replace

import numpy as np
import pytest

from surefoot import History, Optimizer
from surefoot.engine.batch import Batch
from surefoot.engine.suggest import suggest
from surefoot.engine.warmth import Warmth
from surefoot.gp.kernels import KERNELS, register_kernel
from surefoot.gp.registry import SURROGATES, register_surrogate
from surefoot.optimize.settings import Settings
from surefoot.optimize.space import Space

SQUARE = [(0.0, 1.0), (0.0, 1.0)]
N = 40


def valley(X: np.ndarray) -> np.ndarray:
    """A polynomial, as smooth as can be."""
    a, b = 4.0 * X[..., 0] - 2.0, 3.0 * X[..., 1] - 1.0
    return (1.0 - a) ** 2 + 10.0 * (b - a**2) ** 2


def folded(X: np.ndarray) -> np.ndarray:
    """Creased along two lines."""
    return np.sum(np.abs(X - 0.4), axis=-1)


def points(R: int, n: int = N) -> np.ndarray:
    return np.random.default_rng(2).random((R, n, 2))


def step(X: np.ndarray, y: np.ndarray, warmth: Warmth | None = None, run_ids: tuple[int, ...] = (), **settings):
    R, n, d = X.shape
    runs = Batch(X, y, np.ones((R, n), dtype=bool), np.zeros((R, 0, d)), run_ids or tuple(range(R)))
    return suggest(Space.of(SQUARE), runs, n, Settings(seed=1, n_init=n, **settings).spec, warmth or Warmth())


@pytest.mark.parametrize(("function", "name"), [(valley, "se"), (folded, "matern52")])
@pytest.mark.parametrize("warp", ["auto", "none"])
def test_a_smooth_function_gets_the_smooth_kernel_and_a_creased_one_the_other(function, name: str, warp: str) -> None:
    X = points(1)
    assert step(X, function(X), warp=warp).warmth.kernels == (name,)


def test_a_sum_gets_the_kernel_that_knows_sums_once_enough_evaluations_have_succeeded() -> None:
    X, few = points(1, 60), points(1)
    assert step(X, folded(X)).warmth.kernels == ("matern52-sums",)
    assert step(X, folded(X), kernel="no-sums").warmth.kernels == ("matern52",)
    assert step(few, folded(few)).warmth.kernels == ("matern52",)
    assert step(X, valley(X)).warmth.kernels == ("se",)


def test_failures_do_not_count_as_evaluations_that_a_sum_is_seen_in() -> None:
    X = points(2, 60)
    ok = np.ones((2, 60), dtype=bool)
    ok[1, 45:] = False
    runs = Batch(X, np.where(ok, folded(X), np.nan), ok, np.zeros((2, 0, 2)), (0, 1))
    found = suggest(Space.of(SQUARE), runs, 60, Settings(seed=1, n_init=60).spec, Warmth())
    assert found.warmth.kernels == ("matern52-sums", "matern52")


@pytest.mark.parametrize("n", [60, 130], ids=["few", "a long history of others, of which some decide"])
def test_a_sum_of_too_many_evaluations_and_inputs_gets_a_kernel_that_is_quicker(monkeypatch, n: int) -> None:
    X = points(1, n)
    for most, name in ((2 * (n - 1) ** 2, "matern52"), (2 * n**2, "matern52-sums")):
        monkeypatch.setattr("surefoot.engine.contest.MOST_SUMS", most)
        assert step(X, folded(X)).warmth.kernels == (name,)


def test_one_input_is_no_sum() -> None:
    X = points(1, 60)[..., :1]
    runs = Batch(X, folded(X), np.ones((1, 60), dtype=bool), np.zeros((1, 0, 1)), (0,))
    found = suggest(Space.of(SQUARE[:1]), runs, 60, Settings(seed=1, n_init=60).spec, Warmth())
    assert found.warmth.kernels == ("matern52",)


def test_runs_of_which_some_know_sums_get_the_points_that_they_get_alone() -> None:
    X = points(3, 60)
    y = np.stack([valley(X[0]), folded(X[1]), folded(X[2])])
    together = step(X, y)
    assert together.warmth.kernels == ("se", "matern52-sums", "matern52-sums")
    for r in range(3):
        alone = step(X[[r]], y[[r]], None, (r,))
        np.testing.assert_array_equal(alone.x[0], together.x[r])


def test_the_kernel_changes_when_the_values_do() -> None:
    X = points(6)
    first = step(X, valley(X))
    more = np.concatenate([X, np.random.default_rng(3).random((6, N, 2))], axis=1)
    changed = step(more, folded(more), first.warmth, kernel="no-sums").warmth.kernels
    assert changed.count("matern52") >= 5  # a local search may miss the likelier one


def test_between_cold_searches_the_kernel_stays() -> None:
    X = points(1)
    first = step(X, valley(X))
    assert step(X, folded(X), first.warmth).warmth.kernels == ("se",)


def test_runs_of_a_batch_get_the_kernels_and_points_that_they_get_alone() -> None:
    X = points(3)
    y = np.stack([valley(X[0]), folded(X[1]), valley(X[2])])
    together = step(X, y)
    assert together.warmth.kernels == ("se", "matern52", "se")
    again = step(X, y, together.warmth)  # warm, with kernels that differ
    for r in range(3):
        alone = step(X[[r]], y[[r]], run_ids=(r,))
        np.testing.assert_allclose(alone.x[0], together.x[r], rtol=0.0, atol=1e-8)
        warm = step(X[[r]], y[[r]], alone.warmth, run_ids=(r,))
        np.testing.assert_allclose(warm.x[0], again.x[r], rtol=0.0, atol=1e-8)


@pytest.mark.parametrize("policy", ["MES", "MES-R", "PI", "LCB"])
def test_every_policy_takes_runs_whose_kernels_differ(policy: str) -> None:
    X = points(2)
    found = step(X, np.stack([valley(X[0]), folded(X[1])]), policy=policy)
    assert found.warmth.kernels == ("se", "matern52")
    assert ((found.x >= 0.0) & (found.x <= 1.0)).all()


def test_the_papers_search_has_the_papers_kernel() -> None:
    X = points(1)
    chosen, named = (step(X, folded(X), search="paper", policy="EI", kernel=kernel) for kernel in ("auto", "se"))
    np.testing.assert_array_equal(chosen.x, named.x)


def test_a_saved_history_goes_on_with_its_kernel(tmp_path) -> None:
    optimizer = Optimizer(SQUARE, n_init=N)
    for x in points(1)[0]:
        optimizer.tell(x, float(valley(x)))
    optimizer.tell(x := optimizer.ask(), float(valley(np.asarray(x))))
    assert optimizer.history.warmth.kernels == ("se",)
    optimizer.history.save(tmp_path / "history.json")
    loaded = Optimizer(SQUARE, n_init=N, history=History.load(tmp_path / "history.json"))
    np.testing.assert_array_equal(loaded.ask(), optimizer.ask())


@pytest.mark.parametrize("kernels", [(), ("cubic",), ("se", "se")], ids=["none", "unknown", "too many"])
def test_kernels_that_say_nothing_are_chosen_afresh(kernels: tuple[str, ...]) -> None:
    X = points(1)
    first = step(X, folded(X))
    assert step(X, folded(X), replace(first.warmth, kernels=kernels)).warmth.kernels == ("matern52",)


def test_a_history_saved_without_kernels_is_read() -> None:
    fields = Warmth().to_json()
    del fields["kernels"]
    assert Warmth.from_json(fields) == Warmth()


@pytest.mark.parametrize(("function", "kernel"), [(valley, "se"), (folded, "matern52")])
def test_a_result_says_which_kernel_and_warp_were_taken(function, kernel) -> None:
    optimizer = Optimizer(SQUARE)
    X = points(1)[0]
    optimizer.tell(list(X), function(X))
    model = optimizer.result().model
    assert model.kernel == kernel
    assert model.warp == "none" or model.warp.endswith("above the best value on")


def test_a_kernel_that_was_asked_for_does_not_join_the_contest_that_follows() -> None:
    register_kernel(replace(KERNELS["se"], name="mine"))
    try:
        X = points(1)
        first = step(X, valley(X), kernel="mine")
        assert first.warmth.kernels == ("mine",)
        more = np.concatenate([X, first.x[:, None]], axis=1)
        assert step(more, valley(more), first.warmth).warmth.kernels[0] in ("se", "matern52")
    finally:
        del KERNELS["mine"]


def test_the_surrogate_of_a_user_is_not_asked_for_sums() -> None:
    register_surrogate(replace(SURROGATES["exact"], name="other"))
    try:
        X = points(1, 60)
        assert step(X, folded(X), surrogate="other").warmth.kernels == ("matern52",)
        assert step(X, folded(X), surrogate="other", kernel="matern52-sums").warmth.kernels == ("matern52-sums",)
    finally:
        del SURROGATES["other"]


def test_another_family_of_surrogates_starts_afresh() -> None:
    register_surrogate(replace(SURROGATES["exact"], name="other"))
    try:
        X = points(1)
        more = np.concatenate([X, np.random.default_rng(4).random((1, 2, 2))], axis=1)
        warm = step(more, valley(more), step(X, valley(X)).warmth).warmth
        other = step(more, valley(more), step(X, valley(X)).warmth, surrogate="other").warmth
        assert (warm.objective_by, other.objective_by) == ("exact", "other")
        assert (warm.objective.n_cold, other.objective.n_cold) == ((N,), (N + 2,))
    finally:
        del SURROGATES["other"]
