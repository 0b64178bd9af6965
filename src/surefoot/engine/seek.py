"""Until something succeeds: where to look while everything has failed.

Rule      Three points of four are drawn where P(success) is large, P being the product over the kinds of reasons of
          P(no failure of that kind): several reasons, each in a region of its own, leave a gap that is none's. The
          fourth looks far from all that failed. One kind alone says nothing of the sort; then look anywhere, or far
          from all that failed, in turn: the part that works may lie inside or at the rim. In the design every second
          point is drawn so (suggest.py).
Power     Candidates are drawn with probability ~ P^POWER: the likeliest one again and again would trust a map of
          failures alone too much.
Shapes    points (R, D), on the host.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from surefoot.backend import Array, like, to_host
from surefoot.engine import candidates
from surefoot.engine.batch import Batch
from surefoot.engine.choose import explore, or_new
from surefoot.engine.domain import Domain
from surefoot.engine.spec import ModelSpec
from surefoot.engine.success import Labels, common_kinds, fit_success
from surefoot.numerics.designs import Generators, generator

POWER = 4.0
_FIRST = 8  # points asked for before the first map of the failures
_LABELS = 100  # of which the maps are made


def seek(
    domain: Domain, batch: Batch, number: int, spec: ModelSpec, generators: Generators, reference: Array
) -> np.ndarray:
    """The next point of every run; none of them has a success."""
    return np.stack([_of_one_run(domain, batch, r, number, spec, rng, reference) for r, rng in enumerate(generators)])


def _of_one_run(
    domain: Domain, batch: Batch, r: int, number: int, spec: ModelSpec, rng: np.random.Generator, reference: Array
) -> np.ndarray:
    likely = likely_point(domain, batch, r, number, spec, reference) if number % 4 else None
    if likely is not None:
        return likely
    asks_model = spec.failures is not None and spec.failures.tells_kinds
    if not asks_model or (number // 2) % 2 == 0:
        return explore(domain, batch, r, spec, rng)
    return or_new(domain, batch, r, candidates.uniform(domain, (rng,), 1)[0, 0], spec, number)


def likely_point(
    domain: Domain, batch: Batch, r: int, number: int, spec: ModelSpec, reference: Array
) -> np.ndarray | None:
    """A point at which run r may succeed, while nothing has and kinds of failures differ."""
    model = spec.failures
    if number < _FIRST or model is None or not model.tells_kinds:
        return None
    if batch.kinds is None or bool(batch.ok[r].any()):
        return None
    if len(np.unique(common_kinds(batch.failed[r], batch.kinds[r])[batch.failed[r]])) < 2:
        return None
    own = batch.part(np.asarray([r]))
    labels = Labels(own.X, own.failed, own.seen, own.kinds)
    model = replace(model, keeps=lambda _: _LABELS)
    weight, _ = fit_success(labels, model, None, like(np.zeros((1, 0, 0)), reference))
    rng = generator(spec.seed, batch.run_ids[r], number)
    found = candidates.lattice(domain, (rng,))
    log_p = to_host(weight.of.log_p(like(found, reference)))[0]
    order = np.argsort(-(POWER * log_p + rng.gumbel(size=len(log_p))), kind="stable")[:8]
    index = candidates.first_new(found[0][order], batch.taken(r), spec.min_distance)
    return None if index is None else np.asarray(found[0][order[index]])
