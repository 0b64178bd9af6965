"""`SurefootSampler`: surefoot in an Optuna study. And `guarded`: how an objective says that a failure teaches.

    study = optuna.create_study(sampler=SurefootSampler())
    study.optimize(guarded(objective), n_trials=100, catch=(Exception,))

Optuna keeps no reason of a failed trial, and a trial whose machine died looks the same as one whose simulator crashed.
surefoot learns from those that carry the user attribute REASON; `guarded` sets it.
"""

from __future__ import annotations

import contextlib
import functools
import math
import threading
import warnings
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

from optuna import TrialPruned
from optuna.distributions import BaseDistribution
from optuna.samplers import BaseSampler
from optuna.study import Study
from optuna.trial import FrozenTrial, Trial, TrialState

from surefoot.backend import reference_on
from surefoot.engine.domain import Domain
from surefoot.engine.suggest import suggest
from surefoot.engine.warmth import Warmth
from surefoot.errors import InvalidInputError, SpaceExhaustedError, SurefootWarning, described
from surefoot.execute.outcome import exception_outcome
from surefoot.expect import expect
from surefoot.integrations.optuna_branches import all_parameters, branches_of
from surefoot.integrations.optuna_history import (
    FALLBACK,
    LEARNS_FROM_ALL,
    LIMITS,
    REASON,
    SUGGESTION,
    TRANSIENT,
    is_void,
    result_of,
    runs_of,
    sign_of,
    trials_of,
    warmth_of,
)
from surefoot.integrations.optuna_outputs import (
    constraint_attributes,
    constraint_limits,
    output_attributes,
    outputs_of,
)
from surefoot.integrations.optuna_space import (
    Distributions,
    checked_distributions,
    constrained_space,
    domain_with,
    engine_space,
    from_engine,
    to_engine,
    without_single,
)
from surefoot.numerics.designs import generator
from surefoot.optimize.allowed import Allowed
from surefoot.optimize.checks import is_a
from surefoot.optimize.constraints import Constraint
from surefoot.optimize.history import VALUE, Evaluation
from surefoot.optimize.limits import check_returned
from surefoot.optimize.outputs import as_evaluation, as_share, check_named, partial_outputs
from surefoot.optimize.parameters import Value
from surefoot.optimize.settings import Settings, default_n_init

__all__ = ["REASON", "SurefootSampler", "guarded", "result_of"]


_UNTOLD = 3  # failures without a reason, before that is said
_FIRST = 50  # evaluations that may show that an objective returns no value at all


