"""`surefoot study coverage`: do the credible intervals of the pulmonary inference hold what they promise?

Synthetic patients with random parameters (uniform in the bounds, where the simulator runs), noise of 10 dB, inferred as
a user would. The truth's rank in each marginal posterior is uniform if the posterior is right; a 90 % interval then
covers 90 % of the truths. One patient is one file; a killed study goes on where it was.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from surefoot.calibration.coverage import covered, ranks
from surefoot.errors import InvalidInputError, UnknownNameError
from surefoot.inference.infer import Plan, infer
from surefoot.inference.result import NAMES, Vector
from surefoot.inference.signals import Signals, make_signal
from surefoot.inference.synthesize import synthesize
from surefoot.paper.resumable import write_whole
from surefoot.paper.statistics import wilson
from surefoot.pulmonary import PARAMETER_BOX, VARIANTS, Settings, SimulationFailure

NOISE_LEVELS = ("given", "estimated")
LEVELS = (0.5, 0.8, 0.9, 0.95)


@dataclass(frozen=True)
class CoverageCase:
    """One patient."""

    variant: str
    noise_level: str  # "given": the noise's standard deviations are known; "estimated": from the waveforms
    patient: int
    n_evals: int

    @property
    def file_name(self) -> str:
        """A name that says what is in it."""
        return f"coverage-{self.variant}-{self.noise_level}-{self.patient}-{self.n_evals}.json"


def coverage_cases(variants: Sequence[str], levels: Sequence[str], n_patients: int, n_evals: int) -> list[CoverageCase]:
    """All combinations."""
    for what, names, known in (("variant", variants, tuple(VARIANTS)), ("noise level", levels, NOISE_LEVELS)):
        for name in names:
            if name not in known:
                raise UnknownNameError(f"expected a {what} among {', '.join(known)}; got {name!r}; try one of them")
    return [CoverageCase(v, s, p, n_evals) for v in variants for s in levels for p in range(n_patients)]


def random_patient(variant: str, number: int) -> Signals:
    """Data of a random patient whose simulation runs; the same number is the same patient."""
    rng = np.random.default_rng((2018, number))
    low, high = np.asarray(PARAMETER_BOX).T
    settings = Settings().with_variant(variant)
    while True:
        f_L, f_S, xi = (float(value) for value in low + rng.random(3) * (high - low))
        truth: Vector = (f_L, f_S, xi)
        try:
            return synthesize(truth, settings=settings, snr_db=10.0, seed=int(rng.integers(2**31)))
        except SimulationFailure:
            continue


def without_noise_levels(data: Signals) -> Signals:
    """The same data, their noise levels estimated from the waveforms."""
    made = [make_signal(s.name, s.time_s, s.value, data.period_s)[0] for s in data]
    return replace(data, signals=tuple(made))


def run_coverage(case: CoverageCase, folder: Path) -> Path:
    """Infer one patient and write ranks and widths, whole or not at all."""
    path = folder / case.file_name
    if path.exists():
        return path
    data = random_patient(case.variant, case.patient)
    if case.noise_level == "estimated":
        data = without_noise_levels(data)
    plan = Plan(n_evals=case.n_evals, seed=case.patient)
    result = infer(data, settings=Settings().with_variant(case.variant), plan=plan)
    posterior = result.posterior
    if posterior is None or data.truth is None:
        raise UnknownNameError("expected a posterior and a truth; got none; try infer(posterior=True)")
    document = {
        "truth": data.truth,
        "estimate": result.estimate,
        "rank": ranks(posterior, data.truth).tolist(),
        "sd": [interval.sd for interval in posterior.intervals],
        "loss": result.loss,
        "n_failures": result.n_failures,
        "n_simulations": posterior.n_simulations,
        "emulator_error": posterior.emulator_error,
        "converged": posterior.converged,
        "seconds": result.duration_s,
    }
    write_whole(path, json.dumps(document))
    return path


@dataclass(frozen=True)
class CoverageRow:
    """All patients of one combination."""

    variant: str
    noise_level: str
    rank: np.ndarray  # (patients, 3)
    sd: np.ndarray  # (patients, 3)
    error: np.ndarray  # (patients, 3) estimate - truth
    emulator_error: np.ndarray  # (patients,)
    n_converged: int

    def covered(self, level: float) -> np.ndarray:
        """(patients, 3): whether the central interval of that level holds the truth."""
        return covered(self.rank, level)


def summarize_coverage(todo: Sequence[CoverageCase], folder: Path) -> list[CoverageRow]:
    """Read the files."""
    rows = []
    for key in dict.fromkeys((case.variant, case.noise_level) for case in todo):
        chosen = [case for case in todo if (case.variant, case.noise_level) == key]
        found = [json.loads((folder / case.file_name).read_text(encoding="utf-8")) for case in chosen]
        error = np.asarray([row["estimate"] for row in found]) - np.asarray([row["truth"] for row in found])
        columns = (np.asarray([row[name] for row in found]) for name in ("rank", "sd", "emulator_error"))
        rank, sd, emulator_error = columns
        converged = sum(row["converged"] for row in found)
        rows.append(CoverageRow(*key, rank, sd, error, emulator_error, converged))
    return rows


def recorded_coverage(folder: Path) -> list[CoverageRow]:
    """What coverage.csv says of every patient, for the figure; the emulator's errors are not in it."""
    path = folder / "coverage.csv"
    if not path.exists():
        raise InvalidInputError(f"expected {path.name} in {folder}; got none; try the study without --only-figure")
    found: dict[tuple[str, str], dict[str, list[list[float]]]] = {}
    with path.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            here = found.setdefault((row["variant"], row["noise_level"]), {name: [] for name in NAMES})
            here[row["parameter"]].append([float(row[name]) for name in ("rank", "posterior_sd", "error")])
    rows = []
    for key, by_name in found.items():
        rank, sd, error = np.moveaxis(np.asarray([by_name[name] for name in NAMES]), (2, 1, 0), (0, 1, 2))
        rows.append(CoverageRow(*key, rank, sd, error, np.full(len(rank), np.nan), 0))
    return rows


