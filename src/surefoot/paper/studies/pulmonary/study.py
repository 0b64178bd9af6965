"""`surefoot study pulmonary`: the paper's inference study [NH18, section 7.3], and a comparison of optimizers on it.

Data of truth q0 with noise of 10 dB; every method minimizes the same function (the root of the loss), each with its own
random numbers. One run is one file; a killed study goes on where it was.

Cases     method x variant of the simulator x noise ("fixed": one realization for all seeds; "seed": one each) x seed
Files     raw/METHOD-VARIANT-NOISE-SEED-N.npz with X (n, 3), loss (n,), kind (n,) of failure or "", seconds
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from surefoot.calibration.loss import RootLoss
from surefoot.errors import UnknownNameError
from surefoot.inference.lungs import root_loss
from surefoot.inference.result import Vector
from surefoot.inference.signals import Signals
from surefoot.inference.synthesize import RESOLUTION, synthesize
from surefoot.paper.resumable import save_whole
from surefoot.paper.studies.pulmonary.methods import METHODS
from surefoot.pulmonary import NOMINAL, PARAMETER_BOX, Settings, SimulationFailure

TRUTH: Vector = NOMINAL
SNR_DB = 10.0
NOISES = ("fixed", "seed")
# With 10 dB of the almost steady venous signals of `published` the data would be finer than the model's own steps.
RESOLUTIONS = {"original": (0.0, 0.0), "published": RESOLUTION}


@dataclass(frozen=True)
class Case:
    """One run."""

    method: str
    variant: str
    noise: str
    seed: int
    n_evals: int

    @property
    def file_name(self) -> str:
        """A name that says what is in it."""
        return f"{self.method}-{self.variant}-{self.noise}-{self.seed}-{self.n_evals}.npz"


@dataclass(frozen=True)
class Record:
    """What one run evaluated, in order."""

    X: np.ndarray  # (n, 3)
    loss: np.ndarray  # (n,) NaN where the simulation failed
    kind: np.ndarray  # (n,) of failure, "" where it succeeded

    @property
    def trace(self) -> np.ndarray:
        """Least loss after each evaluation."""
        return np.minimum.accumulate(np.where(np.isfinite(self.loss), self.loss, np.inf))

    def best(self, n: int) -> np.ndarray:
        """The parameters of least loss among the first n."""
        return np.asarray(self.X[int(np.argmin(np.where(np.isfinite(self.loss[:n]), self.loss[:n], np.inf)))])

    def failed(self, n: int) -> int:
        """How many of the first n failed."""
        return int(np.sum(~np.isfinite(self.loss[:n])))


def patient(variant: str, noise: str, seed: int) -> Signals:
    """The data of a case."""
    return synthesize(
        TRUTH,
        settings=Settings().with_variant(variant),
        snr_db=SNR_DB,
        resolution=RESOLUTIONS[variant],
        seed=0 if noise == "fixed" else 1 + seed,
    )


class Recorder:
    """The root of the loss as every method calls it: records all that happens, and stops at the budget."""

    def __init__(self, root_loss: RootLoss, n_evals: int) -> None:
        self.root_loss, self.n_evals = root_loss, n_evals
        self.X: list[list[float]] = []
        self.loss: list[float] = []
        self.kind: list[str] = []

    @property
    def left(self) -> int:
        """Evaluations left."""
        return self.n_evals - len(self.X)

    def __call__(self, x: Sequence[float] | np.ndarray) -> float:
        """The root of the loss; raises SimulationFailure, and StopIteration when the budget is spent."""
        if self.left <= 0:
            raise StopIteration
        self.X.append([float(value) for value in x])
        try:
            value = self.root_loss(x)
        except SimulationFailure as failure:
            self.loss.append(math.nan)
            self.kind.append(str(failure.kind))
            raise
        self.loss.append(value * value)
        self.kind.append("")
        return value

    def record(self) -> Record:
        """Everything recorded."""
        return Record(np.asarray(self.X), np.asarray(self.loss), np.asarray(self.kind))


def cases(methods: Sequence[str], variants: Sequence[str], noises: Sequence[str], n_seeds: int, n: int) -> list[Case]:
    """All combinations; methods with a smaller budget of their own are run to that."""
    for what, names, known in (
        ("method", methods, METHODS),
        ("variant", variants, RESOLUTIONS),
        ("noise", noises, NOISES),
    ):
        for name in names:
            if name not in known:
                raise UnknownNameError(f"expected a {what} among {', '.join(known)}; got {name!r}; try one of them")
    return [
        Case(method, variant, noise, seed, min(n, METHODS[method].most))
        for variant in variants
        for noise in noises
        for method in methods
        for seed in range(n_seeds)
    ]


def run_case(case: Case, folder: Path) -> Path:
    """Run one case and write its file, whole or not at all."""
    path = folder / case.file_name
    if path.exists():
        return path
    start = time.perf_counter()
    data = patient(case.variant, case.noise, case.seed)
    recorder = Recorder(root_loss(data, Settings().with_variant(case.variant)), case.n_evals)
    METHODS[case.method].minimize(recorder, list(PARAMETER_BOX), case.n_evals, case.seed)
    run = recorder.record()
    save_whole(path, X=run.X, loss=run.loss, kind=run.kind, seconds=time.perf_counter() - start)
    return path


def load(case: Case, folder: Path) -> Record:
    """The run of a case that has been done."""
    with np.load(folder / case.file_name) as data:
        return Record(data["X"], data["loss"], data["kind"])
