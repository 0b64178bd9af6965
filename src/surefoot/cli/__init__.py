"""The `surefoot` command: one file per subcommand; argument parsing and printing only."""

import sys

__all__ = ["main"]


def main() -> None:
    """Run the command line, or say what to install for it: the library alone needs neither typer nor rich."""
    try:
        from surefoot.cli.app import main as run
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("typer", "rich"):
            raise
        sys.stderr.write(
            f"error: expected {error.name} for the command line; it is not installed; "
            "try pip install 'surefoot[run]' (or [cli], which has all but studies in a storage)\n"
        )
        raise SystemExit(2) from None
    run()
