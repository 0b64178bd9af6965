"""Point sets in the unit cube, and evenly spread normal numbers, drawn on the host from a given generator.

Shapes   (n, d), float64, in [0, 1); on faces of the cube 1 too.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np

from surefoot.backend import Array, like

Generators = tuple[np.random.Generator, ...]  # one per run
_EPS = 2.0**-33  # a Sobol sequence has 32 bits: 0 is one of its numbers


def generator(seed: int, run: int, iteration: int) -> np.random.Generator:
    """The random numbers of one iteration of one run: the same alone, in a batch, resumed, on any device."""
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence((seed, run, iteration))))


def draw(generators: Generators, make: Callable[[np.random.Generator], np.ndarray], reference: Array) -> Array:
    """make(generator) for every run, stacked (R, ...), as an array like `reference`."""
    return like(np.stack([make(rng) for rng in generators]), reference)


def latin_hypercube(n: int, d: int, rng: np.random.Generator) -> np.ndarray:
    """One point per row and per stratum of every input, uniform within its stratum."""
    strata = np.argsort(rng.random((n, d)), axis=0)
    return (strata + rng.random((n, d))) / n


def maximin_latin_hypercube(n: int, d: int, rng: np.random.Generator, n_tries: int = 20) -> np.ndarray:
    """The one of `n_tries` Latin hypercubes whose closest pair is farthest apart."""
    from scipy.spatial.distance import pdist

    designs = [latin_hypercube(n, d, rng) for _ in range(n_tries)]
    if n < 2:
        return designs[0]
    return max(designs, key=lambda x: float(pdist(x).min()))


def sobol(n: int, d: int, rng: np.random.Generator) -> np.ndarray:
    """The first n points of a scrambled Sobol sequence."""
    import warnings

    from scipy.stats import qmc  # slow to import, and needed by this design only

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The balance properties", category=UserWarning)
        return np.asarray(qmc.Sobol(d, scramble=True, rng=rng).random(n))


def kronecker(n: int, d: int, rng: np.random.Generator) -> np.ndarray:
    """A randomly shifted Kronecker lattice, x_k = frac(shift + k alpha): cheap and evenly spread.

    alpha_i = g^-i with g the root of g^(d+1) = g + 1, the generalized golden ratio (Roberts 2018).
    """
    g = 2.0
    for _ in range(40):
        g = (1.0 + g) ** (1.0 / (d + 1))
    alpha = g ** -np.arange(1.0, d + 1.0)
    return (rng.random(d) + np.arange(1.0, n + 1.0)[:, None] * alpha) % 1.0


def kronecker_with_faces(n: int, d: int, rng: np.random.Generator) -> np.ndarray:
    """A Kronecker lattice of which some points lie on faces of the cube, as minima do; up to 4 inputs its corners too.

    Each coordinate is moved to the nearer face with probability 1/11, but never all of a point: corners come once.
    """
    inner = kronecker(n, d, rng)
    stretched = np.clip(0.5 + 1.1 * (inner - 0.5), 0.0, 1.0)
    is_corner = ((stretched == 0.0) | (stretched == 1.0)).all(axis=1, keepdims=True)
    points = np.where(is_corner, inner, stretched)
    if d > 4:
        return points
    corners = np.asarray(list(itertools.product((0.0, 1.0), repeat=d)))
    return np.concatenate([points, corners])


def uniform(n: int, d: int, rng: np.random.Generator) -> np.ndarray:
    """Independent uniform points."""
    return rng.random((n, d))


Design = Callable[[int, int, np.random.Generator], np.ndarray]  # (n, d, random numbers) -> points
DESIGNS: dict[str, Design] = {
    "lhs": latin_hypercube,
    "maximin": maximin_latin_hypercube,
    "sobol": sobol,
    "uniform": uniform,
}


def even_normals(n: int, d: int, rng: np.random.Generator) -> np.ndarray:
    """Standard normal numbers (n, d) from a Sobol sequence: means of functions of few of the d converge faster."""
    from scipy.special import ndtri

    return np.asarray(ndtri(np.clip(sobol(n, d, rng), _EPS, 1.0 - _EPS)))
