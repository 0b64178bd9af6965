"""An Optuna study as the engine's history: what its trials teach, which points are pending, where the last fit ended.

What a trial teaches

    COMPLETE, finite value                    an observation
    COMPLETE, infinite value                  a failure
    PRUNED with a finite intermediate value   an observation, no better than the median of the completed trials
    FAIL with the attribute REASON            a failure: where it happened is learned
    FAIL with the attribute VOID              nothing, it was not evaluated: lost with its worker, interrupted, surplus
    any, if the study says it is FORGOTTEN    nothing, and it does not count: the user took it out
    any, OUTSIDE parameters changed since     nothing, and it does not count (optuna_changed.py)
    any other FAIL                            nothing: a dead machine, a stale heartbeat, an untagged exception
    RUNNING, WAITING with known parameters    a pending point
"""

from __future__ import annotations

import copy
import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from statistics import median
from typing import Any

from optuna.distributions import BaseDistribution, json_to_distribution
from optuna.study import Study, StudyDirection
from optuna.trial import FrozenTrial, TrialState

from surefoot.engine.batch import Batch
from surefoot.engine.warmth import Warmth
from surefoot.errors import InvalidInputError, encodable
from surefoot.integrations.optuna_branches import Branches, telling
from surefoot.integrations.optuna_changed import OUTSIDE, as_of_today
from surefoot.integrations.optuna_outputs import constraint_limits, objective_of, outputs_of
from surefoot.integrations.optuna_space import (
    Distributions,
    engine_space,
    from_engine,
    middle_of,
    shown,
    shown_space,
    to_engine,
    without_single,
)
from surefoot.optimize.allowed import Allowed
from surefoot.optimize.batches import batch_of
from surefoot.optimize.history import Evaluation, History, judged
from surefoot.optimize.outputs import renamed
from surefoot.optimize.parameters import Value
from surefoot.optimize.result import Result, make_result
from surefoot.optimize.settings import Settings, default_n_init
from surefoot.optimize.space import Space

_MOST_NAMED = 10  # parameters in a message
REASON = "surefoot:reason"  # user attribute of a trial: why it failed, if it would fail again
TRANSIENT = "surefoot:transient"  # user attribute: why it failed, if it might not fail again
VOID = "surefoot:void"  # user attribute: why it was not evaluated at all
FALLBACK = "surefoot:fallback"  # user attribute: why its point is random: the engine failed where it must not
FORGOTTEN = "surefoot:forgotten"  # user attribute of a study: the numbers of trials that count no more. A trial that
# has ended cannot be changed, so it has the attribute only as `trials_of` reads it
INSTEAD = "surefoot:instead_of"  # user attribute of a late result: the number of the trial that had given its point up
REPEATED = "surefoot:repeated"  # user attribute: the number of the trial that counts for this point; a second result
OUTPUT = "surefoot:output"  # user attribute, of `surefoot run`: duration, where it ran, the ends of stdout and stderr
SUGGESTION = "surefoot:suggestion"  # system attribute: the engine's values, published before they are evaluated, and
# where the hyperparameter searches ended
LIMITS = "surefoot:limits"  # user attribute of a study: limits on outputs that the sampler was given
AGAIN = "surefoot:again_of"  # user attribute: the number of the trial whose place it took
LEARNS_FROM_ALL = "surefoot:learn_from_all_failures"  # user attribute of the study: so its sampler did
STUDY = "surefoot:study"  # user attribute of a study made by `surefoot run`: its settings and parameters
WAS = "was"  # in STUDY once its parameters were changed: values in earlier trials of those that came later


def sign_of(study: Study) -> float:
    """+1 if the study minimizes, -1 if it maximizes; an error if it does neither of one objective."""
    if len(study.directions) != 1:
        raise InvalidInputError(
            f"expected a study with one objective; got {len(study.directions)}; "
            "try a weighted sum, or another sampler for several objectives"
        )
    return -1.0 if study.direction == StudyDirection.MAXIMIZE else 1.0


def common_space(trials: Sequence[FrozenTrial]) -> dict[str, BaseDistribution]:
    """The parameters that all trials share, with equal distributions; failed trials are asked only if all failed."""
    finished = [t.distributions for t in telling(trials)]
    if not finished:
        return {}
    return {name: d for name, d in finished[0].items() if all(other.get(name) == d for other in finished)}


def _several_ranges(trials: Sequence[FrozenTrial]) -> list[str]:
    """Parameters that finished trials have with different distributions."""
    found: dict[str, BaseDistribution] = {}
    ended = telling(trials)
    for trial in ended:
        found |= trial.distributions
    return [name for name, d in found.items() if any(t.distributions.get(name, d) != d for t in ended)]


