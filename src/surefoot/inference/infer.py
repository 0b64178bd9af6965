"""One patient: from signals to an estimate of (f_L, f_S, xi), its posterior, and everything a report needs.

    data = read_signals("patient.csv")
    result = infer(data)
    result.estimate, result.posterior.intervals

1. Bayesian optimization with hidden constraints [NH18, section 7.3] finds the parameters of least loss.
2. An emulator fitted near them gives the posterior (posterior.py); its simulations also polish the estimate.

Research software, not a medical device.
"""

from __future__ import annotations

import math
import platform
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

import surefoot
from surefoot.backend import engine, to_host
from surefoot.errors import InvalidInputError, SurefootError
from surefoot.inference.loss import Loss
from surefoot.inference.objective import Objective, as_losses, best_of, settings_for, vector_of
from surefoot.inference.posterior import Pool, sample_posterior
from surefoot.inference.progress import PosteriorBar
from surefoot.inference.result import NAMES, Inference, Interval, Posterior, Residual, Vector
from surefoot.inference.signals import Signals
from surefoot.optimize.history import Evaluation, History
from surefoot.optimize.minimize import minimize
from surefoot.optimize.result import Result, make_result
from surefoot.pulmonary import PARAMETER_BOX, Settings, SimulationFailure
from surefoot.pulmonary.arrays import Floats


@dataclass(frozen=True)
class Plan:
    """What the optimization is asked to do; the paper's but for search and failures (docs/inference.md)."""

    loss: str = "likelihood"
    n_evals: int = 100
    n_init: int = 30  # 10 per parameter
    policy: str = "ScaledEI"
    search: str = "gradient"
    kernel: str = "se"
    failures: str = "ep"  # the paper: label-regression
    min_success: float = 0.5
    warp: str = "none"  # the root of the loss is minimized, which needs none
    prior: str = "none"
    seed: int = 0

    def optimizer_settings(self) -> dict[str, Any]:
        """As `minimize` takes them."""
        return {key: value for key, value in asdict(self).items() if key not in ("loss", "n_evals")}


OnRound = Callable[[int, float], None]


def infer(
    data: Signals,
    *,
    settings: Settings | None = None,
    plan: Plan | None = None,
    n_workers: int = 1,
    history_path: str | Path | None = None,
    posterior: bool = True,
    level: float = 0.9,
    progress: bool = False,
    on_round: OnRound = lambda number, error: None,
) -> Inference:
    """Infer the parameters of the patient behind the data.

    settings      of the simulator; default: the `published` model
    n_workers     simulations at a time, in threads
    history_path  evaluations are saved here as they end, and an inference that was stopped goes on from there
    posterior     sample it too (about 60 more simulations); level: of its intervals
    progress      show a bar of the simulations: of the optimization, then of the posterior
    on_round      called after each round of the emulator's refinement with its number and error
    """
    start = time.perf_counter()
    plan = plan or Plan()
    settings, notes = settings_for(data, settings or Settings())
    if not 0.0 < level < 1.0:
        raise InvalidInputError(f"expected a level between 0 and 1; got {level!r}; try 0.9")
    if isinstance(n_workers, bool) or not isinstance(n_workers, int) or n_workers < 1:
        raise InvalidInputError(f"expected n_workers of at least 1; got {n_workers!r}; try 2")
    objective = Objective(Loss(data, plan.loss), settings)
    found = _optimize(objective, plan, n_workers, history_path, progress)
    evaluations = as_losses(found.history)
    best = best_of(evaluations)
    if best is None:
        raise SurefootError(
            f"expected some of {len(evaluations)} simulations to run; all failed; try other settings of the simulator"
        )
    candidates: list[Vector] = [vector_of(best.x)]
    sampled: Posterior | None = None
    if posterior:
        try:
            with PosteriorBar(progress) as bar:
                sampled, pool = _posterior(objective, plan, found, n_workers, level, on_round, bar)
            candidates.append(_least(objective, pool))
        except SurefootError as error:  # the estimate stands without it
            notes.append(f"no posterior: {error}")
    beats = [(objective.beat(vector), vector) for vector in dict.fromkeys(candidates)]
    fit, estimate = min(beats, key=lambda pair: objective.loss(pair[0]))
    residuals = objective.loss.residuals(fit)
    return Inference(
        data=data,
        bounds=PARAMETER_BOX,
        settings=asdict(plan),
        model={**asdict(settings), "inflow_kind": type(settings.inflow).__name__},
        evaluations=evaluations,
        estimate=estimate,
        loss=objective.loss(fit),
        fit=fit,
        residuals=residuals,
        posterior=sampled,
        versions=_versions(),
        duration_s=time.perf_counter() - start,
        notes=(
            *data.notes,
            *notes,
            *_warnings(estimate, residuals, data),
            *(beyond_intervals(estimate, sampled.intervals) if sampled is not None else ()),
        ),
    )


