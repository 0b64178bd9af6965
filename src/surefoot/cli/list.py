"""`surefoot list`: the studies in a storage."""

from __future__ import annotations

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Table

STORAGE = typer.Argument(metavar="STORAGE", help="A SQLite file, postgresql://…, or the problem file of a run.")


def list_studies(storage: str = STORAGE) -> None:
    """List the studies in a storage.

    Example: surefoot list stiffness.db
    """
    from surefoot.runs.problem import storage_place
    from surefoot.runs.storage import opened
    from surefoot.runs.tables import study_rows

    with opened(storage_place(storage)) as found:
        rows = study_rows(found)
    if not rows:
        Console().print("no studies")
        return
    table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False)
    rare = [name for name in ("forgotten", "fallbacks") if not any(row[name] for row in rows)]
    columns = [name for name in rows[0] if name not in ("objective", *rare)]
    for name in columns:
        table.add_column(name, justify="left" if name in ("study", "direction") else "right")
    for row in rows:
        table.add_row(
            *("" if row[n] is None else f"{row[n]:.6g}" if n == "best" else escape(str(row[n])) for n in columns)
        )
    Console().print(table)
    for row in rows:
        if row["fallbacks"]:
            Console().print(
                f"{row['study']}: {row['fallbacks']} evaluations at random points because no suggestion could be made; "
                "surefoot export tells which and why",
                markup=False,
                soft_wrap=True,
            )
