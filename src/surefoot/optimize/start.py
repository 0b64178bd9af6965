"""Where a run of `minimize` begins: afresh, from given evaluations, or from a document that says everything."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass, replace
from typing import Any

from surefoot.errors import InvalidInputError, shown
from surefoot.optimize.checks import as_truth
from surefoot.optimize.document import Document
from surefoot.optimize.history import History
from surefoot.optimize.keywords import NOT_GIVEN
from surefoot.optimize.optimizer import Optimizer
from surefoot.optimize.settings import Settings, default_n_init
from surefoot.optimize.space import Space


@dataclass(frozen=True)
class Start:
    """What the user gave; a document to resume from makes the rest needless."""

    bounds: Any
    history: History | str | os.PathLike[str] | None
    resume: str | os.PathLike[str] | None
    objective: str | None
    maximize: bool
    settings: dict[str, Any]  # only those that were given
    constraints: Any = None
    device: str = "cpu"  # a property of this process: no document says it
    n_evals: int | None = None  # the budget


def begin(start: Start) -> Optimizer:
    """The optimizer of a run."""
    if start.resume is None:
        return _fresh(start, start.history)
    if start.history is not None:
        raise InvalidInputError("expected resume or history; got both; try resume, which has the evaluations")
    document = Document.read(start.resume)
    if document.space is None and start.bounds is not None:
        return _fresh(start, document.history)
    if document.objective is None:
        document = replace(document, objective=start.objective)
    optimizer = Optimizer.from_document(document, start.resume, start.constraints, start.device)
    contradictions = _contradictions(start, optimizer)
    if contradictions:
        raise InvalidInputError(
            f"expected nothing beside resume that contradicts {shown(str(start.resume))}; got "
            f"{', '.join(contradictions)}; try leaving it out, or history= to take over the evaluations alone"
        )
    return optimizer


def _fresh(start: Start, history: History | str | os.PathLike[str] | None) -> Optimizer:
    if start.bounds is None:
        raise InvalidInputError("expected bounds; got none; try minimize(f, [(0, 1), (0, 1)]), or resume='run.json'")
    maximize = False if start.maximize is NOT_GIVEN else start.maximize
    space = Space.of(start.bounds, start.constraints)
    return Optimizer(
        space,
        history=history,
        maximize=maximize,
        objective=start.objective,
        device=start.device,
        **{"n_init": default_n_init(space.d, start.n_evals), **start.settings},
    )


def _contradictions(start: Start, found: Optimizer) -> list[str]:
    """What was given and is not what the document says."""
    told = []
    if start.bounds is not None:
        told += _other_parameters(Space.of(start.bounds), found.space)
    if start.maximize is not NOT_GIVEN and as_truth("maximize", start.maximize) != (found.direction == "maximize"):
        told.append(f"maximize={start.maximize} where it says {found.direction}")
    if start.objective is not None and start.objective != found.objective:
        told.append(f"objective={shown(start.objective)} where it says {found.objective!r}")
    given = Settings.of(**{**asdict(found.settings), **start.settings})
    for name in start.settings:
        if getattr(given, name) != getattr(found.settings, name):
            told.append(f"{name}={start.settings[name]!r} where it says {getattr(found.settings, name)!r}")
    return told


def _other_parameters(given: Space, known: Space) -> list[str]:
    if given.named != known.named:
        kinds = ("a dict", "a list") if given.named else ("a list", "a dict")
        return [f"bounds as {kinds[0]} where it has {kinds[1]}"]
    if given.names != known.names:
        return [f"bounds of {', '.join(given.names)} where it has {', '.join(known.names)}"]
    pairs = zip(given.names, given.parameters, known.parameters, strict=True)
    return [f"{name}: {shown(p)} where it says {shown(q)}" for name, p, q in pairs if p != q]
