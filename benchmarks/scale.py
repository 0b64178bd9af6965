"""`python -m benchmarks.scale`: many evaluations. What a step costs, and what is lost by holding some of them only.

    python -m benchmarks.scale cost                                    # a step at n = 200 to 10 000, d = 6 and 20
    python -m benchmarks.scale quality --max-points 150 --n 450        # runs that hold 150, beside runs that hold all
    python -m benchmarks.scale quality --max-points 1000 --n 3000 --functions SH10 --seeds 1
    python -m benchmarks.scale quality --report

`quality` compares at equal numbers of evaluations, and at equal CPU time of the optimizer. A small --max-points asks
the same question as the real one at a tiny part of its price. Interrupted or killed, the same command goes on.
One thread; CPU seconds depend on the machine, their ratios less.
"""

from __future__ import annotations

import os

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[_variable] = "1"  # before NumPy is imported

import argparse
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.designs import Function, functions
from benchmarks.regret.further import rosenbrock
from surefoot import Optimizer
from surefoot.engine.lockstep import run_in_lockstep
from surefoot.optimize.settings import Settings, default_n_init
from surefoot.optimize.space import Space
from surefoot.paper.resumable import run_cases, save_whole, write_whole
from surefoot.paper.statistics import holm, log10_regret, wilcoxon

SIZES = (200, 1000, 1100, 2000, 5000, 10_000)
ALL = 10**6  # a process that holds everything


def history(d: int, n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Rosenbrock's function at n points as an optimization leaves them: half anywhere, half ever nearer to its least.

    The first comes in a random place among the others.
    """
    rng = np.random.default_rng(seed)
    near = 0.75 + rng.standard_normal((n // 2, d)) * 10.0 ** rng.uniform(-3.0, -0.5, (n // 2, 1))
    X = rng.permutation(np.concatenate([rng.random((n - n // 2, d)), np.clip(near, 0.0, 1.0)]))
    return X, valley(X)


def valley(X: np.ndarray) -> np.ndarray:
    """Rosenbrock's function over [-2, 2], on the unit cube, (m,)."""
    return rosenbrock(4.0 * X - 2.0)


def peak_memory_mb() -> float:
    """Peak resident memory of this process (Linux)."""
    return int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]) / 1024.0


def cost(sizes: list[int], dims: list[int], steps: int) -> list[str]:
    """CPU seconds of the first suggestion on a history that comes without a model, and of those that follow."""
    lines = [
        "| d | n | first suggestion | the next, mean | the next, longest | peak memory so far, MB |",
        "|---|---|---|---|---|---|",
    ]
    for d in dims:
        for n in sizes:
            X, y = history(
                d, n - steps // 2
            )  # so that a step at n, which fits the hyperparameters again, is among them
            optimizer = Optimizer([(0.0, 1.0)] * d, seed=1)
            for point, value in zip(X, y, strict=True):
                optimizer.tell(point, value)
            seconds = []
            for _ in range(1 + steps):
                begin = time.process_time()
                point = optimizer.ask()
                seconds.append(time.process_time() - begin)
                optimizer.tell(point, float(valley(np.asarray(point))))
            cells = (seconds[0], np.mean(seconds[1:]), max(seconds[1:]))
            lines.append(f"| {d} | {n} | " + " | ".join(f"{s:.2f}" for s in cells) + f" | {peak_memory_mb():.0f} |")
            print(lines[-1], file=sys.stderr, flush=True)
    return lines


@dataclass(frozen=True)
class Case:
    """One run."""

    function: str
    seed: int
    max_points: int
    n: int

    @property
    def path(self) -> str:
        """Its file among the raw runs."""
        return f"{self.function.replace(' ', '-')}-{self.seed}-{self.max_points}-{self.n}.npz"


