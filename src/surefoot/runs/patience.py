"""What is done when the storage does not answer: wait, say what for, go on or end with an error of ours."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from optuna.exceptions import StorageInternalError
from sqlalchemy.exc import SQLAlchemyError

from surefoot.errors import StorageLostError
from surefoot.runs.locks import lock_holder
from surefoot.runs.sqlite_file import DAMAGED, is_damaged
from surefoot.runs.storage import message_of

PATIENCE_S = 600.0
_LOOK_S = 0.2  # how soon a signal is heard
T = TypeVar("T")


class Patience:
    """Does things with the storage, again and again while it cannot: a lost connection, a full disk, a lock pass."""

    def __init__(
        self, place: str, say: Callable[[str], None], stop: Callable[[], bool], patience_s: float = PATIENCE_S
    ) -> None:
        self._place = place
        self._patience_s = patience_s
        self._say = say
        self._stop = stop

    def __call__(self, operation: Callable[[], T]) -> T:
        """Its result; StorageLostError after `patience_s`, or as soon as the user wants to stop."""
        start = time.monotonic()
        for attempt in range(10**9):
            try:
                found = operation()
            except (StorageInternalError, SQLAlchemyError) as error:
                told = message_of(error)
                if is_damaged(told):
                    raise StorageLostError(f"expected a storage that can be read; got {told}; {DAMAGED}") from error
                if "locked" in told:
                    told += lock_holder(self._place)
                if attempt == 0:
                    self._say(f"waiting for the storage, which does not answer ({told}); Ctrl-C twice stops")
                waited = time.monotonic() - start
                if waited > self._patience_s or self._stop():
                    raise StorageLostError(
                        f"expected the storage to answer; got {told} for {waited:.0f} s; "
                        "try freeing disk space, ending what holds the lock or starting the server, "
                        "then run again to continue"
                    ) from error
                self._pause(min(0.1 * 2 ** min(attempt, 6), 5.0))
            else:
                if attempt:
                    self._say(f"the storage answers again, after {time.monotonic() - start:.0f} s")
                return found
        raise AssertionError("not reached")

    def _pause(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        while time.monotonic() < end and not self._stop():
            time.sleep(max(0.0, min(_LOOK_S, end - time.monotonic())))
