"""Policies by name, and how a user adds one.

A policy scores numbers (mu, sd, f_best), never a model. `prepare` is called once per step with the `Step`, may draw
what the policy needs (MES: samples of the minimum), and returns the `Score`. ES and PES, which ask how f(x) hangs
together with f elsewhere, return a `JointScore`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from surefoot.acquisition import entropy
from surefoot.acquisition.entropy_search import prepare_es
from surefoot.acquisition.improvement import Partials, log_ei, log_pi, log_scaled_ei
from surefoot.acquisition.naive import mn
from surefoot.acquisition.optimistic import lcb
from surefoot.acquisition.predictive_entropy import prepare_pes
from surefoot.acquisition.score import JointScore, Score
from surefoot.acquisition.step import Step
from surefoot.backend import Array, namespace
from surefoot.errors import InvalidInputError, UnknownNameError, shown
from surefoot.expect import nearest
from surefoot.numerics.designs import draw, kronecker

UserPolicy = Callable[[Array, Array, Array], "Partials | Array"]


@dataclass(frozen=True)
class Policy:
    """A named policy.

    is_log: the score is the logarithm of the (positive) policy.
    rises_with_sd: where the score is known not to fall when sd grows; screening then skips most variances.
    exact_as: another score with the same maximizers that does not saturate, for the exact unweighted search.
    is_level: the score is a value of -y (MN, LCB), which has a zero of its own in the user's units.
    is_in_units_of_y: the policy is measured in the user's units (MN, LCB, EI); the others are pure numbers.
    """

    name: str
    prepare: Callable[[Step], Score | JointScore] | None  # None: no model is asked (RND)
    is_log: bool
    rises_with_sd: Literal["always", "above f_best", "unknown"] = "unknown"
    exact_as: Callable[[Step], Score] | None = None
    is_level: bool = False
    is_in_units_of_y: bool = False


def _improvement(score: Callable[[Array, Array, Array], Partials]) -> Callable[[Step], Score]:
    return lambda step: Score(score, (step.f_best,))


def _prepare_lcb(step: Step) -> Score:
    return Score(lcb, (namespace(step.f_best).full_like(step.f_best, step.kappa),))


def _minimum_points(step: Step, n_points: int) -> Array:
    """Points over which f* is sampled: a lattice, other each step, and the observations, (R, m, d)."""
    d = step.surrogate.X.shape[-1]
    grid = draw(step.generators, lambda rng: kronecker(n_points, d, rng), step.surrogate.X)
    return namespace(grid).concat([grid, step.surrogate.X], axis=1)


def _mes(f_star: Array) -> Score:
    # h falls with gamma = (mu - f*)/sd, so its mean over the samples is at most h at the largest of them
    largest = namespace(f_star).max(f_star, axis=1, keepdims=True)
    return Score(entropy.log_mes, (f_star,), above=Score(entropy.log_mes, (largest,)))


def _prepare_mes_g(step: Step) -> Score:
    x = _minimum_points(step, 2000)
    mu, sd = step.surrogate.moments(x)
    uniforms = draw(step.generators, lambda rng: rng.random(entropy.N_SAMPLES), x)
    return _mes(entropy.sample_minimum_gumbel(mu, sd, step.f_best, uniforms))


def _prepare_mes_r(step: Step) -> Score:
    x = _minimum_points(step, 1000)
    return _mes(entropy.sample_minimum(step.surrogate.sample_paths(x, step.generators, entropy.N_SAMPLES), step.f_best))


_POLICIES: dict[str, Policy] = {}


def _add(policy: Policy) -> None:
    _POLICIES[policy.name.lower()] = policy


_add(Policy("RND", None, is_log=False))
_add(Policy("MN", lambda step: Score(mn), False, "always", is_level=True, is_in_units_of_y=True))
_add(Policy("LCB", _prepare_lcb, False, "always", is_level=True, is_in_units_of_y=True))
# log PI is 0 to rounding from u = 8.3 on; ScaledEI ranks all points as PI does and goes on rising
# (docs/understanding/scaled-ei.md).
_add(Policy("PI", _improvement(log_pi), True, "above f_best", exact_as=_improvement(log_scaled_ei)))
_add(Policy("EI", _improvement(log_ei), is_log=True, rises_with_sd="always", is_in_units_of_y=True))
_add(Policy("ScaledEI", _improvement(log_scaled_ei), is_log=True, rises_with_sd="above f_best"))
_add(Policy("MES", _prepare_mes_g, is_log=True, rises_with_sd="above f_best"))
_add(Policy("MES-R", _prepare_mes_r, is_log=True, rises_with_sd="above f_best"))
_add(Policy("ES", prepare_es, is_log=True))
_add(Policy("PES", prepare_pes, is_log=True))

PAPER_POLICIES = ("RND", "MN", "LCB", "PI", "EI", "MES", "ScaledEI")

# Policies that take turns: the k-th model-based step uses entry k modulo the length. Two exact EI steps find the
# basin, one exact ScaledEI step refines in it; either alone loses badly somewhere (docs/understanding/scaled-ei.md).
ALTERNATIONS: dict[str, tuple[str, ...]] = {"alternate": ("EI", "EI", "ScaledEI")}
DEFAULT_POLICY = "alternate"


def policy_names() -> tuple[str, ...]:
    """All names that `policy=` takes."""
    return (*ALTERNATIONS, *(policy.name for policy in _POLICIES.values()))


def check_policy(name: str) -> str:
    """The canonical spelling of a policy's name; an error that lists the names when there is none."""
    if isinstance(name, str):
        if name.lower() in ALTERNATIONS:
            return name.lower()
        if name.lower() in _POLICIES:
            return _POLICIES[name.lower()].name
    spelled = {known.lower(): known for known in policy_names()}
    meant = spelled[(nearest(name, spelled) if isinstance(name, str) else None) or DEFAULT_POLICY]
    raise UnknownNameError(
        f"expected a policy, one of {', '.join(policy_names())}; got {name!r}; "
        f"try policy={meant!r}, or add your own with surefoot.register_policy"
    )


