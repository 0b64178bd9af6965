"""Where some evaluations lie, in few words ("x > 8", "a < b"), if they lie apart from the others.

Rules     Of each parameter: above the least of the chosen evaluations, below the greatest, between, or at the same
          choice. Of two real parameters that can be compared: one is less than the other. All chosen evaluations obey.
Share     How much a rule holds: of the evaluations or of the space, whichever is more. An optimizer crowds its
          evaluations, so that what lies elsewhere would seem to be apart.
Choice    The rule of the least share is told if chance would hardly make all chosen evaluations obey it. Then a second
          one is looked for among the evaluations that are left.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Any

import numpy as np

from surefoot.errors import shown
from surefoot.optimize.history import History
from surefoot.optimize.parameters import Categorical, Integer, Parameter, Real
from surefoot.optimize.space import Space

_LEAST = 3  # evaluations that make a place
_CHANCE = 0.01  # that so many random ones obey one of the rules
_WIDEST = 2 / 3  # a rule that holds more says nothing
_BOTH_ENDS = 0.7  # a range with two ends must hold so much less than one with one end
_MOST_RULES = 2
_MOST_COMPARED = 20  # parameters that are compared with one another


@dataclass(frozen=True)
class _Rule:
    text: str
    names: tuple[str, ...]  # of its parameters
    obeys: np.ndarray  # (n,) which evaluations do
    space: float  # the share of the space that does

    def share(self, among: np.ndarray) -> float:
        """How much it holds."""
        return max(float((self.obeys & among).sum() / among.sum()), self.space)


def where(space: Space, history: History, chosen: Sequence[int]) -> str:
    """Where the chosen evaluations lie, such as "x > 8, n <= 3"; empty if that is not clear."""
    if len(chosen) < _LEAST:
        return ""
    rules = [*_ranges(space, history, list(chosen)), *_comparisons(space, history, list(chosen))]
    tried, told = space.d * (space.d + 3), list[_Rule]()  # ranges have four forms, comparisons one
    among = np.ones(len(history), dtype=bool)
    while rules and len(told) < _MOST_RULES:
        best = min(rules, key=lambda rule: rule.share(among))
        if not _is_clear(best.share(among), len(chosen), tried):
            break
        told.append(best)
        among = among & best.obeys
        rules = [rule for rule in rules if not set(rule.names) & set(best.names)]
    return ", ".join(rule.text for rule in told)


def _is_clear(share: float, k: int, tried: int) -> bool:
    """Whether chance would hardly make k evaluations obey a rule that holds this share of all."""
    return share <= _WIDEST and math.log(max(share, 1e-300)) * k + math.log(tried) < math.log(_CHANCE)


def _ranges(space: Space, history: History, chosen: list[int]) -> Iterator[_Rule]:
    """Of every parameter the narrowest rule that the chosen evaluations obey."""
    for i, (name, p) in enumerate(zip(space.names, space.parameters, strict=True)):
        values: list[Any] = [e.x[i] for e in history.evaluations]
        if isinstance(p, Categorical):
            places = np.asarray([p.index(value) for value in values])
            if len(set(places[chosen])) == 1:
                text = f"{name} = {shown(values[chosen[0]])}"
                yield _Rule(text, (name,), places == places[chosen[0]], 1.0 / p.n_values)
        elif p.n_values > 1:
            yield _narrowest(name, p, np.asarray(values, dtype=float), chosen)


def _narrowest(name: str, p: Real | Integer, x: np.ndarray, chosen: list[int]) -> _Rule:
    """A lower end, an upper end, or both."""
    low, high = float(x[chosen].min()), float(x[chosen].max())
    start, end = p.encode(low)[0], p.encode(high)[0]
    if isinstance(p, Integer):
        least, most, sign = f"{low:.0f}", f"{high:.0f}", "<="
    else:
        least, most, sign = _edge(x, low, -1.0), _edge(x, high, 1.0), "<"
    everything = np.ones(len(x), dtype=bool)
    one = _Rule(f"{name} {sign.replace('<', '>')} {least}", (name,), x >= low, 1.0 - start)
    below = _Rule(f"{name} {sign} {most}", (name,), x <= high, end)
    if below.share(everything) < one.share(everything):
        one = below
    text = f"{name} = {least}" if least == most else f"{least} {sign} {name} {sign} {most}"
    between = _Rule(text, (name,), (low <= x) & (x <= high), end - start)
    return between if between.share(everything) <= _BOTH_ENDS * one.share(everything) else one


def _edge(x: np.ndarray, end: float, side: float) -> str:
    """A number between the end of a range and the nearest evaluation beyond it, with few digits."""
    beyond = x[x < end] if side < 0.0 else x[x > end]
    if not len(beyond):
        return f"{end:.3g}"
    low, high = sorted((float(beyond.max() if side < 0.0 else beyond.min()), end))
    for digits in range(1, 17):
        text = f"{low + 0.5 * (high - low):.{digits}g}"
        if low < float(text) < high:
            return f"{float(text):g}" if digits <= 6 else text
    return f"{end:.6g}"


def _comparisons(space: Space, history: History, chosen: list[int]) -> Iterator[_Rule]:
    """Which real parameters are less than which others, wherever their ranges overlap, in all chosen evaluations."""
    real = [i for i, p in enumerate(space.parameters) if isinstance(p, Real) and p.n_values > 1][:_MOST_COMPARED]
    at = {i: np.asarray([e.x[i] for e in history.evaluations], dtype=float) for i in real}
    for i, j in permutations(real, 2):
        if (at[i][chosen] <= at[j][chosen]).all():
            one, other = (_evenly(space.parameters[k]) for k in (i, j))
            names = (space.names[i], space.names[j])
            yield _Rule(" < ".join(names), names, at[i] <= at[j], float(np.mean(one[:, None] < other)))


def _evenly(p: Parameter) -> np.ndarray:
    """Values of a real parameter that fill its range, (64,)."""
    return np.asarray([p.decode(np.asarray([(k + 0.5) / 64])) for k in range(64)])
