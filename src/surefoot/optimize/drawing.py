"""Pictures of a result on given axes: convergence, the model along one parameter, over two, and P(success).

Nothing here makes a figure: `plots` puts these drawings together for a file, `surefoot.reports` for a page. Names and
choices are the user's and are never read as mathematics.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from surefoot.backend import engine
from surefoot.errors import InvalidInputError
from surefoot.optimize.parameters import Categorical, Integer, Real
from surefoot.optimize.reasons import leading
from surefoot.optimize.region import Region
from surefoot.optimize.scales import plain_ticks, scale_of
from surefoot.style import BEST, LIGHT, SUCCESS_MAP, VALUE_MAP

if TYPE_CHECKING:
    from surefoot.optimize.result import Result

LONE_SURROGATES = re.compile(r"[\ud800-\udfff]")  # bytes that were no UTF-8: no file and no font can hold them
_N_SLICE = 120  # points along a real parameter
_N_MAP = 70  # along each side of a map
_MAX_NAME = 32  # characters of a parameter's name that fit below a small picture
_MAX_MARKS = 24  # integers drawn one by one; more are drawn as a curve
_MAX_REASON = 40  # characters of a reason that fit into a legend
_WHITE = "0.99"  # on maps, which stay as they are where a page is dark; pure white is the page's
_MARKS = (  # of failures, one for each kind of reason; the last one for the rest
    {"marker": "x", "ms": 5.5, "color": "black"},
    {"marker": "^", "ms": 5.0, "color": LIGHT["violet"], "mec": _WHITE, "mew": 0.5},
    {"marker": "s", "ms": 4.2, "color": LIGHT["teal"], "mec": _WHITE, "mew": 0.5},
    {"marker": "D", "ms": 4.0, "color": LIGHT["orange"], "mec": _WHITE, "mew": 0.5},
    {"marker": "+", "ms": 6.5, "color": "0.27"},
)
_LIMITS = (LIGHT["teal"], LIGHT["violet"], LIGHT["pink"], LIGHT["sky"], LIGHT["orange"])  # lines of limits on outputs


def best_so_far(result: Result) -> np.ndarray:
    """The best value after each evaluation, (n,); NaN before the first success."""
    best = np.minimum.accumulate(np.where(result.within, result.sign * result.func_vals, np.inf))
    return np.where(np.isfinite(best), result.sign * best, np.nan)


def best_name(result: Result) -> str:
    """What the point that a result names is: where nothing is within limits on outputs, it is not the best one."""
    return "best" if result.feasible else "least outside"


def point_name(result: Result) -> str:
    """The same of the point itself."""
    return "best point" if result.feasible else "point least outside"


def headline(result: Result) -> str:
    """What was found, for the title of a figure."""
    n = f"{result.nfev} evaluation{'s' * (result.nfev != 1)}"
    if not result.success:
        return f"nothing has succeeded after {n}"
    if not result.feasible:
        return f"nothing within limits; least outside: {result.fun:.6g}"
    return f"best {result.fun:.6g} after {n}"


def draw_convergence(ax: Any, result: Result) -> None:
    """Every evaluation, the best so far, and the failures along the bottom; rings are outside limits on outputs.

    Nothing has a name that is not drawn.
    """
    number = np.asarray(result.numbers)
    y, ok = result.func_vals, result.history.ok
    inside, outside = result.within, ok & ~result.within
    if inside.any():
        ax.plot(number[inside], y[inside], "o", ms=3.5, color=LIGHT["dots"], label="evaluation")
    if outside.any():
        label = f"outside limits ({outside.sum()})"
        ax.plot(number[outside], y[outside], "o", ms=3.5, mfc="none", color=LIGHT["dots"], label=label)
    if inside.any():
        ax.plot(number, best_so_far(result), color=LIGHT["blue"], lw=1.8, label="best so far", drawstyle="steps-post")
    if result.n_failures:
        floor = np.full(result.n_failures, 0.02)
        ax.plot(
            number[~ok], floor, "x", ms=5, color=LIGHT["red"], transform=ax.get_xaxis_transform(),
            label=f"failed ({result.n_failures})", clip_on=False,
        )  # fmt: skip
    if result.success:
        scale_of(y[ok], result.sign).set(ax.set_yscale)
        plain_ticks(ax.yaxis, y[ok])
    else:  # there is no value to read
        ax.set_yticks([])
    end = result.numbers[min(result.settings.n_init, result.nfev) - 1]
    ax.axvline(end + 0.5, color=LIGHT["muted"], alpha=0.5, lw=1, ls="--", zorder=0, label="end of the initial design")
    ax.set_xlabel("evaluation")
    ax.set_ylabel(short(result.objective, _MAX_NAME), parse_math=False)
    ax.xaxis.get_major_locator().set_params(integer=True)


def draw_gap(ax: Any, result: Result) -> None:
    """How far the best so far was from the best of all, on a logarithmic scale: it ends where the best was found."""
    gap = result.sign * (best_so_far(result) - result.fun)
    first, last = result.numbers[0], result.numbers[-1]
    ax.plot(result.numbers, np.where(gap > 0.0, gap, np.nan), color=LIGHT["blue"], lw=1.8, drawstyle="steps-post")
    ax.set_yscale("log")
    ax.set(xlabel="evaluation", ylabel="distance to the best", xlim=(first, max(first + 1, last)))
    ax.xaxis.get_major_locator().set_params(integer=True)


def axis_values(result: Result, i: int, n: int) -> list[Any]:
    """Values along parameter i: n of a real one, the integers (at most n), or all choices."""
    p = result.space.parameters[i]
    if isinstance(p, Categorical):
        return list(p.choices)
    values = [p.decode(np.asarray([u])) for u in np.linspace(0.0, 1.0, n)]
    return sorted(set(values)) if isinstance(p, Integer) else values


def mappable(result: Result) -> list[int]:
    """Which parameters can be an axis of a map: real and integer ones with more than one value."""
    parameters = enumerate(result.space.parameters)
    return [i for i, p in parameters if not isinstance(p, Categorical) and p.n_values > 1]


def best_values(result: Result) -> list[Any]:
    """The best point in the order of the parameters."""
    return list(result.space.validate(result.x))


def set_scale(result: Result, i: int, set_scale: Any) -> None:
    """Make an axis logarithmic where its parameter is."""
    if getattr(result.space.parameters[i], "log", False):
        set_scale("log")


def draw_slice(ax: Any, result: Result, i: int) -> None:
    """The model along one parameter through the best point: mean ± 2 sd, and P(success) dotted where it is learned."""
    p = result.space.parameters[i]
    values, best = axis_values(result, i, _N_SLICE), best_values(result)
    if isinstance(p, Real):  # a narrow valley lies between the others
        values = sorted({*values, best[i]})
    points = [[*best[:i], value, *best[i + 1 :]] for value in values]
    mean, sd = result.map.predict(points)
    marks = isinstance(p, Categorical) or (isinstance(p, Integer) and len(values) <= _MAX_MARKS)
    t: Any = np.arange(len(values)) if isinstance(p, Categorical) else np.asarray(values, dtype=float)
    if marks:
        ax.errorbar(
            t,
            mean,
            2 * sd,
            fmt="s",
            ms=4,
            color=LIGHT["blue"],
            elinewidth=3,
            ecolor=(LIGHT["blue"], 0.25),
            label="mean ± 2 sd",
        )
    else:
        ax.fill_between(t, mean - 2 * sd, mean + 2 * sd, color=LIGHT["blue"], alpha=0.2, lw=0, label="± 2 sd")
        ax.plot(t, mean, color=LIGHT["blue"], lw=1.5, label="mean")
    if result.map.learns_failures:
        twin = ax.twinx()
        style = {"ls": "", "marker": "."} if marks else {"ls": ":", "lw": 1}
        twin.plot(t, result.success_probability(points), color=LIGHT["red"], **style)
        ax.plot([], [], color=LIGHT["red"], label="P(success)", **style)  # for a legend, which sees one of the two axes
        twin.set(ylim=(-0.02, 1.02), yticks=[0, 1])
        twin.set_ylabel("P(success)", size=7, color=LIGHT["red"], labelpad=-4)
        twin.tick_params(labelsize=7, colors=LIGHT["red"])
    if result.space.d == 1 and not isinstance(p, Categorical):
        ok = result.history.ok
        x = [e.x[0] for e in result.history.evaluations if e.ok]
        ax.plot(x, result.func_vals[ok], "o", ms=3.5, color=LIGHT["dots"], label="evaluation")
    at = values.index(best[i]) if isinstance(p, Categorical) else best[i]
    ring = {"ms": 7, "mfc": "none", "mew": 1.5, "ls": "", "color": LIGHT["orange"], "zorder": 5}
    ax.plot([at], [result.fun], "o", **ring, label=best_name(result))
    ax.set_ylabel(short(result.objective, _MAX_NAME), parse_math=False)
    scale = scale_of(mean, result.sign)
    if scale.kind != "linear":
        scale.set(ax.set_yscale)
        if scale.kind == "log":  # the band may reach below 0
            ax.set_ylim(bottom=0.3 * min(mean.min(), result.fun) if result.fun > 0.0 else 0.3 * mean.min())
    set_scale(result, i, ax.set_xscale)
    if isinstance(p, Integer) and not p.log:
        ax.xaxis.get_major_locator().set_params(integer=True)
    if isinstance(p, Categorical):
        ax.set_xticks(t, [short(choice) for choice in values], parse_math=False)
        ax.set_xlim(-0.5, len(values) - 0.5)
    ax.set_xlabel(short(result.space.names[i], _MAX_NAME), parse_math=False)


def draw_map(ax: Any, result: Result, i: int = 0, j: int = 1) -> Any:
    """Mean over two parameters, the others as at the best point, with limits, evaluations, failures, P(success) = 1/2.

    Its colours are logarithmic where the mean spans decades.
    """
    a, b = axis_values(result, i, _N_MAP), axis_values(result, j, _N_MAP)
    best = best_values(result)
    units = _over(result, best, (i, j), (a, b))
    with engine(result.nfev):
        mean = result.map.moments_at(units)[0].reshape(len(b), len(a))
        p = result.map.success_at(units).reshape(len(b), len(a))
    mesh = ax.contourf(a, b, mean, cmap=VALUE_MAP, **scale_of(mean.ravel(), result.sign).contours(mean))
    ok = result.history.ok
    x = np.asarray([(e.x[i], e.x[j]) for e in result.history.evaluations], dtype=float)
    draw_borders(ax, result, a, b, units)
    ax.plot(*x[ok].T, "o", ms=3, color=_WHITE, mec="0.2", mew=0.4, label="evaluation", clip_on=False)
    if p.min() < 0.5 < p.max():
        ax.contourf(a, b, p, levels=[-1.0, 0.5], colors=[_WHITE], alpha=0.35)
        for colour, width in ((_WHITE, 3.0), ("black", 1.4)):  # seen on dark and on light ground
            ax.contour(a, b, p, levels=[0.5], colors=[colour], linewidths=width)
        ax.plot([], [], color="black", lw=1.4, label="P(success) = 1/2")
    if not ok.all():
        ax.plot(*x[~ok].T, "X", ms=6, color="black", mec=_WHITE, mew=0.6, label="failed", clip_on=False)
    ax.plot([best[i]], [best[j]], **BEST, label=best_name(result), clip_on=False)
    _label(ax, result, i, j)
    return mesh


def _over(
    result: Result, fill: Sequence[Any], axes: tuple[int, int], values: tuple[list[Any], list[Any]]
) -> np.ndarray:
    """Points (m, D) of the unit cube over two parameters, row by row of the second; the others as in a full point."""
    (i, j), (a, b), parameters = axes, values, result.space.parameters
    starts = [columns.start for _, columns in result.space.columns()]
    units = np.repeat(result.space.encode(fill)[None], len(a) * len(b), axis=0)
    units[:, starts[i]] = np.tile([parameters[i].encode(u)[0] for u in a], len(b))
    units[:, starts[j]] = np.repeat([parameters[j].encode(v)[0] for v in b], len(a))
    return units


def draw_borders(ax: Any, result: Result, a: Sequence[Any], b: Sequence[Any], units: np.ndarray) -> None:
    """Over a map at points `units`: where outputs reach their limits, by their models, and what is forbidden."""
    shape = (len(b), len(a))
    names = list(result.settings.outputs)
    outputs = result.map.fitted.outputs
    known = () if outputs is None else outputs.known
    for k, (place, slack) in enumerate(zip(known, result.map.limits_at(units), strict=True)):
        if slack.min() < 0.0 < slack.max():
            line = {"colors": [_LIMITS[k % len(_LIMITS)]], "linestyles": "--", "linewidths": 1.4}
            ax.contour(a, b, slack.reshape(shape), levels=[0.0], **line)
            label = f"limit of {short(names[place], _MAX_NAME)}".replace("$", r"\$")
            ax.plot([], [], ls="--", lw=1.4, color=_LIMITS[k % len(_LIMITS)], label=label)
    if not result.space.constraints:
        return
    with contextlib.suppress(InvalidInputError):  # a function that a file could not hold
        forbidden = ~Region(result.space, result.space.constraints).allowed(units)
        if not forbidden.all() and forbidden.any():  # an equality allows a line of the map
            ax.contourf(a, b, forbidden.reshape(shape), levels=[0.5, 1.5], colors=["0.8"], alpha=0.85)
            ax.fill([], [], color="0.8", label="forbidden by known constraints")


def draw_success(ax: Any, result: Result, i: int, j: int, fills: Sequence[Sequence[Any]], n: int) -> Any:
    """P(success) over parameters i and j, averaged over full points that say where the others are.

    Failures have a mark for every frequent reason. Evaluations that were lost to the machine are left out.
    """
    a, b = axis_values(result, i, n), axis_values(result, j, n)
    total = np.zeros((len(b), len(a)))
    with engine(result.nfev):
        for fill in fills:
            units = _over(result, fill, (i, j), (a, b))
            total += result.map.success_at(units).reshape(total.shape)
    levels = np.linspace(0.0, 1.0, 11)
    mesh = ax.contourf(
        a, b, np.clip(total / len(fills), 0.0, 1.0), levels=levels, cmap=SUCCESS_MAP, vmin=-0.15, vmax=1.15
    )
    p = total / len(fills)
    if p.min() < 0.5 < p.max():
        ax.contour(a, b, p, levels=[0.5], colors=["black"], linewidths=1.0)
        ax.plot([], [], color="black", lw=1.0, label="P(success) = 1/2")
    if len(fills) == 1:
        draw_borders(ax, result, a, b, units)
    ok = result.history.ok
    at = np.asarray([(e.x[i], e.x[j]) for e in result.history.evaluations], dtype=float)
    dots = {"ms": 3.5, "color": "black", "mec": _WHITE, "mew": 0.4, "clip_on": False}
    ax.plot(*at[ok].T, "o", **dots, label=f"succeeded ({ok.sum()})")
    failed = np.flatnonzero(result.history.seen & ~ok)
    groups = leading([result.history.evaluations[k].reason for k in failed], len(_MARKS))
    for group, mark in zip(groups, _MARKS, strict=False):
        label = f"{_told_apart(short(group.label, _MAX_REASON))} ({group.count})"
        ax.plot(*at[failed[list(group.members)]].T, **mark, ls="", label=label, clip_on=False)
    _label(ax, result, i, j)
    return mesh


def _told_apart(reason: str) -> str:
    """A reason as a legend takes it: Matplotlib hides what begins with _ and reads what stands between $."""
    return f"failed: {reason}".replace("$", r"\$")


def _label(ax: Any, result: Result, i: int, j: int) -> None:
    set_scale(result, i, ax.set_xscale)
    set_scale(result, j, ax.set_yscale)
    for k, axis in ((i, ax.xaxis), (j, ax.yaxis)):
        p = result.space.parameters[k]
        if isinstance(p, Integer) and not p.log:
            axis.get_major_locator().set_params(integer=True)
    ax.set_xlabel(short(result.space.names[i], _MAX_NAME), parse_math=False)
    ax.set_ylabel(short(result.space.names[j], _MAX_NAME), parse_math=False)


def short(value: Any, most: int = 12) -> str:
    """A value or a name in at most so many characters that a font can be asked for."""
    text = f"{value:.4g}" if isinstance(value, float) else LONE_SURROGATES.sub("\N{REPLACEMENT CHARACTER}", str(value))
    return text if len(text) <= most else text[: most - 1] + "…"
