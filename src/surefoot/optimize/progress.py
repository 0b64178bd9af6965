"""A progress bar: evaluations done, best value, failures, time left."""

from __future__ import annotations

from types import TracebackType
from typing import Any

import numpy as np

from surefoot.errors import MissingExtraError
from surefoot.optimize.history import History


class Progress:
    """Shows nothing unless asked to; rich is imported only then."""

    def __init__(self, total: int, shown: bool) -> None:
        self._bar: Any = None
        if shown:
            try:
                from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
                from rich.progress import Progress as Bar
            except ImportError as error:
                raise MissingExtraError(
                    "expected rich for a progress bar; it is not installed; try pip install rich, or progress=False"
                ) from error

            self._bar = Bar(
                TextColumn("{task.description}"),
                BarColumn(),
                MofNCompleteColumn(),
                TextColumn("{task.fields[best]}"),
                TimeRemainingColumn(),
            )
            self._task = self._bar.add_task("evaluations", total=total, best="")

    def __enter__(self) -> Progress:
        if self._bar is not None:
            self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def update(self, history: History) -> None:
        """Show the state after another evaluation."""
        if self._bar is None:
            return
        ok = history.ok
        least = np.min if history.direction == "minimize" else np.max
        best = f"best {least(history.y[ok]):.6g}" if ok.any() else "no success yet"
        failed = int((~ok).sum())
        self._bar.update(self._task, completed=len(history), best=best + (f", {failed} failed" if failed else ""))
