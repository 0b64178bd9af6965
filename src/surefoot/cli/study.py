"""`surefoot study …`: the studies, from runs to tables and figures."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import closing
from pathlib import Path
from typing import Any

import typer
from rich.console import Console

from surefoot.cli.benchmark import benchmark
from surefoot.cli.options import N_CORES, Workers

app = typer.Typer(no_args_is_help=True)


@app.callback()
def _studies() -> None:
    """Repeat the studies of the docs: tables and figures from runs.

    Each takes minutes to hours; one that was killed goes on where it was.
    """


app.command()(benchmark)


def _follow(runs: Generator[Any], total: int, what: str, console: Console) -> None:
    """Wait for all of them, with a bar."""
    from rich.progress import track

    with closing(runs) as done:
        for _ in track(done, total=total, description=what, console=console):
            pass


@app.command()
def agreement(
    folders: list[Path] = typer.Argument(
        metavar="FOLDER", help="Folders of `surefoot study benchmark` runs that differ in --search or --min-noise."
    ),
    out: Path = typer.Option(Path("results/agreement"), metavar="FOLDER", help="Folder of the tables."),
) -> None:
    """Which reading of the paper's search do its labels favour?

    Shares of equal labels, kappa, and the likelihood of the paper's labels. Reads distances.csv of each folder, writes
    agreement.md. Studies with ten seeds or more also say how far a program agrees with itself.

    Example: surefoot study agreement results/benchmark-15 results/benchmark-absolute
    """
    import sys

    from surefoot.paper.studies.benchmark.agreement import write

    heading = f"`surefoot {' '.join(sys.argv[1:])}`"
    Console().print(write(folders, out, heading), markup=False, soft_wrap=True)


@app.command()
def searches(
    folders: list[Path] = typer.Argument(
        metavar="FOLDER", help="Folders of `surefoot study benchmark` runs that differ in --search."
    ),
    out: Path = typer.Option(Path("results/searches"), metavar="FOLDER", help="Folder of the table and the figure."),
    kernel: str = typer.Option("se", metavar="NAME", help="se or matern52."),
    n: int = typer.Option(
        200, "--n", metavar="N", help="Evaluations after which to compare: 50, 100, 200, 400, 600, 800 or 1000."
    ),
) -> None:
    """PI against ScaledEI under different searches.

    They share their maximizers, so what makes them differ? Reads distances.csv of each folder, writes table.md and
    searches.png.

    Example: surefoot study searches results/benchmark results/gradient
    """
    import sys

    from surefoot.gp.kernels import get_kernel
    from surefoot.paper.studies.benchmark.searches import write

    text = write(folders, out, get_kernel(kernel).name, n, f"`surefoot {' '.join(sys.argv[1:])}`")
    Console().print(text, markup=False)


@app.command()
def failures(
    out: Path = typer.Option(
        Path("results/failures"), metavar="FOLDER", help="Folder of tables, figures and raw runs."
    ),
    groups: list[str] = typer.Option(
        [], "--problems", metavar="GROUP", help="paper: the nine of the paper's functions; limits: the others."
    ),
    problems: list[str] = typer.Option(
        [], "--problem", metavar="NAME", help="A problem with hidden constraints; default: all."
    ),
    strategies: list[str] = typer.Option(
        [], "--strategy", metavar="NAME", help="A way to treat failures, or another optimizer; default: all of ours."
    ),
    policies: list[str] = typer.Option(
        [], "--policy", metavar="NAME", help="A policy for the paper's problems; default: ScaledEI, PI and EI."
    ),
    seeds: int = typer.Option(20, min=2, metavar="N", help="Runs of each combination, from different designs."),
    n: int | None = typer.Option(
        None, "--n", min=10, metavar="N", help="Evaluations of each run; default: 100, and 200 on problems with limits."
    ),
    workers: Workers = N_CORES,
    only_tables: bool = typer.Option(
        False, "--only-tables", help="Run nothing: tables of the runs that are there, or figures of the tables."
    ),
) -> None:
    """Does learning from failed evaluations pay?

    Seven strategies on problems with hidden constraints; hours. Writes table.md, comparison.png and reliability.png
    for the paper's problems, limits.md and limits.png for the others, and keeps every run under raw/. Other optimizers
    (random, tpe, cmaes, egobox, egobox-efi, smac; the extra peers) run on problems with limits if they are named.

    Example: surefoot study failures --problem spring --strategy default --strategy tpe --seeds 2 --out quick-look
    """
    from surefoot.acquisition.registry import check_policy
    from surefoot.optimize.plots import pyplot
    from surefoot.paper.studies.failures import report, study
    from surefoot.paper.studies.failures.strategies import check_strategies

    console = Console()
    pyplot()  # if it is missing: complain now, not after the runs
    chosen = report.problems_of(groups, problems)
    check_strategies(strategies)
    named = [check_policy(policy) for policy in policies] or study.POLICIES
    todo = list(study.cases(chosen, strategies or study.STRATEGIES, named, seeds, n))
    raw = out / "raw"
    if not only_tables:
        _follow(study.run_study(todo, raw, workers), len(todo), "combinations", console)
    for text in report.write(todo, raw, out):
        console.print(text, markup=False, highlight=False, soft_wrap=True)


@app.command()
def comparison(
    out: Path = typer.Option(
        Path("results/comparison"), metavar="FOLDER", help="Folder of tables, figure and raw runs."
    ),
    problems: list[str] = typer.Option(
        [], "--problem", metavar="NAME", help="A test problem; default: CSF, as in the paper."
    ),
    solvers: list[str] = typer.Option([], "--solver", metavar="NAME", help="A solver; default: all."),
    seeds: int = typer.Option(15, min=2, metavar="N", help="Runs of each solver on each problem."),
    target: float = typer.Option(-6.0, metavar="X", help="log10 distance to the least value that ends a run."),
    budget: int = typer.Option(
        20_000, min=1, metavar="N", help="Evaluations at most; a run that spends them has missed."
    ),
    model_budget: int = typer.Option(
        300, min=1, metavar="N", help="The same for surefoot, whose steps grow dearer with n."
    ),
    workers: Workers = N_CORES,
    only_figure: bool = typer.Option(False, "--only-figure", help="Run nothing: the figure of OUT/runs.csv."),
) -> None:
    """How many evaluations do ScaledEI and other solvers need?

    The paper's section 6. Writes table.md, table.csv, runs.csv and comparison.png, and keeps every run under raw/.

    Example: surefoot study comparison --problem CSF --seeds 2 --out quick-look
    """
    from surefoot.errors import InvalidInputError
    from surefoot.optimize.plots import pyplot
    from surefoot.paper.resumable import run_cases
    from surefoot.paper.studies.comparison import study
    from surefoot.paper.studies.comparison.figures import draw

    console = Console()
    pyplot()  # if it is missing: complain now, not after the runs
    if only_figure:
        rows = study.recorded(out)
        if not rows:
            raise InvalidInputError(f"expected runs.csv in {out}; got none; try the study without --only-figure")
    else:
        todo = list(study.cases(problems, solvers, seeds, target, budget, model_budget))
        raw = out / "raw"
        _follow(run_cases(study.run_case, todo, raw, workers), len(todo), "runs", console)
        rows = study.summarize(todo, raw)
        console.print(study.write_tables(rows, target, out), markup=False, highlight=False, soft_wrap=True)
    console.print(f"figure: {draw(rows, target, out / 'comparison.png')}")


@app.command()
def pulmonary(
    out: Path = typer.Option(
        Path("results/pulmonary"), metavar="FOLDER", help="Folder of tables, figures and raw runs."
    ),
    methods: list[str] = typer.Option([], "--method", metavar="NAME", help="ScaledEI, ignore, EI, ...; default: all."),
    variants: list[str] = typer.Option(
        ["original"], "--variant", metavar="NAME", help="original or published, or both."
    ),
    noises: list[str] = typer.Option(
        ["fixed"], "--noise", metavar="NAME", help="fixed: the same for all seeds; seed: one each."
    ),
    seeds: int = typer.Option(15, min=2, metavar="N", help="Runs of each combination."),
    n: int = typer.Option(
        500, "--n", min=1, metavar="N", help="Simulations of each run of ScaledEI; others stop at 200."
    ),
    reference: int = typer.Option(
        5000, min=0, metavar="N", help="Simulations of the search for the best loss; 0: none."
    ),
    workers: Workers = N_CORES,
    only_tables: bool = typer.Option(False, "--only-tables", help="Run nothing: tables of the runs that are there."),
) -> None:
    """The paper's inference, and other optimizers on its data.

    Parameters (f_L, f_S, xi) from noisy signals; hours. Writes tables.md, runs.csv and figures of the runs that the
    options name, and keeps every run under raw/. GPSampler needs PyTorch (the extra torch).

    Example: surefoot study pulmonary --method ScaledEI --seeds 2 --n 100 --reference 0 --out quick-look
    """
    from surefoot.errors import InvalidInputError
    from surefoot.optimize.plots import pyplot
    from surefoot.paper.resumable import run_cases
    from surefoot.paper.studies.pulmonary import study
    from surefoot.paper.studies.pulmonary.figures import draw
    from surefoot.paper.studies.pulmonary.methods import METHODS, check_installed
    from surefoot.paper.studies.pulmonary.reference import reference_case, run_any
    from surefoot.paper.studies.pulmonary.tables import groups_of, write_tables

    console = Console()
    pyplot()  # if it is missing: complain now, not after the runs
    todo = study.cases(methods or list(METHODS), variants, noises, seeds, n)
    raw = out / "raw"
    references = [reference_case(variant, reference) for variant in variants if reference and "fixed" in noises]
    everything: list[Any] = [*todo, *references]
    if only_tables:
        todo, everything = [case for case in todo if (raw / case.file_name).exists()], []
        if not todo:
            raise InvalidInputError(f"expected runs in {raw}; got none; try the study without --only-tables")
    else:
        check_installed(methods or METHODS)
    _follow(run_cases(run_any, everything, raw, workers), len(everything), "runs", console)
    groups = groups_of(todo, raw, reference)
    console.print(write_tables(groups, out), markup=False)
    for path in draw(groups, out):
        console.print(f"figure: {path}", highlight=False)


@app.command()
def coverage(
    out: Path = typer.Option(
        Path("results/pulmonary"), metavar="FOLDER", help="Folder of the table, the figure and raw results."
    ),
    variants: list[str] = typer.Option(
        ["published"], "--variant", metavar="NAME", help="original or published, or both."
    ),
    levels: list[str] = typer.Option(
        ["given", "estimated"], "--noise-level", metavar="NAME", help="Noise levels given or estimated."
    ),
    patients: int = typer.Option(60, min=2, metavar="N", help="Synthetic patients of each combination."),
    n: int = typer.Option(100, "--n", min=30, metavar="N", help="Simulations of each optimization."),
    workers: Workers = N_CORES,
    only_figure: bool = typer.Option(False, "--only-figure", help="Run nothing: the figure of OUT/coverage.csv."),
) -> None:
    """Do credible intervals hold the truth as often as they say?

    Synthetic patients, noise of 10 dB. Writes coverage.md, coverage.csv and coverage.png.

    Example: surefoot study coverage --noise-level given --patients 4 --out quick-look
    """
    from surefoot.optimize.plots import pyplot
    from surefoot.paper.resumable import run_cases
    from surefoot.paper.studies.pulmonary import coverage as study
    from surefoot.paper.studies.pulmonary.figures import draw_coverage

    console = Console()
    pyplot()  # if it is missing: complain now, not after the runs
    if only_figure:
        rows = study.recorded_coverage(out)
    else:
        todo = study.coverage_cases(variants, levels, patients, n)
        raw = out / "raw"
        _follow(run_cases(study.run_coverage, todo, raw, workers), len(todo), "patients", console)
        rows = study.summarize_coverage(todo, raw)
        console.print(study.write_coverage(rows, out), markup=False)
    console.print(f"figure: {draw_coverage(rows, out / 'coverage.png')}", highlight=False)
