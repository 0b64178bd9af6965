"""The crash model: maps that are averages of experts, readings of several kinds of failures."""

import json
from dataclasses import replace

import numpy as np
import pytest

from surefoot.engine.success import MAX_KINDS, RARE, Labels, common_kinds, fit_success
from surefoot.engine.warmth import Warmth, on_host
from surefoot.failures import experts
from surefoot.failures.experts import Belief, fit_maps
from surefoot.failures.registry import FAILURE_MODELS
from surefoot.failures.several import fit_several, labels_of
from surefoot.gp.hyperparameters import fit

MODEL = FAILURE_MODELS["experts"]
NO_DRAWS = np.zeros((1, 16, 0))


def half_space(n, d=3, seed=0):
    X = np.random.default_rng(seed).random((n, d))
    return X, X.sum(axis=1) > 0.55 * d


def fitted(X, failed, kinds=None, state=None, n=None):
    """P(success) as a function of points (m, d), and the state of the fit."""
    labels = Labels(X[None], failed[None], None, None if kinds is None else kinds[None])
    weight, state = fit_success(labels, MODEL, state, NO_DRAWS)
    return lambda x: np.exp(weight.of.log_p(np.asarray(x)[None]))[0], state


def log_loss(p, failed):
    return -np.mean(np.where(failed, np.log1p(-p), np.log(p)))


def two_regions(x):
    """A mesh that collapses on the left, a solver that diverges at the top right."""
    return np.where(x[:, 0] < 0.3, 0, np.where(x[:, 1] + x[:, 2] > 1.4, 1, -1))


def test_gradients_of_the_evidence_are_those_of_differences(monkeypatch):
    monkeypatch.setattr(experts, "TOL", 1e-12)
    X, failed = half_space(25)
    h, _, _ = labels_of(failed, np.where(failed, (X[:, 1] > 0.5).astype(int), -1))
    belief = Belief.of(X, h, 25)
    lower, upper = belief.bounds(2)
    shift = 0.2 * np.random.default_rng(1).standard_normal(lower.shape)
    theta = np.where(lower == upper, lower, belief.starts(NO_DRAWS)[:, :2] + shift)
    _, gradient = belief.cost(theta, None)
    steps = 1e-5 * np.eye(theta.shape[-1])
    differences = [(belief.cost(theta + e, None)[0] - belief.cost(theta - e, None)[0]) / 2e-5 for e in steps]
    np.testing.assert_allclose(np.stack(differences, axis=-1), gradient, atol=1e-6)


@pytest.mark.parametrize("with_kinds", [False, True])
def test_gradients_of_the_probability_are_those_of_differences(with_kinds):
    X = np.random.default_rng(0).random((30, 3))
    kinds = two_regions(X)
    found, _ = fit_several(X, kinds >= 0, kinds if with_kinds else np.minimum(kinds, 0), None, 30, X)
    x = np.random.default_rng(1).random((1, 40, 3))
    value, gradient = found.log_p_and_gradient(x)
    np.testing.assert_allclose(value, found.log_p(x), rtol=0, atol=1e-12)
    differences = [(found.log_p(x + e) - found.log_p(x - e)) / 2e-6 for e in 1e-6 * np.eye(3)]
    np.testing.assert_allclose(np.stack(differences, axis=-1), gradient, atol=1e-5)


def test_what_was_left_out_is_what_is_predicted_without_it(monkeypatch):
    monkeypatch.setattr(experts, "NEGLIGIBLE", 0.0)
    X, failed = half_space(25)
    h = np.where(failed, 1.0, -1.0)[None]
    tag = np.zeros(1)
    maps, state = fit_maps(X, h, tag, None, 25)
    for i in range(0, 25, 4):
        rest = np.arange(25) != i
        without, _ = fit_maps(X[rest], h[:, rest], tag, state, 27)  # 27: not due, the hyperparameters stay
        assert without.p(X[i : i + 1])[0, 0] == pytest.approx(np.exp(maps.left_out[0, i]), abs=0.1)


@pytest.mark.parametrize("d", [2, 4, 8])
def test_a_half_space_is_learned_from_forty_labels(d):
    X, failed = half_space(40, d)
    x, truth = half_space(2000, d, seed=1)
    p, _ = fitted(X, failed)
    rate = (1 + (~failed).sum()) / (2 + len(failed))
    assert log_loss(p(x), truth) < 0.5 * log_loss(np.full(len(x), rate), truth)


def test_labels_of_a_deterministic_simulator_stay_what_they_were():
    X, failed = half_space(40)
    p, _ = fitted(X, failed)
    own = p(X)
    assert own[~failed].min() > 0.6
    assert own[failed].max() < 0.4


