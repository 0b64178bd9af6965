"""`surefoot study comparison`: how many evaluations do global solvers need to reach the minimum [NH18, Sec. 6]?

Problems x solvers x seeds. A run is one file; a killed study goes on where it was. A run that spends its budget before
it reaches the target is a miss, and is reported as one: it enters the expected running time, never the mean.
"""

from __future__ import annotations

import csv
import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from surefoot.paper.markdown import markdown
from surefoot.paper.problems import get
from surefoot.paper.resumable import save_whole
from surefoot.paper.solvers.record import Solver, solve
from surefoot.paper.solvers.registry import ALL, get_solver, library_version
from surefoot.paper.statistics import LEVEL, holm

OURS = "ScaledEI"  # the solver that the paper claims needs the fewest
PAPER = {  # the paper's solvers, and what it says of them on CSF; its Figure 3 itself is not at hand
    "ScaledEI": "the fewest",
    "genetic algorithm": "10³ to 10⁴",
    "global search": "order of 10³",
    "simulated annealing": "10² to 10³",
    "particle swarm": "10² to 10³",
    "multi start": "second or third",
    "pattern search": "second or third",
}


@dataclass(frozen=True)
class Case:
    """One run of one solver on one problem."""

    problem: str
    solver: str
    seed: int
    log10_target: float
    budget: int

    @property
    def file_name(self) -> str:
        """A name that says what is in it; with the library's version, for another version is another solver."""
        solver = get_solver(self.solver)
        library = f"{solver.library} {library_version(solver)}"
        words = f"{self.problem} {self.solver} {library} to 1e{self.log10_target:g} of {self.budget} seed {self.seed}"
        return re.sub(r"[^A-Za-z0-9.-]+", "-", words).strip("-") + ".npz"


def cases(
    problems: Sequence[str],
    solvers: Sequence[str],
    n_seeds: int,
    log10_target: float,
    budget: int,
    model_budget: int,
) -> Iterator[Case]:
    """All runs; solvers that fit a model get the smaller of the two budgets."""
    chosen: list[Solver] = [get_solver(name) for name in solvers] or list(ALL)
    for problem in [get(name).abbreviation for name in problems or ("CSF",)]:
        for solver in chosen:
            limit = min(budget, model_budget) if solver.fits_a_model else budget
            for seed in range(n_seeds):
                yield Case(problem, solver.name, seed, log10_target, limit)


def run_case(case: Case, folder: Path) -> Path:
    """Make one run and write its file, whole or not at all."""
    path = folder / case.file_name
    if path.exists():
        return path
    problem, began = get(case.problem), time.perf_counter()
    outcome = solve(get_solver(case.solver), problem, case.seed, log10_target=case.log10_target, budget=case.budget)
    seconds = time.perf_counter() - began
    save_whole(
        path,
        hit=outcome.hit,
        n=outcome.n,
        n_runs=outcome.n_runs,
        best=outcome.trace[-1],
        trace=outcome.trace,
        seconds=seconds,
    )
    return path


@dataclass(frozen=True)
class Row:
    """A solver on a problem, over its seeds."""

    problem: str
    solver: Solver
    budget: int
    n: np.ndarray  # (seeds,) evaluations until the target, or until the budget was spent
    hit: np.ndarray  # (seeds,) whether the target was reached
    n_runs: np.ndarray  # (seeds,) 1 where the solver was not restarted
    log10_distance: np.ndarray  # (seeds,) at the end
    seconds: float  # of all its runs together

    @property
    def n_hits(self) -> int:
        """Runs that reached the target."""
        return int(self.hit.sum())

    @property
    def n_restarted(self) -> int:
        """Runs in which the solver ended by its own criteria and was started again."""
        return int((self.n_runs > 1).sum())

    @property
    def distance_of_misses(self) -> float:
        """Median log10 distance at which the misses ended; NaN if there are none."""
        return float(np.median(self.log10_distance[~self.hit])) if not self.hit.all() else np.nan

    @property
    def mean(self) -> float:
        """Mean evaluations of the runs that reached the target; NaN if none did."""
        return float(np.mean(self.n[self.hit])) if self.n_hits else np.nan

    @property
    def standard_error(self) -> float:
        """Of the mean; NaN for fewer than two hits."""
        return float(np.std(self.n[self.hit], ddof=1) / np.sqrt(self.n_hits)) if self.n_hits > 1 else np.nan

    @property
    def expected_running_time(self) -> float:
        """All evaluations, those of misses too, for each hit: what reaching the target costs if misses start again."""
        return float(self.n.sum() / self.n_hits) if self.n_hits else np.inf


