"""Figures of an inference: posterior (pairs of parameters), measured against fitted waveforms, convergence."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from surefoot.errors import InvalidInputError
from surefoot.inference.result import NAMES, Inference
from surefoot.optimize.plots import finished, pyplot

LABELS = {"f_L": "f_L (dyn/cm²)", "f_S": "f_S (dyn/cm²)", "xi": "ξ"}
_DRAWS, _MEDIAN, _ESTIMATE, _TRUTH = "#2a788e", "#12404d", "#c8553d", "#222222"


def plot_posterior(inference: Inference) -> Any:
    """Marginal histograms with intervals on the diagonal, draws of every pair below it."""
    posterior = inference.posterior
    if posterior is None:
        raise InvalidInputError("expected an inference with a posterior; got one without; try infer(posterior=True)")
    truth = inference.data.truth
    figure, grid = pyplot().subplots(3, 3, figsize=(8.4, 7.8), layout="constrained")
    for i in range(3):
        for j in range(3):
            ax = grid[i, j]
            if j > i:
                ax.set_axis_off()
                continue
            across = posterior.samples[:, j]
            if i == j:
                interval = posterior.intervals[i]
                ax.hist(across, bins=40, color=_DRAWS, alpha=0.75)
                ax.axvspan(interval.low, interval.high, color=_DRAWS, alpha=0.12, lw=0)
                ax.axvline(interval.median, color=_MEDIAN, lw=1.6, label="median")
                ax.set(yticks=[])
            else:
                ax.plot(across, posterior.samples[:, i], ".", ms=3.5, alpha=0.4, color=_DRAWS, mec="none")
                ax.plot(inference.estimate[j], inference.estimate[i], "+", ms=9, mew=1.6, color=_ESTIMATE)
                if truth is not None:
                    ax.plot(truth[j], truth[i], "x", ms=7, mew=1.4, color=_TRUTH)
            if i == j:
                ax.axvline(inference.estimate[j], color=_ESTIMATE, lw=1.2, label="best fit")
                if truth is not None:
                    ax.axvline(truth[j], color=_TRUTH, lw=1.2, ls="--", label="truth")
            ax.ticklabel_format(style="sci", scilimits=(-3, 4), useOffset=False)
            ax.tick_params(labelsize=7)
            ax.locator_params(axis="x", nbins=4)
            if i == 2:
                ax.set_xlabel(LABELS[NAMES[j]])
            if j == 0 and i > 0:
                ax.set_ylabel(LABELS[NAMES[i]])
    grid[0, 0].legend(frameon=False, fontsize=7)
    level = posterior.intervals[0].level
    figure.suptitle(f"posterior of the parameters; shaded: {level:.0%} credible intervals", fontsize=10)
    return finished(figure)


def plot_fit(inference: Inference) -> Any:
    """Every measured signal with the simulation at the estimate."""
    signals = inference.data.signals
    columns = min(4, len(signals))
    rows = -(-len(signals) // columns)
    figure, grid = pyplot().subplots(
        rows, columns, figsize=(3.1 * columns, 2.1 * rows), layout="constrained", squeeze=False, sharex=True
    )
    time_s = np.append(0.0, inference.fit.time_s)
    for ax, signal in zip(grid.flat, signals, strict=False):
        wave = inference.fit.get(signal.name)
        ax.plot(signal.time_s, signal.value, ".", ms=2.2, color="0.6", label="measured")
        ax.plot(time_s, np.append(wave[-1], wave), color=_ESTIMATE, lw=1.4, label="fitted")
        ax.set_title(f"{signal.name} ({signal.unit})", fontsize=8)
        ax.tick_params(labelsize=7)
        ax.spines[["top", "right"]].set_visible(False)
    for ax in grid.flat[len(signals) :]:
        ax.set_axis_off()
    for ax in grid[-1]:
        ax.set_xlabel("time (s)", fontsize=8)
    grid[0, 0].legend(frameon=False, fontsize=7)
    return finished(figure)


def plot_trace(inference: Inference) -> Any:
    """The least loss so far against the number of simulations, failures marked."""
    figure, ax = pyplot().subplots(figsize=(5.4, 3.6), layout="constrained")
    number = np.arange(inference.n_evals)
    ok = np.asarray([e.ok for e in inference.evaluations])
    loss = np.asarray([e.y for e in inference.evaluations])
    ax.plot(number[ok], loss[ok], "o", ms=3, color="0.7", label="simulation")
    ax.plot(number, inference.loss_trace, color=_DRAWS, lw=1.8, label="least so far")
    if not ok.all():
        at = ax.get_xaxis_transform()
        low = np.full(int((~ok).sum()), 0.02)
        ax.plot(number[~ok], low, "x", ms=4, color=_ESTIMATE, transform=at, label=f"failed ({(~ok).sum()})")
    ax.set(xlabel="simulation", ylabel=f"loss ({inference.settings['loss']})", yscale="log")
    ax.legend(frameon=False, fontsize=8)
    return finished(figure)


def save_plots(inference: Inference, folder: Path) -> list[Path]:
    """posterior.png, fit.png and trace.png in the folder; returns their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    drawn = {"fit": plot_fit, "trace": plot_trace}
    if inference.posterior is not None:
        drawn = {"posterior": plot_posterior, **drawn}
    paths = []
    for name, draw in drawn.items():
        paths.append(folder / f"{name}.png")
        finished(draw(inference), paths[-1])
    return paths
