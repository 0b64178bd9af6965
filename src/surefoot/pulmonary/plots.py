"""Figures: pressure and flow along a vessel, the network coloured by mean pressure, the map of failures."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from surefoot.errors import MissingExtraError
from surefoot.pulmonary.geometry import Network, Vessel
from surefoot.pulmonary.simulation import Simulation
from surefoot.style import LIGHT, VALUE_MAP, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Where the vessels and their labels are drawn: arteries from the top, veins towards the left atrium.
PLACES = {
    "MPA": ((0.0, 4.6), (0.0, 3.7)),
    "RPA": ((0.0, 3.7), (-2.3, 3.2)),
    "LPA": ((0.0, 3.7), (2.3, 3.2)),
    "RIA": ((-2.3, 3.2), (-3.3, 2.3)),
    "RTA": ((-2.3, 3.2), (-1.5, 2.3)),
    "LIA": ((2.3, 3.2), (3.3, 2.3)),
    "LTA": ((2.3, 3.2), (1.5, 2.3)),
    "RIV": ((-0.55, 0.0), (-3.3, 1.2)),
    "RSV": ((-0.2, 0.0), (-1.5, 1.2)),
    "LIV": ((0.55, 0.0), (3.3, 1.2)),
    "LSV": ((0.2, 0.0), (1.5, 1.2)),
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
    "RSV": (-1.12, 1.02, "left"),
    "LIV": (2.35, 0.5, "left"),
    "LSV": (1.12, 1.02, "right"),
}
_WIDTH = 0.14  # drawn half width of a vessel of radius 1 cm
_RUNS, _FAILS = LIGHT["sky"], tuple(LIGHT[name] for name in ("red", "orange", "violet", "ink"))


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
    for i, colour in zip((0, last // 2, last), (LIGHT["blue"], LIGHT["orange"], LIGHT["teal"]), strict=True):
        label = f"x = {nodes.x_cm[i]:.2f} cm"
        pressure.plot(simulation.time_s, nodes.pressure_mmHg[i], color=colour, label=label)
        flow.plot(simulation.time_s, nodes.flow_ml_s[i], color=colour, label=label)
    for axes, what in ((pressure, "pressure (mmHg)"), (flow, "flow (ml/s)")):
        axes.set(xlabel="time (s)", ylabel=what, title=f"{vessel}, {what.split()[0]}")
        axes.set_xlim(0.0, simulation.time_s[-1])
        axes.legend(frameon=False)
        _bare(axes)


def _tree(axes: "Axes", top: tuple[float, float], bottom: tuple[float, float]) -> None:
    """A small fan of curves from an artery's end to a vein's."""
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path as Curve

    third = (top[1] - bottom[1]) / 3.0
    for offset in np.linspace(-0.62, 0.62, 9):
        points = [top, (top[0] + offset, top[1] - third), (bottom[0] + offset, bottom[1] + third), bottom]
        curve = Curve(points, [Curve.MOVETO, *[Curve.CURVE4] * 3])
        axes.add_patch(PathPatch(curve, facecolor="none", edgecolor=LIGHT["dots"], linewidth=0.6, zorder=1))


def _tube(axes: "Axes", vessel: Vessel, top: tuple[float, float], bottom: tuple[float, float], colour: Any) -> None:
    """A tapered tube, drawn with round ends so that branches join."""
    from matplotlib.patches import Circle, Polygon

    (x0, y0), (x1, y1) = top, bottom
    length = float(np.hypot(x1 - x0, y1 - y0))
    across = ((y0 - y1) / length, (x1 - x0) / length)
    a, b = _WIDTH * vessel.radius_top_cm, _WIDTH * vessel.radius_bottom_cm
    ends = [(x0, y0, a), (x1, y1, b), (x1, y1, -b), (x0, y0, -a)]
    corners = [(x + w * across[0], y + w * across[1]) for x, y, w in ends]
    axes.add_patch(Polygon(corners, color=colour, linewidth=0, zorder=2))
    for x, y, w in ends[:2]:
        axes.add_patch(Circle((x, y), w, color=colour, linewidth=0, zorder=2))


def is_standard(network: Network) -> bool:
    """Whether the network has the eleven vessels that can be drawn."""
    return set(network.names) == set(PLACES)


def draw_network(axes: "Axes", network: Network, colours: Mapping[str, Any], labels: Mapping[str, str]) -> None:
    """The eleven vessels of the standard network, widths by radius, each with its colour and label."""
    for bed in network.beds:
        _tree(axes, PLACES[bed.artery][1], PLACES[bed.vein][1])
    for name, (top, bottom) in PLACES.items():
        _tube(axes, network.vessel(name), top, bottom, colours[name])
        at_x, at_y, align = _LABELS[name]
        axes.text(at_x, at_y, labels[name], ha=align, va="center", zorder=3)
    quiet: dict[str, Any] = {"ha": "center", "fontsize": 8.0, "alpha": 0.75}
    axes.text(0.0, 4.86, "right ventricle", va="bottom", **quiet)
    axes.text(0.0, -0.3, "left atrium", va="top", **quiet)
    axes.text(0.0, 1.75, "small\nvessels", va="center", **quiet)
    axes.set(xlim=(-4.6, 4.6), ylim=(-0.65, 5.2), aspect="equal")
    axes.set_axis_off()


def _network(axes: "Axes", simulation: Simulation, network: Network) -> Any:
    """The network coloured by mean pressure; returns what a colour bar needs."""
    from matplotlib import colormaps
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    means = dict(zip(simulation.vessels, simulation.mean_pressure_mmHg, strict=True))
    scale = ScalarMappable(Normalize(0.0, max(means.values())), colormaps[VALUE_MAP])
    colours = {name: scale.to_rgba(mean) for name, mean in means.items()}
    draw_network(axes, network, colours, {name: f"{name} {mean:.1f}" for name, mean in means.items()})
    axes.set_title("mean pressure (mmHg)")
    return scale


@styled
def plot_simulation(simulation: Simulation, network: Network, path: str | Path, vessel: str | None = None) -> None:
    """Waves at three places of a vessel (by default the inlet's); a picture of the standard network."""
    standard = is_standard(network)
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


@styled
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
