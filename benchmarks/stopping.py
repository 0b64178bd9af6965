"""Is the probability of a gain right? `python -m benchmarks.stopping` compares it with what runs really gained.

Runs      18 functions, 10 seeds, 100 evaluations each with surefoot's defaults: of the paper, of BBOB (needs
          coco-experiment), two that fail, two with limits on outputs, two with noise. At n = 10, 15, 20, 30, …, 80 the
          share q of `surefoot.optimize.gain` is computed, for gains of more than 0.1, 1 and 10 % in 20 evaluations, and
          kept beside what the next 20 evaluations gained. A run that is there is not made again.
Halves    "fit": the calibration is fitted on these. "check": it is judged on these.
Noise     A gain is one of the function without noise: from where the model would have stopped to the best of the next
          20.
"""

from __future__ import annotations

import os

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[_variable] = "1"  # before NumPy is imported

import argparse
import csv
import itertools
import math
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import minimize as descend

from benchmarks.regret.suites import bbob_function, spread
from surefoot import minimize, problems
from surefoot.optimize.gain import CALIBRATION, logit
from surefoot.optimize.result import Result
from surefoot.paper.markdown import markdown
from surefoot.paper.studies.failures.constrained import get_constrained

HALVES = {
    "fit": ("BRA", "SH10", "HM3", "bbob f01 d5", "bbob f08 d3", "bbob f15 d3", "fails HM3 half-space 30 %",
            "limits three-bar truss", "noise HM6 1 %"),
    "check": ("CAM", "HM6", "GPR", "bbob f06 d5", "bbob f10 d4", "bbob f21 d2", "fails BRA discs",
              "limits g04", "noise SH10 10 %"),
}  # fmt: skip
STATES, AHEAD, MORE_THAN = (10, 15, *range(20, 81, 10)), 20, ("0.1 %", "1 %", "10 %")
EDGES = (0.0, 0.02, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 0.95, 1.0)
STOP_AT = 0.05
Row = dict[str, Any]


class Function:
    """One of the functions: a call gives what `minimize` asks for, and keeps the true values."""

    def __init__(self, name: str, seed: int) -> None:
        kind, _, rest = name.partition(" ")
        self.settings: dict[str, Any] = {"max_failures": None}
        self.true: list[float] = []
        self._noise, self._rng = 0.0, np.random.default_rng((seed, zlib.crc32(name.encode())))
        if kind == "bbob":
            self._base, self.bounds = bbob_function(rest, seed + 1), [(-5.0, 5.0)] * int(rest.split("d")[1])
        elif kind in ("fails", "limits"):
            self._hidden = get_constrained(rest)
            self._base, self.bounds = self._hidden.base, self._hidden.base.bounds
            if kind == "limits":
                names = self._hidden.causes
                self.settings |= {"objective": "value", "outputs": dict.fromkeys(names, "<= 0")}
        else:
            base = rest.split()[0] if kind == "noise" else name
            self._base = problems.get(base)
            self.bounds = self._base.bounds
            if kind == "noise":
                self._noise = float(rest.split()[1]) / 100.0 * spread(base)
        self._kind = kind

    def __call__(self, x: Any) -> Any:
        """The value, with its noise and outputs; NaN where it fails."""
        x = np.asarray(x, float)
        value = float(self._base(x))
        if self._kind == "fails" and bool(self._hidden.fails(x)):
            value = float("nan")
        excess = {k: float(v) for k, v in self._hidden.excess(x).items()} if self._kind == "limits" else {}
        self.true.append(value if all(v <= 0.0 for v in excess.values()) else np.inf)
        told = value + self._noise * self._rng.standard_normal()
        return {"value": told, **excess} if self._kind == "limits" else told


def run(name: str, seed: int) -> list[Row]:
    """The rows of one run."""
    f = Function(name, seed)
    found: list[tuple[int, float, dict[str, float | None]]] = []

    def look(result: Result) -> None:
        if result.nfev in STATES and result.nfev > result.settings.n_init:
            best = _true_best(result, f)
            found.append((result.nfev, best, {text: result.outlook.share(text, AHEAD) for text in MORE_THAN}))

    minimize(f, f.bounds, n_evals=max(STATES) + AHEAD, seed=seed, callback=look, **f.settings)
    rows = []
    for n, best, shares in found:
        later = np.asarray(f.true[n : n + AHEAD])
        gained = best - (float(np.nanmin(later)) if np.isfinite(later).any() else np.inf)
        for text, share in shares.items():
            if share is not None:
                more = 0.01 * float(text.split()[0]) * abs(best)
                rows.append({"function": name, "seed": seed, "d": len(f.bounds), "n": n, "more_than": text,
                             "q": share, "gained": int(gained > more)})  # fmt: skip
    return rows


def _true_best(result: Result, f: Function) -> float:
    """The value without noise where the model would stop."""
    if not f.settings.get("outputs") and result.model.fitted.noisy[0]:
        point = result.recommended.x
        return f.true[next(i for i, x in enumerate(result.x_iters) if x is point)]
    return result.fun


