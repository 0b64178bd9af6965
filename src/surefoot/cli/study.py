"""`surefoot study …`: the studies, from runs to tables and figures."""

from __future__ import annotations

import os
from contextlib import closing
from pathlib import Path

import typer
from rich.console import Console

from surefoot.cli.benchmark import benchmark

app = typer.Typer(help="Run a study and write its tables and figures; a killed study goes on where it was.")


@app.callback()
def _studies() -> None:
    """Run a study and write its tables and figures; a killed study goes on where it was."""


app.command()(benchmark)


@app.command()
def failures(
    out: Path = typer.Option(Path("results/failures"), help="Folder of tables, figures and raw runs."),
    problems: list[str] = typer.Option([], "--problem", help="A problem with hidden constraints; default: all."),
    strategies: list[str] = typer.Option([], "--strategy", help="A way to treat failures; default: all five."),
    policies: list[str] = typer.Option([], "--policy", help="A policy; default: ScaledEI, PI and EI."),
    seeds: int = typer.Option(20, min=2, help="Runs of each combination, from different designs."),
    n: int = typer.Option(100, "--n", min=10, help="Evaluations of each run, the design included."),
    workers: int = typer.Option(os.cpu_count() or 1, min=1, help="Processes."),
) -> None:
    """Does learning from failed evaluations pay? Five strategies on problems with hidden constraints.

    Writes table.md, table.csv, comparison.png and reliability.png, and keeps every run under raw/.
    """
    from rich.progress import track

    from surefoot.acquisition.registry import check_policy
    from surefoot.errors import UnknownNameError
    from surefoot.studies import failures as study
    from surefoot.studies.failure_figures import draw

    console = Console()
    for strategy in strategies:
        if strategy not in study.STRATEGIES:
            known = ", ".join(study.STRATEGIES)
            raise UnknownNameError(f"expected a strategy among {known}; got {strategy!r}; try label-regression")
    chosen = [check_policy(policy) for policy in policies] or study.POLICIES
    todo = list(study.cases(problems, strategies or study.STRATEGIES, chosen, seeds, n))
    raw = out / "raw"
    with closing(study.run_study(todo, raw, workers)) as done:
        for _ in track(done, total=len(todo), description="combinations", console=console):
            pass
    rows = study.summarize(todo, raw)
    console.print(study.write_tables(rows, out))
    for path in draw(todo, rows, raw, out):
        console.print(f"figure: {path}")


@app.command()
def comparison(
    out: Path = typer.Option(Path("results/comparison"), help="Folder of tables, figure and raw runs."),
    problems: list[str] = typer.Option([], "--problem", help="A test problem; default: CSF, as in the paper."),
    solvers: list[str] = typer.Option([], "--solver", help="A solver; default: all."),
    seeds: int = typer.Option(15, min=2, help="Runs of each solver on each problem."),
    target: float = typer.Option(-6.0, help="log10 distance to the least value that ends a run."),
    budget: int = typer.Option(20_000, min=1, help="Evaluations at most; a run that spends them has missed."),
    model_budget: int = typer.Option(300, min=1, help="The same for surefoot, whose steps grow dearer with n."),
    workers: int = typer.Option(os.cpu_count() or 1, min=1, help="Processes."),
) -> None:
    """How many evaluations does ScaledEI need, and how many do other global solvers? The paper's section 6.

    Writes table.md, table.csv, runs.csv and comparison.png/.svg, and keeps every run under raw/.
    """
    from rich.progress import track

    from surefoot.studies import comparison as study
    from surefoot.studies.comparison_figures import draw
    from surefoot.studies.resumable import run_cases

    console = Console()
    todo = list(study.cases(problems, solvers, seeds, target, budget, model_budget))
    raw = out / "raw"
    with closing(run_cases(study.run_case, todo, raw, workers)) as done:
        for _ in track(done, total=len(todo), description="runs", console=console):
            pass
    rows = study.summarize(todo, raw)
    console.print(study.write_tables(rows, target, out), markup=False, highlight=False, soft_wrap=True)
    for path in draw(rows, target, out / "comparison"):
        console.print(f"figure: {path}")
