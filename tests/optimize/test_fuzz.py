"""Whatever is passed, only surefoot's own errors come back, nothing hangs and nothing told is lost."""

import json
import math
import os
import signal
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any

import pytest

from surefoot import Categorical, History, Integer, Optimizer, Real, Result, Space, minimize
from surefoot.errors import SurefootError
from surefoot.optimize.outputs import history_of
from surefoot.optimize.settings import Settings
from tests.optimize._hostile import damaged_bytes, damaged_document, hostile

LONGEST_S = 120  # of one call, on the busiest machine: more is a hang
SQUARE = [(-1.0, 1.0), (-1.0, 1.0)]
MIXED = {"a": (0.0, 1.0), "n": Integer(0, 5), "c": Categorical(["u", "v"])}


class HangError(BaseException):
    """A call did not come back."""


@contextmanager
def answers() -> Iterator[None]:
    """What happens inside returns or raises one of our errors, in time."""

    def ring(number: int, frame: object) -> None:
        raise HangError

    before = signal.signal(signal.SIGALRM, ring)
    signal.alarm(LONGEST_S)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    except SurefootError as error:
        if not all(part in str(error) for part in ("expected", "try")):
            raise AssertionError("not a message of three parts") from error
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def bowl(x: Any) -> float:
    return float(sum(v**2 for v in (x.values() if isinstance(x, dict) else x) if not isinstance(v, str)))


@pytest.fixture(scope="module", name="result")
def _result() -> Result:
    return minimize(bowl, SQUARE, n_evals=12, n_init=8)


# --- calls


SETTINGS = list(Settings.__dataclass_fields__)
OWN = [
    "n_evals",
    "x0",
    "y0",
    "history",
    "resume",
    "objective",
    "maximize",
    "callback",
    "executor",
    "n_workers",
    "timeout",
    "isolate",
]
OWN += ["memory_limit_mb", "retry_on", "n_retries", "max_failures", "progress", "n_eval", "random_state", "constraints"]


def some(rng: Random, names: list[str]) -> dict[str, Any]:
    return {name: hostile(rng) for name in rng.sample(names, rng.choice((1, 1, 2)))}


def call_space(rng: Random) -> None:
    kind = rng.randrange(5)
    if kind == 0:
        Space.of(hostile(rng))
    elif kind == 1:
        Space.of([(0, 1), hostile(rng)])
    elif kind == 2:
        Space.of({"a": rng.choice((Real, Integer))(hostile(rng), hostile(rng), rng.choice((False, hostile(rng))))})
    elif kind == 3:
        Space.of([Categorical(hostile(rng))])
    else:
        choices = ["u", hostile(rng), hostile(rng)]
        space = Space.of({"c": Categorical(choices), "a": (0, 1)})
        for choice in space.parameters[0].values():
            assert space.decode(space.encode((choice, 0.5)))[0] is choice
        space.validate({"c": hostile(rng), "a": 0.5})


def call_validate(rng: Random) -> None:
    space = Space.of(rng.choice([SQUARE, MIXED, [(0, 1)]]))
    point = hostile(rng) if rng.random() < 0.5 else [hostile(rng) for _ in range(space.d)]
    if space.named and rng.random() < 0.5:
        point = dict(zip(space.names, [hostile(rng) for _ in space.names], strict=True))
    space.points(point) if rng.random() < 0.5 else space.validate(point)


def call_settings(rng: Random) -> None:
    settings = Settings.of(**some(rng, SETTINGS))
    json.dumps(vars(settings))  # what is stored can be stored


def call_optimizer(rng: Random) -> None:
    opt = Optimizer(rng.choice([SQUARE, MIXED]), **some(rng, [*SETTINGS, "history", "maximize", "direction"]))
    opt.tell_failure(opt.ask())


def call_told(rng: Random) -> None:
    """Tells of any kind lose nothing that was told."""
    opt = Optimizer(rng.choice([SQUARE, MIXED, [(0, 1)]]), n_init=50)
    first = opt.ask()
    opt.tell(first, 1.0)
    before = opt.history.evaluations
    good = opt.ask()
    try:
        rng.choice(
            [
                lambda: opt.tell(hostile(rng), hostile(rng)),
                lambda: opt.tell(good, hostile(rng)),
                lambda: opt.tell([good, hostile(rng)], [1.0, hostile(rng)]),
                lambda: opt.tell(good, 1.0, duration_s=hostile(rng)),
                lambda: opt.tell_failure(good, hostile(rng)),
                lambda: opt.tell_failure(hostile(rng), "no mesh", duration_s=hostile(rng)),
                lambda: opt.mark_pending(hostile(rng)),
                lambda: opt.ask(hostile(rng) if rng.random() < 0.9 else 3),
            ]
        )()
    finally:
        assert repr(opt.history.evaluations[:1]) == repr(before)
        opt.history.check()
        opt.tell(opt.ask(), 2.0)
        assert json.dumps(opt.history.evaluations[-1].reason).isascii()


