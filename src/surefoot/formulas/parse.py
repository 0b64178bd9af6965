"""From text to formulas and comparisons, by recursive descent over tokens of our own.

Grammar   comparison  = sum (("<=" | "<" | ">=" | ">" | "==") sum)+
          sum         = product (("+" | "-") product)*
          product     = signed (("*" | "/") signed)*
          signed      = ("+" | "-") signed | power
          power       = atom (("**" | "^") signed)?          -a**2 is -(a**2), a**b**c is a**(b**c)
          atom        = number | name | function "(" sum ("," sum)* ")" | "(" sum ")"
          name        = letters, digits and _; any other name in quotes: 'wall thickness'
Bounds    Text, number of tokens and depth of nesting are limited, so that hostile text is refused at once.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection
from dataclasses import dataclass

from surefoot.errors import InvalidInputError, UnknownNameError, shown
from surefoot.expect import nearest
from surefoot.formulas.formula import CALL, CONSTANTS, FUNCTIONS, NAME, NUMBER, Formula, Instruction

_MOST_CHARACTERS = 10_000
_MOST_TOKENS = 2_000
_MOST_DEPTH = 60
_MOST_NAMES = 500  # characters of a list of names in a message
_AROUND = 60  # characters beside the place that a message points to
_COMPARE = ("<=", "<", ">=", ">", "==")
_TOKEN = re.compile(
    r"""\s*(?:
        (?P<number>(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)
      | (?P<name>[^\W\d]\w*)
      | (?P<quoted>'[^']*'|"[^"]*"|`[^`]*`)
      | (?P<mark><=|>=|==|\*\*|[-+*/^()<>,])
      | (?P<other>\S)
      | (?P<end>\Z)
    )""",
    re.VERBOSE,
)


@dataclass(frozen=True)
class Link:
    """margin >= 0, > 0 (strict) or = 0 (equal)."""

    margin: Formula
    kind: str  # "weak", "strict" or "equal"


@dataclass(frozen=True)
class Comparison:
    """What a text says of names: one comparison, or a chain of them that all must hold."""

    text: str
    links: tuple[Link, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The names in it."""
        return tuple(dict.fromkeys(name for link in self.links for name in link.margin.names))


def parse_formula(text: str, names: Collection[str]) -> Formula:
    """An expression over these names."""
    parser = _Parser(text, names, "expression")
    found = parser.sum()
    parser.finish("an operator or the end")
    return found


def parse_comparison(text: str, names: Collection[str]) -> Comparison:
    """One or more comparisons in a chain, over these names."""
    parser = _Parser(text, names, "constraint")
    sides, operators = [parser.sum()], []
    while parser.text in _COMPARE:
        operators.append(parser.take())
        sides.append(parser.sum())
    parser.finish(f"an operator or one of {' '.join(_COMPARE)}" if not operators else "an operator or the end")
    if not operators:
        raise parser.error(f"a comparison, one of {' '.join(_COMPARE)}", "no comparison", f"{text.strip()[:100]} <= 1")
    links = []
    for left, operator, right in zip(sides, operators, sides[1:], strict=False):
        margin = right.minus(left) if operator.startswith("<") else left.minus(right)
        links.append(Link(margin, "equal" if operator == "==" else "strict" if len(operator) == 1 else "weak"))
    return Comparison(text.strip(), tuple(links))


class _Parser:
    """A place among the tokens of a text."""

    def __init__(self, text: str, names: Collection[str], what: str) -> None:
        self._whole, self._names, self._what = text, names, what
        if not isinstance(text, str):
            raise InvalidInputError(f"expected the {what} as text; got {shown(text)}; try 'a + b <= 1'")
        if len(text) > _MOST_CHARACTERS:
            raise InvalidInputError(
                f"expected a {what} of at most {_MOST_CHARACTERS} characters; got {len(text)}; try several short ones"
            )
        self._tokens = []
        for match in _TOKEN.finditer(text):
            kind = match.lastgroup or "end"
            self._tokens.append((kind, match.group(kind), match.start(kind)))
            if kind == "end" or len(self._tokens) > _MOST_TOKENS:
                break
        self._i = self._depth = 0
        if len(self._tokens) > _MOST_TOKENS:
            raise InvalidInputError(
                f"expected a {what} of at most {_MOST_TOKENS} names, numbers and marks; got more; try several"
            )

    @property
    def kind(self) -> str:
        """Of the token here."""
        return self._tokens[self._i][0]

    @property
    def text(self) -> str:
        """The mark here; empty if there is something else."""
        return self._tokens[self._i][1] if self.kind == "mark" else ""

    def take(self) -> str:
        """The token here; the place moves on."""
        self._i += 1
        return self._tokens[self._i - 1][1]

    def error(
        self, expected: str, got: str, attempt: str, at: int | None = None, kind: type[InvalidInputError] | None = None
    ) -> InvalidInputError:
        """What to raise, with a caret at the token here or at a number."""
        place = self._tokens[self._i if at is None else at][2]
        start = max(0, place - _AROUND)
        line = "".join(c if c.isprintable() else " " for c in self._whole[start : place + _AROUND])
        return (kind or InvalidInputError)(
            f"expected {expected}; got {got} at position {place + 1} of the {self._what}; try {attempt}\n"
            f"    {line}\n    {' ' * (place - start)}^"
        )

    def _got(self) -> str:
        return "the end" if self.kind == "end" else shown(self._tokens[self._i][1], 60)

    def finish(self, expected: str) -> None:
        """Raise unless the text ends here."""
        if self.kind == "end":
            return
        token = self._tokens[self._i][1]
        attempt = "mending it there"
        if token in ("and", "or", "&", "|"):
            attempt = "two constraints instead of one"
        elif token in ("=", "!"):
            attempt = "== for an equality"
        elif self.kind in ("name", "number", "quoted") or token == "(":
            attempt = f"{self._tokens[self._i - 1][1]} * {token}"[:100]
        raise self.error(expected, self._got(), attempt)

    def sum(self) -> Formula:
        """A sum, which everything else is part of."""
        self._depth += 1
        if self._depth > _MOST_DEPTH:
            raise self.error(f"at most {_MOST_DEPTH} levels of nesting", "more", "fewer parentheses and powers")
        found = self._chain(("+", "-"), self._product)
        self._depth -= 1
        return found

    def _chain(self, marks: tuple[str, ...], part: Callable[[], Formula]) -> Formula:
        """Parts with marks of one rank between them, from the left."""
        program: list[Instruction] = list(part().program)
        while self.text in marks:
            mark = self.take()
            program += [*part().program, (CALL, (mark, 2))]
        return Formula(tuple(program))

    def _product(self) -> Formula:
        return self._chain(("*", "/"), self._signed)

    def _signed(self) -> Formula:
        negative = False
        while self.text and self.text in "+-":
            negative ^= self.take() == "-"
        found = self._power()
        return Formula((*found.program, (CALL, ("neg", 1)))) if negative else found

    def _power(self) -> Formula:
        base = self._atom()
        if self.text not in ("**", "^"):
            return base
        self.take()
        self._depth += 1
        if self._depth > _MOST_DEPTH:
            raise self.error(f"at most {_MOST_DEPTH} levels of nesting", "more", "fewer parentheses and powers")
        exponent = self._signed()
        self._depth -= 1
        program = (*base.program, *exponent.program, (CALL, ("**", 2)))
        if not Formula(program).names and not math.isfinite(Formula(program).at({})):
            raise self.error("numbers that a float can hold", "a power beyond them", "smaller numbers", at=self._i - 1)
        return Formula(program)

    def _atom(self) -> Formula:
        if self.text == "(":
            opened = self._i
            self.take()
            found = self.sum()
            self._close(opened)
            return found
        if self.kind == "number":
            value = float(self._tokens[self._i][1])
            if not math.isfinite(value):
                raise self.error("a number that a float can hold", self._got(), "a smaller one")
            self.take()
            return Formula(((NUMBER, value),))
        if self.kind not in ("name", "quoted"):
            raise self.error("a number, a name or '('", self._got(), "mending it there")
        quoted, name = self.kind == "quoted", self.take()
        if not quoted and self.text == "(":
            return self._call(name)
        return self._name(name[1:-1] if quoted else name)

    def _name(self, name: str) -> Formula:
        if name in self._names:
            return Formula(((NAME, name),))
        if name in CONSTANTS:
            return Formula(((NUMBER, CONSTANTS[name]),))
        close = nearest(name, self._names)
        attempt = close or ("naming one of them" if self._names else "numbers alone")
        known = f"a name, one of {', '.join(self._names)[:_MOST_NAMES]}" if self._names else "numbers and no names"
        raise self.error(known, shown(name, 60), attempt, at=self._i - 1, kind=UnknownNameError)

    def _call(self, name: str) -> Formula:
        opened = self._i
        if name not in FUNCTIONS:
            attempt = nearest(name, FUNCTIONS) or (f"{name} * (" if name in self._names else "one of these")
            known = f"a function, one of {', '.join(FUNCTIONS)}"
            raise self.error(known, shown(name, 60), attempt, at=opened - 1, kind=UnknownNameError)
        self.take()
        args = [self.sum()]
        while self.text == ",":
            self.take()
            args.append(self.sum())
        self._close(opened)
        least, most = FUNCTIONS[name]
        if not least <= len(args) <= most:
            wanted = f"{least}" if least == most else f"{least} to {most}"
            raise self.error(f"{wanted} arguments of {name}", f"{len(args)}", f"{name} of {wanted}", at=opened - 1)
        program = list(args[0].program)
        for arg in args[1:]:
            program += [*arg.program, (CALL, (name, 2))]
        return Formula(tuple(program) if len(args) > 1 else (*program, (CALL, (name, 1))))

    def _close(self, opened: int) -> None:
        if self.text != ")":
            if self.kind == "end":
                raise self.error("')' for this '('", "the end", "closing it", at=opened)
            raise self.error("an operator or ')'", self._got(), "mending it there")
        self.take()
