"""Assembles the subcommands; each lives in a file of its own and imports its heavy parts when it runs."""

import io
import sys

import typer
from rich.console import Console
from rich.markup import escape

import surefoot
from surefoot.cli import inference as _inference  # noqa: F401 - adds its commands to pulmonary's
from surefoot.cli import pulmonary, study
from surefoot.cli.add import add
from surefoot.cli.check import check
from surefoot.cli.dashboard import dashboard
from surefoot.cli.export import export
from surefoot.cli.forget import forget
from surefoot.cli.list import list_studies
from surefoot.cli.problems import problems
from surefoot.cli.report import report
from surefoot.cli.run import run
from surefoot.cli.show import show
from surefoot.errors import SurefootError

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # plain text: boxes take the room of words, and show the type of a flag
)
app.add_typer(pulmonary.app, name="pulmonary")
app.add_typer(study.app, name="study")


def _print_version(wanted: bool) -> None:
    if wanted:
        Console().print(f"surefoot {surefoot.__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: bool = typer.Option(
        False, "--version", callback=_print_version, is_eager=True, help="Print the version and exit."
    ),
) -> None:
    """Bayesian optimization for expensive simulators that crash.

    run, check, add, list, show, export, forget, report and dashboard are for problems of yours; the others repeat what
    the docs show.

    Example: surefoot run problem.toml

    What stands in a problem file: docs/howto/running.md. Every command has a --help with an example.
    """


app.command()(run)
app.command()(check)
app.command()(add)
app.command(name="list")(list_studies)
app.command()(show)
app.command()(export)
app.command()(forget)
app.command()(report)
app.command()(dashboard)
app.command()(problems)


def main() -> None:
    """Run the command line; errors made by the caller end in one line on stderr, not in a traceback."""
    if isinstance(sys.stdout, io.TextIOWrapper):  # names of files and reasons may hold bytes that are no text
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        app()
    except SurefootError as error:
        # not folded: what to try is often a command to copy
        Console(stderr=True).print(f"[red]error:[/red] {escape(str(error))}", highlight=False, soft_wrap=True)
        raise SystemExit(2) from None
