"""One step of R runs: from histories to the next point of each. A pure function; everything else is a shell round it.

Steps     standardize -> fit -> condition (failures beside the objective) -> believe the pending points -> maximize the
          policy -> take the best proposal that is new [NH18, Algorithm 1, lines 3-5; Algorithm 2, lines 3-6].
Random    all draws come from generator(seed, run, number), on the host: a run gets the same draws alone, in a
          batch, resumed, on a CPU or a GPU.
Bits      On a CPU runs are computed together only where they have the same shape by themselves: as many successes,
          as many labels, searches that are equally warm. On NumPy a run then has the same bits alone and in a batch.
Shapes    as in batch.py.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from surefoot.acquisition.maximize import Proposals
from surefoot.acquisition.registry import DEFAULT_POLICY, Policy, policy_at
from surefoot.acquisition.step import Step
from surefoot.acquisition.target import Target
from surefoot.acquisition.weight import Weight
from surefoot.backend import Array, engine, like, namespace, on_cuda, to_host
from surefoot.engine import candidates
from surefoot.engine.batch import HOST, Batch
from surefoot.engine.choose import choose, or_new
from surefoot.engine.domain import Domain
from surefoot.engine.many import ROUNDS, left_out_near, most_points
from surefoot.engine.model import Model, fit_failures, fit_model, starts_of_searches
from surefoot.engine.restarts import ANEW, Phase, phases_of, split
from surefoot.engine.searches import Hunt, Limits
from surefoot.engine.seek import likely_point, seek
from surefoot.engine.spec import ModelSpec
from surefoot.engine.walls import without_walls
from surefoot.engine.warmth import Warmth, together
from surefoot.engine.zoom import sees_noise, zoom_of, zooms
from surefoot.gp.hyperparameters import FitState, has_grown
from surefoot.numerics.designs import Generators, generator
from surefoot.numerics.warping import ABOVE, ALL_LEVELS

RELEVANT = 1e-3  # standard deviations of y: a gain that is worth an evaluation while another one refines
BESIDE = 1e-2  # length scales
_LIKELY, _LIKELIEST = 256, 0.1  # points among which one that may succeed is looked for, and a share of them
_DESIGN_STREAM = 2**31  # the iteration number under which the initial design is drawn


@dataclass(frozen=True)
class Suggestion:
    """The next point of each run."""

    x: np.ndarray  # (R, D)
    warmth: Warmth
    status: tuple[str, ...]  # "design", "policy", "random" (asked no model of y) or "policy, jitter raised"


def initial_design(domain: Domain, spec: ModelSpec, run: int, phase: int = 0) -> np.ndarray:
    """The first n_init points of a run or of one of its phases, (n_init, D)."""
    rng = generator(spec.seed, run, _DESIGN_STREAM + phase)
    return domain.from_uniform(spec.design(spec.n_init, domain.d, rng))


def suggest(
    domain: Domain, batch: Batch, number: int, spec: ModelSpec, warmth: Warmth, reference: Array = HOST
) -> Suggestion:
    """The next point of every run; `number` counts all points asked for before."""
    R = len(batch.run_ids)
    with engine(min(batch.X.shape[1], most_points(spec.max_points, reference))):
        if number < spec.n_init:
            return _design(domain, batch, number, spec, warmth, reference)
        now = (batch.X.shape[1],) * R
        # evaluations may have been taken out since: what is left of those before counts as evaluated before
        begun = tuple(map(min, warmth.begun, now)) if warmth.begun and spec.restarts else now
        phases = phases_of(batch, spec, begun) if spec.restarts else []
        warmth = warmth.in_phases(tuple(phase.number for phase in phases) or (0,) * R)
        found = []
        for rows, phase in _by_phase(phases, R):
            part, warm = (batch, warmth) if len(rows) == R else (batch.part(rows), warmth.part(rows))
            found += [(rows[g], own) for g, own in _in_phase(domain, part, phase, number, spec, warm, reference)]
    if len(found) == 1:
        suggestion = found[0][1]
        return replace(suggestion, warmth=replace(suggestion.warmth, begun=begun, phases=warmth.phases))
    x, status = np.empty((R, domain.n_inputs)), np.empty(R, dtype=object)
    for rows, suggestion in found:
        x[rows], status[rows] = suggestion.x, suggestion.status
    ends = together([(rows, suggestion.warmth) for rows, suggestion in found], R)
    return Suggestion(x, replace(ends, begun=begun, phases=warmth.phases), tuple(status.tolist()))


def _by_phase(phases: list[Phase], R: int) -> list[tuple[np.ndarray, Phase | None]]:
    """The runs that are equally far in equal phases; None: all evaluations count, as everywhere without restarts."""
    if not phases:
        return [(np.arange(R), None)]
    groups: dict[tuple[int, ...], list[int]] = {}
    for r, phase in enumerate(phases):
        key = (phase.number, phase.asked, len(phase.columns)) if phase.anew else ()
        groups.setdefault(key, []).append(r)
    return [
        (
            np.asarray(rows),
            replace(phases[rows[0]], columns=np.stack([phases[r].columns for r in rows])) if key else None,
        )
        for key, rows in groups.items()
    ]


def _in_phase(
    domain: Domain, batch: Batch, phase: Phase | None, number: int, spec: ModelSpec, warmth: Warmth, reference: Array
) -> list[tuple[np.ndarray, Suggestion]]:
    """The next points of runs that are in one phase: rows that are computed together, and theirs."""
    n_design, own = min(spec.n_init, ANEW), spec
    if phase is not None:
        batch = split(batch, phase.columns)
        warps = ALL_LEVELS if spec.warps == ABOVE else spec.warps  # another view of a plain with pits
        own = replace(spec, n_init=number - phase.asked + n_design, warps=warps)  # where its model speaks first
    groups, found = _alike(batch, warmth, reference), []
    for g in groups:
        part, warm = (batch, warmth) if len(groups) == 1 else (batch.part(g), warmth.part(g))
        if phase is not None and (phase.asked < n_design or not bool(part.ok.any())):
            point = _design_anew(domain, part, phase, number, replace(spec, n_init=n_design), warm, reference)
        else:
            point = _suggest(domain, part, number, own, warm, reference)
        found.append((g, point))
    return found


def _design_anew(
    domain: Domain, batch: Batch, phase: Phase, number: int, spec: ModelSpec, warmth: Warmth, reference: Array
) -> Suggestion:
    """A point of the design with which a phase begins anew; the nearest that may succeed, where that one may not.

    After the design, while nothing has succeeded: any point that may succeed.
    """
    generators = tuple(generator(spec.seed, run, number) for run in batch.run_ids)
    others = candidates.uniform(domain, generators, _LIKELY)
    draws = starts_of_searches(spec, batch.X.shape[2], generators, reference)[:, 1]
    success, _ = fit_failures(batch, batch.failed, spec, warmth, draws, reference)
    x, earlier = [], batch.earlier
    for r, run in enumerate(batch.run_ids):
        tried = others[r]
        if phase.asked < spec.n_init:
            tried = np.concatenate([initial_design(domain, spec, run, phase.number)[phase.asked][None], tried])
        if success is not None and bool(batch.failed[r].any() or (earlier is not None and earlier.failed[r].any())):
            tried = tried[_likely_first(tried, success.select(slice(r, r + 1)), spec, reference)]
        x.append(or_new(domain, batch, r, tried[0], spec, number))
    return Suggestion(np.stack(x), warmth, ("design",) * len(x))


def _likely_first(tried: np.ndarray, success: Weight, spec: ModelSpec, reference: Array) -> np.ndarray:
    """The order (m,) of points (m, D): those that are as likely to work as is asked, the nearest to the first before.

    Where hardly any is, the likeliest tenth counts, so that the points of a design do not gather where P is largest.
    """
    assert spec.failures is not None  # they are learned
    p = to_host(success.probability(like(tried[None], reference)))[0]
    asked = to_host(success.asked())[0, 0] if success.least > 0.0 else spec.failures.least
    far = ((tried - tried[0]) ** 2).sum(axis=1)
    return np.lexsort((far, p < min(asked, float(np.quantile(p, 1.0 - _LIKELIEST)))))


def _design(domain: Domain, batch: Batch, number: int, spec: ModelSpec, warmth: Warmth, reference: Array) -> Suggestion:
    """A point of the initial design of every run, or one that may succeed where everything has failed."""
    x, status = [], []
    for r, run in enumerate(batch.run_ids):
        likely = likely_point(domain, batch, r, number, spec, reference) if number % 2 else None
        point = initial_design(domain, spec, run)[number] if likely is None else likely
        x.append(or_new(domain, batch, r, point, spec, number))
        status.append("design" if likely is None else "random")
    return Suggestion(np.stack(x), warmth, tuple(status))


def _alike(batch: Batch, warmth: Warmth, reference: Array) -> list[np.ndarray]:
    """Rows of the runs that are computed together."""
    R, n = batch.y.shape
    if R == 1:
        return [np.arange(R)]
    if on_cuda(reference):  # launches count: one for all, padded, but for runs that begin afresh
        new = _age(warmth.objective, R, n) == 0
        return [rows for rows in (np.flatnonzero(new), np.flatnonzero(~new)) if len(rows)]
    kinds = np.stack([*_counts(batch), _age(warmth.objective, R, n), _age(warmth.failures, R, batch.n_labels)], axis=1)
    if batch.earlier is not None:  # a run without any failure learns of none
        kinds = np.concatenate([kinds, np.stack(_counts(batch.earlier), axis=1)], axis=1)
    if batch.outputs is not None:
        kinds = np.concatenate([kinds, (~np.isnan(batch.outputs)).sum(axis=2)], axis=1)
    _, group = np.unique(kinds, axis=0, return_inverse=True)
    return [np.flatnonzero(group.ravel() == g) for g in range(int(group.max()) + 1)]


def _counts(batch: Batch) -> tuple[np.ndarray, np.ndarray]:
    """Of each run: its successes, and what it has seen."""
    R, n = batch.y.shape
    return batch.ok.sum(axis=1), np.full(R, n) if batch.seen is None else batch.seen.sum(axis=1)


def _age(state: FitState | None, R: int, n: int) -> np.ndarray:
    """Of each run: 0 without a state, 1 where a cold search is due, 2 where a warm one is."""
    if state is None or len(state.theta) != R:
        return np.zeros(R, int)
    cold = [has_grown(n, n_cold) for n_cold in state.n_cold]
    return np.where(np.isnan(state.theta).all(axis=1), 0, np.where(cold, 1, 2))


def _suggest(
    domain: Domain, batch: Batch, number: int, spec: ModelSpec, warmth: Warmth, reference: Array
) -> Suggestion:
    R = len(batch.run_ids)
    generators = tuple(generator(spec.seed, run, number) for run in batch.run_ids)
    parts = [(rows, policy_at(name, number - spec.n_init)) for name, rows in _by_policy(batch, spec)]
    needs_model = any(policy.prepare is not None for _, policy in parts)
    x = np.empty((R, domain.n_inputs))
    status = ["random"] * R
    for rows, policy in parts:
        if policy.prepare is None:  # before the fit, which draws too
            x[rows] = _random(domain, batch.part(rows), spec, generators[rows], number)
        elif not bool(batch.ok.any()):  # everything failed so far
            x[rows] = seek(domain, batch.part(rows), number, spec, generators[rows], reference)
    if not needs_model or not bool(batch.ok.any()):
        return Suggestion(x, warmth, tuple(status))
    batch = without_walls(batch, spec.limits) if len(spec.warps) > 1 else batch  # as the model sees it
    model = fit_model(batch, spec, warmth, generators, reference)
    near = _near(domain, batch, number, spec, model, generators, reference)
    asked = [(rows, policy, model.part(rows)) for rows, policy in parts if policy.prepare is not None]
    asked = [] if len(near) == R else asked
    hunts = [hunt_for(batch.part(rows), generators[rows], own, policy, spec) for rows, policy, own in asked]
    proposals = spec.search.propose(domain, hunts, reference)
    for (rows, policy, own), first, found in zip(asked, hunts, proposals, strict=True):
        hunt, proposed = _closer(domain, first, own, policy, spec, found, reference)
        x[rows], status[rows] = choose(domain, hunt, own, spec, proposed, reference)
    for run, point in near.items():
        x[run], status[run] = point, "policy"
    for r in np.flatnonzero(~batch.ok.any(axis=1)) if needs_model else ():  # only beside others, on a GPU
        x[r] = seek(domain, batch.part(np.asarray([r])), number, spec, generators[r : r + 1], reference)[0]
    return Suggestion(x, model.warmth, tuple(status))


def _near(
    domain: Domain,
    batch: Batch,
    number: int,
    spec: ModelSpec,
    model: Model,
    generators: Generators,
    reference: Array,
) -> dict[int, np.ndarray]:
    """The next points (D,) of the runs that have a zoom, by run."""
    found = {}
    for r in range(len(model.noisy)) if zooms(spec, number) else ():
        row = slice(r, r + 1)
        one, own = batch.part(row), model.part(row)
        zoom = None if sees_noise(own) else zoom_of(domain, one, own)
        if zoom is None or DEFAULT_POLICY not in (one.policies or (spec.policy,)):
            continue
        near = zoom.spec(spec)
        seen = fit_model(zoom.batch, near, Warmth(), generators[row], reference)
        if sees_noise(seen):
            continue
        policy = policy_at(DEFAULT_POLICY, number - spec.n_init)
        hunt = hunt_for(zoom.batch, generators[row], replace(seen, success=zoom.success(own.success)), policy, near)
        [proposals] = spec.search.propose(zoom.domain, [hunt], reference)
        points = domain.snap(zoom.domain.out(to_host(proposals.x)[0]))
        index = candidates.first_new(points, one.taken(0), spec.min_distance)
        if index is not None:
            found[r] = points[index]
    return found


def _by_policy(batch: Batch, spec: ModelSpec) -> list[tuple[str, slice]]:
    """The policies and the runs that follow each."""
    if batch.policies is None:
        return [(spec.policy, slice(0, len(batch.run_ids)))]
    parts: list[tuple[str, slice]] = []
    for r, name in enumerate(batch.policies):
        if parts and parts[-1][0] == name:
            parts[-1] = (name, slice(parts[-1][1].start, r + 1))
        else:
            parts.append((name, slice(r, r + 1)))
    return parts


def _random(domain: Domain, batch: Batch, spec: ModelSpec, generators: Generators, number: int) -> np.ndarray:
    """A uniform point for every run: no model is asked."""
    drawn = candidates.uniform(domain, generators, 1)[:, 0]
    return np.stack([or_new(domain, batch, r, drawn[r], spec, number) for r in range(len(drawn))])


def hunt_for(batch: Batch, generators: Generators, model: Model, policy: Policy, spec: ModelSpec) -> Hunt:
    """What the search maximizes."""
    surrogate, f_best, limits = model.objective, model.f_best, _limits(model)
    if batch.pending.shape[1] > 0:  # kriging believer
        pending = like(batch.pending, f_best)
        believed, sd = surrogate.moments(pending)
        xp = namespace(believed)
        if limits is not None:
            slack, _ = limits.within.slack_and_gradient(pending, 0.0)
            believed = xp.where(xp.all(slack >= 0.0, axis=2), believed, xp.inf)
            limits = replace(limits, within=limits.within.add_points(pending))
        refines = _refines(pending, believed - f_best, sd, surrogate.rates)
        f_best = xp.minimum(f_best, xp.min(believed, axis=1, keepdims=True))
        f_best = xp.where(refines, f_best - RELEVANT, f_best)
        surrogate = surrogate.add_points(pending)
    prepare = policy.prepare
    assert prepare is not None  # RND is drawn elsewhere
    if policy.exact_as is not None and spec.search.is_exact and model.success is None and limits is None:
        prepare = policy.exact_as
    score = prepare(Step(surrogate, f_best, generators, spec.kappa))
    if model.success is None and limits is None:
        return Hunt(batch, generators, model.scaling, Target(policy, score, surrogate, f_best))
    y = np.where(batch.ok, model.scaling.forward(np.where(batch.ok, batch.y, 0.0)), -np.inf)
    y_worst = like(y.max(axis=1, keepdims=True), f_best)
    weights = () if model.success is None else (model.success,)
    if limits is not None:
        score = score if bool(limits.found.all()) else score.where(like(limits.found, f_best))
        weights = (*weights, Weight(limits.within))
    target = Target(policy, score, surrogate, f_best, weights, y_worst)
    return Hunt(batch, generators, model.scaling, target, limits)


def _refines(pending: Array, above: Array, sd: Array, rates: Array) -> Array:
    """Whether a pending point of a run only refines, (R, 1): its value is known well, and near or below the best.

    Or it lies beside another one. above (R, e): what is believed of it, over the best value; sd (R, e); rates (R, d).
    """
    xp = namespace(pending)
    known = xp.any((sd < RELEVANT) & (above < RELEVANT), axis=1, keepdims=True)
    scaled = pending * rates[:, None]
    apart = xp.max(xp.abs(scaled[:, :, None] - scaled[:, None]), axis=3)  # (R, e, e), in length scales
    beside = xp.sum(xp.astype(apart < BESIDE, sd.dtype), axis=(1, 2)) > pending.shape[1]  # each is beside itself
    return known | beside[:, None]


def _closer(
    domain: Domain, hunt: Hunt, model: Model, policy: Policy, spec: ModelSpec, found: Proposals, reference: Array
) -> tuple[Hunt, Proposals]:
    """The search again, with evaluations that were left out near what it found (many.py), and all that it found."""
    if model.rows is None or hunt.limits is not None:
        return hunt, found
    xp = namespace(found.x)
    batch, x, best = hunt.batch, found.x, found.x
    for _ in range(ROUNDS):
        near = left_out_near(batch, model.rows, to_host(best), to_host(model.objective.rates))
        if near is None:
            break
        more = batch.of_evaluations(near)
        y = like(model.scaling.forward(more.y), found.x)
        objective = model.objective.add_points(like(more.X, found.x), y)
        model = replace(model, objective=objective, rows=np.concatenate([model.rows, near], axis=1))
        hunt = hunt_for(batch, hunt.generators, model, policy, spec)
        best = spec.search.propose(domain, [hunt], reference)[0].x
        x = xp.concat([best, x], axis=1)
    value = hunt.target.values(x)
    order = xp.argsort(-value, axis=1, stable=True)
    runs = like(range(x.shape[0]), x)[:, None]
    return hunt, Proposals(x[runs, order], value[runs, order])


def _limits(model: Model) -> Limits | None:
    """The limits on outputs that the search takes into account: of those that have been computed."""
    outputs = model.outputs
    if outputs is None or outputs.within is None:
        return None
    return Limits(outputs.within, outputs.merit, outputs.found)
