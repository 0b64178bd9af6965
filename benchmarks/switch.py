"""`python -m benchmarks.switch`: what is lost where the model stops holding every evaluation.

    python -m benchmarks.switch run --device cuda --limit 550     # a part of it; the same command goes on
    python -m benchmarks.switch cost                              # CPU seconds of a suggestion on these histories
    python -m benchmarks.switch report

Twelve functions of eight inputs advance in lock-step. All runs share their first 1000 evaluations.
Then `all` holds everything to 2250 evaluations, and `held` goes on to 2350 and holds 1000 of them. Exact processes
of 2000 evaluations want a GPU. `cost` measures on one thread of the CPU, and says how far `all` comes in the time of
`held`.
"""

from __future__ import annotations

import os

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[_variable] = "1"  # before NumPy is imported

import argparse
import json
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.regret import further
from surefoot.backend import reference_on
from surefoot.engine.batch import Batch
from surefoot.engine.suggest import suggest
from surefoot.engine.warmth import Warmth
from surefoot.optimize.settings import Settings, default_n_init
from surefoot.optimize.space import Space
from surefoot.paper.resumable import save_whole, write_whole
from surefoot.paper.statistics import holm, log10_regret, wilcoxon

D, SHARED = 8, 1000
EVERYTHING = 10**6
EVERY = 100  # steps between two files
CLOSE = 0.1  # powers of ten: nearer or farther by more than this is a difference


@dataclass(frozen=True)
class Arm:
    """One way to go on."""

    max_points: int
    end: int
    begins: str = ""  # the arm whose evaluations it begins with


ARMS = {"shared": Arm(EVERYTHING, SHARED), "all": Arm(EVERYTHING, 2250, "shared"), "held": Arm(1000, 2350, "shared")}


@dataclass(frozen=True)
class Function:
    """On the unit cube."""

    name: str
    value: Callable[[np.ndarray], np.ndarray]
    low: float
    high: float
    least: float = 0.0

    def __call__(self, units: np.ndarray) -> np.ndarray:
        """Values (m,) at points (m, D)."""
        return np.asarray(self.value(self.low + units * (self.high - self.low)))


def _turned(value: Callable[[np.ndarray], np.ndarray]) -> Callable[[np.ndarray], np.ndarray]:
    """The function in other coordinates: its minimum is no longer where the axes meet."""
    turn, _ = np.linalg.qr(np.random.default_rng(8).standard_normal((D, D)))
    return lambda x: value((x - 0.7) @ turn)


def _schwefel(x: np.ndarray) -> np.ndarray:
    """Deep minima far from each other; the least is near a corner."""
    return 418.98288727243374 * x.shape[-1] - np.sum(x * np.sin(np.sqrt(np.abs(x))), axis=-1)


def _rippled(x: np.ndarray) -> np.ndarray:
    """Rosenbrock's valley with ripples; least at 1."""
    return further.rosenbrock(x) + np.sum(5.0 * (1.0 - np.cos(4.0 * np.pi * (x - 1.0))), axis=-1)


FUNCTIONS = (
    Function("Ackley", further.ackley, -10.0, 20.0),
    Function("Ackley, turned", _turned(further.ackley), -10.0, 20.0),
    Function("Dixon-Price", further.dixon_price, -10.0, 10.0),
    Function("Griewank", further.griewank, -200.0, 400.0),
    Function("Levy", further.levy, -10.0, 10.0),
    Function("Powell", further.powell, -4.0, 5.0),
    Function("Rastrigin", further.rastrigin, -2.0, 4.0),
    Function("Rastrigin, turned", _turned(further.rastrigin), -2.0, 4.0),
    Function("Rosenbrock", further.rosenbrock, -5.0, 10.0),
    Function("Rosenbrock, rippled", _rippled, -2.0, 2.0),
    Function("Schwefel", _schwefel, -500.0, 500.0),
    Function("Styblinski-Tang", further.styblinski_tang, -5.0, 5.0, D * further.STYBLINSKI),
)
IDS = tuple(range(0, 2 * len(FUNCTIONS), 2))  # of the runs: odd numbers are kept for a second seed
SPACE = Space.of([(0.0, 1.0)] * D)


