"""The points of 39 short runs, bit by bit: `python tools/points.py record FILE`, later `… compare FILE`.

A change that is not meant to change numbers is checked with this on one machine: record before it, compare after it.
Where bits differ, the comparison names the runs and the evaluation at which each first went another way.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from surefoot import Categorical, Integer, Optimizer, Real
from surefoot.engine.lockstep import run_in_lockstep
from surefoot.optimize.settings import Settings
from surefoot.optimize.space import Space

POLICIES = ("RND", "MN", "LCB", "PI", "EI", "ScaledEI", "MES", "MES-R", "alternate")
FAILURES = ("label-regression", "laplace", "ep", "impute", "ignore")
BOUNDS = [(-2.0, 3.0)] * 4
MIXED = {"a": Real(-1.0, 2.0), "b": Integer(1, 9), "c": Categorical(["u", "v", "w"]), "e": Real(1e-3, 1.0, log=True)}


def bumpy(x: np.ndarray) -> float:
    """A smooth function with a few minima."""
    return float(np.sum((x - 0.3) ** 2) + np.sum(np.cos(3.0 * x)) + x[0] * x[1])


def crashing(x: np.ndarray) -> float:
    """The same, with a quarter of the box failing."""
    return float("nan") if x[0] + x[1] > 2.2 else bumpy(x)


def mixed(x: dict[str, Any]) -> float:
    """A function of four parameters of different kinds; some values fail."""
    if x["c"] == "w" and x["b"] > 6:
        return float("nan")
    return float(
        (x["a"] - 0.4) ** 2
        + 0.1 * (x["b"] - 4) ** 2
        + {"u": 0.0, "v": 0.5, "w": -0.3}[x["c"]]
        + np.log(x["e"]) ** 2 / 9
    )


def one(
    f: Callable[[Any], float], bounds: Any, n: int, n_init: int, parallel: int = 1, **settings: Any
) -> list[list[str]]:
    """The points of one run."""
    optimizer = Optimizer(bounds, n_init=n_init, **settings)
    while len(optimizer.history) < n:
        for x in optimizer.ask(parallel):
            optimizer.tell(x, f(np.asarray(x) if isinstance(x, list) else x))
    return [[float(v).hex() if isinstance(v, float) else str(v) for v in e.x] for e in optimizer.history.evaluations]


def long(n: int, share: float, **settings: Any) -> list[list[str]]:
    """Three points after n given ones, of which about `share` failed."""
    rng = np.random.default_rng(5)
    X = -2.0 + 5.0 * rng.random((n, 4))
    y = [float("nan") if np.sum(x) > 8.0 * (1.0 - share) else bumpy(x) for x in X]
    optimizer = Optimizer(BOUNDS, n_init=8, **settings)
    optimizer.tell(list(X), y)
    points = []
    for _ in range(3):
        x = optimizer.ask()
        points.append([float(v).hex() for v in x])
        optimizer.tell(x, bumpy(np.asarray(x)))
    return points


def batch(f: Callable[[np.ndarray], float], n: int, **settings: Any) -> list[list[str]]:
    """The points of eight runs in one batch."""

    def evaluate(units: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        y = np.asarray([f(-2.0 + x * (3.0 - -2.0)) for x in units])
        return y, np.isfinite(y)

    trace = run_in_lockstep(Space.of(BOUNDS), evaluate, Settings.of(n_init=8, **settings).spec, 8, n)
    return [[float(v).hex() for v in x.ravel()] for x in trace.X.transpose(1, 0, 2)]


def cases() -> Iterator[tuple[str, Callable[[], list[list[str]]]]]:
    """Name and run of every case."""
    for policy in POLICIES:
        yield f"exact search, {policy}", lambda policy=policy: one(bumpy, BOUNDS, 30, 8, policy=policy)
        yield (
            f"paper's search, {policy}",
            lambda policy=policy: one(bumpy, BOUNDS, 16, 8, policy=policy, search="paper"),
        )
    yield "paper's search, absolute", lambda: one(crashing, BOUNDS, 16, 8, policy="EI", search="paper-absolute")
    yield "paper's search, as bayesopt", lambda: one(crashing, BOUNDS, 16, 8, policy="EI", search="paper-bayesopt")
    for failures in FAILURES:
        yield f"failures, {failures}", lambda failures=failures: one(crashing, BOUNDS, 40, 12, failures=failures)
    yield "failures, paper's search", lambda: one(crashing, BOUNDS, 18, 12, policy="ScaledEI", search="paper")
    yield "failures, LCB", lambda: one(crashing, BOUNDS, 30, 12, policy="LCB", min_success=0.0)
    for failures in ("label-regression", "ep"):
        yield f"mixed space, {failures}", lambda failures=failures: one(mixed, MIXED, 40, 10, failures=failures)
    yield "three at once", lambda: one(crashing, BOUNDS, 36, 12, parallel=3)
    yield "known noise", lambda: one(bumpy, BOUNDS, 24, 8, noise=0.1)
    yield (
        "no noise, SE, no warp, no prior",
        lambda: one(bumpy, BOUNDS, 24, 8, noise=0, kernel="se", warp="none", prior="none"),
    )
    yield "history of 250", lambda: long(250, 0.0)
    yield "history of 400 with failures, label-regression", lambda: long(400, 0.6)
    yield "history of 400 with failures, ep", lambda: long(400, 0.6, failures="ep")
    yield "batch of 8", lambda: batch(bumpy, 24)
    yield "batch of 8, paper's search", lambda: batch(bumpy, 12, search="paper", policy="ScaledEI")
    yield "batch of 8, failures", lambda: batch(crashing, 24)
    yield "batch of 8, failures, ep", lambda: batch(crashing, 24, failures="ep")


def main() -> int:
    """Record the points in a file, or compare them with those of a file; the number of runs that differ."""
    action, path = sys.argv[1], Path(sys.argv[2])
    wanted = sys.argv[3] if len(sys.argv) > 3 else ""
    known = json.loads(path.read_text()) if action == "compare" else {}
    found, differ = {}, 0
    for name, run in cases():
        if wanted not in name:
            continue
        points = found[name] = run()
        if action == "compare":
            first = next((i for i, (a, b) in enumerate(zip(known[name], points, strict=False)) if a != b), None)
            differ += first is not None
            print(f"{name}: {'equal' if first is None else f'differs from evaluation {first + 1} on'}", flush=True)
    if action == "record":
        path.write_text(json.dumps(found, indent=0))
    print(f"{len(found)} runs, {differ} differ")
    return differ


if __name__ == "__main__":
    sys.exit(main())
