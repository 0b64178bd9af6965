"""A problem whose parameters have changed since its study was begun: what may change, and what is said of it.

Bounds, steps, the scale (`log`), the choices and the kind of a parameter may change, one may be fixed (low = high), and
one may come, with the value that it `was` in earlier evaluations. What this makes of earlier trials:
integrations/optuna_changed.py. A parameter cannot go: what was evaluated depends on it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from optuna.distributions import BaseDistribution, CategoricalDistribution
from optuna.distributions import json_to_distribution as distribution_of
from optuna.study import Study

from surefoot.errors import InvalidInputError
from surefoot.integrations.optuna_history import STUDY, WAS
from surefoot.runs.problem import Problem
from surefoot.runs.values import domain_of, text_of


def parameters_of(study: Study) -> dict[str, str]:
    """The parameters that the study has now, as JSON; none if it was not made by surefoot run."""
    return dict((study.user_attrs.get(STUDY) or {}).get("parameters") or {})


def is_of_today(study: Study, problem: Problem) -> bool:
    """Whether the study still has the parameters of the problem: another run may have changed them."""
    return bool(parameters_of(study) == problem.to_json()["parameters"])


def changed_parameters(study: Study, problem: Problem) -> list[str]:
    """What has changed in the parameters, for people; an error if it may not."""
    before = {name: distribution_of(text) for name, text in parameters_of(study).items()}
    now, trials = problem.parameters, study.get_trials(deepcopy=False)
    if not before or before == dict(now) or not trials:
        return []
    was = {**((study.user_attrs.get(STUDY) or {}).get(WAS) or {}), **problem.was}
    if any(trial.params for trial in trials):
        _check(problem, before, was)
    return [_told(name, before.get(name), d, was) for name, d in now.items() if before.get(name) != d]


def _check(problem: Problem, before: Mapping[str, BaseDistribution], was: Mapping[str, Any]) -> None:
    """An error if evaluations have a parameter that is gone, or lack one that has come."""
    for name, d in before.items():
        if name not in problem.parameters:
            fixed = f"choices = [{_quoted(d)}]" if isinstance(d, CategoricalDistribution) else "low = 1.0, high = 1.0"
            raise InvalidInputError(
                f"expected the parameter {name!r}, which the evaluations of study {problem.name!r} have; got none; "
                f"try fixing it instead: {name} = {{{fixed}}} with its value"
            )
    for name, d in problem.parameters.items():
        if name not in before and name not in was:
            raise InvalidInputError(
                f"expected the value that the new parameter {name!r} had in the earlier evaluations of study "
                f"{problem.name!r}; got none; try {name} = {{…, was = {_example(d)}}}"
            )


def _told(name: str, before: BaseDistribution | None, now: BaseDistribution, was: Mapping[str, Any]) -> str:
    if before is None:
        return f"{name} is new, {_short(now)}" + (f", and was {text_of(was[name])}" if name in was else "")
    return f"{name} was {_short(before)}, is {_short(now)}"


def _short(d: BaseDistribution) -> str:
    if d.single():
        return f"fixed at {_example(d)}"
    log = ", log" if getattr(d, "log", False) else ""
    return domain_of(d).removeprefix("as ").removeprefix("among ") + log


def _quoted(d: CategoricalDistribution) -> str:
    first = d.choices[0]
    return f'"{first}"' if isinstance(first, str) else text_of(first)


def _example(d: BaseDistribution) -> str:
    return text_of(d.choices[0] if isinstance(d, CategoricalDistribution) else d.low)  # type: ignore[attr-defined]
