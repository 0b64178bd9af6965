"""`surefoot list`: the studies in a storage."""

from __future__ import annotations

from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from surefoot.cli.options import Storage


def list_studies(storage: Storage) -> None:
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
    shown = ["study", "direction", "finished", "failed", "running", "best"]
    shown += [name for name in ("forgotten", "outside", "fallbacks") if any(row[name] for row in rows)]
    for name in shown:
        left = name in ("study", "direction")
        table.add_column(name, justify="left" if left else "right", no_wrap=name != "study", overflow="fold")
    for row in rows:
        table.add_row(*(_text(row, name) for name in shown))
    Console().print(table)
    for row in rows:
        if row["fallbacks"]:
            Console().print(
                f"{row['study']}: {row['fallbacks']} evaluations at random points because no suggestion could be made; "
                "surefoot export tells which and why",
                markup=False,
                soft_wrap=True,
            )


def _text(row: dict[str, Any], name: str) -> str:
    if name == "finished" and row["n_evals"] is not None:
        return f"{row['finished']} of {row['n_evals']}"
    value = row[name]
    return "" if value is None else f"{value:.6g}" if name == "best" else escape(str(value))
