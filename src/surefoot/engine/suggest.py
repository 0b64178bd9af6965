"""One step of R runs: from histories to the next point of each. A pure function; everything else is a shell round it.

Steps     standardize -> fit -> condition (failures beside the objective) -> believe the pending points -> maximize the
          policy -> take the best proposal that is new.
Random    all draws come from generator(seed, run, number), on the host: a run gets the same draws alone, in a
          batch, resumed, on a CPU or a GPU.
Shapes    host arrays X (R, n, D) in the unit cube, y (R, n), ok and seen (R, n), pending (R, e, D).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from surefoot.acquisition.maximize import Proposals, maximize_by_gradient
from surefoot.acquisition.paper_search import N_UNIFORM, maximize_as_the_paper
from surefoot.acquisition.registry import Policy, Step, policy_at
from surefoot.acquisition.success import Target
from surefoot.backend import Array, engine, like, namespace, to_host
from surefoot.engine import candidates
from surefoot.engine.batch import HOST, Batch
from surefoot.engine.model import Model, fit_model
from surefoot.engine.warmth import Warmth
from surefoot.errors import SpaceExhaustedError
from surefoot.gp.posterior import add_points, moments
from surefoot.numerics.designs import DESIGNS, Generators, generator
from surefoot.optimize.settings import NOISE_ESTIMATED, Settings
from surefoot.optimize.space import Space

_DESIGN_STREAM = 2**31  # the iteration number under which the initial design is drawn


@dataclass(frozen=True)
class Suggestion:
    """The next point of each run."""

    x: np.ndarray  # (R, D)
    warmth: Warmth
    status: tuple[str, ...]  # "design", "policy", "random" (asked no model) or "policy, jitter raised"


def initial_design(space: Space, settings: Settings, run: int) -> np.ndarray:
    """The first n_init points of a run, (n_init, D)."""
    rng = generator(settings.seed, run, _DESIGN_STREAM)
    return space.from_uniform(DESIGNS[settings.design](settings.n_init, space.d, rng))


def suggest(
    space: Space, runs: Batch, number: int, settings: Settings, warmth: Warmth, reference: Array = HOST
) -> Suggestion:
    """The next point of every run; `number` counts all points asked for before."""
    with engine(runs.X.shape[1]):
        return _suggest(space, runs, number, settings, warmth, reference)


def _suggest(
    space: Space, runs: Batch, number: int, settings: Settings, warmth: Warmth, reference: Array
) -> Suggestion:
    R = len(runs.run_ids)
    if number < settings.n_init:
        x = np.stack([initial_design(space, settings, run)[number] for run in runs.run_ids])
        new = [_or_new(space, runs, r, x[r], settings, number) for r in range(R)]
        return Suggestion(np.stack(new), warmth, ("design",) * R)
    generators = tuple(generator(settings.seed, run, number) for run in runs.run_ids)
    parts = [(rows, policy_at(name, number - settings.n_init)) for name, rows in _by_policy(runs, settings)]
    needs_model = any(policy.prepare is not None for _, policy in parts)
    if needs_model and not bool(runs.ok.any()):  # everything failed so far: look for a first success far from them
        x = np.stack([_explore(space, runs, r, settings, generators[r]) for r in range(R)])
        return Suggestion(x, warmth, ("random",) * R)
    x = np.empty((R, space.n_inputs))
    status = ["random"] * R
    for rows, policy in parts:
        if policy.prepare is None:  # before the fit, which draws too
            x[rows] = _random(space, runs.part(rows), settings, generators[rows], number)
    if not needs_model:
        return Suggestion(x, warmth, tuple(status))
    model = fit_model(runs, settings, warmth, generators, reference)
    asked = [(rows, policy) for rows, policy in parts if policy.prepare is not None]
    found = [_Part(runs.part(rows), generators[rows], model.part(rows), policy) for rows, policy in asked]
    targets = [_target(part, settings, reference) for part in found]
    proposals = _search(space, found, targets, settings, reference)
    for (rows, _), part, target, proposed in zip(asked, found, targets, proposals, strict=True):
        x[rows], status[rows] = _choose(space, part, settings, target, proposed, reference)
    return Suggestion(x, model.warmth, tuple(status))


@dataclass(frozen=True)
class _Part:
    """Runs that follow one policy."""

    runs: Batch
    generators: Generators
    model: Model
    policy: Policy


def _by_policy(runs: Batch, settings: Settings) -> list[tuple[str, slice]]:
    """The policies and the runs that follow each."""
    if runs.policies is None:
        return [(settings.policy, slice(0, len(runs.run_ids)))]
    parts: list[tuple[str, slice]] = []
    for r, name in enumerate(runs.policies):
        if parts and parts[-1][0] == name:
            parts[-1] = (name, slice(parts[-1][1].start, r + 1))
        else:
            parts.append((name, slice(r, r + 1)))
    return parts


def _random(space: Space, runs: Batch, settings: Settings, generators: Generators, number: int) -> np.ndarray:
    """A uniform point for every run: no model is asked."""
    drawn = candidates.uniform(space, generators, 1)[:, 0]
    return np.stack([_or_new(space, runs, r, drawn[r], settings, number) for r in range(len(drawn))])


def _target(part: _Part, settings: Settings, reference: Array) -> Target:
    """What the search maximizes."""
    runs, model, policy = part.runs, part.model, part.policy
    post, f_best = model.objective, model.f_best
    if runs.pending.shape[1] > 0:  # kriging believer
        pending = like(runs.pending, reference)
        believed, _ = moments(post, pending)
        xp = namespace(believed)
        f_best = xp.minimum(f_best, xp.min(believed, axis=1, keepdims=True))
        post = add_points(post, pending)
    prepare = policy.prepare
    assert prepare is not None  # RND is drawn elsewhere
    if policy.exact_as is not None and settings.search == "gradient" and model.failures is None:
        prepare = policy.exact_as
    score = prepare(Step(post, f_best, part.generators, settings.kappa))
    zero, unit = like(-model.shift / model.scale, reference), like(1.0 / model.scale, reference)
    target = Target(policy, score, post, f_best, zero=zero, unit=unit)
    if model.failures is None:
        return target
    y = np.where(runs.ok, model.standardized(np.where(runs.ok, runs.y, 0.0)), -np.inf)
    return replace(
        target,
        success=model.failures,
        link=model.link,
        y_worst=like(y.max(axis=1, keepdims=True), reference),
        has_failed=like(runs.failed.any(axis=1, keepdims=True), reference),
        min_success=settings.min_success,
    )


def _search(
    space: Space, parts: list[_Part], targets: list[Target], settings: Settings, reference: Array
) -> list[Proposals]:
    if settings.search != "gradient":
        uniform = [like(candidates.uniform(space, part.generators, N_UNIFORM), reference) for part in parts]
        return maximize_as_the_paper(targets, uniform, absolute=settings.search == "paper-absolute")
    found = []
    for part, target in zip(parts, targets, strict=True):
        runs = part.runs
        lattice = like(candidates.lattice(space, part.generators), reference)
        clouds = like(candidates.clouds(space, runs.X, runs.y, runs.ok, part.generators), reference)
        found.append(maximize_by_gradient(target, lattice, clouds, like(space.free, reference)))
    return found


def _choose(
    space: Space, part: _Part, settings: Settings, target: Target, proposals: Proposals, reference: Array
) -> tuple[np.ndarray, tuple[str, ...]]:
    """The best new proposal of every run, as a valid point."""
    runs, model, generators = part.runs, part.model, part.generators
    x = list(space.snap(to_host(proposals.x)))  # R times (q, D)
    if not space.is_continuous:
        x = [_climb_steps(space, target.select(like([r], reference)), x_r, reference) for r, x_r in enumerate(x)]
    chosen, status = [], []
    for r, rng in enumerate(generators):
        taken = _taken(runs, r)
        proposed = x[r]
        if model.noisy[r]:  # to repeat a noisy evaluation informs; a hair's breadth away it is not a duplicate
            nudged = proposed[0] + np.where(space.free, 1e-6 * rng.standard_normal((8, len(space.free))), 0.0)
            proposed = np.concatenate([proposed[:1], space.snap(nudged), proposed[1:]])
        index = candidates.first_new(proposed, taken, settings.min_distance)
        if index is not None:
            chosen.append(proposed[index])
            status.append("policy, jitter raised" if model.jitter_raised[r] else "policy")
            continue
        chosen.append(_explore(space, runs, r, settings, rng, model.noisy[r]))
        status.append("random")
    if not bool(runs.ok.any(axis=1).all()):  # runs of the batch without any success have no model of their own
        for r in np.flatnonzero(~runs.ok.any(axis=1)).tolist():
            chosen[r], status[r] = _explore(space, runs, r, settings, generators[r]), "random"
    return np.stack(chosen), tuple(status)


def _climb_steps(space: Space, target: Target, x: np.ndarray, reference: Array) -> np.ndarray:
    """Proposals of one run (q, D) and the neighbours of the best in integer and categorical parameters, best first."""
    for _ in range(3):
        around = np.concatenate([x[:1], space.neighbours(x[0]), x[1:]])
        values = to_host(target.values(like(around[None], reference)))[0]
        order = np.argsort(-np.nan_to_num(values, nan=-np.inf), kind="stable")
        previous, x = x[0], around[order]
        if np.array_equal(previous, x[0]):
            break
    return x


def _taken(runs: Batch, r: int) -> np.ndarray:
    seen = runs.X[r] if runs.seen is None else runs.X[r][runs.seen[r]]
    return np.concatenate([seen, runs.pending[r]])


def _explore(
    space: Space, runs: Batch, r: int, settings: Settings, rng: np.random.Generator, noisy: bool = False
) -> np.ndarray:
    x = candidates.any_new(space, _taken(runs, r), settings.min_distance, rng)
    if x is not None:
        return x
    if noisy or settings.noise not in (NOISE_ESTIMATED, 0):  # repeating a noisy evaluation still informs
        return np.asarray(space.from_uniform(rng.random((1, space.d)))[0])
    raise SpaceExhaustedError(
        f"expected a space with points left to evaluate; all {space.n_values:.0f} have been; "
        "try stopping here, or noise=... if repeated evaluations differ"
    )


def _or_new(space: Space, runs: Batch, r: int, x: np.ndarray, settings: Settings, number: int) -> np.ndarray:
    """A design point, or another one if it has been evaluated already (small discrete spaces, points given)."""
    if candidates.first_new(x[None], _taken(runs, r), settings.min_distance) is not None:
        return x
    return _explore(space, runs, r, settings, generator(settings.seed, runs.run_ids[r], number))