def _optimize(
    objective: Objective, plan: Plan, n_workers: int, history_path: str | Path | None, progress: bool
) -> Result:
    bounds = dict(zip(NAMES, PARAMETER_BOX, strict=True))
    history = None
    if history_path is not None and Path(history_path).exists():
        history = History.load(history_path)
        _check_same_data(objective, history, history_path)

    def save(result: Result) -> None:
        if history_path is not None:
            result.history.save(history_path)

    with ThreadPoolExecutor(n_workers) as threads:
        result = minimize(
            objective,
            bounds,
            n_evals=plan.n_evals,
            history=history,
            executor=threads if n_workers > 1 else None,
            n_workers=n_workers,
            callback=save,
            progress=progress,
            **plan.optimizer_settings(),
        )
    if result.message.startswith("interrupted"):
        raise KeyboardInterrupt
    return result


def _check_same_data(objective: Objective, history: History, path: str | Path) -> None:
    """Raise unless the saved evaluations are of this data, loss and simulator."""
    best = best_of(history.evaluations)
    if best is None:
        return
    if not math.isclose(objective(best.x), best.y, rel_tol=1e-6):
        raise InvalidInputError(
            f"expected the evaluations in {path} to belong to this data, loss and simulator; got another loss at "
            f"{best.x}; try another file, or delete it to start afresh"
        )


def _posterior(
    objective: Objective,
    plan: Plan,
    found: Result,
    n_workers: int,
    level: float,
    on_round: OnRound,
    bar: PosteriorBar,
) -> tuple[Posterior, Pool]:
    low, high = np.asarray(PARAMETER_BOX).T
    loss = Loss(objective.loss.data)  # whatever was minimized, the posterior is that of the likelihood

    def predicted(unit: Floats) -> Floats | None:
        try:
            return loss.predicted(objective.beat(low + unit * (high - low)))
        except SimulationFailure:
            return None
        finally:
            bar.simulated()

    def told(number: int, error: float) -> None:
        bar.round(number, error)
        on_round(number, error)

    with ThreadPoolExecutor(n_workers) as threads:
        return sample_posterior(
            lambda units: list(threads.map(predicted, units)),
            objective.settings,
            PARAMETER_BOX,
            found.space.encode(found.space.validate(found.x)),
            loss.measured,
            support=lambda pool: _success(found, pool, low, high),
            seed=plan.seed,
            level=level,
            on_round=told,
        )


def _success(found: Result, pool: Pool, low: Floats, high: Floats) -> Callable[[Floats], Floats] | None:
    """P(success), learned from the optimization and the emulator's simulations; None if nothing has failed.

    Always by expectation propagation: label regression of points that crowd at the optimum can say "fails" where all
    simulations run (docs/inference.md), and here that would cut the posterior.
    """
    more = [Evaluation(vector_of(low + u * (high - low)), 0.0) for u in pool.units]
    more += [Evaluation(vector_of(low + u * (high - low)), math.nan, "failed") for u in pool.failed]
    history = replace(found.history, evaluations=(*found.history.evaluations, *more))
    if history.ok.all():
        return None
    model = make_result(found.space, history, replace(found.settings, failures="ep"), 1.0, "").model.fitted
    if model.success is None:
        return None
    success = model.success

    def probability(units: Floats) -> Floats:
        with engine(len(history)):
            return np.asarray(to_host(success.probability(units[None]))[0])

    return probability


def _least(objective: Objective, pool: Pool) -> Vector:
    """The parameters of least squared residuals among the emulator's simulations."""
    low, high = np.asarray(PARAMETER_BOX).T
    best, _ = pool.best(Loss(objective.loss.data).measured)
    return vector_of(low + best * (high - low))


def _warnings(estimate: Vector, residuals: tuple[Residual, ...], data: Signals) -> list[str]:
    """What a reader must know before believing the numbers."""
    notes = []
    for name, value, (low, high) in zip(NAMES, estimate, PARAMETER_BOX, strict=True):
        if min(value - low, high - value) < 0.005 * (high - low):
            notes.append(f"the best fit of {name} lies at the bounds of the search, {low:g} to {high:g}")
    for residual, signal in zip(residuals, data, strict=True):
        # the mean of n squared standard normals has variance 2/n; 0.2: noise levels are known no better
        if residual.chi2_per_value > 1.2 + 5.0 * math.sqrt(2.0 / signal.value.size):
            notes.append(
                f"{residual.name}: residuals are {math.sqrt(residual.chi2_per_value):.2g} times the noise "
                f"({signal.noise_from}); the model does not explain this signal, or the noise is larger: "
                "check units, timing (t = 0 is the onset of ejection) and the inflow"
            )
    return notes


def beyond_intervals(estimate: Sequence[float], intervals: Sequence[Interval]) -> list[str]:
    """Notes where the best fit lies a standard deviation or more outside its own interval.

    The loss has jumps in xi, where vessels of the trees come and go: the search may have ended beside one, and an
    emulator then follows the wrong side.
    """
    return [
        f"the best fit of {interval.name}, {value:g}, is outside its interval, {interval.low:g} to {interval.high:g}; "
        "the search has not found the least loss, or the emulator does not follow it there; try a larger n_evals"
        for value, interval in zip(estimate, intervals, strict=True)
        if max(interval.low - value, value - interval.high) > interval.sd
    ]


def _versions() -> dict[str, str]:
    found = {"surefoot": surefoot.__version__, "python": platform.python_version()}
    for package in ("numpy", "scipy", "numba", "emcee"):
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return found
