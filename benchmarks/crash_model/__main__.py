"""`python -m benchmarks.crash_model ep label-regression`: log loss and calibration of P(success) after n labels.

Three sources of labels: Latin hypercubes of 37 crash regions, rows of the tables of real simulators, and runs of
`surefoot study failures`; the last two where there are any. The references are kept in FOLDER and computed once.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from itertools import chain
from pathlib import Path

from benchmarks.crash_model import cells
from benchmarks.crash_model.references import REFERENCES
from benchmarks.crash_model.report import Scored, text
from benchmarks.crash_model.scoring import Kept, check_model, score
from surefoot.errors import MissingExtraError, SurefootError
from surefoot.failures.registry import FAILURE_MODELS

ROOT = Path(__file__).parents[2]


def _arguments(words: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.crash_model", description=__doc__)
    parser.add_argument("models", nargs="*", help=f"{', '.join(FAILURE_MODELS)}; NAME+reasons: told the reasons")
    parser.add_argument("--half", action="append", choices=("dev", "held"), help="of the regions; default: both")
    parser.add_argument("--no-regions", action="store_true", help="simulators and runs only")
    parser.add_argument("--problem", action="append", help="these problems only")
    parser.add_argument("--n", type=int, action="append", help="labels; default: 20, 40 and 100")
    parser.add_argument("--designs", type=int, default=cells.N_DESIGNS, help="of each problem and n, and runs of each")
    parser.add_argument("--tables", type=Path, default=ROOT / "examples/simulators", help="folder of simulators")
    parser.add_argument("--runs", type=Path, help="folder raw/ of `surefoot study failures`")
    parser.add_argument("--strategy", default="default", help="whose runs")
    parser.add_argument("--out", type=Path, default=ROOT / "results/crash_model", help="folder of the report")
    return parser.parse_args(words)


def _cells(asked: argparse.Namespace) -> Iterator[cells.Cell]:
    sizes = tuple(asked.n or cells.SIZES)
    halves = () if asked.no_regions else tuple(asked.half or ("dev", "held"))
    sources = [cells.of_regions(halves, sizes, asked.designs), cells.of_tables(asked.tables, sizes, asked.designs)]
    if asked.runs is not None:
        sources.append(cells.of_runs(asked.runs, asked.strategy, asked.designs))
    for cell in chain(*sources):
        if not asked.problem or cell.problem in asked.problem:
            yield cell


def main(words: Sequence[str] | None = None) -> int:
    """Score, report, and print."""
    asked = _arguments(words)
    try:
        if find_spec("sklearn") is None:
            raise MissingExtraError("expected scikit-learn for the references; got none; try pip install scikit-learn")
        for name in asked.models:
            check_model(name)
    except SurefootError as error:
        print(error, file=sys.stderr)
        return 2
    kept, found = Kept(asked.out / "references"), []
    for cell in _cells(asked):
        for name in (*REFERENCES, *asked.models):
            begin = time.process_time()
            scores = kept.score(name, cell) if name in REFERENCES else score(name, cell)
            found.append(Scored(name, cell.group, cell.problem, cell.n, scores))
            seconds = (time.process_time() - begin) / len(scores)
            line = f"{cell.group:10s} {cell.problem:28s} {cell.n:4d} {name:20s} {found[-1].loss:.4f} {seconds:.2f} s"
            print(line, file=sys.stderr, flush=True)
    report = text(found)
    asked.out.mkdir(parents=True, exist_ok=True)
    (asked.out / "report.md").write_text(report)
    print(report)
    return 0


if __name__ == "__main__":
    sys.exit(main())
