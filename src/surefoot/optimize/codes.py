"""Codes of categorical choices: rows of 0 and 1, one for each choice.

One-hot   Up to MAX_ONE_HOT choices: one column each, all exactly equally far apart.
Bits      Above, that many bits of a hash of the choice's place: any two differ in about half of them (mean 32, standard
          deviation 4). The engine's work grows with the columns, that of a fit faster than their number; with a
          thousand columns a suggestion took minutes, and no history of a realistic length can tell so many
          length scales apart.
"""

from __future__ import annotations

import functools
import hashlib

import numpy as np

MAX_ONE_HOT = 64


@functools.lru_cache(maxsize=64)
def codes(k: int) -> np.ndarray:
    """The codes of k choices, (k, min(k, MAX_ONE_HOT)), read-only; a choice's code depends on its place alone."""
    if k <= MAX_ONE_HOT:
        rows = np.eye(k)
    else:
        digests = [hashlib.sha256(str(i).encode()).digest()[: MAX_ONE_HOT // 8] for i in range(k)]
        rows = np.unpackbits(np.frombuffer(b"".join(digests), np.uint8).reshape(k, -1), axis=1).astype(float)
    rows.flags.writeable = False
    return rows
