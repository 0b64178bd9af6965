"""How near the best point lies to where evaluations fail, as the model of the failures has it.

Inside    Where P(success) is below 1/2 at the best point itself, failing at random, there is no inside to leave. Along
          a parameter that hardly matters to the failures a border is where the model's plane is a little askew.
Shares    Distances are also told as shares of the range; of the logarithm's range for a log parameter.
Shapes    lines (l, m, D): m points of each of l lines from the best point to a bound.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from surefoot.errors import shown
from surefoot.optimize.parameters import Categorical, Value

if TYPE_CHECKING:
    from surefoot.optimize.result import Result

LEVEL = 0.5  # P(success) at the border
_MATTERS = 0.2  # of the fastest change of P(success) along any parameter: one along which it is slower has no border
_STEPS = 64  # of a line, shorter near the best point
_FINER = 32  # parts of the step in which P falls below the level


@dataclass(frozen=True)
class Crossing:
    """Where P(success) falls below 1/2 along one parameter, all others as at the best point."""

    value: float  # of the parameter
    distance: float  # from the best point, in the parameter's units
    share: float  # the distance as a share of the range


@dataclass(frozen=True)
class Along:
    """The border along one parameter, either way from the best point.

    None: none within the bounds, or the parameter hardly matters to the failures.
    """

    below: Crossing | None = None
    above: Crossing | None = None


@dataclass(frozen=True)
class NearestFailure:
    """The evaluated failure nearest to the best point."""

    number: int  # of the evaluation
    share: float  # no parameter differs by more than this share of its range; another category is 1
    reason: str


@dataclass(frozen=True)
class Border:
    """How near the best point lies to where evaluations fail."""

    x: Any  # the best point
    probability: float  # P(success) there, by the model
    along: Mapping[str, Along]  # of every real and integer parameter
    failing: Mapping[str, tuple[Value, ...]]  # of every categorical one: the choices at which P(success) < 1/2
    failure: NearestFailure | None  # None: nothing has failed

    @property
    def nearest(self) -> tuple[str, Crossing] | None:
        """The parameter along which the border is nearest, in shares of the range, and where; None: there is none."""
        found = [(name, c) for name, along in self.along.items() for c in (along.below, along.above) if c is not None]
        return min(found, key=lambda pair: pair[1].share) if found else None

    def __repr__(self) -> str:
        lines = [f"P(success) {self.probability:.3g} at the best point"]
        if self.failure is None:
            lines[0] += ": nothing has failed"
        elif self.probability >= LEVEL:
            lines[0] += "; along each parameter it falls below 1/2"
            for name, along in self.along.items():
                ends = [f"{word} {_told(c)}" for word, c in (("below", along.below), ("above", along.above)) if c]
                lines.append(f"  {name}: {' and '.join(ends) or 'no border'}")
            for name, choices in self.failing.items():
                lines.append(f"  {name}: {f'at {shown(list(choices))}' if choices else 'at no choice'}")
        if self.failure is not None:
            what = f"evaluation {self.failure.number}, {per_cent(self.failure.share)} away: {self.failure.reason}"
            lines.append(f"nearest failure: {what}")
        return "\n".join(lines)


def _told(crossing: Crossing) -> str:
    return f"{crossing.value:.4g} ({crossing.distance:.3g} or {per_cent(crossing.share)} away)"


def per_cent(share: float) -> str:
    """A share in per cent with two digits: 1.2 %, 35 %."""
    return f"{float(f'{100 * share:.2g}'):g} %"


def border_of(result: Result) -> Border:
    """The border around the best point of a result; see `Result.border`."""
    space, model = result.space, result.model
    best = space.encode(space.validate(result.x))
    probability = float(model.success_at(best[None])[0])
    failing = {}
    for i, (p, columns) in enumerate(space.columns()):
        if isinstance(p, Categorical):
            units = np.repeat(best[None], p.n_values, axis=0)
            units[:, columns] = [p.encode(choice) for choice in p.choices]
            low = model.success_at(units) < LEVEL
            failing[space.names[i]] = tuple(choice for choice, is_low in zip(p.choices, low, strict=True) if is_low)
    return Border(
        x=result.x,
        probability=probability,
        along=_along(result, best, probability >= LEVEL),
        failing=failing,
        failure=_nearest_failure(result, best),
    )


def _along(result: Result, best: np.ndarray, is_inside: bool) -> dict[str, Along]:
    """Where P falls below 1/2 along every numeric parameter: on a line to each bound, then on a part of it."""
    numeric = [i for i, p in enumerate(result.space.parameters) if not isinstance(p, Categorical)]
    columns = [columns.start for _, columns in result.space.columns()]
    relevance = result.model.relevance(of="failures")
    matter = [i for i in numeric if is_inside and relevance[i] >= _MATTERS * relevance.max()]
    if not matter:
        return {result.space.names[i]: Along() for i in numeric}
    ways = [(i, columns[i], end) for i in matter for end in (0.0, 1.0)]
    steps = np.repeat(np.linspace(0.0, 1.0, _STEPS + 1)[None] ** 2, len(ways), axis=0)
    first = _first_low(result, best, ways, steps)
    before = np.maximum(first - 1, 0)
    rows = np.arange(len(ways))
    low, high = steps[rows, before][:, None], steps[rows, np.maximum(first, 0)][:, None]
    finer = low + (high - low) * np.linspace(0.0, 1.0, _FINER + 1)
    at = _first_low(result, best, ways, finer)
    found: dict[tuple[int, float], Crossing] = {}
    for row, (i, column, end) in enumerate(ways):
        if first[row] >= 0 and (end != best[column] or first[row] == 0):
            found[i, end] = _crossing(result, i, best[column], finer[row, at[row]] * (end - best[column]))
    return {result.space.names[i]: Along(found.get((i, 0.0)), found.get((i, 1.0))) for i in numeric}


def _first_low(result: Result, best: np.ndarray, ways: list[tuple[int, int, float]], steps: np.ndarray) -> np.ndarray:
    """The first step (l, m), a share of the way to the bound, at which P < 1/2, (l,); -1: none."""
    lines = np.repeat(np.repeat(best[None, None], steps.shape[1], axis=1), len(ways), axis=0)
    for row, (_, column, end) in enumerate(ways):
        lines[row, :, column] += steps[row] * (end - best[column])
    low = result.model.success_at(result.space.snap(lines).reshape(-1, len(best))).reshape(steps.shape) < LEVEL
    return np.where(low.any(axis=1), np.argmax(low, axis=1), -1)


def _crossing(result: Result, i: int, start: float, way: float) -> Crossing:
    p = result.space.parameters[i]
    unit = p.snap(np.asarray([start + way]))
    value, best = p.decode(unit), p.decode(np.asarray([start]))
    return Crossing(float(value), abs(float(value) - float(best)), abs(float(unit[0] - start)))


def _nearest_failure(result: Result, best: np.ndarray) -> NearestFailure | None:
    failed = np.flatnonzero(result.history.seen & ~result.history.ok)
    if not len(failed):
        return None
    distance = np.abs(result.history.units(result.space)[failed] - best).max(axis=1)
    place = int(failed[int(np.argmin(distance))])
    return NearestFailure(result.numbers[place], float(distance.min()), result.history.evaluations[place].reason)
