"""Suggestions of one run on a GPU at 1000 to 20000 evaluations, and of 20 runs of 2000 in lock-step.

    python -m benchmarks.scale_gpu                         # on a machine with a GPU; writes results/scale/gpu.json, .md
    python -m benchmarks.scale_gpu --device torch --n 300  # small, on the CPU

A history is that of benchmarks/suggestion.py: a Latin hypercube, then half exploring and half refining points round the
optimum. The first suggestion knows nothing (cold). Each later one follows one more evaluation, at the point that was
suggested (warm), up to n: "warm" is the median of five, "slowest" the slowest of them. Seconds are of the wall clock,
from the call of `ask` to its return.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.regret.further import levy
from benchmarks.suggestion import make_history
from surefoot import Optimizer
from surefoot.backend import reference_on
from surefoot.engine.batch import Batch
from surefoot.engine.suggest import suggest
from surefoot.engine.warmth import Warmth
from surefoot.optimize.settings import Settings
from surefoot.optimize.space import Space

SIZES, INPUTS = (1000, 2000, 5000, 10_000, 20_000), (6, 20)
N_WARM = 5
N_RUNS, N_OF_RUN = 20, 2000


@dataclass(frozen=True)
class Levy:
    """Levy's function of d inputs: many local minima, the least one 0 where all inputs are 1."""

    d: int

    @property
    def lower(self) -> list[float]:
        """Of the box."""
        return [-10.0] * self.d

    @property
    def upper(self) -> list[float]:
        """Of the box."""
        return [10.0] * self.d

    @property
    def minimizers(self) -> list[list[float]]:
        """One."""
        return [[1.0] * self.d]

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """Values (m,) at x (m, d)."""
        return levy(np.atleast_2d(x))


@dataclass
class Card:
    """The device, and what it has used."""

    name: str

    @property
    def torch(self) -> Any:
        """PyTorch, where the device is a GPU."""
        if not self.name.startswith("cuda"):
            return None
        import torch

        return torch

    def forget(self) -> None:
        """Begin to measure memory anew."""
        if self.torch:
            self.torch.cuda.empty_cache()
            self.torch.cuda.reset_peak_memory_stats()

    @property
    def peak_gb(self) -> float | None:
        """Memory that arrays took at most since then."""
        return self.torch.cuda.max_memory_allocated() / 1e9 if self.torch else None

    def told(self) -> str:
        """Its name."""
        if self.torch:
            return f"{self.torch.cuda.get_device_name()}, torch {self.torch.__version__}"
        return f"{self.name}, {platform.processor() or platform.machine()}, {os.cpu_count()} cores"


def seconds(call: Callable[[], Any]) -> tuple[float, Any]:
    """How long a call takes, and what it returns."""
    begin = time.perf_counter()
    value = call()
    return time.perf_counter() - begin, value


def summary(times: list[float], card: Card) -> dict[str, Any]:
    """The first time is the cold one."""
    warm = times[1:] or [float("nan")]
    return {
        "cold_s": times[0],
        "warm_s": float(np.median(warm)),
        "slowest_s": max(warm),
        "n_warm": len(times) - 1,
        "peak_gb": card.peak_gb,
    }


def one_run(d: int, n: int, card: Card, deadline: float, profile: bool, failing: bool = False) -> dict[str, Any]:
    """Times of one cold suggestion and of warm ones after it; failing: a corner of the box has no values."""
    problem = Levy(d)
    X, y = make_history(problem, n - N_WARM)
    card.forget()
    optimizer = Optimizer(list(zip(problem.lower, problem.upper, strict=True)), seed=1, device=card.name)
    failed = failing & (X[:, 0] + X[:, 1] > 3.0)
    optimizer.tell(X.tolist(), np.where(failed, np.nan, y).tolist())
    times = []
    for _ in range(N_WARM + 1):
        took, x = seconds(optimizer.ask)
        times.append(took)
        optimizer.tell(x, math.nan if failing and x[0] + x[1] > 3.0 else float(problem(np.asarray(x))[0]))
        if time.perf_counter() > deadline:
            break
    if profile and card.torch:
        print(profiled(card, optimizer.ask))
    return {"d": d, "n": n, "failed": int(failed.sum()), **summary(times, card)}


