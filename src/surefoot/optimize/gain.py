"""The probability that more evaluations gain more than so much: what is left to be had.

Gain      by how much the best value of m more evaluations is better than the present best, within all limits. With
          material noise both are values of the function without it, as the model has them.
More than a number in the objective's unit, or per cent of the absolute value of the present best.
Estimate  q, the share of functions drawn from the posterior in which a batch of m points, chosen at once, gains
          (engine/gain.py). An optimizer learns as it goes, which gains more; models of few evaluations are too sure.
          So q is calibrated: logit P = A + B logit q - C log(n / d), after n evaluations of d parameters, with A, B and
          C fitted by `python -m benchmarks.stopping` to what runs really gained in EVALUATIONS more.
Beyond    Where no function gains, P is what runs gain all the same, whatever was asked for. So it is that of a batch of
          EVALUATIONS, each of m alike; and no more than m / (1 + k^2), k the gain in standard deviations of the values
          so far: by Cantelli's inequality no distribution has more beyond.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from surefoot.backend import engine
from surefoot.engine.choose import is_exhausted
from surefoot.engine.gain import N_DRAWN, Drawn, draw_functions
from surefoot.errors import InvalidInputError, shown
from surefoot.expect import is_number
from surefoot.optimize.allowed import domain_of

if TYPE_CHECKING:
    from surefoot.optimize.result import Result

MORE_THAN, EVALUATIONS = "1 %", 20  # what is reported where nothing else is asked for
CALIBRATION = (4.64, 0.535, 1.825)  # A, B, C
_PER_CENT = re.compile(r"\s*(\d{1,3}(?:\.\d*)?|\.\d+)\s*%\s*")


@dataclass(frozen=True)
class Gain:
    """How likely it is that more evaluations pay."""

    probability: float
    more_than: float | str  # as it was asked for: "1 %" of the absolute value of the best, or a number in its unit
    evaluations: int

    def __str__(self) -> str:
        p = "less than 0.01" if self.probability < 0.01 else f"{min(self.probability, 0.99):.2f}"
        p = f"more than {p}" if self.probability > 0.99 else p
        much = self.more_than if isinstance(self.more_than, str) else f"{self.more_than:g}"
        return f"the probability that {self.evaluations} more evaluations gain more than {much} is {p}"


def checked_gain(more_than: Any) -> float | str:
    """More than how much, as it was asked for; an error if it is neither a number nor per cent."""
    found = _PER_CENT.fullmatch(more_than) if isinstance(more_than, str) else None
    if found:
        return f"{float(found[1]):g} %"
    if not is_number(more_than) or more_than < 0.0:
        raise InvalidInputError(
            "expected more_than as per cent of the best value ('1 %') or as a number of at least 0 in its unit; "
            f"got {shown(more_than)}; try more_than='1 %'"
        )
    return float(more_than)


class Outlook:
    """What may be gained from where a result stands; functions are drawn once, on first use."""

    def __init__(self, result: Result) -> None:
        self._result = result

    def __repr__(self) -> str:
        n = self._result.nfev
        told = self.gain(MORE_THAN, EVALUATIONS) or "what may be gained is not known"
        return f"<outlook after {n} evaluation{'s' * (n != 1)}: {told}>"

    @cached_property
    def drawn(self) -> Drawn | None:
        """None where there is no best value to be better than, or the domain is not known."""
        result = self._result
        if not result.feasible:
            return None
        try:
            domain = domain_of(result.space)
        except InvalidInputError:  # a constraint that a file could not hold
            return None
        model = result.model.fitted
        with engine(result.nfev):
            return draw_functions(domain, result.batch, model, result.settings.spec)

    @cached_property
    def _nothing_is_left(self) -> bool:
        """Whether every point of a finite space has been evaluated, without noise."""
        result = self._result
        noisy = bool(result.model.fitted.noisy[0])
        return is_exhausted(domain_of(result.space), result.batch, 0, result.settings.spec, noisy)

    def share(self, more_than: float | str, evaluations: int) -> float | None:
        """q."""
        if self.drawn is None:
            return None
        scaling = self._result.model.fitted.scaling
        best = scaling.warp.inverse(scaling.shift + scaling.scale * self.drawn.best)  # (1, 1), as it is minimized
        less = _amount(more_than, float(best[0, 0]))
        return self.drawn.share(float(scaling.forward(best - less)[0, 0]), evaluations)

    def gain(self, more_than: float | str, evaluations: int) -> Gain | None:
        """The probability; None where it cannot be told."""
        share, result = self.share(more_than, evaluations), self._result
        if share is None:
            return None
        if self._nothing_is_left:
            return Gain(0.0, more_than, evaluations)
        p = calibrated(share, result.nfev / result.space.d)
        if share == 0.0:
            p = 1.0 - (1.0 - p) ** min(1.0, evaluations / EVALUATIONS)
        return Gain(min(p, self._at_most(more_than, evaluations)), more_than, evaluations)

    def _at_most(self, more_than: float | str, evaluations: int) -> float:
        """What P cannot exceed, whatever the model; 1 where all values so far are equal and tell no scale."""
        result = self._result
        y = result.batch.y[0][result.batch.ok[0]]
        with np.errstate(over="ignore", invalid="ignore"):
            sd = float(np.std(y))
        if not 0.0 < sd < math.inf:
            return 1.0
        k = _amount(more_than, result.fun) / sd
        return min(1.0, evaluations / (1.0 + k * k)) if k < 1e100 else 0.0


def _amount(more_than: float | str, best: float) -> float:
    return more_than if isinstance(more_than, float) else 0.01 * float(more_than.split()[0]) * abs(best)


def calibrated(share: float, per_parameter: float) -> float:
    """P from q and the evaluations per parameter."""
    a, b, c = CALIBRATION
    return 1.0 / (1.0 + math.exp(-(a + b * logit(share) - c * math.log(per_parameter))))


def logit(share: float) -> float:
    """Of a share of the functions that judge; none and all of them count as half a function and all but half a one."""
    least = 1.0 / N_DRAWN
    p = min(max(share, least), 1.0 - least)
    return math.log(p / (1.0 - p))
