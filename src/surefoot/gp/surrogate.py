"""What the engine asks of a fitted model: the seam behind which the exact Gaussian process is the first.

A surrogate holds R models at once, one for each run of a batch. The searches and the policies know nothing else of it.
`docs/howto/extending.md` adds one in a file of its own.
Shapes    x (R, m, d) in the unit cube; mu, sd (R, m); gradients (R, m, d).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, Self

from surefoot.backend import Array
from surefoot.gp.hyperparameters import Evidence
from surefoot.gp.kernels import Kernel
from surefoot.gp.likelihood import Data
from surefoot.gp.priors import Prior
from surefoot.numerics.designs import Generators


class Bounds(Protocol):
    """Moments of many candidates: mu, and an upper bound of sd that comes down round by round."""

    @property
    def mu(self) -> Array:
        """(R, m) means of those that are left."""

    @property
    def sd(self) -> Array:
        """(R, m) upper bounds of their standard deviations."""

    @property
    def index(self) -> Array:
        """(R, m) their places among all candidates."""

    @property
    def is_exact(self) -> bool:
        """Whether the bounds have reached the standard deviations."""

    def tighten(self) -> None:
        """Bring the bounds down by one round."""

    def keep(self, columns: Array) -> None:
        """Go on with these candidates (R, k) only."""

    def exact(self, columns: Array) -> tuple[Array, Array]:
        """mu and sd of some candidates (R, k)."""


class Surrogate(Protocol):
    """R fitted models over the unit cube."""

    @property
    def X(self) -> Array:  # noqa: N802  (the points' name everywhere)
        """(R, n, d) the points of its data, those outside their mask too."""

    @property
    def rates(self) -> Array:
        """(R, d) how fast it varies along each input: one over a length scale, 0 where an input does not matter."""

    @property
    def noise(self) -> Array:
        """(R,) variance of the noise that it sees in its values."""

    def moments(self, x: Array) -> tuple[Array, Array]:
        """mu and sd of the function, without noise, at x."""

    def moments_and_gradients(self, x: Array) -> tuple[Array, Array, Array, Array]:
        """mu, sd and their gradients in x."""

    def fitted(self, y: Array) -> Array:
        """mu at the points of the values y (R, n) that it was conditioned on."""

    def bounds(self, x: Array) -> Bounds | None:
        """Cheap bounds of sd for screening; None: there are none that pay."""

    def sample_paths(self, x: Array, generators: Generators, n_samples: int) -> Array:
        """Values at x of functions drawn from the posterior, (R, m, n_samples)."""

    def add_points(self, x: Array, y: Array | None = None) -> Self:
        """The model after e more points x (R, e, d); without y they are believed to return the present mean."""

    def select(self, runs: Array | slice | None) -> Self:
        """The models of some runs only (None: all)."""


@dataclass(frozen=True)
class Question:
    """What a family of surrogates is asked to fit to."""

    data: Data
    kernel: Kernel
    estimate_noise: bool
    prior: Prior
    n_history: int  # evaluations so far, of which the data may be a part


@dataclass(frozen=True)
class Family:
    """A kind of surrogate: how its hyperparameters are judged, and how it is conditioned on data given them."""

    name: str
    evidence: Callable[[Question], Evidence]
    condition: Callable[[Data, Array, Kernel], Surrogate]
    n_hyperparameters: Callable[[int], int]  # of d inputs
