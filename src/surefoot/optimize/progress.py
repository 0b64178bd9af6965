"""A progress bar: how many of how many, what came of it, time left."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from importlib.util import find_spec
from types import TracebackType
from typing import Any, Self

import numpy as np

from surefoot.optimize.feasible import feasible
from surefoot.optimize.history import History


class Progress:
    """Shows nothing unless asked to; a bar if rich is installed (it is imported only then), a plain line if not."""

    def __init__(self, total: int, shown: bool, what: str = "evaluations") -> None:
        self._total, self._what = total, what
        self._bar: Any = None
        self._plain = shown and find_spec("rich") is None
        if shown and not self._plain:
            from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
            from rich.progress import Progress as Bar

            self._bar = Bar(
                TextColumn("{task.description}"),
                BarColumn(),
                MofNCompleteColumn(),
                TextColumn("{task.fields[state]}", markup=False),
                TimeRemainingColumn(),
            )
            self._task = self._bar.add_task(what, total=total, state="")

    def __enter__(self) -> Self:
        if self._bar is not None:
            self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()
        elif self._plain and sys.stderr.isatty():
            sys.stderr.write("\n")

    def update(self, history: History, outputs: Mapping[str, str]) -> None:
        """Show the state after another evaluation; `outputs` are the limits."""
        if self._bar is None and not self._plain:
            return
        ok, inside = history.ok, feasible(history, outputs)
        least = np.min if history.direction == "minimize" else np.max
        best = "nothing within the limits yet" if ok.any() and outputs else "no success yet"
        best = f"best {least(history.y[inside]):.6g}" if inside.any() else best
        failed = int((~ok).sum())
        self.show(len(history), best + (f", {failed} failed" if failed else ""))

    def show(self, done: int, state: str, total: int | None = None) -> None:
        """Show how much is done, and what is to be said of it; `total` if it has changed."""
        self._total = self._total if total is None else total
        if self._bar is not None:
            self._bar.update(self._task, completed=done, total=self._total, state=state)
        elif self._plain:
            line = f"{self._what} {done}/{self._total}  {state}"
            if sys.stderr.isatty():
                sys.stderr.write(f"\r{line}\x1b[K")
            elif done == self._total or done % max(1, self._total // 10) == 0:  # in a log: a line now and then
                sys.stderr.write(f"{line}\n")
            sys.stderr.flush()
