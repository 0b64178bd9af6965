"""How soon does something work where little does? `python -m benchmarks.first_success`

Every run has the defaults, its own design among them, and ends with its first success or after `--n` evaluations. On
these problems less than 5 % of the box succeeds. The table has the median number of evaluations over seeds, and that of
random search: the median of a geometric distribution, of a share that a million points tell. The problems are those of
`surefoot study failures` whose share is so small, and regions made for this table, on which nothing was chosen.
"""

from __future__ import annotations

import os

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[_variable] = "1"  # before NumPy is imported

import argparse
import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from surefoot import Failed, minimize
from surefoot.errors import TooManyFailuresError
from surefoot.paper.markdown import markdown
from surefoot.paper.resumable import write_whole
from surefoot.paper.studies.failures.constrained import LIMITS, get_constrained, groups
from surefoot.paper.studies.failures.limits_tables import share_that_succeeds

RARE = 0.05
Excess = Callable[[np.ndarray], Mapping[str, np.ndarray]]  # (..., d) -> by reason, above 0 where it fails for it


@dataclass(frozen=True)
class Region:
    """Where something works, and why it fails elsewhere: the first reason that holds."""

    name: str
    bounds: list[tuple[float, float]]
    excess: Excess
    made: bool  # for this table

    def reason(self, x: np.ndarray) -> str:
        """Why x (d,) fails; "" where it works."""
        with np.errstate(all="ignore"):
            return next((name for name, value in self.excess(x).items() if not value <= 0.0), "")

    def share(self) -> float:
        """Of the box that works."""
        if not self.made:
            return share_that_succeeds(self.name)
        low, high = np.asarray(self.bounds).T
        x = np.random.default_rng(0).uniform(low, high, (1_000_000, len(low)))
        return float(np.mean(np.all([value <= 0.0 for value in self.excess(x).values()], axis=0)))


def _made() -> list[Region]:
    """In the unit cube, with one to four reasons."""

    def planes(x: np.ndarray) -> dict[str, np.ndarray]:
        return {
            "too thin": 0.55 - x[..., 0] + 0.3 * x[..., 3],
            "too heavy": x[..., 0] + x[..., 1] + x[..., 2] - 0.9,
            "buckles": 0.45 - x[..., 4] * (1.0 - x[..., 1]),
        }

    def shells(x: np.ndarray) -> dict[str, np.ndarray]:
        r = np.linalg.norm(x[..., :3] - 0.4, axis=-1)
        return {"inside": 0.3 - r, "outside": r - 0.36, "hot": np.abs(x[..., 3] - 0.7) - 0.1}

    def corridor(x: np.ndarray) -> dict[str, np.ndarray]:
        bend = np.sin(3.0 * x[..., 0])
        return {
            "diverges above": x[..., 1] - 0.8 * bend - 0.05,
            "diverges below": 0.8 * bend - 0.15 - x[..., 1],
            "stalls": np.abs(x[..., 2] - x[..., 0] ** 2) - 0.1,
        }

    def windows(x: np.ndarray) -> dict[str, np.ndarray]:
        centres = (0.2, 0.8, 0.35, 0.65)
        return {f"input {i} is off": np.abs(x[..., i] - c) - 0.18 for i, c in enumerate(centres)}

    def ball(x: np.ndarray) -> dict[str, np.ndarray]:
        return {"crashed": np.linalg.norm(x - 0.6, axis=-1) - 0.28}

    named = {"three planes": (planes, 6), "shell and slab": (shells, 4), "corridor": (corridor, 3),
             "four windows": (windows, 8), "ball, one reason": (ball, 4)}  # fmt: skip
    return [Region(name, [(0.0, 1.0)] * d, excess, True) for name, (excess, d) in named.items()]


def regions() -> list[Region]:
    """All whose share is below 5 %, the study's first."""
    study = [get_constrained(name) for name in groups()[LIMITS] if share_that_succeeds(name) < RARE]
    return [*(Region(p.name, p.base.bounds, p.excess, False) for p in study), *_made()]


def evaluations_until_success(region: Region, n: int, seed: int) -> float:
    """inf: none within n."""

    def simulate(x: Any) -> float:
        reason = region.reason(np.asarray(x, dtype=float))
        if reason:
            raise Failed(reason)
        return 0.0

    try:
        result = minimize(simulate, region.bounds, n_evals=n, seed=seed, max_failures=None, stop={"target": 1.0})
    except TooManyFailuresError:
        return math.inf
    return float(result.nfev) if result.success else math.inf


def _kept(folder: Path, region: Region, n: int, seed: int) -> float:
    path = folder / f"{region.name.replace(' ', '-')}-{n}-{seed}.txt"
    if not path.exists():
        write_whole(path, str(evaluations_until_success(region, n, seed)))
    return float(path.read_text())


def main(argv: Sequence[str] | None = None) -> None:
    """Run what is missing, print and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--n", type=int, default=200)
    parser.add_argument("--region", action="append", choices=[region.name for region in regions()], help="default: all")
    parser.add_argument("--out", type=Path, default=Path("results/first_success"))
    options = parser.parse_args(argv)
    raw = options.out / "raw"
    raw.mkdir(parents=True, exist_ok=True)
    warnings.simplefilter("ignore")
    table = [["region", "d", "reasons", "succeeds", "default: median", "quartiles", "none", "random search", "ratio"]]
    for region in [region for region in regions() if region.name in (options.region or [region.name])]:
        found = np.asarray([_kept(raw, region, options.n, seed) for seed in range(options.seeds)])
        share = region.share()
        random = math.ceil(math.log(0.5) / math.log1p(-share))
        low, median, high = np.quantile(found, [0.25, 0.5, 0.75], method="higher")
        row = [
            f"{region.name}{' *' if region.made else ''}",
            len(region.bounds),
            len(region.excess(np.zeros(len(region.bounds)))),
            f"{100 * share:.2g} %",
            f"{median:.0f}",
            f"{low:.0f}, {high:.0f}",
            int(np.isinf(found).sum()),
            random,
            f"{median / random:.2f}",
        ]
        table.append([str(cell) for cell in row])
        print(*table[-1], sep="  ", flush=True)
    text = (
        f"Evaluations until the first success, {options.seeds} seeds; * made for this table; none: runs without a"
        f" success within {options.n}.\n\n{markdown(table)}"
    )
    write_whole(options.out / "table.md", text)


if __name__ == "__main__":
    main()
