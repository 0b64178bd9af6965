"""Figures of the pulmonary report: indicators on their scales, the network, waveforms, posterior."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from surefoot.calibration.result import Interval, Posterior
from surefoot.inference.result import Inference
from surefoot.inference.signals import WORDS, Signal
from surefoot.pulmonary import Network
from surefoot.pulmonary.plots import PLACES, draw_network
from surefoot.reports.pulmonary.words import INDICATORS
from surefoot.reports.svg import drawing
from surefoot.style import LIGHT

if TYPE_CHECKING:
    from markupsafe import Markup

HALF_WIDTH_IN, THIRD_WIDTH_IN = 4.1, 2.75  # of a page 8.5 inches wide, in two and three columns


@dataclass(frozen=True)
class Scale:
    """One quantity on a horizontal scale."""

    title: str
    unit: str
    factor: float  # drawn value = value / factor, so that ticks are short
    value: float
    low: float  # ends of the scale
    high: float
    interval: tuple[float, float] | None
    reference: float | None  # one value for orientation
    band: tuple[float, float] | None = None  # a range measured in healthy people
    truth: float | None = None  # of synthetic data
    limit: float | None = None  # beyond which a disease is defined


def scale_drawing(scale: Scale) -> Markup:
    """A dot with its interval on a scale, the reference dashed, the healthy range shaded."""

    def draw(figure: Any) -> None:
        ax = figure.add_subplot()
        if scale.band is not None:
            ax.axvspan(scale.band[0] / f, scale.band[1] / f, color=LIGHT["teal"], alpha=0.2, lw=0)
        if scale.reference is not None:
            ax.axvline(scale.reference / f, color=LIGHT["ink"], lw=1.1, ls=(0, (3, 2)))
        if scale.limit is not None:
            ax.axvline(scale.limit / f, color=LIGHT["red"], lw=1.4)
        if scale.interval is not None:
            ax.plot(np.asarray(scale.interval) / f, [0, 0], color=LIGHT["blue"], lw=5, alpha=0.45)
        ax.plot([scale.value / f], [0], "o", ms=8, color=LIGHT["blue"])
        if scale.truth is not None:
            ax.plot([scale.truth / f], [0.62], "v", ms=6, color=LIGHT["orange"], clip_on=False)
        ax.set(xlim=(scale.low / f, scale.high / f), ylim=(-1, 1), yticks=[])
        ax.spines["left"].set_visible(False)
        ax.set_title(f"{scale.title}, {scale.unit}" if scale.unit else scale.title)

    f = scale.factor
    spread = f", interval {scale.interval[0] / f:.4g} to {scale.interval[1] / f:.4g}" if scale.interval else ""
    marks = f", reference {scale.reference / f:.4g}" if scale.reference is not None else ""
    if scale.band is not None:
        marks = f", healthy range {scale.band[0] / f:.3g} to {scale.band[1] / f:.3g}"
    alt = f"{scale.title}: {scale.value / scale.factor:.4g} {scale.unit}{spread}{marks}"
    return drawing(draw, (HALF_WIDTH_IN, 1.1), alt, margins={"left": 0.03, "right": 0.97, "bottom": 0.25, "top": 0.8})


def network_drawing(inference: Inference, network: Network) -> Markup:
    """The eleven vessels with their fitted mean pressures; where something was measured there is a dot."""
    means = dict(zip(inference.fit.vessels, inference.fit.pressure_mmHg.mean(axis=1), strict=True))
    veins = {bed.vein for bed in network.beds}
    measured = {signal.vessel for signal in inference.data}

    def draw(figure: Any) -> None:
        ax = figure.add_subplot()
        colours = {name: LIGHT["red" if name in veins else "blue"] for name in network.names}
        draw_network(ax, network, colours, {name: f"{name}  {means[name]:.1f}" for name in network.names})
        for name in measured:
            (x0, y0), (x1, y1) = PLACES[name]
            ax.plot([(x0 + x1) / 2], [(y0 + y1) / 2], "o", ms=3.8, color=LIGHT["paper"], zorder=4)

    alt = "Seven large arteries from the right ventricle, four large veins to the left atrium, with mean pressures"
    return drawing(draw, (5.6, 3.6), alt)


def _dots(ax: Any, x: np.ndarray, y: np.ndarray, size: float = 2.2) -> None:
    """Many dots as one path of strokes without length: a fraction of the bytes of as many markers."""
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    at = np.column_stack([x, y]).repeat(2, axis=0)
    codes = np.tile([Path.MOVETO, Path.LINETO], len(x)).astype(Path.code_type)
    path = Path(at, codes)
    path.should_simplify = False
    style = {"edgecolor": LIGHT["dots"], "facecolor": "none", "linewidth": size, "capstyle": "round"}
    ax.add_patch(PathPatch(path, **style))


def waveform_drawing(inference: Inference, signal: Signal, words: str) -> Markup:
    """One measured signal and the fitted waveform."""
    fitted = inference.fit.get(signal.name)

    def draw(figure: Any) -> None:
        ax = figure.add_subplot()
        _dots(ax, signal.time_s, signal.value)
        ax.plot(inference.fit.time_s, fitted, color=LIGHT["blue"], lw=1.7)
        both = np.concatenate([signal.value, fitted])
        margin = 0.06 * float(np.ptp(both))
        ax.set(xlim=(0.0, inference.data.period_s), ylim=(both.min() - margin, both.max() + margin))
        ax.set_title(f"{signal.vessel} {what}, {signal.unit}")
        ax.set_xlabel("time (s)")

    what = WORDS[signal.kind]
    measured = f"{signal.value.min():.3g} to {signal.value.max():.3g}"
    alt = (
        f"{what.capitalize()} in the {words}: measured {measured} {signal.unit}, "
        f"fitted {fitted.min():.3g} to {fitted.max():.3g} {signal.unit}"
    )
    margins = {"left": 0.19, "right": 0.97, "bottom": 0.24, "top": 0.87}
    return drawing(draw, (THIRD_WIDTH_IN, 1.75), alt, margins=margins)


def posterior_drawings(posterior: Posterior, best: Sequence[float], truth: Sequence[float] | None) -> list[Markup]:
    """The density of each indicator, then the samples of each pair of indicators."""
    factors = np.asarray([indicator.factor for indicator in INDICATORS])
    samples, fit = posterior.samples / factors, np.asarray(best) / factors
    known = None if truth is None else np.asarray(truth) / factors
    return [
        *(_density(samples[:, k], posterior.intervals[k], k, known) for k in range(3)),
        *(_pair(samples, i, j, float(posterior.correlation[i, j]), fit, known) for i, j in ((0, 1), (0, 2), (1, 2))),
    ]


def _density(values: np.ndarray, interval: Interval, k: int, known: np.ndarray | None) -> Markup:
    indicator = INDICATORS[k]

    def draw(figure: Any) -> None:
        ax = figure.add_subplot()
        counts, edges = np.histogram(values, bins=40, density=True)
        centres, width = 0.5 * (edges[1:] + edges[:-1]), edges[1] - edges[0]
        inside = (centres >= interval.low / indicator.factor) & (centres <= interval.high / indicator.factor)
        for chosen, alpha in ((~inside, 0.2), (inside, 0.55)):
            ax.bar(centres[chosen], counts[chosen], width, color=LIGHT["blue"], alpha=alpha, lw=0)
        ax.axvline(interval.median / indicator.factor, color=LIGHT["blue"], lw=1.5)
        if known is not None:
            ax.axvline(known[k], color=LIGHT["orange"], lw=1.5, ls=(0, (4, 2)))
        ax.locator_params(axis="x", nbins=4)
        ax.set(xlabel=indicator.axis, yticks=[])
        ax.spines["left"].set_visible(False)

    alt = f"Posterior distribution of the {indicator.words.lower()}"
    return drawing(draw, (THIRD_WIDTH_IN, 1.7), alt, margins={"left": 0.07, "right": 0.93, "bottom": 0.26, "top": 0.98})


def _pair(samples: np.ndarray, i: int, j: int, correlation: float, fit: np.ndarray, known: np.ndarray | None) -> Markup:
    def draw(figure: Any) -> None:
        ax = figure.add_subplot()
        some = samples[:: max(1, len(samples) // 1000)]
        _dots(ax, some[:, i], some[:, j], size=1.8)
        ax.plot([fit[i]], [fit[j]], "P", ms=7, color=LIGHT["blue"])
        if known is not None:
            ax.plot([known[i]], [known[j]], "v", ms=7, color=LIGHT["orange"])
        ax.autoscale_view()
        ax.locator_params(nbins=5)
        ax.set(xlabel=INDICATORS[i].axis, ylabel=INDICATORS[j].axis)

    names = f"{INDICATORS[i].words.lower()} and {INDICATORS[j].words.lower()}"
    alt = f"Plausible values of {names}, correlation {correlation:.2f}"
    return drawing(draw, (THIRD_WIDTH_IN, 2.25), alt)
