"""`surefoot report`: a study, or a saved pulmonary inference, as one HTML file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import typer
from rich.console import Console

from surefoot.cli.options import StudyName


def report(
    source: str = typer.Argument(
        metavar="STORAGE",
        help="A SQLite file, postgresql://…, the problem file of a run, or a saved pulmonary inference (.json).",
    ),
    study: StudyName = "",
    out: Path | None = typer.Option(
        None, "--out", "-o", metavar="FILE", help="The HTML file; default: NAME.html here.", show_default=False
    ),
    title: str = typer.Option("", metavar="TEXT", help="Heading of the report; default: the study's name."),
    pdf: Path | None = typer.Option(
        None,
        metavar="FILE",
        help="Also print it to this PDF file, with a Chromium that is installed.",
        show_default=False,
    ),
) -> None:
    """Write the report of a study as one HTML file.

    It shows the best parameters, convergence, model, failures and settings, and needs no network. Of a pulmonary
    inference saved as JSON it is the report for a person who knows medicine.

    Example: surefoot report stiffness.db -o report.html
    """
    console = Console()
    with console.status("writing the report"):
        path = _inference(source, out, title) if source.endswith(".json") else _study(source, study, out, title)
        paths = [path]
        if pdf is not None:
            from surefoot.reports.pdf import print_pdf

            paths.append(print_pdf(path, pdf))
    for path in paths:
        console.print(f"report: {path}", markup=False, highlight=False, soft_wrap=True)


def _study(source: str, study: str, out: Path | None, title: str) -> Path:
    from surefoot.integrations.optuna_history import result_of
    from surefoot.reports.optimization import write_report
    from surefoot.runs.problem import storage_place
    from surefoot.runs.storage import load_study, opened
    from surefoot.runs.tables import trial_rows

    with opened(storage_place(source)) as storage:
        chosen = load_study(storage, study or None)
        result, name, rows = result_of(chosen), chosen.study_name, trial_rows(chosen)
    path = out or Path(f"{name.replace('/', '_')}.html")
    return write_report(result, path, title=title or name, warnings=warnings_of(rows))


def warnings_of(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """What is wrong with a study that looks healthy: points that are random because no suggestion could be made."""
    random = {row["number"]: row["fallback"] for row in rows if row.get("fallback")}
    if not random:
        return []
    number, why = next(iter(random.items()))
    what = f"{len(random)} evaluations are random points" if len(random) > 1 else "1 evaluation is a random point"
    return [
        f"{what}, because the model could make no suggestion "
        f"(evaluation {number}: {why}). They say nothing of how well the optimization works."
    ]


def _inference(source: str, out: Path | None, title: str) -> Path:
    from surefoot.inference.result import Inference
    from surefoot.reports.pulmonary import write_report
    from surefoot.reports.pulmonary.document import TITLE
    from surefoot.runs.saved import refuse_saved_run

    refuse_saved_run(Path(source), "a storage, or a saved inference")
    inference = Inference.load(source)
    return write_report(inference, out or Path(f"{Path(source).stem}.html"), title=title or TITLE)