def evaluation_of(
    trial: FrozenTrial, x: tuple[Value, ...], sign: float, typical: float | None, learn_from_all: bool = False
) -> Evaluation:
    """What a finished trial at x teaches; `typical` is the median of the completed values."""
    return replace(_taught(trial, x, sign, typical, learn_from_all), **outputs_of(trial))


def _taught(
    trial: FrozenTrial, x: tuple[Value, ...], sign: float, typical: float | None, learn_from_all: bool
) -> Evaluation:
    duration = duration_of(trial)
    if trial.state == TrialState.COMPLETE and trial.value is not None:
        if math.isfinite(trial.value):
            return Evaluation(x, trial.value, duration_s=duration)
        return Evaluation(x, math.nan, "failed", f"the value was {trial.value}", duration)
    if trial.state == TrialState.PRUNED:
        if typical is not None and trial.value is not None and math.isfinite(trial.value):
            return Evaluation(x, sign * max(sign * trial.value, sign * typical), reason="pruned", duration_s=duration)
        return Evaluation(x, math.nan, "transient", "pruned", duration)
    if REASON in trial.user_attrs:
        return Evaluation(x, math.nan, "failed", reason_of(trial), duration)
    reason = reason_of(trial) or "failed without a reason (a lost worker, an untagged exception)"
    return Evaluation(x, math.nan, "failed" if learn_from_all else "transient", reason, duration)


def _table(stored: Any) -> dict[str, Any]:
    """An attribute that holds names and values; none of them if anybody else has written something else there."""
    return stored if isinstance(stored, dict) else {}


def duration_of(trial: FrozenTrial) -> float:
    """Seconds that the evaluation took; of a trial not run by `surefoot run`, from its beginning to its end.

    One that was added ended when it began: how long it took is not known.
    """
    stored = _table(trial.user_attrs.get(OUTPUT)).get("duration_s")
    if isinstance(stored, (int, float)):
        return float(stored)
    return (trial.duration.total_seconds() if trial.duration is not None else 0.0) or math.nan


def typical_value(trials: Sequence[FrozenTrial]) -> float | None:
    """The median of the completed values."""
    values = [t.value for t in trials if t.state == TrialState.COMPLETE and t.value is not None and not is_void(t)]
    values = [v for v in values if math.isfinite(v)]
    return median(values) if values else None


def reason_of(trial: FrozenTrial) -> str:
    """Why it failed, or was not evaluated; empty if it says nothing."""
    return encodable(str(next((trial.user_attrs[k] for k in (REASON, TRANSIENT, VOID) if k in trial.user_attrs), "")))


def trials_of(study: Study) -> list[FrozenTrial]:
    """All trials in the order of their numbers. Not to be changed.

    Those that the user took out carry FORGOTTEN, those that parameters of today do not have OUTSIDE. A transient
    failure in whose place a late result stands is VOID.
    """
    trials = study.get_trials(deepcopy=False)
    attributes = study.user_attrs
    about = _table(attributes.get(STUDY))
    if WAS in about:
        trials = as_of_today(trials, stored_parameters(about), _table(about[WAS]), SUGGESTION)
    forgotten = frozenset(attributes.get(FORGOTTEN) or ())
    late = [t for t in trials if INSTEAD in t.user_attrs and t.number not in forgotten]
    marks: dict[int, dict[str, Any]] = {
        t.user_attrs[INSTEAD]: {VOID: f"trial {t.number} has its result, which came late"} for t in late
    }
    marks |= {number: {FORGOTTEN: True} for number in forgotten}
    return [_marked(trial, marks[trial.number]) if trial.number in marks else trial for trial in trials]


def stored_parameters(about: dict[str, Any]) -> dict[str, BaseDistribution]:
    """The parameters in STUDY; none if it has none, or damaged ones."""
    try:
        return {name: json_to_distribution(text) for name, text in _table(about.get("parameters")).items()}
    except (ValueError, KeyError, TypeError):
        return {}


def _marked(trial: FrozenTrial, mark: dict[str, Any]) -> FrozenTrial:
    marked = copy.copy(trial)
    told = {name: value for name, value in trial.user_attrs.items() if name != TRANSIENT or VOID not in mark}
    marked.user_attrs = {**told, **mark}
    return marked


def is_taken_out(trial: FrozenTrial) -> bool:
    """Whether the user took it out, by its number or by other bounds."""
    return FORGOTTEN in trial.user_attrs or OUTSIDE in trial.user_attrs


