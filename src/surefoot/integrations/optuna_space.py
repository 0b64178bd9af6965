"""Optuna's distributions as parameters of the engine, and values there and back.

For the engine a float or integer with a step is a number on its grid, 0, 1, …, and a category its index: grids are
searched by steps, and choices need not be distinct, hashable or JSON. For people (`shown_space`) they stay what they
are; the unit cube is the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution, IntDistribution

from surefoot.errors import InvalidInputError
from surefoot.expect import expect
from surefoot.optimize.allowed import Allowed
from surefoot.optimize.constraints import Constraint
from surefoot.optimize.parameters import Categorical, Integer, Parameter, Real, Value
from surefoot.optimize.region import Region
from surefoot.optimize.space import Space

Distributions = Mapping[str, BaseDistribution]


def _has_grid(d: BaseDistribution) -> bool:
    return (isinstance(d, FloatDistribution) and d.step is not None) or (isinstance(d, IntDistribution) and d.step > 1)


def _engine_parameter(d: BaseDistribution) -> Parameter:
    if isinstance(d, CategoricalDistribution):
        return Categorical(range(len(d.choices)))
    if isinstance(d, (FloatDistribution, IntDistribution)) and d.step is not None and _has_grid(d):
        return Integer(0, round((d.high - d.low) / d.step))
    return _shown_parameter(d)


def _shown_parameter(d: BaseDistribution) -> Parameter:
    if isinstance(d, FloatDistribution):
        return Real(d.low, d.high, log=d.log)
    if isinstance(d, IntDistribution):
        return Integer(d.low, d.high, log=d.log)
    if isinstance(d, CategoricalDistribution):
        distinct = all(d.choices.count(choice) == 1 for choice in d.choices)  # 1 == True
        return Categorical(d.choices if distinct else [repr(choice) for choice in d.choices])
    raise InvalidInputError(
        f"expected a float, int or categorical distribution of Optuna; got {d!r}; try FloatDistribution(low, high)"
    )


def engine_space(distributions: Distributions) -> Space:
    """The space that suggestions are made in."""
    return Space.of({name: _engine_parameter(d) for name, d in distributions.items()})


def shown_space(distributions: Distributions) -> Space:
    """The space in the user's values, for results and reports."""
    return Space.of({name: _shown_parameter(d) for name, d in distributions.items()})


def constrained_space(distributions: Distributions, constraints: Any) -> Space:
    """The space in the user's values with known constraints, given as for `surefoot.minimize`."""
    return shown_space(distributions).constrained(constraints)


def domain_with(
    distributions: Distributions, constraints: Sequence[Constraint], known: Mapping[str, Any] | None = None
) -> Allowed:
    """Where suggestions are made: what constraints on the user's values allow of the engine's.

    known: values of the user's for parameters that are not to be suggested.
    """
    single = {name: d for name, d in distributions.items() if d.single()}
    constants = {name: from_engine(d, engine_space({name: d}).decode(np.zeros(1))[0]) for name, d in single.items()}
    constants |= {} if known is None else known
    left = {name: d for name, d in distributions.items() if name not in constants}
    views = {name: partial(from_engine, d) for name, d in left.items() if not isinstance(_engine_parameter(d), Real)}
    return Allowed(Region(engine_space(left), constraints, views, constants))


def to_engine(d: BaseDistribution, value: Any) -> Value:
    """A value of Optuna's as the engine's; ValueError if it is not one of the distribution."""
    internal = d.to_internal_repr(value)
    if isinstance(d, CategoricalDistribution):
        return int(internal)
    if isinstance(d, (FloatDistribution, IntDistribution)) and d.step is not None and _has_grid(d):
        return round((internal - d.low) / d.step)
    return value


def from_engine(d: BaseDistribution, value: Value) -> Any:
    """A value of the engine's as Optuna's."""
    if isinstance(d, CategoricalDistribution):
        return d.choices[value]
    if isinstance(d, (FloatDistribution, IntDistribution)) and d.step is not None and _has_grid(d):
        return min(d.high, d.low + value * d.step)
    return value


def shown(d: BaseDistribution, value: Any) -> Value:
    """A value of Optuna's as one of `shown_space`."""
    if isinstance(d, CategoricalDistribution) and value not in getattr(_shown_parameter(d), "choices", ()):
        return repr(value)
    return value


def is_same_value(one: Any, other: Any) -> bool:
    """Whether two values are one: 2 and 2.0 are, 1 and true are not."""
    return isinstance(one, bool) == isinstance(other, bool) and bool(one == other)


def contains(d: BaseDistribution, value: Any) -> bool:
    """Whether the parameter can have the value: between its bounds, on its grid."""
    if isinstance(d, CategoricalDistribution):
        return any(is_same_value(choice, value) for choice in d.choices)
    assert isinstance(d, (FloatDistribution, IntDistribution))  # Optuna has no others
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not d.low <= value <= d.high:
        return False
    steps = 0.0 if d.step is None or d.log else (value - d.low) / d.step
    return abs(steps - round(steps)) < 1e-8 and (isinstance(value, int) or isinstance(d, FloatDistribution))


def checked_distributions(given: Any) -> dict[str, BaseDistribution]:
    """Distributions by name; an error if they are anything else."""
    found = dict(given) if isinstance(given, Mapping) else None
    example = "search_space={'x': FloatDistribution(0, 1)}"
    expect(found is not None, "search_space as a dict of Optuna's distributions", given, example)
    for name, d in (found or {}).items():
        expect(isinstance(d, BaseDistribution), f"one of Optuna's distributions for {name!r}", d, example)
    return found or {}


def without_single(distributions: Distributions) -> dict[str, BaseDistribution]:
    """Those that leave something to choose; Optuna fills in the others itself."""
    return {name: d for name, d in distributions.items() if not d.single()}


def middle_of(space: Space) -> dict[str, Value]:
    """The engine's values in the middle of its space, by name."""
    middle = space.snap(np.full((1, space.n_inputs), 0.5))[0]
    return dict(zip(space.names, space.decode(middle), strict=True))
