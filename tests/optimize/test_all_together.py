"""Known constraints, limits on outputs and crashes in one run: nothing has to be chosen."""

import numpy as np
import pytest

from surefoot import minimize


def plate(x):
    """The optimum lies where the limit on s and the known constraint meet; beyond a line it crashes."""
    if x["a"] + 2 * x["b"] > 2.2:
        raise RuntimeError("crash")
    return {"cost": (x["a"] - 1) ** 2 + (x["b"] - 1) ** 2, "s": x["a"] ** 2 + x["b"] ** 2}


def test_all_three_are_met_at_once():
    bounds, constraints = {"a": (0, 2), "b": (0, 2)}, ["a - b >= 0.3"]
    result = minimize(plate, bounds, constraints=constraints, outputs={"s": "<= 1"}, objective="cost", n_evals=30)
    b = (-0.6 + np.sqrt(0.36 - 8 * (0.09 - 1))) / 4  # of the corner, a = b + 0.3
    assert all(e.x[0] - e.x[1] >= 0.3 for e in result.history.evaluations)
    assert result.feasible
    assert result.n_failures > 0
    assert result.fun == pytest.approx((b + 0.3 - 1) ** 2 + (b - 1) ** 2, rel=1e-4)


def test_the_map_has_a_line_for_the_limit_and_says_what_is_forbidden(tmp_path):
    pytest.importorskip("matplotlib")
    bounds, constraints = {"a": (0, 2), "b": (0, 2)}, ["a - b >= 0.3"]
    result = minimize(plate, bounds, constraints=constraints, outputs={"s": "<= 1"}, objective="cost", n_evals=15)
    for figure in (result.plot(), result.plot_success()):
        labels = [text for axes in figure.axes for text in axes.get_legend_handles_labels()[1]]
        assert "limit of s" in labels
        assert "forbidden by known constraints" in labels
