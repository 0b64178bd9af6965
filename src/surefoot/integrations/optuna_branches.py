"""Parameters that an objective asks for only sometimes: `degree` with a polynomial kernel, `units_3` with three layers.

Optuna's spaces are defined while an objective runs, so nobody says when a parameter is asked for. It is learned from
the trials: by which category or integer, and by which of its values. A guess that is wrong costs nothing: a value that
is not asked for is ignored, one that is asked for is a valid one, and the next suggestion knows better.

Space     All parameters of all branches. Where a parameter is not asked for it rests at one value, so that points which
          differ in nothing else are the same point, for the model and for the search.
Unseen    A category's value that no trial has had asks for everything; an integer's does what the nearest seen does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from optuna.distributions import BaseDistribution, CategoricalDistribution, IntDistribution
from optuna.trial import FrozenTrial, TrialState

from surefoot.integrations.optuna_space import Distributions, engine_space, to_engine
from surefoot.optimize.parameters import Value
from surefoot.optimize.space import Space

_MOST_LISTED = 10**5  # points of a finite space that are counted one by one
_ENDED = (TrialState.COMPLETE, TrialState.PRUNED)


@dataclass(frozen=True)
class Condition:
    """A parameter is asked for where another one, the decider, has certain values."""

    name: str
    decider: str
    asked: Mapping[Value, bool]  # by the engine's values of the decider that were seen
    ordered: bool  # whether those are numbers with neighbours

    def holds(self, value: Value) -> bool:
        """Whether the parameter is asked for where its decider has this value."""
        if value in self.asked:
            return self.asked[value]
        if not self.ordered:
            return True
        return self.asked[min(self.asked, key=lambda seen: (abs(seen - value), seen))]


def all_parameters(trials: Sequence[FrozenTrial]) -> dict[str, BaseDistribution]:
    """Those that every finished trial has, and those whose presence a condition explains; equal distributions only.

    Failed trials are asked only if all failed: one may have failed before it had suggested everything.
    """
    ended = [t for t in trials if t.state in _ENDED]
    ended = ended or [t for t in trials if t.state == TrialState.FAIL and t.distributions]
    found: dict[str, BaseDistribution] = {}
    for trial in ended:
        found |= trial.distributions
    same = {name: d for name, d in found.items() if all(t.distributions.get(name, d) == d for t in ended) and ended}
    explained = {condition.name for condition in conditions_of(ended, same)}
    return {name: d for name, d in same.items() if name in explained or all(name in t.distributions for t in ended)}


def conditions_of(trials: Sequence[FrozenTrial], distributions: Distributions) -> list[Condition]:
    """When each parameter that some trials lack is asked for, as far as one other parameter decides it.

    Deciders come before what they decide.
    """
    ended = [t for t in trials if t.state in _ENDED]
    settled = [name for name in distributions if all(name in t.params for t in ended)]
    open_ones = [name for name in distributions if name not in settled and any(name in t.params for t in ended)]
    found: list[Condition] = []
    while True:
        new = [c for name in open_ones if (c := _condition(name, settled, distributions, ended)) is not None]
        if not new:
            return found
        found += new
        settled += [c.name for c in new]
        open_ones = [name for name in open_ones if name not in settled]


def _condition(
    name: str, deciders: Sequence[str], distributions: Distributions, ended: Sequence[FrozenTrial]
) -> Condition | None:
    """The first decider by whose value all trials agree, and without which none has the parameter."""
    for decider in deciders:
        d = distributions[decider]
        if not isinstance(d, (CategoricalDistribution, IntDistribution)):
            continue
        if any(name in t.params and decider not in t.params for t in ended):
            continue
        seen = {(to_engine(d, t.params[decider]), name in t.params) for t in ended if decider in t.params}
        asked = dict(seen)
        if len(asked) == len(seen) and any(asked.values()):
            return Condition(name, decider, asked, isinstance(d, IntDistribution))
    return None


class Branches:
    """A space in which some parameters rest: what the engine is given (`engine.domain.Domain`)."""

    region = None

    def __init__(self, space: Space, conditions: Sequence[Condition]) -> None:
        self._space = space
        self.d, self.n_inputs, self.free = space.d, space.n_inputs, space.free
        self.is_continuous, self.has_steps, self.pools = space.is_continuous, space.has_steps, space.pools
        self.encode, self.decode = space.encode, space.decode
        columns = dict(zip(space.names, (where for _, where in space.columns()), strict=True))
        parameters = dict(zip(space.names, space.parameters, strict=True))
        self._rest = space.snap(np.full((1, space.n_inputs), 0.5))[0]
        self._resting = dict(zip(space.names, space.decode(self._rest), strict=True))
        self._conditions = [
            (c, columns[c.name], parameters[c.decider], columns[c.decider]) for c in conditions if c.name in columns
        ]

    def rests(self, values: Mapping[str, Any]) -> dict[str, Value]:
        """The values of the parameters that are not asked for at these values of others."""
        found: dict[str, Value] = {}
        for c, *_ in self._conditions:
            value = found.get(c.decider, values.get(c.decider))
            if c.decider in found or (value is not None and not c.holds(value)):
                found[c.name] = self._resting[c.name]
        return found

    def _at_rest(self, units: np.ndarray) -> np.ndarray:
        """Valid points (m, D) with all that is not asked for put to rest."""
        units = np.array(units)
        resting: dict[str, np.ndarray] = {}
        for c, own, decider, where in self._conditions:
            values, which = np.unique(units[:, where], axis=0, return_inverse=True)
            holds = np.asarray([c.holds(decider.decode(value)) for value in values], bool)
            resting[c.name] = ~holds[which.reshape(-1)] | resting.get(c.decider, np.zeros(len(units), bool))
            units[resting[c.name], own] = self._rest[own]
        return units

    def snap(self, units: np.ndarray) -> np.ndarray:
        """The nearest valid points (..., D)."""
        flat = self._space.snap(units).reshape(-1, self.n_inputs)
        return self._at_rest(flat).reshape(units.shape)

    def from_uniform(self, uniforms: np.ndarray) -> np.ndarray:
        """Valid points (m, D) from uniform draws (m, d)."""
        return self._at_rest(self._space.from_uniform(uniforms))

    def neighbours(self, unit: np.ndarray) -> np.ndarray:
        """Points (m, D) one step away in an input that is not free; a step of what rests is none."""
        found = self._at_rest(self._space.neighbours(unit))
        return np.asarray(found[(found != unit).any(axis=1)])

    @cached_property
    def n_values(self) -> float:
        """Number of points; of a large finite space at most so many."""
        if self._space.n_values > _MOST_LISTED:
            return self._space.n_values
        return float(sum(1 for _ in self.all_points()))

    def all_points(self) -> Iterator[tuple[Value, ...]]:
        """All values of a finite space: those that rest have one."""
        for values in self._space.all_points():
            named = dict(zip(self._space.names, values, strict=True))
            if named | self.rests(named) == named:
                yield values


def branches_of(trials: Sequence[FrozenTrial], distributions: Distributions) -> Branches | None:
    """The domain of a study whose trials differ in what they ask for; None where they do not."""
    conditions = conditions_of(trials, distributions)
    return Branches(engine_space(distributions), conditions) if conditions else None
