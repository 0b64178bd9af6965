"""Maps over two parameters, as reports draw them: the learned probability of success, and the model's mean."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from surefoot.optimize.drawing import draw_map, draw_success, point_name, short
from surefoot.optimize.result import Result
from surefoot.optimize.scales import round_ticks
from surefoot.reports.svg import drawing
from surefoot.style import BEST

if TYPE_CHECKING:
    from markupsafe import Markup

_GRID = 48
_MAX_NAME = 32
# marks are dark, for they lie on the map: where the page is dark too, the legend must not be
_LEGEND = {"facecolor": "0.96", "edgecolor": "none", "labelcolor": "0.13", "frameon": True, "framealpha": 1.0}


def success_drawing(
    result: Result,
    i: int,
    j: int,
    point: Sequence[Any],
    labels: tuple[str, str],
    units: tuple[float, float] = (1.0, 1.0),
    fills: Sequence[Sequence[Any]] = (),
) -> Markup:
    """P(success) over parameters i and j, the others as in `point`, which is marked; axes count in `units`.

    fills: points over whose other parameters P is averaged instead
    """

    def draw(figure: Any) -> None:
        from matplotlib.ticker import FuncFormatter

        ax = figure.add_subplot()
        mesh = draw_success(ax, result, i, j, fills or [point], _GRID)
        ax.plot([point[i]], [point[j]], **BEST, clip_on=False, label=point_name(result))
        for axis, label, unit in ((ax.xaxis, labels[0], units[0]), (ax.yaxis, labels[1], units[1])):
            axis.set_label_text(short(label, _MAX_NAME), parse_math=False)
            if unit != 1.0:
                axis.set_major_formatter(FuncFormatter(lambda value, _, unit=unit: f"{value / unit:g}"))
        bar = figure.colorbar(mesh, ax=ax, ticks=[0, 0.25, 0.5, 0.75, 1], label="probability of success")
        _finish(figure, ax, bar)

    return drawing(draw, (5.8, 3.9), f"Map of the probability of success over {labels[0]} and {labels[1]}")


def mean_drawing(result: Result, i: int, j: int) -> Markup:
    """The model's mean over parameters i and j, the others as at the best point, with limits and what is forbidden."""

    def draw(figure: Any) -> None:
        ax = figure.add_subplot()
        bar = figure.colorbar(draw_map(ax, result, i, j), ax=ax)
        round_ticks(bar)
        bar.set_label(short(result.objective, _MAX_NAME), parse_math=False)
        _finish(figure, ax, bar)

    names = result.space.names
    return drawing(draw, (5.8, 3.9), f"Map of the model's mean over {names[i]} and {names[j]}")


def _finish(figure: Any, ax: Any, bar: Any) -> None:
    bar.outline.set_visible(False)
    figure.legend(loc="outside lower left", **_LEGEND)
    figure.set_figheight(3.4 + 0.17 * len(ax.get_legend_handles_labels()[1]))