def rows_of(folder: Path, seeds: int, names: Sequence[str]) -> list[Row]:
    """The rows of all runs; those that are missing are made."""
    folder.mkdir(parents=True, exist_ok=True)
    everything: list[Row] = []
    for seed in range(seeds):
        for name in names:
            path = folder / f"{name.replace(' ', '-').replace('%', 'percent')}-{seed}.csv"
            if not path.exists():
                made = run(name, seed)
                with path.open("w", newline="") as file:
                    writer = csv.DictWriter(file, list(made[0]), lineterminator="\n")
                    writer.writeheader()
                    writer.writerows(made)
            with path.open() as file:
                everything += [
                    {**r, "d": int(r["d"]), "n": int(r["n"]), "q": float(r["q"]), "gained": int(r["gained"])}
                    for r in csv.DictReader(file)
                ]
    return everything


def features(rows: Sequence[Row]) -> tuple[np.ndarray, np.ndarray]:
    """(n, 3) what A, B and C are multiplied with; (n,) whether it gained."""
    x = np.asarray([[1.0, logit(r["q"]), -math.log(r["n"] / r["d"])] for r in rows])
    return x, np.asarray([r["gained"] for r in rows], float)


def predicted(rows: Sequence[Row], calibration: Sequence[float]) -> np.ndarray:
    """P of each row."""
    x, _ = features(rows)
    return np.asarray(1.0 / (1.0 + np.exp(-x @ np.asarray(calibration))))


def fitted(rows: Sequence[Row]) -> np.ndarray:
    """A, B and C of greatest likelihood, B and C at least 0."""
    x, y = features(rows)

    def cost(w: np.ndarray) -> float:
        z = x @ w
        return float(np.mean(np.logaddexp(0.0, z) - y * z))

    return np.asarray(descend(cost, [0.0, 0.5, 0.5], bounds=[(None, None), (0.0, None), (0.0, None)]).x)


def reliability(rows: Sequence[Row], p: np.ndarray) -> str:
    """How often there was a gain, by what was predicted."""
    y = np.asarray([r["gained"] for r in rows], float)
    table = [["predicted", "states", "mean P", "gained"]]
    for low, high in itertools.pairwise(EDGES):
        here = (p >= low) & ((p < high) | (high == 1.0))
        if here.any():
            table.append([f"{low:g} to {high:g}", str(here.sum()), f"{p[here].mean():.2f}", f"{y[here].mean():.2f}"])
    return markdown(table)


def scores(rows: Sequence[Row], calibration: Sequence[float]) -> list[str]:
    """Brier scores of P, of q, and of the base rate of these very rows; log loss of P and the base rate."""
    y, p = np.asarray([r["gained"] for r in rows], float), predicted(rows, calibration)
    rate = np.full(len(y), y.mean())
    raw = np.asarray([r["q"] for r in rows])

    def log_loss(q: np.ndarray) -> float:
        return float(-np.mean(np.log(np.clip(np.where(y > 0, q, 1.0 - q), 1e-9, None))))

    brier = [f"{np.mean((q - y) ** 2):.3f}" for q in (p, raw, rate)]
    return [str(len(y)), f"{y.mean():.2f}", *brier, f"{log_loss(p):.3f}", f"{log_loss(rate):.3f}"]


def stops(rows: Sequence[Row], p: np.ndarray, more_than: str) -> str:
    """Of runs that would have stopped at the first P of at most STOP_AT: how many, when, and how many missed a gain."""
    first: dict[tuple[str, str], tuple[int, int]] = {}
    runs = {(r["function"], r["seed"]) for r in rows}
    for r, q in zip(rows, p, strict=True):
        key = (r["function"], r["seed"])
        if r["more_than"] == more_than and q <= STOP_AT and key not in first:
            first[key] = (r["n"], r["gained"])
    if not first:
        return f"more than {more_than}: no run of {len(runs)} would have stopped"
    wrong = sum(gained for _, gained in first.values())
    at = np.median([n for n, _ in first.values()])
    return (
        f"more than {more_than}: {len(first)} of {len(runs)} runs would have stopped (median at {at:.0f} of 100); "
        f"{wrong} of them would have gained more in the next {AHEAD}"
    )


def main(argv: Sequence[str] | None = None) -> None:
    """Make the runs that are missing, and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--out", type=Path, default=Path("results/stopping/raw"))
    options = parser.parse_args(argv)
    every = rows_of(options.out, options.seeds, [name for half in HALVES.values() for name in half])
    halves = {half: [r for r in every if r["function"] in names] for half, names in HALVES.items()}
    print("calibration in use (A, B, C):", *CALIBRATION)
    print("fitted on the half `fit`:", *np.round(fitted(halves["fit"]), 3))
    print("fitted on both halves:", *np.round(fitted(every), 3), "\n")
    header = ["half", "gain", "states", "base rate", "Brier: P", "q", "base rate", "log loss: P", "base rate"]
    table = [header]
    for half, rows in halves.items():
        table.append([half, "all", *scores(rows, CALIBRATION)])
        for text in MORE_THAN:
            table.append([half, text, *scores([r for r in rows if r["more_than"] == text], CALIBRATION)])
    print(markdown(table))
    for half, rows in halves.items():
        p = predicted(rows, CALIBRATION)
        print(f"\n{half}\n\n{reliability(rows, p)}\n")
        for text in MORE_THAN:
            print(stops(rows, p, text))


if __name__ == "__main__":
    main()