def test_beside_the_border_too_a_success_is_a_success():
    X, _ = half_space(40, 2)
    X = np.concatenate([X, 0.5 + 1e-3 * np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [0.5, 0.7], [-1.0, -1.0]])])
    p, _ = fitted(X, X.sum(axis=1) > 1.0)
    assert p(X[-1:])[0] > 0.6
    assert p(X[-5:-1]).max() < 0.5


def test_a_lone_success_among_failures_is_believed_and_is_no_rule():
    X = np.random.default_rng(0).random((40, 3))
    failed = np.arange(40) != 7
    p, _ = fitted(X, failed)
    assert p(X)[7] > 0.7
    assert np.delete(p(X), 7).max() < 0.2
    assert p(np.random.default_rng(1).random((500, 3))).mean() < 0.2


def test_failures_without_structure_leave_the_base_rate():
    rng = np.random.default_rng(3)
    X, failed = rng.random((200, 3)), rng.random(200) < 0.3
    p, _ = fitted(X, failed)
    assert np.abs(p(rng.random((500, 3))) - 0.7).mean() < 0.12


def test_random_labels_of_ten_inputs_are_hardly_explained():
    excess = []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        p, _ = fitted(rng.random((40, 10)), rng.random(40) < 0.5)
        at = p(rng.random((500, 10)))
        excess.append(-0.5 * np.mean(np.log(at) + np.log1p(-at)) - np.log(2.0))
    assert np.mean(excess) < 0.04  # nats; without Occam's factor 0.07


def test_labels_that_say_nothing_narrow_nothing():
    X = np.random.default_rng(0).random((20, 3))
    belief = Belief.of(X, np.zeros((1, 20)), 20)
    np.testing.assert_allclose(belief.narrowing(belief.mean[:, 0]), 0.0, atol=1e-8)


def test_what_labels_narrow_is_half_the_logarithm_of_the_determinant(monkeypatch):
    monkeypatch.setattr(experts, "TOL", 1e-12)
    monkeypatch.setattr(experts, "_LEAST_CURVATURE", 1e-12)
    X, failed = half_space(25)
    belief = Belief.of(X, np.where(failed, 1.0, -1.0)[None], 25)
    lower, upper = belief.bounds(1)
    theta = fit(belief, np.zeros((2, 0, 6)), None, experts.EFFORT).theta
    theta = np.where(lower == upper, lower, theta[:, None])[:, 0]
    h = 1e-3
    pairs = [(a, b) for a in h * np.eye(6) for b in h * np.eye(6)]
    second = [
        sum(i * j * belief.cost((theta + i * a + j * b)[:, None], None)[0][:, 0] for i in (1, -1) for j in (1, -1))
        for a, b in pairs
    ]
    H = np.moveaxis(np.reshape(second, (6, 6, 2)), -1, 0) / (4.0 * h * h)
    expected = 0.5 * (np.linalg.slogdet(H)[1] - np.linalg.slogdet(belief.precision)[1])
    np.testing.assert_allclose(belief.narrowing(theta), expected, atol=0.05)


def test_what_labels_narrow_is_kept_until_the_next_cold_search():
    X, failed = half_space(44)
    h, tag = np.where(failed, 1.0, -1.0)[None], np.zeros(1)
    _, state = fit_maps(X[:40], h[:, :40], tag, None, 40)
    _, warm = fit_maps(X, h, tag, state, 44)
    assert warm.n_cold == state.n_cold
    np.testing.assert_array_equal(warm.theta[:, 12:14], state.theta[:, 12:14])


def at_random(n=120, share=0.5):
    rng = np.random.default_rng(3)
    return Labels(rng.random((1, n, 3)), rng.random((1, n)) < share)


def test_where_failures_are_at_random_less_is_asked_of_them():
    weight, _ = fit_success(at_random(), MODEL, None, NO_DRAWS, MODEL.least)
    assert float(weight.trust[0, 0]) < 0.5


def test_what_a_user_asks_for_is_asked_of_random_failures_too():
    weight, _ = fit_success(at_random(), MODEL, None, NO_DRAWS, 0.9)
    assert weight.trust is None


def test_where_all_labels_lie_on_one_spot_an_even_chance_elsewhere_is_enough():
    X = 0.5 + 1e-3 * np.random.default_rng(0).random((1, 8, 2))
    weight, _ = fit_success(Labels(X, np.arange(8)[None] < 2), MODEL, None, NO_DRAWS, MODEL.least)
    elsewhere = np.random.default_rng(1).random((1, 200, 2))
    p = np.median(weight.probability(elsewhere))
    assert 0.5 < p < MODEL.least
    assert float(weight.trust[0, 0]) * MODEL.least < p + 0.05


