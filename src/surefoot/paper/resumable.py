"""Work in pieces that are written whole: a study that is killed goes on where it was."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import FIRST_COMPLETED, wait
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from surefoot.execute.pool import worker_pool

Case = TypeVar("Case")


def save_whole(path: Path, **arrays: Any) -> None:
    """Write the arrays under that name, or nothing at all."""
    part = path.with_suffix(f".{os.getpid()}.tmp")
    with part.open("wb") as file:
        np.savez_compressed(file, **arrays)
    os.replace(part, path)


def write_whole(path: Path, text: str) -> None:
    """Write the text under that name, or nothing at all."""
    part = path.with_suffix(f".{os.getpid()}.tmp")
    part.write_text(text, encoding="utf-8")
    os.replace(part, path)


def run_cases(run: Callable[[Case, Path], Any], todo: Sequence[Case], folder: Path, n_workers: int) -> Generator[Case]:
    """Call `run(case, folder)`, which skips what is done, for each; yields every case when its file is there.

    When it is interrupted, cases under way in other processes are finished and kept and no other is begun, if the
    generator is closed: `with closing(run_cases(...))`.
    """
    folder.mkdir(parents=True, exist_ok=True)
    if n_workers <= 1:
        for case in todo:
            run(case, folder)
            yield case
        return
    with worker_pool(n_workers) as pool:
        # No more is submitted than is running: an interrupt then waits for those and has nothing to call off.
        waiting = iter(todo)
        running = {pool.submit(run, case, folder): case for case in islice(waiting, n_workers)}
        while running:
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                done = running.pop(future)
                future.result()
                running.update((pool.submit(run, case, folder), case) for case in islice(waiting, 1))
                yield done
