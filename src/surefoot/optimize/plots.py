"""Pictures of a result: how it converged, and what the model believes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from surefoot.errors import InvalidInputError, MissingExtraError
from surefoot.numerics.designs import generator, kronecker
from surefoot.optimize.parameters import Real

if TYPE_CHECKING:
    from surefoot.optimize.result import Result

_MAX_SLICES = 6


def pyplot() -> Any:
    """matplotlib.pyplot, or an error that says how to get it."""
    try:
        from matplotlib import pyplot as plt
    except ImportError as error:
        raise MissingExtraError(
            "expected matplotlib for plotting; it is not installed; try pip install 'surefoot[plots]'"
        ) from error
    return plt


def plot_result(result: Result, path: str | None) -> Any:
    """Convergence on the left; on the right the model: a curve (1 parameter), a map (2) or slices (more)."""
    plt = pyplot()
    if result.nfev == 0:
        raise InvalidInputError("expected a result with evaluations; got none; try after minimize or tell")
    real = [i for i, p in enumerate(result.space.parameters) if isinstance(p, Real)]
    map_wanted = result.space.d == 2 and len(real) == 2
    slices = [] if map_wanted or not result.success else real[:_MAX_SLICES]
    n_model = 1 if map_wanted and result.success else len(slices)
    columns = min(n_model, 3)
    rows = max(1, -(-n_model // 3))
    fig = plt.figure(figsize=(5.2 + 3.9 * columns, max(3.8, 3.0 * rows)), layout="constrained")
    grid = fig.add_gridspec(rows, 1 + columns, width_ratios=[1.35] + [1.0] * columns)
    _convergence(fig.add_subplot(grid[:, 0]), result)
    if result.success and map_wanted:
        _map(fig, fig.add_subplot(grid[:, 1]), result)
    for k, i in enumerate(slices):
        _slice(fig.add_subplot(grid[k // 3, 1 + k % 3]), result, i)
    if path is not None:
        fig.savefig(path, dpi=130)
        plt.close(fig)
    return fig


def _convergence(ax: Any, result: Result) -> None:
    number = np.arange(1, result.nfev + 1)
    y, ok = result.func_vals, result.history.ok
    best = result.sign * np.minimum.accumulate(np.where(ok, result.sign * y, np.inf))
    ax.plot(number[ok], y[ok], "o", ms=3.5, color="0.6", label="evaluation")
    ax.plot(number, np.where(np.isfinite(best), best, np.nan), color="C0", lw=1.8, label="best so far")
    if result.n_failures:
        floor = np.full(result.n_failures, 0.02)
        ax.plot(
            number[~ok], floor, "x", ms=5, color="C3", transform=ax.get_xaxis_transform(),
            label=f"failed ({result.n_failures})", clip_on=False,
        )  # fmt: skip
    values = y[ok]
    if len(values) and np.ptp(values) > 0 and (np.percentile(values, 95) - values.min()) < 0.05 * np.ptp(values):
        ax.set_yscale("symlog", linthresh=max(1e-12, float(np.percentile(np.abs(values), 50))))
    ax.axvline(min(result.settings.n_init, result.nfev) + 0.5, color="0.8", lw=1, ls="--", zorder=0)
    ax.set(xlabel="evaluation", ylabel="value", title=f"best {result.fun:.6g} after {result.nfev} evaluations")
    ax.legend(frameon=False, fontsize=8)


def axis_values(result: Result, i: int, n: int) -> np.ndarray:
    """n values of a parameter, evenly spread over its range (of the logarithm if it has that scale)."""
    p = result.space.parameters[i]
    return np.asarray([p.decode(np.asarray([u])) for u in np.linspace(0.0, 1.0, n)])


def _set_scale(result: Result, i: int, set_scale: Any) -> None:
    if getattr(result.space.parameters[i], "log", False):
        set_scale("log")


def _best_values(result: Result) -> list[Any]:
    return list(result.space.validate(result.x))


def _slice(ax: Any, result: Result, i: int) -> None:
    """The model along one parameter through the best point."""
    t = axis_values(result, i, 200)
    points = []
    for value in t:
        x = _best_values(result)
        x[i] = float(value)
        points.append(x)
    mean, sd = result.model.predict(points)
    ax.fill_between(t, mean - 2 * sd, mean + 2 * sd, color="C0", alpha=0.2, lw=0, label="mean ± 2 sd")
    ax.plot(t, mean, color="C0", lw=1.5)
    if result.n_failures:
        twin = ax.twinx()
        twin.plot(t, result.success_probability(points), color="C3", lw=1, ls=":")
        twin.set(ylim=(-0.02, 1.02), yticks=[0, 1])
        twin.tick_params(labelsize=7, colors="C3")
    if result.space.d == 1:
        ok = result.history.ok
        ax.plot(
            [e.x[0] for e in result.history.evaluations if e.ok],
            result.func_vals[ok],
            "o",
            ms=3.5,
            color="0.3",
        )
    ax.plot([_best_values(result)[i]], [result.fun], "o", ms=6, mfc="none", color="C3")
    _set_scale(result, i, ax.set_xscale)
    ax.set(xlabel=result.space.names[i])
    if i == 0:
        ax.legend(frameon=False, fontsize=8)


def _map(fig: Any, ax: Any, result: Result) -> None:
    """Mean over two parameters, with the evaluations, the failures and the line P(success) = 1/2."""
    a, b = axis_values(result, 0, 70), axis_values(result, 1, 70)
    points = [(float(u), float(v)) for v in b for u in a]
    mean, _ = result.model.predict(points)
    mesh = ax.contourf(a, b, mean.reshape(len(b), len(a)), levels=24, cmap="viridis")
    fig.colorbar(mesh, ax=ax, shrink=0.9, label="posterior mean")
    ok = result.history.ok
    x = np.asarray([e.x for e in result.history.evaluations], dtype=float)
    ax.plot(*x[ok].T, "o", ms=3, color="white", mec="0.2", mew=0.4)
    if result.n_failures:
        p = result.success_probability(points).reshape(len(b), len(a))
        ax.contourf(a, b, p, levels=[-1.0, 0.5], colors=["white"], alpha=0.35)
        ax.contour(a, b, p, levels=[0.5], colors=["C3"], linewidths=1.2)
        ax.plot(*x[~ok].T, "x", ms=5, color="C3")
    ax.plot(*_best_values(result), "*", ms=13, color="gold", mec="0.2")
    _set_scale(result, 0, ax.set_xscale)
    _set_scale(result, 1, ax.set_yscale)
    ax.set(xlabel=result.space.names[0], ylabel=result.space.names[1], title="model, evaluations (x: failed)")


def plot_success(
    result: Result, x: str | None, y: str | None, others: Mapping[str, Any] | str, n: int, path: str | None
) -> Any:
    """The map of P(success) over two parameters; see `Result.plot_success`."""
    plt = pyplot()
    space = result.space
    real = [name for name, p in zip(space.names, space.parameters, strict=True) if isinstance(p, Real)]
    if len(real) < 2:
        raise InvalidInputError(f"expected two real parameters to draw a map; got {len(real)}; try result.plot()")
    x, y = x or real[0], y or next(name for name in real if name != (x or real[0]))
    for name in (x, y):
        if name not in real or x == y:
            raise InvalidInputError(f"expected two of the real parameters {real}; got {x!r} and {y!r}; try {real[:2]}")
    i, j = space.names.index(x), space.names.index(y)
    a, b = axis_values(result, i, n), axis_values(result, j, n)
    total = np.zeros((n, n))
    fills = _other_values(result, others, {x, y})
    for fill in fills:
        points = [[u if k == i else v if k == j else fill[k] for k in range(space.d)] for v in b for u in a]
        total += result.success_probability(points).reshape(n, n)
    fig, ax = plt.subplots(figsize=(5.8, 4.6), layout="constrained")
    mesh = ax.pcolormesh(a, b, total / len(fills), vmin=0.0, vmax=1.0, cmap="RdYlGn", shading="gouraud")
    fig.colorbar(mesh, ax=ax, label="P(success)")
    ok = result.history.ok
    at = np.asarray([(e.x[i], e.x[j]) for e in result.history.evaluations], dtype=float)
    ax.plot(*at[ok].T, "o", ms=3.5, color="black", mec="white", mew=0.4, label=f"succeeded ({ok.sum()})")
    ax.plot(*at[~ok].T, "x", ms=5.5, color="black", label=f"failed ({(~ok).sum()})")
    _set_scale(result, i, ax.set_xscale)
    _set_scale(result, j, ax.set_yscale)
    rest = [name for name in space.names if name not in (x, y)]
    title = "averaged over " if len(fills) > 1 else "at " if rest else ""
    shown = rest if len(fills) > 1 else [f"{name} = {fills[0][space.names.index(name)]:.4g}" for name in rest]
    ax.set(xlabel=x, ylabel=y)
    ax.set_title(title + ", ".join(shown), fontsize=9)
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=2, frameon=False, fontsize=8)
    if path is not None:
        fig.savefig(path, dpi=130)
        plt.close(fig)
    return fig


def _other_values(result: Result, others: Mapping[str, Any] | str, drawn: set[str]) -> list[list[Any]]:
    """Full points whose undrawn parameters are fixed (one point) or spread over the space (64, to average)."""
    space = result.space
    if others == "average":
        if space.d == 2:
            return [list(result.history.evaluations[0].x)]
        units = space.from_uniform(kronecker(64, space.d, generator(0, 0, 0)))
        return [list(space.decode(unit)) for unit in units]
    base = _best_values(result) if result.success else list(result.history.evaluations[0].x)
    if isinstance(others, Mapping):
        for name, value in others.items():
            if name not in space.names or name in drawn:
                known = [name for name in space.names if name not in drawn]
                raise InvalidInputError(f"expected values for parameters among {known}; got {name!r}; try one of them")
            base[space.names.index(name)] = value
    elif others != "best":
        raise InvalidInputError(
            f"expected others='best', 'average' or a dict of values; got {others!r}; try others='average'"
        )
    return [base]
