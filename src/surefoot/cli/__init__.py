"""The `surefoot` command: one file per subcommand; argument parsing and printing only."""

from surefoot.cli.app import main

__all__ = ["main"]