def is_outside(trial: FrozenTrial) -> bool:
    """Whether parameters of today do not have its point, which was evaluated or waits for it."""
    unevaluated = trial.state == TrialState.FAIL and VOID in trial.user_attrs
    return OUTSIDE in trial.user_attrs and FORGOTTEN not in trial.user_attrs and not unevaluated


def is_void(trial: FrozenTrial) -> bool:
    """Whether it counts for nothing: it ended without an evaluation, or is a repetition, or was taken out."""
    if is_taken_out(trial) or REPEATED in trial.user_attrs:
        return True
    if trial.state != TrialState.FAIL or REASON in trial.user_attrs or TRANSIENT in trial.user_attrs:
        return False
    return VOID in trial.user_attrs


def was_evaluated(trial: FrozenTrial) -> bool:
    """Whether it has ended, and an evaluation (a success or a failure) stands behind it."""
    return trial.state.is_finished() and not is_void(trial)


def published(trial: FrozenTrial) -> dict[str, Value]:
    """The engine's values that a suggestion announced; none if there is no suggestion, or a damaged one."""
    suggestion = trial.system_attrs.get(SUGGESTION)
    values = suggestion.get("params") if isinstance(suggestion, dict) else None
    return dict(values) if isinstance(values, dict) else {}


def point_of(
    trial: FrozenTrial, distributions: Distributions, space: Space, branches: Branches | None = None
) -> tuple[Value, ...] | None:
    """The engine's values of a trial: suggested, enqueued or published; None if some are unknown or out of range.

    A failure that came before all parameters were asked for has no need of the others: what nobody has suggested is in
    the middle. branches: where it is known what is not asked for, that rests.
    """
    enqueued, values = trial.system_attrs.get("fixed_params") or {}, published(trial)
    try:
        values |= {name: to_engine(d, enqueued[name]) for name, d in distributions.items() if name in enqueued}
        values |= {name: to_engine(d, trial.params[name]) for name, d in distributions.items() if name in trial.params}
        if branches is not None:
            values |= {name: value for name, value in branches.rests(values).items() if name not in trial.params}
        if trial.state == TrialState.FAIL and any(name in trial.params for name in distributions):
            values = {**middle_of(space), **values}
        return space.validate([values[name] for name in distributions])
    except (KeyError, ValueError, TypeError, OverflowError):
        return None


def runs_of(
    trials: Sequence[FrozenTrial],
    me: int,
    distributions: Distributions,
    sign: float,
    learn_from_all: bool,
    domain: Allowed | Branches | None = None,
    limited: Iterable[str] = (),
) -> tuple[Space, Batch]:
    """What the engine needs to suggest a point for trial number `me`.

    domain: what known constraints allow, or what is not always asked for; limited: outputs that have limits.
    """
    space = engine_space(distributions)
    region = None if domain is None else domain.region
    branches = domain if isinstance(domain, Branches) else None
    typical = typical_value(trials)
    pending, told = [], []
    for trial in trials:
        if trial.number == me or is_void(trial):
            continue
        x = point_of(trial, distributions, space, branches)
        if x is not None and trial.state.is_finished():
            evaluation = evaluation_of(trial, x, sign, typical, learn_from_all)
            violates = () if region is None else tuple(map(str, region.violated(x)))
            told.append(replace(evaluation, violates=violates))
        elif x is not None:
            pending.append(space.encode(x))
    history = History(tuple(told))
    return space, batch_of(history, history.units(space), space, sign, limited, pending)


def warmth_of(trials: Sequence[FrozenTrial]) -> Warmth:
    """Where the hyperparameter searches of the latest evaluated trial ended; nothing if that cannot be read.

    A trial in another's place has the point that was suggested for that one, and what was found out with it.
    """
    by_number = {t.number: t for t in trials}

    def suggested(trial: FrozenTrial) -> FrozenTrial:
        while (first := by_number.get(trial.user_attrs.get(AGAIN, -1))) is not None and first.number < trial.number:
            trial = first
        return trial

    firsts = (suggested(t) for t in trials if was_evaluated(t))
    for trial in sorted(firsts, key=lambda t: -t.number):
        if SUGGESTION in trial.system_attrs:
            try:
                return Warmth.from_json(trial.system_attrs[SUGGESTION]["warmth"])
            except (ValueError, KeyError, TypeError):
                return Warmth()
    return Warmth()