def test_where_hardly_anything_works_all_of_it_is_asked():
    X = np.random.default_rng(0).random((1, 30, 3))
    weight, _ = fit_success(Labels(X, np.arange(30)[None] > 0), MODEL, None, NO_DRAWS, MODEL.least)
    assert weight.trust is None


@pytest.mark.parametrize("n", [12, 60])
def test_where_a_border_is_seen_or_labels_are_few_all_of_it_is_asked(n):
    X, failed = half_space(n)
    weight, _ = fit_success(Labels(X[None], failed[None]), MODEL, None, NO_DRAWS, MODEL.least)
    assert weight.trust is None


def test_less_trust_is_a_lower_bar_for_the_weight():
    weight, _ = fit_success(at_random(), MODEL, None, NO_DRAWS, MODEL.least)
    x = np.random.default_rng(0).random((1, 200, 3))
    strict = replace(weight, trust=None)
    assert (weight.values(x) >= strict.values(x)).all()
    np.testing.assert_allclose(
        replace(weight, trust=np.ones((1, 1))).values_and_gradients(x)[1], strict.values_and_gradients(x)[1], rtol=1e-9
    )


def test_p_counts_as_far_as_it_is_trusted_and_more_trust_than_all_of_it_counts_once():
    weight, _ = fit_success(at_random(), MODEL, None, NO_DRAWS, MODEL.least)
    x = np.random.default_rng(0).random((1, 200, 3))
    log_p, trust = weight.of.log_p(x), float(weight.trust[0, 0])
    above = log_p > np.log(MODEL.least * trust)
    assert above.any()
    np.testing.assert_allclose(weight.values(x)[above], trust * log_p[above], rtol=1e-12)
    twice = replace(weight, trust=np.full((1, 1), 2.0))
    assert (twice.values(x) <= log_p).all()
    step = 1e-6
    along = np.array([step, 0.0, 0.0])
    slope = (weight.values(x + along) - weight.values(x - along)) / (2.0 * step)
    np.testing.assert_allclose(weight.values_and_gradients(x)[1][..., 0], slope, rtol=1e-4, atol=1e-5)


def test_where_the_base_rate_alone_counts_the_map_is_flat(monkeypatch):
    monkeypatch.setattr(experts, "PRIOR", (1e-9, 1e-9, 1e-9, 1e-9, 1.0))
    X, failed = half_space(12)
    p, _ = fitted(X, failed)
    x = np.random.default_rng(0).random((20, 3))
    np.testing.assert_allclose(p(x), (1 + (~failed).sum()) / 14, rtol=1e-9)


def test_the_same_point_may_fail_and_succeed():
    X = np.repeat(np.random.default_rng(0).random((15, 2)), 2, axis=0)
    failed = np.arange(30) % 2 == 0
    p, _ = fitted(X, failed)
    assert np.abs(p(X) - 0.5).max() < 0.2


def test_a_map_of_each_kind_is_better_than_one_of_all():
    rng = np.random.default_rng(0)
    X, x = rng.random((60, 5)), rng.random((3000, 5))
    kinds, truth = two_regions(X), two_regions(x) >= 0
    together, _ = fitted(X, kinds >= 0)
    apart, _ = fitted(X, kinds >= 0, kinds)
    assert log_loss(apart(x), truth) < 0.7 * log_loss(together(x), truth)


def test_while_nothing_has_succeeded_p_has_the_mean_of_laplaces_rule():
    X = np.random.default_rng(0).random((40, 4))
    kinds = np.where(X[:, 0] < 0.5, 0, np.where(X[:, 1] < 0.5, 1, 2))
    p, _ = fitted(X, np.ones(40, bool), kinds)
    assert p(np.random.default_rng(1).random((2000, 4))).mean() == pytest.approx(1 / 42, rel=0.5)


def test_kinds_that_mean_nothing_do_little_harm():
    X, failed = half_space(60, 4)
    x, truth = half_space(2000, 4, seed=1)
    kinds = np.where(failed, np.arange(60) % 3, -1)
    together, _ = fitted(X, failed)
    apart, _ = fitted(X, failed, kinds)
    assert log_loss(apart(x), truth) < 1.25 * log_loss(together(x), truth)


