"""What a run returns: SciPy's names, the history as a table, the fitted model, a picture."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from html import escape
from typing import Any

import numpy as np

from surefoot.backend import engine
from surefoot.engine.batch import Batch
from surefoot.engine.model import Model, fit_map, fit_model
from surefoot.errors import InvalidInputError, shown
from surefoot.numerics.designs import generator
from surefoot.optimize.batches import batch_of
from surefoot.optimize.border import Border, border_of
from surefoot.optimize.checks import as_integer, is_a
from surefoot.optimize.document import Document
from surefoot.optimize.feasible import best_place, feasible
from surefoot.optimize.fitted import FittedModel
from surefoot.optimize.gain import EVALUATIONS, MORE_THAN, Gain, Outlook, checked_gain
from surefoot.optimize.history import History
from surefoot.optimize.notes import notes, outlook
from surefoot.optimize.outputs import OPTIONAL, columns
from surefoot.optimize.parameters import Value
from surefoot.optimize.printed import entries, two_columns
from surefoot.optimize.reasons import summary
from surefoot.optimize.robust import Robust, robust
from surefoot.optimize.sensitivity import AtLimit, at_limits
from surefoot.optimize.settings import Settings
from surefoot.optimize.space import Space

_COLUMNS = ("number", "value", "best", "status", "reason", "duration_s", *OPTIONAL)  # of every table


@dataclass(frozen=True)
class Recommendation:
    """A point to use, and what the model expects there (without noise)."""

    x: Any
    mean: float
    sd: float


@dataclass(frozen=True, eq=False)
class Result:
    """The outcome of an optimization; attributes are also items, as with SciPy's OptimizeResult."""

    x: Any  # the best point found; None if nothing succeeded
    fun: float  # its value; NaN if nothing succeeded
    nfev: int
    n_failures: int
    success: bool  # at least one evaluation succeeded; `feasible` says whether one is within all limits
    message: str
    x_iters: list[Any]  # every point, in the order of evaluation
    func_vals: np.ndarray  # every value; NaN where the evaluation failed
    history: History
    space: Space
    settings: Settings
    sign: float = 1.0
    numbers: tuple[int, ...] = ()  # of the evaluations: 0, 1, …, or in a study the numbers of their trials
    queue: tuple[tuple[Value, ...], ...] = ()  # points of x0 that the run did not come to

    def __getstate__(self) -> dict[str, Any]:
        return {f.name: getattr(self, f.name) for f in fields(self)}  # not the models, which can be made again

    def __getitem__(self, name: str) -> Any:
        if not is_a(name, str) or name not in self.keys():
            raise KeyError(shown(name))
        return getattr(self, name)

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def keys(self) -> list[str]:
        """Names of the attributes."""
        return [f.name for f in fields(self)]

    def __repr__(self) -> str:
        return two_columns(self._summary())

    def _repr_html_(self) -> str:
        """What a notebook shows: the same lines as a small table."""
        rows = "".join(
            f'<tr><th style="text-align:right">{escape(name)}</th>'
            f'<td style="text-align:left;white-space:pre-wrap">{escape(text)}</td></tr>'
            for name, text in self._summary().items()
        )
        return f"<table>{rows}</table>"

    def _why_failed(self) -> str:
        """The most frequent reasons, where something succeeded: else a note tells them."""
        return summary(e.reason for e in self.history.evaluations if not e.ok) if self.success else ""

    def _summary(self) -> dict[str, str]:
        return {
            "message": self.message,
            "success": str(self.success),
            **({"feasible": str(self.feasible)} if self.settings.outputs else {}),  # beside success, which is less
            "fun": str(self.fun),
            **({"outputs": entries(self.outputs)} if len(self.outputs) > 1 else {}),
            "x": entries(self.x),
            "nfev": str(self.nfev),
            "n_failures": f"{self.n_failures}: {why}" if (why := self._why_failed()) else str(self.n_failures),
            **({"outlook": ahead} if (ahead := outlook(self)) else {}),
            **({"note": "\n".join(told)} if (told := notes(self)) else {}),
        }

    @property
    def objective(self) -> str:
        """The name of the output that was optimized."""
        return self.history.objective

    @property
    def outputs(self) -> dict[str, float]:
        """Every output of the best evaluation, by name; none if nothing succeeded."""
        best = best_place(self.history, self.sign, self.settings.outputs)
        return {} if best is None else self.history.evaluations[best].outputs

    @cached_property
    def within(self) -> np.ndarray:
        """Which evaluations succeeded within all limits on outputs, (n,); without limits all that succeeded."""
        return feasible(self.history, self.settings.outputs)

    @property
    def feasible(self) -> bool:
        """Whether the best evaluation is within all limits on outputs; without limits, whether any succeeded."""
        return bool(self.within.any())

    @cached_property
    def limits(self) -> tuple[AtLimit, ...]:
        """Every output that has a limit, at the best point: its value, whether it is active, what the limit costs.

        Fits the model on first use. `multiplier`: by how much the objective would improve per unit of more room.
        """
        with engine(self.nfev):
            return at_limits(self)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything to one JSON file: `minimize(f, resume=path)` and `Optimizer.load(path)` go on from there.

        The old file stays whole until the new one is complete on disk.
        """
        Document(self.history, self.space, self.settings, pending=self.queue).write(path)

    def table(self) -> list[dict[str, Any]]:
        """One row per evaluation: number, parameters, value, further outputs, best so far, status, reason, duration.

        Progress and fidelity are there if any is known. A parameter or output whose name is taken has a prefix:
        parameter.status, output.status.
        """
        rows, best = [], math.nan
        evaluations = self.history.evaluations
        known = [name for name in OPTIONAL if any(math.isfinite(getattr(e, name)) for e in evaluations)]
        parameters, outputs = columns(_COLUMNS, self.space.names, self.history.outputs[1:])
        for i, e, counts in zip(self.numbers, evaluations, self.within.tolist(), strict=True):
            if counts and not self.sign * best <= self.sign * e.y:  # `not <=` so that the first replaces NaN
                best = e.y
            rows.append({
                "number": i,
                **dict(zip(parameters.values(), e.x, strict=True)),
                "value": e.y,
                **{column: e.further.get(name, math.nan) for name, column in outputs.items()},
                "best": best,
                **{name: getattr(e, name) for name in ("status", "reason", "duration_s")},
                **{name: getattr(e, name) for name in known},
            })  # fmt: skip
        return rows

    @cached_property
    def model(self) -> FittedModel:
        """The model fitted to everything evaluated; fitted on first use."""
        return self._fitted_by(fit_model)

    @cached_property
    def map(self) -> FittedModel:
        """The model as it is drawn: evaluations that a search along limits has piled on one spot have one vote."""
        return self._fitted_by(fit_map) if self.settings.outputs else self.model

    def _fitted_by(self, fit: Callable[..., Model]) -> FittedModel:
        if not self.history.ok.any():
            raise InvalidInputError(
                f"expected at least one successful evaluation to fit a model; got {self.nfev}, all failed; "
                "try other bounds, and see table() for the reasons"
            )
        rng = generator(self.settings.seed, 0, self.nfev)
        with engine(self.nfev):
            warmth = self.history.warmth.of_all
            return FittedModel(self.space, fit(self.batch, self.settings.spec, warmth, (rng,)), self.sign)

    @property
    def batch(self) -> Batch:
        """The evaluations as the engine takes them."""
        return batch_of(self.history, self.history.units(self.space), self.space, self.sign, self.settings.outputs)

    @cached_property
    def outlook(self) -> Outlook:
        """What may be gained from here, as a sentence where it is printed; `gain` tells the probability."""
        return Outlook(self)

    def gain(self, more_than: float | str = MORE_THAN, evaluations: int = EVALUATIONS) -> Gain | None:
        """The probability that so many more evaluations gain more than so much; None where nothing is feasible yet.

        more_than: per cent of the absolute value of the present best ("1 %"), or a number in the objective's unit
        """
        return self.outlook.gain(checked_gain(more_than), as_integer("evaluations", evaluations, 1, EVALUATIONS))

    @cached_property
    def recommended(self) -> Recommendation:
        """The evaluated point to use: with material noise the one of least posterior mean, otherwise `x`.

        The least of many noisy values is the luckiest one; the model averages over its neighbours.
        """
        counted = self.history.counts
        if not counted.any():
            raise InvalidInputError(
                f"expected at least one successful evaluation to recommend; got {self.nfev}, all failed; "
                "try other bounds, and see table() for the reasons"
            )
        outputs = self.model.fitted.outputs
        if outputs is not None and outputs.feasible.any():  # probably feasible, where outputs are noisy
            counted = outputs.feasible[0] & self.history.counts
        succeeded = [self.x_iters[i] for i in np.flatnonzero(counted)]
        mean, sd = self.model.predict(succeeded)
        noisy = bool(self.model.fitted.noisy[0])
        values = self.func_vals[counted]
        best = int(np.argmin(self.sign * (mean if noisy else values)))
        return Recommendation(succeeded[best], float(mean[best]), float(sd[best]))

    def robust(self, p: float = 0.95, within: str | Mapping[str, float] | None = None) -> Robust:
        """The best point whose P(success within all limits) is at least p, there and over a neighbourhood of it.

        within: None (the point alone), per cent of every range ("2 %": ± 2 %; of the logarithm's for a log
        parameter), or a dict of half-widths in the parameters' units; those not named do not move. P over a
        neighbourhood is the least of P at a fixed set of its points: see `neighbourhood`. Best is the least
        mean + 2 sd, so that a point that was not evaluated is chosen only if the model is sure of it. If no point
        reaches p, the surest one is returned, and `note` says so.
        """
        with engine(self.nfev):
            return robust(self, p, within)

    @cached_property
    def border(self) -> Border:
        """How near the best point lies to where evaluations fail, as the model has it.

        P(success) at the best point; where it falls below 1/2 along each parameter, either way, in units and as a
        share of the range; and the nearest evaluated failure.
        """
        with engine(self.nfev):
            return border_of(self)

    def success_probability(self, points: Sequence[Any]) -> np.ndarray:
        """P(the evaluation succeeds) at a list of points, as learned from the failures."""
        return self.model.success_probability(points)

    def plot(self, path: str | None = None) -> Any:
        """Convergence, failures and the model: a matplotlib figure, saved if a path is given."""
        from surefoot.optimize.plots import plot_result

        return plot_result(self, path)

    def plot_success(
        self,
        x: str | None = None,
        y: str | None = None,
        *,
        others: Mapping[str, Any] | str = "best",
        n: int = 60,
        path: str | None = None,
    ) -> Any:
        """The map of P(success) over two parameters, by name, with the evaluations and the failures by reason.

        Default: the two that P(success) depends on most. others: the remaining parameters are fixed at the best point
        ("best") or at given values (a dict), or averaged over the whole space ("average") or over evaluations that
        succeeded ("successes"). As Figure 6 of the paper.
        """
        from surefoot.optimize.plots import plot_success

        return plot_success(self, x, y, others, n, path)


def make_result(
    space: Space,
    history: History,
    settings: Settings,
    sign: float,
    message: str,
    numbers: Sequence[int] | None = None,
) -> Result:
    """The result of a history; `numbers` of the evaluations if they are not 0, 1, …

    sign is -1 for a maximization, whose values have the user's sign.
    """
    history = replace(history, direction="minimize" if sign > 0.0 else "maximize")
    y, ok = history.y, history.ok
    best = best_place(history, sign, settings.outputs)
    return Result(
        x=None if best is None else space.to_user(history.evaluations[best].x),
        fun=math.nan if best is None else float(y[best]),
        nfev=len(history),
        n_failures=int((~ok).sum()),
        success=best is not None,
        message=message,
        x_iters=[space.to_user(e.x) for e in history.evaluations],
        func_vals=y,
        history=history,
        space=space,
        settings=settings,
        sign=sign,
        numbers=tuple(range(len(history)) if numbers is None else numbers),
    )
