"""The docstrings of surefoot as Sphinx wants them.

They are written for `help()`: names in `backticks`, arguments in two columns. Here backticks
become literals, and two columns become a definition list, and docs/PAGE.md becomes a link. A
record (dataclass) gets the list of its fields with the comments beside them.
"""

import ast
import dataclasses
import inspect
import io
import re
import textwrap
import tokenize

_COLUMNS = re.compile(r"^([\w*]+(?:, [\w*]+)*)\s{2,}(\S.*)$")
_PAGE = re.compile(r"docs/([a-z/-]+)\.md")
_LITERAL = re.compile(r"(?<![`:\w])`([^`]+)`(?!`)")


def converted(lines: list[str]) -> list[str]:
    """The lines of a docstring as reStructuredText."""
    made: list[str] = []
    in_list = False
    for line in lines:
        line = _PAGE.sub(r":doc:`/\1`", line)
        text = _LITERAL.sub(r"``\1``", line)
        text = (
            re.sub(r"(?<![`\w])([A-Za-z_]+_)(?=[\s,.;)])", r"\1\\ ", text)
            if line.rstrip().endswith("_")
            else text
        )
        text = text.replace("|", r"\|") if "`" not in text else text
        columns = _COLUMNS.match(line)
        if columns and not line.startswith(">>>"):
            rest = _LITERAL.sub(r"``\1``", columns[2])
            made += [
                *([] if in_list or not made or not made[-1] else [""]),
                f"``{columns[1]}``",
                f"    {rest}",
            ]
            in_list = True
        elif in_list and line.startswith("  "):
            made.append("    " + text.strip())
        else:
            if in_list and line.strip():
                made.append("")
            in_list = False
            made.append(text)
    return made


def fields_of(record: type) -> list[tuple[str, str, str]]:
    """Name, default and comment of every public field, as the source has them."""
    source = textwrap.dedent(inspect.getsource(record))
    lines = source.splitlines()
    comments: dict[int, str] = {}
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            comments[token.start[0]] = token.string.lstrip("#: ").strip()
    found = []
    for node in ast.parse(source).body[0].body:
        if not isinstance(node, ast.AnnAssign) or ast.unparse(node.annotation).startswith(
            "ClassVar"
        ):
            continue
        name = ast.unparse(node.target)
        if name.startswith("_"):
            continue
        said = [comments[n] for n in range(node.lineno, node.end_lineno + 1) if n in comments]
        above = node.lineno - 1
        while above in comments and lines[above - 1].lstrip().startswith("#"):
            said.insert(0, comments[above])
            above -= 1
        found.append((name, "" if node.value is None else ast.unparse(node.value), " ".join(said)))
    return found


def process(app, what, name, obj, options, lines: list[str]) -> None:
    """Convert one docstring in place."""
    lines[:] = converted(lines)
    if what == "class" and dataclasses.is_dataclass(obj):
        described = [(field, comment) for field, _, comment in fields_of(obj) if comment]
        lines += ["", "Attributes:", ""] if described else []
        for field, comment in described:
            lines += [f"``{field}``", "    " + _LITERAL.sub(r"``\1``", comment), ""]


def setup(app) -> dict[str, bool]:
    """Connect it."""
    app.connect("autodoc-process-docstring", process)
    return {"parallel_read_safe": True}
