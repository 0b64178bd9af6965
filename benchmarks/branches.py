"""`python -m benchmarks.branches`: Optuna studies whose objectives ask for some parameters only sometimes.

The result: docs/evidence/mixed.md.

    python -m benchmarks.branches                        # all problems, ten seeds, results/mixed/branches.md
    python -m benchmarks.branches --problems solver --seeds 2 --out /tmp/branches.md

`before` is surefoot as it was without branches: it is told the parameters that every trial has, and draws the others.
"""

from __future__ import annotations

import os

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[_variable] = "1"

import argparse
import math
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import optuna
from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.samplers import BaseSampler, RandomSampler, TPESampler
from optuna.trial import Trial
from rich.progress import track
from scipy.stats import wilcoxon

from surefoot.integrations.optuna import SurefootSampler

AT = (30, 60)


def layers(trial: Trial) -> float:
    """A network: as many widths as layers."""
    n = trial.suggest_int("layers", 1, 4)
    value = (math.log10(trial.suggest_float("rate", 1e-4, 1.0, log=True)) + 2.3) ** 2 + 0.3 * (n - 3) ** 2
    for i in range(n):
        value += 0.2 * (math.log2(trial.suggest_int(f"width_{i}", 4, 256, log=True)) - (6.5 - i)) ** 2
    return value


def solver(trial: Trial) -> float:
    """Three kinds of solvers with settings of their own; one of them has a preconditioner with one more."""
    kind = trial.suggest_categorical("kind", ["explicit", "implicit", "spectral"])
    value = (trial.suggest_float("x", -2.0, 2.0) - 0.7) ** 2
    if kind == "explicit":
        return value + 2.0 + (trial.suggest_float("cfl", 0.01, 1.0) - 0.4) ** 2
    if kind == "implicit":
        value += 0.5 + 0.05 * (math.log10(trial.suggest_float("tolerance", 1e-8, 0.1, log=True)) + 4.0) ** 2
        if trial.suggest_categorical("preconditioner", ["none", "ilu"]) == "ilu":
            value += 0.02 * (trial.suggest_int("fill", 0, 10) - 6) ** 2 - 0.5
        return value
    value += 0.4 + 0.03 * (trial.suggest_int("order", 2, 16) - 11) ** 2
    return value + 2.0 * (trial.suggest_float("filter", 0.0, 1.0) - 0.35) ** 2


def beam(trial: Trial) -> float:
    """Mass of a cantilever (100 N m, 200 MPa) of one of three sections, in kg; what is overloaded weighs more."""
    section = trial.suggest_categorical("section", ["round", "tube", "box"])
    length, width = trial.suggest_float("length", 0.8, 1.2), trial.suggest_float("width", 0.01, 0.08)
    if section == "round":
        area, modulus = math.pi * width**2 / 4, math.pi * width**3 / 32
    elif section == "tube":
        inner = width * trial.suggest_float("bore", 0.1, 0.95)
        area, modulus = math.pi * (width**2 - inner**2) / 4, math.pi * (width**4 - inner**4) / (32 * width)
    else:
        height, wall = trial.suggest_float("height", 0.01, 0.12), trial.suggest_float("wall", 0.05, 0.45)
        inner, hollow = width * (1 - 2 * wall), height * (1 - 2 * wall)
        area, modulus = width * height - inner * hollow, (width * height**3 - inner * hollow**3) / (6 * height)
    return 7850 * area * length * (1.0 + max(0.0, 100.0 * length / modulus / 200e6 - 1.0))


def threshold(trial: Trial) -> float:
    """A real number decides what is asked for."""
    x = trial.suggest_float("x", 0.0, 1.0)
    value = (x - 0.6) ** 2
    return value + (trial.suggest_float("y", 0.0, 1.0) - 0.2) ** 2 if x > 0.5 else value + 0.05


