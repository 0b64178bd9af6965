"""Random command lines, in this process and in real ones."""

from __future__ import annotations

import os
import random
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.attacks.fuzz_api import Wrong

PASSWORD = "hunter2"  # must never be shown
_REAL = 0.04  # the share that runs in a process of its own
_PROBLEM = """\
n_evals = 2
n_init = 2
[parameters]
a = {low = 0.0, high = 1.0}
[objective]
command = ["/bin/echo", "{a}"]
"""
_READING = ("list", "show", "export", "report")
_OPTIONS = [
    "--help", "--version", "--dry-run", "--workers", "--storage", "--study", "--trial", "-o", "--output", "--out",
    "--title", "--dask", "--bogus", "--", "-", "-x", "",
]  # fmt: skip
_WORDS = [
    "0", "1", "-1", "1.5", "nan", "99999999999999999999", "x", "ü", "p", "trials.csv", "trials.json", "trials.xyz",
    "nowhere/trials.csv", "BRA", "NOPE", "[red]", "a" * 5000, "a\nb", "%s", "~", "tcp://127.0.0.1:1",
]  # fmt: skip
_PLACES = [
    "p.toml", "p.toml", "bad.toml", "study.db", "study.db", "foreign.db", "foreign.db", "text.db", "empty.db", ".",
    "missing.db", "missing.toml", "sqlite:///study.db", "sqlite://", "sqlite:///", ":memory:", "://", "x://y",
    "a" * 300 + ".db",
]  # fmt: skip
_ADDRESSES = [
    f"mysql://u:{PASSWORD}@127.0.0.1/x", f"postgresql://u:{PASSWORD}@127.0.0.1:port/x", f"postgresql://u:{PASSWORD}@[/x",
    f"postgresql:// u:{PASSWORD}@127.0.0.1:1/x",
]  # fmt: skip
_SLOW_ADDRESSES = [f"postgresql://u:{PASSWORD}@127.0.0.1:1/x", f"postgresql://127.0.0.1:1/x?user=u&password={PASSWORD}"]


def try_one(rng: random.Random, folder: Path, say: Callable[[str], None]) -> None:
    """One command line."""
    os.chdir(folder)
    _prepare(folder)
    arguments = _arguments(rng)
    say("surefoot " + " ".join(map(repr, arguments))[:300])
    foreign = (folder / "foreign.db").read_bytes()
    if rng.random() < _REAL and not any("\0" in a for a in arguments):
        said = _in_a_process(arguments, folder)
    else:
        said = _here(arguments)
    if PASSWORD in said:
        raise Wrong("raw", "a password was printed")
    reads = arguments[:1] and (arguments[0] in _READING or "--dry-run" in arguments)
    if reads and (folder / "foreign.db").read_bytes() != foreign:
        raise Wrong("raw", "a command that only reads changed a database of somebody else")


def _arguments(rng: random.Random) -> list[str]:
    commands = ["run", "list", "show", "export", "report", "problems", "study", "pulmonary", "dashboard", "x", ""]
    command = rng.choices(commands, [6, 3, 4, 4, 3, 2, 1, 1, 1, 1, 1])[0]
    if command in ("study", "pulmonary", "dashboard"):  # what would run for minutes, or serve, is only asked wrongly
        return [command, rng.choice(["--help", "--bogus", "nothing", "benchmark"]), rng.choice(["--help", "--bogus"])]
    addresses = [*_PLACES, *_ADDRESSES] if command != "run" else _PLACES  # a run is named by its problem file
    place = rng.choice(_SLOW_ADDRESSES) if rng.random() < 0.02 and command != "run" else rng.choice(addresses)
    arguments = [command, *([rng.choice(["BRA", "NOPE", "x"])] if command == "problems" else [place])]
    for _ in range(rng.randint(0, 3)):
        option = rng.choice(_OPTIONS)
        arguments.append(option)
        if option == "--storage":
            arguments.append(rng.choice([*_PLACES, *_ADDRESSES]))
        elif option in ("--out", "--output", "-o"):
            arguments.append(rng.choice([*_PLACES, *_WORDS]))
        elif rng.random() < 0.7:
            arguments.append(rng.choice(_WORDS))
    if command == "run" and rng.random() < 0.5:
        arguments.append("--dry-run")
    return [a for a in arguments if a != "--pdf"]


def _prepare(folder: Path) -> None:
    """The files that command lines name; what an earlier one changed is mended."""
    if not (folder / "p.toml").exists():
        (folder / "p.toml").write_text(_PROBLEM)
        (folder / "bad.toml").write_text("[parameters\n")
        _here(["run", "p.toml", "--storage", "study.db"])
        (folder / "text.db").write_text("this is no database\n" * 100)
    (folder / "empty.db").write_bytes(b"")
    for name in ("foreign.db", "foreign.db-wal", "foreign.db-shm"):
        (folder / name).unlink(missing_ok=True)
    with sqlite3.connect(folder / "foreign.db") as connection:
        connection.execute("CREATE TABLE mine (x)")
        connection.execute("INSERT INTO mine VALUES (1)")
    connection.close()


def _here(arguments: list[str]) -> str:
    """Run it in this process; what it said. Raises what it raised, unless that was an exit."""
    from typer.testing import CliRunner

    from surefoot.cli.app import app
    from surefoot.errors import SurefootError

    result: Any = CliRunner().invoke(app, arguments)
    said = result.output
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        said += str(result.exception)
        if PASSWORD in said:
            raise Wrong("raw", "a password was printed")
        if not isinstance(result.exception, SurefootError):
            raise result.exception
    return str(said)


def _in_a_process(arguments: list[str], folder: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "surefoot", *arguments],
        cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", check=False, timeout=60,
    )  # fmt: skip
    if "Traceback (most recent call last)" in done.stderr or done.returncode not in (0, 1, 2):
        last = (done.stderr.strip().splitlines() or ["nothing"])[-1]
        raise Wrong("raw", f"a real process ended with status {done.returncode}: {last[:200]}")
    return done.stdout + done.stderr
