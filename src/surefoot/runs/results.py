"""Where the numbers of an evaluation are read, by name.

    [objective.results]
    mass   = {file = "run.lst", regex = 'TOTAL MASS *= *(\\S+)'}          # the last match; take = "first", 3, "sum", …
    t_max  = {file = "probes.csv", column = "T [K]", take = "max"}        # a column by its name, or by its number
    drag   = {file = "forces.dat", line = "Cd", column = 3}               # the third word of the last line with Cd
    eff    = {json = "result.json", key = "summary.eff"}                  # or toml, yaml
    lift   = {python = "post.py:lift"}                                    # called with the working directory
    noise  = {file = "noise.dat", column = 2, optional = true}            # may be missing
    cost   = "mass + 10*max(0, t_max - 45)"                               # of other results and of parameters

Without a file it is stdout. `progress` is the share of the simulation that was reached; it is read after a failure too.
"""

from __future__ import annotations

import importlib.util
import re
import warnings
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from surefoot.errors import InvalidInputError, shown
from surefoot.expect import at, expect, known_keys, nearest, within
from surefoot.formulas import Formula, parse_formula
from surefoot.runs import keys

TAKES = ("last", "first", "sum", "min", "max", "mean")
FORMATS = ("json", "toml", "yaml")
_EXAMPLE = "mass = {file = \"run.lst\", regex = 'MASS = (\\S+)'}"


@dataclass(frozen=True)
class Source:
    """Where one number is read: by a regular expression, from a table, by a key, by a function, or by a formula."""

    file: str = ""  # in the working directory; empty: stdout
    regex: str = ""
    line: int | str | None = None  # its number, or what it holds
    column: int | str | None = None  # its number, or its name
    format: str = ""  # of a file that has keys
    key: str = ""
    python: str = ""
    formula: str = ""
    take: int | str = "last"
    optional: bool = False

    def told(self) -> str:
        """For people."""
        if self.formula or self.python:
            return self.formula or self.python
        how = [("match", self.regex), ("line", self.line), ("column", self.column), ("key", self.key)]
        words = [
            f"{word} {value}" if isinstance(value, int) else f"{word} '{value}'"
            for word, value in how
            if value not in ("", None)
        ]
        of = "" if self.take == "last" else f"{self.take} of "
        return f"{of}{', '.join(words) or 'all'} in {self.file or 'stdout'}"


def results_from(
    table: Any, parameters: Collection[str], python: Callable[[Any], str]
) -> tuple[tuple[str, Source], ...]:
    """The checked table, in an order in which formulas can be computed; `python` checks the name of a function."""
    expect(isinstance(table, dict), "[objective.results] as a table", table, _EXAMPLE)
    double = sorted(set(table) & set(parameters))
    expect(not double, "results that have other names than parameters", double, "another name")
    sources: dict[str, Source] = {}
    needs: dict[str, Collection[str]] = {}
    for name, fields in table.items():
        with at(name):
            source = sources[name] = _source(name, fields, python)
            others = [other for other in (*table, *parameters) if other != name]
            needs[name] = _formula(name, source.formula, others).names if source.formula else ()
    order: list[str] = []
    left = list(sources)
    while left:
        ready = [name for name in left if not set(needs[name]) & set(left)]
        with at(left[0]):
            expect(bool(ready), "results that do not need one another in a circle", left, "one of them from a file")
        order += ready
        left = [name for name in left if name not in ready]
    return tuple((name, sources[name]) for name in order)


def _formula(name: str, text: str, names: Collection[str]) -> Formula:
    itself = re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) is not None and name not in names
    expect(not itself, f"the result {shown(name)} of other results", text, f"another name for what it needs of {name}")
    try:
        return parse_formula(text, names)
    except InvalidInputError as error:
        raise within(error, f"result {shown(name)}: {error}") from None


