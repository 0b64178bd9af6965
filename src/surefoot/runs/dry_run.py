"""Check a run without evaluating anything."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from typing import Any

from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution, IntDistribution

from surefoot.backend import reference_on
from surefoot.engine.suggest import initial_design
from surefoot.execute.caller import LoadError
from surefoot.integrations.optuna_space import constrained_space, domain_with, engine_space, from_engine
from surefoot.optimize.allowed import Allowed
from surefoot.runs.evaluation import caller_of, not_loaded
from surefoot.runs.jobs import rehearse
from surefoot.runs.placeholders import FEW, fill, written
from surefoot.runs.problem import Problem
from surefoot.runs.storage import has_studies, load_study, opened, parse_url, shown_url, study_names
from surefoot.runs.study import changes_of, check_same_problem, counts_of
from surefoot.runs.versions import changed_parameters


def check(problem: Problem, place: str, *, slurm: bool = False) -> Iterator[str]:
    """What would happen, line by line; raises what a run would raise. An existing storage is opened, none is made."""
    goal = f"{problem.direction} {problem.evaluator.name}".rstrip()
    reference_on(problem.device)
    yield f"study       {problem.name}, {goal}, {problem.n_evals} evaluations, policy {problem.settings.policy}"
    for name, distribution in problem.parameters.items():
        yield f"parameter   {name}: {_told(distribution)}"
    for constraint in constrained_space(problem.parameters, problem.constraints or None).constraints:
        yield f"constraint  {constraint}"
    if problem.constraints:
        yield f"allowed     about {_domain(problem).share:.2g} of the space"
    for name, limit in problem.settings.outputs.items():
        yield f"limit       {name} {limit}"
    x = first_point(problem)
    for spec in [problem.evaluator.python, *(source.python for _, source in problem.evaluator.results)]:
        if spec:
            _load(problem, spec)
    if problem.evaluator.python:
        yield f"objective   {problem.evaluator.python}, called with {x}"
    else:
        folder = problem.evaluations_folder / "000000"
        values = {**x, "here": str(problem.folder), "folder": str(folder), "trial": 0}
        for name, source in problem.evaluator.deck.files.items():
            yield f"file        {name}, {len(source.splitlines())} lines"
        for source in (*problem.evaluator.deck.copies, *problem.evaluator.deck.links):
            yield f"file        {os.path.basename(source)}"
        for step in problem.evaluator.steps:
            yield f"command     {shlex.join(fill(step.command, values))}"
        yield f"in          {folder}"
        yield from _coarse(problem)
        for name, result in problem.evaluator.results:
            yield f"result      {name}: {result.told()}"
    if slurm:
        yield f"job         {rehearse(problem)}"
    url = parse_url(place)
    if not has_studies(place):
        yield f"storage     {shown_url(url)}, to be made"
        return
    with opened(place) as storage:
        if problem.name not in study_names(storage):
            yield f"storage     {shown_url(url)}, study to be made"
            return
        study = load_study(storage, problem.name)
        check_same_problem(study, problem)
        moved = changed_parameters(study, problem)
        counts = counts_of(study, problem.n_evals)
        yield f"storage     {shown_url(url)}, {counts.finished} evaluations there, {counts.running} under way"
        for line in (*moved, *changes_of(study, problem)):
            yield f"changed     {line}"


def _coarse(problem: Problem) -> Iterator[str]:
    """Formats that write many points alike."""
    deck = problem.evaluator.deck
    texts = [(name, text, deck.style) for name, text in deck.files.items()]
    texts += [("the command", argument, "{}") for step in problem.evaluator.steps for argument in step.command]
    found = {
        (name, spec, place): n
        for place, text, style in texts
        for name, spec, n in written(text, style, problem.parameters)
    }
    most = {name: max(n for (other, *_), n in found.items() if other == name) for name, *_ in found}
    for (name, spec, place), n in found.items():
        if most[name] < FEW:
            yield (
                f"note        {name}:{spec} in {place} writes {n} numbers over the whole range: points between them "
                "are one to the simulator; try more digits, or step = … for the parameter"
            )


def _told(d: BaseDistribution) -> str:
    """What a parameter may be, for people."""
    if isinstance(d, CategoricalDistribution):
        return "one of " + ", ".join(map(repr, d.choices))
    if not isinstance(d, (FloatDistribution, IntDistribution)):
        return str(d)
    kind = "real" if isinstance(d, FloatDistribution) else "integer"
    if d.single():
        return f"{kind}, fixed at {d.low}"
    step = f", in steps of {d.step}" if d.step not in (None, 1) else ""
    return f"{kind}, from {d.low} to {d.high}{step}{', on a logarithmic scale' * d.log}"


def first_point(problem: Problem) -> dict[str, Any]:
    """The first point of a run that has no starting points."""
    space = engine_space(problem.parameters)
    if problem.constraints:
        domain = _domain(problem)
        found = domain.region.point(domain.decode(initial_design(domain, problem.settings.spec, 0)[0]))
        return {name: found[name] for name in problem.parameters}
    first = space.decode(initial_design(space, problem.settings.spec, 0)[0])
    return {name: from_engine(d, value) for (name, d), value in zip(problem.parameters.items(), first, strict=True)}


def _domain(problem: Problem) -> Allowed:
    constraints = constrained_space(problem.parameters, problem.constraints).constraints
    return domain_with(problem.parameters, constraints)


def _load(problem: Problem, spec: str) -> None:
    """As a run would: in a process of its own, within its time."""
    caller = caller_of(problem, spec, {**os.environ, **problem.evaluator.environment})
    try:
        caller.start()
    except LoadError as error:
        raise not_loaded(spec, error) from None
    finally:
        caller.stop()
