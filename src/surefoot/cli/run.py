"""`surefoot run`: optimize what a TOML file describes."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import typer
from rich.console import Console

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from surefoot.runs.problem import Problem


def run(
    problem: Path = typer.Argument(
        metavar="PROBLEM.TOML", help="Parameters, objective, budget; see docs/howto/running.md."
    ),
    storage: str = typer.Option("", help="postgresql://… or a SQLite file; default: NAME.db beside the problem file."),
    workers: int | None = typer.Option(
        None, min=1, metavar="N", help="Evaluations at a time; default: 1, all of the Dask cluster, or as [slurm] says."
    ),
    slurm: bool = typer.Option(False, "--slurm", help="Evaluate in jobs of SLURM, with the resources of [slurm]."),
    dask: str = typer.Option("", metavar="ADDRESS", help="Evaluate on the Dask cluster whose scheduler is there."),
    device: str = typer.Option(
        "", metavar="NAME", help="Compute suggestions there: cpu, cuda or torch; default: as the problem file says."
    ),
    dry_run: bool = typer.Option(False, "--dry-run", help="Check everything, evaluate nothing."),
) -> None:
    """Optimize a command or a Python function. Run it again and it continues; run it twice at once and both help.

    Ctrl-C finishes what runs and stops; a second Ctrl-C stops now. Nothing that has ended is lost.

    With --slurm, on a login node, every evaluation is a job. Jobs go on when this process ends, and the next run
    collects their results. Partition, time and memory are in [slurm] of the problem file; see docs/howto/cluster.md.

    The exit status is 1 if nothing has succeeded, 2 after an error, 130 after Ctrl-C, 143 after SIGTERM.

    A small problem file; the program prints the value on its last line:

    \b
      n_evals = 40
      [parameters]
      width = {low = 0.01, high = 0.1}
      [objective]
      command = ["./beam", "{width}"]

    Example: surefoot run stiffness.toml --workers 4
    """
    from surefoot.errors import InvalidInputError
    from surefoot.runs.problem import placed_in, read_problem
    from surefoot.runs.progress import ConsoleReporter, final_table
    from surefoot.runs.running import run as run_problem
    from surefoot.runs.worker import INTERRUPTED

    console = Console()
    checked = read_problem(problem)
    checked = replace(checked, device=device) if device else checked
    if slurm and dask:
        raise InvalidInputError("expected --slurm or --dask; got both; try one of them")
    place = storage or str(checked.default_storage)
    if dry_run:
        _dry_run(checked, place, console, slurm)
        return
    with ExitStack() as stack:
        executor: Executor | None = None
        if dask:
            from surefoot.runs.cluster import connect

            executor = cluster = stack.enter_context(connect(dask))
            workers = workers or cluster.n_threads
        if slurm:
            workers = workers or checked.slurm.workers
        stack.enter_context(placed_in(problem))
        reporter = stack.enter_context(ConsoleReporter(console))
        result = run_problem(checked, place, workers=workers or 1, executor=executor, slurm=slurm, reporter=reporter)
    console.print(final_table(result, checked.name, checked.n_evals))
    console.print(f"every evaluation: surefoot show {_shown(place)}", markup=False, highlight=False, soft_wrap=True)
    if result.message.startswith(INTERRUPTED):
        console.print(f"{result.message}; run it again to continue", soft_wrap=True)
        raise typer.Exit(143 if "SIGTERM" in result.message else 130)
    if not result.success:
        raise typer.Exit(1)


def _shown(place: str) -> str:
    from surefoot.runs.storage import parse_url, shown_url

    return shown_url(parse_url(place))


def _dry_run(problem: Problem, place: str, console: Console, slurm: bool) -> None:
    """Everything that can go wrong before the first evaluation."""
    from surefoot.runs.dry_run import check

    for line in check(problem, place, slurm=slurm):
        console.print(line, markup=False, highlight=False, soft_wrap=True)
