"""One step of many runs at once: NumPy, PyTorch on the CPU and on a GPU, agreement and seconds.

    python -m benchmarks.batched --runs 100 --n 100 500 --device numpy cuda

The history of every run is that of benchmarks/suggestion.py with noise of 1 % added: without noise the correlation
matrices are singular to rounding, and two libraries agree no better than their conditioning allows.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from benchmarks.suggestion import PROBLEMS, make_history
from surefoot import problems
from surefoot.backend import reference_on
from surefoot.engine.batch import Batch
from surefoot.engine.searches import PAPER_MODEL
from surefoot.engine.suggest import suggest
from surefoot.engine.warmth import Warmth
from surefoot.optimize.settings import Settings
from surefoot.optimize.space import Space


def make_runs(d: int, n: int, n_runs: int) -> tuple[Space, Batch]:
    """n_runs histories of n points."""
    problem = problems.get(PROBLEMS[d])
    space = Space.of(problem.bounds)
    low, high = np.asarray(problem.lower), np.asarray(problem.upper)
    X, y = zip(*(make_history(problem, n, seed) for seed in range(n_runs)), strict=True)
    values = np.asarray(y)
    values += 0.01 * values.std(axis=1, keepdims=True) * np.random.default_rng(0).standard_normal(values.shape)
    units = (np.asarray(X) - low) / (high - low)
    return space, Batch(units, values, np.ones(values.shape, bool), np.zeros((n_runs, 0, d)), tuple(range(n_runs)))


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--n", type=int, nargs="*", default=[50, 200])
    parser.add_argument("--d", type=int, nargs="*", default=[2, 6])
    parser.add_argument(
        "--device", nargs="*", default=["numpy", "cpu"], help="numpy, cpu, cuda; the first is the reference"
    )
    parser.add_argument("--policy", default="EI")
    parser.add_argument("--search", default="gradient")
    options = parser.parse_args()
    print(f"{options.policy}, {options.search} search, {options.runs} runs; seconds of a cold and a warm step")
    heads = ["cold s", "warm s", "ms/run"]
    gaps = ["theta", "x, worst", "x, 90 %"]
    print(f"{'d':>2} {'n':>5} {'device':>8}" + "".join(f"{h:>9}" for h in heads) + "".join(f"{g:>11}" for g in gaps))
    for d in options.d:
        for n in options.n:
            space, runs = make_runs(d, n, options.runs)
            settings = Settings(seed=1, n_init=1, policy=options.policy, search=options.search, **PAPER_MODEL)
            first = None
            for device in options.device:
                reference = reference_on({"numpy": "cpu", "cpu": "torch"}.get(device, device))
                warmth, seconds = Warmth(), []
                for _ in range(3):  # cold, warm (untimed set-up of the device), warm
                    begin = time.perf_counter()
                    suggestion = suggest(space, runs, n, settings.spec, warmth, reference)
                    seconds.append(time.perf_counter() - begin)
                    if not warmth.objective:
                        cold = suggestion
                    warmth = suggestion.warmth
                theta, x = cold.warmth.objective.theta, cold.x
                first = first or (theta, x)
                gap = np.abs(x - first[1]).max(axis=1)
                print(
                    f"{d:2d} {n:5d} {device:>8} {seconds[0]:8.3f} {seconds[2]:8.3f} "
                    f"{1000 * seconds[2] / options.runs:8.2f} {np.abs(theta - first[0]).max():10.1e} "
                    f"{gap.max():10.1e} {np.quantile(gap, 0.9):10.1e}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