class SurefootSampler(BaseSampler):
    """Suggests as `surefoot.minimize` does, from the trials of an Optuna study with one objective.

    search_space  Optuna's distributions by name; without it the parameters of the finished trials are used, and the
                  first trial is random. With it, a study in which everything failed so far works too.
                  Parameters that an objective asks for only sometimes are suggested too, once trials tell by which
                  category or number that is decided; others of that kind are random
    seed, n_init and all other settings (policy, kernel, noise, search, failures, min_success …) are those of `minimize`
    constraints   known ones on the parameters, as for `minimize`: no suggestion violates one. They need search_space
    learn_from_all_failures  also from FAIL trials without a reason: only where no machine ever dies
    outputs       limits on outputs, as in `minimize`: {"stress": "<= 250e6"}, of an objective that returns a dict
                  (`guarded`). `trial.constraints` tells Optuna how far each is outside: at most 0 inside
    constraints_func  as of Optuna's own samplers: of a finished trial, numbers that are at most 0 where it is feasible.
                  Without it and without `outputs` the constraint values that trials have are taken
    device        where suggestions are computed, as for `minimize`
    when_exhausted  every point of a finite space has been evaluated, and repeating teaches nothing (no noise):
                  "stop" ends `study.optimize`, "repeat" goes on with random ones of them; either is said once

    Suggestions depend on the study and (seed, trial number) alone: 50 trials are 25, a restart, and 25 more. Running
    trials of other workers are pending points; threads (n_jobs) wait for each other's suggestions. Whatever the
    history, nothing is raised: it warns, falls back to a random point, and the trial says so (FALLBACK).
    """

    def __init__(
        self,
        search_space: Distributions | None = None,
        *,
        seed: int = 0,
        n_init: int | None = None,
        constraints: Any = None,
        learn_from_all_failures: bool = False,
        when_exhausted: Literal["stop", "repeat"] = "stop",
        constraints_func: Callable[[FrozenTrial], Sequence[float]] | None = None,
        device: str = "cpu",
        **settings: Any,
    ) -> None:
        self._search_space = None if search_space is None else checked_distributions(search_space)
        self._n_init = n_init
        self._settings = Settings.of(seed=seed, n_init=1 if n_init is None else n_init, **settings)
        reference_on(device)  # complain now
        self._device = device
        self._learn_from_all = bool(learn_from_all_failures)
        if when_exhausted not in ("stop", "repeat"):
            raise InvalidInputError(f"expected when_exhausted stop or repeat; got {when_exhausted!r}; try 'stop'")
        if constraints_func is not None and not callable(constraints_func):
            raise InvalidInputError(
                f"expected constraints_func as a function of a trial; got {constraints_func!r}; try outputs=…"
            )
        if constraints_func is not None and self._settings.outputs:
            raise InvalidInputError(
                f"expected outputs or constraints_func; got both, {dict(self._settings.outputs)} and "
                f"{constraints_func!r}; try leaving one out"
            )
        self._constraints_func = constraints_func
        self._said: set[str] = set()
        self._stops = when_exhausted == "stop"
        self._lock = threading.Lock()
        if search_space is not None and without_single(search_space):
            engine_space(without_single(search_space))  # unusable distributions are refused now
        self._constraints: tuple[Constraint, ...] = ()
        self._domain: Allowed | None = None  # where constraints allow points
        if constraints is not None:
            known = "a search_space, so that constraints can be met from the first trial on"
            expect(bool(search_space), known, search_space, "search_space={'x': FloatDistribution(0, 1)}")
            self._constraints = constrained_space(dict(search_space or {}), constraints).constraints
        if self._constraints:
            self._domain = domain_with(dict(search_space or {}), self._constraints)

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in self.__dict__.items() if key != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._lock = threading.Lock()

    def infer_relative_search_space(self, study: Study, trial: FrozenTrial) -> dict[str, BaseDistribution]:
        """The explicit space, or what finished trials share and what is asked for in branches that are understood."""
        sign_of(study)
        if self._search_space is not None:
            return without_single(self._search_space)
        return without_single(all_parameters(self._trials(study)))

    def sample_relative(
        self, study: Study, trial: FrozenTrial, search_space: dict[str, BaseDistribution]
    ) -> dict[str, Any]:
        """The engine's suggestion, published at once so that other workers see it as pending."""
        sign = sign_of(study)
        if not search_space:
            return {}
        with self._lock:  # each suggestion sees those that were published before
            trials = self._trials(study)
            self._say_if_nothing_is_learned(trials)
            try:
                values, warmth = self._suggest(trials, trial.number, search_space, sign)
                values |= self._completing(trial, search_space)
            except Exception as error:
                self._cannot_suggest(study, trial, error)
                drawn = {name: self.sample_independent(study, trial, name, d) for name, d in search_space.items()}
                values = {name: to_engine(d, drawn[name]) for name, d in search_space.items()}
                warmth = warmth_of(trials)
            told = {"params": values, "warmth": warmth.to_json()}
            study._storage.set_trial_system_attr(trial._trial_id, SUGGESTION, told)
        return {name: from_engine(d, values[name]) for name, d in search_space.items()}

    def _suggest(
        self, trials: list[FrozenTrial], me: int, search_space: Distributions, sign: float
    ) -> tuple[dict[str, Value], Warmth]:
        """The engine's values for trial number `me`, and where its searches ended."""
        n_init = default_n_init(len(search_space)) if self._n_init is None else self._n_init
        outputs = self._settings.outputs or constraint_limits(trials)
        special = branches_of(trials, search_space) if self._domain is None else self._domain
        space, runs = runs_of(trials, me, search_space, sign, self._learn_from_all, special, outputs)
        domain: Domain = space if special is None else special
        # what was taken out, lost or repeated elsewhere has no number: a run that was killed goes on as it would have
        number = sum(t.number < me and not is_void(t) for t in trials)
        settings = replace(self._settings, n_init=n_init, outputs=outputs)
        suggestion = suggest(domain, runs, number, settings.spec, warmth_of(trials), reference_on(self._device))
        return dict(zip(space.names, domain.decode(suggestion.x[0]), strict=True)), suggestion.warmth

    def _completing(self, trial: FrozenTrial, search_space: Distributions) -> dict[str, Value]:
        """Where the user has enqueued a part of a point: the engine's values of the rest, random and allowed.

        None where there is no such part, or nothing can complete it.
        """
        enqueued = trial.system_attrs.get("fixed_params") or {}
        given = {name: value for name, value in enqueued.items() if name in search_space}
        if self._domain is None or not 0 < len(given) < len(search_space):
            return {}
        with contextlib.suppress(InvalidInputError):
            return self._drawn(domain_with(self._search_space or {}, self._constraints, given), trial.number)
        return {}

    def _drawn(self, domain: Allowed, me: int) -> dict[str, Value]:
        """The engine's values of a random allowed point, by name."""
        unit = domain.from_uniform(generator(self._settings.seed, 1, me).random((1, domain.d)))[0]
        return dict(zip(domain.region.space.names, domain.decode(unit), strict=True))

    def sample_independent(
        self, study: Study, trial: FrozenTrial, param_name: str, param_distribution: BaseDistribution
    ) -> Any:
        """A random value, from (seed, trial number, name)."""
        sign_of(study)
        if self._search_space is not None and param_name not in self._search_space:
            self._say_once(
                param_name,
                f"expected every parameter in search_space; got {param_name!r}, which is not: its values are random; "
                "try adding it, or no search_space",
            )
        if self._domain is not None and (self._search_space or {}).get(param_name) == param_distribution:
            drawn = self._drawn(self._domain, trial.number)  # one allowed point for all parameters of a trial
            if param_name in drawn:
                return from_engine(param_distribution, drawn[param_name])
        space = engine_space({param_name: param_distribution})
        stream = 1 + zlib.crc32(param_name.encode())  # run 0 is the engine's
        rng = generator(self._settings.seed, stream, trial.number)
        unit = space.from_uniform(rng.random((1, 1)))[0]
        return from_engine(param_distribution, space.decode(unit)[0])

    def after_trial(self, study: Study, trial: FrozenTrial, state: TrialState, values: Sequence[float] | None) -> None:
        """Leave with the trial how far its outputs are outside their limits, and with the study what it learns from."""
        if self._learn_from_all and study.user_attrs.get(LEARNS_FROM_ALL) is not True:
            study.set_user_attr(LEARNS_FROM_ALL, True)
        if state != TrialState.COMPLETE:
            return
        told: dict[str, Any] = {}
        if self._constraints_func is not None:
            told = {"constraints": [float(value) for value in self._constraints_func(trial)]}
        elif self._settings.outputs:
            fields = outputs_of(trial)
            outputs = {fields["objective"]: values[0] if values else math.nan, **fields["further"]}
            self._say_if_missing(outputs)
            told = constraint_attributes(outputs, self._settings.outputs)
            if study.user_attrs.get(LIMITS) != self._settings.outputs:
                study.set_user_attr(LIMITS, dict(self._settings.outputs))
        for key, value in told.items():
            study._storage.set_trial_system_attr(trial._trial_id, key, value)

    def _say_once(self, key: str, text: str) -> None:
        if key not in self._said:
            self._said.add(key)
            warnings.warn(text, SurefootWarning, stacklevel=4)

    def _say_if_nothing_is_learned(self, trials: Sequence[FrozenTrial]) -> None:
        """Once: failures that say nothing of why they failed teach nothing; those that ended without one are none."""
        failed = (t for t in trials if t.state == TrialState.FAIL and not is_void(t))
        untold = [t for t in failed if not {REASON, TRANSIENT} & t.user_attrs.keys()]
        if not self._learn_from_all and self._settings.failures != "ignore" and len(untold) >= _UNTOLD:
            self._say_once(
                REASON,
                f"expected failures with a reason; got {len(untold)} trials without one, which teach nothing; "
                "try guarded(objective), or learn_from_all_failures=True where no machine ever dies; "
                "trials of workers that died count among them",
            )

    def _say_if_missing(self, outputs: Mapping[str, float]) -> None:
        """Once: an output that has a limit and does not come makes every trial infeasible."""
        try:
            check_returned(self._settings.outputs, outputs)
        except InvalidInputError as error:
            self._say_once(LIMITS, f"{error}, from an objective in guarded(…)")

    def _trials(self, study: Study) -> list[FrozenTrial]:
        return trials_of(study)

    def _cannot_suggest(self, study: Study, trial: FrozenTrial, error: Exception) -> None:
        """Say that the point is random."""
        if isinstance(error, SpaceExhaustedError):
            self._say_once("exhausted", f"every point has been evaluated: {error}")
            if self._stops:
                with contextlib.suppress(RuntimeError):  # asked for one by one: the caller decides how often
                    study.stop()
            return
        told = described(error)
        study._storage.set_trial_user_attr(trial._trial_id, FALLBACK, told)
        warnings.warn(f"a random point instead of a suggestion: {told}", SurefootWarning, stacklevel=3)