def settings(max_points: int) -> Settings:
    """Those of a run without restarts: phases of their own would be small, and would hide what is held."""
    return Settings(seed=1, n_init=default_n_init(D), max_points=max_points, restarts="none")


@dataclass(frozen=True)
class Trace:
    """What the runs have evaluated, and where their searches ended."""

    X: np.ndarray  # (R, n, D)
    y: np.ndarray  # (R, n)
    warmth: Warmth

    @classmethod
    def read(cls, path: Path) -> Trace:
        """A file that `save` wrote."""
        with np.load(path) as data:
            return cls(data["X"], data["y"], Warmth.from_json(json.loads(str(data["warmth"]))))

    def save(self, path: Path) -> None:
        """Write it whole."""
        save_whole(path, X=self.X, y=self.y, warmth=json.dumps(self.warmth.to_json()))

    def first(self, n: int, run: int | None = None) -> Batch:
        """The histories of all runs, or of one, after n evaluations."""
        rows = slice(None) if run is None else slice(run, run + 1)
        X, y = self.X[rows, :n], self.y[rows, :n]
        return Batch(X, y, np.ones(y.shape, bool), np.zeros((len(y), 0, D)), IDS[rows])

    def step(self, max_points: int, device: str) -> Trace:
        """One evaluation more of every run."""
        n = self.X.shape[1]
        spec = settings(max_points).spec
        found = suggest(SPACE, self.first(n), n, spec, self.warmth, reference_on(device))
        y = np.concatenate([f(found.x[r : r + 1]) for r, f in enumerate(FUNCTIONS)])
        X = np.concatenate([self.X, found.x[:, None]], axis=1)
        return Trace(X, np.concatenate([self.y, y[:, None]], axis=1), found.warmth)


def run(folder: Path, device: str, limit: float, scale: float) -> bool:
    """Go on with every arm that is not at its end; whether all are. scale: a share of all sizes, to try it."""
    deadline = time.perf_counter() + limit
    for name, arm in ARMS.items():
        path, end = folder / f"{name}.npz", round(scale * arm.end)
        known = path if path.exists() else folder / f"{arm.begins}.npz" if arm.begins else None
        R = len(FUNCTIONS)
        trace = Trace.read(known) if known else Trace(np.zeros((R, 0, D)), np.zeros((R, 0)), Warmth())
        while trace.y.shape[1] < end:
            trace = trace.step(max(1, round(scale * arm.max_points)), device)
            n, late = trace.y.shape[1], time.perf_counter() > deadline
            if n % EVERY == 0 or n == end or late:
                trace.save(path)
                print(name, n, f"{deadline - time.perf_counter():.0f} s left", flush=True)
            if late:
                return False
    return True


def cost(folder: Path, sizes: list[int], steps: int) -> None:
    """CPU seconds of a suggestion, one thread: mean over steps and every third function."""
    seconds: dict[str, dict[int, float]] = {}
    for name in ("held", "all"):
        trace = Trace.read(folder / f"{name}.npz")
        arm, seconds[name] = ARMS[name], {}
        spec = settings(arm.max_points).spec
        for n in (size for size in sizes if size <= arm.end):
            taken = []
            for r in range(0, len(FUNCTIONS), 3):
                warmth = trace.warmth.part(np.asarray([r]))
                for k in range(n - steps - 1, n):  # the first begins at hyperparameters of the end: not counted
                    begin = time.process_time()
                    warmth = suggest(SPACE, trace.first(k, r), k, spec, warmth).warmth
                    taken.append(time.process_time() - begin)
                taken.pop(-steps - 1)
            seconds[name][n] = float(np.mean(taken))
            print(name, n, f"{seconds[name][n]:.2f} s", file=sys.stderr, flush=True)
    write_whole(folder / "cost.json", json.dumps(seconds, indent=1) + "\n")


def reached(seconds: dict[str, dict[str, float]]) -> int:
    """How many evaluations `all` has when its suggestions took as long as all of `held` from SHARED on."""
    n = np.arange(SHARED, ARMS["held"].end)
    held, everything = (
        np.cumsum(np.interp(n, [float(size) for size in seconds[name]], list(seconds[name].values())))
        for name in ("held", "all")
    )
    return SHARED + int(np.searchsorted(everything, held[-1]))


