"""How everything that surefoot draws looks: figures in files, reports, the dashboard, the site. The only place of it.

Lines      Seven colours for a light page and seven for a dark one. Any two of a page differ by 15 or more in CIELAB for
           people who see all colours and for the three kinds who do not, and each has a contrast of 3 or more with the
           page (tests/test_style.py computes both).
Maps       viridis for a value; red to blue for P(success), which everybody tells apart, with a line where it is 1/2.
Pages      `css_variables` gives the colours as --blue and so on; those of a dark screen follow the reader's setting.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

LIGHT = {
    "ink": "#1d2733", "muted": "#5c6877", "rule": "#d8dee6", "paper": "#ffffff", "panel": "#f5f7f9", "dots": "#8d98a5",
    "blue": "#1b4f8f", "orange": "#d9691f", "teal": "#0ea07a", "red": "#9d2f2e", "violet": "#6a1fb0", "pink": "#bf6cab",
    "sky": "#5583ec",
}  # fmt: skip
DARK = {
    "ink": "#e3e8ee", "muted": "#9ca8b7", "rule": "#323c48", "paper": "#13171d", "panel": "#1b2129", "dots": "#7d8896",
    "blue": "#6d8ee0", "orange": "#e0956a", "teal": "#50e6b4", "red": "#ff5c3c", "violet": "#8a5cf0", "pink": "#e9aef6",
    "sky": "#c0f2fa",
}  # fmt: skip
LINES = ("blue", "orange", "teal", "red", "violet", "pink", "sky")  # Matplotlib's C0 to C6
VALUE_MAP, SUCCESS_MAP = "viridis", "RdBu"  # Matplotlib's names; the second is used from 0 (red) to 1 (blue)
SUCCESS_SCALE = ((0.0, "#b2182b"), (0.25, "#f4a582"), (0.5, "#f7f7f7"), (0.75, "#92c5de"), (1.0, "#2166ac"))  # Plotly's
BEST: dict[str, Any] = {"marker": "*", "ms": 13, "ls": "", "color": "#ffd43b", "mec": "#333333"}  # on maps, which stay

_RC: dict[str, Any] = {
    "font.family": "sans-serif",
    "font.size": 9.0,
    "text.color": LIGHT["ink"],
    "axes.edgecolor": LIGHT["muted"],
    "axes.labelcolor": LIGHT["muted"],
    "axes.titlesize": 9.5,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.linewidth": 0.7,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.formatter.limits": (-4, 6),
    "grid.color": LIGHT["rule"],
    "grid.linewidth": 0.6,
    "xtick.color": LIGHT["muted"],
    "ytick.color": LIGHT["muted"],
    "xtick.labelsize": 8.5,
    "ytick.labelsize": 8.5,
    "xtick.major.width": 0.7,
    "ytick.major.width": 0.7,
    "xtick.major.size": 3.0,
    "ytick.major.size": 3.0,
    "legend.frameon": False,
    "legend.fontsize": 8.5,
    "lines.linewidth": 1.5,
}

P = ParamSpec("P")
T = TypeVar("T")


def rc_parameters() -> dict[str, Any]:
    """Matplotlib's settings; needs Matplotlib."""
    from cycler import cycler

    return {**_RC, "axes.prop_cycle": cycler(color=[LIGHT[name] for name in LINES])}


def styled(draw: Callable[P, T]) -> Callable[P, T]:
    """A function that draws in this style and leaves the caller's settings as they are."""

    @functools.wraps(draw)
    def inside(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            import matplotlib
        except ImportError:  # `draw` says what to install
            return draw(*args, **kwargs)
        with matplotlib.rc_context(rc_parameters()):
            return draw(*args, **kwargs)

    return inside


def css_variables() -> str:
    """The colours for a page: --ink, --blue, …; on dark screens the dark ones."""
    light, dark = (" ".join(f"--{name}: {colour};" for name, colour in some.items()) for some in (LIGHT, DARK))
    return f":root {{ {light} }}\n@media screen and (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}"
