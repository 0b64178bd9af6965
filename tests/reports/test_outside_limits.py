"""The report where outputs have limits, where nothing is within them, and where nothing has succeeded."""

import math
import re

import numpy as np
import pytest

from surefoot import Evaluation, History, Optimizer, minimize
from surefoot.optimize.result import Result
from surefoot.reports.optimization import report

pytest.importorskip("matplotlib")


def bowl(x) -> float:
    return float(np.sum((np.asarray(x) - 0.3) ** 2))


def limited_page(limit: str) -> str:
    def inside(x):
        return {"mass": bowl(x), "stress": float(x[0])}

    return report(minimize(inside, [(0, 1), (0, 1)], n_evals=14, n_init=8, outputs={"stress": limit}), "Limits")


def test_the_report_has_a_table_of_limits() -> None:
    page = limited_page("<= 0.2")
    assert "Limits on outputs" in page
    assert "at its upper limit" in page


def test_the_report_warns_where_nothing_is_within_the_limits() -> None:
    page = limited_page("<= -1")
    assert "No evaluation is within all limits" in page
    assert "outside by" in page


def test_evaluations_outside_limits_are_told_apart() -> None:
    assert re.search(r"outside limits \(\d+\)", limited_page("<= 0.2"))
    assert "outside limits (" not in limited_page("<= 2")


def limited_to(limit: str) -> Result:
    """Values rise as points come nearer to the limit: the least value is the farthest outside."""
    points = [(0.1, 0.2), (0.4, 0.7), (0.9, 0.3), (0.7, 0.9), (0.25, 0.5)]
    evaluations = [Evaluation((a, b), 100.0 * a, objective="mass", further={"stress": a}) for a, b in points]
    space = {"a": (0.0, 1.0), "b": (0.0, 1.0)}
    return Optimizer(space, history=History(tuple(evaluations)), objective="mass", outputs={"stress": limit}).result()


def nothing_succeeded() -> Result:
    return minimize(lambda x: math.nan, [(-1.0, 1.0)] * 2, n_evals=5)


def rows_of_numbers(page: str) -> list[int]:
    return [int(found) for found in re.findall(r'<th scope="row" class="number">(\d+)</th>', page)]


def test_where_nothing_is_within_limits_the_head_says_so_and_names_no_smallest_value(read) -> None:
    reading = read(report(limited_to(">= 2"), "Outside"))
    assert reading.text("dt") == "Within all limits mass, least outside Evaluations"
    assert reading.text("dd").startswith("nothing of 5 evaluations 90 at evaluation 2 (the first is 0)")
    assert "best point" not in reading.text("caption")


def test_where_nothing_is_within_limits_the_order_is_by_how_far_outside(read) -> None:
    page = report(limited_to(">= 2"), "Outside")
    assert rows_of_numbers(page)[:5] == [2, 3, 1, 4, 0]
    assert "The 5 evaluations least outside limits" in read(page).text("caption")


def test_where_nothing_is_within_limits_the_cost_of_a_limit_is_not_known(read) -> None:
    cells = read(report(limited_to(">= 2"), "Outside")).text("td")
    assert "outside by 1.1 not known" in cells
    assert "no change" not in cells


def test_the_legend_of_the_convergence_names_nothing_that_is_not_drawn(read) -> None:
    for result, drawn in ((limited_to(">= 2"), "outside limits (5)"), (nothing_succeeded(), "failed (5)")):
        told = read(report(result, "Legend")).text()
        assert drawn in told
        assert "best so far" not in told


def test_where_one_of_many_is_within_limits_it_is_not_called_the_only_success(read) -> None:
    captions = read(report(limited_to(">= 0.8"), "One")).text("caption")
    assert "The only evaluation within all limits" in captions
    assert "The only success" not in captions
