"""Are suggestions allowed, however small the allowed share is, and what does that cost?

    python -m benchmarks.known_constraints [--quick]
    python -m benchmarks.known_constraints --problems

Cases     d parameters in the unit cube; "linear": their sum is at most c; "curved": their product is; "mixed":
          as linear, with every other parameter an integer of 0 … 999 divided by 999; "equality": their sum is 1. c is
          such that the allowed share of the cube is the one asked for (exact for reals).
Counted   Suggestions of a design and of the model that violate the constraint, by Python's own arithmetic.
Times     Of the processor, on one thread: medians of one suggestion, and the same without the constraint.
Problems  Three problems of mechanical design whose optima lie where several constraints meet, solved from three seeds.
"""

from __future__ import annotations

import os

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_variable] = "1"  # before NumPy is imported

import math
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby
from statistics import median
from typing import Any

from scipy.optimize import brentq

from surefoot import Integer, Optimizer, minimize

DIMENSIONS = (2, 5, 10, 20)
SHARES = (0.5, 1e-2, 1e-4, 1e-6)
N_DESIGN, N_MODEL = 183, 12
_LEVELS = 999


@dataclass(frozen=True)
class Case:
    """A constraint on d parameters."""

    kind: str
    d: int
    share: float  # nan: the constraint is an equality
    bounds: dict[str, Any]
    text: str
    holds: Callable[[dict[str, Any]], bool]


def share_of_sum(c: float, d: int) -> float:
    """P(sum of d uniform numbers <= c), in exact arithmetic (Irwin and Hall)."""
    whole = Fraction(c)
    terms = ((-1) ** k * math.comb(d, k) * (whole - k) ** d for k in range(int(whole) + 1))
    return float(sum(terms, Fraction(0)) / math.factorial(d))


def share_of_product(c: float, d: int) -> float:
    """P(product of d uniform numbers <= c)."""
    return c * sum((-math.log(c)) ** i / math.factorial(i) for i in range(d))


def cases() -> list[Case]:
    """All of them."""
    found = []
    for d in DIMENSIONS:
        reals = {f"x{i}": (0.0, 1.0) for i in range(d)}
        mixed = {f"x{i}": Integer(0, _LEVELS) if i % 2 else (0.0, 1.0) for i in range(d)}
        for share in SHARES:
            c = brentq(lambda c, d=d, share=share: share_of_sum(c, d) - share, 1e-9, d - 1e-9, xtol=1e-14)
            p = brentq(lambda t, d=d, share=share: math.log(share_of_product(math.exp(t), d) / share), -200.0, -1e-9)
            found.append(_sum(d, share, reals, c))
            text, product = " * ".join(reals), math.exp(p)
            found.append(Case("curved", d, share, reals, f"{text} <= {product!r}", _at_most(math.prod, product)))
            found.append(_mixed(d, share, mixed, c))
        found.append(
            Case("equality", d, math.nan, reals, f"{' + '.join(reals)} == 1", lambda x: sum(x.values()) == 1.0)
        )
    return found


def _at_most(total: Callable[[Any], float], c: float) -> Callable[[dict[str, Any]], bool]:
    return lambda x: total(x.values()) <= c


def _sum(d: int, share: float, bounds: dict[str, Any], c: float) -> Case:
    return Case("linear", d, share, bounds, f"{' + '.join(bounds)} <= {c!r}", _at_most(sum, c))


def _mixed(d: int, share: float, bounds: dict[str, Any], c: float) -> Case:
    terms = [f"x{i} / {_LEVELS}" if i % 2 else f"x{i}" for i in range(d)]

    def holds(x: dict[str, Any]) -> bool:
        return sum(x[f"x{i}"] / _LEVELS if i % 2 else x[f"x{i}"] for i in range(d)) <= c

    return Case("mixed", d, share, bounds, f"{' + '.join(terms)} <= {c!r}", holds)


def objective(x: dict[str, Any]) -> float:
    """A bowl whose minimum is not allowed."""
    return sum((v / (_LEVELS if isinstance(v, int) else 1.0) - 0.8) ** 2 for v in x.values())


@dataclass(frozen=True)
class Run:
    """What came of one run."""

    points: list[dict[str, Any]]
    prepared_s: float
    design_ms: float
    model_ms: float


def run(case: Case, constrained: bool, n_design: int, n_model: int) -> Run:
    """Suggest and tell, one by one."""
    start = time.process_time()
    constraints = [case.text] if constrained else None
    optimizer = Optimizer(case.bounds, constraints=constraints, n_init=n_design, seed=1)
    prepared = time.process_time() - start
    points, times = [], []
    for _ in range(n_design + n_model):
        start = time.process_time()
        points.append(optimizer.ask())
        times.append(1e3 * (time.process_time() - start))
        optimizer.tell(points[-1], objective(points[-1]))
    return Run(points, prepared, median(times[:n_design]), median(times[n_design:]))


@dataclass(frozen=True)
class Design:
    """A problem of mechanical design, and its known optimum."""

    name: str
    bounds: dict[str, Any]
    constraints: list[str]
    cost: Callable[[dict[str, Any]], float]
    optimum: float


