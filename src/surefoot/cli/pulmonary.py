"""`surefoot pulmonary`: simulate the pulmonary circulation, map where it fails (inference: inference.py)."""

import csv
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn
from rich.progress import TimeElapsedColumn as Elapsed
from rich.table import Table

from surefoot.cli.options import FL, FS, SettingsFile, Variant, Workers, Xi
from surefoot.errors import InvalidInputError, UnknownNameError

if TYPE_CHECKING:
    from surefoot.pulmonary import Settings, Simulation, SimulationFailure

app = typer.Typer(
    help="The pulmonary circulation: simulate, infer. Research software, not a medical device.",
    no_args_is_help=True,
)


def load_settings(path: Path | None, variant: str | None) -> "Settings":
    """The simulator's settings: a file or the defaults, with that variant."""
    from surefoot.pulmonary import Settings

    return (Settings.from_toml(path) if path else Settings()).with_variant(variant)


def _summary_table(simulation: "Simulation") -> Table:
    table = Table(title="last beat, vessel midpoints", title_justify="left")
    table.add_column("vessel")
    for name in ("systolic mmHg", "mean mmHg", "diastolic mmHg", "mean flow ml/s"):
        table.add_column(name, justify="right")
    for row in simulation.summaries:
        numbers = (row.systolic_mmHg, row.mean_mmHg, row.diastolic_mmHg, row.mean_flow_ml_s)
        table.add_row(row.name, *(f"{value:.2f}" for value in numbers))
    return table


@app.command(name="simulate")
def simulate_command(
    f_L: FL = 2.6e5,
    f_S: FS = 5.0e4,
    xi: Xi = 2.76,
    variant: Variant = None,
    settings: SettingsFile = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the waveforms of all vessels to this CSV file.")
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw waves and network to this PNG or PDF file.")
    ] = None,
) -> None:
    """Simulate one parameter vector: pressures and flows.

    Without options it is the paper's nominal case, a healthy one. A failed simulation prints its kind, vessel and time
    and ends with status 1.

    Example: surefoot pulmonary simulate --xi 2.4 --out run.csv --plot run.png
    """
    from surefoot.pulmonary import SimulationFailure, simulate

    console = Console()
    chosen = load_settings(settings, variant)
    beats = chosen.variant.beats
    try:
        columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), Elapsed())
        with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
            task = progress.add_task("preparing (the first run ever compiles, about 20 s)", total=beats)

            def show(n: int, change: float) -> None:
                text = f"beat {n}" if n == 1 else f"beat {n}, change {change:.3g} mmHg"
                progress.update(task, completed=n, description=text)

            found = simulate(f_L, f_S, xi, settings=chosen, all_nodes=plot is not None, on_beat=show)
    except SimulationFailure as failure:
        Console(stderr=True).print(f"[red]{failure.kind}[/red] {failure}", highlight=False)
        raise typer.Exit(1) from None
    console.print(_summary_table(found))
    console.print(
        f"{found.variant}: {found.n_beats} beats, {found.status}; "
        f"the last beat changed pressures by at most {found.periodicity_mmHg:.2g} mmHg",
        highlight=False,
    )
    if out:
        found.to_csv(out)
        console.print(f"waveforms: {out}", highlight=False)
    if plot:
        from surefoot.pulmonary.plots import plot_simulation

        plot_simulation(found, chosen.network, plot)
        console.print(f"figure: {plot}", highlight=False)


_PARAMETERS = ("f_L", "f_S", "xi")
_LETTERS = {
    "matching": "M",
    "cfl": "C",
    "junction": "J",
    "not-finite": "N",
    "collapsed": "A",
    "not-periodic": "P",
    "invalid-parameters": "I",
}


def _axis(text: str, position: int) -> tuple[str, tuple[float, float]]:
    """NAME, or NAME=LOW:HIGH, to (name, bounds); the paper's bounds by default."""
    from surefoot.pulmonary import PARAMETER_BOX

    name, _, given = text.partition("=")
    if name not in _PARAMETERS:
        hint = f"try --{'xy'[position]} f_L"
        raise UnknownNameError(f"expected a parameter among f_L, f_S, xi, got {name!r}; {hint}")
    if not given:
        return name, PARAMETER_BOX[_PARAMETERS.index(name)]
    try:
        low, high = (float(part) for part in given.split(":"))
    except ValueError:
        low, high = 1.0, 0.0
    if not low < high:
        raise InvalidInputError(f"expected {name}=LOW:HIGH with LOW < HIGH, got {text!r}; try {name}=1e5:5e5")
    return name, (low, high)


