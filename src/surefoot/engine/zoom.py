"""A zoom: with limits on outputs, one suggestion of three sees the neighbourhood of the best evaluation alone.

Why       Where objective or limits bend anew at every scale, no process of all evaluations is right beside the best
          one. That of its nearest neighbours need be right among them only.
Box       A cube round the best feasible evaluation, in the inputs that are free, out to one of its nearest neighbours:
          it shrinks as evaluations gather there, and grows when a better one is found at its rim. The engine sees it
          as its unit cube.
Model     Of the nearest evaluations, fitted afresh with the first kernel.
Failures  P(success) is that of all evaluations.
Ordinary  is a step where any process sees noise, while a point that is under way lies in the box, and where neighbours
          are far or all on one spot.
Shapes    as in batch.py; p inputs are free; of one run.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from surefoot.acquisition.weight import Weight
from surefoot.backend import Array, like, namespace, to_host
from surefoot.engine.batch import Batch
from surefoot.engine.domain import Domain, Region
from surefoot.engine.limits import MATERIAL_NOISE
from surefoot.engine.model import Model
from surefoot.engine.spec import ModelSpec
from surefoot.gp.probability import Bounded, Probability

EVERY = 3  # one step of so many is a zoom: the second of the default policy's two steps of EI
SEEN, OUT_TO = 4, 2  # times p + 1: neighbours that the model sees, at least, and that the box reaches out to
QUADRATIC = 1.5  # as many of them for each coefficient of a quadratic function, at least
_LEAST, _MOST = 1e-7, 0.1  # half a side of the box, in units of the cube
_MOST_SEEN = 100  # evaluations, of 10 inputs: fits of more cost too much
_HALVINGS = 6  # of the way to a candidate that is not allowed
_WARPS, _STARTS = (0, 2, 4), 2  # levels that compete, and starts of searches: fewer than for all evaluations


@dataclass(frozen=True)
class Zoom:
    """The neighbourhood of one evaluation of one run."""

    domain: Box
    batch: Batch

    def spec(self, spec: ModelSpec) -> ModelSpec:
        """How its model is made."""
        warps = tuple(level for level in spec.warps if level in _WARPS) or (0,)
        kernels = spec.kernels[:1]
        return replace(spec, warps=warps, kernels=kernels, n_optimized=_STARTS, failures=None)

    def success(self, weight: Weight | None) -> Weight | None:
        """P(success) of all evaluations, seen in the box."""
        return None if weight is None else replace(weight, of=_Magnified(weight.of, self.domain))


def zooms(spec: ModelSpec, number: int) -> bool:
    """Whether the step after so many points is a zoom, where there is one."""
    turn = bool(spec.limits) and (number - spec.n_init) % EVERY == 1
    return turn and spec.search.is_exact and not spec.has_known_noise and not spec.imputes


def sees_noise(model: Model) -> bool:
    """Whether values of the objective or of an output that is limited differ without a reason."""
    within = None if model.outputs is None else model.outputs.within
    noisy = within is not None and bool((to_host(within.surrogate.noise) > MATERIAL_NOISE).any())
    return noisy or bool(model.noisy.any())


def zoom_of(domain: Domain, batch: Batch, model: Model) -> Zoom | None:
    """The zoom of one run, with the model of all its evaluations; None: there is none."""
    inputs = np.flatnonzero(domain.free)
    if not len(inputs) or batch.outputs is None or model.outputs is None:
        return None
    counts = batch.ok[0] & np.isfinite(batch.outputs[0]).all(axis=0)
    feasible = model.outputs.feasible[0] & counts
    if batch.allowed is not None:
        feasible &= batch.allowed[0]
    if not feasible.any():
        return None
    x = batch.X[0, int(np.argmin(np.where(feasible, batch.y[0], np.inf)))]
    alike, seen = _alike(batch.X[0], x, domain.free), seen_of(len(inputs))
    if seen > _MOST_SEEN or int((counts & alike).sum()) < seen:
        return None
    far = np.where(counts & alike, np.abs(batch.X[0] - x)[:, inputs].max(axis=1), np.inf)
    near = np.argsort(far, kind="stable")[:seen]
    half = float(far[near[OUT_TO * (len(inputs) + 1)]])
    if not _LEAST <= half <= _MOST:
        return None
    box = Box(domain, x, inputs, np.clip(x[inputs] - half, 0.0, 1.0 - 2.0 * half), 2.0 * half)
    under_way = batch.pending[0][_alike(batch.pending[0], x, domain.free)]
    return None if box.holds(under_way).any() else Zoom(box, box.seen(batch, np.sort(near), np.flatnonzero(alike)))


def seen_of(p: int) -> int:
    """Evaluations that a model of p inputs sees."""
    return max(SEEN * (p + 1), math.ceil(QUADRATIC * (p + 1) * (p + 2) / 2))


def _alike(X: np.ndarray, x: np.ndarray, free: np.ndarray) -> np.ndarray:
    """Which points (n, D) agree with x in the inputs that are not free."""
    return np.asarray((np.abs(X - x)[:, ~free] < 1e-9).all(axis=1))


@dataclass(frozen=True)
class Box:
    """A part of a domain as if it were the unit cube: the free inputs between limits, the others held."""

    of: Domain
    x: np.ndarray  # (D,) the held inputs are those of x
    inputs: np.ndarray  # (p,) the others
    low: np.ndarray  # (p,)
    size: float

    n_values = float("inf")
    is_continuous = True
    has_steps = False
    pools = None

    @property
    def d(self) -> int:
        """Parameters: each has one input."""
        return len(self.inputs)

    @property
    def n_inputs(self) -> int:
        """Inputs."""
        return len(self.inputs)

    @property
    def free(self) -> np.ndarray:
        """All of them."""
        return np.ones(len(self.inputs), bool)

    @property
    def region(self) -> Region | None:
        """What is allowed of the box."""
        return None if self.of.region is None else _Part(self, self.of.region)

    def into(self, units: np.ndarray) -> np.ndarray:
        """Points (..., D) of the domain, seen in the box: (..., p), those outside too."""
        return np.asarray((units[..., self.inputs] - self.low) / self.size)

    def out(self, seen: np.ndarray) -> np.ndarray:
        """Points (..., D) of the domain from how they are seen, (..., p)."""
        units = np.broadcast_to(self.x, (*seen.shape[:-1], len(self.x))).copy()
        units[..., self.inputs] = np.clip(self.low + self.size * seen, 0.0, 1.0)
        return units

    def holds(self, units: np.ndarray) -> np.ndarray:
        """Whether points (m, D) lie in the box, (m,); inputs that are computed from others may lie outside."""
        seen = self.into(units)
        moving = slice(None) if self.of.region is None else np.searchsorted(self.inputs, self.of.region.moving)
        return np.asarray(((seen >= 0.0) & (seen <= 1.0))[:, moving].all(axis=1))

    def from_uniform(self, uniforms: np.ndarray) -> np.ndarray:
        """Valid points (m, p) from uniform draws (m, p); where there is a region, drawn towards x until they are."""
        region = self.of.region
        if region is None:
            return uniforms
        steps = (self.out(uniforms) - self.x)[:, region.moving]
        outside = np.arange(len(steps))
        for _ in range(_HALVINGS):
            outside = outside[~region.allowed(self.x + steps[outside] @ region.moves.T)]
            steps[outside] *= 0.5
        steps[outside] = 0.0
        return self.into(self.x + steps @ region.moves.T)

    def snap(self, units: np.ndarray) -> np.ndarray:
        """The nearest valid points (..., p)."""
        inside = np.clip(units, 0.0, 1.0)
        return inside if self.of.region is None else self.into(self.of.snap(self.out(inside)))

    def neighbours(self, unit: np.ndarray) -> np.ndarray:
        """None: nothing moves by steps."""
        return np.zeros((0, len(unit)))

    def all_points(self) -> Iterator[Any]:
        """Nothing: there are infinitely many."""
        return iter(())

    def encode(self, values: Any) -> np.ndarray:
        """The point of values."""
        return self.into(self.of.encode(values))

    def decode(self, unit: np.ndarray) -> Any:
        """The values at a point."""
        return self.of.decode(self.out(unit))

    def seen(self, batch: Batch, near: np.ndarray, others: np.ndarray) -> Batch:
        """The evaluations `near` of one run; `others` are only not to be proposed again."""
        model, taken = batch.of_evaluations(near[None]), batch.of_evaluations(np.setdiff1d(others, near)[None])
        taken = replace(taken, X=self.into(taken.X), pending=np.zeros((1, 0, self.d)), earlier=None)
        return replace(
            model, X=self.into(model.X), pending=taken.pending, earlier=taken, origin=None, pools=None, kinds=None
        )


class _Part:
    """A region in a box."""

    def __init__(self, box: Box, region: Region) -> None:
        self._box, self._of = box, region
        self.moving = np.searchsorted(box.inputs, region.moving)
        self.moves = region.moves[box.inputs]
        self.straight = region.straight

    def allowed(self, units: np.ndarray) -> np.ndarray:
        """Whether points (m, p) are allowed, (m,)."""
        return self._of.allowed(self._box.out(units))

    def margins(self, unit: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Those of the region, and their derivatives (k, p)."""
        margins, slopes = self._of.margins(self._box.out(unit))
        return margins, slopes[:, self._box.inputs] * self._box.size


