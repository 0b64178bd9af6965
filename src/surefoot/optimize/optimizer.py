"""Ask and tell: the optimizer for somebody with a loop, a cluster or a laboratory of their own."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, overload

import numpy as np

from surefoot.errors import InvalidInputError, NumericalWarning
from surefoot.optimize.evaluate import as_evaluation
from surefoot.optimize.history import Evaluation, History
from surefoot.optimize.parameters import Value
from surefoot.optimize.result import Result, make_result
from surefoot.optimize.settings import Settings
from surefoot.optimize.space import Space
from surefoot.optimize.suggest import Runs, suggest


def default_n_init(d: int) -> int:
    """10 d points as in the paper, but at most 30: with ten parameters 100 points would be most budgets.

    It does not depend on the budget, so that 50 evaluations are 25 and 25 more.
    """
    return min(10 * d, 30)


class Optimizer:
    """Suggests points to evaluate, given what has been evaluated.

    >>> opt = Optimizer([(-5, 10), (0, 15)], seed=1)
    >>> x = opt.ask()
    >>> opt.tell(x, 3.2)                    # or: opt.tell_failure(x, "mesh collapsed")

    `bounds` is a list or a dict of (low, high), `Real`, `Integer` or `Categorical`. Points are arrays (lists when types
    are mixed), or dicts when the bounds were a dict. `ask` may be called again before the answers are in: points
    asked for and not told are pending and are not proposed twice. Everything needed to resume is `history`.
    """

    def __init__(
        self,
        bounds: Any,
        *,
        seed: int = 0,
        n_init: int | None = None,
        history: History | None = None,
        maximize: bool = False,
        **settings: Any,
    ) -> None:
        """Keyword settings: policy, kernel, search, noise, design, kappa, failures; see `Settings`."""
        self.space = Space.of(bounds)
        n_init = default_n_init(self.space.d) if n_init is None else n_init
        self.settings = Settings.of(seed=seed, n_init=n_init, **settings)
        self._sign = -1.0 if maximize else 1.0
        self._history = History()  # of the minimized values; its warmth is that of the last point told
        self._warmth = self._history.warmth  # of the last point asked for
        self._units: list[np.ndarray] = []
        self._pending: list[tuple[tuple[Value, ...], np.ndarray]] = []
        if history is not None:
            for evaluation in history.evaluations:
                x = self.space.validate(evaluation.x)
                self._record(replace(evaluation, x=x, y=self._sign * evaluation.y))
            self._warmth = history.warmth
            self._history = replace(self._history, warmth=history.warmth)

    # --- asking

    @overload
    def ask(self) -> Any: ...
    @overload
    def ask(self, n: int) -> list[Any]: ...
    def ask(self, n: int | None = None) -> Any:
        """The next point, or with `n` a list of n points to be evaluated in parallel."""
        if n is None:
            return self._ask_one()
        if isinstance(n, bool) or not isinstance(n, int) or n < 1:
            raise InvalidInputError(f"expected to be asked for at least one point; got {n!r}; try ask(4)")
        return [self._ask_one() for _ in range(n)]

    def _ask_one(self) -> Any:
        suggestion = suggest(
            self.space,
            self._runs(),
            len(self._history) + len(self._pending),
            self.settings,
            self._warmth,
        )
        self._warmth = suggestion.warmth
        if "jitter" in suggestion.status[0]:
            warnings.warn(
                "the correlation matrix was singular and its diagonal was raised: points very close together, "
                "or values that no smooth function has; suggestions go on with less resolution there",
                NumericalWarning,
                stacklevel=3,
            )
        values = self.space.decode(suggestion.x[0])
        self._pending.append((values, self.space.encode(values)))
        return self.space.to_user(values)

    def _runs(self) -> Runs:
        D = self.space.n_inputs
        return Runs(
            X=np.asarray(self._units, dtype=float).reshape(1, -1, D),
            y=self._history.y[None],
            ok=self._history.ok[None],
            pending=np.asarray([unit for _, unit in self._pending], dtype=float).reshape(1, -1, D),
            run_ids=(0,),
            seen=None if self._history.seen.all() else self._history.seen[None],
        )

    # --- telling

    def tell(self, x: Any, y: Any, *, duration_s: float = math.nan) -> None:
        """Report the value at x (any point of the space, asked for or not). NaN and infinities count as failures.

        With lists of points and values, all are checked before the first is recorded.
        """
        if isinstance(y, (list, tuple, np.ndarray)) and not (isinstance(y, np.ndarray) and y.ndim == 0):
            points = list(x) if isinstance(x, (list, tuple, np.ndarray)) else [x]
            values = list(y)
        else:
            points, values = [x], [y]
        if len(points) != len(values):
            raise InvalidInputError(
                f"expected as many values as points; got {len(points)} points and {len(values)} values; "
                "try tell(x, y) one by one"
            )
        evaluations = []
        for point, value in zip(points, values, strict=True):
            checked = self.space.validate(point)
            try:
                evaluations.append(as_evaluation(checked, value, duration_s))
            except TypeError as error:
                raise InvalidInputError(
                    f"expected a number as the value at {point!r}; got {value!r} ({error}); "
                    "try tell_failure(x, reason) for an evaluation that failed"
                ) from None
        for evaluation in evaluations:
            self._record(replace(evaluation, y=self._sign * evaluation.y))

    def tell_failure(self, x: Any, reason: str = "failed", *, duration_s: float = math.nan) -> None:
        """Report that the evaluation at x failed; it is not proposed again, and where it failed is learned."""
        self._record(Evaluation(self.space.validate(x), math.nan, "failed", str(reason), duration_s))

    def mark_pending(self, x: Any) -> None:
        """Say that x is being evaluated although it was not asked for; it is not proposed meanwhile."""
        values = self.space.validate(x)
        self._pending.append((values, self.space.encode(values)))

    def forget_pending(self) -> None:
        """Drop the points that were asked for and will never be told."""
        self._pending.clear()

    def _record(self, evaluation: Evaluation) -> None:
        # Only now does the warmth of the ask count: an ask that is never answered leaves no trace.
        self._history = replace(self._history.append(evaluation), warmth=self._warmth)
        self._units.append(self.space.encode(evaluation.x))
        for i, (values, _) in enumerate(self._pending):
            if values == evaluation.x:
                del self._pending[i]
                break

    # --- looking

    @property
    def history(self) -> History:
        """All evaluations and what the next suggestion starts from; `history.save(path)` keeps them."""
        return replace(
            self._history,
            evaluations=tuple(replace(e, y=self._sign * e.y) for e in self._history.evaluations),
        )

    @property
    def pending(self) -> list[Any]:
        """Points asked for and not told yet."""
        return [self.space.to_user(values) for values, _ in self._pending]

    @property
    def best(self) -> Evaluation | None:
        """The best evaluation so far; None while nothing has succeeded."""
        found = [e for e in self.history.evaluations if e.ok]
        return min(found, key=lambda e: self._sign * e.y) if found else None

    def result(self, message: str = "") -> Result:
        """Everything known so far, as `minimize` returns it."""
        return make_result(self.space, self.history, self.settings, self._sign, message)


def sequence_of_points(x0: Any, space: Space) -> Sequence[Any]:
    """x0 as a list of points: one point or several."""
    if x0 is None:
        return []
    if isinstance(x0, (Mapping, str)) or not isinstance(x0, (Sequence, np.ndarray)) or np.shape(x0) == ():
        return [x0]
    points = list(x0)
    one = space.d == len(points) and not any(isinstance(v, (Mapping, list, tuple, np.ndarray)) for v in points)
    return [points] if one else points
