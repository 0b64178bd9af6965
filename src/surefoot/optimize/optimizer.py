"""Ask and tell: the optimizer for somebody with a loop, a cluster or a laboratory of their own."""

from __future__ import annotations

import math
import os
import threading
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any, Self, overload

from surefoot.backend import reference_on
from surefoot.engine.batch import Batch
from surefoot.engine.recall import same_evaluations
from surefoot.engine.suggest import suggest
from surefoot.engine.warmth import Warmth
from surefoot.errors import (
    Failed,
    InvalidInputError,
    NumericalWarning,
    SpaceExhaustedError,
    as_reason,
    described,
    shown,
)
from surefoot.optimize.allowed import domain_of
from surefoot.optimize.batches import batch_of
from surefoot.optimize.checks import as_duration, as_integer, as_progress, as_truth, is_a
from surefoot.optimize.document import Document, given_again
from surefoot.optimize.feasible import best_place
from surefoot.optimize.given import listed
from surefoot.optimize.history import VALUE, Direction, Evaluation, History, judged
from surefoot.optimize.keywords import check_keywords
from surefoot.optimize.limits import check_returned
from surefoot.optimize.outputs import (
    as_evaluation,
    as_share,
    check_objective,
    check_outputs,
    partial_outputs,
    renamed,
)
from surefoot.optimize.parameters import Value
from surefoot.optimize.result import Result, make_result
from surefoot.optimize.settings import Settings, default_n_init
from surefoot.optimize.space import Space
from surefoot.optimize.state import State

_MOST_ASKED = 10_000  # points at once


