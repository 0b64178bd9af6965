"""A thread that shows, every heartbeat, that this process lives, and looks whether others do.

It beats while the main thread is in a long suggestion or waits for its turn. Optuna's sessions are the thread's own.
"""

from __future__ import annotations

import threading
from contextlib import suppress

from surefoot.runs.claims import Claims
from surefoot.runs.ends import backend_of

_AGAIN_S = 1.0  # after a storage that did not answer


class Heart:
    """Beats while it is entered."""

    def __init__(self, claims: Claims) -> None:
        self._claims = claims
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="heart", daemon=True)

    def __enter__(self) -> Heart:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._stopped.set()
        self._thread.join(timeout=2.0)  # it may be waiting for the storage; it is a daemon

    def _run(self) -> None:
        pause = self._claims.heartbeat_s
        while not self._stopped.wait(pause):
            try:
                self._claims.beat()
                self._claims.watch()
                pause = self._claims.heartbeat_s
            except Exception:  # the main thread meets the same error, and reports it
                pause = min(_AGAIN_S, self._claims.heartbeat_s)
        with suppress(Exception):  # the storage may be closed
            backend_of(self._claims.study).remove_session()
