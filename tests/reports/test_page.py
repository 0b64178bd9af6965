"""The page: whole, offline, escaped, accessible."""

import re
from pathlib import Path
from typing import get_args

import pytest
from markupsafe import escape

from surefoot.errors import InvalidInputError
from surefoot.reports.page import (
    Block,
    Code,
    Facts,
    Figure,
    Note,
    References,
    Section,
    Table,
    Text,
    markup,
    render,
    write,
)
from surefoot.reports.svg import drawing

EVIL = "<script>alert('1')</script> & \"quotes\""


def draw(figure) -> None:
    ax = figure.add_subplot()
    ax.plot([1, 2, 3], [1, 4, 9], "o-")
    ax.set_xlabel(EVIL, parse_math=False)


@pytest.fixture(scope="module")
def page() -> str:
    blocks = [
        Text(EVIL),
        Note(EVIL, title=EVIL, kind="warning"),
        Table(EVIL, ("name", EVIL), [(EVIL, 1.5)]),
        Facts([(EVIL, EVIL, EVIL)]),
        Figure([drawing(draw, (3, 2), EVIL), drawing(draw, (3, 2), "second")], EVIL),
        Code(EVIL, EVIL),
        References([(EVIL, "https://example.org/a?b&c")]),
    ]
    return render(EVIL, EVIL, [Section(EVIL, blocks)], EVIL)


def test_strings_of_the_user_are_text_and_never_tags(page: str, read) -> None:
    assert "script" not in {tag for tag, _ in read(page).tags}


def test_strings_of_the_user_are_shown_as_they_are(page: str, read) -> None:
    assert EVIL in read(page).text("h1")


def test_markup_of_the_package_stays_markup() -> None:
    assert "f<sub>L</sub>" in render("t", "", [Section("s", [Text(markup("f<sub>L</sub>"))])], "")


def test_values_in_markup_are_escaped_unless_they_are_markup() -> None:
    assert markup("<b>{}</b>{}", EVIL, markup("<i>")) == f"<b>{escape(EVIL)}</b><i>"


def test_every_kind_of_block_is_on_the_page(read) -> None:
    blocks = {Text: ("it",), Note: ("it",), Table: ("it", ("it",), [("it",)]), Facts: ([("it", "it", "it")],),
              Figure: ([], "it"), Code: ("it", "it"), References: ([("it", "it")],)}  # fmt: skip
    assert set(blocks) == set(get_args(Block))
    for kind, fields in blocks.items():
        assert "it" in read(render("", "", [Section("", [kind(*fields)])], "")).text("section"), kind


def test_control_characters_are_replaced() -> None:
    assert "\x00" not in render("a\x00b", "", [], "")


def test_nothing_is_loaded_from_elsewhere(page: str, read) -> None:
    loads = [
        (tag, a) for tag, a in read(page).tags if tag in ("script", "img", "iframe", "object", "link") or "src" in a
    ]
    assert [a.get("href") for _, a in loads] == ["data:,"]


def test_the_style_sheet_loads_nothing(page: str) -> None:
    style = page.split("<style>")[1].split("</style>")[0]
    assert not re.search(r"url\(|@import", style)


def test_two_drawings_share_no_id(page: str, read) -> None:
    ids = read(page).ids
    assert len(ids) == len(set(ids))


def test_every_reference_to_an_id_finds_it(page: str, read) -> None:
    wanted = set(re.findall(r"url\(#([^)]+)\)", page)) | set(re.findall(r'href="#([^"]+)"', page))
    assert wanted <= set(read(page).ids)
    assert wanted


def test_text_in_figures_is_text(page: str, read) -> None:
    assert EVIL in read(page).text("text")


def test_figures_take_their_colours_from_the_style_sheet(page: str) -> None:
    svg = page[page.index("<svg") : page.rindex("</svg>")]
    assert "var(--blue)" in svg
    assert "#1f5f9e" not in svg


def test_every_colour_of_the_figures_is_in_the_style_sheet(page: str) -> None:
    assert set(re.findall(r"var\(--(\w+)\)", page)) <= set(re.findall(r"--(\w+):", page))


def test_every_figure_has_an_alternative_text(page: str, read) -> None:
    reading = read(page)
    named = [a["aria-labelledby"] for tag, a in reading.tags if tag == "svg"]
    assert len(named) == 2
    assert set(named) <= set(reading.ids)


def test_every_table_has_a_caption_and_headers_with_a_scope(page: str, read) -> None:
    tags = read(page).tags
    assert [tag for tag, _ in tags if tag in ("table", "caption")] == ["table", "caption"]
    assert [a["scope"] for tag, a in tags if tag == "th"] == ["col", "col", "row"]


def test_sections_are_named_by_their_headings(page: str, read) -> None:
    reading = read(page)
    assert {a["aria-labelledby"] for tag, a in reading.tags if tag == "section"} <= set(reading.ids)


def test_a_lone_surrogate_does_not_cost_the_report(tmp_path: Path) -> None:
    write(render("bad \udcff name", "", [], ""), tmp_path / "page.html")
    assert "bad \N{REPLACEMENT CHARACTER} name" in (tmp_path / "page.html").read_text()


def test_a_place_that_cannot_be_written_is_an_error_in_three_parts(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match=r"expected .*; got .*; try "):
        write("page", tmp_path / "no such folder" / "page.html")
