"""What the engine asks of a space: points of the unit cube, and which of them are valid.

Names, units and kinds of parameters are the user's affair (surefoot.optimize.space); integers and categories come as
inputs that cannot move freely.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np


class Region(Protocol):
    """What is allowed of the unit cube, as far as a search by gradients asks."""

    @property
    def moving(self) -> np.ndarray:
        """(q,) inputs that a search may move."""

    @property
    def moves(self) -> np.ndarray:
        """(D, q) how all inputs move with each of those."""

    @property
    def straight(self) -> np.ndarray:
        """(k,) which margins are linear in the inputs that move."""

    def allowed(self, units: np.ndarray) -> np.ndarray:
        """Whether points (m, D) are allowed, (m,)."""

    def margins(self, unit: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Numbers (k,) at a point (D,), all of them >= 0 where it is allowed, and their derivatives (k, D)."""


class Domain(Protocol):
    """A space of d parameters, encoded as D inputs in the unit cube."""

    @property
    def d(self) -> int:
        """Parameters."""

    @property
    def n_inputs(self) -> int:
        """Inputs D: a category has several."""

    @property
    def free(self) -> np.ndarray:
        """(D,) inputs that may take any value in [0, 1]."""

    @property
    def is_continuous(self) -> bool:
        """Whether all are free."""

    @property
    def has_steps(self) -> bool:
        """Whether any parameter moves by steps: an integer or a category with several values."""

    @property
    def n_values(self) -> float:
        """Number of points; infinite if any input is free."""

    @property
    def pools(self) -> np.ndarray | None:
        """(k, D) the shares of k categories in their inputs; None where there is no category."""

    @property
    def region(self) -> Region | None:
        """What is allowed where that is less than the cube; all points that the domain makes are."""

    def from_uniform(self, uniforms: np.ndarray) -> np.ndarray:
        """Valid points (m, D) from uniform draws (m, d)."""

    def snap(self, units: np.ndarray) -> np.ndarray:
        """The nearest valid points (..., D)."""

    def neighbours(self, unit: np.ndarray) -> np.ndarray:
        """Points (m, D) one step away from a point (D,) in an input that is not free."""

    def all_points(self) -> Iterator[Any]:
        """All values of a finite space."""

    def encode(self, values: Any) -> np.ndarray:
        """The point (D,) of values."""

    def decode(self, unit: np.ndarray) -> Any:
        """The values at a point (D,)."""
