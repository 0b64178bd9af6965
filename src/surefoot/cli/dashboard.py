"""`surefoot dashboard`: optuna-dashboard on the storage of a run."""

from __future__ import annotations

import typer
from rich.console import Console

from surefoot.cli.options import Storage


def dashboard(
    storage: Storage,
    host: str = typer.Option("127.0.0.1", help="Address to listen on. Others than loopback let anybody there in."),
    port: int = typer.Option(8080, min=0, max=65535, help="Port to listen on; 0: any free one."),
) -> None:
    """Show the studies of a storage in a browser, live. Listens on this machine only unless told otherwise.

    Example: surefoot dashboard stiffness.db
    """
    from surefoot.runs.dashboard import serve
    from surefoot.runs.problem import storage_place

    console = Console()
    serve(storage_place(storage), host, port, lambda text: console.print(text, markup=False, soft_wrap=True))
