"""A study whose parameters were changed on the way: its earlier trials, as they are among the parameters of today.

A trial that has ended cannot be changed in Optuna's storage, and should not be: bounds may be changed back. So trials
are read differently. One whose point is among the parameters of today counts as any other. One whose point is not,
because a bound was moved, a step changed, a choice taken away or a parameter fixed, is OUTSIDE: kept, not learned from,
not counted. A parameter that came later has the value in earlier trials that the user said it had. Where a parameter
has become another (real instead of integer, a number instead of choices), equal values are the same point: 3 as 3.0.

Why the model does not use what lies outside: its scales, its kernel and its map of failures are those of the box, and
the values out there, which are often why the box was made smaller, would set them.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any

from optuna.distributions import BaseDistribution, CategoricalDistribution, IntDistribution
from optuna.trial import FrozenTrial

from surefoot.integrations.optuna_space import Distributions, contains, is_same_value

OUTSIDE = "surefoot:outside"  # user attribute, only as trials are read: which parameter is, and what it is


def as_of_today(
    trials: Sequence[FrozenTrial], now: Distributions, was: Mapping[str, Any], suggestion: str
) -> list[FrozenTrial]:
    """The trials, those of other parameters marked and completed.

    was         values in earlier trials of parameters that came later
    suggestion  the attribute in which a trial keeps where searches for hyperparameters ended: of another unit cube
    """
    return [t if t.distributions == now else _as_of_today(t, now, was, suggestion) for t in trials]


def _as_of_today(trial: FrozenTrial, now: Distributions, was: Mapping[str, Any], suggestion: str) -> FrozenTrial:
    point = _carried(trial.params, now)
    if trial.state.is_finished() and point:
        point = {**_carried({name: value for name, value in was.items() if name in now}, now), **point}
    queued = trial.system_attrs.get("fixed_params") or {}
    fixed = _carried(queued, now)
    chosen = {**fixed, **point}
    outside = [
        f"{name} = {chosen[name]}" for name, d in now.items() if name in chosen and not contains(d, chosen[name])
    ]
    changed = any(trial.distributions.get(name, d) != d for name, d in now.items()) or point != trial.params
    if not outside and not changed and not queued:  # one that has not got all its parameters yet
        return trial
    read = copy.copy(trial)
    read.params = point
    read.distributions = {**trial.distributions, **{name: d for name, d in now.items() if name in point}}
    read.system_attrs = {**trial.system_attrs, **({"fixed_params": fixed} if queued else {})}
    if trial.state.is_finished():
        read.system_attrs.pop(suggestion, None)
    if outside:
        read.user_attrs = {**trial.user_attrs, OUTSIDE: outside[0]}
    return read


def _carried(point: Mapping[str, Any], now: Distributions) -> dict[str, Any]:
    """The point with its values as the parameters of today have them, where they have them."""
    return {name: carried(now[name], value) if name in now else value for name, value in point.items()}


def carried(d: BaseDistribution, value: Any) -> Any:
    """A value of another distribution as that of this one which is equal; itself if there is none."""
    if isinstance(d, CategoricalDistribution):
        return next((choice for choice in d.choices if is_same_value(choice, value)), value)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return value
    if isinstance(d, IntDistribution):
        return int(value) if float(value).is_integer() else value
    return float(value)
