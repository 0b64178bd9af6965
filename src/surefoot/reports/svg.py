"""Matplotlib figures as SVG inside a page: text stays text, ids are unique, colours follow the page's scheme.

Colours   A drawing is made in the light palette of `style`; on output each of its colours becomes the style sheet's
          variable of that name, so that the figure turns with the page (dark screens, paper). Other colours stay.
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from surefoot.errors import MissingExtraError
from surefoot.optimize.scales import written_out
from surefoot.reports.numbers import power
from surefoot.reports.page import DRAWING, markup
from surefoot.style import LIGHT, rc_parameters

if TYPE_CHECKING:
    from markupsafe import Markup

_VARIABLES = {colour: f"var(--{name})" for name, colour in LIGHT.items()}

_STYLE = {
    "svg.fonttype": "none",
    "svg.hashsalt": "surefoot",  # the same drawing gives the same ids
    "axes.facecolor": "none",
    "figure.facecolor": "none",
    "savefig.facecolor": "none",
}


@contextmanager
def _style() -> Iterator[None]:
    import matplotlib

    with matplotlib.rc_context({**rc_parameters(), **_STYLE}), warnings.catch_warnings():
        # the browser's fonts draw the text, so a glyph that Matplotlib's font lacks is no matter
        warnings.filterwarnings("ignore", message="Glyph")
        warnings.filterwarnings("ignore", "overflow", RuntimeWarning, "matplotlib")  # margins of axes up to 1e300
        yield


def drawing(
    draw: Callable[[Any], None], size: tuple[float, float], alt: str, *, margins: Mapping[str, float] | None = None
) -> Markup:
    """The SVG of a figure of that size (inches) filled by `draw`; `alt` tells what it shows to who cannot see it.

    margins: left, right, bottom, top of the axes as shares of the figure, so that drawings side by side are aligned;
    default: as little as the labels need.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtraError(
            "expected matplotlib for the figures of a report; it is not installed; try pip install 'surefoot[plots]'"
        ) from error
    with _style():
        figure = Figure(figsize=size, layout=None if margins else "constrained")
        if margins:
            figure.subplots_adjust(**margins)
        draw(figure)
        _plain_log_ticks(figure)
        buffer = io.StringIO()
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    return inline(buffer.getvalue(), alt)


def _plain_log_ticks(figure: Any) -> None:
    """Powers of ten as plain text: Matplotlib would typeset them with the widths of its own font."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    for ax in figure.axes:
        for axis in (ax.xaxis, ax.yaxis):
            if axis.get_scale() not in ("log", "symlog") or _is_written_out(axis):
                continue
            low, high = sorted(axis.get_view_interval())
            if axis.get_scale() == "log" and high < 20.0 * low:
                axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
            axis.set_major_formatter(FuncFormatter(lambda value, _: power(value, 3)))
            axis.set_minor_formatter(NullFormatter())


def _is_written_out(axis: Any) -> bool:
    return getattr(axis.get_major_formatter(), "func", None) is written_out


def inline(svg: str, alt: str) -> Markup:
    """A stand-alone SVG as an element of a page, which gives its ids a number (see `page.render`)."""
    svg = svg[svg.index("<svg") :]
    for what in (
        "<metadata>.*?</metadata>",
        "<style.*?</style>",
        "<!--.*?-->",
    ):  # a style would apply to the whole page
        svg = re.sub(what, "", svg, flags=re.DOTALL)
    svg = re.sub("<[^>]+>", lambda tag: _page_tag(tag.group()), svg)
    opening, rest = svg.split(">", 1)
    width, height = re.findall(r"[\d.]+", re.findall(r'viewBox="([^"]*)"', opening)[0])[2:]  # points
    start = markup(
        '<svg viewBox="0 0 {} {}" style="max-width: {:.2f}in" role="img" aria-labelledby="{}-alt">',
        *(width, height, float(width) / 72, DRAWING),
    )
    return start + markup('<title id="{}-alt">{}</title>', DRAWING, alt) + markup(rest.rstrip())


def _page_tag(tag: str) -> str:
    """A tag (never text: that is the user's) with ids of its own and the page's colours."""
    tag = re.sub(r'\sid="', f' id="{DRAWING}-', tag)
    tag = tag.replace('href="#', f'href="#{DRAWING}-').replace("url(#", f"url(#{DRAWING}-")
    return re.sub("#[0-9a-f]{6}", lambda colour: _VARIABLES.get(colour.group(), colour.group()), tag)
