"""Are suggestions allowed, however small the allowed share is, and what does that cost?

    python -m benchmarks.known_constraints [--quick]

Cases     d parameters in the unit cube; "linear": their sum is at most c; "curved": their product is; "mixed":
          as linear, with every other parameter an integer of 0 … 999 divided by 999; "equality": their sum is 1. c is
          such that the allowed share of the cube is the one asked for (exact for reals).
Counted   Suggestions of a design and of the model that violate the constraint, by Python's own arithmetic.
Times     Medians of one suggestion, in milliseconds, and the same without the constraint. They depend on the machine.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from statistics import median
from typing import Any

from scipy.optimize import brentq

from surefoot import Integer, Optimizer

DIMENSIONS = (2, 5, 10, 20)
SHARES = (0.5, 1e-2, 1e-4, 1e-6)
N_DESIGN, N_MODEL = 165, 30
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
    start = time.perf_counter()
    constraints = [case.text] if constrained else None
    optimizer = Optimizer(case.bounds, constraints=constraints, n_init=n_design, seed=1)
    prepared = time.perf_counter() - start
    points, times = [], []
    for _ in range(n_design + n_model):
        start = time.perf_counter()
        points.append(optimizer.ask())
        times.append(1e3 * (time.perf_counter() - start))
        optimizer.tell(points[-1], objective(points[-1]))
    return Run(points, prepared, median(times[:n_design]), median(times[n_design:]))


def main() -> None:
    """Run all cases and print the table."""
    quick = "--quick" in sys.argv
    n_design, n_model = (10, 5) if quick else (N_DESIGN, N_MODEL)
    plain: dict[tuple[Any, ...], Run] = {}
    n_points = n_violations = 0
    print(
        "| constraint | d | allowed share | suggestions | violations | to begin, s | design, ms | model, ms | without |"
    )
    print("|---|---|---|---|---|---|---|---|---|")
    for case in cases():
        key = (case.d, case.kind == "mixed")
        if key not in plain:
            plain[key] = run(case, False, n_design, n_model)
        found = run(case, True, n_design, n_model)
        bad = sum(not case.holds(x) for x in found.points)
        n_points, n_violations = n_points + len(found.points), n_violations + bad
        share = "–" if math.isnan(case.share) else f"{case.share:g}"
        print(
            f"| {case.kind} | {case.d} | {share} | {len(found.points)} | {bad} | {found.prepared_s:.2f} "
            f"| {found.design_ms:.1f} | {found.model_ms:.0f} | {plain[key].model_ms:.0f} |",
            flush=True,
        )
    print(f"\n{n_points} suggestions, {n_violations} violations")
    sys.exit(n_violations > 0)


if __name__ == "__main__":
    main()
