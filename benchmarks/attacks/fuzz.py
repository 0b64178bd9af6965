"""Fuzzed input: thousands of malformed calls, files, command lines and studies, in processes that may die of them.

`python -m benchmarks.attacks.fuzz KIND SEED FIRST LAST FOLDER` tries inputs FIRST to LAST - 1, which depend on the seed
and their number alone, and keeps a journal: what is tried is written down before it is tried.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

from benchmarks.attacks import fuzz_api, fuzz_cli, fuzz_files, fuzz_optuna
from benchmarks.attacks.children import kill_marked, orphans, started, tail
from benchmarks.attacks.fuzz_api import Wrong
from benchmarks.attacks.tally import Finding, Tally

INPUT_S = 30.0  # an input that takes longer hangs
_DEAD_S = 90.0  # one that does not even notice the alarm
_MOST_DEATHS = 12

KINDS: dict[str, tuple[Callable[..., None], float]] = {  # and their share of the inputs
    "calls": (fuzz_api.try_one, 0.45),
    "history files": (fuzz_files.try_history, 0.15),
    "problem files": (fuzz_files.try_problem, 0.25),
    "command lines": (fuzz_cli.try_one, 0.07),
    "Optuna studies": (fuzz_optuna.try_one, 0.08),
}


class _Hung(BaseException):
    """An input took too long."""


def attack(kind: str, folder: Path, mark: str, seed: int, count: int, tally: Tally, seconds: float) -> None:
    """`count` inputs; a process that dies or hangs costs one of them, and the next process goes on."""
    folder.mkdir(parents=True)
    journal, first, deadline = folder / "journal", 0, time.monotonic() + seconds
    for _ in range(_MOST_DEATHS):
        if first >= count or time.monotonic() > deadline:
            break
        argv = [sys.executable, "-m", "benchmarks.attacks.fuzz", kind, str(seed), str(first), str(count), str(folder)]
        with started(argv, mark, folder, folder / "said.txt") as process:
            in_time = _watch(process, journal, deadline)
            kill_marked(mark)
        tried, found, last = read_journal(journal)
        if process.returncode != 0 and last is not None and (in_time or time.monotonic() < deadline):
            died = f"died with status {process.returncode} ({tail(folder / 'said.txt').strip()[-150:]})"
            found.append(Finding("raw" if in_time else "hung", last[1], died if in_time else "no end"))
        first = first + tried
        tally.add(tried, found)
        journal.unlink(missing_ok=True)
    tally.add(0, orphans(mark))
    if tally.tried < count:
        tally.notes.append(f"{tally.tried} of {count} inputs within the time")


def _watch(process: Any, journal: Path, deadline: float) -> bool:
    """Wait for the end; False if it had to be killed because the journal stands still or the time is over."""
    size, since = -1, time.monotonic()
    while process.poll() is None:
        now = journal.stat().st_size if journal.exists() else 0
        if now != size:
            size, since = now, time.monotonic()
        if time.monotonic() - since > _DEAD_S or time.monotonic() > deadline:
            process.kill()
            process.wait()
            return False
        time.sleep(0.2)
    return True


def read_journal(journal: Path) -> tuple[int, list[Finding], tuple[int, str] | None]:
    """How many inputs were begun, what was found, and the one that was not ended."""
    begun: dict[int, str] = {}
    ended, found = set(), []
    for text in journal.read_text().splitlines() if journal.exists() else []:
        word, i, *rest = json.loads(text)
        if word == "try":
            begun[i] = rest[0]
        elif word == "found":
            found.append(Finding(*rest))
        else:
            ended.add(i)
    open_ = [i for i in begun if i not in ended]
    return len(begun.keys() | ended), found, (open_[-1], begun[open_[-1]]) if open_ else None


# --- in the process


def _alarm(number: int, frame: FrameType | None) -> None:
    raise _Hung


def try_input(
    attempt: Callable[..., None], rng: random.Random, folder: Path, say: Callable[[str], None]
) -> tuple[str, str]:
    """What is wrong with one input: kind and words; empty if nothing is."""
    from surefoot.errors import SurefootError

    signal.signal(signal.SIGALRM, _alarm)
    signal.setitimer(signal.ITIMER_REAL, INPUT_S)
    try:
        attempt(rng, folder, say)
    except SurefootError as error:
        str(error).encode("utf-8", "replace")
    except Wrong as wrong:
        return wrong.kind, str(wrong)
    except _Hung:
        return "hung", f"no end after {INPUT_S:.0f} s"
    except BaseException as error:
        return "raw", f"{type(error).__name__}: {_words(error)}{_where(error)}"
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
    return "", ""


def _where(error: BaseException) -> str:
    """The innermost line of surefoot that it passed through; without one the attack is to blame."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [f for f in frames if "/surefoot/" in f.filename]
    return f" in {Path(ours[-1].filename).name}:{ours[-1].lineno}" if ours else " (the attack itself broke)"


def _words(error: BaseException) -> str:
    try:
        return str(error)[:150].encode("utf-8", "backslashreplace").decode()
    except BaseException:
        return "no words"


def main() -> None:
    """Try the inputs of one kind."""
    kind, seed, first, last, folder = (
        sys.argv[1],
        int(sys.argv[2]),
        int(sys.argv[3]),
        int(sys.argv[4]),
        Path(sys.argv[5]),
    )
    file = os.open(folder / "journal", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    warnings.simplefilter("ignore")
    place = folder / "files"
    place.mkdir(exist_ok=True)
    for i in range(first, last):
        latest = f"{kind} {i}"

        def say(text: str, i: int = i) -> None:
            nonlocal latest
            latest = text
            os.write(file, (json.dumps(["try", i, text[:400]]) + "\n").encode())

        wrong, what = try_input(KINDS[kind][0], random.Random(f"{seed}-{kind}-{i}"), place, say)
        if wrong:
            os.write(file, (json.dumps(["found", i, wrong, latest[:250], what]) + "\n").encode())
        os.write(file, (json.dumps(["done", i]) + "\n").encode())
    os._exit(0)  # threads of accepted calls need not be waited for


if __name__ == "__main__":
    main()
