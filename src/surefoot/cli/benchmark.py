"""`surefoot study benchmark`: the paper's benchmark, from runs to tables and figures."""

from __future__ import annotations

import math
import os
import sys
import time
from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import typer
from rich.console import Console


def benchmark(
    out: Path = typer.Option(
        Path("results/benchmark"), metavar="FOLDER", help="Folder of tables, figures and checkpoints."
    ),
    kernel: str = typer.Option("se", metavar="NAME", help="se, matern52 or both."),
    policies: list[str] = typer.Option(
        [],
        "--policy",
        metavar="NAME",
        help="A policy; default: the paper's seven. 'ScaledEI again' adds the A/A control.",
    ),
    problems: list[str] = typer.Option([], "--problem", metavar="NAME", help="A test function; default: all twelve."),
    seeds: int = typer.Option(5, min=1, metavar="N", help="Runs of each combination, from different designs."),
    first_seed: int = typer.Option(
        0, min=0, metavar="N", help="The first of them: add seeds to those of an earlier run."
    ),
    n_max: int = typer.Option(
        1000, min=11, metavar="N", help="Evaluations of each run, the design of 10 d points included."
    ),
    search: str = typer.Option(
        "paper",
        metavar="NAME",
        help="How policies are maximized: paper, paper-absolute (its tolerance in units of y), paper-bayesopt "
        "(as MATLAB's bayesopt does) or gradient.",
    ),
    min_noise: float = typer.Option(
        0.0,
        min=0.0,
        max=1.0,
        metavar="X",
        help="Least noise that a fit sees, over y's standard deviation; MATLAB's fitrgp has 0.01.",
    ),
    device: str = typer.Option("cpu", metavar="NAME", help="cpu (NumPy), cuda (a GPU, through PyTorch)."),
    workers: int = typer.Option(0, min=0, metavar="N", help="Processes; 0: one a core."),
    dask: str = typer.Option("", metavar="NAME", help="Address of a Dask scheduler whose workers do the work instead."),
    checkpoint: float = typer.Option(
        60.0, min=0.1, metavar="X", help="Seconds between the checkpoints of a group of runs."
    ),
    time_limit: float = typer.Option(math.inf, metavar="X", help="Minutes after which to stop and keep what there is."),
    tables: bool = typer.Option(True, help="Write tables and figures of what is there at the end."),
    only_tables: bool = typer.Option(
        False,
        "--only-tables",
        help="Run nothing: tables and figures of all that is in OUT/raw; without it labels.png of OUT/distances.csv.",
    ),
) -> None:
    """The paper's benchmark: 12 functions, 7 policies, 5 designs.

    1000 evaluations of each, and the paper's tables from them: 13 minutes on a GPU, many hours on a CPU. Checkpoints
    under OUT/raw every minute: killed or interrupted, the same command goes on where it was.

    Example: surefoot study benchmark --problem BRA --policy ScaledEI --policy EI --seeds 2 --n-max 60
    """
    from surefoot.acquisition.registry import PAPER_POLICIES
    from surefoot.backend import reference_on
    from surefoot.optimize.plots import pyplot
    from surefoot.paper.problems import ALL
    from surefoot.paper.studies.benchmark import report, runner, study
    from surefoot.paper.studies.benchmark.figures import draw_labels

    console = Console(stderr=True)
    raw = out / "raw"
    if only_tables and not raw.exists() and (out / "distances.csv").exists():
        console.print(f"figure: {draw_labels(report.recorded_tests(out), out / 'labels.png')}", highlight=False)
        return
    if only_tables:
        _write_tables(runner.load_all(raw), out, console)
        return
    _check(search, time_limit, policies if tables else [])
    if tables:
        pyplot()  # if it is missing: complain now, not after the runs
    reference_on(device)  # complain now, not in every worker
    on_gpu = device.startswith("cuda")
    groups = study.plan(
        ("se", "matern52") if kernel == "both" else (kernel,),
        policies or PAPER_POLICIES,
        problems or [problem.abbreviation for problem in ALL],
        range(first_seed, first_seed + seeds),
        study.Way(n_max, search, min_noise),
        together=on_gpu,
    )
    began = time.monotonic()
    with _executor(dask, workers, len(groups), on_gpu) as (executor, n_workers), _bar(console) as show:
        crew = runner.Workers(executor, n_workers, device)
        finished = runner.advance_all(groups, raw, crew, time_limit_s=60.0 * time_limit, slice_s=checkpoint, show=show)
    minutes = (time.monotonic() - began) / 60.0
    how = "all runs done" if finished else "stopped at the time limit; the same command goes on"
    console.print(f"{how}: {minutes:.1f} minutes")
    if tables:
        _write_tables([(group, runner.resume(group, raw)) for group in groups], out, console)
    if not finished:
        raise typer.Exit(3)


def _check(search: str, time_limit: float, compared: list[str]) -> None:
    """Complain now, not after the runs; compared: the policies of the tables, if any are named."""
    from surefoot.engine.searches import SEARCHES
    from surefoot.errors import InvalidInputError, UnknownNameError

    if search not in SEARCHES:
        raise UnknownNameError(f"expected a search, one of {', '.join(SEARCHES)}; got {search!r}; try paper")
    if not time_limit > 0.0:
        raise InvalidInputError(f"expected a time limit of more than 0 minutes; got {time_limit}; try 60")
    if compared and "ScaledEI" not in compared:
        raise InvalidInputError(
            f"expected ScaledEI among the policies: the tables compare others with it; got {', '.join(compared)}; "
            "try --policy ScaledEI as well, or --no-tables"
        )


def _write_tables(done: list[Any], out: Path, console: Console) -> None:
    from surefoot.paper.studies.benchmark import report

    heading = f"`surefoot {' '.join(sys.argv[1:])}`\n\n{report.describe(done)}\n"
    Console().print(report.write(done, out, heading), markup=False)
    console.print(f"tables and figures: {out}")


@contextmanager
def _executor(dask: str, workers: int, n_groups: int, on_gpu: bool) -> Iterator[tuple[Executor, int]]:
    from surefoot.paper.studies.benchmark.runner import local_executor, shared_gpu

    cores = os.cpu_count() or 1
    if not dask:
        with shared_gpu() if on_gpu else nullcontext(True) as side_by_side:
            n_workers = workers or (min(n_groups, cores) if side_by_side else 1)
            with local_executor(n_workers) as pool:
                yield pool, n_workers
        return
    from surefoot.runs.cluster import connect

    with connect(dask) as cluster:
        yield cluster, cluster.n_threads


@contextmanager
def _bar(console: Console) -> Iterator[Any]:
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    from surefoot.paper.studies.benchmark.runner import Progress as Done

    left_column = TextColumn("{task.fields[left]}")
    columns = (BarColumn(), MofNCompleteColumn(), TextColumn("evaluations"), TimeElapsedColumn(), left_column)
    with Progress(*columns, console=console) as bar:
        task = bar.add_task("", total=None, left="")

        def show(done: Done) -> None:
            minutes = done.seconds_left / 60.0
            left = "" if math.isnan(minutes) else f"about {math.ceil(minutes):.0f} min left"
            bar.update(task, completed=done.done, total=done.total, left=left)

        yield show