def summarize(todo: Sequence[Case], folder: Path) -> list[Row]:
    """Read the files; per problem the solvers in order of their expected running time, the cheapest first."""
    groups: dict[tuple[str, str], list[Case]] = {}
    for case in todo:
        groups.setdefault((case.problem, case.solver), []).append(case)
    rows = []
    for (problem, solver), members in groups.items():
        found: dict[str, list[float]] = {"n": [], "hit": [], "n_runs": [], "best": [], "seconds": []}
        for case in members:
            with np.load(folder / case.file_name) as data:
                for name, values in found.items():
                    values.append(float(data[name]))
        row = Row(
            problem,
            get_solver(solver),
            members[0].budget,
            n=np.asarray(found["n"]),
            hit=np.asarray(found["hit"], dtype=bool),
            n_runs=np.asarray(found["n_runs"]),
            log10_distance=get(problem).log10_distance(np.asarray(found["best"])),
            seconds=sum(found["seconds"]),
        )
        rows.append(row)
    order = list(dict.fromkeys(case.problem for case in todo))
    return sorted(rows, key=lambda row: (order.index(row.problem), row.expected_running_time))


def recorded(folder: Path) -> list[Row]:
    """What runs.csv and table.csv say of runs that are gone, for the figure; nothing where there are no such files."""
    if not (folder / "runs.csv").exists() or not (folder / "table.csv").exists():
        return []
    with (folder / "table.csv").open(newline="", encoding="utf-8") as file:
        budgets = {(row["problem"], row["solver"]): int(row["budget"]) for row in csv.DictReader(file)}
    runs: dict[tuple[str, str], list[tuple[int, int, int]]] = {}
    with (folder / "runs.csv").open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            numbers = int(row["evaluations"]), int(row["reached"]), int(row["runs"])
            runs.setdefault((row["problem"], row["solver"]), []).append(numbers)
    rows = []
    for (problem, solver), here in runs.items():
        n, hit, n_runs = np.asarray(here).T
        unknown = np.full(len(n), np.nan)
        rows.append(
            Row(problem, get_solver(solver), budgets[problem, solver], n, hit.astype(bool), n_runs, unknown, np.nan)
        )
    return rows


def p_values(rows: Sequence[Row]) -> dict[str, float]:
    """Mann-Whitney tests of each solver of one problem against ScaledEI, corrected after Holm; a miss ranks last."""
    from scipy.stats import mannwhitneyu

    costs = {row.solver.name: np.where(row.hit, row.n, np.inf) for row in rows}
    ours = costs.pop(OURS, None)
    if ours is None:
        return {}
    raw = [float(mannwhitneyu(ours, theirs).pvalue) for theirs in costs.values()]
    return dict(zip(costs, holm(np.asarray(raw)).tolist(), strict=True))


def verdict(rows: Sequence[Row]) -> list[str]:
    """A sentence for each problem: does ScaledEI need the fewest evaluations?"""
    lines = []
    for problem, here in by_problem(rows).items():
        names = [row.solver.name for row in here]
        if OURS not in names:
            continue
        place = names.index(OURS)
        ours = here[place]
        if not ours.n_hits:
            lines.append(f"{problem}: no. {OURS} never reaches the target in {ours.budget} evaluations.")
            continue
        p = p_values(here)
        cheaper = [f"{r.solver.name} {r.expected_running_time:.0f} (p = {p[r.solver.name]:.2g})" for r in here[:place]]
        answer = f"no, {', '.join(cheaper)} cost less" if cheaper else "yes, of all"
        if cheaper and not any(name in PAPER for name in names[:place]):
            answer = f"yes, of the paper's solvers; {', '.join(cheaper)} cost less"
        close = [f"{name} (p = {p[name]:.2g})" for name in names[place + 1 :] if p[name] >= LEVEL]
        doubt = f" Not significantly fewer than {', '.join(close)}." if close else ""
        lines.append(f"{problem}: {answer}. {OURS}: {ours.expected_running_time:.0f}.{doubt}")
    return lines


