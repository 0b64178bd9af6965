"""Eight jobs at a time against one, on a real SLURM that runs on this machine: evaluations per minute.

    apt-get install slurm-wlm munge
    python -m benchmarks.slurm              # about three minutes; writes results/slurm.md

The whole path is timed, from the start of a run to its end: sbatch, the queue, Python on the node, the simulator, the
result file, the storage, suggestions. The simulator sleeps: more jobs run than this machine has cores.
"""

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.local_slurm import LocalSlurm, missing_programs
from benchmarks.workers import Clock, conditions
from surefoot.runs.problem import problem_from
from surefoot.runs.running import run

SIMULATOR = "import sys, time; time.sleep({sleep}); print(sum((float(x) - 0.3) ** 2 for x in sys.argv[1:]))"


def rate(folder: Path, workers: int, n_evals: int, sleep_s: float) -> float:
    """Evaluations per minute."""
    command = [sys.executable, "-I", "-S", "-c", SIMULATOR.format(sleep=sleep_s), "{a}", "{b}"]
    parameters = {name: {"low": 0.0, "high": 1.0} for name in "ab"}
    table = {"name": f"workers-{workers}", "n_evals": n_evals, "parameters": parameters}
    problem = problem_from({**table, "objective": {"command": command}}, folder)
    start = time.perf_counter()
    result = run(problem, workers=workers, slurm=True, reporter=Clock())
    if (result.nfev, result.n_failures) != (n_evals, 0):
        sys.exit(f"expected {n_evals} evaluations without a failure; got {result}")
    return 60.0 * n_evals / (time.perf_counter() - start)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workers", type=int, default=8)
    parser.add_argument("--sleep", type=float, default=20.0, help="seconds of one evaluation")
    parser.add_argument("--n", type=int, default=4, help="evaluations of one worker; all together make as many each")
    parser.add_argument("--out", type=Path, default=Path("results/slurm.md"))
    options = parser.parse_args()
    if missing := missing_programs():
        sys.exit(f"{', '.join(missing)} not installed; try apt-get install slurm-wlm munge")

    load = os.getloadavg()[0]  # of other work
    with (
        tempfile.TemporaryDirectory(prefix="slurm-") as place,
        tempfile.TemporaryDirectory() as work,
        LocalSlurm(Path(place), cpus=options.workers) as slurm,
    ):
        os.environ |= slurm.environment
        rates = {n: rate(Path(work), n, n * options.n, options.sleep) for n in (1, options.workers)}
    alone, together = rates[1], rates[options.workers]
    command = f"python -m benchmarks.slurm --workers {options.workers} --sleep {options.sleep:g} --n {options.n}"
    text = "\n".join([
        f"# {options.workers} jobs of SLURM at a time against one",
        "",
        *conditions(command, load),
        f"A simulator that sleeps {options.sleep:g} s, one job for each evaluation, slurmctld and slurmd on the same",
        "machine.",
        "",
        "| jobs at a time | evaluations | per minute | of what sleeping alone would allow |",
        "|---|---|---|---|",
        *(f"| {n} | {n * options.n} | {r:.2f} | {r * options.sleep / 60.0 / n:.0%} |" for n, r in rates.items()),
        "",
        f"{together / alone:.1f} times as many.",
        "",
    ])  # fmt: skip
    options.out.write_text(text)
    print(text)


if __name__ == "__main__":
    main()