def guarded(
    objective: Callable[[Trial], Any], *, transient: tuple[type[BaseException], ...] = (), name: str | None = None
) -> Callable[[Trial], float]:
    """An objective whose exceptions, NaNs and infinities are failures that the sampler learns from.

    Exceptions named in `transient` (say, OSError) teach nothing. Use with study.optimize(..., catch=(Exception,)).
    It may return a dict of outputs; `name` says which of several is the study's value. The trial keeps the others.
    """
    expect(callable(objective), "an objective, a function of a trial", objective, "guarded(objective)")
    named = name is None or (is_a(name, str) and name != "")
    expect(named, "the name of an output as text", name, "name='mass'")
    first: list[Evaluation] = []  # of this objective, until one has a value

    def keep(trial: Trial, evaluation: Evaluation, key: str = REASON) -> None:
        for name, told in output_attributes(evaluation).items():
            trial.set_user_attr(name, told)
        if evaluation.reason:
            trial.set_user_attr(key, evaluation.reason)
        if len(first) < _FIRST and not any(known.ok for known in first):
            first.append(evaluation)
            _stop_if_misnamed(trial, first)

    @functools.wraps(objective)
    def call(trial: Trial) -> float:
        try:
            evaluation = as_evaluation((), objective(trial), objective=name)
        except TrialPruned:
            raise
        except Exception as error:
            outcome = exception_outcome(error)
            key = TRANSIENT if isinstance(error, transient) else REASON
            told = partial_outputs(outcome.value), as_share(outcome.progress)
            keep(trial, Evaluation((), math.nan, "failed", outcome.reason, math.nan, name or VALUE, *told), key)
            raise
        keep(trial, evaluation)
        return evaluation.y  # NaN, which Optuna records as FAIL

    return call


def _stop_if_misnamed(trial: Trial, first: Sequence[Evaluation]) -> None:
    """End a study of which no trial has a value because of what its objective returns, and say why."""
    try:
        check_named(first)
    except InvalidInputError as error:
        warnings.warn(f"the study is stopped: {error}", SurefootWarning, stacklevel=4)
        with contextlib.suppress(RuntimeError):  # of trials that were asked for one by one
            trial.study.stop()
