"""Messages between processes: pickles, each after its length, through anything that carries bytes."""

from __future__ import annotations

import pickle
import struct
from typing import Any

_HEADER = struct.Struct("!Q")


def framed(thing: Any) -> bytes:
    """A message as bytes."""
    data = pickle.dumps(thing)
    return _HEADER.pack(len(data)) + data


class Messages:
    """Bytes come in pieces and leave as messages."""

    def __init__(self) -> None:
        self._data = bytearray()

    def add(self, piece: bytes) -> None:
        """The next piece."""
        self._data += piece

    def take(self) -> Any:
        """The next message; None if it is not whole yet (no message is None)."""
        if len(self._data) < _HEADER.size:
            return None
        end = _HEADER.size + _HEADER.unpack_from(self._data)[0]
        if len(self._data) < end:
            return None
        data = bytes(self._data[_HEADER.size : end])
        del self._data[:end]
        return pickle.loads(data)