def policy_at(name: str, number: int) -> Policy:
    """The policy that step `number` of a run uses under that name."""
    key = check_policy(name).lower()
    turns = ALTERNATIONS.get(key)
    return _POLICIES[turns[number % len(turns)].lower() if turns else key]


def register_policy(name: str, function: UserPolicy, *, is_log: bool = False) -> None:
    """Make `policy=name` available: function(mu, sd, f_best) -> score to be maximized.

    All three are arrays, of standardized values to be minimized; f_best broadcasts. The function returns the
    score, or the score and its partial derivatives in mu and sd; without them central differences are used.
    is_log: the score is the logarithm of a positive quantity (better for searching).
    """
    if not isinstance(name, str) or not name.strip() or not callable(function):
        raise InvalidInputError(
            f"expected a name and a function of (mu, sd, f_best); got {shown(name)} and {shown(function)}; "
            "try register_policy('cautious', cautious)"
        )
    key = name.lower()
    if key in ALTERNATIONS or (key in _POLICIES and _POLICIES[key].name in (*PAPER_POLICIES, "MES-R", "ES", "PES")):
        raise InvalidInputError(f"expected a new policy name; got {name!r}, which is built in; try another name")

    def score(mu: Array, sd: Array, f_best: Array) -> Partials:
        out: Any = function(mu, sd, f_best)
        for part in out if isinstance(out, tuple) else (out,):
            if getattr(part, "shape", None) != mu.shape:
                raise InvalidInputError(
                    f"expected policy {name!r} to return an array of the shape {tuple(mu.shape)} of mu, or three of "
                    f"them; got {shown(part, 80)}; try a formula of mu, sd and f_best, without loops"
                )
        if isinstance(out, tuple):
            return out
        value: Callable[..., Any] = function
        h = 1e-5 * sd  # moments enter through (f_best - mu)/sd: the natural step is relative to sd
        d_mu = (value(mu + h, sd, f_best) - value(mu - h, sd, f_best)) / (2.0 * h)
        d_sd = (value(mu, sd + h, f_best) - value(mu, sd - h, f_best)) / (2.0 * h)
        return out, d_mu, d_sd

    _add(Policy(name, _improvement(score), is_log=is_log))
