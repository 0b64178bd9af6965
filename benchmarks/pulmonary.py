"""Measured figures of the pulmonary simulator: times, agreement with the reference data, order of accuracy.

    python -m benchmarks.pulmonary                 # times at the nominal point and over the paper's box
    python -m benchmarks.pulmonary --references    # deviations from tests/pulmonary/data, verdicts
    python -m benchmarks.pulmonary --compile       # first call with an empty cache, later processes

One core is enough; set OMP_NUM_THREADS=1 for steady figures. Times are medians of several compiled runs.
"""

import argparse
import csv
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from surefoot.pulmonary import (
    NOMINAL,
    PARAMETER_BOX,
    Settings,
    SimulationFailure,
    simulate,
)
from surefoot.pulmonary.batch import simulate_or_failure
from surefoot.pulmonary.model import tree_kernels
from surefoot.pulmonary.settings import named_variant
from surefoot.pulmonary.trees import admittance

DATA = Path(__file__).parent.parent / "tests" / "pulmonary" / "data"


def median_s(action: Callable[[], object], repeats: int = 9) -> str:
    """Median wall and processor time of the action, the trees computed anew each time."""
    wall, processor = [], []
    for _ in range(repeats):
        admittance.cache_clear()
        start, cpu = time.perf_counter(), time.process_time()
        action()
        wall.append(time.perf_counter() - start)
        processor.append(time.process_time() - cpu)
    return f"{np.median(wall):.3f} s wall, {np.median(processor):.3f} s processor"


def halton(count: int) -> np.ndarray:
    """Points of the paper's box, evenly spread."""
    from scipy.stats import qmc

    low, high = np.array(PARAMETER_BOX).T
    return np.asarray(qmc.scale(qmc.Halton(3, scramble=False).random(count + 1)[1:], low, high))


def times() -> None:
    """Nominal times and the spread over the box."""
    simulate(*NOMINAL)
    original, published = Settings().with_variant("original"), Settings()
    print(f"four trees                     {median_s(lambda: tree_kernels(original, *NOMINAL[1:]))}")
    print(f"original, nominal, 6 beats     {median_s(lambda: simulate(*NOMINAL, settings=original))}")
    found = simulate(*NOMINAL)
    nominal_s = median_s(lambda: simulate(*NOMINAL))
    change = f"{found.periodicity_mmHg:.1e} mmHg change in the last beat"
    print(f"published, nominal, {found.n_beats} beats    {nominal_s}, {change}")
    for settings in (original, published):
        outcomes = []
        for vector in halton(200):
            admittance.cache_clear()
            start = time.perf_counter()
            outcome = simulate_or_failure((vector[0], vector[1], vector[2]), settings)
            outcomes.append((time.perf_counter() - start, outcome, vector))
        seconds, worst, where = max(outcomes, key=lambda row: row[0])
        kinds = Counter(str(o.kind) if isinstance(o, SimulationFailure) else "runs" for _, o, _ in outcomes)
        state = worst.kind if isinstance(worst, SimulationFailure) else f"{worst.n_beats} beats"
        changes = [o.periodicity_mmHg for _, o, _ in outcomes if not isinstance(o, SimulationFailure)]
        median = np.median([o[0] for o in outcomes])
        print(
            f"{settings.variant.name}, 200 points of the box: median {median:.3f} s, "
            f"worst {seconds:.3f} s ({state} at {where[0]:.4g}, {where[1]:.4g}, {where[2]:.4g}); "
            f"{dict(kinds)}; largest change per beat {max(changes):.2g} mmHg"
        )


def references() -> None:
    """Largest deviations from the reference waveforms and verdicts on the failure map."""
    cases = {
        "A": named_variant("original"),
        "B": replace(named_variant("original"), wall_factor=4 / 3),
        "C": named_variant("published"),
    }
    for slope in (0.0, -2.6e5):
        print(f"end_slope_dyn_cm3 = {slope:g}:")
        for name, variant in cases.items():
            table = np.genfromtxt(DATA / f"nominal_{name}.csv", delimiter=",", skip_header=1)
            found = simulate(*NOMINAL, variant=replace(variant, end_slope_dyn_cm3=slope))
            dp = np.max(np.abs(found.pressure_mmHg - table[:, 1::2].T))
            dq = np.max(np.abs(found.flow_ml_s - table[:, 2::2].T))
            print(f"  reference {name}: at most {dp:.4f} mmHg and {dq:.3f} ml/s apart")
        verdicts(Settings(variant=replace(cases["A"], end_slope_dyn_cm3=slope)))


def verdicts(settings: Settings) -> None:
    """The reference's 40 points: same verdict, same mean pressure?"""
    same, apart = 0, []
    with (DATA / "failure_map_A.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            outcome = simulate_or_failure((float(row["fL"]), float(row["fS"]), float(row["xi"])), settings)
            same += isinstance(outcome, SimulationFailure) == (row["rc"] != "0")
            if not isinstance(outcome, SimulationFailure) and row["rc"] == "0":
                apart.append((abs(outcome.mean_pressure_mmHg[0] - float(row["MPAmid_pmean"])), row["name"]))
    print(f"  failure map: {same} of 40 verdicts agree")
    print(f"  its mean MPA pressures: at most {max(apart)[0]:.3f} mmHg apart")


def compile_times() -> None:
    """First call with an empty cache, and the same in a second process."""
    code = (
        "import time; t = time.perf_counter(); from surefoot.pulmonary import *; simulate(*NOMINAL); "
        "print(f'{time.perf_counter() - t:.1f} s')"
    )
    with tempfile.TemporaryDirectory() as folder:
        for what in ("first process, compiling", "second process, from the cache"):
            environment = {**os.environ, "NUMBA_CACHE_DIR": folder}
            done = subprocess.run(
                [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
            )
            print(f"{what}: import and one simulation {done.stdout.strip()}")


def main() -> None:
    """Print what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--references", action="store_true")
    parser.add_argument("--compile", action="store_true")
    chosen = parser.parse_args()
    if chosen.references:
        references()
    elif chosen.compile:
        compile_times()
    else:
        times()


if __name__ == "__main__":
    main()
