"""`python -m benchmarks.designs`: how many evaluations of a run should be its initial design, and of which kind?

    python -m benchmarks.designs --out results/designs --variant 10d,30 --variant 2d+2 --variant 2d+2:sobol
    python -m benchmarks.designs --out results/designs --device cuda --workers 8
    python -m benchmarks.designs --out results/designs --report        # the tables of what is there

    python -m benchmarks.designs --out results/designs/noise --noise 0.1
    python -m benchmarks.designs --out results/designs/bbob --bbob --d 10 --variant 2d+2 --variant 2d+2,14

A variant is a rule for n_init in d (10d,30 is at most 30; 2d+2 is what it says) and a kind of design. All functions of
equal d run in one batch, so that a GPU is not idle. Interrupted or killed, the same command goes on where it was.
"""

from __future__ import annotations

import os

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[_variable] = "1"  # before NumPy is imported

import argparse
import re
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.regret.further import FURTHER
from benchmarks.regret.suites import bbob_function, is_bbob
from surefoot import problems
from surefoot.backend import reference_on
from surefoot.engine.lockstep import run_in_lockstep
from surefoot.errors import InvalidInputError, SurefootError
from surefoot.numerics.designs import DESIGNS
from surefoot.optimize.settings import Settings
from surefoot.optimize.space import Space
from surefoot.paper.resumable import run_cases, save_whole, write_whole
from surefoot.paper.statistics import holm, log10_regret, wilcoxon

VARIANTS = ("10d,30", "5d,30", "3d", "2d+2", "d+2", "2d+2:maximin", "2d+2:sobol")
BUDGETS = (20, 30, 40, 60, 100)
_RULE = re.compile(r"(\d*)d(?:\+(\d+))?(?:,(\d+))?(?::([a-z]+))?")


@dataclass(frozen=True)
class Function:
    """What is minimized, on the unit cube."""

    name: str
    low: np.ndarray
    high: np.ndarray
    f_star: float

    def __call__(self, units: np.ndarray) -> np.ndarray:
        """Values (m,) at points (m, d)."""
        x = self.low + units * (self.high - self.low)
        if is_bbob(self.name):
            return np.asarray([bbob_function(self.name, 1)(row) for row in x])
        further = FURTHER.get(self.name)
        return np.asarray(problems.get(self.name)(x) if further is None else further.function(x))


def bbob(d: int) -> list[Function]:
    """The first instance of the 24 functions of COCO's suite, with d inputs."""
    names = [f"f{k:02d} d{d}" for k in range(1, 25)]
    low, high = np.full(d, -5.0), np.full(d, 5.0)
    return [Function(name, low, high, float(bbob_function(name, 1).best_value())) for name in names]


def functions() -> list[Function]:
    """The paper's and the further ones."""
    found = [Function(p.abbreviation, *np.asarray(p.bounds).T, float(p.f_star or 0.0)) for p in problems.ALL]
    return found + [Function(f.name, *np.asarray(f.bounds).T, f.f_star) for f in FURTHER.values()]


def parse(variant: str, d: int) -> tuple[int, str]:
    """n_init and the kind of design that a variant stands for."""
    match = _RULE.fullmatch(variant)
    kind = (match[4] or "lhs") if match else ""
    if match is None or kind not in DESIGNS:
        raise InvalidInputError(
            f"expected a rule such as 2d+2, 10d,30 or 3d:sobol; got {variant!r}; try one of {', '.join(VARIANTS)}"
        )
    n = int(match[1] or 1) * d + int(match[2] or 0)
    return min(n, int(match[3] or n)), kind


@dataclass(frozen=True)
class Case:
    """All functions of d inputs under one variant."""

    variant: str
    d: int
    seeds: int
    n: int
    device: str
    noise: float = 0.0  # its standard deviation, in those of the function over the box
    bbob: bool = False  # functions of COCO's suite instead

    @property
    def path(self) -> str:
        """Its file among the raw runs."""
        name = re.sub(r"[^a-z0-9]+", "-", self.variant)
        kind = "-bbob" * self.bbob + f"-noise-{self.noise:g}" * (self.noise > 0.0)
        return f"{name}-d{self.d}-{self.seeds}x{self.n}{kind}.npz"


def run(case: Case, folder: Path) -> None:
    """Run every function from every seed and keep the best values so far."""
    group = bbob(case.d) if case.bbob else [f for f in functions() if len(f.low) == case.d]
    n_init, kind = parse(case.variant, case.d)

    cube = np.random.default_rng(0).random((2000, case.d))
    scale = np.repeat([case.noise * np.std(f(cube)) for f in group], case.seeds)
    rng = np.random.default_rng(1)
    truth: list[np.ndarray] = []

    def evaluate(units: np.ndarray) -> tuple[np.ndarray, ...]:
        values = np.concatenate([f(part) for f, part in zip(group, np.split(units, len(group)), strict=True)])
        truth.append(values)
        return values + scale * rng.standard_normal(len(values)), np.isfinite(values)

    spec = Settings(n_init=n_init, design=kind).spec
    space = Space.of([(0.0, 1.0)] * case.d)
    trace = run_in_lockstep(space, evaluate, spec, len(group) * case.seeds, case.n, reference_on(case.device))
    true = np.stack(truth, axis=1)
    seen = np.fmin.accumulate(trace.y, axis=1)
    first = np.argmax(trace.y[:, None, :] == seen[:, :, None], axis=2)
    best = np.take_along_axis(true, first, axis=1)  # the true value where the least one was seen
    save_whole(
        folder / case.path,
        variant=case.variant,
        names=np.asarray([f.name for f in group]),
        f_star=np.asarray([f.f_star for f in group]),
        best=best.reshape(len(group), case.seeds, case.n),
    )


