"""Minimize Branin's function, a test problem of the paper, when a fifth of its domain crashes.

The simulator raises an exception in a half-plane and returns NaN in a disc; both hide one of the three global minima.
surefoot is told nothing of this. It learns where evaluations fail and finds the minimum that can be had.

    pip install '.[cli,plots]'
    python examples/crashes.py
"""

import math
import time
from pathlib import Path

from rich.console import Console
from rich.table import Table

import surefoot
from surefoot import problems

BRANIN = problems.get("BRA")


def simulator(x):
    if x[0] > 8.0:
        raise FloatingPointError("the mesh collapsed")
    if math.hypot(x[0] - math.pi, x[1] - 2.275) < 2.5:
        return math.nan
    return BRANIN(x)


def main():
    console = Console()
    start = time.perf_counter()
    result = surefoot.minimize(simulator, BRANIN.bounds, n_evals=60, progress=True)
    seconds = time.perf_counter() - start

    table = Table(title="Branin with hidden failures, 60 evaluations", show_header=False)
    table.add_row("best value found", f"{result.fun:.9f}")
    table.add_row("global minimum", f"{BRANIN.f_star:.9f}")
    table.add_row("at", ", ".join(f"{v:.6f}" for v in result.x))
    table.add_row("failed evaluations", f"{result.n_failures} of {result.nfev}")
    design = result.settings.n_init
    failed = [not e.ok for e in result.history.evaluations]
    table.add_row("  in the initial design", f"{sum(failed[:design])} of {design}")
    table.add_row("  afterwards", f"{sum(failed[design:])} of {result.nfev - design}")
    for reason in sorted({e.reason for e in result.history.evaluations if not e.ok}):
        table.add_row("  reason", reason)
    table.add_row("P(success) in the disc", f"{result.success_probability([[math.pi, 2.275]])[0]:.3f}")
    table.add_row("P(success) at the best", f"{result.success_probability([result.x])[0]:.3f}")
    table.add_row("time", f"{seconds:.1f} s, {1000 * seconds / result.nfev:.0f} ms an evaluation")
    console.print(table)

    folder = Path("crashes-output")
    folder.mkdir(exist_ok=True)
    result.plot(str(folder / "crashes.png"))
    result.save(folder / "run.json")
    console.print(f"picture: {folder / 'crashes.png'}; every evaluation: {folder / 'run.json'}")


if __name__ == "__main__":
    main()
