"""One patient: from signals to an estimate of (f_L, f_S, xi), its posterior, and everything a report needs.

    data = read_signals("patient.csv")
    result = infer(data)
    result.estimate, result.posterior.intervals

What is done is in surefoot.calibration; here are the lungs' parameters, simulator and words.

Research software, not a medical device.
"""

from __future__ import annotations

import platform
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import asdict, dataclass, replace
from importlib import metadata
from pathlib import Path
from typing import Any

import surefoot
from surefoot.calibration import plan as general
from surefoot.calibration.calibrate import calibrate
from surefoot.inference.lungs import Lungs, parameters, settings_for
from surefoot.inference.result import Inference, vector_of
from surefoot.inference.signals import Signals
from surefoot.optimize.checks import as_integer
from surefoot.pulmonary import Settings

FAILURE = "SimulationFailure: "  # how an evaluation's reason begins when the simulator failed


@dataclass(frozen=True)
class Plan(general.Plan):
    """What is asked; the paper's but for search and failures (docs/understanding/inference.md)."""

    n_init: int | None = 30  # 10 per parameter


def infer(
    data: Signals,
    *,
    settings: Settings | None = None,
    plan: Plan | None = None,
    n_workers: int = 1,
    history_path: str | Path | None = None,
    progress: bool = False,
    **asked: Any,
) -> Inference:
    """Infer the parameters of the patient behind the data.

    settings      of the simulator; default: the `published` model
    plan          fields of it may be given as keywords: n_evals=100, posterior=False, level=0.9, ...
    n_workers     simulations at a time, in threads
    history_path  evaluations are saved here as they end, and an inference that was stopped goes on from there
    progress      show a bar of the simulations: of the optimization, then of the posterior
    """
    start = time.perf_counter()
    plan = (plan or Plan()).with_keywords(asked, "inference.infer.infer")
    settings, notes = settings_for(data, settings or Settings())
    lungs = Lungs(data, settings)
    n_workers = as_integer("n_workers", n_workers, 1, 2)
    with ThreadPoolExecutor(n_workers) if n_workers > 1 else nullcontext() as threads:
        found = calibrate(
            lungs,
            parameters(settings),
            data,
            plan=plan,
            executor=threads,
            history_path=history_path,
            progress=progress,
        )
    return Inference(
        data=data,
        bounds=found.bounds,
        settings=found.settings,
        model={**asdict(settings), "inflow_kind": type(settings.inflow).__name__},
        evaluations=tuple(replace(e, reason=e.reason.removeprefix(FAILURE)) for e in found.evaluations),
        estimate=vector_of(found.estimate),
        loss=found.loss,
        fit=lungs.beat(found.estimate),
        residuals=found.residuals,
        posterior=found.posterior,
        versions=_versions(),
        duration_s=time.perf_counter() - start,
        notes=(*data.notes, *notes, *found.notes),
    )


def _versions() -> dict[str, str]:
    found = {"surefoot": surefoot.__version__, "python": platform.python_version()}
    for package in ("numpy", "scipy", "numba", "emcee"):
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return found