class Optimizer:
    """Suggests points to evaluate, given what has been evaluated.

    >>> opt = Optimizer([(-5, 10), (0, 15)], seed=1)
    >>> x = opt.ask()
    >>> opt.tell(x, 3.2)                    # or: opt.tell_failure(x, "mesh collapsed")

    `bounds` is a list or a dict of (low, high), `Real`, `Integer` or `Categorical`, or scipy.optimize.Bounds. Points
    are lists of Python's own numbers and your choices, or dicts of them when the bounds were a dict: json can write
    them. `ask` may be called again before the answers are in: points asked for and not told are pending and are not
    proposed twice. `save` writes everything to one file, and `Optimizer.load` goes on from there. With other bounds
    or settings the evaluations alone can be taken over: `history`, of a result or as the path of a file.

    Threads may share an optimizer: a lock lets them in one after another, a suggestion included, so that parallel
    asks know of each other's points and no value told is lost. Which thread gets which point is up to them.
    """

    def __init__(
        self,
        bounds: Any,
        *,
        seed: int = 0,
        n_init: int | None = None,
        history: History | str | os.PathLike[str] | None = None,
        maximize: bool = False,
        objective: str | None = None,
        constraints: Any = None,
        device: str = "cpu",
        **settings: Any,
    ) -> None:
        """Keyword settings: policy, kernel, search, noise, design, kappa, failures; see `Settings`.

        objective: the name of the output to optimize, where dicts of several outputs are told
        constraints: known ones on the parameters, as for `minimize`; no point is suggested that violates one
        device: where suggestions are computed, as for `minimize`; it is not saved
        """
        own = ("seed", "n_init", "history", "maximize", "objective", "constraints", "device")
        check_keywords(
            settings, (*own, *(name for name in Settings.__dataclass_fields__ if name not in own)), "Optimizer"
        )
        self.space = Space.of(bounds, constraints)
        self._domain = domain_of(self.space)
        n_init = default_n_init(self.space.d) if n_init is None else n_init
        self.settings = Settings.of(seed=seed, n_init=n_init, **settings)
        self._sign = -1.0 if as_truth("maximize", maximize) else 1.0
        reference_on(device)  # complain now
        self.device = device
        self._lock = threading.RLock()
        empty = History(direction=self.direction, names=self.space.names if self.space.named else ())
        self._state = State(empty, empty.warmth, check_objective(objective))
        if history is not None:
            self._resume(history)

    def _resume(self, given: Any) -> None:
        history = History.load(given) if is_a(given, str, os.PathLike) else given
        if not is_a(history, History):
            raise InvalidInputError(
                f"expected a History or the path of its file; got {shown(history)}; try history=result.history"
            )
        history.check()
        if history.direction != self.direction:
            raise InvalidInputError(
                f"expected a history of a run that tries to {self.direction}; got one that tries to "
                f"{history.direction}; try maximize={history.direction == 'maximize'}, or "
                f"dataclasses.replace(history, direction={self.direction!r}) if only its label is wrong"
            )
        history = history.ordered_as(self.space)
        objective = self._objective_of(history)
        if objective != VALUE:
            self._state = replace(self._state, objective=objective)
        self.record(
            *(replace(renamed(e, objective), x=self._point_of(i, e)) for i, e in enumerate(history.evaluations))
        )
        told = replace(self._state.history, warmth=history.warmth)
        self._state = replace(self._state, history=told, warmth=history.warmth)

    def _point_of(self, number: int, evaluation: Evaluation) -> tuple[Value, ...]:
        try:
            return self.space.validate(evaluation.x)
        except InvalidInputError as error:
            raise InvalidInputError(f"{error} (in evaluation {number} of the history)") from None

    def _objective_of(self, history: History) -> str:
        """The name of the objective of given evaluations; a value without a name takes the one that we have."""
        ours, theirs = self._state.objective, history.objective
        if ours is None or not history.ok.any() or (theirs == VALUE and ours not in history.outputs):
            return theirs if ours is None else ours
        if ours != theirs:
            raise InvalidInputError(
                f"expected a history whose objective is {ours!r}; got one of {theirs!r}, with the outputs "
                f"{', '.join(history.outputs)}; try objective={theirs!r}"
            )
        return ours

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._lock = threading.RLock()

    # --- asking

    @overload
    def ask(self) -> Any: ...
    @overload
    def ask(self, n: int) -> list[Any]: ...
    def ask(self, n: int | None = None) -> Any:
        """The next point, or with `n` a list of n points to be evaluated in parallel.

        SpaceExhaustedError when a finite space has no point left; where it has some, but fewer than n, those.
        """
        if n is None:
            return self._ask_one()
        n, points = as_integer("n", n, 1, 4, _MOST_ASKED), []
        with self._lock, same_evaluations():  # no other thread's points between
            for _ in range(n):
                try:
                    points.append(self._ask_one())
                except SpaceExhaustedError:
                    if not points:
                        raise
                    break
        return points

    def _ask_one(self) -> Any:
        with self._lock:
            state = self._state
            number = len(state.history) + len(state.pending)
            batch, reference = self._batch(state), reference_on(self.device)
            suggestion = suggest(self._domain, batch, number, self.settings.spec, state.warmth, reference)
            if "jitter" in suggestion.status[0]:  # before the point is pending: the warning may be made an error
                warnings.warn(
                    "the correlation matrix was singular and its diagonal was raised: points very close together, "
                    "or values that no smooth function has; suggestions go on with less resolution there",
                    NumericalWarning,
                    stacklevel=3,
                )
            values = self._domain.decode(suggestion.x[0])
            self._state = state.with_pending(values, self.space.encode(values), suggestion.warmth)
        return self._plain(values)

    def _plain(self, values: tuple[Value, ...]) -> Any:
        """A point as json can write it."""
        return dict(zip(self.space.names, values, strict=True)) if self.space.named else list(values)

    def _batch(self, state: State) -> Batch:
        pending = [unit for _, unit in state.pending]
        return batch_of(state.history, state.units, self.space, self._sign, self.settings.outputs, pending)

    # --- telling

    def tell(self, x: Any, y: Any, *, duration_s: float = math.nan) -> None:
        """Report the value at x (any point of the space, asked for or not), or a dict of outputs by name.

        NaN and infinities count as failures; in outputs other than the objective NaN says: not computed. An output
        that has a limit and that no success has had yet is an error; what was told is kept all the same. With lists
        of points and values (or a data frame and a column), all are checked before the first is recorded.
        """
        values = listed(y)
        points = [self.space.validate(x)] if values is None else self.space.points(x)
        values = [y] if values is None else values
        if len(points) != len(values):
            raise InvalidInputError(
                f"expected as many values as points; got {len(points)} points and {len(values)} values; "
                "try tell(x, y) one by one"
            )
        duration = as_duration(duration_s)
        evaluations, objective = [], self._state.objective
        for point, value in zip(points, values, strict=True):
            try:
                evaluation = as_evaluation(point, value, duration, objective, self.settings.outputs)
                objective = evaluation.objective if evaluation.ok else objective
                evaluations.append(evaluation)
            except InvalidInputError:
                raise
            except Exception as error:  # TypeError, or what an object does when it is looked at
                raise InvalidInputError(
                    f"expected a number as the value at {shown(self.space.to_user(point))}; got {shown(value)} "
                    f"({described(error)}); try tell_failure(x, reason) for an evaluation that failed"
                ) from None
        self.record(*evaluations)
        self.check_limited()

    def check_limited(self) -> None:
        """Raise if successes are known, and none of them has an output that a limit was given for."""
        if self.settings.outputs:
            succeeded = [e for e in self.history.evaluations if e.ok]
            returned = dict.fromkeys(name for e in succeeded for name in e.outputs)
            check_returned(self.settings.outputs, returned, bool(succeeded))

    def tell_failure(
        self,
        x: Any,
        reason: str = "failed",
        *,
        duration_s: float = math.nan,
        outputs: Mapping[str, float] | None = None,
        progress: float = math.nan,
    ) -> None:
        """Report that the evaluation at x failed; it is not proposed again, and where it failed is learned.

        outputs: numbers by name that it had by then; progress: the share of the simulation that it reached, 0 to 1
        """
        if isinstance(reason, Failed):  # as it was caught
            outputs = partial_outputs(reason.outputs) if outputs is None else outputs
            progress = as_share(reason.progress) if math.isnan(progress) else progress
        self.record(
            Evaluation(
                self.space.validate(x),
                math.nan,
                "failed",
                as_reason(reason),
                as_duration(duration_s),
                further={} if outputs is None else check_outputs(outputs),
                progress=as_progress(progress),
            )
        )

    def mark_pending(self, x: Any) -> None:
        """Say that x is being evaluated although it was not asked for; it is not proposed meanwhile."""
        values = self.space.validate(x)
        with self._lock:
            self._state = self._state.with_pending(values, self.space.encode(values), self._state.warmth)

    def forget_pending(self) -> None:
        """Drop the points that were asked for and will never be told."""
        with self._lock:
            self._state = replace(self._state, pending=())

    def take_pending(self) -> list[tuple[Value, ...]]:
        """The pending points, which are no longer pending then: whoever takes them evaluates them."""
        with self._lock:
            taken = [values for values, _ in self._state.pending]
            self.forget_pending()
        return taken

    def awaits(self, values: tuple[Value, ...]) -> bool:
        """Whether a valid point is pending."""
        return any(pending == values for pending, _ in self._state.pending)

    def record(self, *evaluations: Evaluation) -> None:
        """Keep evaluations of valid points: all of them, or (interrupted) none."""
        evaluations = tuple(judged(e, self.space) for e in evaluations)
        units = [self.space.encode(e.x) for e in evaluations]
        with self._lock:
            self._state = self._state.with_told(evaluations, units)

    # --- keeping

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything to one JSON file, pending points included, from which `load` goes on.

        The old file stays whole until the new one is complete on disk: save after each `tell` to survive a kill.
        """
        state = self._state
        Document(
            state.history,
            self.space,
            self.settings,
            state.objective,
            tuple(values for values, _ in state.pending),
            None if state.warmth is state.history.warmth else state.warmth,
        ).write(path)

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, constraints: Any = None, device: str = "cpu") -> Self:
        """The optimizer that `save` of an optimizer or a result wrote: it goes on as if it had not been away.

        constraints: the same ones again, where functions are among them, which no file can hold
        device: where suggestions are computed from now on
        """
        return cls.from_document(Document.read(path), path, constraints, device)

    @classmethod
    def from_document(
        cls, document: Document, path: str | os.PathLike[str], constraints: Any = None, device: str = "cpu"
    ) -> Self:
        """The optimizer of a document that was read from this path."""
        if document.space is None or document.settings is None:
            raise InvalidInputError(
                f"expected a document with space and settings; got {shown(str(path))}, a history alone; "
                "try giving the bounds too: minimize(f, bounds, resume=…) or Optimizer(bounds, history=…)"
            )
        maximize, settings = document.history.direction == "maximize", asdict(document.settings)
        space = given_again(document.space, constraints, path)
        new = cls(
            space,
            history=document.history,
            maximize=maximize,
            objective=document.objective,
            device=device,
            **settings,
        )
        new.take_over(document.pending, document.asked)
        return new

    def take_over(self, pending: Iterable[Any], warmth: Warmth | None) -> None:
        """Go on for one that asked for these points and was not told: they are pending; `warmth` is its last ask's."""
        for x in pending:
            self.mark_pending(x)
        if warmth is not None:
            with self._lock:
                self._state = replace(self._state, warmth=warmth)

    # --- looking

    @property
    def direction(self) -> Direction:
        """Whether small or large values are the good ones."""
        return "minimize" if self._sign > 0.0 else "maximize"

    @property
    def history(self) -> History:
        """All evaluations and what the next suggestion starts from."""
        return self._state.history

    @property
    def objective(self) -> str:
        """The name of the output that is optimized."""
        return VALUE if self.known_objective is None else self.known_objective

    @property
    def known_objective(self) -> str | None:
        """That name, or None while nothing has said it: the first evaluation may."""
        return self._state.objective

    @property
    def pending(self) -> list[Any]:
        """Points asked for and not told yet."""
        return [self._plain(values) for values, _ in self._state.pending]

    @property
    def best(self) -> Evaluation | None:
        """The best evaluation so far, within the limits on outputs if any is; None while nothing has succeeded."""
        place = best_place(self.history, self._sign, self.settings.outputs)
        return None if place is None else self.history.evaluations[place]

    def result(self, message: str = "", queue: Sequence[tuple[Value, ...]] = ()) -> Result:
        """Everything known so far, as `minimize` returns it; queue: given points that it has not come to."""
        found = make_result(self.space, self.history, self.settings, self._sign, message)
        return replace(found, queue=tuple(queue)) if queue else found
