"""What a suggestion costs under each policy: `python -m benchmarks.policies`, in seconds of one CPU core.

Histories as in `benchmarks.suggestion`. CPU time, not the clock's: other work on the machine does not count. The first
suggestion, with its fresh fit, is not timed; a median over the next few is shown.
"""

from __future__ import annotations

from benchmarks.suggestion import PROBLEMS, make_history  # first: it sets one thread before NumPy is imported

# isort: split
import argparse
import time
from collections.abc import Sequence

import numpy as np

from surefoot import Optimizer, problems
from surefoot.paper.markdown import markdown

POLICIES = ("EI", "ScaledEI", "MES", "MES-R", "PES", "ES")
SEARCHES = ("gradient", "paper")


def seconds(policy: str, search: str, d: int, n: int, repeats: int) -> float:
    """Median CPU seconds of a suggestion after n evaluations and a few."""
    problem = problems.get(PROBLEMS[d])
    X, y = make_history(problem, n)
    optimizer = Optimizer(
        list(zip(problem.lower, problem.upper, strict=True)), policy=policy, search=search, kernel="se", warp="none"
    )
    optimizer.tell(X.tolist(), y.tolist())
    found = []
    for _ in range(repeats + 1):
        begin = time.process_time()
        asked = optimizer.ask()
        found.append(time.process_time() - begin)
        optimizer.tell(asked, float(problem(np.asarray(asked))))
    return float(np.median(found[1:]))


def main(argv: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, nargs="+", default=[100, 200])
    parser.add_argument("--d", type=int, nargs="+", default=[2, 6], choices=sorted(PROBLEMS))
    parser.add_argument("--policy", nargs="+", default=list(POLICIES), metavar="NAME")
    parser.add_argument("--search", nargs="+", default=list(SEARCHES), metavar="NAME")
    parser.add_argument("--repeats", type=int, default=3)
    args = parser.parse_args(argv)
    rows = [["search", "d", "n", *args.policy]]
    for search in args.search:
        for d in args.d:
            for n in args.n:
                cells = [f"{seconds(policy, search, d, n, args.repeats):.2f}" for policy in args.policy]
                rows.append([search, str(d), str(n), *cells])
    print(markdown(rows))


if __name__ == "__main__":
    main()
