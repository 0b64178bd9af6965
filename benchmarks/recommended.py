"""Do policies know more than they have evaluated? `python -m benchmarks.recommended FOLDER --n 80`.

FOLDER is one of `surefoot study benchmark`, with its checkpoints. Of every run two distances to the least value are
taken, as log10: that of the best of its first n evaluations, and that of the best after one evaluation more, at the
least posterior mean, found exactly (policy MN). Means over the seeds.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from surefoot import Optimizer, problems
from surefoot.engine.searches import PAPER_MODEL
from surefoot.paper.markdown import markdown
from surefoot.paper.studies.benchmark.runner import load_all
from surefoot.paper.studies.benchmark.study import NO_KERNEL


def distances(problem: str, kernel: str, units: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """log10 distances of the best evaluation (n, d), (n,) and of one at the least posterior mean."""
    known = problems.get(problem)
    low, high = np.asarray(known.lower), np.asarray(known.upper)
    model = {**PAPER_MODEL, "kernel": kernel}
    optimizer = Optimizer(list(zip(low, high, strict=True)), policy="MN", search="gradient", n_init=1, **model)
    optimizer.tell((low + units * (high - low)).tolist(), y.tolist())
    found = float(known(np.asarray(optimizer.ask())))
    best = known.log10_distance(np.asarray([y.min(), min(found, y.min())]))
    return float(best[0]), float(best[1])


def main(argv: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--n", type=int, default=80, help="evaluations")
    args = parser.parse_args(argv)
    found: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for group, state in load_all(args.folder / "raw"):
        if group.kernel == NO_KERNEL:
            continue
        for member, X, y in zip(group.members, state.X, state.y, strict=True):
            pair = distances(member.problem, group.kernel, X[: args.n], y[: args.n])
            found.setdefault((member.problem, member.policy), []).append(pair)
    rows = [["problem", "policy", f"best of {args.n}", "one more at the least mean", "seeds"]]
    for (problem, policy), pairs in sorted(found.items()):
        best, then = np.mean(pairs, axis=0)
        rows.append([problem, policy, f"{best:.1f}", f"{then:.1f}", str(len(pairs))])
    print(markdown(rows), end="")


if __name__ == "__main__":
    main()
