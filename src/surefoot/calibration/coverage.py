"""Do intervals hold what they promise? By the truth's rank in the posterior, uniform if the posterior is right."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from surefoot.calibration.box import Floats
from surefoot.calibration.result import Posterior


def ranks(posterior: Posterior, truth: Sequence[float]) -> Floats:
    """(d,): the share of draws below the truth, for each parameter."""
    return np.asarray(np.mean(posterior.samples < np.asarray(truth), axis=0))


def covered(rank: Floats, level: float) -> np.ndarray:
    """Whether the central interval of that level holds the truth of that rank."""
    tail = 0.5 * (1.0 - level)
    return np.asarray((rank >= tail) & (rank <= 1.0 - tail))
