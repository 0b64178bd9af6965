"""What a run knows beyond its best evaluation."""

import numpy as np

from benchmarks.recommended import distances, main
from surefoot import problems
from surefoot.paper.studies.benchmark.runner import save
from surefoot.paper.studies.benchmark.study import Way, begin, plan


def test_a_run_that_knows_a_function_well_gains_by_one_more_evaluation():
    problem = problems.get("BRA")
    units = np.random.default_rng(0).random((40, 2))
    low, high = np.asarray(problem.lower), np.asarray(problem.upper)
    best, then = distances("BRA", "se", units, problem(low + units * (high - low)))
    assert then < best - 1.0


def test_the_table_has_a_row_for_each_problem_and_policy(tmp_path, capsys):
    for group in plan(("se",), ("EI", "MN"), ("BRA",), range(2), Way(20), together=False):
        (tmp_path / "raw").mkdir(exist_ok=True)
        save(group, begin(group), tmp_path / "raw")
    main([str(tmp_path), "--n", "20"])
    lines = capsys.readouterr().out.splitlines()
    assert [line.split("|")[2].strip() for line in lines[2:]] == ["EI", "MN"]
