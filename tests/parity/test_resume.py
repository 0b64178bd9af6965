"""50 evaluations are 25, saved and loaded, and 25 more, bit by bit."""

import math
from pathlib import Path

import numpy as np
import pytest

from surefoot import Categorical, History, Integer, Optimizer, minimize, problems

pytestmark = pytest.mark.bits

BRANIN = problems.get("BRA")


def plain(x) -> float:
    return BRANIN(x)


def failing(x) -> float:
    if x[0] < -2.0:
        raise ArithmeticError("diverged")
    return math.nan if x[1] > 12.0 else BRANIN(x)


def noisy(x) -> float:
    """Noise that is a function of the point, so that a resumed run meets the same."""
    return BRANIN(x) + 5.0 * math.sin(1e6 * (x[0] + x[1]))


def optimize(fun, n: int, history: History | None, **settings) -> History:
    """As `minimize` does it, by ask and tell."""
    opt = Optimizer(BRANIN.bounds, history=history, **settings)
    while len(opt.history) < n:
        x = opt.ask()
        try:
            opt.tell(x, fun(x))
        except ArithmeticError as error:
            opt.tell_failure(x, str(error))
    return opt.history


def by_minimize(fun, n: int, history: History | None, **settings) -> History:
    settings = {"n_init": 6, **settings}  # which a budget below 12 would halve
    return minimize(fun, BRANIN.bounds, n_evals=n, history=history, **settings).history


def through_a_file(history: History, path: Path) -> History:
    history.save(path)
    return History.load(path)


CASES = [
    (plain, {}),
    (failing, {}),
    (noisy, {"noise": "estimate"}),
    (failing, {"policy": "MES"}),
    (plain, {"policy": "EI", "kernel": "matern52"}),
    (plain, {"noise": 0, "policy": "LCB", "seed": 5}),
    (failing, {"policy": "ScaledEI", "search": "paper", "n_init": 22}),
    (failing, {"policy": "MES-R", "design": "sobol", "n_init": 22}),
]
IDS = [" ".join([fun.__name__, *map(str, settings.values())]) for fun, settings in CASES]


def check_halves(run, fun, settings: dict, path: Path) -> None:
    whole = run(fun, 50, None, **settings)
    half = through_a_file(run(fun, 25, None, **settings), path)
    resumed = run(fun, 50, half, **settings)
    assert [e.x for e in resumed.evaluations] == [e.x for e in whole.evaluations]


@pytest.mark.parametrize(("fun", "settings"), CASES, ids=IDS)
@pytest.mark.filterwarnings("ignore::surefoot.errors.NumericalWarning")
def test_fifty_evaluations_are_25_saved_and_loaded_and_25_more(fun, settings: dict, tmp_path: Path) -> None:
    check_halves(by_minimize, fun, settings, tmp_path / "run.json")


@pytest.mark.parametrize(("fun", "settings"), CASES[:4], ids=IDS[:4])
@pytest.mark.filterwarnings("ignore::surefoot.errors.NumericalWarning")
def test_fifty_asks_are_25_saved_and_loaded_and_25_more(fun, settings: dict, tmp_path: Path) -> None:
    check_halves(optimize, fun, settings, tmp_path / "run.json")


@pytest.mark.parametrize("fun", [plain, failing, noisy])
def test_forty_evaluations_are_forty_resumes_of_one(fun, tmp_path: Path) -> None:
    whole = by_minimize(fun, 40, None)
    history = None
    for n in range(1, 41):
        history = through_a_file(by_minimize(fun, n, history), tmp_path / "run.json")
    assert [e.x for e in history.evaluations] == [e.x for e in whole.evaluations]


def test_a_mixed_space_is_resumed_exactly(tmp_path: Path) -> None:
    def fun(p: dict) -> float:
        return math.nan if p["c"] == "z" and p["n"] > 5 else (p["a"] - 0.3) ** 2 + 0.1 * p["n"] + len(p["c"])

    def run(n: int, history: History | None) -> History:
        bounds = {"a": (0.0, 1.0), "n": Integer(0, 9), "c": Categorical(["xx", "y", "z"])}
        return minimize(fun, bounds, n_evals=n, n_init=10, history=history).history

    half = through_a_file(run(18, None), tmp_path / "run.json")
    assert [e.x for e in run(36, half).evaluations] == [e.x for e in run(36, None).evaluations]


def test_a_maximization_is_resumed_exactly(tmp_path: Path) -> None:
    def run(n: int, history: History | None) -> History:
        return optimize(lambda x: -plain(x), n, history, maximize=True)

    half = through_a_file(run(25, None), tmp_path / "run.json")
    assert [e.x for e in run(40, half).evaluations] == [e.x for e in run(40, None).evaluations]


def test_a_resume_in_the_design_phase_is_exact(tmp_path: Path) -> None:
    half = through_a_file(by_minimize(plain, 7, None), tmp_path / "run.json")
    resumed, whole = by_minimize(plain, 25, half), by_minimize(plain, 25, None)
    assert [e.x for e in resumed.evaluations] == [e.x for e in whole.evaluations]


@pytest.mark.parametrize("seed", [0, 1])
def test_a_run_interrupted_from_the_keyboard_is_resumed_exactly(seed: int, tmp_path: Path) -> None:
    calls = []

    def interrupted(x) -> float:
        calls.append(x)
        if len(calls) == 31:  # asked for, never told
            raise KeyboardInterrupt
        return plain(x)

    half = through_a_file(by_minimize(interrupted, 50, None, seed=seed), tmp_path / "run.json")
    resumed, whole = by_minimize(plain, 50, half, seed=seed), by_minimize(plain, 50, None, seed=seed)
    assert [e.x for e in resumed.evaluations] == [e.x for e in whole.evaluations]


def test_a_larger_budget_begins_with_the_same_points() -> None:
    short, long = by_minimize(failing, 25, None), by_minimize(failing, 40, None)
    assert [e.x for e in short.evaluations] == [e.x for e in long.evaluations][:25]


def test_looking_at_the_model_does_not_change_what_follows() -> None:
    first = minimize(plain, BRANIN.bounds, n_evals=25)
    first.model.predict([[0.0, 5.0]])
    resumed, whole = by_minimize(plain, 32, first.history), by_minimize(plain, 32, None)
    assert [e.x for e in resumed.evaluations] == [e.x for e in whole.evaluations]


def test_minimize_and_ask_and_tell_visit_the_same_points() -> None:
    by_call, by_hand = by_minimize(failing, 35, None), optimize(failing, 35, None)
    np.testing.assert_array_equal([e.x for e in by_call.evaluations], [e.x for e in by_hand.evaluations])
