"""Evaluate one point of a problem with everything shown, outside of any study."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from optuna.distributions import BaseDistribution, CategoricalDistribution

from surefoot.errors import UnknownNameError, shown
from surefoot.execute.system import require_processes
from surefoot.expect import expect, nearest
from surefoot.integrations.optuna_space import constrained_space, contains
from surefoot.optimize.history import Evaluation
from surefoot.optimize.limits import limits_of
from surefoot.runs.evaluation import evaluate_trial
from surefoot.runs.limited import check_limited
from surefoot.runs.names import NO_SHARE, PROGRESS, STDERR, STDOUT
from surefoot.runs.problem import Problem
from surefoot.runs.reading import tail
from surefoot.runs.values import domain_of, text_of, value_of

_MOST_LINES = 20  # of a file or an output that are shown
_MOST_BYTES = 20_000
FOLDER = "check"  # below the folder of the evaluations


def point_of(problem: Problem, first: Mapping[str, Any], asked: list[str]) -> dict[str, Any]:
    """The point at which to evaluate: `first`, with what is asked for as NAME=VALUE."""
    x = dict(first)
    for word in asked:
        name, sign, text = word.partition("=")
        expect(bool(sign), "a point as NAME=VALUE", word, f"--at {next(iter(x))}=1.0")
        if name not in x:
            attempt = nearest(name, x) or next(iter(x))
            raise UnknownNameError(f"expected a parameter among {', '.join(x)}; got {shown(name)}; try {attempt}")
        x[name] = _value(problem.parameters[name], name, text)
    return x


def _value(d: BaseDistribution, name: str, text: str) -> Any:
    """A value of the parameter, from its text."""
    try:
        value = value_of(d, text)
    except ValueError:
        value = None
    example = d.choices[0] if isinstance(d, CategoricalDistribution) else d.low  # type: ignore[attr-defined]
    expect(contains(d, value), f"{name} {domain_of(d)}", text, f"{name}={text_of(example)}")
    return value


def evaluate_aloud(problem: Problem, x: dict[str, Any], say: Callable[[str], None]) -> Evaluation:
    """Evaluate the point in a folder of its own; every step is said. What a run would raise then is raised."""
    require_processes("evaluations of a problem file", problem.evaluator.memory_limit_mb)
    problem = replace(problem, evaluator=replace(problem.evaluator, n_retries=0))
    folder = problem.evaluations_folder / FOLDER
    say("point       " + ", ".join(f"{name} = {value}" for name, value in x.items()))
    say(f"in          {folder}")
    for constraint in constrained_space(problem.parameters, problem.constraints or None).constraints:
        if not constraint.holds(x):
            say(f"FORBIDDEN   by {constraint}: no run evaluates this point")

    def watch(what: str, thing: Any) -> None:
        if what == "files":
            for name in thing:
                say(f"file        {name}")
                _say_file(folder / name, say)
        elif what == "command":
            say(f"command     {shlex.join(thing)}")
        elif what == "ended":
            outcome, *outputs = thing
            for name in outputs:
                if os.path.getsize(folder / name):
                    say(f"{name.removesuffix('.txt').split('.')[-1]:<12}{name}")
                    _say_file(folder / name, say)
            say(f"ended       {outcome.reason or 'well'}")
        else:
            for name, found in thing.items():
                say(f"result      {name} = {found.error or f'{found.number:.9g}, from {found.quote}'}")

    finished = evaluate_trial(problem, 0, x, place=folder, watch=watch)
    evaluation = finished.evaluation
    if problem.evaluator.python:
        for name in ("stdout", "stderr"):
            if finished.output[name]:
                say(f"{name:<12}{finished.output[name]}")
    said = [f"{name} = {value:.9g}" for name, value in (evaluation.outputs or {}).items()]
    if said and not problem.evaluator.results:
        say("outputs     " + ", ".join(said))
    if PROGRESS in evaluation.further:
        say(f"progress    {NO_SHARE.format(evaluation.further[PROGRESS])}")
    if evaluation.ok:
        for name, limit in zip(limits := problem.settings.outputs, limits_of(limits), strict=True):
            if (y := evaluation.outputs.get(name)) is not None:
                within = "within" if limit.violation(np.asarray(y)) <= 0.0 else "OUTSIDE"
                say(f"limit       {name} = {y:.9g}, {within} {limits[name]}")
        say(f"value       {evaluation.y:.12g}, after {evaluation.duration_s:.3g} s")
        check_limited(problem, evaluation.outputs)
    else:
        say(f"FAILED      {evaluation.reason}, after {evaluation.duration_s:.3g} s")
    return evaluation


def _say_file(path: Path, say: Callable[[str], None]) -> None:
    """Its beginning, or, if it is an output, its end."""
    lines = tail(path, _MOST_BYTES).splitlines()
    is_output = path.name.endswith((STDOUT, STDERR))
    shown_lines = lines[-_MOST_LINES:] if is_output else lines[:_MOST_LINES]
    if is_output and len(lines) > _MOST_LINES:
        say("            | …")
    for line in shown_lines:
        say(f"            | {line[:200]}")
    if not is_output and len(lines) > _MOST_LINES:
        say(f"            | … {len(lines) - _MOST_LINES} more lines")
