"""What many points at once cost, and how far apart they lie: `ask(q)` on Hartman's function among d inputs.

The history is uniform, so that a model has something left to find. Processor time of one thread, of two rounds the
second; q points one by one (`ask()`) and at once (`ask(q)`) take turns. They are the same points. Distances are of the
unit cube, from each point to the nearest other one of the batch or of the history. How good the points are:
`python -m benchmarks.regret --library surefoot:q=8`.

python -m benchmarks.batches            # q = 64 and n = 200 in 6 and 20 inputs, n = 1000 in 6
"""

from __future__ import annotations

import os

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[_variable] = "1"  # before NumPy is imported

import argparse
import time
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from surefoot import Optimizer, problems

CASES = ((6, 200), (20, 200), (6, 1000))  # inputs and evaluations


def told(d: int, n: int) -> tuple[Optimizer, np.ndarray]:
    """An optimizer with n evaluations, and their points (n, d)."""
    f = problems.get("HM6")
    X = np.random.default_rng(0).random((n, d))
    optimizer = Optimizer([(0, 1)] * d, n_init=1)
    optimizer.tell(list(X), f(X[:, : f.d]))
    optimizer.ask()  # the first fit starts afresh: that is no part of the price of a batch
    optimizer.forget_pending()
    return optimizer, X


def timed(ask: Any, optimizer: Optimizer) -> tuple[float, list[Any]]:
    """Processor time and points of one way to ask."""
    start = time.process_time()
    points = ask()
    seconds = time.process_time() - start
    optimizer.forget_pending()
    return seconds, points


def measure(d: int, n: int, q: int) -> str:
    """One row of the table."""
    optimizer, X = told(d, n)
    for _ in range(2):
        apart, singles = timed(lambda: [optimizer.ask() for _ in range(q)], optimizer)
        once, batch = timed(lambda: optimizer.ask(q), optimizer)
    points = np.asarray(batch)
    distance = cdist(points, np.concatenate([points, X]))
    np.fill_diagonal(distance, np.inf)
    nearest = distance.min(axis=1)
    costs = f"{1000 * apart / q:.0f} | {1000 * once / q:.0f} | {apart / once:.1f}"
    close = f"{np.sum(nearest < 1e-3)} | {np.median(nearest):.2f}"
    return f"| {d} | {n} | {q} | {costs} | {singles == batch} | {close} |"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--q", type=int, default=64, help="points at once")
    q = parser.parse_args().q
    print("| d | n | q | ms a point, one by one | at once | ratio | same points | nearer than 0.001 | median nearest |")
    print("|---|---|---|---|---|---|---|---|---|")
    for d, n in CASES:
        print(measure(d, n, q), flush=True)


if __name__ == "__main__":
    main()
