"""Figures of a calibration: posterior (pairs of parameters), measured against fitted signals, convergence."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from surefoot.calibration.box import Floats
from surefoot.calibration.result import Calibration, Findings, Posterior
from surefoot.errors import InvalidInputError
from surefoot.optimize.plots import finished, pyplot
from surefoot.style import LIGHT, styled

_DRAWS, _MEDIAN, _ESTIMATE, _TRUTH = LIGHT["sky"], LIGHT["blue"], LIGHT["orange"], LIGHT["ink"]


@styled
def plot_posterior(
    found: Findings, *, labels: Mapping[str, str] | None = None, truth: Sequence[float] | None = None
) -> Any:
    """Marginal histograms with intervals on the diagonal, draws of every pair below it.

    labels: by the parameters' names, where these say too little. truth: of synthetic data, marked.
    """
    posterior = found.posterior
    if posterior is None:
        raise InvalidInputError("expected an inference with a posterior; got one without; try posterior=True")
    names = [(labels or {}).get(interval.name, interval.name) for interval in posterior.intervals]
    d = len(names)
    figure, grid = pyplot().subplots(d, d, figsize=(2.8 * d, 2.6 * d), layout="constrained", squeeze=False)
    for i in range(d):
        for j in range(d):
            ax = grid[i, j]
            if j > i:
                ax.set_axis_off()
                continue
            if i == j:
                _draw_marginal(ax, posterior, i, found.estimate, truth)
            else:
                _draw_pair(ax, posterior.samples[:, [j, i]], (found.estimate[j], found.estimate[i]))
                if truth is not None:
                    ax.plot(truth[j], truth[i], "x", ms=7, mew=1.4, color=_TRUTH)
            ax.ticklabel_format(style="sci", scilimits=(-3, 4), useOffset=False)
            ax.tick_params(labelsize=7)
            ax.locator_params(axis="x", nbins=4)
            if i == d - 1:
                ax.set_xlabel(names[j])
            if j == 0 and i > 0:
                ax.set_ylabel(names[i])
    grid[0, 0].legend(frameon=False, fontsize=7)
    level = posterior.intervals[0].level
    figure.suptitle(f"posterior of the parameters; shaded: {level:.0%} credible intervals", fontsize=10)
    return finished(figure)


def _draw_marginal(
    ax: Any, posterior: Posterior, i: int, estimate: Sequence[float], truth: Sequence[float] | None
) -> None:
    interval = posterior.intervals[i]
    ax.hist(posterior.samples[:, i], bins=40, color=_DRAWS, alpha=0.75)
    ax.axvspan(interval.low, interval.high, color=_DRAWS, alpha=0.12, lw=0)
    ax.axvline(interval.median, color=_MEDIAN, lw=1.6, label="median")
    ax.set(yticks=[])
    ax.axvline(estimate[i], color=_ESTIMATE, lw=1.2, label="best fit")
    if truth is not None:
        ax.axvline(truth[i], color=_TRUTH, lw=1.2, ls="--", label="truth")


def _draw_pair(ax: Any, samples: Floats, estimate: tuple[float, float]) -> None:
    ax.plot(*samples.T, ".", ms=3.5, alpha=0.4, color=_DRAWS, mec="none")
    ax.plot(*estimate, "+", ms=9, mew=1.6, color=_ESTIMATE)


@dataclass(frozen=True)
class Panel:
    """One signal, as measured and as fitted."""

    title: str
    at: Floats
    value: Floats
    fitted_at: Floats
    fitted: Floats


def plot_fit(found: Calibration) -> Any:
    """Every measured signal with the simulation at the estimate."""
    panels = []
    for signal in found.data:
        at = np.asarray(getattr(signal, "at", np.arange(signal.value.size)))
        unit = getattr(signal, "unit", "")
        order = np.argsort(at, kind="stable")
        title = f"{signal.name} ({unit})" if unit else signal.name
        panels.append(Panel(title, at, signal.value, at[order], found.fit[signal.name][order]))
    return plot_panels(panels, "")


@styled
def plot_panels(panels: Sequence[Panel], axis: str) -> Any:
    """Measured and fitted signals side by side; `axis` is what they run over."""
    columns = min(4, len(panels))
    rows = -(-len(panels) // columns)
    figure, grid = pyplot().subplots(
        rows, columns, figsize=(3.1 * columns, 2.1 * rows), layout="constrained", squeeze=False, sharex=True
    )
    for ax, panel in zip(grid.flat, panels, strict=False):
        ax.plot(panel.at, panel.value, ".", ms=2.2, color=LIGHT["dots"], label="measured")
        ax.plot(panel.fitted_at, panel.fitted, color=_ESTIMATE, lw=1.4, label="fitted")
        ax.set_title(panel.title, fontsize=8)
        ax.tick_params(labelsize=7)
        ax.spines[["top", "right"]].set_visible(False)
    for ax in grid.flat[len(panels) :]:
        ax.set_axis_off()
    for ax in grid[-1]:
        ax.set_xlabel(axis, fontsize=8)
    grid[0, 0].legend(frameon=False, fontsize=7)
    return finished(figure)


@styled
def plot_trace(found: Findings) -> Any:
    """The least loss so far against the number of simulations, failures marked."""
    figure, ax = pyplot().subplots(figsize=(5.4, 3.6), layout="constrained")
    number = np.arange(found.n_evals)
    ok = np.asarray([e.ok for e in found.evaluations])
    loss = np.asarray([e.y for e in found.evaluations])
    ax.plot(number[ok], loss[ok], "o", ms=3, color=LIGHT["dots"], label="simulation")
    ax.plot(number, found.loss_trace, color=_DRAWS, lw=1.8, label="least so far")
    if not ok.all():
        at = ax.get_xaxis_transform()
        low = np.full(int((~ok).sum()), 0.02)
        ax.plot(number[~ok], low, "x", ms=4, color=_ESTIMATE, transform=at, label=f"failed ({(~ok).sum()})")
    ax.set(xlabel="simulation", ylabel=f"loss ({found.settings['loss']})", yscale="log")
    ax.legend(frameon=False, fontsize=8)
    return finished(figure)


def save_plots(found: Calibration, folder: str | Path, *, truth: Sequence[float] | None = None) -> list[Path]:
    """posterior.png, fit.png and trace.png in the folder; returns their paths."""
    drawn = {"fit": lambda: plot_fit(found), "trace": lambda: plot_trace(found)}
    if found.posterior is not None:
        drawn = {"posterior": lambda: plot_posterior(found, truth=truth), **drawn}
    return save_figures(drawn, Path(folder))


def save_figures(drawn: Mapping[str, Callable[[], Any]], folder: Path) -> list[Path]:
    """Each figure as NAME.png in the folder; returns their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for name, draw in drawn.items():
        paths.append(folder / f"{name}.png")
        finished(draw(), paths[-1])
    return paths
