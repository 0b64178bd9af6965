"""What more evaluations may gain: functions drawn from the posterior, and how many of them hold a better value.

Drawn     S functions at M candidates of one run. In a drawn function a candidate counts if it succeeds and all limited
          outputs of it are within their limits. Outputs are drawn as the objective is. A candidate succeeds where
          P(success) exceeds one uniform number of the function: the border moves as a whole.
Share     of functions in which one of m candidates gains. The m are chosen before any value is known: greedily, by half
          of the functions, and judged by the other half.
Candidates  the lattice and the clouds of a suggestion, what a search by EI proposes, and clouds round that.
Shapes    candidates (M, D); drawn values (M, S).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from surefoot.acquisition.registry import policy_at
from surefoot.backend import like, to_host
from surefoot.engine import candidates
from surefoot.engine.batch import HOST, Batch
from surefoot.engine.domain import Domain
from surefoot.engine.model import Model
from surefoot.engine.spec import ModelSpec
from surefoot.engine.suggest import hunt_for
from surefoot.numerics.designs import Generators, generator

N_DRAWN = 512  # functions, of which half judge
_STREAM = 2**32  # the iteration numbers under which functions are drawn


@dataclass(frozen=True)
class Drawn:
    """Functions drawn from the posterior of one run."""

    values: np.ndarray  # (M, S) standardized
    counts: np.ndarray  # (M, S) succeeds, within all limits
    best: float  # the present best value, standardized

    def share(self, target: float, m: int) -> float:
        """The share of functions in which one of m candidates is below the target (standardized)."""
        gains = self.counts & (self.values < target)
        half = gains.shape[1] // 2
        chosen, left = [], gains[:, :half]
        for _ in range(min(m, len(gains))):
            found = left.sum(axis=1)
            best = int(np.argmax(found))
            if found[best] == 0:
                break
            chosen.append(best)
            left = left[:, ~left[best]]
        return float(gains[chosen, half:].any(axis=0).mean()) if chosen else 0.0


def draw_functions(domain: Domain, batch: Batch, model: Model, spec: ModelSpec) -> Drawn:
    """Functions of the first run of a batch, from its model."""
    generators = (generator(spec.seed, batch.run_ids[0], _STREAM + batch.X.shape[1]),)
    x = _candidates(domain, batch, model, spec, generators)
    points = like(x[None], HOST)
    values = to_host(model.objective.sample_paths(points, generators, N_DRAWN))[0]
    counts = np.ones(values.shape, bool)
    if model.success is not None:
        p = to_host(model.success.probability(points))[0]
        counts &= p[:, None] > generators[0].random(N_DRAWN)
    if model.outputs is not None and model.outputs.within is not None:
        within = model.outputs.within
        k = within.n_outputs
        drawn = to_host(within.surrogate.sample_paths(np.repeat(points, k, axis=0), generators * k, N_DRAWN))
        lower, upper = to_host(within.lower)[..., None], to_host(within.upper)[..., None]
        counts &= ((drawn >= lower) & (drawn <= upper)).all(axis=0)
    return Drawn(values, counts, float(to_host(model.f_best)[0, 0]))


def _candidates(domain: Domain, batch: Batch, model: Model, spec: ModelSpec, generators: Generators) -> np.ndarray:
    """Valid points (M, D) among which the minima of drawn functions are looked for."""
    hunt = hunt_for(batch, generators, model, policy_at("EI", 0), spec)
    (proposals,) = spec.search.propose(domain, [hunt], HOST)
    proposed = domain.snap(to_host(proposals.x))
    worth = batch.y if hunt.limits is None else hunt.limits.merit
    order, all_ok = np.arange(proposed.shape[1])[None], np.ones(proposed.shape[:2], bool)
    parts = [
        candidates.lattice(domain, generators),
        candidates.clouds(domain, batch.X, worth, batch.ok, generators),
        proposed,
        candidates.clouds(domain, proposed, order, all_ok, generators),
    ]
    return np.asarray(np.concatenate(parts, axis=1)[0])
