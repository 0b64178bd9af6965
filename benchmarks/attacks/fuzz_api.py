"""Malformed calls of the public functions and classes."""

from __future__ import annotations

import random
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from benchmarks.attacks.fuzz_values import odd_value, shown

_MOST_CALLS = 12  # of the objective; then the budget was taken for good, and that is enough


class Wrong(Exception):  # noqa: N818 - a finding, not an error
    """Something is wrong that raised nothing."""

    def __init__(self, kind: str, what: str) -> None:
        super().__init__(what)
        self.kind = kind


class _Enough(BaseException):
    """The call was accepted and works."""


def try_one(rng: random.Random, folder: Path, say: Callable[[str], None]) -> None:
    """One malformed call."""
    rng.choices([_space, _parameters, _optimizer, _ask_tell, _minimize, _result, _problem], [3, 3, 3, 6, 8, 2, 1])[0](
        rng, say
    )


def _space(rng: random.Random, say: Callable[[str], None]) -> None:
    from surefoot import Space

    bounds, x = odd_value(rng), odd_value(rng)
    say(f"Space.of({shown(bounds)}).validate({shown(x)})")
    Space.of(bounds).validate(x)


def _parameters(rng: random.Random, say: Callable[[str], None]) -> None:
    from surefoot import Categorical, Integer, Optimizer, Real

    kind = rng.choice([Real, Integer, Categorical])
    arguments = [odd_value(rng) for _ in range(1 if kind is Categorical else 2)]
    if kind is Categorical and rng.random() < 0.7:
        arguments = [[odd_value(rng) for _ in range(rng.randint(1, 4))]]
    say(f"Optimizer([{kind.__name__}({', '.join(map(shown, arguments))}), (0, 1)]).ask()")
    Optimizer([kind(*arguments), (0, 1)]).ask()


_SETTINGS = (
    "seed", "n_init", "history", "maximize", "policy", "kernel", "search", "noise", "design", "kappa", "min_distance",
    "failures", "warp", "prior", "min_success", "n_eval", "direction",
)  # fmt: skip


def _odd_settings(rng: random.Random, names: tuple[str, ...], most: int = 2) -> dict[str, Any]:
    return {name: odd_value(rng) for name in rng.sample(names, rng.randint(1, most))}


def _optimizer(rng: random.Random, say: Callable[[str], None]) -> None:
    from surefoot import Optimizer

    settings = _odd_settings(rng, _SETTINGS)
    say(f"Optimizer(bounds, **{shown(settings)}), ask, tell, ask")
    optimizer = Optimizer([(0, 1), (0, 1)], **settings)
    optimizer.tell(optimizer.ask(), 1.0)
    optimizer.ask()


def _ask_tell(rng: random.Random, say: Callable[[str], None]) -> None:
    """Whatever is refused, what was told before is there."""
    from surefoot import Categorical, Integer, Optimizer
    from surefoot.errors import SurefootError

    bounds = rng.choice([
        [(0, 1), (0, 1)], [(0, 1)], {"a": (0, 1), "b": (0, 1)}, [Integer(0, 3), Categorical(["x", "y"])]
    ])  # fmt: skip
    optimizer, n, errors = Optimizer(bounds), 0, []
    for _ in range(3):
        optimizer.tell(optimizer.ask(), rng.random())
        n += 1
    told = optimizer.history.evaluations
    for _ in range(3):
        x = optimizer.ask() if rng.random() < 0.5 else odd_value(rng)
        y, name = odd_value(rng), rng.choice(["tell", "tell", "tell", "tell_failure", "ask", "mark_pending"])
        arguments = {"tell": (x, y), "tell_failure": (x, y), "ask": (y,), "mark_pending": (x,)}[name]
        if name == "ask" and isinstance(y, int) and y > 100:
            continue
        say(f"Optimizer({shown(bounds)}).{name}({', '.join(map(shown, arguments))})")
        before = len(optimizer.history)
        try:
            getattr(optimizer, name)(*arguments)
        except SurefootError as error:
            errors.append(str(error))
            if len(optimizer.history) != before:
                raise Wrong("lost", f"refused, but {len(optimizer.history) - before} evaluations were added") from None
    if optimizer.history.evaluations[:n] != told:
        raise Wrong("lost", "what was told before is gone")
    optimizer.ask()


_MINIMIZE = (
    "n_evals", "n_init", "policy", "kernel", "noise", "seed", "x0", "y0", "history", "callback", "executor",
    "n_workers", "timeout", "isolate", "memory_limit_mb", "retry_on", "n_retries", "max_failures", *_SETTINGS,
)  # fmt: skip


def _minimize(rng: random.Random, say: Callable[[str], None]) -> None:
    from surefoot import minimize

    calls = []

    def function(x: Any) -> Any:
        calls.append(x)
        if len(calls) > _MOST_CALLS:
            raise _Enough
        return odd if rng.random() < 0.3 else float(len(calls))

    odd = odd_value(rng)
    arguments = {"n_evals": 3, "n_init": 3, **_odd_settings(rng, _MINIMIZE, 3)}
    if "x0" not in arguments and rng.random() < 0.2:
        arguments["x0"], arguments["y0"] = odd_value(rng), odd_value(rng)
    if "n_workers" in arguments:
        arguments.setdefault("executor", ThreadPoolExecutor(2))
    fun = odd_value(rng) if rng.random() < 0.05 else function
    bounds = odd_value(rng) if rng.random() < 0.15 else [(0, 1), (0, 1)]
    for name in ("timeout", "isolate", "memory_limit_mb"):  # accepted, it forks: bounded elsewhere
        if isinstance(arguments.get(name), (int, float, str)) and rng.random() < 0.7:
            arguments.pop(name)
    say(f"minimize({'f' if fun is function else shown(fun)}, {shown(bounds)}, **{shown(arguments)})")
    try:
        result = minimize(fun, bounds, **arguments)
    except _Enough:
        return
    result.table()
    repr(result)


def _result(rng: random.Random, say: Callable[[str], None]) -> None:
    result = _known_result()
    name = rng.choice(["success_probability", "model.predict", "__getitem__", "model.relevance"])
    value = odd_value(rng)
    say(f"result.{name}({shown(value)})")
    if name == "__getitem__":
        try:
            result[value]
        except (KeyError, TypeError):  # what a dict raises
            return
    elif name == "success_probability":
        result.success_probability(value)
    elif name == "model.predict":
        result.model.predict(value)
    else:
        result.model.relevance(of=value)


_results: list[Any] = []


def _known_result() -> Any:
    from surefoot import minimize

    if not _results:
        _results.append(minimize(lambda x: x[0] if x[0] < 0.8 else float("nan"), [(0, 1)], n_evals=8, n_init=8))
    return _results[0]


def _problem(rng: random.Random, say: Callable[[str], None]) -> None:
    from surefoot import problems

    name, x = rng.choice([odd_value(rng), "BRA", "HM3"]), odd_value(rng)
    say(f"problems.get({shown(name)})({shown(x)})")
    problems.get(name)(x)
