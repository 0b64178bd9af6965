"""Pools of worker processes that leave Ctrl-C to their parent and do not outlive it."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing.connection import wait
from typing import Any


def worker_pool(n_workers: int, prepare: Callable[..., None] | None = None, *args: Any) -> ProcessPoolExecutor:
    """Processes started afresh: a fork would inherit locks, and cannot use a GPU. Each calls `prepare(*args)` first."""
    context = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(n_workers, mp_context=context, initializer=_begin, initargs=(prepare, args))


def _begin(prepare: Callable[..., None] | None, args: tuple[Any, ...]) -> None:
    # Ctrl-C reaches the whole process group: a worker that died of it would take its half-finished work with it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # A pool's workers hold both ends of its pipes: killed with -9, the parent would leave them waiting for ever.
    threading.Thread(target=_end_with_the_parent, daemon=True).start()
    if prepare is not None:
        prepare(*args)


def _end_with_the_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)
