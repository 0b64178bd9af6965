"""Ctrl-C once: start nothing more. Twice, or SIGTERM: stop now. A third time: as if we had never listened."""

from __future__ import annotations

import signal
import threading
from types import FrameType
from typing import Any


class Signals:
    """While it is entered (by the main thread; elsewhere it does nothing), keeps what the user asked for."""

    def __init__(self) -> None:
        self._count = 0
        self._terminated = False
        self._previous: dict[int, Any] = {}

    @property
    def told(self) -> str:
        """How the user asked, for people."""
        return "by SIGTERM" if self._terminated else "from the keyboard"

    @property
    def terminated(self) -> bool:
        """Whether SIGTERM came: batch systems send it to all processes of a job."""
        return self._terminated

    @property
    def finish(self) -> bool:
        """Start nothing more."""
        return self._count >= 1

    @property
    def now(self) -> bool:
        """Stop what runs."""
        return self._count >= 2

    def __enter__(self) -> Signals:
        if threading.current_thread() is threading.main_thread():
            for sig in (signal.SIGINT, signal.SIGTERM):
                self._previous[sig] = signal.signal(sig, self._handle)
        return self

    def __exit__(self, *error: object) -> None:
        for sig, handler in self._previous.items():
            signal.signal(sig, handler)

    def _handle(self, sig: int, frame: FrameType | None) -> None:
        # only remembered: whatever was interrupted, a write to the terminal say, must not be entered again
        self._terminated = self._terminated or sig == signal.SIGTERM
        self._count = max(self._count + 1, 2 if sig == signal.SIGTERM else 1)
        if self._count == 2:
            for number, handler in self._previous.items():
                signal.signal(number, handler)
