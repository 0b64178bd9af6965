"""`surefoot add`: evaluations from elsewhere, and points to try first."""

from __future__ import annotations

from pathlib import Path

import typer
from rich.console import Console


def add(
    problem: Path = typer.Argument(metavar="PROBLEM.TOML", help="The problem whose study gets them."),
    tables: list[str] = typer.Argument(
        metavar="TABLE…",
        help="CSV, JSON or Parquet files, as `surefoot export` writes them; or other problem files, or storages.",
    ),
    storage: str = typer.Option("", help="postgresql://… or a SQLite file; default: NAME.db beside the problem file."),
    study: str = typer.Option("", metavar="NAME", help="Of the study to take, if another storage has several."),
) -> None:
    """Add known evaluations, points to try first, other studies.

    A table has a column for each parameter and one for the value (`value`, or the name of the objective); `reason` and
    outputs may be there too. A row without a value is a point that is evaluated first. A row whose value is nan, or
    that has a reason, is a failure. What the study has already is passed over. Added evaluations count towards n_evals.
    A table is added whole or, if the command is killed or a row is bad, not at all: repeat it.

    Another problem file, or another storage, is added with all that its study knows.

    Example: surefoot add case.toml old.csv
    """
    from surefoot.runs.add import add_rows
    from surefoot.runs.problem import read_problem
    from surefoot.runs.rows import read_rows
    from surefoot.runs.storage import make_durable, opened
    from surefoot.runs.study import open_study as open_or_make

    console = Console()

    def say(line: str) -> None:
        console.print(line, markup=False, highlight=False, soft_wrap=True)

    checked = read_problem(problem)
    read = [(table, read_rows(table, study)) for table in tables]
    with opened(storage or str(checked.default_storage), write=True, create=True) as found:
        target = open_or_make(checked, found, say)
        for table, rows in read:
            added = add_rows(target, checked, rows, Path(table).name)
            make_durable(found)
            say(f"{table}: {added.told()}")
            for line in added.columns:
                say(f"  {line}")
            for line in added.outside[:5]:
                say(f"  outside: {line}")
