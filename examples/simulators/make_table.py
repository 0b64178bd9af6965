"""Evaluate a simulator at random points, once, so that models of its failures can be scored without it.

    python make_table.py mapk                                  # writes mapk/table.csv.gz
    python make_table.py battery --problem spme.toml -o battery/spme.csv.gz
    python make_table.py mapk -n 200 -o /tmp/mapk.csv.gz       # a quick look

Points are uniform in the box of the problem file, on the logarithm where it says so, and have six digits: what the
table shows is what was evaluated. Evaluations run as `surefoot run` runs them, one at a time, so that crashes and
timeouts are rows like any other. Stop it at any moment and start it again: it goes on (NAME.part keeps what was done).
"""

from __future__ import annotations

import argparse
import csv
import gzip
import io
import json
import math
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from rich.progress import track

from surefoot.integrations.optuna_space import engine_space
from surefoot.optimize.reasons import grouped
from surefoot.runs import evaluation
from surefoot.runs.problem import Problem, read_problem

HERE = Path(__file__).parent
_MOST_REASON = 100  # characters


def points(problem: Problem, n: int, seed: int) -> Iterator[dict[str, float]]:
    """Random points of the problem's box."""
    space = engine_space(problem.parameters)
    for unit in np.random.default_rng(seed).random((n, space.d)):
        yield {name: rounded(value) for name, value in zip(space.names, space.decode(unit), strict=True)}


def rounded(value: float, digits: int = 6) -> float:
    """The number with so many significant digits."""
    return float(f"{value:.{digits}g}")


def row_of(problem: Problem, number: int, x: dict[str, float]) -> dict[str, Any]:
    """One evaluation as a row."""
    done = evaluation.evaluate_trial(problem, number, x).evaluation
    shutil.rmtree(problem.evaluations_folder / f"{number:06d}", ignore_errors=True)
    outputs = {name: rounded(y) for name, y in done.outputs.items() if math.isfinite(y)}
    if math.isfinite(done.progress):
        outputs["progress"] = rounded(done.progress)
    reason = " ".join(done.reason.split())[:_MOST_REASON]
    return {**x, **outputs, "status": done.status, "reason": reason, "duration_s": rounded(done.duration_s, 3)}


def evaluated(problem: Problem, todo: list[dict[str, float]], part: Path) -> list[dict[str, Any]]:
    """All rows; those that an earlier call left in `part` are taken from there."""
    rows = [json.loads(line) for line in part.read_text().splitlines()] if part.exists() else []
    for row, x in zip(rows, todo, strict=False):
        if {name: row[name] for name in x} != x:
            raise SystemExit(f"expected points of this seed and box in {part}; got others; try deleting it")
    numbers = range(len(rows), len(todo))
    with part.open("a") as file:
        for i in track(numbers, description=problem.name, total=len(todo), completed=len(rows)):
            rows.append(row_of(problem, i, todo[i]))
            file.write(json.dumps(rows[-1]) + "\n")
            file.flush()
    evaluation.close()
    return rows


def write(rows: list[dict[str, Any]], path: Path) -> None:
    """The rows as compressed CSV, with the same bytes for the same rows."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    last = ["progress", "status", "reason", "duration_s"]
    names = [name for name in names if name not in last] + [name for name in last if name in names]
    text = io.StringIO()
    table = csv.DictWriter(text, names, lineterminator="\n")
    table.writeheader()
    table.writerows(rows)
    path.write_bytes(gzip.compress(text.getvalue().encode(), mtime=0))


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description="Evaluate a simulator at random points of its box.")
    parser.add_argument("name", help="a folder beside this script")
    parser.add_argument("--problem", default="problem.toml", help="the problem file in that folder")
    parser.add_argument("-n", type=int, default=2000, help="points (2000)")
    parser.add_argument("--seed", type=int, default=1, help="of the points (1)")
    parser.add_argument("-o", type=Path, help="the table; default: table.csv.gz in the folder")
    given = parser.parse_args()
    problem = read_problem(HERE / given.name / given.problem)
    out = given.o or HERE / given.name / "table.csv.gz"
    problem = replace(problem, name=f"{problem.name}.table")  # apart from the folders of a run
    part = out.with_name(f"{out.name}.part")
    rows = evaluated(problem, list(points(problem, given.n, given.seed)), part)
    write(rows, out)
    part.unlink()
    shutil.rmtree(problem.evaluations_folder, ignore_errors=True)
    failed = [row["reason"] for row in rows if row["status"] != "ok"]
    print(f"{out}: {len(rows)} points, {len(failed)} failed, {sum(row['duration_s'] for row in rows):.0f} s")
    for group in grouped(failed):
        print(f"{group.count:6d}  {group.text}")


if __name__ == "__main__":
    main()