def fallbacks_of(trials: Sequence[FrozenTrial]) -> dict[int, str]:
    """The trials whose points are random because the engine failed, by number, and why."""
    return {t.number: str(t.user_attrs[FALLBACK]) for t in trials if FALLBACK in t.user_attrs and not is_void(t)}


def _with_constraints(space: Space, about: dict[str, Any]) -> Space:
    """The space with the known constraints of a run; without them if they cannot be read."""
    try:
        return space.constrained(_table(about.get("constraints")) or None)
    except InvalidInputError:
        return space


def _left_out(trials: Sequence[FrozenTrial], distributions: Distributions) -> str:
    """What to add to the message of a result that lacks parameters which its trials had."""
    had = dict.fromkeys(name for t in trials for name, d in t.distributions.items() if not d.single())
    missing = [name for name in had if name not in distributions]
    names = f"{', '.join(missing[:_MOST_NAMED])}{', …' * (len(missing) > _MOST_NAMED)}"
    return f"; left out, as not all trials have them alike: {names}" if missing else ""


def _shown_point(trial: FrozenTrial, distributions: Distributions, engine: Space) -> tuple[Value, ...] | None:
    """The user's values of an evaluated trial; None where it is outside the space, or has ended well without some."""
    point = point_of(trial, distributions, engine)
    if point is None or not (trial.state == TrialState.FAIL or distributions.keys() <= trial.params.keys()):
        return None
    values = {name: from_engine(d, v) for (name, d), v in zip(distributions.items(), point, strict=True)}
    values |= trial.params
    return tuple(shown(d, values[name]) for name, d in distributions.items())


def result_of(study: Study, *, settings: Settings | None = None) -> Result:
    """Everything a study knows, as `surefoot.minimize` returns it: `.history`, `.space`, `.model`, `.table()` …

    study     any single-objective Optuna study; of one made by `surefoot run` the parameters and settings are known,
              of any other the parameters that all its trials share are taken
    settings  for the model (kernel, noise, failures …); default: those of the run, or surefoot's own

    Evaluations are in the order of the trials' numbers. Trials that were never evaluated (VOID, RUNNING, WAITING), that
    were forgotten, and those outside the common space are left out. A trial that failed before it had asked for all
    parameters counts; those that it did not ask for are as they were suggested. The message names what is left out,
    and tells how many points are random because the engine failed. InvalidInputError if no parameter is known yet.
    """
    sign = sign_of(study)
    trials = trials_of(study)
    about = _table(study.user_attrs.get(STUDY))
    distributions = stored_parameters(about) or without_single(common_space(trials))
    if not distributions and (changed := _several_ranges(trials)):
        raise InvalidInputError(
            f"expected parameters with one range in all trials; got {', '.join(changed)} with several; "
            "try a new study with these trials (study.add_trials), their distributions made equal"
        )
    if not distributions:
        raise InvalidInputError(
            f"expected a study with at least one finished trial; {study.study_name!r} has none whose parameters "
            "are known; try again when one has ended"
        )
    if settings is None:
        settings = Settings.of(**{"n_init": default_n_init(len(distributions)), **_table(about.get("settings"))})
    if not settings.outputs:
        given = {k: v for k, v in _table(study.user_attrs.get(LIMITS)).items() if isinstance(v, str)}
        settings = replace(settings, outputs=given or constraint_limits(trials))
    space, engine = _with_constraints(shown_space(distributions), about), engine_space(distributions)
    typical, from_all = typical_value(trials), study.user_attrs.get(LEARNS_FROM_ALL) is True
    evaluated = [trial for trial in sorted(trials, key=lambda t: t.number) if was_evaluated(trial)]
    points = {t.number: _shown_point(t, distributions, engine) for t in evaluated}
    used = [trial for trial in evaluated if points[trial.number] is not None]
    found = [evaluation_of(t, points[t.number] or (), sign, typical, from_all) for t in used]
    objective = objective_of(used)  # the name of the value may have changed on the way
    evaluations = [judged(e if objective is None else renamed(e, objective), space) for e in found]
    message = f"study {study.study_name}: {len(evaluations)} evaluations"
    message += _left_out(used, distributions)
    if lost := sum(t.state == TrialState.FAIL and points[t.number] is None for t in evaluated):
        message += f"; left out, as they failed before they asked for any of these parameters: {lost} trials"
    if fallbacks := fallbacks_of(trials):
        message += f", {len(fallbacks)} at random points because no suggestion could be made"
    history = History(tuple(evaluations), warmth_of(trials), names=space.names)
    return make_result(space, history, settings, sign, message, [t.number for t in used])