def report(folder: Path) -> str:
    """Regret of `held` beside that of `all`: after as many evaluations, and after as much CPU time."""
    traces = {name: Trace.read(folder / f"{name}.npz") for name in ("held", "all")}
    star = np.asarray([f.least for f in FUNCTIONS])[:, None]
    regret = {name: log10_regret(np.minimum.accumulate(trace.y, axis=1) - star, 0.0) for name, trace in traces.items()}
    cost_file = folder / "cost.json"
    seconds = json.loads(cost_file.read_text()) if cost_file.exists() else None
    compared = [(n, n) for n in (1250, 1500, 2000) if n <= ARMS["all"].end]
    if seconds is not None:
        compared.append((ARMS["held"].end, min(reached(seconds), ARMS["all"].end)))
    lines = [
        f"{len(FUNCTIONS)} functions of {D} inputs. `held` holds 1000 evaluations from {SHARED} on, "
        "`all` every one. log10 distance to the least value; nearer, farther: by more than 0.1.",
        "",
        "| `held` at n | `all` at n | pairs nearer | farther | mean of `held` | of `all` | Wilcoxon p |",
        "|---|---|---|---|---|---|---|",
    ]
    for a, b in compared:
        own, other = regret["held"][:, a - 1], regret["all"][:, b - 1]
        lines.append(
            f"| {a} | {b} | {np.sum(own < other - CLOSE)} | {np.sum(own > other + CLOSE)} | {own.mean():.2f} | "
            f"{other.mean():.2f} | {wilcoxon(own, other):.2f} |"
        )
    if seconds is not None:
        sizes = sorted({int(n) for part in seconds.values() for n in part})
        lines += ["", "CPU seconds of a suggestion, one thread:", "", "| n | `held` | `all` |", "|---|---|---|"]
        for n in sizes:
            cells = [f"{part[str(n)]:.2f}" if str(n) in part else "" for part in (seconds["held"], seconds["all"])]
            lines.append(f"| {n} | {' | '.join(cells)} |")
    a, b = compared[-1]
    heads = f"| function | at 1000 | `held` at 2000 | `all` at 2000 | `held` at {a} | `all` at {b} |"
    lines += ["", heads, "|---|---|---|---|---|---|"]
    for k, f in enumerate(FUNCTIONS):
        columns = (("held", SHARED), ("held", 2000), ("all", 2000), ("held", a), ("all", b))
        cells = [f"{regret[name][k, n - 1]:.2f}" for name, n in columns]
        lines.append(f"| {f.name} | {' | '.join(cells)} |")
    p = holm(np.asarray([wilcoxon(regret["held"][:, n - 1], regret["all"][:, n - 1]) for n in (1500, 2000)]))
    lines += ["", f"After Holm's correction p is {p[0]:.2f} and {p[1]:.2f} at 1500 and 2000 evaluations."]
    return "\n".join(lines) + "\n"


def main(words: list[str] | None = None) -> int:
    """Do what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["run", "cost", "report"])
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--limit", type=float, default=float("inf"), help="run: seconds after which it stops")
    parser.add_argument("--scale", type=float, default=1.0, help="run: a share of all sizes, to try it")
    parser.add_argument("--n", type=int, nargs="*", default=[1100, 1500, 2000, 2250], help="cost: sizes")
    parser.add_argument("--steps", type=int, default=5, help="cost: suggestions of each run")
    parser.add_argument("--raw", type=Path, default=Path("results/scale/raw/switch"))
    parser.add_argument("--out", type=Path, default=Path("results/scale"))
    asked = parser.parse_args(words)
    asked.raw.mkdir(parents=True, exist_ok=True)
    if asked.what == "run":
        done = run(asked.raw, asked.device, asked.limit, asked.scale)
        print("all runs are at their ends" if done else "stopped at the limit: the same command goes on")
        return 0
    if asked.what == "cost":
        cost(asked.raw, asked.n, asked.steps)
    text = report(asked.raw)
    write_whole(asked.out / "switch.md", text)
    print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