def profiled(card: Card, call: Callable[[], Any]) -> str:
    """What the GPU does in a call, longest first."""
    activities = [card.torch.profiler.ProfilerActivity.CUDA, card.torch.profiler.ProfilerActivity.CPU]
    with card.torch.profiler.profile(activities=activities) as found:
        call()
    return str(found.key_averages().table(sort_by="self_cuda_time_total", row_limit=30, max_name_column_width=60))


def in_lockstep(card: Card, n_runs: int, n: int, d: int, deadline: float, profile: bool = False) -> dict[str, Any]:
    """Times of one cold step of many runs and of warm ones after it; kernels and warps are chosen for each run."""
    problem = Levy(d)
    low, high = np.asarray(problem.lower), np.asarray(problem.upper)
    space = Space.of(list(zip(problem.lower, problem.upper, strict=True)))
    reference, spec = reference_on(card.name), Settings(seed=1, n_init=2 * d + 2).spec
    made = [make_history(problem, n - N_WARM, seed) for seed in range(n_runs)]
    X = np.stack([(x - low) / (high - low) for x, _ in made])
    scale = np.geomspace(1.0, 30.0, n_runs)[:, None]  # runs differ in how rough they are, so kernels and warps do too
    y = np.stack([value for _, value in made])
    y = y + scale * np.abs(np.sin(7.0 * X[:, :, 0]))
    card.forget()
    times, warmth = [], Warmth()
    for k in range(N_WARM + 1):
        batch = Batch(X, y, np.ones(y.shape, bool), np.zeros((n_runs, 0, d)), tuple(range(n_runs)))
        took, found = seconds(lambda b=batch, w=warmth, m=n - N_WARM + k: suggest(space, b, m, spec, w, reference))
        times.append(took)
        values = problem(low + found.x * (high - low)) + scale[:, 0] * np.abs(np.sin(7.0 * found.x[:, 0]))
        X, y = np.concatenate([X, found.x[:, None]], axis=1), np.concatenate([y, values[:, None]], axis=1)
        warmth = found.warmth
        if time.perf_counter() > deadline:
            break
    kernels = {name: warmth.kernels.count(name) for name in sorted(set(warmth.kernels))}
    if profile and card.torch:
        batch = Batch(X, y, np.ones(y.shape, bool), np.zeros((n_runs, 0, d)), tuple(range(n_runs)))
        print(profiled(card, lambda: suggest(space, batch, y.shape[1], spec, warmth, reference)))
    return {"d": d, "n": n, "runs": n_runs, "kernels": kernels, **summary(times, card)}


def difference(card: Card, d: int, n: int) -> dict[str, Any]:
    """How far the first suggestions of the device and of NumPy lie apart, in the unit cube, and NumPy's seconds."""
    problem = Levy(d)
    X, y = make_history(problem, n)
    y = y + 0.01 * y.std() * np.random.default_rng(0).standard_normal(n)  # without noise C is singular to rounding
    asked, times = [], []
    for device in ("cpu", card.name):
        optimizer = Optimizer([(-10.0, 10.0)] * d, seed=1, device=device, policy="EI")
        optimizer.tell(X.tolist(), y.tolist())
        cold, x = seconds(optimizer.ask)
        optimizer.tell(x, float(problem(np.asarray(x))[0]))
        warm, _ = seconds(optimizer.ask)
        asked.append(np.asarray(x))
        times.append({"cold_s": cold, "warm_s": warm})
    return {"d": d, "n": n, "apart": float(np.abs(asked[1] - asked[0]).max() / 20.0), "cpu": times[0], "gpu": times[1]}


def repeated(card: Card, d: int, n: int) -> dict[str, Any]:
    """Whether two optimizers that are told the same suggest the same points, bit by bit, three times."""
    problem = Levy(d)
    X, y = make_history(problem, n)
    points = []
    for _ in range(2):
        optimizer, asked = Optimizer([(-10.0, 10.0)] * d, seed=1, device=card.name), []
        optimizer.tell(X.tolist(), y.tolist())
        for _ in range(3):
            asked.append(optimizer.ask())
            optimizer.tell(asked[-1], float(problem(np.asarray(asked[-1]))[0]))
        points.append(asked)
    return {"d": d, "n": n, "equal": points[0] == points[1]}


