"""How suggestions are made: one frozen record, checked when it is made."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from surefoot.acquisition.optimistic import KAPPA
from surefoot.acquisition.registry import DEFAULT_POLICY, check_policy
from surefoot.errors import InvalidInputError, UnknownNameError
from surefoot.failures.registry import FAILURE_MODELS, NO_MODEL
from surefoot.gp.kernels import KERNELS
from surefoot.gp.priors import PRIORS
from surefoot.numerics.designs import DESIGNS
from surefoot.optimize.parameters import is_number

SEARCHES = ("gradient", "paper", "paper-absolute")
NOISE_ESTIMATED = "estimate"
KERNEL_CHOSEN = "auto"
WARPS = ("auto", "none")
PAPER_MODEL = {"kernel": "se", "warp": "none", "prior": "none"}  # the objective's process as the paper has it


@dataclass(frozen=True)
class Settings:
    """Everything but the space and the history that a suggestion depends on."""

    seed: int = 0
    n_init: int = 10
    policy: str = DEFAULT_POLICY
    kernel: str = KERNEL_CHOSEN  # of the objective: "matern52", "se", or "auto", the likelier of them
    search: str = "gradient"
    noise: float | str = NOISE_ESTIMATED  # standard deviation of y's noise, 0 for none, or "estimate"
    design: str = "lhs"
    kappa: float = KAPPA
    min_distance: float = 1e-8  # no proposal is closer to an evaluated point, in the unit cube
    failures: str = "label-regression"  # what is learned from failed evaluations
    warp: str = "auto"  # compress large values of y where the likelihood says so; "none": never
    prior: str = "short-scales"  # of the objective's length scales; "none": maximum likelihood
    min_success: float = 0.5  # proposals with a lower P(success) are avoided; 0: the paper's product alone

    @classmethod
    def of(cls, **values: Any) -> Settings:
        """Settings from keywords; an unknown one is an error that lists those that exist."""
        unknown = sorted(values.keys() - cls.__dataclass_fields__.keys())
        if unknown:
            raise InvalidInputError(
                f"expected settings among {', '.join(cls.__dataclass_fields__)}; got {', '.join(unknown)}; "
                "try help(surefoot.minimize)"
            )
        return cls(**values)

    def __post_init__(self) -> None:
        object.__setattr__(self, "policy", check_policy(self.policy))
        for what, value, names in (
            ("kernel", self.kernel, (KERNEL_CHOSEN, *KERNELS)),
            ("search", self.search, SEARCHES),
            ("design", self.design, tuple(DESIGNS)),
            ("failures", self.failures, (*FAILURE_MODELS, *NO_MODEL)),
            ("warp", self.warp, WARPS),
            ("prior", self.prior, tuple(PRIORS)),
        ):
            if value not in names:
                raise UnknownNameError(
                    f"expected a {what}, one of {', '.join(map(repr, names))}; got {value!r}; try {what}={names[0]!r}"
                )
        for what, integer, least in (("seed", self.seed, 0), ("n_init", self.n_init, 1)):
            if isinstance(integer, bool) or not isinstance(integer, int) or integer < least:
                raise InvalidInputError(
                    f"expected {what} as an integer of at least {least}; got {integer!r}; try {what}={max(least, 10)}"
                )
        noise = self.noise
        if noise != NOISE_ESTIMATED and not (is_number(noise) and 0.0 <= float(noise) < math.inf):
            raise InvalidInputError(
                f"expected noise='estimate' or the standard deviation of the noise, at least 0; got {self.noise!r}; "
                "try noise=0 for a deterministic simulator"
            )
        for what, number, below, example in (
            ("min_distance", self.min_distance, 0.5, 1e-8),
            ("min_success", self.min_success, 1.0, 0.5),
            ("kappa", self.kappa, math.inf, KAPPA),
        ):
            if not (is_number(number) and 0.0 <= number < below):
                raise InvalidInputError(f"expected {what} in [0, {below:g}); got {number!r}; try {what}={example:g}")
