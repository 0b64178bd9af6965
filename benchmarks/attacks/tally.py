"""What an attack found, and the table of all of them."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

KINDS = ("lost", "twice", "hung", "raw", "orphans")  # every one of them has to be 0
TITLES = ("attack", "tried", "lost", "counted twice", "hung", "raw errors", "orphans")
_MOST_SHOWN = 60  # kinds of findings per attack that are written out


@dataclass(frozen=True)
class Finding:
    """One thing that must not happen."""

    kind: str  # one of KINDS
    what: str
    case: str = ""  # findings of one case are shown as one line

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"expected one of {', '.join(KINDS)}; got {self.kind!r}")


@dataclass
class Tally:
    """One row of the table; filled by several threads."""

    attack: str
    tried: int = 0
    findings: list[Finding] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)  # what a reader has to know to read the row
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def add(self, tried: int, findings: Iterable[Finding] = ()) -> None:
        """So many more attempts, and what they showed."""
        with self._lock:
            self.tried += tried
            self.findings.extend(findings)

    def count(self, kind: str) -> int:
        """How many findings of a kind."""
        return sum(finding.kind == kind for finding in self.findings)


def is_clean(tallies: Sequence[Tally]) -> bool:
    """Whether every cell that has to be 0 is 0, and every attack was tried at all."""
    return all(tally.tried > 0 and not tally.findings for tally in tallies)


def table(tallies: Sequence[Tally]) -> str:
    """All rows, in Markdown."""
    rows = [TITLES, *((t.attack, str(t.tried), *(str(t.count(kind)) for kind in KINDS)) for t in tallies)]
    widths = [max(len(row[i]) for row in rows) for i in range(len(TITLES))]
    lines = [
        "| "
        + " | ".join(c.ljust(w) if i == 0 else c.rjust(w) for i, (c, w) in enumerate(zip(row, widths, strict=True)))
        for row in rows
    ]
    lines = [f"{line} |" for line in lines]
    return "\n".join([lines[0], "|" + "|".join("-" * (w + 2) for w in widths) + "|", *lines[1:]])


def details(tallies: Sequence[Tally]) -> str:
    """The notes, and the findings one by one."""
    lines: list[str] = []
    for tally in tallies:
        lines += [f"{tally.attack}: {note}" for note in tally.notes]
        grouped: dict[tuple[str, str], list[Finding]] = {}
        for finding in tally.findings:  # one line for what is wrong with one case in one way
            grouped.setdefault((finding.kind, finding.case or finding.what), []).append(finding)
        for (kind, _), alike in list(grouped.items())[:_MOST_SHOWN]:
            times, case = f" {len(alike)}×" if len(alike) > 1 else "", f"{alike[0].case}: " if alike[0].case else ""
            lines.append(f"{tally.attack}: {kind.upper()}{times}: {case}{' '.join(alike[0].what.split())}")
        if len(grouped) > _MOST_SHOWN:
            lines.append(f"{tally.attack}: … and {len(grouped) - _MOST_SHOWN} more")
    return "\n".join(lines)
