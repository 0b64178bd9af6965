"""Convergence and P(success) as plotly figures, saved into a study for optuna-dashboard to show below its own.

The dashboard keeps a figure in attributes of 2045 characters, one write each: grids are coarse and numbers short.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from optuna.study import Study

from surefoot.integrations.optuna_history import result_of
from surefoot.optimize.drawing import axis_values
from surefoot.optimize.influence import influence
from surefoot.optimize.result import Result
from surefoot.optimize.scales import scale_of
from surefoot.style import LIGHT, SUCCESS_SCALE

_GRID = 24
_MOST_POINTS = 300  # of the convergence, thinned beyond


def save_figures(study: Study) -> bool:
    """Save both, as far as they can be drawn; False if plotly or optuna-dashboard is missing."""
    try:
        import plotly.graph_objects as go
        from optuna_dashboard import save_plotly_graph_object
    except ImportError:
        return False
    result = result_of(study)
    if result.nfev:
        save_plotly_graph_object(study, convergence(result, go), graph_object_id="surefoot-convergence")
    if result.success and result.n_failures and (pairs := influence(result).pairs):
        save_plotly_graph_object(study, success_map(result, go, *pairs[0]), graph_object_id="surefoot-success")
    return True


def convergence(result: Result, go: Any) -> Any:
    """Every evaluation, the failed ones, and the best so far."""
    y, ok = result.func_vals, result.history.ok
    number = np.asarray(result.numbers)  # the trials', as the dashboard has them
    best = result.sign * np.minimum.accumulate(np.where(result.within, result.sign * y, np.inf))
    keep = np.unique(np.linspace(0, len(y) - 1, min(len(y), _MOST_POINTS)).round().astype(int))
    known = keep[np.isfinite(best[keep])]
    good = keep[ok[keep]]
    figure = go.Figure(layout={
        "title": f"surefoot: best {result.fun:.6g} after {result.nfev} evaluations, {result.n_failures} failed",
        "xaxis": {"title": "evaluation"},
        "yaxis": {"title": "value", "type": "log" if scale_of(y[ok], result.sign).kind == "log" else "linear"},
        "template": "none",
    })  # fmt: skip
    figure.add_scatter(x=number[good].tolist(), y=_short(y[good]), mode="markers", name="evaluation",
                       marker={"color": LIGHT["dots"], "size": 5})  # fmt: skip
    figure.add_scatter(x=number[known].tolist(), y=_short(best[known]), mode="lines", name="best so far",
                       line={"color": LIGHT["blue"], "shape": "hv"})  # fmt: skip
    failed = keep[~ok[keep]]
    if len(failed) and len(good):
        figure.add_scatter(x=number[failed].tolist(), y=[float(f"{y[ok].min():.6g}")] * len(failed), mode="markers",
                           name="failed", marker={"color": LIGHT["red"], "symbol": "x", "size": 6})  # fmt: skip
    return figure


def success_map(result: Result, go: Any, i: int, j: int) -> Any:
    """P(success) over two parameters, the others as at the best point, with the evaluations and a line at 1/2."""
    a, b = axis_values(result, i, _GRID), axis_values(result, j, _GRID)
    base = list(result.space.validate(result.x))
    points = [[u if k == i else v if k == j else base[k] for k in range(result.space.d)] for v in b for u in a]
    p = result.success_probability(points).reshape(len(b), len(a))
    names = result.space.names
    kinds = ["log" if getattr(result.space.parameters[k], "log", False) else "linear" for k in (i, j)]
    figure = go.Figure(layout={
        "title": "surefoot: P(success)" + (", other parameters as at the best point" if result.space.d > 2 else ""),
        "xaxis": {"title": names[i], "type": kinds[0]},
        "yaxis": {"title": names[j], "type": kinds[1]},
        "template": "none",
    })  # fmt: skip
    figure.add_contour(
        x=_short(a), y=_short(b), z=[_short(row, 2) for row in p], zmin=0, zmax=1, colorscale=SUCCESS_SCALE,
        colorbar={"title": {"text": "P(success)"}}, name="P(success) = 1/2", showlegend=True, line={"color": "black"},
        contours={"coloring": "heatmap", "start": 0.5, "end": 0.5, "size": 1},
    )  # fmt: skip
    for ok, symbol, name in ((True, "circle", "succeeded"), (False, "x", "failed")):
        shown = [e.x for e in result.history.evaluations if e.ok == ok and e.status != "transient"][
            -_MOST_POINTS // 2 :
        ]
        figure.add_scatter(x=_short([x[i] for x in shown]), y=_short([x[j] for x in shown]), mode="markers", name=name,
                           marker={"color": "black", "symbol": symbol, "size": 5})  # fmt: skip
    figure.update_layout(legend={"orientation": "h"})
    return figure


def _short(values: Any, digits: int = 5) -> list[float]:
    return [float(f"{value:.{digits}g}") for value in values]