def by_problem(rows: Sequence[Row]) -> dict[str, list[Row]]:
    """The rows of each problem."""
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(row.problem, []).append(row)
    return found


def write_tables(rows: Sequence[Row], log10_target: float, folder: Path) -> str:
    """runs.csv (every run), table.csv and table.md (with the settings of the solvers); returns the Markdown."""
    with (folder / "runs.csv").open("w", newline="", encoding="utf-8") as file:
        runs = csv.writer(file)
        runs.writerow(["problem", "solver", "seed", "reached", "evaluations", "runs"])
        for r in rows:
            for seed, (hit, n, n_runs) in enumerate(zip(r.hit, r.n, r.n_runs, strict=True)):
                runs.writerow([r.problem, r.solver.name, seed, int(hit), int(n), int(n_runs)])
    with (folder / "table.csv").open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(
            ["problem", "solver", "library", "version", "budget", "seeds", "reached", "mean", "standard_error",
             "median", "expected_running_time", "restarted", "log10_distance_of_misses", "seconds"]
        )  # fmt: skip
        for r in rows:
            table.writerow(
                [r.problem, r.solver.name, r.solver.library, library_version(r.solver), r.budget, len(r.n), r.n_hits,
                 f"{r.mean:.2f}", f"{r.standard_error:.2f}", _median(r), f"{r.expected_running_time:.2f}",
                 r.n_restarted, f"{r.distance_of_misses:.2f}", f"{r.seconds:.1f}"]
            )  # fmt: skip
    text = _report(rows, log10_target)
    (folder / "table.md").write_text(text, encoding="utf-8")
    return text


def _median(row: Row) -> str:
    """Over all seeds, a miss being more than any budget."""
    middle = float(np.median(np.where(row.hit, row.n, np.inf)))
    return f"{middle:g}" if np.isfinite(middle) else f"> {row.budget}"


def _report(rows: Sequence[Row], log10_target: float) -> str:
    parts = [
        f"Evaluations until log10 |f − f*| <= {log10_target:g}: mean ± standard error of the runs that reached it, "
        "median of all, and the expected running time ERT: all evaluations, those of misses included, per run that "
        "reached it. p: Mann–Whitney test against ScaledEI, Holm's correction within the problem, a miss ranks last. "
        "Restarted: runs in which the solver ended by its own criteria and was started again. "
        "Misses end at: the median of their log10 distance.\n",
        "Does ScaledEI need the fewest evaluations, by ERT?\n",
        "".join(f"- {line}\n" for line in verdict(rows)),
    ]
    parts += [f"## {problem}\n\n" + markdown(_cells(here)) for problem, here in by_problem(rows).items()]
    settings = [["solver", "library", "settings; the library's defaults otherwise"]]
    for solver in dict.fromkeys(row.solver for row in rows):
        settings.append([solver.name, f"{solver.library} {library_version(solver)}", solver.options])
    parts.append("## Settings\n\n" + markdown(settings))
    parts.append(f"All runs together: {sum(row.seconds for row in rows):.0f} s on one core.\n")
    return "\n".join(parts)


def _cells(rows: Sequence[Row]) -> list[list[str]]:
    """The table of one problem; for CSF with what the paper says."""
    paper = PAPER if rows[0].problem == "CSF" else {}
    header = ["solver", "reached", "mean", "median", "ERT", "p", "budget", "restarted", "misses end at"]
    cells = [[*header, "the paper"] if paper else header]
    p = p_values(rows)
    for r in rows:
        mean = "–" if not r.n_hits else f"{r.mean:.0f}" + (f" ± {r.standard_error:.1f}" if r.n_hits > 1 else "")
        ert = f"{r.expected_running_time:.0f}" if r.n_hits else "∞"
        significance = f"{p[r.solver.name]:.2g}" if r.solver.name in p else ""
        misses = "" if r.hit.all() else f"{r.distance_of_misses:.1f}"
        row = [r.solver.name, f"{r.n_hits} of {len(r.n)}", mean, _median(r), ert, significance, str(r.budget),
               str(r.n_restarted), misses]  # fmt: skip
        cells.append([*row, paper.get(r.solver.name, "")] if paper else row)
    return cells
