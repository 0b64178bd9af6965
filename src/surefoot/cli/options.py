"""Arguments and options that several commands share, each declared once."""

import os
from pathlib import Path
from typing import Annotated

import typer

N_CORES = os.cpu_count() or 1

Storage = Annotated[
    str, typer.Argument(metavar="STORAGE", help="A SQLite file, postgresql://…, or the problem file of a run.")
]
StudyName = Annotated[
    str, typer.Option("--study", metavar="NAME", help="Name of the study, if the storage has several.")
]
Workers = Annotated[int, typer.Option(min=1, metavar="N", help="Processes at a time.")]
Seed = Annotated[int, typer.Option(min=0, metavar="N", help="Seed of the random numbers.")]

FL = Annotated[
    float,
    typer.Option("--f-L", metavar="F", help="Stiffness of the large vessels, dyn/cm²; in the paper 1.33e5 to 5.33e5."),
]
FS = Annotated[
    float,
    typer.Option("--f-S", metavar="F", help="Stiffness of the small vessels, dyn/cm²; in the paper 2.66e4 to 1.066e5."),
]
Xi = Annotated[
    float, typer.Option("--xi", metavar="X", help="Radius exponent of the trees; in the paper 2.33 (rarefied) to 3.")
]
Variant = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="published: as printed, iterated until periodic; original: as the 2014 program."),
]
SettingsFile = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="TOML file for all else: vessels, inflow, fluid, trees, grid; see docs/understanding/pulmonary.md.",
    ),
]
SignalNames = Annotated[
    str,
    typer.Option(
        "--signals", metavar="NAMES", help="Only these, by comma: p_MPA,q_MPA (pressure or flow, and vessel)."
    ),
]