def _source(name: str, fields: Any, python: Callable[[Any], str]) -> Source:
    where = f"result {shown(name)}"
    expect(bool(name), "results with names", name, "a name")
    if isinstance(fields, str):
        expect(fields.strip() != "", f"a formula for {where}", fields, '"mass + 10*heat"')
        return Source(formula=fields)
    expect(isinstance(fields, dict), f"a table or an expression for {where}", fields, _EXAMPLE)
    known_keys(where, fields, keys.RESULT)
    optional = fields.get("optional", False)
    expect(isinstance(optional, bool), f"optional true or false for {where}", optional, "optional = true")
    rest = {key: value for key, value in fields.items() if key != "optional"}
    if "python" in rest:
        expect(set(rest) == {"python"}, f"python alone for {where}", sorted(rest), 'python = "post.py:lift"')
        return Source(python=python(rest["python"]), optional=optional)
    formats = [key for key in FORMATS if key in rest]
    if formats:
        return _by_key(where, rest, formats[0], optional)
    return _from_text(where, rest, optional)


def _by_key(where: str, fields: Mapping[str, Any], kind: str, optional: bool) -> Source:
    expect(set(fields) == {kind, "key"}, f"{kind} and key for {where}", sorted(fields), f'{kind} = "out", key = "a.b"')
    for key, value in fields.items():
        expect(isinstance(value, str) and value != "", f"{key} of {where} as text", value, f'{key} = "summary"')
    missing = kind == "yaml" and importlib.util.find_spec("yaml") is None
    expect(not missing, f"PyYAML for {where}", "no such package", "pip install pyyaml, or json")
    _check_file(where, fields[kind])
    return Source(file=fields[kind], format=kind, key=fields["key"], optional=optional)


def _from_text(where: str, fields: Mapping[str, Any], optional: bool) -> Source:
    expect("key" not in fields, f"json, toml or yaml with the key of {where}", fields, '{json = "out.json", key = "a"}')
    one = ("regex" in fields) != ("column" in fields) and not ("regex" in fields and "line" in fields)
    ways = '{regex = "…"}, {column = "T"} or {line = "Cd", column = 3}'
    expect(one, f"a regex, or a column and perhaps a line, for {where}", sorted(fields), ways)
    if "file" in fields:
        _check_file(where, fields["file"])
    if "regex" in fields:
        check_regex(fields["regex"])
    line, column, take = fields.get("line"), fields.get("column"), fields.get("take", "last")
    for what, value in (("line", line), ("column", column)):
        good = value is None or _is_place(value, back=what == "line") or (isinstance(value, str) and value != "")
        expect(good, f"{what} of {where} as a number from 1 on, or as text", value, f"{what} = 3")
    named = isinstance(column, str) and line is not None
    expect(not named, f"the number of the column of {where}, where the line is given", column, "column = 3")
    good = _is_place(take, back=True) or take in TAKES
    hint = nearest(take, TAKES) if isinstance(take, str) else None
    expect(good, f"take among {', '.join(TAKES)} or a number, for {where}", take, f'take = "{hint or "last"}"')
    return Source(fields.get("file", ""), fields.get("regex", ""), line, column, take=take, optional=optional)


def _is_place(value: Any, back: bool) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and (value >= 1 or (back and value <= -1))


def _check_file(where: str, name: Any) -> None:
    path = PurePosixPath(name) if isinstance(name, str) else PurePosixPath()
    inside = path.parts != () and not path.is_absolute() and ".." not in path.parts
    expect(inside, f"a file in the working directory for {where}", name, 'file = "run.lst"')


def check_regex(text: Any) -> None:
    """Raise unless it is a regular expression with at most one group."""
    expect(isinstance(text, str) and text != "", "a regular expression as text", text, "regex = 'loss = (\\S+)'")
    try:
        with warnings.catch_warnings():  # of what may mean something else in a later Python
            warnings.simplefilter("ignore")
            groups = re.compile(text).groups
    except (re.error, OverflowError, RecursionError) as error:
        raise InvalidInputError(
            f"expected a regular expression; got {shown(text)} ({error}); try 'loss = (\\S+)'"
        ) from None
    expect(groups <= 1, "a regular expression with at most one group", text, "(?:…) for the others")
