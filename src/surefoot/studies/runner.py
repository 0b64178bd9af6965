"""Many cases, one file each: run what is not there yet, here or in several processes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path
from typing import TypeVar

C = TypeVar("C")


def run_all(todo: Sequence[C], folder: Path, n_workers: int, run: Callable[[C, Path], object]) -> Iterator[C]:
    """run(case, folder) for every case, in order; yields each when it is done.

    `run` returns at once for a case whose file is there, so a killed study goes on where it was.
    """
    folder.mkdir(parents=True, exist_ok=True)
    if n_workers <= 1:
        for case in todo:
            run(case, folder)
            yield case
        return
    # spawn: a forked child could inherit locks held by other threads of this process
    with ProcessPoolExecutor(n_workers, mp_context=get_context("spawn")) as pool:
        futures = {pool.submit(run, case, folder): case for case in todo}
        try:
            for future in as_completed(futures):
                future.result()
                yield futures[future]
        finally:  # Ctrl-C, or a case that raised: what has not begun is called off
            pool.shutdown(wait=False, cancel_futures=True)
