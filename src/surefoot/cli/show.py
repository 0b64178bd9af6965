"""`surefoot show`: one study, or one of its trials with everything it printed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from surefoot.cli.options import Storage, StudyName

if TYPE_CHECKING:
    from optuna.study import Study


_WIDE = 10_000  # columns of a pipe: nothing is folded


def show(
    storage: Storage,
    study: StudyName = "",
    trial: int | None = typer.Option(
        None,
        "--trial",
        min=0,
        metavar="NUMBER",
        help="Show this one, with all digits and all it printed.",
        show_default=False,
    ),
) -> None:
    """Show the trials of a study, and what was found.

    In a terminal the table fits its width; piped, it has all digits and all text. With --trial it is one of them, with
    all it printed.

    Example: surefoot show stiffness.db --trial 17
    """
    from surefoot.runs.problem import storage_place
    from surefoot.runs.storage import load_study, opened

    console = Console()
    with opened(storage_place(storage)) as found:
        chosen = load_study(found, study or None)
        if trial is not None:
            _show_trial(chosen, trial, console)
        else:
            _show_study(chosen, console)


def _show_study(study: Study, console: Console) -> None:
    from surefoot.cli.trials import fitted, whole
    from surefoot.integrations.optuna_history import STUDY, result_of, trials_of
    from surefoot.runs.progress import final_table
    from surefoot.runs.same_inputs import told_of_same
    from surefoot.runs.tables import trial_rows

    rows = trial_rows(study)
    if not rows:
        console.print("no trials yet")
        return
    for line in fitted(rows, console.width) if console.is_terminal else whole(rows):
        console.print(line, markup=False, highlight=False, soft_wrap=True)
    about = study.user_attrs.get(STUDY) or {}
    if len(study.directions) == 1 and any(row["status"] in ("ok", "failed", "transient", "pruned") for row in rows):
        result = result_of(study)
        console.print()
        same = told_of_same(trials_of(study))
        table = final_table(result, escape(study.study_name), about.get("n_evals") or result.nfev, also=same)
        (console if console.is_terminal else Console(width=_WIDE)).print(table)


def _show_trial(study: Study, number: int, console: Console) -> None:
    from surefoot.integrations.optuna_history import OUTPUT
    from surefoot.runs.tables import find_trial, output_of, trial_rows

    found = find_trial(study, number)
    table = Table(show_header=False, box=None, pad_edge=False)
    table.add_column(no_wrap=True, style="bold")
    table.add_column(overflow="fold")
    row = next(row for row in trial_rows(study) if row["number"] == number)
    for name, value in row.items():
        if value not in (None, ""):
            table.add_row(escape(name), escape(repr(value) if isinstance(value, float) else str(value)))
    console.print(table)
    if OUTPUT not in found.user_attrs:
        console.print("\nwhat it printed is not known: it has not ended, or was not evaluated by surefoot run")
        return
    for stream, (text, whole) in output_of(found).items():
        kept = "" if whole or not text else " (its end; the whole is on the machine that evaluated it)"
        console.print(f"\n--- {stream}{kept}{'' if text else ': empty'}", highlight=False)
        if text:
            console.print(text.rstrip("\n"), markup=False, highlight=False, soft_wrap=True)
