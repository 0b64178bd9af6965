"""`surefoot study failures`: does learning from failed evaluations pay?

Problems with hidden constraints x ways to treat failures x policies x seeds, all from the same designs. A combination
of surefoot's is one batch of the engine and one file; of another optimizer each run is. A killed study goes on where it
was. The paper's problems have the paper's model of the objective, the others what a user gets.
"""

from __future__ import annotations

import re
import time
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from surefoot.backend import to_host
from surefoot.engine.lockstep import Trace, final_model, run_in_lockstep
from surefoot.engine.searches import PAPER_MODEL
from surefoot.engine.suggest import initial_design
from surefoot.optimize.settings import Settings
from surefoot.optimize.space import Space
from surefoot.paper.resumable import run_cases, save_whole
from surefoot.paper.solvers.counter import Stopped
from surefoot.paper.studies.failures.constrained import LIMITS, PAPER, get_constrained, group_of
from surefoot.paper.studies.failures.record import Constrained
from surefoot.paper.studies.failures.strategies import OTHERS, OURS

N_EVALS = {PAPER: 100, LIMITS: 200}
POLICIES = ("ScaledEI", "PI", "EI")  # on the paper's problems
STRATEGIES = ("default", "label-regression", "product", "laplace", "ep", "impute", "ignore")
MOST_INITIAL = 30  # points of a design: the paper's 10 d, but no more
N_HELD_OUT = 400  # points at which P(success) is compared with the truth


@dataclass(frozen=True)
class Case:
    """What one file holds: all seeds of a strategy of surefoot, one of another optimizer."""

    problem: str
    strategy: str
    policy: str  # "": the library's default
    n_seeds: int
    n_evals: int
    seed: int = 0  # the first

    @property
    def file_name(self) -> str:
        """A name that says what is in it."""
        runs = f"seed {self.seed} of" if self.strategy in OTHERS else f"{self.n_seeds}x"
        words = f"{self.problem} {self.strategy} {self.policy} {runs}{self.n_evals}"
        return re.sub(r"[^A-Za-z0-9]+", "-", words).strip("-") + ".npz"


def cases(
    problems: Sequence[str], strategies: Sequence[str], policies: Sequence[str], n_seeds: int, n: int | None = None
) -> Iterator[Case]:
    """All combinations; policies are those of the paper's problems, where no other optimizer runs."""
    for problem in problems:
        of_paper = group_of(problem) == PAPER
        n_evals = n or N_EVALS[group_of(problem)]
        for policy in policies if of_paper else ("",):
            for strategy in strategies:
                if strategy in OURS:
                    yield Case(problem, strategy, policy, n_seeds, n_evals)
                elif not of_paper:
                    for seed in range(n_seeds):
                        yield Case(problem, strategy, policy, 1, n_evals, seed)


def n_initial(problem: str) -> int:
    """How many points every strategy begins with there."""
    return min(10 * get_constrained(problem).base.d, MOST_INITIAL)


def settings_of(case: Case) -> Settings:
    """The settings that a case stands for; of another optimizer: those from which its design comes."""
    n_init = n_initial(case.problem)
    own: dict[str, Any] = {"policy": case.policy, **PAPER_MODEL} if group_of(case.problem) == PAPER else {}
    return Settings.of(seed=0, n_init=n_init, **own, **OURS.get(case.strategy, {}))


def run_case(case: Case, folder: Path) -> Path:
    """Run one combination and write its file, whole or not at all."""
    path = folder / case.file_name
    if not path.exists():
        begin = time.process_time()
        found = _run_other(case) if case.strategy in OTHERS else _run_ours(case)
        problem = get_constrained(case.problem)
        cause = problem.cause(_in_box(problem, found["X"])).astype(np.int8)
        about = {"problem": case.problem, "strategy": case.strategy, "policy": case.policy, "seed": case.seed}
        n_init, seconds = settings_of(case).n_init, time.process_time() - begin
        save_whole(path, **found, **about, cause=cause, n_init=n_init, seconds=seconds)
    return path


def _in_box(problem: Constrained, units: np.ndarray) -> np.ndarray:
    low, high = np.asarray(problem.base.lower), np.asarray(problem.base.upper)
    return np.asarray(low + units * (high - low))


def _run_ours(case: Case) -> dict[str, Any]:
    """All seeds, in lock-step."""
    problem, spec = get_constrained(case.problem), settings_of(case).spec

    def evaluate(units: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        x = _in_box(problem, units)
        cause = problem.cause(x)
        return np.asarray(problem.base(x)), cause < 0, cause

    trace = run_in_lockstep(Space.of(problem.base.bounds), evaluate, spec, case.n_seeds, case.n_evals)
    found = {"X": trace.X, "y": trace.y, "ok": trace.ok}
    return found | _held_out(case, problem, trace) if group_of(case.problem) == PAPER else found


def _held_out(case: Case, problem: Constrained, trace: Trace) -> dict[str, np.ndarray]:
    """P(success) of the last models at fresh points, and the truth there."""
    units = np.random.default_rng(7).random((N_HELD_OUT, problem.base.d))
    probability = np.ones((case.n_seeds, N_HELD_OUT))
    for run in range(case.n_seeds):
        success = final_model(trace, settings_of(case).spec, run).success
        if success is not None:
            probability[run] = to_host(success.probability(units[None]))[0]
    return {"probability": probability, "truth": ~problem.fails(_in_box(problem, units))}


class Recorder:
    """A problem as another optimizer sees it: one point in, its value out, NaN where it fails. All is recorded."""

    def __init__(self, problem: Constrained, n: int) -> None:
        self.problem, self.n = problem, n
        self.bounds, self.d = problem.base.bounds, problem.base.d
        self.X: list[np.ndarray] = []
        self.y: list[float] = []

    def __call__(self, x: Any) -> float:
        """Evaluate one point."""
        if len(self.y) == self.n:
            raise Stopped
        low, high = np.asarray(self.bounds).T
        point = np.clip(np.asarray(x, dtype=float).reshape(self.d), low, high)
        self.X.append((point - low) / (high - low))
        # Of the point that is recorded, in the unit cube: rounding moves it by a bit.
        point = _in_box(self.problem, self.X[-1])
        self.y.append(np.nan if bool(self.problem.fails(point)) else float(self.problem.base(point)))
        return self.y[-1]


def _run_other(case: Case) -> dict[str, Any]:
    """One seed."""
    problem, other = get_constrained(case.problem), OTHERS[case.strategy]
    design = initial_design(Space.of(problem.base.bounds), settings_of(case).spec, case.seed)
    recorder = Recorder(problem, case.n_evals)
    other.run(recorder, _in_box(problem, design), case.n_evals, case.seed)
    y = np.asarray(recorder.y)[None]
    return {"X": np.asarray(recorder.X)[None], "y": y, "ok": np.isfinite(y), "library": other.library}


def run_study(todo: Sequence[Case], folder: Path, n_workers: int) -> Generator[Case]:
    """Run what is not done yet; yields each case when its file is there."""
    return run_cases(run_case, todo, folder, n_workers)