def call_minimize(rng: Random) -> None:
    arguments = {"n_evals": 3, "n_init": 2, **some(rng, [*SETTINGS, *OWN])}
    for name in ("n_init", "n_evals"):  # long runs are fine, and not what is tested here
        if type(arguments[name]) is int:
            arguments[name] = min(arguments[name], 5)
    fun = hostile(rng) if rng.random() < 0.1 else bowl
    bounds = hostile(rng) if rng.random() < 0.1 else rng.choice([SQUARE, MIXED])
    try:
        minimize(fun, bounds, **arguments)
    except SurefootError:
        raise
    except Exception as error:  # raised by a hostile callback: then the result is there
        if not callable(arguments.get("callback")) or not isinstance(error.result, Result):  # type: ignore[attr-defined]
            raise


def call_objective(rng: Random) -> None:
    """A function that returns anything is evaluated to the end."""
    result = minimize(lambda x: hostile(rng), SQUARE, n_evals=3, n_init=5, max_failures=None)
    assert result.nfev == 3
    result.history.check()


def call_history_of(rng: Random) -> None:
    space = Space.of(SQUARE)
    history_of(space, hostile(rng), hostile(rng)).check()
    history_of(space, [[0.1, 0.2], [0.3, 0.4]], [1.0, hostile(rng)]).check()


CALLS: list[Callable[[Random], None]] = [
    call_space,
    call_validate,
    call_settings,
    call_optimizer,
    call_told,
    call_minimize,
    call_objective,
    call_history_of,
]


def check_calls(first: int, n: int) -> None:
    for seed in range(first, first + n):
        rng = Random(seed)
        call = rng.choice(CALLS)
        try:
            with answers():
                call(rng)
        except BaseException as error:
            raise AssertionError(f"seed {seed}, {call.__name__}: {type(error).__name__}") from error


@pytest.mark.parametrize("block", range(5))
def test_malformed_calls_raise_our_own_errors_only(block: int) -> None:
    check_calls(80 * block, 80)


@pytest.mark.slow
@pytest.mark.parametrize("block", range(20))
def test_thousands_of_malformed_calls_raise_our_own_errors_only(block: int) -> None:
    check_calls(10_000 + 200 * block, 200)


def test_malformed_questions_to_a_result_raise_our_own_errors_only(result: Result) -> None:
    for seed in range(150):
        rng = Random(seed)
        with answers():
            result.model.predict(hostile(rng))
        with answers():
            result.success_probability([hostile(rng)])


# --- files


@pytest.fixture(scope="module", name="document")
def _document(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    def fun(p: dict) -> float:
        if p["a"] > 0.7:
            raise ArithmeticError("diverged")
        return p["a"] + p["n"]

    path = tmp_path_factory.mktemp("history") / "run.json"
    minimize(fun, MIXED, n_evals=14, n_init=10).save(path)
    return path.read_bytes()


def check_file(path: Path) -> None:
    """The file is refused, or what it holds can be used."""
    history = History.load(path)
    for e in history.evaluations:
        assert math.isfinite(e.y) if e.ok else math.isnan(e.y)
    opt = Optimizer(MIXED, history=history, maximize=history.direction == "maximize")
    assert len(opt.history) == len(history)
    assert opt.best is None or math.isfinite(opt.best.y)
    opt.tell_failure(opt.ask())


def check_files(document: bytes, first: int, n: int, path: Path) -> None:
    for seed in range(first, first + n):
        rng = Random(seed)
        if rng.random() < 0.4:
            path.write_bytes(damaged_bytes(rng, document))
        else:
            path.write_text(json.dumps(damaged_document(rng, json.loads(document))))
        try:
            with answers():
                check_file(path)
            with answers():
                Optimizer.load(path).ask()
        except BaseException as error:
            raise AssertionError(f"seed {seed}: {type(error).__name__}: {path.read_bytes()[:300]!r}") from error


@pytest.mark.parametrize("block", range(3))
def test_damaged_history_files_are_refused_or_usable(block: int, document: bytes, tmp_path: Path) -> None:
    check_files(document, 60 * block, 60, tmp_path / "run.json")


@pytest.mark.slow
@pytest.mark.parametrize("block", range(10))
def test_thousands_of_damaged_history_files_are_refused_or_usable(block: int, document: bytes, tmp_path: Path) -> None:
    check_files(document, 10_000 + 200 * block, 200, tmp_path / "run.json")


def test_hostile_paths_raise_our_own_errors_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    os.mkfifo("pipe")
    for seed in range(200):
        rng = Random(seed)
        path = rng.choice(["pipe", ".", "none/none.json", "x" * 300, "/" + "y/" * 3000, hostile(rng), hostile(rng)])
        with answers():
            History.load(path)
        if not (isinstance(path, str) and path == "pipe"):
            with answers():
                History().save(path)
    assert not list(tmp_path.rglob("*.tmp"))
