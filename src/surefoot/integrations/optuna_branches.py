"""Parameters that an objective asks for only sometimes: `degree` with a polynomial kernel, `units_3` with three layers.

Optuna's spaces are defined while an objective runs, so nobody says when a parameter is asked for. It is learned from
the trials: by which category, integer or real number, and by which of its values. A guess that is wrong costs nothing:
a value that is not asked for is ignored, one that is asked for is a valid one, and the next suggestion knows better.

Space     All parameters of all branches. Where a parameter is not asked for it rests at one value, so that points which
          differ in nothing else are the same point, for the model and for the search.
Unseen    A category's value that no trial has had asks for everything; a number does what the nearest seen one does.
Numbers   Any real number would explain everything, as no two trials share one. It does only where there is one value
          above or below which a parameter is asked for, with SIDE trials at least on either side.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from optuna.distributions import BaseDistribution, FloatDistribution
from optuna.trial import FrozenTrial, TrialState

from surefoot.integrations.optuna_space import Distributions, contains, engine_space, to_engine
from surefoot.optimize.parameters import Categorical, Parameter, Value
from surefoot.optimize.space import Space

SIDE = 2  # trials on either side of the value of a real number that decides
_MOST_LISTED = 10**5  # points of a finite space that are counted one by one
_ENDED = (TrialState.COMPLETE, TrialState.PRUNED)


@dataclass(frozen=True)
class Condition:
    """A parameter is asked for where another one, the decider, has certain values."""

    name: str
    decider: str
    asked: Mapping[Value, bool]  # by the engine's values of the decider that were seen

    def rule(self, decider: Parameter) -> Callable[[np.ndarray], np.ndarray]:
        """Whether it is asked for, (m,), at points whose inputs of the decider are (m, k)."""
        seen = np.asarray([decider.encode(value) for value in self.asked])
        asked = np.asarray(list(self.asked.values()), bool)
        if isinstance(decider, Categorical):
            without = seen[~asked]
            return lambda units: ~(units[:, None] == without).all(axis=2).any(axis=1)
        order = np.argsort(seen[:, 0])
        between, asked = 0.5 * (seen[order[1:], 0] + seen[order[:-1], 0]), asked[order]
        return lambda units: np.asarray(asked[np.searchsorted(between, units[:, 0])])


def telling(trials: Sequence[FrozenTrial]) -> list[FrozenTrial]:
    """Those that say which parameters there are: failed ones only if all failed.

    A trial that failed before it had suggested everything must not take parameters away from the others.
    """
    ended = [t for t in trials if t.state in _ENDED]
    return ended or [t for t in trials if t.state == TrialState.FAIL and t.distributions]


def all_parameters(trials: Sequence[FrozenTrial]) -> dict[str, BaseDistribution]:
    """Those that every finished trial has, and those whose presence a condition explains; equal distributions only."""
    ended = telling(trials)
    found: dict[str, BaseDistribution] = {}
    for trial in ended:
        found |= trial.distributions
    same = {name: d for name, d in found.items() if all(t.distributions.get(name, d) == d for t in ended)}
    explained = {condition.name for condition in conditions_of(ended, same)}
    return {name: d for name, d in same.items() if name in explained or all(name in t.distributions for t in ended)}


def conditions_of(trials: Sequence[FrozenTrial], distributions: Distributions) -> list[Condition]:
    """When each parameter that some trials lack is asked for, as far as one other parameter decides it.

    Deciders come before what they decide.
    """
    ended = [t for t in trials if t.state in _ENDED and _is_inside(t, distributions)]
    settled = [name for name in distributions if all(name in t.params for t in ended)]
    open_ones = [name for name in distributions if name not in settled and any(name in t.params for t in ended)]
    found: list[Condition] = []
    for real in (False, True):  # a real number is asked last
        while True:
            deciders = [name for name in settled if isinstance(distributions[name], FloatDistribution) == real]
            new = [c for name in open_ones if (c := _condition(name, deciders, distributions, ended)) is not None]
            if not new:
                break
            found += new
            settled += [c.name for c in new]
            open_ones = [name for name in open_ones if name not in settled]
    return found


def _is_inside(trial: FrozenTrial, distributions: Distributions) -> bool:
    """Whether the values that it has are of today's space."""
    return all(contains(d, trial.params[name]) for name, d in distributions.items() if name in trial.params)


def _condition(
    name: str, deciders: Sequence[str], distributions: Distributions, ended: Sequence[FrozenTrial]
) -> Condition | None:
    """The first decider by whose value all trials agree, and without which none has the parameter."""
    for decider in deciders:
        d = distributions[decider]
        if any(name in t.params and decider not in t.params for t in ended):
            continue
        seen = {(to_engine(d, t.params[decider]), name in t.params) for t in ended if decider in t.params}
        asked = dict(sorted(seen))
        if len(asked) == len(seen) and (not isinstance(d, FloatDistribution) or _has_two_sides(list(asked.values()))):
            return Condition(name, decider, asked)
    return None


def _has_two_sides(asked: list[bool]) -> bool:
    """Whether values in order are first all of one kind and then all of the other, and several of each."""
    n = sum(asked)
    return min(n, len(asked) - n) >= SIDE and sum(a != b for a, b in pairwise(asked)) == 1


class Branches:
    """A space in which some parameters rest: what the engine is given (`engine.domain.Domain`)."""

    region = None

    def __init__(self, space: Space, conditions: Sequence[Condition]) -> None:
        self._space = space
        self.d, self.n_inputs, self.free = space.d, space.n_inputs, space.free
        self.is_continuous = False  # what rests is not free
        self.has_steps, self.pools = space.has_steps, space.pools
        self.encode, self.decode = space.encode, space.decode
        columns = dict(zip(space.names, (where for _, where in space.columns()), strict=True))
        parameters = dict(zip(space.names, space.parameters, strict=True))
        self._rest = space.snap(np.full((1, space.n_inputs), 0.5))[0]
        self._resting = dict(zip(space.names, space.decode(self._rest), strict=True))
        self._conditions = [
            (c, columns[c.name], columns[c.decider], c.rule(parameters[c.decider]))
            for c in conditions
            if c.name in columns
        ]
        self._encode = {name: p.encode for name, p in parameters.items()}

    def rests(self, values: Mapping[str, Any]) -> dict[str, Value]:
        """The values of the parameters that are not asked for at these values of others."""
        found: dict[str, Value] = {}
        for c, _, _, asked in self._conditions:
            known = c.decider in values
            if c.decider in found or (known and not asked(np.asarray([self._encode[c.decider](values[c.decider])]))[0]):
                found[c.name] = self._resting[c.name]
        return found

    def _at_rest(self, units: np.ndarray) -> np.ndarray:
        """Valid points (m, D) with all that is not asked for put to rest."""
        units = np.array(units)
        resting: dict[str, np.ndarray] = {}
        for c, own, where, asked in self._conditions:
            resting[c.name] = ~asked(units[:, where]) | resting.get(c.decider, np.zeros(len(units), bool))
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
