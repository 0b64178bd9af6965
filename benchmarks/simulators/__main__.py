"""`python -m benchmarks.simulators`: real simulators that crash, surefoot beside other optimizers.

The result: docs/howto/crashes.md.

    python -m benchmarks.simulators --out results/simulators  # needs the extras simulators, peers; ngspice
    python -m benchmarks.simulators --emulated --seeds 2 --n 30 --out /tmp/emulated  # without the simulators, a minute
    python -m benchmarks.simulators --problems mapk,frame --strategies default,default:min_success=0.5,random
    python -m benchmarks.simulators --tables results/simulators           # tables and figure of the runs stored there

Interrupted or killed, the same command goes on where it was: at most the run under way is lost.
"""

from __future__ import annotations

import os

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS"):
    os.environ[_variable] = "1"  # before NumPy is imported; worker processes and simulators inherit it

import argparse
import math
import sys
import time
from contextlib import closing
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from benchmarks.simulators import figure, report, runner
from benchmarks.simulators.runs import gathered
from examples.simulators.emulated import NAMES
from surefoot.errors import SurefootError
from surefoot.paper.resumable import run_cases
from surefoot.runs import evaluation


def _options(arguments: list[str] | None) -> argparse.Namespace:
    strategies = [name for stage in runner.STAGES for name in stage]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--problems", type=names_in, default=list(NAMES), help=f"default: {','.join(NAMES)}")
    parser.add_argument(
        "--strategies", type=names_in, default=strategies,
        help=f"default: {','.join(strategies)}; or of surefoot's any with settings, as default:min_success=0.5",
    )  # fmt: skip
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--slow-seeds", type=int, default=3, help="seeds of smac")
    parser.add_argument("--n", type=int, default=100, help="evaluations a run")
    parser.add_argument("--n-init", type=int, help="evaluations of the design; default: 2 d + 2")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--time-limit", type=float, default=math.inf, help="minutes after which no run is begun")
    parser.add_argument("--emulated", action="store_true", help="on emulators: quick, no evidence about methods")
    parser.add_argument("--out", type=Path, default=Path("results/simulators"))
    parser.add_argument("--tables", type=Path, metavar="DIR", help="run nothing; tables and figure of the runs in DIR")
    return parser.parse_args(arguments)


def names_in(text: str) -> list[str]:
    """Names between commas; settings of a strategy are joined to it again."""
    found: list[str] = []
    for part in filter(None, text.split(",")):
        joined = found and ":" in found[-1] and "=" in part and ":" not in part
        found[-1:] = [f"{found[-1]},{part}"] if joined else [*found[-1:], part]
    return found


def _run(todo: list[runner.Case], n_all: int, raw: Path, options: argparse.Namespace) -> bool:
    """Run these; whether all were."""
    began, n_done = time.monotonic(), 0
    columns = (BarColumn(), MofNCompleteColumn(), TextColumn("runs"), TimeElapsedColumn(), TextColumn("left"))
    # The time left follows from all runs so far, not from the last half minute of them.
    bar = Progress(*columns, TimeRemainingColumn(), console=Console(stderr=True), speed_estimate_period=1e9)
    with bar:
        task = bar.add_task("", total=n_all, completed=n_all - len(todo))
        try:
            with closing(run_cases(runner.run_case, todo, raw, options.jobs)) as done:
                for _ in done:
                    n_done += 1
                    bar.advance(task)
                    if time.monotonic() - began > 60.0 * options.time_limit:
                        break
        except KeyboardInterrupt:
            bar.console.print("interrupted; the same command goes on")
        finally:
            evaluation.close()
    return n_done == len(todo)


def main(arguments: list[str] | None = None) -> int:
    options = _options(arguments)
    out, finished = options.tables or options.out, True
    if options.tables is None:
        cases = runner.plan(
            options.problems, options.strategies, n_seeds=options.seeds, n=options.n,
            slow_seeds=options.slow_seeds, n_init=options.n_init, emulated=options.emulated,
        )  # fmt: skip
        there = runner.load(out)
        finished = _run([case for case in cases if case not in there], len(cases), out / "raw", options)
    records = runner.load(out)
    if not records:
        print(f"no runs in {out}")
        return 1
    if not runner.comparable(records):
        print(f"runs of several lengths or designs, or of emulators too, lie in {out}: no tables; try another --out")
        return 1
    runner.pack(out, records.values())
    report.write(records, out)
    print(f"tables: {out / 'table.md'}\nfigure: {figure.draw(gathered(records), out / 'simulators.png')}")
    return 0 if finished else 3


if __name__ == "__main__":
    try:
        sys.exit(main())
    except SurefootError as error:
        sys.exit(f"error: {error}")
