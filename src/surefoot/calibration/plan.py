"""What is asked of a calibration."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Self

from surefoot.errors import InvalidInputError
from surefoot.optimize.keywords import check_keywords

_NOT_OF_THE_SEARCH = ("loss", "n_evals", "posterior", "level")


@dataclass(frozen=True)
class Plan:
    """The search, as `minimize` takes it, its loss (loss.py), and what is wanted beside the best fit.

    The defaults are those that the root of a sum of squares wants: a smooth kernel, no warping
    (docs/understanding/inference.md).
    """

    loss: str = "likelihood"
    n_evals: int = 100
    n_init: int | None = None  # 10 per parameter, at most 30
    policy: str = "ScaledEI"
    search: str = "gradient"
    kernel: str = "se"
    failures: str = "ep"
    min_success: float = 0.5
    warp: str = "none"  # the root of the loss is minimized, which needs none
    prior: str = "none"
    seed: int = 0
    posterior: bool = True  # sample it too: about 15 simulations, and 12 per parameter
    level: float = 0.9  # of its intervals
    surrogate: str = "exact"  # the kind of model of the loss

    def __post_init__(self) -> None:
        if not 0.0 < self.level < 1.0:
            raise InvalidInputError(f"expected a level between 0 and 1; got {self.level!r}; try 0.9")

    def with_keywords(self, asked: dict[str, Any], door: str, others: Iterable[str] = ()) -> Self:
        """With other values for some of its fields, keywords of a function that knows others beside them."""
        check_keywords(asked, [*(f.name for f in fields(self)), *others], door)
        return replace(self, **asked)

    def search_settings(self, d: int) -> dict[str, Any]:
        """As `minimize` takes them, with d parameters."""
        n_init = min(10 * d, 30) if self.n_init is None else self.n_init
        return {k: v for k, v in asdict(self).items() if k not in _NOT_OF_THE_SEARCH} | {"n_init": n_init}

    def told(self) -> dict[str, Any]:
        """As a result keeps them: what its intervals say themselves is left out."""
        return {key: value for key, value in asdict(self).items() if key not in ("posterior", "level")}
