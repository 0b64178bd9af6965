"""`surefoot check`: a problem file read, and if wanted one point of it evaluated with everything shown."""

from __future__ import annotations

from pathlib import Path

import typer
from rich.console import Console


def check(
    problem: Path = typer.Argument(
        metavar="PROBLEM.TOML", help="Parameters, objective, budget; see docs/howto/running.md."
    ),
    run: bool = typer.Option(False, "--run", help="Evaluate one point, and show files, commands, outputs and results."),
    at: list[str] = typer.Option(
        [],
        "--at",
        metavar="NAME=VALUE",
        help="Evaluate there, with --run or without; repeatable. Default: the first point of a run.",
    ),
    storage: str = typer.Option("", help="postgresql://… or a SQLite file; default: NAME.db beside the problem file."),
) -> None:
    """Check a problem file, and try it out.

    Without --run and --at nothing is evaluated. With them one point is, in the folder NAME.runs/check: its files as
    they were rendered, the commands, what they printed, and where each result was read. No study is touched. The exit
    status is 1 if the evaluation failed.

    Example: surefoot check case.toml --run --at width=0.1
    """
    from surefoot.runs.dry_run import check as check_problem
    from surefoot.runs.dry_run import first_point
    from surefoot.runs.evaluation import close
    from surefoot.runs.problem import placed_in, read_problem
    from surefoot.runs.trial_run import evaluate_aloud, point_of

    console = Console()

    def say(line: str) -> None:
        console.print(line, markup=False, highlight=False, soft_wrap=True)

    checked = read_problem(problem)
    point = point_of(checked, first_point(checked), at)
    for line in check_problem(checked, storage or str(checked.default_storage)):
        say(line)
    if run or at:
        try:
            with placed_in(problem):
                evaluation = evaluate_aloud(checked, point, say)
        finally:
            close()
        if not evaluation.ok:
            raise typer.Exit(1)
