"""`make bench`: one suggestion (tell + refit + maximize) of every installed library, interleaved, on one thread.

The history is that of an optimization: a Latin hypercube of 10 d points, then half exploring and half refining points
round the optimum, the same for all. Each library gets one untimed step first. Ratios carry over to other machines;
absolute times do not.
"""

from __future__ import annotations

import os

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS"):
    os.environ[_variable] = "1"  # before NumPy is imported

import argparse
import json
import platform
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import peers
from surefoot import problems
from surefoot.numerics.designs import latin_hypercube

SIZES = (20, 50, 100, 200, 500, 1000)
PROBLEMS = {2: "BRA", 6: "HM6"}


def make_history(problem: Any, n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """n points as an optimization would have evaluated them, and their values."""
    rng = np.random.default_rng(seed)
    d = problem.d
    X = rng.random((n, d))
    n_design = min(n, 10 * d)
    X[:n_design] = latin_hypercube(n_design, d, rng)
    low, high = np.asarray(problem.lower), np.asarray(problem.upper)
    best = (np.asarray(problem.minimizers[0]) - low) / (high - low)
    refine = np.arange(n) % 2 == 1
    refine[:n_design] = False
    scale = 10.0 ** -rng.uniform(1.0, 3.5, (n, 1))
    X = np.where(refine[:, None], np.clip(best + scale * rng.standard_normal((n, d)), 0.0, 1.0), X)
    X = low + X * (high - low)
    return X, np.asarray(problem(X))


def time_suggestions(names: list[str], d: int, n: int, repeats: int, limit_s: float) -> dict[str, float]:
    """Median seconds of one step at n points, per library; a library slower than limit_s is timed once."""
    problem = problems.get(PROBLEMS[d])
    X, y = make_history(problem, n)
    start = n - repeats - 1
    steps = {name: peers.load(name, problem, X[:start], y[:start]) for name in names}
    times: dict[str, list[float]] = {name: [] for name in names}
    for k in range(repeats + 1):  # step 0 warms up
        for name in names:
            if k > 0 and times[name] and max(times[name]) > limit_s:
                continue
            begin = time.perf_counter()
            steps[name](X[start + k], float(y[start + k]))
            times[name].append(time.perf_counter() - begin)
    return {name: float(np.median(t[1:] or t)) for name, t in times.items()}


def peak_memory_mb(name: str, d: int, n: int) -> float:
    """Peak resident memory of a fresh process that makes one suggestion at n points."""
    command = [sys.executable, "-m", "benchmarks.suggestion", "--one", name, "--d", str(d), "--n", str(n)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return float(done.stdout.strip().splitlines()[-1])


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, nargs="*", default=list(SIZES), help="sizes of the history")
    parser.add_argument("--d", type=int, nargs="*", default=[2, 6], choices=[2, 6])
    parser.add_argument("--peers", nargs="*", default=None, help="default: all that are installed")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--limit", type=float, default=20.0, help="seconds above which a library is timed once")
    parser.add_argument("--skip-above", type=float, default=8.0, help="a slower library sits out larger histories")
    parser.add_argument("--memory", action="store_true", help="instead: peak memory at the largest history (Linux)")
    parser.add_argument("--json", type=Path, default=None, help="also write the figures to this file")
    parser.add_argument("--one", default=None, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        X, y = make_history(problems.get(PROBLEMS[options.d[0]]), options.n[0])
        peers.load(options.one, problems.get(PROBLEMS[options.d[0]]), X[:-1], y[:-1])(X[-1], float(y[-1]))
        status = Path("/proc/self/status").read_text()  # not ru_maxrss, which a child inherits from its parent
        print(int(status.split("VmHWM:")[1].split()[0]) / 1024.0)
        return
    names = options.peers or peers.installed()
    if "torch" in sys.modules or any(name in ("optuna", "botorch") for name in names):
        import torch

        torch.set_num_threads(1)
    versions = {name: peers.version(name) for name in names}
    if options.memory:
        n, d = max(options.n), options.d[-1]
        found = {name: peak_memory_mb(name, d, n) for name in names}
        print(f"peak memory, d = {d}, n = {n}, MB: " + ", ".join(f"{k} {v:.0f}" for k, v in found.items()))
        return
    print("python", platform.python_version(), "; ", ", ".join(f"{k} {v}" for k, v in versions.items()))
    print("median seconds of one suggestion; 'ahead' = fastest peer / surefoot")
    print(f"{'d':>2} {'n':>5} " + "".join(f"{name:>11}" for name in names) + f"{'ahead':>9}")
    rows = []
    for d in options.d:
        active = list(names)
        for n in options.n:
            times = time_suggestions(active, d, n, options.repeats, options.limit)
            rivals = [t for name, t in times.items() if name != "surefoot"]
            ahead = min(rivals) / times["surefoot"] if rivals and "surefoot" in times else float("nan")
            cells = "".join(f"{times[name]:11.4f}" if name in times else f"{'-':>11}" for name in names)
            print(f"{d:2d} {n:5d} {cells}{ahead:8.1f}x", flush=True)
            rows.append({"d": d, "n": n, "seconds": times, "ahead": ahead})
            active = [name for name in active if times[name] <= options.skip_above]
    if options.json:
        record = {"versions": versions, "python": platform.python_version(), "rows": rows}
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
