"""37 crash regions of known shape in the unit cube, in two halves: choices are made on "dev", "held" only judges them.

The halves were drawn up before any model was fitted. Published limits are those of the failures study; "small box" and
"round its optimum": in a smaller box than published, so that 20 to 100 labels hold both kinds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.crash_model import shapes
from benchmarks.crash_model.shapes import Causes, Struck
from surefoot.paper.studies.failures.constrained import get_constrained


@dataclass(frozen=True)
class Region:
    """Where something fails, and why; `noise`: the probability with which any point fails besides, at random."""

    name: str
    d: int
    causes: Causes
    half: str
    noise: float = 0.0

    def kinds(self, x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """The position (n,) of the first cause that strikes each point; -1: none. Random failures come last."""
        struck = list(self.causes(x).values())
        if self.noise:
            struck.append(rng.random(len(x)) < self.noise)
        hit = np.stack(struck)
        return np.where(hit.any(axis=0), np.argmax(hit, axis=0), -1)


def _of_study(name: str, box: Sequence[tuple[float, float]] = ()) -> Causes:
    """The limits of a problem of the study, in its box or another."""
    problem = get_constrained(name)
    low, high = np.asarray(box or problem.base.bounds).T

    def causes(x: np.ndarray) -> Struck:
        with np.errstate(all="ignore"):
            return {cause: ~(excess <= 0.0) for cause, excess in problem.excess(low + x * (high - low)).items()}

    return causes


def _first(name: str, box: Sequence[tuple[float, float]], k: int) -> Causes:
    """The first k limits only."""
    all_of_them = _of_study(name, box)
    return lambda x: dict(list(all_of_them(x).items())[:k])


_BEAM = [(0.1, 2.0), (0.1, 10.0), (0.1, 10.0), (0.1, 2.0)]
_CORNER = [1, 1, 1, 1, 0.5, 0.5, 0.5, 0, 0, 0]

REGIONS = (
    Region("spring", 3, _of_study("spring"), "dev"),
    Region("vessel", 4, _of_study("pressure vessel"), "dev"),
    Region("three-bar truss", 2, _of_study("three-bar truss"), "dev"),
    Region("g04", 5, _of_study("g04"), "dev"),
    Region("g09", 7, _of_study("g09"), "dev"),
    Region("g24", 2, _of_study("g24"), "dev"),
    Region("g07 round its optimum", 10, _of_study("g07"), "dev"),
    Region("half-space", 5, shapes.half_space([1, 0.8, 0.6, 0.4, 0.2], 0.0), "dev"),
    Region("ball fails", 6, shapes.ball(0.7, inside_fails=True), "dev"),
    Region("atoms", 6, shapes.atoms, "dev"),
    Region("diagonal of 5", 5, shapes.diagonal, "dev"),
    Region("step in one of 10", 10, lambda x: {"step": x[:, 7] > 0.7}, "dev"),
    Region("two planes", 4, shapes.two_planes, "dev"),
    Region("ragged", 2, shapes.ragged, "dev"),
    Region("random 20 %", 4, lambda x: {"never": np.zeros(len(x), bool)}, "dev", 0.2),
    Region("slab", 8, shapes.slab([1, -1, 1, -1, 0.5, 0.5, 0, 0], -0.35, 0.25), "dev"),
    Region("rare failures: corner", 8, lambda x: {"corner": (x[:, 0] > 0.75) & (x[:, 3] > 0.75)}, "dev"),
    Region("welded beam, small box", 4, _of_study("welded beam", _BEAM), "held"),
    Region("speed reducer", 7, _of_study("speed reducer"), "held"),
    Region("cantilever", 5, _of_study("cantilever"), "held"),
    Region("g06, small box", 2, _of_study("g06"), "held"),
    Region("g08", 2, _of_study("g08"), "held"),
    Region("g07 linear", 10, _first("g07", [(-10.0, 10.0)] * 10, 3), "held"),
    Region("g12", 3, shapes.g12, "held"),
    Region("Gramacy", 2, _of_study("Gramacy"), "held"),
    Region("Townsend", 2, shapes.townsend, "held"),
    Region("tube bundle", 5, shapes.tube_bundle, "held"),
    Region("shell", 4, shapes.shell([0.4] * 4, 0.35, 0.7), "held"),
    Region("ball succeeds", 4, shapes.ball(0.35, inside_fails=False, centre=0.6), "held"),
    Region("two causes", 6, shapes.two_causes, "held"),
    Region("checker", 2, shapes.checker, "held"),
    Region("ragged in 4", 4, shapes.ragged_in_4, "held"),
    Region("half-space + random 20 %", 3, shapes.half_space([1, 0.5, -0.5], 0.1), "held", 0.2),
    Region("mixed steps", 5, shapes.mixed_steps, "held"),
    Region("x > 8 of 10", 5, lambda x: {"x > 8": x[:, 0] > 0.8}, "held"),
    Region("rare failures: half-space", 10, shapes.half_space(_CORNER, 1.0), "held"),
    Region("valley", 2, shapes.valley, "held"),
)
