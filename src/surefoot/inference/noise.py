"""The noise level of a waveform from the waveform alone: what a Fourier series of few harmonics leaves over.

The model is not used, so a model that does not fit shows as residuals larger than this estimate.
"""

from __future__ import annotations

import numpy as np

from surefoot.pulmonary.arrays import Floats

MIN_SAMPLES_TO_ESTIMATE = 24
_MAX_HARMONICS = 48  # of a pulse wave little is left beyond 20


def estimate_noise_sd(time_s: Floats, value: Floats, period_s: float) -> float:
    """Standard deviation of white noise on a periodic signal.

    Harmonics are added up to the number with the least BIC, at most a third of the values being spent on them.
    """
    n = value.size
    angle = 2.0 * np.pi * time_s / period_s
    scale = float(np.max(np.abs(value)))
    best, sd = np.inf, 0.0
    columns = [np.ones(n)]
    for k in range(1, min(_MAX_HARMONICS, n // 6) + 1):
        columns += [np.cos(k * angle), np.sin(k * angle)]
        basis = np.stack(columns, axis=1)
        coefficients = np.linalg.lstsq(basis, value / scale, rcond=None)[0]
        rss = float(np.sum((value / scale - basis @ coefficients) ** 2))
        p = basis.shape[1]
        bic = n * np.log(max(rss, 1e-30) / n) + p * np.log(n)
        if bic < best:
            best, sd = bic, scale * np.sqrt(rss / (n - p))
    return max(float(sd), 1e-9 * scale)
