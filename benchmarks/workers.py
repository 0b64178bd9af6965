"""Eight Dask workers against one on a simulator that takes 0.2 s: evaluations per second, regret at equal evaluations.

    python -m benchmarks.workers            # about four minutes; writes results/workers.md

The whole path is timed: SQLite with durable ends, suggestions, Dask, a process per worker that holds the function.
Regret after 100 evaluations: the parallel runs against `surefoot.minimize`, which makes the points of a run with one
worker.
"""

import argparse
import contextlib
import multiprocessing
import os
import platform
import tempfile
import time
from collections.abc import Iterator
from multiprocessing.connection import Connection
from pathlib import Path

import numpy as np
from scipy.stats import wilcoxon

import surefoot
from surefoot.runs.cluster import connect
from surefoot.runs.problem import Problem, problem_from
from surefoot.runs.running import run
from surefoot.runs.study import Counts

SLEEP_S = 0.2
SIMULATOR = f"""
import time
from surefoot import problems
def evaluate(x):
    time.sleep({SLEEP_S})
    return problems.get(NAME)(list(x.values()))
"""


def conditions(command: str, load: float) -> list[str]:
    """How and where something was measured, for the head of its table."""
    return [
        f"`{command}`; Python {platform.python_version()}, surefoot {surefoot.__version__}, {os.cpu_count()} cores,",
        f"load average before the start {load:.1f}.",
    ]


class Clock:
    """A reporter that notes when evaluations ended."""

    def __init__(self) -> None:
        self.ends: list[float] = []

    def progress(self, counts: Counts) -> None:
        """Note the ends since the last time."""
        self.ends.extend([time.perf_counter()] * (counts.finished - len(self.ends)))

    def note(self, text: str) -> None:
        """Print it."""
        print(text)

    def saved(self, study: object) -> None:
        """Do nothing."""

    def rate(self) -> float:
        """Evaluations per second between the first end and the last."""
        later = [t for t in self.ends if t > self.ends[0]]
        return len(later) / (self.ends[-1] - self.ends[0])


def make(folder: Path, name: str, n_evals: int, seed: int) -> Problem:
    f = surefoot.problems.get(name)
    (folder / f"{name}.py").write_text(SIMULATOR.replace("NAME", repr(name)))
    parameters = {f"x{i}": {"low": float(low), "high": float(high)} for i, (low, high) in enumerate(f.bounds)}
    table = {"name": f"{name}-{seed}-{n_evals}", "n_evals": n_evals, "seed": seed, "parameters": parameters}
    return problem_from({**table, "objective": {"python": f"{name}.py:evaluate"}}, folder)


def _serve(n_workers: int, pipe: Connection) -> None:
    from distributed import LocalCluster

    with LocalCluster(n_workers=n_workers, threads_per_worker=1, dashboard_address=None, host="127.0.0.1") as started:
        pipe.send(started.scheduler_address)
        pipe.recv()  # until the benchmark is done


@contextlib.contextmanager
def cluster(n_workers: int) -> Iterator[str]:
    """A Dask cluster in processes of its own, as `surefoot run --dask` meets it; its address."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(n_workers, theirs))
    process.start()
    try:
        yield ours.recv()
        ours.send("done")
        process.join(30)
    finally:
        process.kill()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workers", type=int, default=8)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--n", type=int, default=100)
    parser.add_argument("--problems", nargs="+", default=["BRA", "HM3"])
    parser.add_argument("--out", type=Path, default=Path("results/workers.md"))
    options = parser.parse_args()

    lines, rates = [], []
    load = os.getloadavg()[0]  # of other work
    n_workers = options.workers
    with tempfile.TemporaryDirectory() as place, cluster(n_workers) as address:
        executor = connect(address)
        folder = Path(place)
        run(make(folder, "BRA", n_workers, 999), workers=n_workers, executor=executor, reporter=Clock())  # to warm up
        clock = Clock()
        run(make(folder, "BRA", 40, 998), workers=1, executor=executor, reporter=clock)
        alone = clock.rate()
        print(f"one worker: {alone:.2f} evaluations/s")
        for name in options.problems:
            f = surefoot.problems.get(name)
            regrets = []
            for seed in range(options.seeds):
                clock = Clock()
                problem = make(folder, name, options.n, seed)
                together = run(problem, workers=n_workers, executor=executor, reporter=clock).fun
                one_by_one = surefoot.minimize(f, f.bounds, n_evals=options.n, seed=seed).fun
                rates.append(clock.rate())
                regrets.append([max(value - f.f_star, 1e-12) for value in (together, one_by_one)])
                print(f"{name} seed {seed}: {rates[-1]:.1f}/s, regrets {regrets[-1][0]:.1e} and {regrets[-1][1]:.1e}")
            logs = np.log10(regrets)
            p = wilcoxon(logs[:, 0], logs[:, 1], alternative="greater").pvalue
            medians = np.median(logs, axis=0)
            lines.append(f"| {name} | {medians[0]:.2f} | {medians[1]:.2f} | {p:.2f} |")
        executor.shutdown()
    command = f"python -m benchmarks.workers --seeds {options.seeds} --n {options.n}"
    text = "\n".join([
        f"# {n_workers} workers against one",
        "",
        *conditions(command, load),
        f"A Dask cluster of {n_workers} local workers, a simulator that sleeps {SLEEP_S} s, a SQLite storage with",
        "every end on the disk.",
        "",
        "| workers | evaluations per second |",
        "|---|---|",
        f"| 1 | {alone:.2f} |",
        f"| {n_workers} | {np.median(rates):.1f} (median of {len(rates)} runs, {min(rates):.1f} to {max(rates):.1f}) |",
        "",
        f"{np.median(rates) / alone:.1f} times as many.",
        "",
        f"Median log10 regret after {options.n} evaluations, {options.seeds} seeds; p of Wilcoxon's signed-rank test",
        "(paired, one-sided) that the parallel runs are worse:",
        "",
        f"| problem | {n_workers} workers | one by one | p |",
        "|---|---|---|---|",
        *lines,
        "",
    ])  # fmt: skip
    options.out.write_text(text)
    print(text)


if __name__ == "__main__":
    main()
