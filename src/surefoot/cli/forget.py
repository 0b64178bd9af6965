"""`surefoot forget`: take evaluations out of what a study learns and counts."""

from __future__ import annotations

import typer
from rich.console import Console

from surefoot.cli.options import Storage, StudyName


def forget(
    storage: Storage,
    which: list[str] = typer.Argument(
        metavar="NUMBERS|REASON…",
        help="Trials by number (3 5-9), or a part of their reason ('No such file', 'exit *').",
    ),
    undo: bool = typer.Option(False, "--undo", help="Count them again, and learn from them."),
    study: StudyName = "",
) -> None:
    """Take evaluations out of a study, and keep them stored.

    They teach nothing any more and do not count. Safe while a run goes on: it evaluates as many more.

    Example: surefoot forget stiffness.toml 'No such file'
    """
    from surefoot.runs.forget import forget as forget_trials
    from surefoot.runs.problem import storage_place
    from surefoot.runs.storage import load_study, opened

    with opened(storage_place(storage), write=True) as found:
        chosen = load_study(found, study or None)
        numbers = forget_trials(chosen, which, undo=undo)
    shown = ", ".join(_ranges(numbers))
    told = "no trial changed" if not numbers else f"counted again: {shown}" if undo else f"forgotten: {shown}"
    Console().print(told, markup=False, highlight=False, soft_wrap=True)


def _ranges(numbers: list[int]) -> list[str]:
    """1, 2, 3, 7 as 1-3, 7."""
    parts: list[list[int]] = []
    for number in numbers:
        if parts and parts[-1][-1] == number - 1:
            parts[-1] = [parts[-1][0], number]
        else:
            parts.append([number])
    return ["-".join(map(str, part)) for part in parts]
