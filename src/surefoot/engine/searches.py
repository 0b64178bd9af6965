"""Searches by name: how a policy is maximized over the domain, and what model is the default beside it.

Shapes    proposals (R, q, D), best first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from surefoot.acquisition.maximize import Polish, Proposals, maximize_by_gradient
from surefoot.acquisition.paper_search import (
    ABSOLUTE,
    BAYESOPT,
    N_UNIFORM,
    RELATIVE,
    Reading,
    maximize_as_the_paper,
)
from surefoot.acquisition.raw import RawTarget
from surefoot.acquisition.target import Target
from surefoot.backend import Array, like
from surefoot.engine import candidates
from surefoot.engine.along_limits import POLISH_CALLS, POLISHED, along_limits
from surefoot.engine.batch import Batch
from surefoot.engine.domain import Domain
from surefoot.engine.inside import climb_inside
from surefoot.engine.scaling import Scaling
from surefoot.gp.within import Within
from surefoot.numerics.designs import Generators

PAPER_MODEL = {"kernel": "se", "warp": "none", "prior": "none"}  # the objective's process as the paper has it
_LEAST_LATTICE = 250  # candidates that are screened with limits on outputs, however many there are
_AS_THE_PAPER = {**PAPER_MODEL, "failures": "label-regression"}


@dataclass(frozen=True)
class Hunt:
    """A policy to be maximized for the runs that follow it."""

    batch: Batch
    generators: Generators
    scaling: Scaling
    target: Target
    limits: Limits | None = None  # of outputs; None: there are none


@dataclass(frozen=True)
class Limits:
    """Limits on outputs, as a search takes them into account."""

    within: Within
    merit: np.ndarray  # (R, n) of the evaluations: small is good
    found: np.ndarray  # (R, 1) whether anything feasible has been evaluated


@dataclass(frozen=True)
class Search:
    """A way to maximize policies.

    is_exact: it ends at maxima to rounding; a policy that saturates is then asked in a form that does not.
    defaults: settings of the model wherever "auto" is asked for.
    """

    name: str
    propose: Callable[[Domain, Sequence[Hunt], Array], list[Proposals]]
    is_exact: bool
    defaults: Mapping[str, str] = field(default_factory=dict)


def _by_gradient(domain: Domain, hunts: Sequence[Hunt], reference: Array) -> list[Proposals]:
    found = []
    for hunt in hunts:
        batch = hunt.batch
        lattice = like(candidates.lattice(domain, hunt.generators), reference)
        limits, free = hunt.limits, like(domain.free, reference)
        worth = batch.y if limits is None else limits.merit
        clouds = like(candidates.clouds(domain, batch.X, worth, batch.ok, hunt.generators), reference)
        if limits is None:
            proposals = maximize_by_gradient(hunt.target, lattice, clouds, free)
        else:  # as many predictions as without limits
            few = max(_LEAST_LATTICE, lattice.shape[1] // (1 + limits.within.n_outputs))
            proposals = maximize_by_gradient(
                hunt.target, lattice[:, :few], clouds, free, Polish(POLISHED, POLISH_CALLS)
            )
        if domain.region is not None:
            proposals = climb_inside(hunt.target, proposals, domain.region)
        if limits is not None:
            best = np.argmin(limits.merit, axis=1)
            incumbent = like(batch.X[np.arange(len(best)), best], reference)
            proposals = along_limits(hunt.target, limits.within, proposals, incumbent, domain)
        found.append(proposals)
    return found


def _as_the_paper(
    domain: Domain, hunts: Sequence[Hunt], reference: Array, *, reading: Reading = RELATIVE
) -> list[Proposals]:
    uniform = [like(candidates.uniform(domain, hunt.generators, N_UNIFORM), reference) for hunt in hunts]
    raw = []
    for hunt in hunts:
        units = (hunt.scaling.zero, hunt.scaling.unit, hunt.batch.origins[:, None, :])
        raw.append(RawTarget(hunt.target, *(like(unit, reference) for unit in units)))
    return maximize_as_the_paper(raw, uniform, reading)


def _paper_search(name: str, reading: Reading) -> Search:
    return Search(name, partial(_as_the_paper, reading=reading), is_exact=False, defaults=_AS_THE_PAPER)


SEARCHES = {
    search.name: search
    for search in (
        Search("gradient", _by_gradient, is_exact=True),
        _paper_search("paper", RELATIVE),
        _paper_search("paper-absolute", ABSOLUTE),
        _paper_search("paper-bayesopt", BAYESOPT),
    )
}
