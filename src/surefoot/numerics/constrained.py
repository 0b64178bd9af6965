"""Maxima of smooth functions inside a region: a box, half-spaces and smooth limits, from several starts in lock-step.

Region    lower <= x <= upper,  A x <= b,  c(x) >= 0. Limits are kept as limits: there is no penalty on a point inside,
          and a maximum on a border is found to rounding.
Method    Sequential quadratic programming in a trust region, a box round the present point. Function and limits each
          have a quadratic model: second derivatives by differences of gradients at the start, later by symmetric
          rank-one updates [Nocedal & Wright, Numerical Optimization, Section 6.2]. A step minimizes the Lagrangian's
          quadratic inside the limits' models, whose curvature is taken from the step before (numerics/quadratic.py).
Outside   A limit that is not met enters a step by a penalty on what is missing, and is brought to its border at most:
          the quadratic problem always has an answer.
Scale     From each start x0 the search works on z = (x - x0)/step, with every limit divided by the length of its
          gradient at x0: function and limits then vary by about 1 however small the step, down to 1e-7 of the box.
Inside    The search is asked to meet the limits with _SPARE to spare, in units of z. Of all points that it looked at,
          the best one inside the region is the answer.
End       A step that promises less than `accuracy`, or as many steps in a row as _MOST_MISSES that gained nothing:
          what is left is rounding.
Batches   All searches ask for their next points in one call: a Gaussian process answers many for little more than one.
Shapes    x (m, d) with the number of its start, rows (m,); values (m,), gradients (m, d); c (m, p), Jacobian (m, p, d).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy.linalg.lapack import dsyev

from surefoot.numerics.quadratic import minimize_quadratic

Function = Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]
"""x (m, d), rows (m,) -> values (m,) and gradients (m, d)."""
Limits = Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]
"""x (m, d), rows (m,) -> c (m, p), each at least 0 inside, and their Jacobians (m, p, d)."""

ACCURACY = 1e-10
_ROUNDING = 1e-12  # of b: half-spaces that are missed by less are met
_DIFFERENCE = 1e-2  # of a step, for second derivatives
_PASSES = 3  # over the limits' curvature in one step
_MOST_RADIUS, _GROWTH = 0.3, 3.0  # of the box
_SPARE = 1e-8
_SETTLED = 0.03  # of a step's gain: what the limits' curvature may still cost when it is not looked at again
_MOST_MISSES = 3
_LEAST_CURVATURE = 1e-10  # of the largest


@dataclass(frozen=True)
class Region:
    """Where x may be; the box and b may differ from start to start."""

    lower: np.ndarray  # (d,) or (q, d)
    upper: np.ndarray
    A: np.ndarray | None = None  # (k, d)
    b: np.ndarray | None = None  # (k,) or (q, k)
    smooth: Limits | None = None

    def limits(self, x: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """All limits but the box, (m, k + p) with their Jacobians: the half-spaces, then the smooth ones."""
        m, d = x.shape
        values, slopes = [np.zeros((m, 0))], [np.zeros((m, 0, d))]
        if self.A is not None and self.b is not None:
            b = self.b[rows] if self.b.ndim == 2 else self.b
            values.append(b - x @ self.A.T + _ROUNDING * (1.0 + np.abs(b)))
            slopes.append(np.broadcast_to(-self.A, (m, *self.A.shape)))
        if self.smooth is not None:
            c, J = self.smooth(x, rows)
            values.append(c)
            slopes.append(J)
        return np.concatenate(values, axis=1), np.concatenate(slopes, axis=1)


@dataclass(frozen=True)
class Maxima:
    """Where the search from each start ended."""

    x: np.ndarray  # (q, d)
    value: np.ndarray  # (q,) -inf where no point inside the region was met: x is then the start


@dataclass(frozen=True)
class _Seen:
    """Function and limits at m points."""

    value: np.ndarray
    gradient: np.ndarray
    limits: np.ndarray
    slopes: np.ndarray

    def of(self, rows: slice) -> _Seen:
        return _Seen(self.value[rows], self.gradient[rows], self.limits[rows], self.slopes[rows])

    @property
    def is_finite(self) -> bool:
        """Whether everything is a number at all points."""
        parts = (self.value, self.gradient, self.limits, self.slopes)
        return all(bool(np.isfinite(part).all()) for part in parts)


def maximize_within(
    function: Function,
    starts: np.ndarray,
    region: Region,
    steps: np.ndarray,
    max_iter: int = 30,
    accuracy: float | np.ndarray = ACCURACY,
    bent_away: float = 1.0,
) -> Maxima:
    """The best point inside the region that a search comes to from each start (q, d).

    steps (q,): the length on which the function varies round each start. A start may lie outside the region.
    accuracy, of all or of each: what a further step must promise to gain.
    bent_away: of a negative curvature's size, what counts as curvature. Less, and where the function bends away from a
    maximum the trust region ends a step: fewer, longer ones.
    """
    q, _ = starts.shape
    lower, upper = (np.broadcast_to(a, starts.shape) for a in (region.lower, region.upper))
    wanted = np.broadcast_to(accuracy, (q,))
    climbs = [
        _Climb(np.clip(start, low, high), low, high, float(step), float(accuracy), bent_away)
        for start, low, high, step, accuracy in zip(starts, lower, upper, steps, wanted, strict=True)
    ]
    points = [climb.first_points() for climb in climbs]
    for _ in range(max_iter + 1):
        counts = [len(p) for p in points]
        if not any(counts):
            break
        rows, ends = np.repeat(np.arange(q), counts), np.cumsum(counts).tolist()
        x = np.concatenate(points)
        with np.errstate(all="ignore"):
            value, gradient = function(x, rows)
            seen = _Seen(value, gradient, *region.limits(x, rows))
            for i, climb in enumerate(climbs):
                if counts[i]:
                    own = slice(ends[i] - counts[i], ends[i])
                    climb.take(x[own], seen.of(own))
                    points[i] = climb.next_point()
    found_x = [start if climb.best_x is None else climb.best_x for start, climb in zip(starts, climbs, strict=True)]
    return Maxima(np.stack(found_x), np.asarray([climb.best for climb in climbs]))


@dataclass(frozen=True)
class _Model:
    """Minus the function, and the limits, as quadratics of s = z - (present z), in the inputs that move."""

    value: float
    g: np.ndarray  # (d,)
    c: np.ndarray  # (p,) with the spare taken off
    J: np.ndarray  # (p, d)

    def missing(self) -> float:
        return float(np.maximum(-self.c, 0.0).sum())


@dataclass
class _Climb:
    """One search: it says where it wants to look next, and is told what is there."""

    origin: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    step: float
    accuracy: float
    bent_away: float
    best_x: np.ndarray | None = None
    best: float = -np.inf
    _x: np.ndarray = field(init=False)
    _moving: np.ndarray = field(init=False)
    _eye: np.ndarray = field(init=False)
    _here: _Model = field(init=False)
    _begun: bool = False
    _lengths: np.ndarray = field(init=False)
    _curvatures: np.ndarray = field(init=False)  # (1 + p, d, d) of minus the function and of the limits
    _multipliers: np.ndarray = field(init=False)
    _touched: Sequence[int] = ()  # half-spaces of the last quadratic problem that its answer touched
    _penalty: float = 1.0
    _radius: float = 1.0
    _misses: int = 0
    _asked: tuple[np.ndarray, float] = field(init=False)  # the step in z, and what it is to gain
    _done: bool = False

    def first_points(self) -> np.ndarray:
        """The start, and one point beside it along each input that moves."""
        self._x = self.origin
        self._moving = np.flatnonzero(self.upper > self.lower)
        self._eye = np.eye(len(self._moving))
        away = np.where(self.upper - self.origin >= self.origin - self.lower, 1.0, -1.0) * _DIFFERENCE * self.step
        beside = self.origin + np.diag(away)[self._moving]
        return np.concatenate([self.origin[None], np.clip(beside, self.lower, self.upper)])

    def take(self, x: np.ndarray, seen: _Seen) -> None:
        """What was seen at the points that were asked for."""
        self._note(x, seen)
        if not self._begun:
            self._begin(x, seen)
        elif not self._done:
            self._judge(x[0], seen)

    def next_point(self) -> np.ndarray:
        """(1, d) where to look next; (0, d) if the search is over."""
        if not self._done:
            s, gain = self._propose()
            x = self._x.copy()
            x[self._moving] += self.step * s
            x = np.minimum(np.maximum(x, self.lower), self.upper)
            if gain > self.accuracy and bool((x != self._x).any()):
                self._asked = s, gain
                return np.asarray(x[None])
            self._done = True
        return np.asarray(self._x[None][:0])

    def _note(self, x: np.ndarray, seen: _Seen) -> None:
        inside = (seen.limits >= 0.0).all(axis=1) & np.isfinite(seen.value)  # False for NaN
        value = np.where(inside, seen.value, -np.inf)
        best = int(value.argmax())
        if value[best] > self.best:
            self.best_x, self.best = x[best], float(value[best])

    def _begin(self, x: np.ndarray, seen: _Seen) -> None:
        self._begun = True
        p, k = seen.limits.shape[1], len(self._moving)
        lengths = self.step * np.linalg.norm(seen.slopes[0][:, self._moving], axis=1)
        self._lengths = np.where((lengths > 0.0) & np.isfinite(lengths), lengths, 1.0)
        self._here = self._model(seen)
        self._multipliers, self._curvatures = np.zeros(p), np.zeros((1 + p, k, k))
        self._done = not seen.of(slice(1)).is_finite or k == 0
        if self._done:
            return
        if seen.is_finite:
            slopes = np.stack([self._slopes(seen, i) for i in range(k + 1)])  # (1 + k, 1 + p, k)
            moved = (x[1:, self._moving] - x[0, self._moving])[np.arange(k), np.arange(k)] / self.step
            differences = np.moveaxis((slopes[1:] - slopes[0]) / moved[:, None, None], 0, 2)
            self._curvatures = 0.5 * (differences + differences.swapaxes(1, 2))
        self._penalty = max(1.0, 10.0 * float(np.linalg.norm(self._here.g)))

    def _model(self, seen: _Seen) -> _Model:
        """The model's first two terms at the first point seen."""
        slopes = self._slopes(seen, 0)
        c = seen.limits[0] / self._lengths - _SPARE
        return _Model(-float(seen.value[0]), slopes[0], c, slopes[1:])

    def _slopes(self, seen: _Seen, i: int) -> np.ndarray:
        """(1 + p, k) of minus the function and of the limits, in z."""
        slopes = np.concatenate([-seen.gradient[i][None], seen.slopes[i] / self._lengths[:, None]])
        return np.asarray(self.step * slopes[:, self._moving])

    def _propose(self) -> tuple[np.ndarray, float]:
        """The step in z that the models favour, and how much less function and penalty are to be after it."""
        here = self._here
        at = self._x[self._moving]
        lower = np.maximum((self.lower[self._moving] - at) / self.step, -self._radius)
        upper = np.minimum((self.upper[self._moving] - at) / self.step, self._radius)
        rows = np.concatenate([here.J, -here.J, self._eye, -self._eye])
        bend, s, gain = np.zeros_like(here.c), np.zeros_like(here.g), 0.0
        for _ in range(_PASSES):
            B = _convex(self._lagrangian(), self.bent_away)
            least = self._least(B, rows, here.c + bend, (lower, upper))
            trial = np.minimum(np.maximum(least, lower), upper)
            bends = 0.5 * (self._curvatures @ trial) @ trial
            better = self._gain(trial, bends)
            if better > gain:
                s, gain = trial, better
            last, bend = bend, bends[1:]
            error = float(np.abs(bend - last).max(initial=0.0))
            if error < _SPARE or self._penalty * error < _SETTLED * gain:
                break
        met = np.where(here.c < 0.0, 0.0, self._multipliers)
        self._penalty = max(self._penalty, 2.0 * float(met.max(initial=0.0)))
        return s, gain

    def _lagrangian(self) -> np.ndarray:
        """Its second derivatives, by the models."""
        by_function, by_limits = self._curvatures[0], self._curvatures[1:]
        bent = self._multipliers @ by_limits.reshape(len(by_limits), by_function.size)
        return np.asarray(by_function - bent.reshape(by_function.shape))

    def _least(self, B: np.ndarray, rows: np.ndarray, c: np.ndarray, box: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
        """The step with the least function and penalty where the limits are c + J s; it leaves their multipliers.

        A limit that is not met may not get worse, nor pass its border; those that would are taken as met from there on.
        """
        here, p = self._here, len(c)
        s, out = np.zeros_like(here.g), c < 0.0
        while True:
            g, b = here.g, np.concatenate([-c, np.full(p, -np.inf), box[0], -box[1]])
            is_out = bool(out.any())
            if is_out:
                g = g - self._penalty * (out @ here.J)
                b[: 2 * p] = np.concatenate([np.where(out, 0.0, -c), np.where(out, c, -np.inf)])
            least = minimize_quadratic(B, g, rows, b, s, self._touched)
            s, self._touched = least.s, least.active.tolist()
            multipliers, pulls = least.multipliers[:p], least.multipliers[p : 2 * p]
            passing = out & (pulls > self._penalty)
            if not (is_out and passing.any()):
                self._multipliers = multipliers + np.where(out, self._penalty - pulls, 0.0) if is_out else multipliers
                return s
            out &= ~passing

    def _gain(self, s: np.ndarray, bends: np.ndarray) -> float:
        """How much less function and penalty are after a step, by the models with these second-order terms."""
        here = self._here
        after = np.maximum(-(here.c + here.J @ s + bends[1:]), 0.0).sum()
        return float(-(here.g @ s + bends[0]) + self._penalty * (here.missing() - after))

    def _judge(self, x: np.ndarray, seen: _Seen) -> None:
        """Go where the step led if it gained, and trust the models as far as they were right."""
        here = self._here
        s, promised = self._asked
        if not seen.is_finite:
            self._shrink(s)
            return
        there = self._model(seen)
        gained = here.value - there.value + self._penalty * (here.missing() - there.missing())
        self._learn(s, here, there)
        if gained < 0.25 * promised:
            self._shrink(s)
        elif gained > 0.75 * promised and float(np.abs(s).max()) > 0.9 * self._radius:
            self._radius = min(_GROWTH * self._radius, _MOST_RADIUS / self.step)
        if gained > 0.0:
            self._x, self._here, self._misses = x, there, 0

    def _shrink(self, s: np.ndarray) -> None:
        self._radius = 0.3 * min(self._radius, float(np.abs(s).max()))
        self._misses += 1
        self._done = self._misses >= _MOST_MISSES

    def _learn(self, s: np.ndarray, here: _Model, there: _Model) -> None:
        """Symmetric rank-one updates by the change of each gradient along the step."""
        change = np.concatenate([(there.g - here.g)[None], there.J - here.J])
        rest = change - self._curvatures @ s
        along = rest @ s
        sizes = np.sqrt((rest * rest).sum(axis=1) * (s @ s))
        safe = np.abs(along) > 1e-8 * sizes
        scale = np.where(safe, 1.0 / np.where(safe, along, 1.0), 0.0)
        self._curvatures = self._curvatures + scale[:, None, None] * rest[:, :, None] * rest[:, None, :]


def _convex(B: np.ndarray, bent_away: float) -> np.ndarray:
    """The matrix with the sizes of its eigenvalues in their place, of negative ones a part, none of them nearly 0."""
    values, vectors, _ = dsyev(B)
    sizes = np.maximum(values, -bent_away * values)
    sizes = np.maximum(sizes, max(_LEAST_CURVATURE * float(np.abs(values).max()), 1e-12))
    return np.asarray((vectors * sizes) @ vectors.T)
