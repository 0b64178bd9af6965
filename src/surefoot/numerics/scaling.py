"""Standardization of observed values: mean 0, standard deviation 1 over what succeeded, for any finite y."""

from __future__ import annotations

import numpy as np


def standardize(y: np.ndarray, ok: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Standardized y (R, n), 0 where not `ok`, and the shift and scale (R, 1): y = shift + scale * standardized.

    Works on y divided by its largest magnitude, so that squares neither overflow (1e300) nor vanish (1e-300).
    Constant values have scale 1 (or their magnitude): they standardize to 0.
    """
    y = np.where(ok, y, 0.0)
    largest = np.max(np.abs(y), axis=1, keepdims=True)
    largest = np.where(largest > 0.0, largest, 1.0)
    count = np.maximum(ok.sum(axis=1, keepdims=True), 1)
    scaled = y / largest
    mean = scaled.sum(axis=1, keepdims=True) / count
    centred = np.where(ok, scaled - mean, 0.0)
    sd = np.sqrt((centred * centred).sum(axis=1, keepdims=True) / count)
    # differences of a few 1e-16 of the magnitude are rounding of the mean, not data
    sd = np.where(sd > 1e-15, sd, 1.0)
    return centred / sd, mean * largest, sd * largest