def read(folder: Path) -> dict[str, dict[str, np.ndarray]]:
    """log10 regret (seeds, n) by variant and function."""
    found: dict[str, dict[str, np.ndarray]] = {}
    for path in sorted(folder.glob("*.npz")):
        with np.load(path) as data:
            for name, best, f_star in zip(data["names"].tolist(), data["best"], data["f_star"].tolist(), strict=True):
                found.setdefault(str(data["variant"]), {})[name] = log10_regret(best, f_star)
    return found


def report(found: dict[str, dict[str, np.ndarray]]) -> str:
    """Mean ranks of the medians, tests against the first variant, and the medians."""
    variants = [v for v in VARIANTS if v in found] + sorted(set(found) - set(VARIANTS))
    names = [name for name in found[variants[0]] if all(name in found[v] for v in variants)]
    n = min(runs[name].shape[1] for runs in found.values() for name in names)
    budgets = [b for b in BUDGETS if b <= n]
    lines = [
        f"Mean rank of the median log10 regret over {len(names)} functions; in brackets on how many a variant is "
        f"significantly better / worse than {variants[0]} (Wilcoxon over seeds, Holm over the table, 5 %).",
        "",
        "| variant | " + " | ".join(f"n = {b}" for b in budgets) + " |",
        "|" + "---|" * (1 + len(budgets)),
    ]
    medians = {(v, b): np.asarray([np.median(found[v][f][:, b - 1]) for f in names]) for v in variants for b in budgets}
    tests = [(v, b, f) for v in variants[1:] for b in budgets for f in names]
    p = holm(np.asarray([wilcoxon(found[v][f][:, b - 1], found[variants[0]][f][:, b - 1]) for v, b, f in tests]))
    verdict = {key: value < 0.05 for key, value in zip(tests, p, strict=True)}
    for v in variants:
        cells = []
        for b in budgets:
            table = np.round([medians[w, b] for w in variants], 3)
            mine = table[variants.index(v)]
            rank = np.mean(1.0 + (table < mine).sum(axis=0) + 0.5 * ((table == mine).sum(axis=0) - 1.0))
            gains = [medians[v, b][k] < medians[variants[0], b][k] for k in range(len(names))]
            sure = [verdict.get((v, b, f), False) for f in names]
            better = sum(s and g for s, g in zip(sure, gains, strict=True))
            worse = sum(s and not g for s, g in zip(sure, gains, strict=True))
            cells.append(f"{rank:.2f}" + ("" if v == variants[0] else f" ({better} / {worse})"))
        lines.append(f"| {v} | " + " | ".join(cells) + " |")
    lines += ["", f"Median log10 regret after {', '.join(map(str, budgets))} evaluations.", ""]
    lines += ["| function | " + " | ".join(variants) + " |", "|" + "---|" * (1 + len(variants))]
    for k, f in enumerate(names):
        cells = [" / ".join(f"{medians[v, b][k]:.1f}" for b in budgets) for v in variants]
        lines.append(f"| {f} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def main(words: list[str] | None = None) -> int:
    """Run what is missing, then report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--variant", action="append", help=f"repeatable; default: {' '.join(VARIANTS)}")
    parser.add_argument("--d", type=int, action="append", help="functions of so many inputs only; repeatable")
    parser.add_argument("--bbob", action="store_true", help="the 24 functions of COCO's suite, with --d inputs (10)")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--n", type=int, default=100, help="evaluations of a run")
    parser.add_argument("--noise", type=float, default=0.0, help="in standard deviations of the function over its box")
    parser.add_argument("--device", default="cpu", help="cpu (NumPy), cuda (a GPU, through PyTorch)")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path("results/designs"))
    parser.add_argument("--report", action="store_true", help="run nothing")
    asked = parser.parse_args(words)
    raw = asked.out / "raw"
    try:
        there = set(asked.d or [10]) if asked.bbob else {len(f.low) for f in functions()}
        dims = sorted(there & set(asked.d or there), reverse=True)
        variants = asked.variant or list(VARIANTS)
        cases = [
            Case(v, d, asked.seeds, asked.n, asked.device, asked.noise, asked.bbob)
            for v in variants
            for d in dims
            if parse(v, d)
        ]
    except SurefootError as error:
        print(error, file=sys.stderr)
        return 2
    raw.mkdir(parents=True, exist_ok=True)
    todo = [] if asked.report else [case for case in cases if not (raw / case.path).exists()]
    for k, case in enumerate(run_cases(run, todo, raw, asked.workers)):
        print(f"{k + 1} of {len(todo)}: {case.variant}, d = {case.d}", file=sys.stderr, flush=True)
    text = report(read(raw))
    write_whole(asked.out / "table.md", text)
    print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
