"""Reasons of failures in groups: those that differ only in numbers are one.

A simulator that prints the stress it died of gives a new text each time; a reader wants to know how often it died
of stress.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

# numbers with sign, fraction and exponent (Fortran's d too), also inside words, versions and hexadecimal addresses
_NUMBER = re.compile(r"(?:(?<![\w.])[-+])?\.?\d(?:[xX][0-9a-fA-F]+|[\d.]*(?:[eEdD][-+]?\d+)?)")
NO_REASON = "no reason given"
OTHER = "other"  # reasons too rare to be shown one by one
_MAX_READ = 2000  # characters of a text
_MAX_COMPARED = 400  # characters of a pattern: texts that agree so far are taken to be of one kind


@dataclass(frozen=True)
class ReasonGroup:
    """Reasons of one kind."""

    text: str  # the first one seen
    pattern: str  # with # for every number
    members: tuple[int, ...]  # positions of the reasons in the group
    differing: frozenset[int] = frozenset()  # which of the numbers are not the same in all of them

    @property
    def count(self) -> int:
        """How many reasons there are of this kind."""
        return len(self.members)

    @property
    def label(self) -> str:
        """What all of them say, in one line: numbers that differ are left out."""
        numbers = itertools.count()
        text = _NUMBER.sub(lambda found: "…" if next(numbers) in self.differing else found[0], self.text[:_MAX_READ])
        return " ".join(text.split()) or NO_REASON


@lru_cache(maxsize=2**16)
def pattern_of(reason: str) -> str:
    """The reason with # for every number."""
    return _NUMBER.sub("#", reason[:_MAX_READ])[:_MAX_COMPARED]


def grouped(reasons: Iterable[str]) -> list[ReasonGroup]:
    """Groups of reasons that differ only in numbers, the most frequent first, then in the order they were seen."""
    patterns: dict[str, str] = {}  # of each text: most repeat
    members: dict[str, list[int]] = {}
    first: dict[str, str] = {}
    differing: dict[str, set[int]] = {}
    for i, reason in enumerate(reasons):
        pattern = patterns.get(reason)
        if pattern is None:
            pattern = patterns[reason] = pattern_of(reason)
            if pattern not in members:
                members[pattern], first[pattern], differing[pattern] = [], reason, set()
            elif len(differing[pattern]) < pattern.count("#"):
                differing[pattern] |= _differing(first[pattern], reason)
        members[pattern].append(i)
    found = [ReasonGroup(first[k], k, tuple(places), frozenset(differing[k])) for k, places in members.items()]
    return sorted(found, key=lambda group: -group.count)


def kinds_of(reasons: Sequence[str | None]) -> np.ndarray:
    """The kind of each reason, from 0 on in the order in which they came; -1 where there is none."""
    codes: dict[str, int] = {}
    patterns = [None if reason is None else pattern_of(reason) for reason in reasons]
    return np.asarray([-1 if p is None else codes.setdefault(p, len(codes)) for p in patterns], dtype=int)


def _differing(one: str, other: str) -> set[int]:
    """Which numbers of two reasons of one kind are not the same."""
    pairs = zip(_NUMBER.findall(one[:_MAX_READ]), _NUMBER.findall(other[:_MAX_READ]), strict=False)
    return {k for k, (a, b) in enumerate(pairs) if a != b}


def leading(reasons: Iterable[str], most: int) -> list[ReasonGroup]:
    """At most so many groups: where there are more kinds, the most frequent ones, and all others as the last one."""
    groups = grouped(reasons)
    if len(groups) <= most:
        return groups
    rest = sorted(i for group in groups[most - 1 :] for i in group.members)
    return [*groups[: most - 1], ReasonGroup(OTHER, OTHER, tuple(rest))]


def summary(reasons: Iterable[str], most: int = 3, width: int = 120) -> str:
    """The most frequent kinds in one line, each with its count; numbers that differ are left out."""
    groups = grouped(reasons)
    parts = []
    for group in groups[:most]:
        text = group.label if len(group.label) <= width else group.label[: width - 1] + "…"
        parts.append(f"{text} ({group.count})")
    if len(groups) > most:
        parts.append(f"{len(groups) - most} other kinds")
    return "; ".join(parts)
