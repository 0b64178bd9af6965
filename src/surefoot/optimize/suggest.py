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
from surefoot.acquisition.registry import Step, policy_at
from surefoot.acquisition.success import Target
from surefoot.backend import Array, engine, like, namespace, to_host
from surefoot.errors import SpaceExhaustedError
from surefoot.failures.registry import FAILURE_MODELS, Link
from surefoot.gp.fit import N_RANDOM_STARTS, Fit, FitState, fit, is_healthy
from surefoot.gp.kernels import get_kernel
from surefoot.gp.likelihood import make_data
from surefoot.gp.posterior import Posterior, add_points, condition, moments
from surefoot.numerics.designs import DESIGNS, Generators, generator
from surefoot.numerics.scaling import standardize
from surefoot.optimize import candidates
from surefoot.optimize.history import Warmth
from surefoot.optimize.settings import NOISE_ESTIMATED, Settings
from surefoot.optimize.space import Space

HOST = np.zeros(0)  # stands for "NumPy, on the host"
MATERIAL_NOISE = 1e-4  # noise variance over the variance of y above which f_best is a posterior mean
_DESIGN_STREAM = 2**31  # the iteration number under which the initial design is drawn


@dataclass(frozen=True)
class Runs:
    """The histories of R runs, padded to equal length."""

    X: np.ndarray  # (R, n, D)
    y: np.ndarray  # (R, n)
    ok: np.ndarray  # (R, n) evaluated, with a finite value
    pending: np.ndarray  # (R, e, D) asked for, not yet told
    run_ids: tuple[int, ...]
    seen: np.ndarray | None = None  # (R, n) False for padding and transient failures; None: all seen

    @property
    def failed(self) -> np.ndarray:
        """(R, n) evaluated, and failed in a way that teaches."""
        return ~self.ok if self.seen is None else self.seen & ~self.ok


@dataclass(frozen=True)
class Model:
    """Everything fitted in one step, of R runs."""

    objective: Posterior
    failures: Posterior | None
    link: Link | None  # from the moments of `failures` to log P(success)
    shift: np.ndarray  # (R, 1): y = shift + scale * standardized
    scale: np.ndarray  # (R, 1)
    noisy: np.ndarray  # (R,) the noise is material
    f_best: Array  # (R, 1), standardized
    jitter_raised: np.ndarray  # (R,)
    warmth: Warmth


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


def fit_model(runs: Runs, settings: Settings, warmth: Warmth, generators: Generators, reference: Array = HOST) -> Model:
    """Fit the objective, and where evaluations have failed the failures, of every run."""
    kernel = get_kernel(settings.kernel)
    failed = runs.failed
    if settings.failures == "impute":
        runs = _impute(runs, failed)
    y, shift, scale = standardize(runs.y, runs.ok)
    p = runs.X.shape[-1] + 1
    uniforms = like(np.stack([rng.random((2, N_RANDOM_STARTS, p)) for rng in generators]), reference)
    all_ok = bool(runs.ok.all())
    fixed = settings.noise not in (NOISE_ESTIMATED, 0)
    # far below the floor of lam a fixed noise is no noise
    variance = np.maximum((np.asarray(settings.noise, dtype=float) / scale[:, 0]) ** 2, 1e-14) if fixed else None
    mask = None if all_ok else like(runs.ok.astype(float), reference)
    if all_ok or runs.X.shape[0] > 1:
        X = like(runs.X, reference)
        data = make_data(X, like(y, reference), mask, None if variance is None else like(variance, reference))
    else:  # one run: leave the failed rows out rather than mask them
        rows = runs.ok[0]
        X, y_ok = like(runs.X[:, rows], reference), like(y[:, rows], reference)
        data = make_data(X, y_ok, None, None if variance is None else like(variance, reference))
    result = fit(
        data,
        kernel,
        estimate_noise=settings.noise == NOISE_ESTIMATED,
        uniforms=uniforms[:, 0],
        state=_on(warmth.objective, runs, reference),
        n_history=runs.X.shape[1],
    )
    post = condition(data, result.theta, kernel)

    failures, failure_fit = None, None
    model = FAILURE_MODELS.get(settings.failures)
    if model is not None and bool(failed.any()):
        failures, failure_fit = model.fit(
            like(runs.X, reference),
            like(failed.astype(float), reference),
            None if runs.seen is None else like(runs.seen.astype(float), reference),
            kernel,
            uniforms[:, 1],
            _on(warmth.failures if warmth.failures_by == settings.failures else None, runs, reference),
        )
    noisy, f_best = _incumbent(post, data.y, data.mask)
    return Model(
        objective=post,
        failures=failures,
        link=None if model is None else model.link,
        shift=shift,
        scale=scale,
        noisy=noisy,
        f_best=f_best,
        jitter_raised=to_host(result.jitter_raised),
        warmth=Warmth(_off(result), None if failure_fit is None else _off(failure_fit), settings.failures),
    )


def _impute(runs: Runs, failed: np.ndarray) -> Runs:
    """Failed evaluations as if they had returned the worst value seen: what many libraries do."""
    worst = np.max(np.where(runs.ok, runs.y, -np.inf), axis=1, keepdims=True)
    known = failed & np.isfinite(worst)
    return replace(runs, y=np.where(known, worst, runs.y), ok=runs.ok | known)


def _incumbent(post: Posterior, y: Array, mask: Array | None) -> tuple[np.ndarray, Array]:
    """Whether noise is material, and f_best: min y, or with material noise the least posterior mean there.

    At an observation the posterior mean is y - lam alpha, as (C - lam I) alpha = r - lam alpha.
    """
    xp = namespace(y)
    noisy = post.lam * post.s2 > MATERIAL_NOISE  # of standardized y, whose variance is 1
    level = xp.where(noisy[:, None], y - post.lam[:, None] * post.alpha, y)
    if mask is not None:
        level = xp.where(mask > 0.0, level, xp.inf)
    return to_host(noisy), xp.min(level, axis=1, keepdims=True)


