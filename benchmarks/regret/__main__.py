"""`python -m benchmarks.regret`: surefoot's regret beside that of other libraries; see docs/evidence/regret-study.md.

    python -m benchmarks.regret --out results/regret --workers 2
    python -m benchmarks.regret --suite paper --library surefoot --library surefoot:policy=EI,kernel=matern52
    python -m benchmarks.regret --out results/regret --report       # the report of what is there

Interrupted or killed, the same command goes on where it was.
"""

from __future__ import annotations

import os

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS"):
    os.environ[_variable] = "1"  # before NumPy is imported; worker processes inherit it

import argparse
import json
import math
import shlex
import sys
import time
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from benchmarks.regret import libraries, report, runner, spreadsheets
from benchmarks.regret.suites import SUITES
from surefoot.errors import SurefootError
from surefoot.paper.resumable import run_cases, write_whole

COMMANDS = "commands.txt"
APART = ("small", "mixed", "many-inputs")  # suites that run where they are asked for, with results of their own


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--suite", action="append", choices=list(SUITES), help="repeatable; default: all but small")
    parser.add_argument(
        "--library", action="append", help="repeatable; default: those installed; or surefoot:key=value,…"
    )
    parser.add_argument(
        "--problem", action="append", default=[], help="repeatable, * and ? as in file names; default: all"
    )
    parser.add_argument("--seeds", type=int, default=None, help="default: 15; bbob and many-inputs 5, small 10")
    parser.add_argument(
        "--n",
        type=int,
        default=None,
        help="evaluations a run; default: 200; noise, failures 100; small 60; many-inputs 400",
    )
    parser.add_argument("--slow-seeds", type=int, default=5, help="seeds of the slow libraries")
    parser.add_argument("--slow-n", type=int, default=100, help="their evaluations a run")
    parser.add_argument(
        "--slow-suite", action="append", choices=list(SUITES), help="their suites; default: paper, small, mixed"
    )
    parser.add_argument("--workers", type=int, default=1, help="processes, one thread each")
    parser.add_argument("--time-limit", type=float, default=math.inf, help="minutes after which no run is begun")
    parser.add_argument("--retry", action="store_true", help="run those again that ended with an error of the library")
    parser.add_argument("--report", action="store_true", help="only write the report of what is there")
    parser.add_argument("--out", type=Path, default=None, help="default: results/regret; of small and mixed their own")
    options = parser.parse_args(arguments)
    own = options.suite[0] if options.suite and set(options.suite) <= set(APART) else "regret"
    options.out = options.out or Path("results") / own
    return options


def _note_command(raw: Path, words: list[str]) -> None:
    """Keep the commands that made the runs, each once; where the results lie does not make them."""
    made = [word for i, word in enumerate(words) if not word.startswith("--out") and words[i - 1 : i] != ["--out"]]
    raw.mkdir(parents=True, exist_ok=True)
    path = raw / COMMANDS
    known = path.read_text().splitlines() if path.exists() else []
    write_whole(
        path, "\n".join(dict.fromkeys([*known, shlex.join(["python", "-m", "benchmarks.regret", *made])])) + "\n"
    )


def _forget_errors(cases: list[runner.Case], raw: Path) -> None:
    for path in (raw / case.file_name for case in cases):
        if path.exists():
            with np.load(path) as data:
                failed = bool(json.loads(str(data["meta"]))["error"])
            if failed:
                path.unlink()


def _run(cases: list[runner.Case], raw: Path, workers: int, time_limit_s: float) -> bool:
    """Run what is not there; whether all is."""
    todo = [case for case in cases if not (raw / case.file_name).exists()]
    began = time.monotonic()
    columns = (BarColumn(), MofNCompleteColumn(), TextColumn("runs"), TimeElapsedColumn(), TextColumn("left"))
    n_done = 0
    stderr = Console(stderr=True)
    # The time left follows from all runs so far, not from the last half minute of them.
    with Progress(*columns, TimeRemainingColumn(), console=stderr, speed_estimate_period=1e9) as bar:
        task = bar.add_task("", total=len(cases), completed=len(cases) - len(todo))
        try:
            with closing(run_cases(runner.run_case, todo, raw, workers)) as done:
                for _ in done:
                    n_done += 1
                    bar.advance(task)
                    if time.monotonic() - began > time_limit_s:
                        break
        except KeyboardInterrupt:
            bar.console.print("interrupted; the same command goes on")
    return n_done == len(todo)


def main(arguments: list[str] | None = None) -> int:
    options = _options(arguments)
    raw = options.out / "raw"
    finished = True
    if not options.report:
        names = options.library or libraries.installed()
        suites = options.suite or [s for s in SUITES if s not in APART and (s != "bbob" or find_spec("cocoex"))]
        cases = runner.plan(
            names, suites, problems=options.problem, n_seeds=options.seeds, n=options.n,
            slow_seeds=options.slow_seeds, slow_n=options.slow_n,
            slow_suites=options.slow_suite or ("paper", *APART),
        )  # fmt: skip
        if options.retry:
            _forget_errors(cases, raw)
        _note_command(raw, sys.argv[1:] if arguments is None else arguments)
        stored = spreadsheets.is_stored(options.out)
        todo = [case for case in cases if not stored(case)]
        finished = _run(todo, raw, options.workers, 60.0 * options.time_limit)
    runs = spreadsheets.joined(runner.load(raw), options.out)
    if not runs:
        print(f"no runs in {raw}")
        return 1
    commands = (raw / COMMANDS).read_text().splitlines() if (raw / COMMANDS).exists() else []
    if any(run.is_stored for run in runs):
        libraries_here = {run.case.library for run in runs}
        commands = list(dict.fromkeys([*report.stated_commands(options.out, libraries_here), *commands]))
    report.write(runs, options.out, commands)
    print(f"report: {options.out / 'table.md'}")
    return 0 if finished else 3


if __name__ == "__main__":
    try:
        sys.exit(main())
    except SurefootError as error:
        sys.exit(f"error: {error}")
