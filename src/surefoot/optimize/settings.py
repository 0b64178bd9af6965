"""How suggestions are made: one frozen record, checked when it is made."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

from surefoot.acquisition.optimistic import KAPPA
from surefoot.acquisition.registry import DEFAULT_POLICY, check_policy
from surefoot.engine.searches import SEARCHES
from surefoot.engine.spec import ModelSpec
from surefoot.errors import InvalidInputError, UnknownNameError, shown
from surefoot.failures.registry import FAILURE_MODELS, NO_MODEL
from surefoot.gp.kernels import CONTEST, KERNELS, NO_SUMS
from surefoot.gp.priors import PRIORS
from surefoot.gp.registry import SURROGATES
from surefoot.numerics.designs import DESIGNS
from surefoot.numerics.warping import ABOVE, ALL_LEVELS
from surefoot.optimize.checks import as_integer, as_number, is_a, plain_number
from surefoot.optimize.keywords import check_keywords
from surefoot.optimize.limits import check_limits, limits_of

NOISE_ESTIMATED = "estimate"
WARPS = ("auto", "both", "none")
COSTS = ("evaluations", "time")
RESTARTS = ("auto", "settled", "none")
AUTO = "auto"  # as it suits the search and the noise; Settings say what that is
CONTESTS = {AUTO: CONTEST, "no-sums": NO_SUMS}  # of kernels
_ENOUGH = 14  # points of a design by default: from then on the model chooses better ones
_MOST_INITIAL = 100_000  # points of a design: each suggestion draws all of them


def default_n_init(d: int, n_evals: int | None = None) -> int:
    """2 d + 2 points, at most 14: better than the paper's 10 d, and no worse after 100 (docs/evidence/designs.md).

    Of a budget that is known at most half, or 4 of 5 to 7 (3 of 4, 2 of 3). Budgets of 28 or more do not matter: 56
    evaluations are 28 and 28 more.
    """
    wanted = min(2 * d + 2, _ENOUGH)
    return wanted if n_evals is None else min(wanted, max(1, n_evals // 2, min(4, n_evals - 1)))


@dataclass(frozen=True)
class Settings:
    """Everything but the space and the history that a suggestion depends on, as it is used.

    What is asked for as "auto" is resolved when the record is made: with one of the paper's searches the model is
    PAPER_MODEL wherever nothing else is asked for, and noise of a known size, which is known in the user's units,
    leaves the values as they are. An "auto" that is left means: the likelihood decides, again and again. What is
    asked for by name is taken at its word.
    """

    seed: int = 0  # of all random numbers
    n_init: int = 10  # points of the initial design
    policy: str = DEFAULT_POLICY  # what a suggestion maximizes
    # of the objective: "matern52", "se", "matern52-sums", or the likeliest: of all, or of two ("no-sums")
    kernel: str = AUTO
    search: str = "gradient"  # how the policy is maximized: exactly, or in one of three ways of the paper
    noise: float | str = NOISE_ESTIMATED  # standard deviation of y's noise, 0 for none, or "estimate"
    design: str = "lhs"  # how the initial design is drawn: a Latin hypercube
    kappa: float = KAPPA  # of the policy LCB: how many standard deviations below the mean
    min_distance: float = 1e-8  # no proposal is closer to an evaluated point, in the unit cube
    failures: str = (
        AUTO  # what is learned from failed evaluations: "experts"; as the paper searches, "label-regression"
    )
    warp: str = AUTO  # compress large values of y where the likelihood says so; "both": or low ones; "none": never
    prior: str = AUTO  # of the objective's length scales: "similar-scales", "short-scales", or "none"
    # proposals with a lower P(success) are avoided; 0: the paper's product alone; "auto": as it suits the failure model
    min_success: float | str = AUTO
    surrogate: str = "exact"  # the kind of model of the objective
    cost: str = "evaluations"  # what is saved: evaluations, or "time": failures count as much as they take
    failure_budget: int = 0  # failures that the run may have: as they are used up min_success grows; 0: no budget
    min_noise: float = 0.0  # the least noise that is estimated, as a share of y's standard deviation
    # "settled": a run that stands still in a minimum looks for another; "none": never; "auto": with the default policy
    restarts: str = AUTO
    max_points: int = 0  # evaluations that the model of the objective holds; 0: 1000, on a GPU 10 000
    outputs: Mapping[str, str] = field(
        default_factory=dict, hash=False
    )  # limits on outputs, by name: {"stress": "<= 250e6"}

    @classmethod
    def of(cls, **values: Any) -> Settings:
        """Settings from keywords; an unknown one is an error that names the nearest one."""
        check_keywords(values, cls.__dataclass_fields__, "minimize")
        return cls(**values)

    def __post_init__(self) -> None:
        for what, value, names in (
            ("kernel", self.kernel, (*CONTESTS, *KERNELS)),
            ("surrogate", self.surrogate, tuple(SURROGATES)),
            ("search", self.search, tuple(SEARCHES)),
            ("design", self.design, tuple(DESIGNS)),
            ("failures", self.failures, (AUTO, *FAILURE_MODELS, *NO_MODEL)),
            ("warp", self.warp, WARPS),
            ("prior", self.prior, (AUTO, *PRIORS)),
            ("cost", self.cost, COSTS),
            ("restarts", self.restarts, RESTARTS),
        ):
            if not is_a(value, str) or str(value) not in names:
                near = get_close_matches(str(value).lower(), names, 1) if is_a(value, str) else []
                raise UnknownNameError(
                    f"expected a {what}, one of {', '.join(map(repr, names))}; got {shown(value)}; "
                    f"try {what}={(near or names)[0]!r}"
                )
        if not is_a(self.policy, str):
            raise UnknownNameError(f"expected a policy's name; got {shown(self.policy)}; try policy={DEFAULT_POLICY!r}")
        self._set("policy", check_policy(self.policy))
        self._set("seed", as_integer("seed", self.seed, 0, 10))
        self._set("n_init", as_integer("n_init", self.n_init, 1, 10, _MOST_INITIAL))
        self._set("noise", _checked_noise(self.noise))
        self._set("min_distance", as_number("min_distance", self.min_distance, 0.0, 0.5, 1e-8))
        if not (is_a(self.min_success, str) and str(self.min_success) == AUTO):
            self._set("min_success", as_number("min_success", self.min_success, 0.0, 1.0, 0.7))
        self._set("failure_budget", as_integer("failure_budget", self.failure_budget, 0, 20))
        self._set("min_noise", as_number("min_noise", self.min_noise, 0.0, 1.0, 0.01))
        if self.min_noise > 0.0 and self.noise != NOISE_ESTIMATED:
            raise InvalidInputError(
                f"expected min_noise beside noise='estimate' alone; got noise={self.noise}; try min_noise=0"
            )
        self._set("max_points", as_integer("max_points", self.max_points, 0, 2000))
        self._set("kappa", as_number("kappa", self.kappa, 0.0, math.inf, KAPPA))
        self._set("outputs", check_limits(self.outputs))
        self._resolve()

    def _resolve(self) -> None:
        """Put what is used in the place of "auto"."""
        for name, value in SEARCHES[self.search].defaults.items():
            if getattr(self, name) == AUTO:
                self._set(name, value)
        if self.prior == AUTO:
            self._set("prior", "similar-scales")
        if self.failures == AUTO:
            self._set("failures", "experts")
        if self.min_success == AUTO:
            model = FAILURE_MODELS.get(self.failures)
            self._set("min_success", 0.0 if model is None else model.least)
        if self.restarts == AUTO:
            goes_on = self.policy != DEFAULT_POLICY or not SEARCHES[self.search].is_exact
            self._set("restarts", "none" if goes_on else "settled")
        if self.outputs:  # which may become known later: a run along limits does not begin anew
            self._set("restarts", "none")
        if self.noise not in (NOISE_ESTIMATED, 0):  # it is known in the user's units
            self._set("warp", "none")

    @property
    def _warps(self) -> tuple[int, ...]:
        """The levels that compete; with limits on outputs values are compressed on both sides of a centre instead."""
        if self.warp == "none":
            return (0,)
        return ALL_LEVELS if self.warp == "both" and not self.outputs else ABOVE

    @property
    def spec(self) -> ModelSpec:
        """What the engine works with: every name resolved to the thing that it names."""
        return ModelSpec(
            seed=self.seed,
            n_init=self.n_init,
            design=DESIGNS[self.design],
            policy=self.policy,
            kappa=self.kappa,
            search=SEARCHES[self.search],
            surrogate=SURROGATES[self.surrogate],
            kernels=CONTESTS.get(self.kernel) or (KERNELS[self.kernel],),
            warps=self._warps,
            prior=PRIORS[self.prior],
            noise=None if self.noise == NOISE_ESTIMATED else float(self.noise),
            min_noise=self.min_noise,
            failures=FAILURE_MODELS.get(self.failures),
            imputes=self.failures == "impute",
            min_success=float(self.min_success),
            failure_budget=self.failure_budget,
            by_time=self.cost == "time",
            min_distance=self.min_distance,
            max_points=self.max_points if SEARCHES[self.search].is_exact else sys.maxsize,
            limits=limits_of(self.outputs),
            restarts=self.restarts == "settled",
        )

    def _set(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)


def _checked_noise(noise: Any) -> float | str:
    if is_a(noise, str) and str(noise) == NOISE_ESTIMATED:
        return NOISE_ESTIMATED
    number = plain_number(noise)
    if number is None or not 0.0 <= number <= sys.float_info.max:
        raise InvalidInputError(
            f"expected noise='estimate' or the standard deviation of the noise, at least 0; got {shown(noise)}; "
            "try noise=0 for a deterministic simulator"
        )
    return number
