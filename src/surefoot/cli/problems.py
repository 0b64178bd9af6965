"""`surefoot problems`: the test problems as a table, and as a figure."""

from pathlib import Path
from typing import TYPE_CHECKING

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

if TYPE_CHECKING:
    from surefoot.paper.problems import Problem


def problems(
    names: list[str] | None = typer.Argument(
        None, metavar="NAME", help="Abbreviations or names; all 12 when left out.", show_default=False
    ),
    plot: Path | None = typer.Option(
        None,
        "--plot",
        metavar="FILE",
        help="Draw those with one or two inputs to this file.",
        show_default=False,
    ),
) -> None:
    """List the paper's test problems, or draw them.

    That is its Table 1, with bounds and least values; with --plot its Figure 1. With names: only those problems, and
    their global minimizers.

    Example: surefoot problems BRA CSF
    """
    from surefoot.paper.problems import ALL, get

    chosen = [get(name) for name in names] if names else list(ALL)
    console = Console()
    if plot is not None:
        from surefoot.paper.problems.figure import draw

        draw(chosen, plot)
        console.print(f"drawn: {plot}", markup=False, highlight=False, soft_wrap=True)
        return
    console.print(_table(chosen))
    if names:
        for problem in chosen:
            console.print(f"\nglobal minimizers of {problem.abbreviation}:", highlight=False)
            for x in problem.minimizers:
                console.print(f"  {', '.join(map(repr, x))}", highlight=False, soft_wrap=True)


def _table(chosen: "list[Problem]") -> Table:
    table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=0)
    table.add_column("test function", no_wrap=True)
    table.add_column("", style="bold", no_wrap=True)
    table.add_column("d", justify="right")
    table.add_column("local\nmin.", justify="right")
    table.add_column("global\nmin.", justify="right")
    table.add_column("bounds", no_wrap=True)
    table.add_column("f*", justify="right", no_wrap=True)
    for p in chosen:
        table.add_row(
            p.name,
            p.abbreviation,
            str(p.d),
            _count(p.n_local_minima, p.d),
            _count(p.n_global_minima, p.d),
            _box(p.bounds),
            "" if p.f_star is None else repr(p.f_star),
        )
    return table


def _count(n: int | None, d: int) -> str:
    """The count, as a power of the count in each input (11^10) where it is too long to read."""
    if n is None:
        return "?"
    root = round(n ** (1.0 / d))
    return f"{root}^{d}" if n > 10**6 and root**d == n else str(n)


def _box(bounds: list[tuple[float, float]]) -> str:
    intervals = [f"[{low:g},{high:g}]" for low, high in bounds]
    if len(intervals) > 1 and len(set(intervals)) == 1:
        return f"{intervals[0]}^{len(intervals)}"
    return "x".join(intervals)
