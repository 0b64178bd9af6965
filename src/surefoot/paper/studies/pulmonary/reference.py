"""The best loss that 5000 simulations find: differential evolution over the box, then a simplex from its best point."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import Any

import numpy as np

from surefoot.inference.lungs import root_loss
from surefoot.paper.resumable import write_whole
from surefoot.paper.studies.pulmonary.methods import PENALTY
from surefoot.paper.studies.pulmonary.study import Case, Recorder, patient, run_case
from surefoot.pulmonary import PARAMETER_BOX, Settings, SimulationFailure

N_REFERENCE = 5000
_SHARE_GLOBAL = 0.8  # of the evaluations


def reference_case(variant: str, n_evals: int = N_REFERENCE) -> Case:
    """The reference of a variant's fixed data."""
    return Case("reference", variant, "fixed", 0, n_evals)


def run_reference(case: Case, folder: Path) -> Path:
    """Search with the case's budget and write (parameters, loss) as JSON, whole or not at all."""
    from scipy.optimize import Bounds, differential_evolution, fmin

    path = (folder / case.file_name).with_suffix(".json")
    if path.exists():
        return path
    low, high = np.asarray(PARAMETER_BOX).T
    data = patient(case.variant, case.noise, case.seed)
    loss = root_loss(data, Settings().with_variant(case.variant))
    recorder = Recorder(loss, int(_SHARE_GLOBAL * case.n_evals))

    def value(unit: np.ndarray) -> float:
        try:
            return recorder(low + np.clip(unit, 0.0, 1.0) * (high - low))
        except SimulationFailure:
            return PENALTY

    with contextlib.suppress(StopIteration, RuntimeError):  # SciPy turns StopIteration into RuntimeError
        differential_evolution(
            value, Bounds([0.0] * 3, [1.0] * 3), seed=0, popsize=20, maxiter=10**6, tol=0.0, polish=False
        )
    recorder.n_evals = case.n_evals
    while recorder.left > 0:
        start = (recorder.record().best(len(recorder.X)) - low) / (high - low)
        around = start + 0.003 * np.vstack([np.zeros(3), np.eye(3)])
        with contextlib.suppress(StopIteration, RuntimeError):
            fmin(value, start, xtol=1e-7, ftol=1e-9, initial_simplex=around, disp=False)
    run = recorder.record()
    n = len(run.X)
    document = {"x": run.best(n).tolist(), "loss": float(run.trace[-1]), "n_evals": n, "n_failed": run.failed(n)}
    write_whole(path, json.dumps(document))
    return path


def load_reference(folder: Path, variant: str, n_evals: int = N_REFERENCE) -> dict[str, Any]:
    """What run_reference wrote; {} if it has not been run."""
    path = (folder / reference_case(variant, n_evals).file_name).with_suffix(".json")
    return dict(json.loads(path.read_text(encoding="utf-8"))) if path.exists() else {}


def run_any(case: Case, folder: Path) -> Path:
    """Run a case, or a reference."""
    return run_reference(case, folder) if case.method == "reference" else run_case(case, folder)
