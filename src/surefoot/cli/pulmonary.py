"""`surefoot pulmonary`: simulate the pulmonary circulation, map where it fails (inference: inference.py)."""

import csv
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn
from rich.progress import TimeElapsedColumn as Elapsed
from rich.table import Table

from surefoot.errors import InvalidInputError, UnknownNameError

if TYPE_CHECKING:
    from surefoot.pulmonary import Settings, Simulation, SimulationFailure

app = typer.Typer(
    help="The pulmonary circulation: simulate, infer. Research software, not a medical device.",
    no_args_is_help=True,
)

FL = Annotated[
    float,
    typer.Option("--f-L", metavar="F", help="Stiffness of the large vessels, dyn/cm²; in the paper 1.33e5 to 5.33e5."),
]
FS = Annotated[
    float,
    typer.Option("--f-S", metavar="F", help="Stiffness of the small vessels, dyn/cm²; in the paper 2.66e4 to 1.066e5."),
]
XI = Annotated[
    float, typer.Option("--xi", metavar="X", help="Radius exponent of the trees; in the paper 2.33 (rarefied) to 3.")
]
VARIANT = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="published: as printed, iterated until periodic; original: as the 2014 program."),
]
SETTINGS = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", help="TOML file for all else: vessels, inflow, fluid, trees, grid; see docs/pulmonary.md."
    ),
]


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
    xi: XI = 2.76,
    variant: VARIANT = None,
    settings: SETTINGS = None,
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
        with Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(),
            Elapsed(),
            console=Console(stderr=True),
            transient=True,
        ) as progress:
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


def _axis(text: str, position: int) -> tuple[str, list[float]]:
    """NAME, or NAME=LOW:HIGH, to (name, bounds); the paper's bounds by default."""
    from surefoot.pulmonary import PARAMETER_BOX

    name, _, given = text.partition("=")
    if name not in _PARAMETERS:
        hint = f"try --{'xy'[position]} f_L"
        raise UnknownNameError(f"expected a parameter among f_L, f_S, xi, got {name!r}; {hint}")
    if not given:
        return name, list(PARAMETER_BOX[_PARAMETERS.index(name)])
    try:
        low, high = (float(part) for part in given.split(":"))
    except ValueError:
        low, high = 1.0, 0.0
    if not low < high:
        raise InvalidInputError(f"expected {name}=LOW:HIGH with LOW < HIGH, got {text!r}; try {name}=1e5:5e5")
    return name, [low, high]


def _letter(outcome: "Simulation | SimulationFailure") -> str:
    from surefoot.pulmonary import SimulationFailure

    if isinstance(outcome, SimulationFailure):
        return f"[red]{_LETTERS[outcome.kind]}[/red]"
    return "[green]·[/green]"


@app.command()
def failures(
    x: Annotated[
        str, typer.Option(metavar="NAME", help="Horizontal: f_L, f_S or xi, or with bounds: f_L=1e5:6e5.")
    ] = "f_L",
    y: Annotated[str, typer.Option(metavar="NAME", help="Vertical: another of the three.")] = "xi",
    points: Annotated[int, typer.Option(min=2, max=200, metavar="N", help="Grid points per direction.")] = 12,
    f_L: FL = 2.6e5,
    f_S: FS = 5.0e4,
    xi: XI = 2.76,
    variant: VARIANT = "original",
    settings: SETTINGS = None,
    workers: Annotated[int, typer.Option(min=1, metavar="N", help="Processes at a time.")] = 1,
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
    import numpy as np

    from surefoot.pulmonary import SimulationFailure, simulate_many

    (name_x, bounds_x), (name_y, bounds_y) = _axis(x, 0), _axis(y, 1)
    if name_x == name_y:
        raise InvalidInputError(f"expected two different parameters, got {name_x} twice; change --x or --y")
    across = np.linspace(bounds_x[0], bounds_x[1], points)
    up = np.linspace(bounds_y[0], bounds_y[1], points)
    fixed = {"f_L": f_L, "f_S": f_S, "xi": xi}
    rows = [{**fixed, name_x: float(a), name_y: float(b)} for b in up for a in across]
    with Progress(
        TextColumn("simulating"),
        BarColumn(),
        MofNCompleteColumn(),
        Elapsed(),
        console=Console(stderr=True),
        transient=True,
    ) as progress:
        task = progress.add_task("", total=len(rows))
        outcomes = simulate_many(
            [[row[name] for name in _PARAMETERS] for row in rows],
            settings=load_settings(settings, variant),
            n_workers=workers,
            on_done=lambda _row, _outcome: progress.advance(task),
        )
    console = Console()
    held = next(name for name in _PARAMETERS if name not in (name_x, name_y))
    title = f"{held} = {fixed[held]:.4g}, {variant or 'published'}"
    axes = f"{name_y} upwards, {name_x} from {across[0]:.4g} to {across[-1]:.4g}"
    console.print(f"{axes}; {title}", highlight=False)
    for j in range(points - 1, -1, -1):
        letters = " ".join(_letter(outcome) for outcome in outcomes[j * points : (j + 1) * points])
        console.print(f"{up[j]:>10.4g} {letters}", highlight=False)
    failed = [outcome for outcome in outcomes if isinstance(outcome, SimulationFailure)]
    seen = sorted({failure.kind for failure in failed})
    legend = ", ".join(["· runs", *(f"{_LETTERS[kind]} {kind}" for kind in seen)])
    console.print(f"{len(failed)} of {len(outcomes)} failed ({legend})", highlight=False)
    if out:
        with out.open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow([*_PARAMETERS, "kind", "vessel", "time_s"])
            for row, outcome in zip(rows, outcomes, strict=True):
                values = [f"{row[name]:.9g}" for name in _PARAMETERS]
                if isinstance(outcome, SimulationFailure):
                    writer.writerow([*values, outcome.kind, outcome.vessel, outcome.time_s])
                else:
                    writer.writerow([*values, "", "", ""])
    if plot:
        from surefoot.pulmonary.plots import plot_failures

        kinds = [
            [o.kind if isinstance(o, SimulationFailure) else "" for o in outcomes[j * points : (j + 1) * points]]
            for j in range(points)
        ]
        plot_failures(list(across), list(up), kinds, (_unit(name_x), _unit(name_y)), title, plot)


def _unit(name: str) -> str:
    return {"f_L": "f_L (dyn/cm²)", "f_S": "f_S (dyn/cm²)", "xi": "ξ"}[name]
