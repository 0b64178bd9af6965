"""From what a search proposes to a valid point that is new, and what to do where there is none.

Shapes    proposals (R, q, D); points (D,), on the host.
"""

from __future__ import annotations

import math

import numpy as np

from surefoot.acquisition.maximize import Proposals, climb
from surefoot.acquisition.target import Target
from surefoot.backend import Array, like, to_host
from surefoot.engine import candidates
from surefoot.engine.batch import Batch
from surefoot.engine.domain import Domain
from surefoot.engine.model import Model
from surefoot.engine.searches import Hunt
from surefoot.engine.spec import ModelSpec
from surefoot.errors import SpaceExhaustedError
from surefoot.numerics.designs import generator

_MOST_STEPS = 8  # in integers and categories, after the search by gradients
HOPELESS = -700.0  # of the log of a policy: nothing is gained anywhere
_N_POLISHED = 4  # points whose free inputs climb again after a step


def choose(
    domain: Domain, hunt: Hunt, model: Model, spec: ModelSpec, proposals: Proposals, reference: Array
) -> tuple[np.ndarray, tuple[str, ...]]:
    """The best new proposal of every run (R, D), and how each was found."""
    x = list(domain.snap(to_host(proposals.x)))  # R times (q, D)
    if not domain.is_continuous:
        x = [climb_steps(domain, hunt.target.select(like([r], reference)), x_r, reference) for r, x_r in enumerate(x)]
    chosen, status, value = [], [], to_host(proposals.value)[:, 0]
    spreads = _spreads(domain, hunt, spec)
    for r, rng in enumerate(hunt.generators):
        proposed = x[r]
        if model.noisy[r]:  # to repeat a noisy evaluation informs; a hair's breadth away it is not a duplicate
            nudged = proposed[0] + np.where(domain.free, 1e-6 * rng.standard_normal((8, len(domain.free))), 0.0)
            proposed = np.concatenate([proposed[:1], domain.snap(nudged), proposed[1:]])
        index = candidates.first_new(proposed, hunt.batch.taken(r), spec.min_distance)
        if index is None or not hunt.batch.ok[r].any():  # a run without any success has no model of its own
            chosen.append(explore(domain, hunt.batch, r, spec, rng, bool(model.noisy[r])))
            status.append("random")
            continue
        hopeless = spreads and float(value[r]) < HOPELESS
        far = candidates.any_new(domain, hunt.batch.taken(r), spec.min_distance, rng) if hopeless else None
        chosen.append(proposed[index] if far is None else far)
        status.append("random" if far is not None else "policy, jitter raised" if model.jitter_raised[r] else "policy")
    return np.stack(chosen), tuple(status)


def _spreads(domain: Domain, hunt: Hunt, spec: ModelSpec) -> bool:
    """Whether points that nothing is gained with are to lie far from all others, instead of beside the best one."""
    in_a_batch = hunt.batch.pending.shape[1] > 0 and domain.n_values > candidates.ENUMERATED
    return in_a_batch and spec.search.is_exact and hunt.target.policy.is_log and not hunt.target.weights


def climb_steps(domain: Domain, target: Target, x: np.ndarray, reference: Array) -> np.ndarray:
    """Proposals of one run (q, D) and the neighbours of the best in integer and categorical parameters, best first.

    After each step to a better neighbour the inputs that are free climb from the best few again.
    """
    free = domain.free
    for _ in range(_MOST_STEPS):
        around = _best_first(target, np.concatenate([x[:1], domain.neighbours(x[0]), x[1:]]), reference)
        if free.any() and domain.has_steps:
            few = like(around[None, :_N_POLISHED], reference)
            climbed = domain.snap(to_host(climb(target, few, like(free, reference)).x)[0])
            around = _best_first(target, np.concatenate([around[:1], climbed, around[1:]]), reference)
        previous, x = x[0], around
        if np.array_equal(previous, x[0]):
            break
    return x


def _best_first(target: Target, x: np.ndarray, reference: Array) -> np.ndarray:
    values = to_host(target.values(like(x[None], reference)))[0]
    return np.asarray(x[np.argsort(-np.nan_to_num(values, nan=-np.inf), kind="stable")])


def explore(
    domain: Domain, batch: Batch, r: int, spec: ModelSpec, rng: np.random.Generator, noisy: bool = False
) -> np.ndarray:
    """A point of run r far from all taken ones."""
    x = candidates.any_new(domain, batch.taken(r), spec.min_distance, rng)
    if x is not None:
        return x
    if noisy or spec.has_known_noise:  # repeating a noisy evaluation still informs
        return np.asarray(domain.from_uniform(rng.random((1, domain.d)))[0])
    if domain.n_values > candidates.ENUMERATED:
        raise SpaceExhaustedError(
            f"expected a point farther than min_distance={spec.min_distance:g} from all evaluated ones; got none in "
            f"{candidates.TRIES} draws; try a smaller min_distance, or stopping here"
        )
    raise SpaceExhaustedError(
        f"expected a space with points left to evaluate; all {len(batch.taken(r))} have been; "
        "try stopping here, or noise=... if repeated evaluations differ"
    )


def is_exhausted(domain: Domain, batch: Batch, r: int, spec: ModelSpec, noisy: bool) -> bool:
    """Whether a finite space has no point left for run r, and repeating one would tell nothing."""
    if noisy or spec.has_known_noise or not math.isfinite(domain.n_values):
        return False
    rng = generator(spec.seed, batch.run_ids[r], 0)
    return candidates.any_new(domain, batch.taken(r), spec.min_distance, rng) is None


def or_new(domain: Domain, batch: Batch, r: int, x: np.ndarray, spec: ModelSpec, number: int) -> np.ndarray:
    """A design point, or another one if it has been evaluated already (small discrete spaces, points given)."""
    if candidates.first_new(x[None], batch.taken(r), spec.min_distance) is not None:
        return x
    return explore(domain, batch, r, spec, generator(spec.seed, batch.run_ids[r], number))
