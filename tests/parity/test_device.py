"""`device="torch"`, by every door: the same code as on a GPU, and the points of NumPy to rounding."""

import math
from pathlib import Path

import numpy as np
import pytest

from surefoot import Categorical, Failed, Integer, Optimizer, minimize
from surefoot.errors import InvalidInputError
from surefoot.optimize.minimize import Result

pytestmark = pytest.mark.torch

BOUNDS = [(-2.0, 3.0), (-1.0, 2.0)]


@pytest.fixture(scope="module", autouse=True)
def _one_thread() -> None:
    torch = pytest.importorskip("torch")
    torch.set_num_threads(1)


def bumpy(x) -> float:
    a, b = x[0] - 0.3, x[1] - 0.6
    return float(3.0 * a * a + b * b + 0.3 * math.sin(9.0 * a) * math.cos(5.0 * b))


def crashing(x) -> float:
    if x[0] > 1.5:
        raise Failed("diverged")
    return bumpy(x)


def with_outputs(x) -> dict[str, float]:
    return {"cost": bumpy(x), "stress": float(x[0] + x[1])}


def on(device: str, fun=bumpy, bounds=BOUNDS, **more) -> Result:
    return minimize(fun, bounds, n_evals=14, seed=2, device=device, **more)


def points(result: Result) -> np.ndarray:
    return np.asarray([e.x for e in result.history.evaluations], dtype=float)


def test_a_run_takes_the_way_that_it_takes_on_numpy() -> None:
    # suggestion by suggestion: small differences would add up over a run
    history = on("cpu").history
    for n in (8, 11, 14):
        told = history.evaluations[:n]
        asked = []
        for device in ("cpu", "torch"):
            optimizer = Optimizer(BOUNDS, seed=2, device=device)
            for e in told:
                optimizer.tell(list(e.x), e.y)
            asked.append(optimizer.ask())
        np.testing.assert_allclose(asked[1], asked[0], rtol=0.0, atol=5e-5)


@pytest.mark.parametrize("failures", ["experts", "label-regression", "laplace", "ep", "impute", "ignore"])
def test_every_model_of_failures_works(failures: str) -> None:
    result = on("torch", crashing, failures=failures)
    assert result.nfev == 14
    assert not result.history.ok.all()


def test_limits_on_outputs_work() -> None:
    result = on("torch", with_outputs, objective="cost", outputs={"stress": "<= 0.7"})
    assert result.x[0] + result.x[1] <= 0.7


def test_zooms_beside_failures_work() -> None:
    def both(x) -> dict[str, float]:
        if x[0] < x[1] - 0.1:
            raise Failed("diverged")
        return {"sum": float(x[0] + x[1]), "disc": float((x[0] - 0.5) ** 2 + (x[1] - 0.5) ** 2)}

    result = minimize(both, [(0.0, 1.0)] * 2, n_evals=35, outputs={"disc": "<= 0.25"}, device="torch")
    assert not result.history.ok.all()
    assert result.fun == pytest.approx(1.0 - math.sqrt(0.5), rel=1e-6)


def test_known_constraints_work() -> None:
    result = on("torch", constraints=["x0 + x1 <= 0.7"])
    assert (points(result).sum(axis=1) <= 0.7 + 1e-9).all()


def test_integers_and_choices_work() -> None:
    space = {"a": (-1.0, 2.0), "n": Integer(1, 9), "c": Categorical(["u", "v"])}
    result = minimize(lambda x: x["a"] ** 2 + (x["n"] - 4) ** 2 + (x["c"] == "u"), space, n_evals=20, device="torch")
    assert result.x["n"] in (3, 4, 5)


def test_several_points_at_once_work() -> None:
    optimizer = Optimizer(BOUNDS, history=on("cpu").history, device="torch")
    asked = np.asarray(optimizer.ask(4))
    assert len(np.unique(asked.round(6), axis=0)) == 4


def test_more_evaluations_than_a_process_holds_work() -> None:
    optimizer = Optimizer(BOUNDS, seed=2, device="torch", max_points=25)
    X = np.random.default_rng(0).uniform([-2.0, -1.0], [3.0, 2.0], (80, 2))
    optimizer.tell(X.tolist(), [bumpy(x) for x in X])
    asked = optimizer.ask()
    alike = Optimizer(BOUNDS, seed=2, max_points=25)
    alike.tell(X.tolist(), [bumpy(x) for x in X])
    np.testing.assert_allclose(asked, alike.ask(), rtol=0.0, atol=5e-5)


def test_a_run_begun_on_one_device_goes_on_on_another(tmp_path: Path) -> None:
    on("torch").save(tmp_path / "run.json")
    resumed = minimize(bumpy, resume=tmp_path / "run.json", n_evals=16)
    assert resumed.nfev == 16
    resumed.save(tmp_path / "run.json")
    assert Optimizer.load(tmp_path / "run.json", device="torch").device == "torch"


def test_what_is_kept_of_a_search_lies_on_the_host() -> None:
    assert type(on("torch").history.warmth.objective.theta) is np.ndarray


@pytest.mark.parametrize("device", ["gpu", "cuda:99", "mps", "meta"])
def test_a_device_that_is_not_there_is_refused(device: str) -> None:
    with pytest.raises(InvalidInputError, match="expected a device that PyTorch can use here"):
        Optimizer(BOUNDS, device=device)


def test_the_optuna_sampler_takes_a_device() -> None:
    optuna = pytest.importorskip("optuna")
    from surefoot.integrations.optuna import FALLBACK, SurefootSampler

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(sampler=SurefootSampler(seed=1, n_init=4, device="torch"))
    study.optimize(lambda trial: bumpy([trial.suggest_float("a", -2.0, 3.0), trial.suggest_float("b", -1.0, 2.0)]), 10)
    assert not any(FALLBACK in trial.user_attrs for trial in study.trials)
    assert study.best_value < 0.2
