"""`python tools/style.py [PAGES]`: what plain English asks of README.md and docs/, as far as a program can tell.

Errors, which end it with status 1:
- a line of prose or code of more than 100 characters (tables, links and addresses may be longer);
- a page whose first paragraph does not say what the reader will be able to do;
- a sentence of more than 45 words, or one without a verb;
- a word of a diary, which belongs to CHANGELOG.md or to the lab page, or a word that says nothing.
`--passive` also lists sentences in the passive voice, the longest first, for whoever rewrites a page.

A verb is a word of tools/verbs.txt in one of its forms. A sentence with another verb is found too: add the verb.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
WIDTH = 100
MOST_WORDS = 45
DIARY = r"was tried|were tried|been tried|earlier trial|at first we|unfortunately|we tried|it turned out|first attempt"
EMPTY = r"simply|obviously|of course|basically|powerful|seamless(?:ly)?|leverag\w+|utili[sz]\w+|in order to|very unique"
PURPOSE = re.compile(r"\byou (?:can|know|will|look|learn|need)\b|\bwhat you\b", re.IGNORECASE)
PASSIVE = re.compile(r"\b(?:is|are|was|were|be|been|being)\s+(?:\w+ly\s+|not\s+)?\w+(?:ed|en|wn|lt|pt|ght)\b")


def _forms(verb: str) -> set[str]:
    stem = verb.removesuffix("e")
    doubled = verb + verb[-1]
    ies = {verb[:-1] + "ies", verb[:-1] + "ied"} if verb.endswith("y") else set()
    return {verb, f"{verb}s", f"{verb}es", f"{stem}ed", f"{stem}ing", f"{doubled}ed", f"{doubled}ing", *ies}


def _known_forms() -> set[str]:
    regular, other = (ROOT / "tools" / "verbs.txt").read_text().split("\n\n")
    words = [[w for line in part.splitlines() if line[0] != "#" for w in line.split()] for part in (regular, other)]
    return {form for verb in words[0] for form in _forms(verb)} | set(words[1])


FORMS = _known_forms()


def text_of(path: Path) -> str:
    """A page as Markdown, line by line: of a script of a tutorial its docstring and comments."""
    if path.suffix != ".py":
        return path.read_text()
    lines = path.read_text().split('"""', 2)
    comments = [line[2:] if line.startswith("# ") else "" for line in lines[2].splitlines()]
    kept = [*lines[1].splitlines(), *comments[1:]]
    rules = [re.fullmatch(r"[-= ]{4,}", line) is not None for line in [*kept, ""]]
    return "\n".join("" if rules[i] or rules[i + 1] else line for i, line in enumerate(kept))


def prose(text: str) -> Iterator[tuple[int, str]]:
    """Paragraphs and list items with the number of their first line; code, tables and headings are left out."""
    fence, first = "", 0
    block: list[str] = []
    lines = [*text.splitlines(), ""]
    front = lines[0] == "---"
    for number, line in enumerate(lines, 1):
        stripped = line.strip()
        mark = re.match(r"(```+|:::+)", stripped)
        if front or fence or mark:
            if front:
                front = number == 1 or stripped != "---"
            elif fence:
                fence = "" if stripped.startswith(fence) else fence
            else:
                fence = "" if mark[1].startswith(":::") else mark[1]
            stripped = ""
        item = re.match(r"(?:[-*]|\d+\.)\s+", stripped)
        aside = not stripped or stripped[0] in "#|<" or stripped.startswith(":") or (not block and line[:4] == "    ")
        if (aside or item) and block:
            yield first, " ".join(block)
            block = []
        if not aside:
            first = first if block else number
            block.append(stripped[len(item[0]) :] if item else stripped)


def plain(text: str) -> str:
    """A paragraph without its markup: code becomes one word, links their texts."""
    text = re.sub(r"!\[[^\]]*\]\([^)]*\)", "", text)
    text = re.sub(r"``?[^`]+``?", "Code", text)
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
    return re.sub(r"[*_]{1,2}(?=\S)|(?<=\S)[*_]{1,2}", "", text)


def sentences(text: str) -> list[str]:
    """The sentences of a paragraph; what leads to a table or a list (:) is one."""
    text = re.sub(r"\b(e\.g|i\.e|vs|Eq|Sec|al|Fig|No)\.", r"\1", text)
    return [part.strip() for part in re.split(r"(?<=[.!?])\s+(?=[A-Z`(\"'“\d])", text) if part.strip()]


def has_verb(sentence: str) -> bool:
    """Whether one of its words is a form of a verb that is known."""
    return any(word.lower() in FORMS for word in re.findall(r"[A-Za-z']+", sentence))


def faults(path: Path, text: str) -> Iterator[tuple[int, str]]:
    """Line and fault."""
    for number, line in enumerate(text.splitlines(), 1):
        if len(line) > WIDTH and not line.lstrip().startswith(("|", "![")) and " " in line.strip()[: WIDTH - 20]:
            long = max(map(len, line.split()), default=0)
            if long < WIDTH // 2:
                yield number, f"{len(line)} characters in a line, at most {WIDTH}"
    paragraphs = list(prose(text))
    if not PURPOSE.search(" ".join(block for _, block in paragraphs[:4])):
        yield 1, "the page does not begin with what the reader will be able to do (you can …, you know …)"
    for number, block in paragraphs:
        words = plain(block)
        for pattern, what in ((DIARY, "a word of a diary"), (EMPTY, "a word that says nothing")):
            for found in re.findall(rf"\b(?:{pattern})\b", words, re.IGNORECASE):
                yield number, f"{what}: {found!r}"
        for sentence in sentences(words):
            count = len(sentence.split())
            if count > MOST_WORDS:
                yield number, f"{count} words in a sentence, at most {MOST_WORDS}: {sentence[:70]}…"
            entry = re.match(r"(?:or |\()?Code\b[^:.]*: ", sentence)  # a name and what it is, as in a table
            if count > 4 and sentence.endswith(".") and not entry and not has_verb(sentence):
                yield number, f"no verb: {sentence[:90]}"


def pages() -> list[Path]:
    """README.md, the pages that people wrote, and the scripts of tutorials."""
    made = {"repository", "_generated", "gallery"}
    written = [path for path in sorted((ROOT / "docs").rglob("*.md")) if not made & set(path.parts)]
    return [ROOT / "README.md", *written, *sorted((ROOT / "docs" / "tutorials" / "scripts").glob("*.py"))]


def main(arguments: list[str]) -> int:
    """Print all faults; 1 if there is one."""
    chosen = [Path(name).resolve() for name in arguments if not name.startswith("--")] or pages()
    count = 0
    for path in chosen:
        text = text_of(path)
        for number, fault in faults(path, text):
            print(f"{path.relative_to(ROOT)}:{number}: {fault}")
            count += 1
        if "--passive" in arguments:
            said = [(s, n) for n, block in prose(text) for s in sentences(plain(block)) if PASSIVE.search(s)]
            for sentence, number in sorted(said, key=lambda pair: -len(pair[0])):
                print(f"{path.relative_to(ROOT)}:{number}: passive: {sentence}")
    return 1 if count else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