def test_rare_kinds_share_a_map_and_maps_are_few():
    failed = np.ones(40, bool)
    failed[::10] = False
    kinds = np.where(failed, np.repeat([9, 9, 2, 2, 2, 7, 5, 8], 5) + 0, -1)
    found = common_kinds(failed, kinds)
    assert set(found.tolist()) == {-1, 9, 2, RARE}
    assert len(set(found.tolist())) == 1 + MAX_KINDS
    assert (found == -1).sum() == (~failed).sum()
    many = np.where(failed, np.arange(40) + 1_000_000, -1)
    assert set(common_kinds(failed, many).tolist()) == {-1, RARE}
    assert set(common_kinds(np.ones(40, bool), np.repeat([9, 9, 2, 2, 2, 7, 5, 8], 5)).tolist()) == {9, 2, 7, 5, 8}


def test_a_kind_does_not_go_on_from_the_map_of_another():
    X = np.random.default_rng(0).random((60, 3))
    kinds = two_regions(X)
    _, state = fitted(X, kinds >= 0, kinds)
    other = np.where(kinds == 1, 7, kinds)
    p, _ = fitted(X, kinds >= 0, other, state)
    fresh, _ = fitted(X, kinds >= 0, other)
    np.testing.assert_array_equal(p(X), fresh(X))


def test_no_points_have_no_probabilities_and_no_labels_are_no_error():
    X, failed = half_space(20)
    p, _ = fitted(X, failed)
    assert p(np.zeros((0, 3))).shape == (0,)
    seen = np.stack([np.ones(20, bool), np.zeros(20, bool)])
    weight, _ = fit_success(Labels(np.stack([X, X]), np.stack([failed, failed & False]), seen), MODEL, None, NO_DRAWS)
    assert np.isfinite(weight.of.log_p(np.stack([X, X]))).all()


@pytest.mark.parametrize(
    ("X", "failed"),
    [
        (np.random.default_rng(0).random((20, 3)), np.ones(20, bool)),
        (np.full((20, 3), 0.5), np.arange(20) < 10),
        (np.full((20, 3), 0.5), np.ones(20, bool)),
        (np.linspace(0, 1, 1000)[:, None] * np.ones(3), np.linspace(0, 1, 1000) > 0.6),
        (np.random.default_rng(0).random((1, 3)), np.ones(1, bool)),
        (np.repeat(np.random.default_rng(0).random((5, 3)), 30, axis=0), np.arange(150) % 3 == 0),
        (np.random.default_rng(0).random((30, 40)), np.arange(30) % 2 == 0),
        (np.random.default_rng(0).integers(0, 2, (30, 3)).astype(float), np.arange(30) % 2 == 0),
    ],
    ids=["one class", "all equal", "all equal and failed", "a line", "one", "repeated", "40 inputs", "corners"],
)
def test_bad_labels_give_sensible_probabilities(X, failed):
    p, state = fitted(X, failed)
    x = np.random.default_rng(9).random((50, X.shape[1]))
    for found in (p(x), p(X[:50])):
        assert np.isfinite(found).all()
        assert (found > 0.0).all()
        assert (found < 1.0).all()
    assert np.isfinite(state.theta).all()


def test_on_a_line_the_border_is_where_it_was():
    X = np.linspace(0, 1, 1000)[:, None] * np.ones(3)
    p, _ = fitted(X, X[:, 0] > 0.6)
    assert (p(X[:590]) > 0.5).all()
    assert (p(X[611:]) < 0.5).all()


def test_a_state_goes_through_json_and_is_used_again():
    X = np.random.default_rng(0).random((40, 3))
    kinds = two_regions(X)
    _, state = fitted(X, kinds >= 0, kinds)
    warmth = Warmth(failures=on_host(state), failures_by="experts")
    again = Warmth.from_json(json.loads(json.dumps(warmth.to_json()))).failures
    more = np.random.default_rng(5).random((3, 3))
    X, kinds = np.concatenate([X, more]), np.concatenate([kinds, two_regions(more)])
    one, _ = fitted(X, kinds >= 0, kinds, state)
    other, _ = fitted(X, kinds >= 0, kinds, again)
    x = np.random.default_rng(1).random((50, 3))
    np.testing.assert_array_equal(one(x), other(x))


@pytest.mark.parametrize("theta", [np.full((1, 3), np.nan), np.zeros((1, 7)), np.full((1, 16), np.inf)])
def test_a_state_of_another_space_is_forgotten(theta):
    from surefoot.gp.hyperparameters import FitState

    X, failed = half_space(20)
    fresh, _ = fitted(X, failed)
    p, _ = fitted(X, failed, None, FitState(theta, np.zeros((1, 0, 0)), (20,)))
    np.testing.assert_array_equal(p(X), fresh(X))