def suggest(
    space: Space, runs: Runs, number: int, settings: Settings, warmth: Warmth, reference: Array = HOST
) -> Suggestion:
    """The next point of every run; `number` counts all points asked for before."""
    with engine(runs.X.shape[1]):
        return _suggest(space, runs, number, settings, warmth, reference)


def _suggest(space: Space, runs: Runs, number: int, settings: Settings, warmth: Warmth, reference: Array) -> Suggestion:
    R = len(runs.run_ids)
    if number < settings.n_init:
        x = np.stack([initial_design(space, settings, run)[number] for run in runs.run_ids])
        new = [_or_new(space, runs, r, x[r], settings, number) for r in range(R)]
        return Suggestion(np.stack(new), warmth, ("design",) * R)
    generators = tuple(generator(settings.seed, run, number) for run in runs.run_ids)
    policy = policy_at(settings.policy, number - settings.n_init)
    if policy.prepare is None or not bool(runs.ok.any()):
        if policy.prepare is None:
            drawn = candidates.uniform(space, generators, 1)[:, 0]
            x = np.stack([_or_new(space, runs, r, drawn[r], settings, number) for r in range(R)])
        else:  # everything failed so far: look for a first success far from the failures
            x = np.stack([_explore(space, runs, r, settings, generators[r]) for r in range(R)])
        return Suggestion(x, warmth, ("random",) * R)

    model = fit_model(runs, settings, warmth, generators, reference)
    post, f_best = model.objective, model.f_best
    if runs.pending.shape[1] > 0:  # kriging believer
        pending = like(runs.pending, reference)
        believed, _ = moments(post, pending)
        xp = namespace(believed)
        f_best = xp.minimum(f_best, xp.min(believed, axis=1, keepdims=True))
        post = add_points(post, pending)
    prepare = policy.prepare
    if policy.exact_as is not None and settings.search == "gradient" and model.failures is None:
        prepare = policy.exact_as
    score = prepare(Step(post, f_best, generators, settings.kappa))
    target = Target(policy, score, post, f_best)
    if model.failures is not None:
        y = np.where(runs.ok, (np.where(runs.ok, runs.y, 0.0) - model.shift) / model.scale, -np.inf)
        has_failed = like(runs.failed.any(axis=1, keepdims=True), reference)
        target = replace(
            target,
            success=model.failures,
            link=model.link,
            y_worst=like(y.max(axis=1, keepdims=True), reference),
            has_failed=has_failed,
            min_success=settings.min_success,
        )
    proposals = _search(space, runs, settings, generators, target, reference)
    x, status = _choose(space, runs, settings, generators, target, model, proposals, reference)
    return Suggestion(x, model.warmth, status)


def _search(
    space: Space, runs: Runs, settings: Settings, generators: Generators, target: Target, reference: Array
) -> Proposals:
    if settings.search == "paper":
        return maximize_as_the_paper(target, like(candidates.uniform(space, generators, N_UNIFORM), reference))
    lattice = like(candidates.lattice(space, generators), reference)
    clouds = like(candidates.clouds(space, runs.X, runs.y, runs.ok, generators), reference)
    return maximize_by_gradient(target, lattice, clouds, like(space.free, reference))


def _choose(
    space: Space,
    runs: Runs,
    settings: Settings,
    generators: Generators,
    target: Target,
    model: Model,
    proposals: Proposals,
    reference: Array,
) -> tuple[np.ndarray, tuple[str, ...]]:
    """The best new proposal of every run, as a valid point."""
    x = space.snap(to_host(proposals.x))  # (R, q, D)
    if not space.is_continuous:
        x = _climb_steps(space, target, x, reference)
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
    """Proposals and their neighbours in integer and categorical parameters, best first."""
    for _ in range(3):
        around = np.stack([np.concatenate([x_r[:1], space.neighbours(x_r[0]), x_r[1:]]) for x_r in x])
        values = to_host(target.values(like(around, reference)))
        order = np.argsort(-np.nan_to_num(values, nan=-np.inf), axis=1, kind="stable")
        previous, x = x, np.take_along_axis(around, order[..., None], axis=1)
        if np.array_equal(previous[:, 0], x[:, 0]):
            break
    return x


def _taken(runs: Runs, r: int) -> np.ndarray:
    seen = runs.X[r] if runs.seen is None else runs.X[r][runs.seen[r]]
    return np.concatenate([seen, runs.pending[r]])


def _explore(
    space: Space, runs: Runs, r: int, settings: Settings, rng: np.random.Generator, noisy: bool = False
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


def _or_new(space: Space, runs: Runs, r: int, x: np.ndarray, settings: Settings, number: int) -> np.ndarray:
    """A design point, or another one if it has been evaluated already (small discrete spaces, points given)."""
    if candidates.first_new(x[None], _taken(runs, r), settings.min_distance) is not None:
        return x
    return _explore(space, runs, r, settings, generator(settings.seed, runs.run_ids[r], number))


def _on(state: FitState | None, runs: Runs, reference: Array) -> FitState | None:
    """A stored state as arrays like `reference`; None if it is damaged or of another space: then start afresh."""
    if state is None or state.theta.shape != (len(runs.run_ids), runs.X.shape[-1] + 1) or not is_healthy(state):
        return None
    return FitState(like(state.theta, reference), like(state.inv_hessian, reference), state.n_cold)


def _off(result: Fit) -> FitState:
    """A fit's state as host arrays, to be stored."""
    return FitState(to_host(result.state.theta), to_host(result.state.inv_hessian), result.state.n_cold)
