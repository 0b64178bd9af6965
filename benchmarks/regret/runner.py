"""One run of one library on one problem is one case and one file, written whole: a killed benchmark goes on."""

from __future__ import annotations

import fnmatch
import importlib
import json
import re
import time
import warnings
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.regret.libraries import LIBRARIES, adapter_of, parse, runs_on, version
from benchmarks.regret.suites import PER_INPUT, SUITES, Objective, Task, is_bbob, make_task
from surefoot.errors import UnknownNameError
from surefoot.paper.resumable import save_whole


@dataclass(frozen=True)
class Case:
    """What one file holds."""

    library: str
    suite: str
    problem: str
    seed: int
    n: int

    @property
    def file_name(self) -> str:
        """A name that says what is in it."""
        words = f"{self.suite} {self.problem} {self.library} seed {self.seed} n {self.n}"
        return re.sub(r"[^A-Za-z0-9.=_-]+", "-", words) + ".npz"


def plan(
    libraries: Sequence[str],
    suites: Sequence[str],
    *,
    problems: Sequence[str] = (),
    n_seeds: int | None = None,
    n: int | None = None,
    slow_seeds: int = 5,
    slow_n: int = 100,
    slow_suites: Sequence[str] = ("paper",),
) -> list[Case]:
    """All cases, the first seeds of all first; a run that would end within a shared design is left out."""
    known = [problem for name in suites for problem in SUITES[name].problems]
    unknown = [pattern for pattern in problems if not fnmatch.filter(known, pattern)]
    if unknown:
        raise UnknownNameError(
            f"expected problems of {', '.join(suites)}; got {', '.join(map(repr, unknown))}; "
            f"try one of {', '.join(map(repr, known))}"
        )
    found = []
    for suite_name in suites:
        suite = SUITES[suite_name]
        for library in libraries:
            slow = LIBRARIES[parse(library)[0]].slow
            if (slow and suite_name not in slow_suites) or not runs_on(library, suite_name):
                continue
            n_evals = n or suite.n
            seeds = suite.seeds[:n_seeds]
            if slow:
                n_evals, seeds = min(n_evals, slow_n), seeds[:slow_seeds]
            for problem in suite.problems:
                if problems and not any(fnmatch.fnmatchcase(problem, pattern) for pattern in problems):
                    continue
                for rank, seed in enumerate(seeds):
                    if suite.own_start or n_evals > _n_design(suite_name, problem):
                        found.append((rank, Case(library, suite_name, problem, seed, n_evals)))
    return [case for _, case in sorted(found, key=lambda pair: pair[0])]


def _n_design(suite: str, problem: str) -> int:
    if is_bbob(problem):  # without COCO's being installed
        return PER_INPUT * int(problem[5:])
    return make_task(suite, problem, 0).n_design


def run_case(case: Case, folder: Path) -> None:
    """Run one case and write its file. An error of the library is what the file then holds, with the points so far."""
    path = folder / case.file_name
    if path.exists():
        return
    library = LIBRARIES[parse(case.library)[0]]
    for module in library.modules:
        importlib.import_module(module)
    task = make_task(case.suite, case.problem, case.seed)
    objective = Objective(task, case.seed)
    design = np.empty((0, task.d)) if SUITES[case.suite].own_start else task.design(case.seed)
    point, error = None, ""
    wall, cpu = time.perf_counter(), time.process_time()
    with warnings.catch_warnings(), threadpool_limits(limits=1):
        warnings.simplefilter("ignore")  # a library's warnings are its own affair
        try:
            point = adapter_of(case.library, case.suite)(objective, design, case.n, case.seed)
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as caught:  # a panic of Rust is no Exception
            error = f"{type(caught).__name__}: {caught}"[:500]
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    start = objective.ends[0] if objective.ends else 0.0
    save_whole(
        path,
        X=np.asarray(objective.X).reshape(-1, task.d),
        y=np.asarray(objective.y),
        true=np.asarray(objective.true),
        seconds=np.asarray(objective.ends) - start,
        recommended=_true_value(task, objective, point),
        overhead_s=wall - objective.seconds,
        cpu_s=cpu,
        meta=json.dumps({**asdict(case), "version": version(case.library), "error": error}),
    )


def _true_value(task: Task, objective: Objective, point: object) -> float:
    """The function without noise at the recommended point; None: at the best observed one."""
    if point is not None:
        return float(task.function(np.asarray(point, dtype=float).reshape(task.d)))
    y = np.asarray(objective.y)
    return objective.true[int(np.nanargmin(y))] if np.isfinite(y).any() else np.nan


@dataclass(frozen=True)
class Run:
    """One file, and what is computed from it."""

    case: Case
    d: int
    distances: np.ndarray  # (evaluations made,) best-so-far log10 distance to the least value, of the true values
    recommended: float  # log10 distance of the true value at the recommended point
    n_failed: int  # failed evaluations after the design
    overhead_s: float
    cpu_s: float
    version: str
    error: str
    is_stored: bool = False  # its file is gone: the distances are those of summary.csv (spreadsheets.py)

    def score(self, n: int) -> float:
        """log10 distance after n evaluations; NaN where there is none. A run that stopped early keeps its last."""
        if self.error or n > self.case.n or not len(self.distances):
            return np.nan
        if self.case.suite == "noise":
            return self.recommended if n == self.case.n else np.nan
        return float(self.distances[min(n, len(self.distances)) - 1])


def load(folder: Path) -> list[Run]:
    """Every run in the folder; of one that was made with several budgets, the longest."""
    runs: dict[tuple[str, str, str, int], Run] = {}
    for path in sorted(folder.glob("*.npz")):
        with np.load(path) as data:
            meta = json.loads(str(data["meta"]))
            used, error = meta.pop("version"), meta.pop("error")
            case = Case(**meta)
            task = make_task(case.suite, case.problem, case.seed)
            true = data["true"][: case.n]
            best = np.fmin.accumulate(true) if len(true) else true
            run = Run(
                case=case,
                d=task.d,
                distances=task.log10_distance(best),
                recommended=float(task.log10_distance(data["recommended"])),
                n_failed=int(np.isnan(true[task.n_design :]).sum()),
                overhead_s=float(data["overhead_s"]),
                cpu_s=float(data["cpu_s"]),
                version=used,
                error=error,
            )
        key = (case.library, case.suite, case.problem, case.seed)
        if key not in runs or runs[key].case.n < case.n:
            runs[key] = run
    return list(runs.values())