@cache
def _scored(kernel: str, *settings: tuple[str, float]) -> float:
    from sklearn.datasets import load_breast_cancer
    from sklearn.model_selection import cross_val_score
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC

    model = make_pipeline(StandardScaler(), SVC(kernel=kernel, max_iter=20_000, **dict(settings)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return 1.0 - float(cross_val_score(model, *load_breast_cancer(return_X_y=True), cv=5).mean())


def svm(trial: Trial) -> float:
    """Error of a support vector classifier, breast cancer; each kernel has its own settings."""
    kernel = trial.suggest_categorical("kernel", ["linear", "poly", "rbf"])
    settings: dict[str, float] = {"C": trial.suggest_float("C", 1e-3, 1e3, log=True)}
    if kernel != "linear":
        settings["gamma"] = trial.suggest_float("gamma", 1e-5, 10.0, log=True)
    if kernel == "poly":
        settings["degree"] = trial.suggest_int("degree", 2, 5)
        settings["coef0"] = trial.suggest_float("coef0", 0.0, 5.0)
    return _scored(kernel, *settings.items())


PROBLEMS: dict[str, Callable[[Trial], float]] = {
    f.__name__: f for f in (layers, solver, beam, svm, threshold)
}  # fmt: skip
COMMON = {  # what every trial has, for `before`
    "layers": {"layers": IntDistribution(1, 4), "rate": FloatDistribution(1e-4, 1.0, log=True)},
    "solver": {
        "kind": CategoricalDistribution(["explicit", "implicit", "spectral"]),
        "x": FloatDistribution(-2.0, 2.0),
    },
    "beam": {
        "section": CategoricalDistribution(["round", "tube", "box"]),
        "length": FloatDistribution(0.8, 1.2),
        "width": FloatDistribution(0.01, 0.08),
    },
    "svm": {
        "kernel": CategoricalDistribution(["linear", "poly", "rbf"]),
        "C": FloatDistribution(1e-3, 1e3, log=True),
    },
    "threshold": {"x": FloatDistribution(0.0, 1.0)},
}
SAMPLERS: dict[str, Callable[[str, int], BaseSampler]] = {
    "surefoot": lambda problem, seed: SurefootSampler(seed=seed),
    "before": lambda problem, seed: SurefootSampler(COMMON[problem], seed=seed),
    "TPE": lambda problem, seed: TPESampler(seed=seed),
    "TPE, grouped": lambda problem, seed: TPESampler(seed=seed, multivariate=True, group=True),
    "random": lambda problem, seed: RandomSampler(seed=seed),
}


def best_values(problem: str, sampler: str, seed: int) -> list[float]:
    """The least value after each number of trials in AT."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        study = optuna.create_study(sampler=SAMPLERS[sampler](problem, seed))
    study.optimize(PROBLEMS[problem], n_trials=max(AT))
    values = np.minimum.accumulate([trial.value for trial in study.trials])
    return [float(values[n - 1]) for n in AT]


def table(found: dict[tuple[str, str], np.ndarray], n_seeds: int) -> str:
    """Medians, and against which samplers surefoot is significantly ahead or behind after the last trial."""
    lines = [
        f"Made by `python -m benchmarks.branches`, {n_seeds} seeds. Median of the least value after "
        f"{' / '.join(map(str, AT))} trials; + surefoot is better, - worse at the end (Wilcoxon's signed ranks, 5 %).",
        "",
        "| problem | " + " | ".join(SAMPLERS) + " |",
        "|---" * (1 + len(SAMPLERS)) + "|",
    ]
    for problem in dict.fromkeys(name for name, _ in found):
        cells = []
        for sampler in SAMPLERS:
            values, ours = found[problem, sampler], found[problem, "surefoot"]
            gap = ours[:, -1] - values[:, -1]
            differs = bool(gap.any()) and wilcoxon(gap).pvalue < 0.05
            mark = "" if not differs else " +" if np.median(gap) < 0 else " -"
            cells.append(" / ".join(f"{v:.3g}" for v in np.median(values, axis=0)) + mark)
        lines.append(f"| {problem} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def main(arguments: list[str] | None = None) -> None:
    """Run it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--problems", nargs="+", default=list(PROBLEMS), choices=list(PROBLEMS))
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--out", type=Path, default=Path("results/mixed/branches.md"))
    options = parser.parse_args(arguments)
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    cases = [(problem, sampler) for problem in options.problems for sampler in SAMPLERS]
    found = {
        case: np.asarray([best_values(*case, seed) for seed in range(options.seeds)])
        for case in track(cases, description="studies")
    }
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(table(found, options.seeds))
    print(options.out.read_text())


if __name__ == "__main__":
    main()