def run(case: Case, folder: Path) -> None:
    """Make the run; keep the best value so far and the CPU seconds of the optimizer after each evaluation."""
    (function,) = (f for f in functions() if f.name == case.function)
    d = len(function.low)
    space, spec = (
        Space.of([(0.0, 1.0)] * d),
        Settings(seed=case.seed, n_init=default_n_init(d), max_points=case.max_points).spec,
    )
    seconds: list[float] = []

    def evaluate(units: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        seconds.append(time.process_time())
        values = function(units)
        return values, np.isfinite(values)

    begin = time.process_time()
    trace = run_in_lockstep(space, evaluate, spec, 1, case.n)
    best = np.fmin.accumulate(trace.y[0])
    save_whole(folder / case.path, best=best, seconds=np.asarray(seconds) - begin)


def read(folder: Path) -> dict[tuple[int, int], dict[tuple[str, int], dict[str, np.ndarray]]]:
    """Runs by (n, max_points), then by function and seed: log10 regret and seconds."""
    by_name = {f.name.replace(" ", "-"): f for f in functions()}
    found: dict[tuple[int, int], dict[tuple[str, int], dict[str, np.ndarray]]] = {}
    for path in sorted(folder.glob("*.npz")):
        name, seed, most, n = path.stem.rsplit("-", 3)
        with np.load(path) as data:
            regret = log10_regret(data["best"], by_name[name].f_star)
            own = {"regret": regret, "seconds": np.array(data["seconds"])}
        found.setdefault((int(n), int(most)), {})[by_name[name].name, int(seed)] = own
    return found


def report(folder: Path) -> str:
    """Regret of runs that hold some, beside that of runs that hold all."""
    found = read(folder)
    lines: list[str] = []
    for n, most in sorted(key for key in found if key[1] != ALL):
        some, everything = found[n, most], found.get((n, ALL), {})
        pairs = sorted(set(some) & set(everything))
        names = list(dict.fromkeys(name for name, _ in pairs))
        if not pairs:
            continue
        a, b = (np.asarray([runs[key]["regret"][n - 1] for key in pairs]) for runs in (some, everything))
        stopped = [np.searchsorted(everything[key]["seconds"], some[key]["seconds"][-1]) for key in pairs]
        c = np.asarray([everything[key]["regret"][min(k, n - 1)] for key, k in zip(pairs, stopped, strict=True)])
        p = holm(np.asarray([wilcoxon(a[_of(name, pairs)], b[_of(name, pairs)]) for name in names]))
        ratio = [everything[key]["seconds"][-1] / some[key]["seconds"][-1] for key in pairs]
        lines += [
            f"Runs of {n} evaluations that hold {most}, beside runs that hold all: {len(names)} functions, "
            f"{len(pairs)} pairs. CPU of the optimizer: {np.median(ratio):.1f} times less (median). "
            f"Over all pairs: better in {np.sum(a < b - 0.1)}, worse in {np.sum(a > b + 0.1)} by more than 0.1 in "
            f"log10, Wilcoxon p = {wilcoxon(a, b):.2f}; against runs that hold all, stopped at equal CPU time: "
            f"better in {np.sum(a < c - 0.1)}, worse in {np.sum(a > c + 0.1)}.",
            "",
            f"| function | log10 regret, {most} | all | all, at equal CPU | p (Holm) |",
            "|---|---|---|---|---|",
        ]
        for name, value in zip(names, p, strict=True):
            own = _of(name, pairs)
            cells = " | ".join(f"{np.median(part[own]):.2f}" for part in (a, b, c))
            lines.append(f"| {name} | {cells} | {value:.2f} |")
        lines.append("")
    return "\n".join(lines)


def _of(name: str, pairs: list[tuple[str, int]]) -> np.ndarray:
    return np.asarray([key[0] == name for key in pairs])


def _chosen(names: list[str] | None) -> list[Function]:
    known = functions()
    wrong = sorted(set(names or ()) - {f.name for f in known})
    if wrong:
        raise SystemExit(f"expected functions among {', '.join(f.name for f in known)}; got {', '.join(wrong)}")
    return [f for f in known if names is None or f.name in names]


def main(words: list[str] | None = None) -> int:
    """Measure what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["cost", "quality"])
    parser.add_argument("--n", type=int, nargs="*", help="cost: sizes; quality: evaluations of a run (450)")
    parser.add_argument("--d", type=int, nargs="*", default=[6, 20], help="cost: numbers of inputs")
    parser.add_argument("--steps", type=int, default=10, help="cost: suggestions after the first")
    parser.add_argument("--max-points", type=int, default=150, help="quality: evaluations that the model holds")
    parser.add_argument("--functions", nargs="*", help="quality: names; default: all")
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path("results/scale"))
    parser.add_argument("--report", action="store_true", help="quality: run nothing")
    asked = parser.parse_args(words)
    asked.out.mkdir(parents=True, exist_ok=True)
    if asked.what == "cost":
        text = "\n".join(cost(asked.n or list(SIZES), asked.d, asked.steps)) + "\n"
        write_whole(asked.out / "cost.md", "CPU seconds of a suggestion, one thread.\n\n" + text)
        print(text)
        return 0
    raw = asked.out / "raw"
    raw.mkdir(exist_ok=True)
    n = asked.n[0] if asked.n else 450
    ways = (asked.max_points, ALL)
    cases = [Case(f.name, s, most, n) for s in range(asked.seeds) for f in _chosen(asked.functions) for most in ways]
    todo = [] if asked.report else [case for case in cases if not (raw / case.path).exists()]
    for k, case in enumerate(run_cases(run, todo, raw, asked.workers)):
        print(f"{k + 1} of {len(todo)}: {case.path}", file=sys.stderr, flush=True)
    text = report(raw)
    write_whole(asked.out / "quality.md", text)
    print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
