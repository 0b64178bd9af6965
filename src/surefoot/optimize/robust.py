"""The point to build: the best one where an evaluation succeeds surely, also a little beside it.

Succeeds  and is within all limits on outputs: P is the probability of both.
Best      of least mean + 2 sd (of greatest mean - 2 sd where the value is maximized): the value that a careful
          engineer counts on. An evaluated point has no sd to speak of, so another one is better only if the model is
          sure of it; and it is chosen only for a gain that matters.
Search    The evaluated successes from the best on, then points between and around the best of them, at distances
          that shrink. Every step is fixed: the same result gives the same point.
Shapes    units (c, D) of c candidates; value and P (c,).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from surefoot.numerics.designs import generator
from surefoot.optimize.allowed import domain_of
from surefoot.optimize.checks import as_number
from surefoot.optimize.feasible import best_place
from surefoot.optimize.neighbourhood import Neighbourhood
from surefoot.optimize.parameters import Categorical
from surefoot.optimize.printed import entries, two_columns

if TYPE_CHECKING:
    from surefoot.optimize.result import Result

_SURE = 2.0  # standard deviations
_MATERIAL = 0.01  # of the way from the best value to the median one: a gain worth a point that was not evaluated
_NIL = 1e-3  # a P(success) that is as good as none
_CHUNK = 32  # candidates whose neighbourhoods are computed at a time
_MOST_EVALUATED = 512  # successes that are looked at, the best ones
_ROUNDS = 10
_DRAWN = 512  # points that a round draws
_REACH = 0.25  # of every range: how far from the best one the first round looks
_SHRINKAGE = 0.4  # of the reach, after a round in which nothing better was found


@dataclass(frozen=True)
class Robust:
    """A point to build, what the model expects there, and how surely it works."""

    x: Any
    mean: float  # of the value, without noise
    sd: float
    probability: float  # the least P(success within all limits on outputs) in the neighbourhood
    number: int | None  # of the evaluation at x; None: x has not been evaluated
    note: str = ""  # what to know before it is used

    @property
    def evaluated(self) -> bool:
        """Whether x has been evaluated, and succeeded."""
        return self.number is not None

    def __repr__(self) -> str:
        values = {f.name: getattr(self, f.name) for f in fields(self)}
        values["x"] = entries(self.x)
        return two_columns({name: str(value) for name, value in values.items() if value != ""})


@dataclass(frozen=True)
class _Candidate:
    """A point, the value to count on there (to be minimized), and the least P(success within limits) nearby."""

    unit: np.ndarray  # (D,)
    value: float = math.inf
    p: float = -1.0
    centre: float = -1.0  # P at the point itself
    place: int | None = None  # in the history; None: not evaluated


class _Search:
    """A search for the best point whose least P in the neighbourhood is at least `wanted`."""

    def __init__(self, result: Result, near: Neighbourhood, wanted: float) -> None:
        self.result, self.near, self.wanted = result, near, wanted
        self.model, self.space = result.model, result.space  # no model: an error, nothing has succeeded
        self.domain = domain_of(self.space)
        self.unconstrained = self.space.encode(self.space.validate(result.x))
        self.best = _Candidate(self.unconstrained)

    @property
    def reached(self) -> bool:
        """Whether the best one is sure enough."""
        return self.best.p >= self.wanted

    def run(self) -> _Candidate:
        """The best of the evaluated points and of those that the model knows well."""
        self._try_evaluated()
        known, reach = self.best, _REACH
        for number in range(_ROUNDS):
            units = self._drawn(reach, number)
            values = self._careful(units)
            some = self._promising(units, values)
            if not self._consider(units[some], values[some]):
                reach *= _SHRINKAGE
        counted = self.result.within if self.result.feasible else self.result.history.counts
        values = self.result.sign * self.result.func_vals[counted]
        gain = _MATERIAL * float(np.median(values) - values.min())
        if known.p >= self.wanted and known.value - self.best.value <= gain:
            self.best = known
        return self.best

    def least_outside(self) -> _Candidate:
        """The best evaluation where none is within all limits: nothing is known that works."""
        place = best_place(self.result.history, self.result.sign, self.result.settings.outputs)
        self._consider(self.unconstrained[None], self._careful(self.unconstrained[None]), [place])
        return self.best

    def _careful(self, units: np.ndarray) -> np.ndarray:
        mean, sd = self.model.moments_at(units)
        return np.asarray(self.result.sign * mean + _SURE * sd)

    def _rank(self, one: _Candidate) -> tuple[float, ...]:
        """What is sure enough comes first, by value; what is not follows, the surest first.

        Where no neighbourhood is sure at all, the surest points come first.
        """
        if one.p >= self.wanted:
            return (0.0, one.value)
        return (1.0, -one.p, -one.centre) if one.p >= _NIL else (2.0, -max(one.centre, _NIL), one.value)

    def _consider(self, units: np.ndarray, values: np.ndarray, places: Sequence[int | None] = ()) -> bool:
        """Compare candidates with the best one; whether one of them is better."""
        before = self.best
        if len(units):
            sure = self.near.least(self.result, units).tolist(), self.model.works_at(units).tolist()
            for one in map(_Candidate, units, values.tolist(), *sure, places or [None] * len(units)):
                self.best = min(self.best, one, key=self._rank)
        return self.best is not before

    def _try_evaluated(self) -> None:
        """The evaluated successes, from the best on, until one is sure enough."""
        places = np.flatnonzero(self.result.history.counts)
        units = self.result.history.units(self.space)[places]
        values = self._careful(units)
        order = np.argsort(values, kind="stable")[:_MOST_EVALUATED]
        for start in range(0, len(order), _CHUNK):
            some = order[start : start + _CHUNK]
            self._consider(units[some], values[some], places[some].tolist())
            if self.reached:
                return

    def _promising(self, units: np.ndarray, values: np.ndarray) -> np.ndarray:
        """Up to a chunk of the candidates that could be better: the surest, or if one is sure, better values."""
        p = self.model.works_at(units)
        if not self.reached:
            return np.argsort(-p, kind="stable")[:_CHUNK]
        better = np.flatnonzero((values < self.best.value) & (p >= self.wanted))
        better = better[np.argsort(values[better], kind="stable")]  # the best lie too near the border: take of all
        spread = np.linspace(0, len(better) - 1, min(len(better), _CHUNK)).round().astype(int)
        return np.asarray(better[spread])

    def _drawn(self, reach: float, number: int) -> np.ndarray:
        """Points around the best one, and on the way from it to the best evaluation; at first of the whole space."""
        rng = generator(0, 1, number)
        drawn = self.domain.from_uniform(rng.random((_DRAWN, self.space.d)))
        units = np.repeat(self.best.unit[None], _DRAWN, axis=0)
        units[::4] += rng.random((len(units[::4]), 1)) * (self.unconstrained - self.best.unit)
        for p, columns in self.space.columns():
            numeric = not isinstance(p, Categorical)
            chosen = rng.random(_DRAWN) < (0.5 if numeric else 0.1)
            moved = units[:, columns] + reach * (2.0 * drawn[:, columns] - 1.0) if numeric else drawn[:, columns]
            units[chosen, columns] = moved[chosen]
        if number == 0:
            units[1::2] = drawn[1::2]
        return self.domain.snap(units)


def robust(result: Result, p: Any, within: Any) -> Robust:
    """The point to build; see `Result.robust`."""
    wanted = as_number("p", p, 0.0, 1.0, 0.95)
    search = _Search(result, Neighbourhood.of(result.space, within), wanted)
    best = search.run() if result.feasible else search.least_outside()
    mean, sd = (float(moment[0]) for moment in search.model.moments_at(best.unit[None]))
    notes = []
    if not search.reached:
        what = "P(success within all limits)" if result.settings.outputs else "P(success)"
        found = "is the most that was found" if result.feasible else "at the evaluation least outside"
        notes.append(f"{what} of {wanted:g} was not reached: {best.p:.3g} {found}")
    if result.n_failures and not search.model.learns_failures:
        notes.append("where evaluations fail was not learned, so P(success) counts as 1")
    if best.place is None:
        x, number = result.space.to_user(search.domain.decode(best.unit)), None
        notes.append("this point has not been evaluated: evaluate it before you rely on it")
    else:
        x, number = result.x_iters[best.place], result.numbers[best.place]
    return Robust(x, mean, sd, best.p, number, "; ".join(notes))
