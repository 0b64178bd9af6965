"""Links to files of the repository that are no pages of docs/, followed by Sphinx.

A page links to files as they lie in the repository: `../../results/regret/table.md`. So the links
work wherever the repository is read. For the site every Markdown file that is reached so becomes a
page below docs/repository, which Git ignores, and links to it are turned there. Links to the
scripts of tutorials lead to the pages that sphinx-gallery makes of them. Other files are offered as
downloads, which is MyST's own way.
"""

import os
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
COPIES = DOCS / "repository"
SCRIPTS, GALLERY = (
    DOCS / "tutorials" / "scripts",
    DOCS / "tutorials" / "gallery",
)  # sphinx-gallery makes the second
_LINK = re.compile(r"(?<=\])\(([^)#\s]+)(#[^)\s]*)?\)")


def target_of(link: str, folder: Path) -> Path | None:
    """The file of the repository that a link in this folder names; None: it is elsewhere."""
    if "://" in link or link.startswith("mailto:"):
        return None
    return Path(os.path.normpath(folder / link))


def markdown_beside_docs(start: list[Path]) -> dict[Path, None]:
    """All Markdown files outside docs/ that are reached from these."""
    found: dict[Path, None] = {}
    left = list(start)
    while left:
        page = left.pop()
        for link, _ in _LINK.findall(page.read_text()):
            path = target_of(link, page.parent)
            outside = path is not None and path.suffix == ".md" and not path.is_relative_to(DOCS)
            if outside and path.exists() and path not in found:
                found[path] = None
                left.append(path)
    return found


def turned(text: str, folder: Path, here: Path) -> str:
    """The text of a file of `folder`, for a page in `here`: its links lead to the copies."""

    def turn(match: re.Match[str]) -> str:
        path = target_of(match[1], folder)
        if path is None or not path.exists():
            return match[0]
        if path.suffix == ".md" and not path.is_relative_to(DOCS):
            path = COPIES / path.relative_to(ROOT)
        if path.parent == SCRIPTS:
            path = (GALLERY / path.name).with_suffix(".rst")
        return f"({os.path.relpath(path, here)}{match[2] or ''})"

    return _LINK.sub(turn, text)


def copy(app) -> None:
    """Make the copies, before Sphinx looks for pages."""
    for path in markdown_beside_docs(
        [page for page in DOCS.rglob("*.md") if COPIES not in page.parents]
    ):
        copied = COPIES / path.relative_to(ROOT)
        text = turned(path.read_text(), path.parent, copied.parent)
        title = "" if text.startswith("# ") else f"# {path.relative_to(ROOT)}\n\n"
        text = f"---\norphan: true\n---\n{title}{text}"
        if not copied.exists() or copied.read_text() != text:
            copied.parent.mkdir(parents=True, exist_ok=True)
            copied.write_text(text)


def turn_links(app, docname: str, source: list[str]) -> None:
    """Turn the links of a page of docs/."""
    path = Path(app.env.doc2path(docname))
    if path.suffix == ".md" and COPIES not in path.parents:
        source[0] = turned(source[0], path.parent, path.parent)


def setup(app) -> dict[str, bool]:
    """Connect both."""
    app.connect("config-inited", lambda app, config: copy(app))
    app.connect("source-read", turn_links)
    return {"parallel_read_safe": True}
