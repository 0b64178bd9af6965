"""One self-contained HTML page from sections, paragraphs, tables, figures and notes.

Nothing is fetched and no script runs: style sheet and figures are inside. Every string is the user's and is escaped,
unless it is `Html`, which only this package makes.
"""

from __future__ import annotations

import html
import itertools
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Literal

from surefoot.optimize.files import write_whole

DRAWING = "surefoot-drawing"  # begins all ids of a drawing; on a page each drawing gets a number instead
_NOT_HTML = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")  # control characters, lone surrogates


class Html(str):
    """Text that is markup already."""

    __slots__ = ()


def escape(value: object) -> Html:
    """A value as markup: all that a page shows comes through here."""
    if isinstance(value, Html):
        return value
    return Html(html.escape(_NOT_HTML.sub("\N{REPLACEMENT CHARACTER}", str(value))))


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
class Figure:
    """One or more drawings (SVG with alternative texts, see `svg`) over one caption; several stand side by side."""

    drawings: Sequence[Html]
    caption: str
    columns: int = 1  # at most so many side by side; fewer where the page is narrow


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
    style = resources.files("surefoot.reports").joinpath("page.css").read_text(encoding="utf-8")
    body = "\n".join(_section(number, section) for number, section in enumerate(sections, 1))
    numbers = itertools.count(1)
    body = re.sub("<svg.*?</svg>", lambda svg: svg.group().replace(DRAWING, f"d{next(numbers)}"), body, flags=re.DOTALL)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{escape(title)}</title>\n"
        '<link rel="icon" href="data:,">\n'  # otherwise a browser asks for one
        f"<style>\n{style}</style>\n</head>\n<body>\n<header>\n<h1>{escape(title)}</h1>\n"
        f'<p class="lead">{escape(lead)}</p>\n</header>\n<main>\n{body}\n</main>\n'
        f"<footer><p>{escape(footer)}</p></footer>\n</body>\n</html>\n"
    )


def write(page: str, path: str | os.PathLike[str]) -> Path:
    """Write a page to a file; returns its path."""
    write_whole(path, page)
    return Path(path)


def _section(number: int, section: Section) -> str:
    blocks = "\n".join(_block(block) for block in section.blocks)
    return (
        f'<section aria-labelledby="section-{number}">\n<h2 id="section-{number}">{escape(section.title)}</h2>\n'
        f"{blocks}\n</section>"
    )


def _block(block: Block) -> str:
    match block:
        case Text(text):
            return f"<p>{escape(text)}</p>"
        case Note():
            strong = f"<strong>{escape(block.title)}.</strong>"
            return f'<aside class="note {block.kind}"><p>{strong} {escape(block.text)}</p></aside>'
        case Facts(facts):
            items = (
                f"<div><dt>{escape(a)}</dt><dd>{escape(b)}<small>{escape(c)}</small></dd></div>" for a, b, c in facts
            )
            return f'<dl class="facts">{"".join(items)}</dl>'
        case Table():
            return _table(block)
        case Figure(drawings, caption, columns):
            inside = "".join(f"<div>{drawing}</div>" for drawing in drawings)
            grid = f'<div class="drawings columns-{min(columns, 3)}">{inside}</div>'
            return f"<figure>{grid}<figcaption>{escape(caption)}</figcaption></figure>"
        case Code(text, label):
            return f'<pre tabindex="0" aria-label="{escape(label)}"><code>{escape(text)}</code></pre>'
        case References(entries):
            return f"<ol class='references'>{''.join(map(_reference, entries))}</ol>"


def _table(table: Table) -> str:
    kinds = ["" if i in table.left else ' class="number"' for i in range(len(table.header))]
    head = "".join(f'<th scope="col"{kind}>{escape(cell)}</th>' for cell, kind in zip(table.header, kinds, strict=True))
    rows = []
    for cells in table.rows:
        first, *others = (f"{kind}>{escape(cell)}</" for cell, kind in zip(cells, kinds, strict=True))
        rows.append(f'<tr><th scope="row"{first}th>' + "".join(f"<td{cell}td>" for cell in others) + "</tr>")
    body, caption = "\n".join(rows), escape(table.caption)
    # the wrapper scrolls where a table is wider than the page; tabindex lets the keyboard scroll it
    return (
        f'<div class="table" tabindex="0" role="group" aria-label="{caption}"><table>\n'
        f"<caption><span>{caption}</span></caption>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table></div>"
    )


def _reference(entry: tuple[str, str]) -> str:
    text, address = entry
    link = f' <a href="{escape(address)}" rel="noreferrer">{escape(address)}</a>' if address else ""
    return f"<li>{escape(text)}{link}</li>"
