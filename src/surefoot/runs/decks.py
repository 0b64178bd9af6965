"""The files that a command finds in its working directory: decks rendered from templates, copies and links.

[objective]
files = {"case.inp" = "case.inp.in"}     # rendered from a template beside the problem file
placeholders = "{}"                      # in templates: "{}", "${}" or "@@"; see runs/placeholders.py
copy = ["mesh.dat", "tables"]            # files and folders beside the problem file
link = ["huge.msh"]                      # the same as symbolic links
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from surefoot.errors import InvalidInputError, shown
from surefoot.expect import at, expect, nearest, within
from surefoot.runs.names import PARAMETERS_FILE, STDERR, STDOUT
from surefoot.runs.placeholders import STYLES, Samples, filled, names_in

_MOST_BYTES = 16 * 2**20  # of a template


@dataclass(frozen=True)
class Deck:
    """What is put into a working directory."""

    files: Mapping[str, str] = field(default_factory=dict)  # the text of each template, by the file made of it
    style: str = "{}"
    copies: tuple[str, ...] = ()  # paths
    links: tuple[str, ...] = ()

    def lay_out(self, folder: Path, values: Mapping[str, Any]) -> None:
        """Put everything into a folder; ValueError if a value does not fit into its column."""
        for source in self.copies:
            target = folder / Path(source).name
            if os.path.isdir(source):
                shutil.copytree(source, target)
            else:
                shutil.copy2(source, target)
        for source in self.links:
            (folder / Path(source).name).symlink_to(source)
        for name, text in self.files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(_rendered(text, values, self.style, name).encode(errors="surrogateescape"))


def _rendered(text: str, values: Mapping[str, Any], style: str, name: str) -> str:
    lines = []
    for number, line in enumerate(text.splitlines(keepends=True), 1):
        try:
            lines.append(filled(line, values, style))
        except ValueError as error:
            raise ValueError(f"line {number} of {name}: {error}") from None
    return "".join(lines)


def deck_from(table: Mapping[str, Any], folder: Path, samples: Samples) -> tuple[Deck, set[str]]:
    """The checked keys of [objective], and the names that the templates use."""
    style = table.get("placeholders", "{}")
    with at("placeholders"):
        expect(style in STYLES, 'placeholders as "{}", "${}" or "@@"', style, 'placeholders = "@@"')
    files = table.get("files", {})
    texts = isinstance(files, dict) and all(isinstance(source, str) and source for source in files.values())
    with at("files"):
        expect(texts, "files as a table from file to template", files, 'files = {"case.inp" = "case.inp.in"}')
    with at("copy"):
        copies = _sources(table.get("copy", []), "copy", folder)
    with at("link"):
        links = _sources(table.get("link", []), "link", folder)
    made = [*files, *(Path(source).name for source in (*copies, *links))]
    for name in made:
        with at("files", name):
            _check_target(name)
    double = sorted({name for name in made if made.count(name) > 1})
    with at("files" if set(double) & set(files) else "copy"):
        expect(not double, "files, copy and link to make each name once", double, "another name for one of them")
    linked = {Path(source).name for source in links}
    for name in files:  # all trials would write one file, each into the others' calculations
        with at("files", name):
            inside = PurePosixPath(name).parts[0] not in linked
            expect(inside, "files outside of linked folders, which all trials share", name, "copy instead of link")
    used: set[str] = set()
    contents = {}
    for name, source in files.items():
        with at("files", name):
            contents[name] = _read(folder / source, source)
            for number, line in enumerate(contents[name].splitlines(keepends=True), 1):
                used |= _names_of_line(line, number, source, samples, style)
    return Deck(contents, style, copies, links), used


def _names_of_line(line: str, number: int, source: str, samples: Samples, style: str) -> set[str]:
    try:
        return names_in(line, samples, style)
    except InvalidInputError as error:
        others = " or ".join(f'"{other}"' for other in STYLES if other != style)
        hint = f"; where the deck has such marks itself, placeholders = {others}"
        raise within(error, f"line {number} of {source}: {error}{hint}") from None


def _check_target(name: str) -> None:
    """A path that stays in the working directory, and is none of ours."""
    path = PurePosixPath(name)
    inside = bool(name) and not path.is_absolute() and ".." not in path.parts and path.parts != ()
    expect(inside, "files inside the working directory", name, "a relative path without ..")
    ours = (STDOUT, STDERR, PARAMETERS_FILE)
    expect(str(path) not in ours, f"files not named {', '.join(ours)}", name, "another name")


def _sources(names: Any, key: str, folder: Path) -> tuple[str, ...]:
    texts = isinstance(names, list) and all(isinstance(name, str) and name for name in names)
    expect(texts, f"{key} as a list of files and folders", names, f'{key} = ["mesh.dat"]')
    missing = [name for name in names if not os.path.exists(folder / name)]
    near = nearest(os.path.basename(missing[0]), names_beside(folder / missing[0])) if missing else None
    expect(not missing, f"{key} with files that are there", missing, near or f"a path relative to {folder}")
    return tuple(os.path.normpath(folder / name) for name in names)


def _read(path: Path, source: str) -> str:
    try:
        if not path.is_file():
            raise OSError("no such file" if not path.exists() else "not a file")
        if path.stat().st_size > _MOST_BYTES:
            raise OSError(f"more than {_MOST_BYTES >> 20} MiB")
        return path.read_bytes().decode(errors="surrogateescape")  # whatever its encoding, its bytes stay
    except (OSError, ValueError) as error:
        raise InvalidInputError(
            f"expected a template beside the problem file; got {shown(source)} ({error}); "
            f"try {nearest(path.name, names_beside(path)) or 'writing it: a text file with parameters in braces, {x}'}"
        ) from None


def names_beside(path: str | Path) -> list[str]:
    """What else there is in the folder of a path."""
    try:
        return os.listdir(os.path.dirname(path) or ".")
    except (OSError, ValueError):
        return []
