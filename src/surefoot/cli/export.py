"""`surefoot export`: the trials of a study as CSV, JSON or Parquet."""

from __future__ import annotations

from pathlib import Path

import typer
from rich.console import Console

from surefoot.cli.options import Storage, StudyName


def export(
    storage: Storage,
    output: Path = typer.Option(Path("-"), "--output", "-o", help="A .csv, .json or .parquet file; -: CSV to stdout."),
    study: StudyName = "",
) -> None:
    """Write the trials of a study to a file, one row each.

    Example: surefoot export stiffness.db -o trials.parquet
    """
    from surefoot.runs.problem import storage_place
    from surefoot.runs.storage import load_study, opened
    from surefoot.runs.tables import as_csv, trial_rows, write_rows

    with opened(storage_place(storage)) as found:
        rows = trial_rows(load_study(found, study or None))
    if str(output) == "-":
        typer.echo(as_csv(rows), nl=False)
        return
    write_rows(rows, output)
    Console().print(f"{len(rows)} trials: {output}", markup=False, highlight=False, soft_wrap=True)
