"""Settings say what is used."""

from dataclasses import asdict, replace

import numpy as np
import pytest

from surefoot import Optimizer, minimize
from surefoot.engine.searches import PAPER_MODEL
from surefoot.errors import InvalidInputError, UnknownNameError
from surefoot.optimize.settings import Settings, default_n_init

SQUARE = [(-1.0, 1.0), (-1.0, 1.0)]


def bowl(x) -> float:
    return float((x[0] - 0.3) ** 2 + (x[1] + 0.2) ** 2)


@pytest.mark.parametrize(
    ("d", "n_evals", "n_init"),
    [(1, None, 4), (6, None, 14), (7, None, 14), (100, None, 14), (2, 50, 6), (10, 60, 14), (10, 20, 10), (3, 7, 4)],
)
def test_a_design_has_two_points_a_parameter_and_two_but_is_never_large(d, n_evals, n_init) -> None:
    assert default_n_init(d, n_evals) == n_init


@pytest.mark.parametrize("search", ["paper", "paper-absolute", "paper-bayesopt"])
def test_the_papers_search_shows_the_papers_model(search: str) -> None:
    settings = minimize(bowl, SQUARE, n_evals=2, search=search).settings
    assert {name: getattr(settings, name) for name in PAPER_MODEL} == PAPER_MODEL


def test_the_papers_search_says_so_however_it_is_asked_for() -> None:
    assert Settings(search="paper") == Settings(search="paper", **PAPER_MODEL)


def test_the_default_shows_its_prior() -> None:
    settings = Settings()
    assert (settings.kernel, settings.warp, settings.prior) == ("auto", "auto", "similar-scales")


def test_a_kernel_asked_for_by_name_is_used_with_the_papers_search() -> None:
    assert Settings(search="paper", kernel="matern52").kernel == "matern52"


def test_a_prior_asked_for_by_name_is_shown_with_the_papers_search() -> None:
    assert Settings(search="paper", prior="short-scales").prior == "short-scales"


def test_values_are_not_warped_where_the_size_of_the_noise_is_known() -> None:
    assert (Settings(noise=0.1).warp, Settings(noise=0).warp, Settings().warp) == ("none", "auto", "auto")


def test_settings_made_of_settings_are_the_same() -> None:
    for settings in (Settings(), Settings(search="paper"), Settings(noise=0.1)):
        assert Settings.of(**asdict(settings)) == settings


@pytest.mark.parametrize("search", ["gradient", "paper"])
def test_what_is_shown_gives_the_same_points(search: str) -> None:
    asked = minimize(bowl, SQUARE, n_evals=13, n_init=10, search=search)
    shown = {k: v for k, v in asdict(asked.settings).items() if k not in ("seed", "n_init")}
    np.testing.assert_array_equal(minimize(bowl, SQUARE, n_evals=13, n_init=10, **shown).x_iters, asked.x_iters)


def test_the_least_noise_is_for_noise_that_is_estimated() -> None:
    assert Settings(min_noise=0.01).spec.min_noise == 0.01
    with pytest.raises(InvalidInputError, match="min_noise=0"):
        Settings(noise=0.1, min_noise=0.01)


def test_a_fit_sees_no_less_noise_than_it_is_allowed_to() -> None:
    results = [minimize(bowl, SQUARE, n_evals=12, n_init=12, warp="none", min_noise=m) for m in (0.0, 0.01)]
    free, bound = (result.model.noise_sd / np.std(result.func_vals) for result in results)
    assert free < 1e-3
    assert bound == pytest.approx(0.01, rel=1e-6)


def test_numpys_numbers_become_pythons() -> None:
    settings = Settings.of(seed=np.int64(3), n_init=np.int32(7), kappa=np.float32(1.5), noise=np.float64(0.5))
    kinds = [type(v) for v in (settings.seed, settings.n_init, settings.kappa, settings.noise)]
    assert kinds == [int, int, float, float]


# --- keywords


MEANT = {
    "n_eval": "n_evals",
    "maxiter": "n_evals",
    "n_calls": "n_evals",
    "n_iter": "n_evals",
    "n_trials": "n_evals",
    "max_evals": "n_evals",
    "direction": "maximize",
    "maximise": "maximize",
    "random_state": "seed",
    "rng": "seed",
    "n_initial_points": "n_init",
    "acq_func": "policy",
    "n_jobs": "n_workers",
    "callbacks": "callback",
    "verbose": "progress",
    "polcy": "policy",
    "Kernel": "kernel",
    "min_sucess": "min_success",
    "time_out": "timeout",
    "x_0": "x0",
}


@pytest.mark.parametrize(("given", "meant"), MEANT.items())
def test_an_unknown_keyword_gets_the_one_that_was_meant(given: str, meant: str) -> None:
    with pytest.raises(UnknownNameError, match=rf"got {given}; try {meant}="):
        minimize(bowl, SQUARE, **{given: 1})


def test_a_keyword_like_no_other_gets_help(rejects) -> None:
    with rejects():
        minimize(bowl, SQUARE, zzz=1)
    with pytest.raises(UnknownNameError, match=r"try help\(surefoot.minimize\)"):
        minimize(bowl, SQUARE, zzz=1)


def test_the_optimizers_keywords_are_its_own() -> None:
    with pytest.raises(UnknownNameError, match="try maximize="):
        Optimizer(SQUARE, direction="maximize")
    with pytest.raises(UnknownNameError, match=r"got n_calls; try help\(surefoot.Optimizer\)"):
        Optimizer(SQUARE, n_calls=3)


@pytest.mark.parametrize(
    ("asked", "used"),
    [
        ({}, "settled"),
        ({"policy": "EI"}, "none"),  # what is asked for by name is taken at its word
        ({"policy": "EI", "restarts": "settled"}, "settled"),
        ({"search": "paper"}, "none"),
        ({"outputs": {"load": "<= 1"}}, "none"),
        ({"restarts": "none"}, "none"),
    ],
)
def test_runs_of_the_default_policy_begin_anew(asked, used):
    assert Settings(**asked).restarts == used


def test_runs_along_limits_on_outputs_do_not_begin_anew_when_the_limits_become_known_later():
    assert replace(Settings(), outputs={"load": "<= 1"}).restarts == "none"


def test_an_unknown_way_to_begin_anew_is_an_error_that_lists_the_known_ones():
    with pytest.raises(UnknownNameError, match="expected a restarts, one of 'auto', 'settled', 'none'; got 'often'"):
        Settings(restarts="often")