def write_coverage(rows: Sequence[CoverageRow], folder: Path) -> str:
    """coverage.csv (every patient) and coverage.md; returns the Markdown."""
    with (folder / "coverage.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["variant", "noise_level", "patient", "parameter", "rank", "error", "posterior_sd"])
        for row in rows:
            for patient in range(len(row.rank)):
                for i, name in enumerate(NAMES):
                    values = (row.rank[patient, i], row.error[patient, i], row.sd[patient, i])
                    writer.writerow([row.variant, row.noise_level, patient, name, *(f"{v:.6g}" for v in values)])
    lines = [
        "Share of synthetic patients whose truth lies in the central credible interval of each level; in brackets the",
        "95 % confidence interval of that share (Wilson). z: rms of (estimate - truth)/posterior sd.",
        "",
        "| variant | noise level | parameter | patients | " + " | ".join(f"{level:.0%}" for level in LEVELS) + " | z |",
        "|---|---|---|---|" + "---|" * (len(LEVELS) + 1),
    ]
    for row in rows:
        z = row.error / row.sd
        for name, columns in (*((name, [i]) for i, name in enumerate(NAMES)), ("all", [0, 1, 2])):
            cells = []
            for level in LEVELS:
                hits = row.covered(level)[:, columns]
                low, high = wilson(int(hits.sum()), hits.size)
                cells.append(f"{hits.mean():.1%} ({low:.0%} to {high:.0%})")
            rms = float(np.sqrt(np.mean(z[:, columns] ** 2)))
            cells.append(f"{rms:.2f}")
            head = f"| {row.variant} | {row.noise_level} | {name} | {len(row.rank)} | "
            lines.append(head + " | ".join(cells) + " |")
    lines += [
        "",
        "Emulator: largest error at fresh draws, in posterior standard deviations, and inferences that converged.",
    ]
    lines += ["", "| variant | noise level | largest error | converged |", "|---|---|---|---|"]
    for row in rows:
        share = f"{row.n_converged} of {len(row.rank)}"
        lines.append(f"| {row.variant} | {row.noise_level} | {row.emulator_error.max():.2g} | {share} |")
    text = "\n".join(lines) + "\n"
    (folder / "coverage.md").write_text(text, encoding="utf-8")
    return text
