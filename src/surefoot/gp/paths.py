"""Random features of a stationary kernel: functions drawn from its prior, and noise beside them.

Shapes    points (R, m, d) divided by the length scales; functions (R, m, S).
"""

from __future__ import annotations

import math
from collections.abc import Callable

from surefoot.backend import Array, like, namespace
from surefoot.gp.kernels import STRETCH, Kernel
from surefoot.numerics.designs import Generators, draw

N_FEATURES = 500


def _inputs(sums: float, d: int) -> list[list[float]]:
    """What the frequencies (D, d) of one run are multiplied with: a share of them is of one input each."""
    n, alone = round(sums * N_FEATURES), math.sqrt(STRETCH * d)
    return [[alone * (i == k % d) if k < n else 1.0 for i in range(d)] for k in range(N_FEATURES)]


def random_features(
    kernel: Kernel, X: Array, generators: Generators, n_samples: int
) -> tuple[Callable[[Array], Array], Array]:
    """S functions of every run, of variance 1, and standard normal noise (R, n, S) at the points X (R, n, d)."""
    R, n, d = X.shape
    D, S = N_FEATURES, n_samples
    xp = namespace(X)
    frequencies = draw(generators, lambda rng: rng.standard_normal((D, d)), X)
    # Student's t is a normal over the root of a chi^2; drawn for every kernel, so that all draw alike
    tails = [each.tail for each in kernel.of_runs or (kernel,) * R]
    freedom = [tail if math.isfinite(tail) else 5.0 for tail in tails]
    chi2 = like([rng.chisquare(k, (D, 1)) for rng, k in zip(generators, freedom, strict=True)], X)
    is_t = like([[[math.isfinite(tail)]] for tail in tails], X)
    frequencies = xp.where(is_t, frequencies / xp.sqrt(chi2 / like(freedom, X)[:, None, None]), frequencies)
    if kernel.has_sums:
        frequencies = frequencies * like([_inputs(each.sums, d) for each in kernel.of_runs or (kernel,) * R], X)
    phases = draw(generators, lambda rng: rng.uniform(0.0, 2.0 * math.pi, (1, D)), X)
    weights = draw(generators, lambda rng: rng.standard_normal((D, S)), X)
    noise = draw(generators, lambda rng: rng.standard_normal((n, S)), X)

    def functions(scaled: Array) -> Array:
        angle = scaled @ xp.matrix_transpose(frequencies) + phases
        return math.sqrt(2.0 / D) * xp.cos(angle) @ weights

    return functions, noise
