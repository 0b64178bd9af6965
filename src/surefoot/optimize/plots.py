"""Pictures of a result as files: how it converged, and what the model believes."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from surefoot.errors import InvalidInputError, MissingExtraError, shown
from surefoot.numerics.designs import generator, kronecker
from surefoot.optimize.checks import as_integer, is_a
from surefoot.optimize.drawing import (
    best_values,
    draw_convergence,
    draw_map,
    draw_slice,
    draw_success,
    headline,
    mappable,
    point_name,
    short,
)
from surefoot.optimize.files import as_path, told
from surefoot.optimize.influence import influence
from surefoot.optimize.parameters import Real
from surefoot.optimize.scales import round_ticks
from surefoot.style import BEST, styled

if TYPE_CHECKING:
    from surefoot.optimize.result import Result

_MAX_SLICES = 6
_N_SUCCESSES = 16  # evaluations over which a map is averaged


def pyplot() -> Any:
    """matplotlib.pyplot, or an error that says how to get it."""
    try:
        from matplotlib import pyplot as plt
    except ImportError as error:
        raise MissingExtraError(
            "expected matplotlib for plotting; it is not installed; try pip install 'surefoot[plots]'"
        ) from error
    return plt


def finished(figure: Any, path: str | os.PathLike[str] | None = None) -> Any:
    """The figure, saved if a path is given.

    pyplot keeps it only where a window can show it (`plt.show()`). A notebook shows what it keeps below the cell, and
    the figure that a call returns as well: it would be there twice.
    """
    if path is not None:
        with told(path, "written"):
            figure.savefig(as_path(path), dpi=130)
    if path is not None or not _has_windows():
        pyplot().close(figure)
    return figure


def _has_windows() -> bool:
    from matplotlib import get_backend
    from matplotlib.backends import BackendFilter, backend_registry

    name = get_backend().lower()
    return "inline" not in name and name not in backend_registry.list_builtin(BackendFilter.NON_INTERACTIVE)


@styled
def plot_result(result: Result, path: str | None) -> Any:
    """Convergence on the left; on the right the model: a curve (1 parameter), a map (2) or slices (more)."""
    plt = pyplot()
    if result.nfev == 0:
        raise InvalidInputError("expected a result with evaluations; got none; try after minimize or tell")
    map_wanted = result.space.d == 2 and all(isinstance(p, Real) for p in result.space.parameters)
    slices = [] if map_wanted or not result.success else list(range(result.space.d))[:_MAX_SLICES]
    n_model = 1 if map_wanted and result.success else len(slices)
    columns = min(n_model, 3)
    rows = max(1, -(-n_model // 3))
    fig = plt.figure(figsize=(5.2 + 3.9 * columns, max(3.8, 3.0 * rows)), layout="constrained")
    grid = fig.add_gridspec(rows, 1 + columns, width_ratios=[1.35] + [1.0] * columns)
    ax = fig.add_subplot(grid[:, 0])
    draw_convergence(ax, result)
    ax.set_title(headline(result))
    ax.legend(frameon=False, fontsize=8)
    if result.success and map_wanted:
        ax = fig.add_subplot(grid[:, 1])
        round_ticks(fig.colorbar(draw_map(ax, result), ax=ax, shrink=0.9, label="posterior mean"))
        ax.set_title("model")
        ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=2, frameon=False, fontsize=8)
    for k, i in enumerate(slices):
        ax = fig.add_subplot(grid[k // 3, 1 + k % 3])
        draw_slice(ax, result, i)
        if k == 0:
            ax.legend(frameon=False, fontsize=8)
    return finished(fig, path)


@styled
def plot_success(
    result: Result, x: str | None, y: str | None, others: Mapping[str, Any] | str, n: int, path: str | None
) -> Any:
    """The map of P(success) over two parameters; see `Result.plot_success`."""
    plt = pyplot()
    space = result.space
    names = [space.names[k] for k in mappable(result)]
    if len(names) < 2:
        raise InvalidInputError(
            f"expected two real or integer parameters to draw a map; got {len(names)}; try result.plot()"
        )
    n = as_integer("n", n, 2, 61, 2000)
    if x is None or y is None:
        x, y = _axes(result, names, x, y)
    if not all(is_a(name, str) and name in names for name in (x, y)) or x == y:
        raise InvalidInputError(
            f"expected two of the parameters {names}; got {shown(x)} and {shown(y)}; try {names[:2]}"
        )
    i, j = space.names.index(x), space.names.index(y)
    fills = _other_values(result, others, {x, y})
    fig, ax = plt.subplots(figsize=(5.8, 4.6), layout="constrained")
    fig.colorbar(draw_success(ax, result, i, j, fills, n), ax=ax, label="P(success)")
    if result.success:
        best = best_values(result)
        ax.plot([best[i]], [best[j]], **BEST, clip_on=False, label=point_name(result))
    rest = [name for name in space.names if name not in (x, y)]
    title = "averaged over " if len(fills) > 1 and rest else "at " if rest else ""
    parts = (
        [short(name, 32) for name in rest]
        if len(fills) > 1
        else [f"{short(name, 32)} = {short(fills[0][space.names.index(name)])}" for name in rest]
    )
    ax.set_title(title + ", ".join(parts), fontsize=9, parse_math=False)
    fig.legend(loc="outside lower left", frameon=False, fontsize=8)
    fig.set_figheight(4.0 + 0.2 * len(ax.get_legend_handles_labels()[1]))
    return finished(fig, path)


def _axes(result: Result, names: list[str], x: str | None, y: str | None) -> tuple[str, str]:
    """Two parameters to draw: the given one, and those that the failures depend on most."""
    given = x if x is not None else y
    found = influence(result)
    if given is None:
        i, j = found.pairs[0]  # there are two parameters to draw
        return result.space.names[i], result.space.names[j]
    others = [name for name in names if name != given]
    other = max(others, key=lambda name: found.total[result.space.names.index(name)])
    return (other, y) if y is not None else (str(given), other)


def spread_successes(result: Result) -> list[list[Any]]:
    """Up to 16 points that succeeded, evenly taken from the first to the last."""
    ok = np.flatnonzero(result.history.ok)
    places = np.unique(np.linspace(0, len(ok) - 1, min(len(ok), _N_SUCCESSES)).round().astype(int))
    return [list(result.history.evaluations[k].x) for k in ok[places]]


def _other_values(result: Result, others: Mapping[str, Any] | str, drawn: set[str]) -> list[list[Any]]:
    """Full points whose undrawn parameters are fixed (one point), or those of several points, to average."""
    space = result.space
    if is_a(others, str) and others == "average":
        if space.d == 2:
            return [list(result.history.evaluations[0].x)]
        units = space.from_uniform(kronecker(64, space.d, generator(0, 0, 0)))
        return [list(space.decode(unit)) for unit in units]
    if is_a(others, str) and others == "successes":
        return spread_successes(result)
    base = best_values(result) if result.success else list(result.history.evaluations[0].x)
    if isinstance(others, Mapping):
        for name, value in others.items():
            if name not in space.names or name in drawn:
                known = [name for name in space.names if name not in drawn]
                raise InvalidInputError(f"expected values for parameters among {known}; got {name!r}; try one of them")
            base[space.names.index(name)] = value
        base = list(space.validate(base))
    elif not is_a(others, str) or others != "best":
        raise InvalidInputError(
            "expected others='best', 'successes', 'average' or a dict of values; "
            f"got {shown(others)}; try others='average'"
        )
    return [base]
