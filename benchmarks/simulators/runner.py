"""One run of one strategy on one problem is one case and one file, written whole: a killed benchmark goes on."""

from __future__ import annotations

import gzip
import importlib
import json
import math
import re
import time
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import asdict, astuple, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

import surefoot
from benchmarks.regret.libraries import parse
from benchmarks.simulators import problems
from benchmarks.simulators.problems import Recorder
from examples.simulators.emulated import NAMES
from surefoot.engine.suggest import initial_design
from surefoot.errors import UnknownNameError
from surefoot.optimize.reasons import kinds_of
from surefoot.optimize.settings import Settings
from surefoot.paper.resumable import write_whole
from surefoot.paper.studies.failures.strategies import OTHERS, OURS, check_strategies

PAPER = {"policy": "ScaledEI", "search": "paper"}  # with the paper's model, and label regression
STAGES = (  # runs of a seed are made in this order, on all problems; the last stage after all seeds
    ("default", "random", "tpe", "cmaes", "egobox", "label-regression"),
    ("ep", "laplace", "ignore", "impute", "paper"),
    ("smac",),
)
PACKED = "runs.json.gz"


@dataclass(frozen=True)
class Case:
    """What one file holds."""

    problem: str
    strategy: str
    seed: int
    n: int
    n_init: int
    emulated: bool = False

    @property
    def file_name(self) -> str:
        """A name that says what is in it."""
        words = f"{self.problem} {self.strategy} seed {self.seed} n {self.n_init} of {self.n}"
        words += " emulated" if self.emulated else ""
        return re.sub(r"[^A-Za-z0-9.=_-]+", "-", words) + ".json"


def settings_of(strategy: str) -> dict[str, Any] | None:
    """The settings of surefoot that a name stands for, also as default:min_success=0.5; None: another optimizer."""
    name, _, own = strategy.partition(":")
    if name == "paper":
        base: dict[str, Any] = dict(PAPER)
    else:
        check_strategies([name])
        if name in OTHERS:
            if own:
                raise UnknownNameError(f"expected settings after one of surefoot's strategies; got {strategy!r}; "
                                       f"try {name}")  # fmt: skip
            return None
        base = dict(OURS[name])
    settings = base | (parse(f"surefoot:{own}")[1] if own else {})
    Settings.of(**settings)  # what is wrong is said before anything runs
    return settings


def plan(
    names: Sequence[str],
    strategies: Sequence[str],
    *,
    n_seeds: int,
    n: int,
    slow_seeds: int,
    n_init: int | None = None,
    emulated: bool = False,
) -> list[Case]:
    """All cases, in an order in which what is there when it is stopped can be compared."""
    unknown = [name for name in names if name not in NAMES]
    if unknown:
        known = ", ".join(NAMES)
        raise UnknownNameError(f"expected problems among {known}; got {', '.join(unknown)}; try --problems {known}")
    for strategy in strategies:
        settings_of(strategy)
    slow = len(STAGES) - 1
    stage = {name: i for i, names_of_stage in enumerate(STAGES) for name in names_of_stage}
    found = []
    for strategy in strategies:
        at = stage.get(strategy, 0)
        for seed in range(min(n_seeds, slow_seeds) if at == slow else n_seeds):
            for name in names:
                first = min(n, n_init or 2 * problems.space_of(name).d + 2)  # the same for everybody
                found.append(((at == slow, seed, at), Case(name, strategy, seed, n, first, emulated)))
    order = {name: i for i, name in enumerate(names)}
    return [case for _, case in sorted(found, key=lambda pair: (*pair[0], order[pair[1].problem]))]


def run_case(case: Case, folder: Path) -> None:
    """Run one case and write its file. An error of a library is what the file then holds, with the points so far."""
    path = folder / case.file_name
    if path.exists():
        return
    space, settings = problems.space_of(case.problem), settings_of(case.strategy)
    if settings is None and OTHERS[case.strategy].module:
        importlib.import_module(OTHERS[case.strategy].module)  # no part of its time
    error = ""
    with (problems.emulator if case.emulated else problems.simulator)(case.problem) as evaluate:
        recorder = Recorder(evaluate, space, case.n)
        cpu = time.process_time()
        with warnings.catch_warnings(), threadpool_limits(limits=1):
            warnings.simplefilter("ignore")  # a library's warnings are its own affair
            try:
                if settings is None:
                    design = initial_design(space, Settings.of(seed=case.seed, n_init=case.n_init).spec, 0)
                    OTHERS[case.strategy].run(recorder, design, case.n, case.seed)
                else:
                    _run_ours(recorder, case, settings)
            except (KeyboardInterrupt, SystemExit):
                raise
            except BaseException as caught:  # a panic of Rust is no Exception
                error = f"{type(caught).__name__}: {caught}"[:500]
        cpu = time.process_time() - cpu - recorder.cpu_s
    library = f"surefoot {surefoot.__version__}" if settings is not None else OTHERS[case.strategy].library
    write_whole(path, json.dumps({
        **asdict(case), "cpu_s": round(cpu, 3), "evaluations_s": round(recorder.wall_s, 3),
        "library": library, "error": error, **_told(recorder),
    }))  # fmt: skip


def _run_ours(f: Recorder, case: Case, settings: dict[str, Any]) -> None:
    """Ask and tell, as a user would."""
    optimizer = surefoot.Optimizer(f.space, seed=case.seed, n_init=case.n_init, **settings)
    for _ in range(case.n):
        x = optimizer.ask()
        y = f.at(x)
        if math.isnan(y):
            optimizer.tell_failure(x, f.reasons[-1])
        else:
            optimizer.tell(x, y)


def _told(f: Recorder) -> dict[str, Any]:
    """Values with six digits (null: failed), and the kind of each failure; of each kind the first text."""
    kinds = kinds_of([reason or None for reason in f.reasons])
    first = [f.reasons[int(np.flatnonzero(kinds == k)[0])] for k in range(max(kinds, default=-1) + 1)]
    values = [None if math.isnan(y) else float(f"{y:.6g}") for y in f.y]
    return {"values": values, "kinds": kinds.tolist(), "reasons": first}


def comparable(cases: Iterable[Case]) -> bool:
    """Whether runs of each problem have the same length and design, and none is emulated beside others that are not."""
    kinds = {(case.problem, case.n, case.n_init, case.emulated) for case in cases}
    return len(kinds) == len({kind[0] for kind in kinds}) and len({kind[3] for kind in kinds}) <= 1


def load(out: Path) -> dict[Case, dict[str, Any]]:
    """Every run below a folder, by case: those that were packed, and files of single runs."""
    packed = out / PACKED
    records: list[dict[str, Any]] = json.loads(gzip.decompress(packed.read_bytes())) if packed.exists() else []
    records += [json.loads(path.read_text()) for path in sorted((out / "raw").glob("*.json"))]
    found = {Case(*(record[key] for key in Case.__dataclass_fields__)): record for record in records}
    return dict(sorted(found.items(), key=lambda pair: astuple(pair[0])))


def pack(out: Path, records: Iterable[dict[str, Any]]) -> None:
    """All runs in one file: the same bytes for the same runs in the same order."""
    lines = ",\n".join(json.dumps(record, separators=(",", ":")) for record in records)
    (out / PACKED).write_bytes(gzip.compress(f"[{lines}]\n".encode(), mtime=0))
