"""Trials that the user takes out: they teach nothing and do not count, and stay in the storage.

A trial that has ended cannot be changed in Optuna's storage; so the study keeps their numbers (FORGOTTEN). One write,
and every worker sees it with its next look: it may begin as many evaluations as were taken out.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Sequence
from typing import Any

from optuna.study import Study
from optuna.trial import FrozenTrial, TrialState

from surefoot.errors import InvalidInputError
from surefoot.integrations.optuna_history import (
    FORGOTTEN,
    is_taken_out,
    is_void,
    reason_of,
    trials_of,
)
from surefoot.runs.ends import change_attributes

_NUMBERS = re.compile(r"\d+(-\d+)?")


def forget(study: Study, which: Sequence[str], *, undo: bool = False) -> list[int]:
    """Take trials out, or `undo` that; the numbers that changed.

    which  numbers (3, 5-9) and reasons of failures, as text or with * and ?
    """
    trials = trials_of(study)
    wanted: set[int] = set()
    for text in which:
        wanted |= _numbers(text, trials) if _NUMBERS.fullmatch(text) else _with_reason(text, trials, undo)
    changed: set[int] = set()

    def change(attributes: dict[str, Any]) -> dict[str, Any]:
        before = set(attributes.get(FORGOTTEN) or ())  # as it is now: somebody else may take others out
        changed.update(wanted & before if undo else wanted - before)
        return {FORGOTTEN: sorted(before ^ changed)} if changed else {}

    change_attributes(study, change)
    return sorted(changed)


def _numbers(text: str, trials: Sequence[FrozenTrial]) -> set[int]:
    first, _, last = text.partition("-")
    wanted = set(range(int(first), int(last or first) + 1)) if int(last or first) < 10**9 else {10**9}
    known = {t.number: t for t in trials}
    missing = sorted(wanted - known.keys())
    if missing or not wanted:
        there = f"0 to {len(trials) - 1}" if trials else "none yet"
        raise InvalidInputError(f"expected numbers of trials, {there}; got {text}; try surefoot show to see them")
    open_ = [number for number in sorted(wanted) if not known[number].state.is_finished()]
    if open_:
        raise InvalidInputError(
            f"expected trials that have ended; got {open_[0]}, which is {known[open_[0]].state.name.lower()}; "
            "try again when it has ended"
        )
    return {n for n in wanted if is_taken_out(known[n]) or not is_void(known[n])}


def _with_reason(text: str, trials: Sequence[FrozenTrial], undo: bool) -> set[int]:
    pattern = text if set(text) & set("*?") else f"*{text}*"
    failed = [
        t for t in trials if t.state == TrialState.FAIL and (FORGOTTEN in t.user_attrs if undo else not is_void(t))
    ]
    found = {t.number for t in failed if fnmatch.fnmatchcase(reason_of(t), pattern.replace("[", "[[]"))}
    if not found:
        reasons = ", ".join(repr(reason) for reason in sorted({reason_of(t)[:60] for t in failed})[:5])
        there = f"the reasons here are {reasons}" if reasons else "no trial here has one"
        raise InvalidInputError(
            f"expected numbers of trials or the reason of a failure; got {text!r}, and {there}; "
            "try a part of a reason, or numbers like 3 or 5-9"
        )
    return found
