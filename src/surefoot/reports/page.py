"""One self-contained HTML page from sections, paragraphs, tables, figures and notes.

Nothing is fetched and no script runs: style sheet and figures are inside. The templates escape every string, for it is
the user's, unless it is `Markup`, which only `markup` makes.
"""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from surefoot.errors import MissingExtraError
from surefoot.optimize.files import write_whole
from surefoot.style import css_variables

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

DRAWING = "surefoot-drawing"  # begins all ids of a drawing; on a page each drawing gets a number instead
_NOT_HTML = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")  # control characters, lone surrogates


@dataclass(frozen=True)
class Text:
    """A paragraph."""

    text: str


@dataclass(frozen=True)
class Note:
    """Something the reader must not miss."""

    text: str
    title: str = "Note"
    kind: Literal["plain", "warning"] = "plain"


@dataclass(frozen=True)
class Table:
    """Rows under a header; columns named in `left` hold words, all others numbers (aligned to the right)."""

    caption: str
    header: Sequence[str]
    rows: Sequence[Sequence[object]]
    left: Sequence[int] = (0,)


@dataclass(frozen=True)
class Facts:
    """A few numbers in large type: (what, value, remark)."""

    facts: Sequence[tuple[str, str, str]]


@dataclass(frozen=True)
class Key:
    """An entry of a legend: how something looks, in a colour of `style`, and what it is."""

    label: str
    shape: Literal["line", "dashes", "dotted", "band", "bar", "dot", "ring", "cross", "plus", "triangle"]
    colour: str
    opacity: float = 1.0


@dataclass(frozen=True)
class Figure:
    """One or more drawings (SVG with alternative texts, see `svg`) over one caption; several stand side by side."""

    drawings: Sequence[Markup]
    caption: str
    columns: int = 1  # at most so many side by side; fewer where the page is narrow
    legend: Sequence[Key] = ()  # of all drawings, if they have none of their own


@dataclass(frozen=True)
class Code:
    """Text to copy, as it is."""

    text: str
    label: str


@dataclass(frozen=True)
class References:
    """Numbered sources: (text, address or '')."""

    entries: Sequence[tuple[str, str]]


Block = Text | Note | Table | Facts | Figure | Code | References


@dataclass(frozen=True)
class Section:
    """A heading and what is under it."""

    title: str
    blocks: Sequence[Block]


def render(title: str, lead: str, sections: Sequence[Section], footer: str) -> str:
    """The whole page."""
    template = _environment().get_template("page.html")
    page = template.render(title=title, lead=lead, sections=sections, footer=footer, colours=markup(css_variables()))
    numbers = itertools.count(1)
    page = re.sub("<svg.*?</svg>", lambda svg: svg.group().replace(DRAWING, f"d{next(numbers)}"), page, flags=re.DOTALL)
    return _NOT_HTML.sub("\N{REPLACEMENT CHARACTER}", page)


def write(page: str, path: str | os.PathLike[str]) -> Path:
    """Write a page to a file; returns its path."""
    write_whole(path, page)
    return Path(path)


def markup(text: str, *values: object) -> Markup:
    """Markup of ours; if values are given each {} in it is one, escaped unless it is markup itself."""
    _environment()  # or an error that says what to install
    from markupsafe import Markup

    return Markup(text).format(*values) if values else Markup(text)


@cache
def _environment() -> Environment:
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined
    except ImportError as error:
        raise MissingExtraError(
            "expected Jinja2 for the page of a report; it is not installed; try pip install 'surefoot[plots]'"
        ) from error
    return Environment(
        loader=PackageLoader("surefoot.reports"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