def told(found: dict[str, Any]) -> str:
    """The figures as a page."""
    lines = [
        "# One run on a GPU",
        "",
        f"{found['device']}. `python -m benchmarks.scale_gpu`, which says what is measured.",
        "",
    ]
    lines += [
        "| evaluations | failed | inputs | cold, s | warm, s | slowest warm, s | memory, GB |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in found["one run"]:
        cells = [f"{row[key]:.2f}" for key in ("cold_s", "warm_s", "slowest_s")]
        memory = "" if row["peak_gb"] is None else f"{row['peak_gb']:.1f}"
        lines.append(f"| {row['n']} | {row['failed']} | {row['d']} | {' | '.join(cells)} | {memory} |")
    for row in found["lockstep"]:
        kernels = ", ".join(f"{count} {name}" for name, count in row["kernels"].items())
        lines += [
            "",
            f"{row['runs']} runs of {row['n']} evaluations, {row['d']} inputs, in lock-step ({kernels}): "
            f"cold {row['cold_s']:.2f} s, warm {row['warm_s']:.2f} s a step of all, slowest {row['slowest_s']:.2f} s.",
        ]
    lines += ["", "The same history on NumPy and on the GPU, noise of 1 %, EI; NumPy on the host of the GPU:", ""]
    lines += [
        "| evaluations | inputs | NumPy cold, s | warm | GPU cold, s | warm | points apart |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in found["difference"]:
        cells = [f"{row[where][key]:.2f}" for where in ("cpu", "gpu") for key in ("cold_s", "warm_s")]
        lines.append(f"| {row['n']} | {row['d']} | {' | '.join(cells)} | {row['apart']:.0e} |")
    for row in found["repeated"]:
        how = "the same bits" if row["equal"] else "other bits"
        lines += ["", f"Two runs that are told the same {row['n']} evaluations of {row['d']} inputs: {how}."]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--n", type=int, nargs="*", default=list(SIZES))
    parser.add_argument("--d", type=int, nargs="*", default=list(INPUTS))
    parser.add_argument("--failing", type=int, nargs="*", default=[2000], help="sizes with failures, 6 inputs")
    parser.add_argument("--runs", type=int, default=N_RUNS, help="0: none in lock-step")
    parser.add_argument("--agree", type=int, nargs="*", default=[500, 1000], help="sizes that NumPy is asked too")
    parser.add_argument("--limit", type=float, default=200.0, help="seconds after which nothing more is begun")
    parser.add_argument("--profile", action="store_true", help="print what the GPU does in one more warm step")
    parser.add_argument("--out", type=Path, default=Path("results/scale"))
    options = parser.parse_args()
    card, deadline = Card(options.device), time.perf_counter() + options.limit
    found: dict[str, Any] = {"device": card.told(), "one run": [], "lockstep": [], "difference": [], "repeated": []}
    size = min(N_OF_RUN, max(options.n))
    work: list[tuple[str, Callable[[], dict[str, Any]]]] = []
    work += [
        ("one run", lambda n=n, d=d: one_run(d, n, card, deadline, options.profile))
        for n in options.n
        for d in options.d
    ]
    work += [("one run", lambda n=n: one_run(6, n, card, deadline, options.profile, True)) for n in options.failing]
    if options.runs:
        work += [("lockstep", lambda: in_lockstep(card, options.runs, size, 6, deadline, options.profile))]
    work += [("difference", lambda n=n: difference(card, 6, n)) for n in options.agree]
    work += [("repeated", lambda n=n: repeated(card, 6, n)) for n in options.agree]
    one_run(2, 40, card, deadline, profile=False)  # libraries are loaded, kernels compiled
    for part, measure in work:
        if time.perf_counter() > deadline:
            print("out of time before", part)
            break
        found[part].append(measure())
        print(part, json.dumps(found[part][-1]), flush=True)
        options.out.mkdir(parents=True, exist_ok=True)
        (options.out / "gpu.json").write_text(json.dumps(found, indent=1) + "\n")
        (options.out / "gpu.md").write_text(told(found))


if __name__ == "__main__":
    main()
