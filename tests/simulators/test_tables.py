"""The frozen tables: complete, made by their problem files, and told truly by the READMEs."""

import json
import math
import re

import numpy as np
import pytest

from examples.simulators.emulated import HERE, NAMES, load, read_table
from examples.simulators.make_table import points
from surefoot.optimize.reasons import grouped
from surefoot.runs.problem import read_problem

SEED = 1
BEST = dict.fromkeys(NAMES, "best.json") | {"battery-spme": "spme-best.json"}
every = pytest.mark.parametrize("name", NAMES)


def problem_of(name):
    folder, problem, _ = NAMES[name]
    return read_problem(HERE / folder / problem)


@every
def test_a_problem_file_is_valid_and_names_the_value_of_its_table(name):
    problem, table = problem_of(name), read_table(name)
    assert problem.name == name
    assert list(problem.parameters) == list(table.parameters)
    assert problem.evaluator.name == table.objective
    assert table.objective in table.outputs


@every
def test_a_table_has_the_random_points_of_its_problem(name):
    table = read_table(name)
    expected = list(points(problem_of(name), 2000, SEED))
    assert [{k: float(row[k]) for k in table.parameters} for row in table.rows] == expected


@every
def test_a_row_has_a_value_or_a_reason(name):
    table = read_table(name)
    assert {row["status"] for row in table.rows} == {"ok", "failed"}
    assert [bool(row["reason"]) for row in table.rows] == list(~table.ok)
    assert np.array_equal(np.isfinite(table.column(table.objective)), table.ok)
    assert all(np.isfinite(table.column(output)[table.ok]).all() for output in table.outputs)
    assert (table.column("duration_s") > 0).all()
    assert 0.05 < table.ok.mean() <= 0.81


@every
def test_tables_and_figures_are_small(name):
    folder, _, table = NAMES[name]
    assert (HERE / folder / table).stat().st_size < 150_000
    assert (HERE / folder / "figure.png").stat().st_size < 60_000


@every
def test_a_readme_counts_the_failures_of_its_table(name):
    folder, _, file = NAMES[name]
    table = read_table(name)
    told = (HERE / folder / "README.md").read_text()
    section = told[told.index(f"`{file}`") :]
    assert section.startswith(f"`{file}`: 2000 random points (seed {SEED}), {int((~table.ok).sum())} failed")
    counts = re.findall(r"^\| (\d+) \|", section.split("\n\n")[1], re.MULTILINE)
    assert [int(count) for count in counts] == [
        g.count for g in grouped(r["reason"] for r in table.rows if r["reason"])
    ]


@every
def test_the_best_known_value_is_at_a_point_of_the_box_and_no_worse_than_the_table(name):
    best = json.loads((HERE / NAMES[name][0] / BEST[name]).read_text())
    table = read_table(name)
    unit = table.unit(best["x"])
    assert ((unit >= -1e-6) & (unit <= 1 + 1e-6)).all()
    assert best["value"] <= np.nanmin(table.column(table.objective))
    assert f"{best['value']:.4g}" in (HERE / NAMES[name][0] / "README.md").read_text()


@every
def test_an_emulated_simulator_answers_its_table(name):
    emulated = load(name)
    table = emulated.table
    for row in table.rows[::50]:
        try:
            value, reason = emulated(row)[table.objective], ""
        except Exception as error:
            value, reason = math.nan, str(error)
        assert reason == row["reason"]
        assert reason or value == pytest.approx(float(row[table.objective]), rel=1e-4, abs=1e-6)


def test_the_gallery_tells_the_shares_of_failures():
    gallery = re.findall(r"^\| \[(\w+)\].*\| (\d+) % \|", (HERE / "README.md").read_text(), re.MULTILINE)
    shares = [(NAMES[name][0], f"{100 * (~read_table(name).ok).mean():.0f}") for name in NAMES]
    assert sorted(gallery) == sorted(shares)