@dataclass(frozen=True)
class _Map:
    """Simulations over a grid of two parameters, row by row from the bottom."""

    x: str
    y: str
    across: list[float]
    up: list[float]
    points: list[dict[str, float]]
    title: str
    outcomes: "list[Simulation | SimulationFailure]" = field(default_factory=list)

    @property
    def kinds(self) -> list[list[str]]:
        """Kinds of failures, empty where it runs."""
        from surefoot.pulmonary import SimulationFailure

        kinds = [str(o.kind) if isinstance(o, SimulationFailure) else "" for o in self.outcomes]
        n = len(self.across)
        return [kinds[i : i + n] for i in range(0, len(kinds), n)]


def _grid(x: str, y: str, n: int, values: dict[str, float], variant: str | None) -> _Map:
    """What is to be simulated: x and y as the user gave them, the third parameter as in `values`."""
    import numpy as np

    (name_x, bounds_x), (name_y, bounds_y) = _axis(x, 0), _axis(y, 1)
    if name_x == name_y:
        raise InvalidInputError(f"expected two different parameters, got {name_x} twice; change --x or --y")
    across, up = np.linspace(*bounds_x, n).tolist(), np.linspace(*bounds_y, n).tolist()
    points = [{**values, name_x: a, name_y: b} for b in up for a in across]
    held = next(name for name in _PARAMETERS if name not in (name_x, name_y))
    return _Map(name_x, name_y, across, up, points, f"{held} = {values[held]:.4g}, {variant or 'published'}")


def _print_map(console: Console, found: _Map) -> None:
    axes = f"{found.y} upwards, {found.x} from {found.across[0]:.4g} to {found.across[-1]:.4g}"
    console.print(f"{axes}; {found.title}", highlight=False)
    for value, kinds in zip(reversed(found.up), reversed(found.kinds), strict=True):
        letters = " ".join(f"[red]{_LETTERS[kind]}[/red]" if kind else "[green]·[/green]" for kind in kinds)
        console.print(f"{value:>10.4g} {letters}", highlight=False)
    failed = [kind for kinds in found.kinds for kind in kinds if kind]
    legend = ", ".join(["· runs", *(f"{_LETTERS[kind]} {kind}" for kind in sorted(set(failed)))])
    console.print(f"{len(failed)} of {len(found.points)} failed ({legend})", highlight=False)


def _write_map(path: Path, found: _Map) -> None:
    from surefoot.pulmonary import SimulationFailure

    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow([*_PARAMETERS, "kind", "vessel", "time_s"])
        for point, outcome in zip(found.points, found.outcomes, strict=True):
            values = [f"{point[name]:.9g}" for name in _PARAMETERS]
            if isinstance(outcome, SimulationFailure):
                writer.writerow([*values, outcome.kind, outcome.vessel, outcome.time_s])
            else:
                writer.writerow([*values, "", "", ""])


@app.command()
def failures(
    x: Annotated[
        str, typer.Option(metavar="NAME", help="Horizontal: f_L, f_S or xi, or with bounds: f_L=1e5:6e5.")
    ] = "f_L",
    y: Annotated[str, typer.Option(metavar="NAME", help="Vertical: another of the three.")] = "xi",
    points: Annotated[int, typer.Option(min=2, max=200, metavar="N", help="Grid points per direction.")] = 12,
    f_L: FL = 2.6e5,
    f_S: FS = 5.0e4,
    xi: Xi = 2.76,
    variant: Variant = "original",
    settings: SettingsFile = None,
    workers: Workers = 1,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write kind, vessel and time of each to this CSV file.")
    ] = None,
    plot: Annotated[Path | None, typer.Option(metavar="FILE", help="Draw the map to this PNG or PDF file.")] = None,
) -> None:
    """Map where the simulator fails in two parameters.

    The third has the value of its option. One simulation per grid point. In the printed map a dot runs and a letter
    names the kind of failure.

    Example: surefoot pulmonary failures --x f_L --y xi --points 20 --plot map.png
    """
    from surefoot.pulmonary import simulate_many

    grid = _grid(x, y, points, {"f_L": f_L, "f_S": f_S, "xi": xi}, variant)
    columns = (TextColumn("simulating"), BarColumn(), MofNCompleteColumn(), Elapsed())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("", total=len(grid.points))
        outcomes = simulate_many(
            [[point[name] for name in _PARAMETERS] for point in grid.points],
            settings=load_settings(settings, variant),
            n_workers=workers,
            on_done=lambda _row, _outcome: progress.advance(task),
        )
    found = replace(grid, outcomes=outcomes)
    _print_map(Console(), found)
    if out:
        _write_map(out, found)
    if plot:
        from surefoot.pulmonary.plots import plot_failures

        units = (_unit(found.x), _unit(found.y))
        plot_failures(found.across, found.up, found.kinds, units, found.title, plot)


def _unit(name: str) -> str:
    return {"f_L": "f_L (dyn/cm²)", "f_S": "f_S (dyn/cm²)", "xi": "ξ"}[name]
