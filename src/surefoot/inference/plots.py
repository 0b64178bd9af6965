"""Figures of an inference: posterior (pairs of parameters), measured against fitted waveforms, convergence."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from surefoot.calibration import plots
from surefoot.calibration.plots import Panel, plot_panels, plot_trace, save_figures
from surefoot.inference.result import Inference

LABELS = {"f_L": "f_L (dyn/cm²)", "f_S": "f_S (dyn/cm²)", "xi": "ξ"}


def plot_posterior(inference: Inference) -> Any:
    """Marginal histograms with intervals on the diagonal, draws of every pair below it."""
    return plots.plot_posterior(inference, labels=LABELS, truth=inference.data.truth)


def plot_fit(inference: Inference) -> Any:
    """Every measured signal with the simulation at the estimate."""
    time_s = np.append(0.0, inference.fit.time_s)
    panels = []
    for signal in inference.data:
        wave = inference.fit.get(signal.name)
        title = f"{signal.name} ({signal.unit})"
        panels.append(Panel(title, signal.time_s, signal.value, time_s, np.append(wave[-1], wave)))
    return plot_panels(panels, "time (s)")


def save_plots(inference: Inference, folder: Path) -> list[Path]:
    """posterior.png, fit.png and trace.png in the folder; returns their paths."""
    drawn = {"fit": lambda: plot_fit(inference), "trace": lambda: plot_trace(inference)}
    if inference.posterior is not None:
        drawn = {"posterior": lambda: plot_posterior(inference), **drawn}
    return save_figures(drawn, folder)
