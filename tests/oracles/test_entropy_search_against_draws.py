"""ES and PES against brute force: the information on the arg-min, counted among draws of a posterior on a grid."""

import numpy as np
import pytest
from scipy.special import ndtr

from benchmarks.entropy_oracle import grid, information, judge, main, make_state, policy_information, uncertain_states


def binary_entropy(p):
    p = np.clip(p, 1e-300, 1.0 - 1e-16)
    return -p * np.log(p) - (1.0 - p) * np.log1p(-p)


@pytest.mark.parametrize(("number", "device"), [(1, "cpu"), (3, "cpu"), (4, "compiled")])
def test_of_two_points_the_oracle_has_the_information_that_quadrature_has(number, device):
    state = make_state(1, number)
    x = np.array([[0.1], [0.9]])
    joint = state.posterior.joint(x[None])
    V, noise = joint.covariance[0], state.posterior.noise[0]
    mean = np.array([0.0, 0.3 * np.sqrt(V[0, 0])])  # which of them is lower is then uncertain
    shifted = _with_mean(state, x, mean)
    expected = []
    t = np.linspace(-8.0, 8.0, 20_001)
    w = np.exp(-0.5 * t * t) / np.exp(-0.5 * t * t).sum()
    spread = V[0, 0] + V[1, 1] - 2.0 * V[0, 1]
    for j in range(2):
        along = (V[1, j] - V[0, j]) / np.sqrt(V[j, j] + noise)
        p = ndtr((mean[1] - mean[0] + along * t) / np.sqrt(spread - along**2))  # the first is lower, given y
        expected.append(binary_entropy(ndtr((mean[1] - mean[0]) / np.sqrt(spread))) - np.sum(w * binary_entropy(p)))
    np.testing.assert_allclose(information(shifted, x, 400_000, device=device), expected, atol=4e-3)


def _with_mean(state, x, mean):
    """The same posterior, whose mean at x is another."""

    class Posterior:
        noise = state.posterior.noise

        def joint(self, points):
            found = state.posterior.joint(points)
            object.__setattr__(found, "mean", mean[None])
            return found

    return type(state)(Posterior(), state.f_best)


@pytest.mark.parametrize("d", [1, 2])
@pytest.mark.parametrize("name", ["ES", "PES"])
def test_points_are_ranked_as_the_oracle_ranks_them(name, d):
    x = grid(d)
    for _, state in uncertain_states(d, 3):
        truth = information(state, x, 40_000, 32)
        verdict = judge(policy_information(name, state, x), truth)
        assert verdict.spearman >= 0.9
        assert verdict.share >= 0.9  # where in the square the minimum lies is another question than where on the grid
        same_question = judge(policy_information(name, state, x, of_grid=True), truth)
        assert same_question.spearman >= 0.95
        assert same_question.share >= 0.97


@pytest.mark.slow
@pytest.mark.parametrize("d", [1, 2])
def test_on_twenty_states_points_are_ranked_as_a_million_draws_rank_them(d):
    x = grid(d)
    verdicts = {"ES": [], "PES": [], "MES": []}
    of_grid = []
    for _, state in uncertain_states(d, 20):
        truth = information(state, x, 10**6, device="compiled")
        for name, found in verdicts.items():
            found.append(judge(policy_information(name, state, x), truth))
        of_grid.append(judge(policy_information("ES", state, x, of_grid=True), truth))
    for name in ("ES", "PES"):
        assert min(v.spearman for v in verdicts[name]) >= 0.9
        assert min(v.share for v in verdicts[name]) >= 0.9
        assert np.median([v.share for v in verdicts[name]]) >= 0.99
    assert min(v.spearman for v in of_grid) >= 0.95
    assert min(v.share for v in of_grid) >= 0.99
    assert sum(v.n_before < 4 for v in of_grid) >= 18
    assert np.median([v.spearman for v in verdicts["MES"]]) < 0.9  # the least value is another question


def test_the_command_prints_a_row_for_each_policy(capsys):
    main(["--draws", "2000", "--states", "1", "--d", "1"])
    lines = capsys.readouterr().out.splitlines()
    names = [line.split("|")[2].strip() for line in lines[4:11]]
    of_grid = ["ES, of the grid", "PES, of the grid"]
    assert names == ["the oracle again", "ES", "PES", *of_grid, "MES", "MES-R"]
