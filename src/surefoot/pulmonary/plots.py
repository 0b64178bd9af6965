"""Figures: pressure and flow along a vessel, the network coloured by mean pressure, the map of failures."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from surefoot.errors import MissingExtraError
from surefoot.pulmonary.geometry import Network
from surefoot.pulmonary.simulation import Simulation

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Where the vessels and their labels are drawn: arteries from the top, veins towards the left atrium.
_PLACES = {
    "MPA": ((0.0, 4.6), (0.0, 3.7)),
    "RPA": ((0.0, 3.7), (-2.3, 3.2)),
    "LPA": ((0.0, 3.7), (2.3, 3.2)),
    "RIA": ((-2.3, 3.2), (-3.3, 2.3)),
    "RTA": ((-2.3, 3.2), (-1.4, 2.3)),
    "LIA": ((2.3, 3.2), (3.3, 2.3)),
    "LTA": ((2.3, 3.2), (1.4, 2.3)),
    "RIV": ((-0.55, 0.0), (-3.3, 1.2)),
    "RSV": ((-0.2, 0.0), (-1.4, 1.2)),
    "LIV": ((0.55, 0.0), (3.3, 1.2)),
    "LSV": ((0.2, 0.0), (1.4, 1.2)),
}
_LABELS = {
    "MPA": (0.35, 4.25, "left"),
    "RPA": (-1.3, 3.72, "right"),
    "LPA": (1.3, 3.72, "left"),
    "RIA": (-3.0, 2.85, "right"),
    "RTA": (-1.65, 2.85, "left"),
    "LIA": (3.05, 2.85, "left"),
    "LTA": (1.65, 2.85, "right"),
    "RIV": (-2.25, 0.5, "right"),
    "RSV": (-1.05, 1.05, "left"),
    "LIV": (2.35, 0.5, "left"),
    "LSV": (1.05, 1.05, "right"),
}
_RUNS, _FAILS = "#2a788e", ("#c8553d", "#e0a100", "#7b3294", "#444444")


def _pyplot_figure(width: float, height: float) -> "Figure":
    """A figure without pyplot's global state."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtraError(
            "a figure expected matplotlib, which is not installed; try: pip install 'surefoot[plots]'"
        ) from error
    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def _bare(axes: "Axes") -> None:
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(alpha=0.25)


def _waves(pressure: "Axes", flow: "Axes", simulation: Simulation, vessel: str) -> None:
    """[NH18, Fig. 5]: three places along a vessel."""
    nodes = simulation.nodes_of(vessel)
    last = nodes.x_cm.size - 1
    for i, colour in zip((0, last // 2, last), ("#440154", "#21918c", "#e0a100"), strict=True):
        label = f"x = {nodes.x_cm[i]:.2f} cm"
        pressure.plot(simulation.time_s, nodes.pressure_mmHg[i], color=colour, label=label)
        flow.plot(simulation.time_s, nodes.flow_ml_s[i], color=colour, label=label)
    for axes, what in ((pressure, "pressure (mmHg)"), (flow, "flow (ml/s)")):
        axes.set(xlabel="time (s)", ylabel=what, title=f"{vessel}, {what.split()[0]}")
        axes.set_xlim(0.0, simulation.time_s[-1])
        axes.legend(frameon=False)
        _bare(axes)


def _tree(axes: "Axes", top: tuple[float, float], bottom: tuple[float, float]) -> None:
    """A small fan of branches from an artery's end to a vein's."""
    middle = 0.5 * (top[1] + bottom[1])
    for offset in np.linspace(-0.32, 0.32, 7):
        axes.plot(
            [top[0], top[0] + offset, bottom[0]],
            [top[1], middle, bottom[1]],
            color="0.75",
            linewidth=0.9,
            zorder=1,
        )


def _network(axes: "Axes", simulation: Simulation, network: Network) -> Any:
    """The eleven vessels, width by radius, colour by mean pressure."""
    from matplotlib import colormaps
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    means = dict(zip(simulation.vessels, simulation.mean_pressure_mmHg, strict=True))
    scale = ScalarMappable(Normalize(0.0, max(means.values())), colormaps["viridis"])
    for bed in network.beds:
        _tree(axes, _PLACES[bed.artery][1], _PLACES[bed.vein][1])
    for name, (top, bottom) in _PLACES.items():
        vessel = network.vessel(name)
        width = 9.0 * 0.5 * (vessel.radius_top_cm + vessel.radius_bottom_cm)
        x, y = zip(top, bottom, strict=True)
        axes.plot(x, y, color=scale.to_rgba(means[name]), linewidth=width, solid_capstyle="round", zorder=2)
        at_x, at_y, align = _LABELS[name]
        axes.text(at_x, at_y, f"{name} {means[name]:.1f}", ha=align, va="center", fontsize=8.5, zorder=3)
    axes.text(0.0, 5.0, "right ventricle", ha="center", va="bottom", fontsize=9, color="0.35")
    axes.text(0.0, -0.35, "left atrium", ha="center", va="top", fontsize=9, color="0.35")
    axes.text(0.0, 1.75, "structured trees", ha="center", va="center", fontsize=8, color="0.45")
    axes.set(xlim=(-4.7, 4.7), ylim=(-0.8, 5.4), title="mean pressure (mmHg)")
    axes.set_axis_off()
    return scale


def plot_simulation(simulation: Simulation, network: Network, path: str | Path, vessel: str | None = None) -> None:
    """Waves at three places of a vessel (by default the inlet's); a picture of the standard network."""
    standard = set(network.names) == set(_PLACES)
    figure = _pyplot_figure(14.0 if standard else 9.0, 4.4)
    axes = figure.subplots(1, 3 if standard else 2, width_ratios=[1, 1, 1.45][: 3 if standard else 2])
    _waves(axes[0], axes[1], simulation, vessel or network.inlet)
    if standard:
        figure.colorbar(_network(axes[2], simulation, network), ax=axes[2], shrink=0.8)
    figure.suptitle(
        f"f_L = {simulation.f_L:.4g}, f_S = {simulation.f_S:.4g} dyn/cm², ξ = {simulation.xi:.4g}; "
        f"{simulation.variant}, {simulation.n_beats} beats",
        fontsize=10,
    )
    figure.savefig(path, dpi=150)


def plot_failures(
    x: Sequence[float],
    y: Sequence[float],
    kinds: Sequence[Sequence[str]],
    labels: tuple[str, str],
    title: str,
    path: str | Path,
) -> None:
    """Grid of outcomes: kinds[row][column] is "" for success, else the kind of failure."""
    figure = _pyplot_figure(6.4, 4.8)
    axes = figure.subplots()
    found = sorted({kind for row in kinds for kind in row if kind})
    points = [(a, b, kinds[j][i]) for j, b in enumerate(y) for i, a in enumerate(x)]
    for number, kind in enumerate(["", *found]):
        chosen = [(a, b) for a, b, k in points if k == kind]
        axes.scatter(
            [a for a, _ in chosen],
            [b for _, b in chosen],
            marker="oXPvsD*^"[number],
            color=_FAILS[(number - 1) % len(_FAILS)] if kind else _RUNS,
            s=40 if kind else 22,
            linewidths=0,
            label=kind or "runs",
            zorder=2,
        )
    axes.ticklabel_format(style="sci", scilimits=(-3, 4), useMathText=True)
    axes.set(xlabel=labels[0], ylabel=labels[1], title=title)
    _bare(axes)
    axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False)
    figure.savefig(path, dpi=150)
