"""From a simulator and data to the parameters behind them: best fit, posterior, intervals, warnings.

1. Bayesian optimization with hidden constraints [NH18, section 7.3] finds the parameters of least loss.
2. An emulator fitted near them gives the posterior (posterior.py); its simulations also polish the best fit.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from surefoot.calibration.box import Box, Floats
from surefoot.calibration.loss import Loss, OutputsError, RootLoss
from surefoot.calibration.notes import at_bounds, beyond_intervals, unexplained
from surefoot.calibration.plan import Plan
from surefoot.calibration.posterior import Draws, Success, n_one_round, sample_posterior
from surefoot.calibration.progress import PosteriorBar
from surefoot.calibration.region import Pool
from surefoot.calibration.result import Calibration, Posterior
from surefoot.calibration.sampler import emcee
from surefoot.calibration.signals import Measured, as_signals
from surefoot.calibration.success import learn_success
from surefoot.errors import InvalidInputError, SurefootError, shown
from surefoot.optimize.history import Evaluation, History
from surefoot.optimize.minimize import minimize
from surefoot.optimize.reasons import summary
from surefoot.optimize.result import Result

_OUTPUTS = f"{OutputsError.__name__}: "  # how an evaluation's reason begins when the simulator returned something else
_KEYWORDS = ("plan", "executor", "history_path", "progress")  # of `calibrate`, beside the fields of a plan


def calibrate(
    simulate: Callable[[Any], Any],
    parameters: Any,
    data: Measured | Iterable[Measured],
    *,
    plan: Plan | None = None,
    executor: Executor | None = None,
    history_path: str | Path | None = None,
    progress: bool = False,
    **asked: Any,
) -> Calibration:
    """Find the parameters of a simulator that explain the data, and what the data leave open.

    simulate      called with a dict of parameters (an array, if they are a list); returns what the data would be
                  without noise: a dict of arrays by the signals' names, or an array if there is one signal. An
                  exception, NaN, an infinity or a complex number is a failed simulation: recorded, learned from,
                  never repeated
    parameters    a dict or list of (low, high) or `Real(low, high, log=True)`; one may be `Stepped`
    data          a `Signal` or several
    plan          what is asked of the search and the posterior; fields of it may be given as keywords:
                  n_evals=100, seed=0, level=0.9, posterior=False, loss="l2", ...
    executor      any concurrent.futures.Executor, for simulations in parallel
    history_path  evaluations are saved here as they end, and a calibration that was stopped goes on from there
    progress      show a bar of the simulations: of the optimization, then of the posterior
    """
    start = time.perf_counter()
    if not callable(simulate):
        raise InvalidInputError(f"expected a function; got {shown(simulate)}; try calibrate(simulate, ...)")
    plan = (plan or Plan()).with_keywords(asked, "calibration.calibrate", _KEYWORDS)
    loss = Loss(as_signals(data), plan.loss)
    if plan.posterior:
        emcee()  # if it is missing: complain now, not after the simulations
    task = _Task(RootLoss(simulate, loss), Box.of(parameters), plan, executor, progress)
    found = _optimize(task, history_path)
    best = _least(found.history.evaluations)
    if best is None:
        raise SurefootError(
            f"expected some of {found.nfev} simulations to run; all failed, most often: "
            f"{summary(e.reason for e in found.history.evaluations)}; try other bounds, or settings of the simulator"
        )
    sampled, pool, notes = _posterior(task, found) if plan.posterior else (None, None, [])
    estimate, predicted = _best_fit(task, best, pool)
    residuals = loss.residuals(predicted)
    outside = beyond_intervals(estimate, sampled.intervals) if sampled is not None else ()
    return Calibration(
        names=task.box.names,
        bounds=task.box.bounds,
        data=loss.data,
        settings=plan.told(),
        evaluations=tuple(replace(e, y=e.y * e.y) for e in found.history.evaluations),
        estimate=estimate,
        loss=loss(predicted),
        fit={s.name: g * s.noise_sd for s, g in zip(loss.data, loss.split(predicted), strict=True)},
        residuals=residuals,
        posterior=sampled,
        duration_s=time.perf_counter() - start,
        notes=(*notes, *at_bounds(task.box, estimate), *unexplained(residuals, loss.data), *outside),
    )


@dataclass(frozen=True)
class _Task:
    """What is to be done, and with what."""

    root: RootLoss
    box: Box
    plan: Plan
    executor: Executor | None
    progress: bool


def _least(evaluations: Sequence[Evaluation]) -> Evaluation | None:
    """The successful evaluation of least value."""
    return min((e for e in evaluations if e.ok), key=lambda e: e.y, default=None)


def _optimize(task: _Task, history_path: str | Path | None) -> Result:
    history = None
    if history_path is not None and Path(history_path).exists():
        history = History.load(history_path)
        _check_same_data(task, history, history_path)

    def look(result: Result) -> None:
        reason = result.history.evaluations[-1].reason
        if reason.startswith(_OUTPUTS):
            raise OutputsError(reason.removeprefix(_OUTPUTS))
        if history_path is not None:
            result.history.save(history_path)

    result = minimize(
        task.root,
        task.box.space,
        n_evals=task.plan.n_evals,
        history=history,
        executor=task.executor,
        callback=look,
        progress=task.progress,
        **task.plan.search_settings(task.box.space.d),
    )
    if result.message.startswith("interrupted"):
        raise KeyboardInterrupt
    return result


def _check_same_data(task: _Task, history: History, path: str | Path) -> None:
    """Raise unless the saved evaluations are of this data, loss and simulator."""
    best = _least(history.evaluations)
    if best is not None and not math.isclose(task.root(task.box.space.to_user(best.x)), best.y, rel_tol=1e-6):
        raise InvalidInputError(
            f"expected the evaluations in {path} to belong to this data, loss and simulator; got another loss at "
            f"{best.x}; try another file, or delete it to start afresh"
        )


def _posterior(task: _Task, found: Result) -> tuple[Posterior | None, Pool, list[str]]:
    """The posterior and its simulations; a note in its place if there is none: the best fit stands without it."""
    box, map_ = task.box, map if task.executor is None else task.executor.map
    with PosteriorBar(n_one_round(box), task.progress) as bar:

        def simulate(units: Floats) -> list[Floats | None]:
            made = []
            for predicted in map_(task.root.attempt, [box.point(unit) for unit in units]):
                bar.simulated()
                made.append(predicted)
            return made

        pool = Pool(simulate)
        try:
            posterior = sample_posterior(
                pool,
                box,
                found.space.encode(found.space.validate(found.x)),
                task.root.loss.measured,
                support=lambda pool: _success(task, found, pool),
                draws=Draws(level=task.plan.level, seed=task.plan.seed),
                on_round=bar.round,
            )
        except OutputsError:
            raise
        except SurefootError as error:
            return None, pool, [f"no posterior: {error}"]
    return posterior, pool, []


def _success(task: _Task, found: Result, pool: Pool) -> Success | None:
    """P(success), learned from the optimization and the emulator's simulations; None if nothing has failed.

    Always by expectation propagation: label regression of points that crowd at the optimum can say "fails" where all
    simulations run (docs/understanding/inference.md), and here that would cut the posterior.
    """
    history, d = found.history, task.box.d
    units = [history.units(found.space)[history.seen], *(np.reshape(p, (-1, d)) for p in (pool.units, pool.failed))]
    failed = [~history.ok[history.seen], np.zeros(len(pool.units), bool), np.ones(len(pool.failed), bool)]
    return learn_success(
        np.concatenate(units), np.concatenate(failed), model="ep", seed=task.plan.seed, warmth=history.warmth
    )


def _best_fit(task: _Task, best: Evaluation, pool: Pool | None) -> tuple[tuple[float, ...], Floats]:
    """The parameters of least loss among the search's best and the emulator's, and what they predict (N,)."""
    candidates = []
    again = task.root.attempt(task.box.space.to_user(best.x))
    if again is not None:
        candidates.append((tuple(float(value) for value in best.x), again))
    if pool is not None and pool.units:
        unit, predicted = pool.best(task.root.loss.measured)
        candidates.append((tuple(float(value) for value in task.box.values(unit)), predicted))
    if not candidates:
        raise SurefootError(
            f"expected the simulator to run at {best.x} as it did before; it failed; try a simulator that does the "
            "same each time"
        )
    return min(candidates, key=lambda pair: task.root.loss(pair[1]))