@dataclass(frozen=True)
class _Magnified:
    """A probability over the domain, as a function of points of a box."""

    of: Probability
    box: Box

    @property
    def rates(self) -> Array:
        """(R, p) how fast it varies along each input."""
        return self.of.rates[:, like(self.box.inputs, self.of.rates)] * self.box.size

    def log_p(self, x: Array) -> Array:
        """log P at x (R, m, p)."""
        return self.of.log_p(self._out(x))

    def log_p_bound(self, x: Array) -> Array | None:
        """An upper bound of log P at x; None: there is none that pays."""
        return self.of.log_p_bound(self._out(x)) if isinstance(self.of, Bounded) else None

    def log_p_and_gradient(self, x: Array) -> tuple[Array, Array]:
        """log P at x and its gradient."""
        value, gradient = self.of.log_p_and_gradient(self._out(x))
        return value, gradient[..., like(self.box.inputs, gradient)] * self.box.size

    def select(self, runs: Array | slice | None) -> _Magnified:
        """That of some runs only (None: all)."""
        return replace(self, of=self.of.select(runs))

    def _out(self, x: Array) -> Array:
        box, xp = self.box, namespace(x)
        columns: list[Array] = [0.0 * x[..., 0] + float(value) for value in box.x]
        for i, (column, low) in enumerate(zip(box.inputs.tolist(), box.low.tolist(), strict=True)):
            columns[column] = low + box.size * x[..., i]
        return xp.stack(columns, axis=-1)