def _welded_beam() -> Design:
    """6000 lb at the end of a beam of 14 in; h, l of the weld, t, b of the beam."""
    radius = "sqrt((l**2 + (h + t)**2) / 4)"
    polar = "(2 * sqrt(2) * h * l * (l**2 / 12 + (h + t)**2 / 4))"
    direct, bending = "(6000 / (sqrt(2) * h * l))", f"(6000 * (14 + l / 2) * {radius} / {polar})"
    constraints = [
        f"sqrt({direct}**2 + {direct} * {bending} * l / {radius} + {bending}**2) <= 13600",
        "6 * 6000 * 14 / (b * t**2) <= 30000",
        "h <= b",
        "0.10471 * h**2 + 0.04811 * t * b * (14 + l) <= 5",
        "4 * 6000 * 14**3 / (30e6 * t**3 * b) <= 0.25",
        "6000 <= 4.013 * 30e6 * t * b**3 / (6 * 14**2) * (1 - t / (4 * 14) * sqrt(30e6 / 12e6))",
    ]
    bounds = {"h": (0.125, 10.0), "l": (0.1, 10.0), "t": (0.1, 10.0), "b": (0.1, 10.0)}
    return Design(
        "welded beam",
        bounds,
        constraints,
        lambda x: 1.10471 * x["h"] ** 2 * x["l"] + 0.04811 * x["t"] * x["b"] * (14.0 + x["l"]),
        1.7248523,
    )


def _spring() -> Design:
    """Wire w, coil D, n turns."""
    constraints = [
        "1 <= D**3 * n / (71785 * w**4)",
        "(4 * D**2 - w * D) / (12566 * w**3 * (D - w)) + 1 / (5108 * w**2) <= 1",
        "1 <= 140.45 * w / (D**2 * n)",
        "w + D <= 1.5",
    ]
    bounds = {"w": (0.05, 2.0), "D": (0.25, 1.3), "n": (2.0, 15.0)}
    return Design("spring", bounds, constraints, lambda x: (x["n"] + 2.0) * x["D"] * x["w"] ** 2, 0.0126652328)


def _vessel() -> Design:
    """Walls of i and j sixteenths of an inch, radius r, length L."""
    constraints = ["0.0193 * r <= i / 16", "0.00954 * r <= j / 16", "pi * r**2 * L + 4/3 * pi * r**3 >= 1296000"]
    bounds = {"i": Integer(1, 99), "j": Integer(1, 99), "r": (10.0, 200.0), "L": (10.0, 200.0)}

    def cost(x: dict[str, Any]) -> float:
        shell, head, r, length = x["i"] / 16.0, x["j"] / 16.0, x["r"], x["L"]
        welds = 3.1661 * shell**2 * length + 19.84 * shell**2 * r
        return float(0.6224 * shell * r * length + 1.7781 * head * r**2 + welds)

    return Design("pressure vessel, walls in steps", bounds, constraints, cost, 6059.7143350)


def solve_problems(n_evals: int = 60) -> None:
    """Print how near to the optimum each comes."""
    print(f"| problem | d | known optimum | found after {n_evals} evaluations, three seeds |")
    print("|---|---|---|---|")
    for design in (_welded_beam(), _spring(), _vessel()):
        found = [
            minimize(
                design.cost, design.bounds, constraints=design.constraints, n_evals=n_evals, seed=seed, noise=0
            ).fun
            for seed in range(3)
        ]
        values = ", ".join(f"{value:.8g}" for value in sorted(found))
        print(f"| {design.name} | {len(design.bounds)} | {design.optimum:.8g} | {values} |", flush=True)


def main() -> None:
    """Run all cases and print the table."""
    if "--problems" in sys.argv:
        solve_problems()
        return
    quick = "--quick" in sys.argv
    n_design, n_model = (10, 5) if quick else (N_DESIGN, N_MODEL)
    plain: dict[tuple[Any, ...], Run] = {}
    n_points = n_violations = 0
    shares = ", ".join(f"{share:g}" for share in SHARES)
    print(f"Allowed shares {shares}, in this order; an equality has none.\n")
    print(
        "| constraint | d | suggestions | violations | to begin, s | design, ms | model, ms | without constraints, ms |"
    )
    print("|---|---|---|---|---|---|---|---|")
    for (kind, d), some in groupby(sorted(cases(), key=lambda c: c.kind), key=lambda c: (c.kind, c.d)):
        group = list(some)
        without = plain.get((d, kind == "mixed")) or run(group[0], False, n_design, n_model)
        plain[d, kind == "mixed"] = without
        found = [run(case, True, n_design, n_model) for case in group]
        bad = sum(not case.holds(x) for case, one in zip(group, found, strict=True) for x in one.points)
        n = sum(len(one.points) for one in found)
        n_points, n_violations = n_points + n, n_violations + bad
        begin = ", ".join(f"{one.prepared_s:.2f}" for one in found)
        design, model = (", ".join(f"{t:.{k}f}" for t in ts) for ts, k in (
            ([one.design_ms for one in found], 1), ([one.model_ms for one in found], 0)))  # fmt: skip
        print(f"| {kind} | {d} | {n} | {bad} | {begin} | {design} | {model} | {without.model_ms:.0f} |", flush=True)
    print(f"\n{n_points} suggestions, {n_violations} violations")
    sys.exit(n_violations > 0)


if __name__ == "__main__":
    main()
