"""Placeholders in commands and decks: {name}, {name:.3e}, or a column of fixed width as Fortran has it, {name:E12.4}.

Styles    "{}"  {name}, where {{ and }} are braces;
          "${}" ${name};
          "@@"  @name@.
          Of the last two only what looks like a name in its marks is a placeholder; all else stays as it is.
Formats   Python's, with all digits where there is none. E12.4, ES12.4, D12.4, F12.4 and I6 are exactly so wide: a value
          that does not fit is an error, where Python would shift all columns behind it.
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution, IntDistribution

from surefoot.errors import InvalidInputError, UnknownNameError, shown
from surefoot.expect import expect, nearest
from surefoot.runs.values import text_of

OWN = ("here", "folder", "trial")
STYLES = ("{}", "${}", "@@")
_SAMPLES = 1000  # numbers over the range of a real parameter
_MOST_SHOWN = 200  # characters of an example
FEW = 500  # of them that differ in a text
_MARKS = {
    "${}": re.compile(r"\$\{([^\W\d]\w*)(?::([^{}\n]*))?\}"),
    "@@": re.compile(r"@([^\W\d]\w*)(?::([^@\n]*))?@"),
}
_FORTRAN = re.compile(r"(ES|E|D|F|I)(\d+)(?:\.(\d+))?", re.IGNORECASE)
Piece = tuple[str, str | None, str]  # text before, the name or None, its format
Samples = Mapping[str, tuple[Any, ...]]  # values of each name that show whether a format suits


def samples_of(parameters: Mapping[str, BaseDistribution], folder: Path) -> dict[str, tuple[Any, ...]]:
    """What may stand in a placeholder."""
    own = {"here": (str(folder),), "folder": ("/folder",), "trial": (0,)}
    return {name: _samples(d) for name, d in parameters.items()} | own


def _samples(d: BaseDistribution) -> tuple[Any, ...]:
    if isinstance(d, CategoricalDistribution):
        return d.choices
    if isinstance(d, (FloatDistribution, IntDistribution)):
        return d.low, d.high
    return ()


def fill(command: tuple[str, ...], values: Mapping[str, Any]) -> list[str]:
    """The arguments with their placeholders replaced; each stays one argument, whatever the value holds."""
    return [filled(argument, values) for argument in command]


def filled(text: str, values: Mapping[str, Any], style: str = "{}") -> str:
    """A text with its placeholders replaced; ValueError if a value does not fit into its column."""
    return "".join(
        before + ("" if name is None else _formatted(values[name], spec)) for before, name, spec in _pieces(text, style)
    )


def fillings(text: str, values: Mapping[str, Any], style: str = "{}") -> Iterator[tuple[str, str, str]]:
    """The placeholders of a text: name, format and what is written; ValueError as above."""
    for _, name, spec in _pieces(text, style):
        if name is not None:
            yield name, spec, _formatted(values[name], spec)


def names_in(text: str, samples: Samples, style: str = "{}") -> set[str]:
    """The names in a text, each with a format that suits its values."""
    try:
        found = [(name, spec) for _, name, spec in _pieces(text, style) if name is not None]
        for name, spec in found:
            if name not in samples:
                brace = _with_braces(name, spec, samples) if style == "{}" else _way_out(style)
                is_name = name.strip().isidentifier()  # else it is a piece of JSON, say, or of awk
                near = nearest(name, samples) or f"a parameter, {next(iter(samples))}, or {brace}"
                attempt = near if is_name else brace
                among = f"placeholders among {', '.join(samples)} in {shown(text)}"
                raise UnknownNameError(f"expected {among}; got {shown(name)}; try {attempt}")
            wide = any(len(digits) > 3 for digits in re.findall(r"\d+", spec))
            expect(not wide, f"a format of {{{name}}} with fewer than 1000 characters", spec, f"{{{name}:.6e}}")
            for value in samples[name] if spec else ():
                _formatted(value, spec)
    except InvalidInputError:
        raise
    except (ValueError, OverflowError) as error:
        raise InvalidInputError(
            f"expected placeholders like {{x}}, {{x:.3e}} or {{x:E12.4}}; got {shown(text)} ({error}); "
            f"try a wider or another format (Fortran's are Ew.d, Dw.d, Fw.d, Iw), or {_way_out(style)}"
        ) from None
    return {name for name, _ in found}


def written(text: str, style: str, parameters: Mapping[str, BaseDistribution]) -> Iterator[tuple[str, str, int]]:
    """Placeholders of real parameters: name, format, and how many numbers it writes over the range (_SAMPLES: all)."""
    for _, name, spec in _pieces(text, style):
        d = parameters.get(name or "")
        if isinstance(d, FloatDistribution) and d.step is None and not d.single():
            values = (np.geomspace if d.log else np.linspace)(d.low, d.high, _SAMPLES)
            yield name or "", spec, len({_formatted(float(value), spec) for value in values}) if spec else _SAMPLES


def _with_braces(name: str, spec: str, samples: Samples) -> str:
    """How braces are written that are no placeholder: those of the text in question, but for the parameters in it."""
    text = "{" + name + (f":{spec}" if spec else "") + "}"
    names = "|".join(map(re.escape, samples))
    known = re.compile(r"\{(?:" + names + r")(?::[^{}]*)?\}")
    kept = [found[0] for found in known.finditer(text)]
    doubled = [part.replace("{", "{{").replace("}", "}}") for part in known.split(text)]
    written = "".join(before + placeholder for before, placeholder in zip(doubled, [*kept, ""], strict=True))
    rule = "{{ and }} for braces that are no placeholder"
    return f"{rule}: {written}" if len(written) <= _MOST_SHOWN and "\n" not in written else rule


def _way_out(style: str) -> str:
    return "{{ for a brace" if style == "{}" else "another style of placeholders"


def _pieces(text: str, style: str) -> Iterator[Piece]:
    if style == "{}":
        for before, name, spec, how in string.Formatter().parse(text):
            if how:
                raise InvalidInputError(f"expected no conversion of {{{name}}}; got !{how}; try {{{name}}}")
            yield before, name, spec or ""
        return
    start = 0
    for match in _MARKS[style].finditer(text):
        yield text[start : match.start()], match[1], match[2] or ""
        start = match.end()
    yield text[start:], None, ""


def _formatted(value: Any, spec: str) -> str:
    fortran = _FORTRAN.fullmatch(spec)
    if fortran is None:
        return format(value, spec) if spec else text_of(value)
    kind, width = fortran[1].upper(), int(fortran[2])
    if isinstance(value, (str, bool)) or (kind == "I" and not isinstance(value, int)):
        raise ValueError(f"{spec} cannot hold {value!r}: it is for {'integers' if kind == 'I' else 'numbers'}")
    digits = "" if fortran[3] is None else f".{fortran[3]}"
    if kind == "I":
        written = f"{int(value):d}"
    elif kind == "F":
        written = format(float(value), f"{digits}f")
    else:
        written = format(float(value), f"{digits}E")
        written = written.replace("E", "D") if kind == "D" else written
    if len(written) > width:
        raise ValueError(f"{written} does not fit into {spec}")
    return written.rjust(width)
